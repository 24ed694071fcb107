//! A machine that is left alone, on which each accusation is false: emulated, with a clock that counts instructions. What the host does
//! to its emulator, and to whatever runs beside it, takes no time there.
//!
//! The emulator is hidden (tcg-cpuid=off), because truebench would rightly call all rates there suspect. Its strings take an
//! instruction for each byte, so that faster ones are not promised (erms, fsrm). Two processors take turns, which takes the time of
//! both: only HTTP gets two, because its client and server wait for one another.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use truth::quiet::Clean;
use truth::show;

use crate::guest::Guest;

const MACHINE: [&str; 4] = ["-cpu", "max,tcg-cpuid=off,-erms,-fsrm", "-m", "2G"];
/// An instruction takes 2 ns.
const ONE: [&str; 4] = ["-smp", "1", "-icount", "shift=1,sleep=off"];
/// An instruction takes 1 ns: on a slower machine watching the server would cost more than 2 % of it, as `observer-cost` says.
const TWO: [&str; 4] = ["-smp", "2", "-icount", "shift=0,sleep=off"];
/// What the page begins with.
const HEADING: &str = "# Runs on a machine that is left alone

Written by `make truth-idle`: {runs} short runs of each suite, a sixth as many of HTTP, in QEMU, by a clock that counts instructions, \
so that nothing else takes time there; truebench {version}, {day}. What the columns mean: [selftest](methods/selftest.md).

";
/// A run of all suites takes some minutes, by the machine.
const PATIENCE: Duration = Duration::from_secs(1800);

/// A number of clean runs of each suite, a sixth as many of HTTP, which take longest, in three guests at once. `TRUEBENCH_CLEAN_RUNS` is how
/// many (else 4), `TRUEBENCH_CLEAN_TABLE` a file for the table.
#[test]
#[ignore = "emulates a machine for minutes: make test-long, make truth"]
fn a_machine_that_is_left_alone_is_accused_of_nothing() {
    let runs = std::env::var("TRUEBENCH_CLEAN_RUNS")
        .map_or(4, |runs| runs.parse::<u32>().expect("TRUEBENCH_CLEAN_RUNS is a number"));
    let servers = servers();
    let clean = std::thread::scope(|scope| {
        let others = ["memory system", "alloc faults"]
            .map(|suites| scope.spawn(move || clean_runs(&ONE, &[], "", runs, suites)));
        let second = "echo 1 > /sys/devices/system/cpu/cpu1/online\nbusybox ifconfig lo 127.0.0.1 up\n";
        let mut clean = clean_runs(&TWO, &[&servers], second, runs.div_ceil(6), "http");
        for guest in others {
            clean.join(guest.join().expect("a guest with one processor"));
        }
        clean
    });
    assert_eq!((clean.runs, &clean.broken), ((4 * runs + runs.div_ceil(6)) as usize, &Vec::new()));
    let text = show::text(&[], &clean, 160, false);
    eprintln!("{text}");
    if let Some(file) = std::env::var_os("TRUEBENCH_CLEAN_TABLE") {
        let day = lab::timestamp();
        let heading = HEADING
            .replace("{runs}", &runs.to_string())
            .replace("{version}", env!("CARGO_PKG_VERSION"))
            .replace("{day}", day.split('T').next().unwrap_or(&day));
        std::fs::write(file, heading + &show::markdown(&[], &[], &clean)).unwrap();
    }
    let total = clean.total();
    let share = |part: usize| part as f64 / total.figures as f64;
    assert!(
        share(total.valid) >= 0.80 && share(total.suspect) <= 0.10 && share(total.invalid) <= 0.01,
        "{text}"
    );
    // Values in coarse buckets are often inconclusive, which claims nothing; of few runs it is a larger share.
    let [same, alike] = [clean.same(), clean.alike()].map(|share| share.part as f64 / share.of as f64);
    assert!(alike >= 0.95 && same >= 0.85, "{text}");
    assert!(clean.accusers().iter().all(|(_, of)| of.is_within_budget()), "{text}");
}

/// What comes of clean runs of these suites in a guest with so many processors, after these commands.
fn clean_runs(processors: &[&str], programs: &[&Path], before: &str, runs: u32, suites: &str) -> Clean {
    let machine = [&MACHINE[..], processors].concat();
    let script = format!(
        "{before}run clean truebench selftest {suites} --only-clean --clean-runs {runs} --format json"
    );
    let ran = Guest::in_turns(&machine, programs, &script, PATIENCE * runs).ran("clean");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let table: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    serde_json::from_value(table["clean"].clone()).expect("what came of clean runs")
}

/// The Go servers, built without C, which the guest lacks.
fn servers() -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("truebench-servers");
    let built = Command::new("go")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../../servers"), "build", "-o"])
        .args([program.as_path(), Path::new(".")])
        .env("CGO_ENABLED", "0")
        .status()
        .expect("go starts");
    assert!(built.success(), "go build");
    program
}
