//! One target under libFuzzer (llvm.org/docs/LibFuzzer.html), with libFuzzer's options: `TRUEBENCH_FUZZ_TARGET` names it. Also the work of `make fuzz`
//! on the stored inputs: `fuzz list`, `fuzz unpack TARGET DIR`, `fuzz seeds TARGET DIR`, `fuzz pack TARGET DIR`.
#![no_main]

use std::io;
use std::path::Path;
use std::process::exit;
use std::sync::LazyLock;

use fuzz::{TARGETS, Target, guard, inputs};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("TRUEBENCH_FUZZ_TARGET").unwrap_or_default();
    named(&name).expect("TRUEBENCH_FUZZ_TARGET names a target")
});

libfuzzer_sys::fuzz_target!(init: asked(), |input: &[u8]| guard::run(&TARGET, input));

fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}

/// Does what the arguments ask for, if it is not fuzzing, before libFuzzer sees them.
fn asked() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let target = |name: &str| named(name).ok_or_else(|| io::Error::other(format!("{name}: no target")));
    let done = match *words.as_slice() {
        ["list"] => {
            TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.longest));
            Ok(())
        }
        ["unpack", name, directory] => {
            target(name).and_then(|target| inputs::write(inputs::all(target)?, Path::new(directory)))
        }
        ["seeds", name, directory] => {
            target(name).and_then(|target| inputs::write(inputs::seeds(target), Path::new(directory)))
        }
        ["pack", name, directory] => target(name)
            .and_then(|target| inputs::pack(target, Path::new(directory)))
            .map(|inputs| println!("{inputs}")),
        _ => return,
    };
    exit(done.map_or_else(
        |error| {
            eprintln!("{error}");
            1
        },
        |()| 0,
    ));
}
