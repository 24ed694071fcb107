//! `alloc`: allocators under the load, with libraries that are wrong in every way.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::{Status, evidence};

use crate::bench::{figure, record, run, stderr, stdout, truebench};

/// A load of a tenth of a second.
const SMALL: &[&str] =
    &["--slots", "40000", "--steps", "400000", "--rounds", "6", "--format", "json", "-t", "1"];

/// The load with one allocator and two threads.
pub fn short() -> figure::Record {
    record(&run(&[
        "alloc", "glibc", "--slots", "40000", "--steps", "200000", "--rounds", "1", "--format", "json", "-t",
        "2",
    ]))
}

fn alloc(arguments: &[&str]) -> Output {
    run(&[&["alloc"], arguments, SMALL].concat())
}

/// A preloadable library of one of our C files.
pub fn library(directory: &Path, name: &str) -> PathBuf {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/allocators").join(format!("{name}.c"));
    let library = directory.join(format!("lib{name}.so"));
    let built = Command::new("cc")
        .args(["-O1", "-fPIC", "-shared", "-fno-builtin", "-o"])
        .arg(&library)
        .arg(source)
        .status()
        .expect("a C compiler");
    assert!(built.success());
    library
}

/// Why this library's row is void, while glibc's stands.
fn void(library: &Path) -> String {
    let asked = format!("mine={}", library.display());
    let output = alloc(&["glibc", &asked]);
    let record = record(&output);
    let mine = figure(&record, "alloc.steady.mine.t1");
    assert_eq!(mine.status, Status::Failed, "{}", stderr(&output));
    assert!(record.figure("alloc.pair.mine.t1").is_none(), "nothing follows from a void row");
    let glibc = figure(&record, "alloc.pair.glibc.t1");
    assert_eq!(glibc.status, Status::Measured, "{:?}", glibc.reason);
    mine.reason.clone().expect("a reason")
}

#[test]
fn an_allocator_is_measured_and_proved() {
    let record = record(&alloc(&["glibc"]));
    let steady = figure(&record, "alloc.steady.glibc.t1");
    assert_eq!(steady.status, Status::Measured, "{:?}", steady.reason);
    let void = figure(&record, "alloc.steady.void.t1");
    let pair = figure(&record, "alloc.pair.glibc.t1");
    // Tests in parallel may make either one larger. Its value is their difference, round by round.
    let (with, without) = (steady.kept_values(), void.kept_values());
    let differences: Vec<f64> = with.iter().zip(without).map(|(with, without)| with - without).collect();
    assert_eq!(pair.value, figure::stats::median(&differences));
    assert!(pair.interval.is_some() && pair.derived_from == [steady.id.as_str(), void.id.as_str()]);
    assert!(with.iter().all(|value| *value > 0.0));
    for round in steady.used_rounds() {
        let of = |key| round.evidence.get(key).into_value().unwrap();
        let live = of(evidence::LIVE_BYTES);
        // 40 000 slots, half of them full, blocks of 45.5 bytes.
        assert!((live / (20_000.0 * 45.5) - 1.0).abs() < 0.3, "{live}");
        assert!(round.evidence.get(evidence::RESIDENT).into_value().unwrap().len() == 4);
        assert!(of(evidence::THREAD_OVERLAP) > 0.9 && of(evidence::PAIR_TICKS) > 0.0);
    }
    let overhead = figure(&record, "alloc.overhead.glibc.t1").value.unwrap();
    assert!((0.8..4.0).contains(&overhead), "{overhead}");
}

#[test]
fn what_is_installed_is_listed() {
    let output = run(&["alloc", "list"]);
    let text = stdout(&output);
    assert!(output.status.success() && text.contains("the C library's own"), "{text}");
    for one in ["jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "scudo", "hoard", "NAME=/path/lib.so"] {
        assert!(text.contains(one), "{one}: {text}");
    }
    // glibc reports its own version if no package does.
    if text.contains("libc.so.6") {
        let glibc = text.lines().next().unwrap();
        assert!(glibc.split_whitespace().nth(1).unwrap().starts_with("2."), "{glibc}");
    }
}

/// Name, version and library of each allocator that the list says is preloaded.
fn installed() -> Vec<[String; 3]> {
    let text = stdout(&run(&["alloc", "list"]));
    let columns = |line: &str| {
        let (name, rest) = line.split_once(' ')?;
        let (version, library) = rest.trim_start().split_once(' ')?;
        let library = library.trim_start();
        library.starts_with('/').then(|| [name.to_owned(), version.to_owned(), library.to_owned()])
    };
    text.lines().filter_map(columns).collect()
}

#[test]
fn what_is_listed_as_installed_serves() {
    let installed = installed();
    let mut arguments = vec!["alloc", "glibc"];
    arguments.extend(installed.iter().map(|[name, ..]| name.as_str()));
    arguments
        .extend(["--slots", "40000", "--steps", "100000", "--rounds", "2", "--format", "json", "-t", "2"]);
    let record = record(&run(&arguments));
    for [name, version, library] in &installed {
        let steady = figure(&record, &format!("alloc.steady.{name}.t2"));
        assert_eq!(steady.status, Status::Measured, "{library}: {:?}", steady.reason);
        let real = |path: &Path| path.canonicalize().unwrap();
        let served = steady.evidence.get(evidence::LIBRARY).into_value().unwrap();
        assert_eq!(real(Path::new(&served)), real(Path::new(library)));
        assert!(steady.evidence.get(evidence::LIBRARY_BUILD).into_value().is_none_or(|id| id.len() >= 16));
        let stated = steady.conditions.get(evidence::ALLOCATOR_VERSION);
        let stated = stated.map_or("–".to_owned(), |stated| stated.split(" (").next().unwrap().to_owned());
        assert_eq!(&stated, version);
    }
    let glibc = figure(&record, "alloc.steady.glibc.t2");
    let served = glibc.evidence.get(evidence::LIBRARY).into_value().unwrap();
    assert!(Path::new(&served).is_file(), "{served}");
}

/// What `make test` builds, if it could: truebench finds it, and says what it was built from.
#[test]
fn what_we_built_is_found_with_its_version() {
    let truebench = Path::new(env!("CARGO_BIN_EXE_truebench"));
    let libraries = truebench.parent().unwrap().join("../lib/truebench");
    let installed = installed();
    for (name, file) in [
        ("hoard", "libhoard.so"),
        ("rpmalloc", "librpmallocwrap.so"),
        ("snmalloc", "libsnmallocshim.so"),
        ("tcmalloc-google", "libtcmalloc-google.so"),
    ] {
        let file = libraries.join(file);
        let listed = installed.iter().find(|[listed, ..]| listed == name);
        if let Some([_, version, library]) = listed.filter(|_| file.is_file()) {
            assert_eq!(Path::new(library).canonicalize().unwrap(), file.canonicalize().unwrap());
            let text = std::fs::read_to_string(file.with_extension("version")).unwrap();
            assert!(text.starts_with(version.as_str()) && text.contains("(crate "), "{text}");
        }
        assert!(listed.is_some() || !file.is_file(), "{name} was built, and is not listed");
    }
}

#[test]
fn what_is_no_library_voids_its_row_alone() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let reason = void(file.path());
    assert!(reason.contains("was not loaded") && reason.contains("cannot be preloaded"), "{reason}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&["nomalloc"][..], "NAME=/path/lib.so"),
        (&["mine=/nowhere/libnone.so"], "/nowhere/libnone.so: there is no such file"),
        (&["--profile", "/nowhere.csv"], "/nowhere.csv"),
        (&["--remote-free", "10%", "-t", "1"], "--remote-free"),
        (&["--slots", "1000"], "at least 15625"),
        (&["--max-size", "100"], "power of two"),
        (&["--access", "some"], "none, single, full, check"),
    ] {
        let output = truebench(&["alloc", "--dry-run"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}
