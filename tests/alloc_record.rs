//! `alloc record`: a profile of programs with known allocations, and of difficult ones.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use figure::Status;

use crate::bench::{figure, record, run, stderr, stdout, truebench};

/// A row of the file: allocations, and their mean lifetime in seconds. By size.
type Rows = BTreeMap<String, (u64, f64)>;

/// The program with known allocations, built so.
fn program(directory: &Path, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/allocators/allocates.c");
    let program = directory.join("allocates");
    // The compiler otherwise removes calls with an unused result.
    let built = Command::new("cc")
        .args(["-O1", "-fno-builtin", "-pthread", "-Wno-alloc-size-larger-than", "-o"])
        .arg(&program)
        .arg(source)
        .args(options)
        .status();
    assert!(built.expect("a C compiler").success());
    program
}

/// Records the program in this mode.
fn recorded(mode: &str) -> (Rows, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("profile.csv");
    let mut command = truebench(&["alloc", "record", "-o"]);
    let output = command.arg(&file).arg("--").arg(program(directory.path(), &[])).arg(mode).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    (rows(&file), stderr(&output))
}

fn rows(file: &Path) -> Rows {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].to_owned(), (fields[3].parse().unwrap(), fields[2].parse().unwrap()))
    });
    rows.collect()
}

fn counts(rows: &Rows, sizes: &[&str]) -> Vec<u64> {
    sizes.iter().map(|size| rows.get(*size).map_or(0, |row| row.0)).collect()
}

/// What the mode `threads` allocates, exactly.
fn assert_threads(rows: &Rows) {
    let sizes = ["30003", "51200", "60001", "100010", "120001"];
    assert_eq!(counts(rows, &sizes), [4000, 4000, 4000, 4000, 400], "{rows:?}");
}

fn shell(arguments: &[&str], script: &str) -> Output {
    run(&[&["alloc", "record"], arguments, &["--", "sh", "-c", script]].concat())
}

#[test]
fn every_call_of_every_thread_is_counted() {
    let (rows, text) = recorded("threads");
    assert_threads(&rows);
    assert_eq!(counts(&rows, &["10001", "20001", "40001", "80001"]), [4000, 4000, 4000, 4000], "{rows:?}");
    assert!(rows.values().all(|row| row.1 > 0.0), "{rows:?}");
    assert!(text.contains(" by 1 process: ") && !text.contains("returned again"), "{text}");
}

#[test]
fn children_count_what_is_theirs() {
    let (rows, text) = recorded("forks");
    assert_eq!(counts(&rows, &["10001", "20001", "40001", "80001"]), [100, 50, 1, 30], "{rows:?}");
    assert!(text.contains(" by 3 processes: "), "{text}");
    let unknown = text.lines().find_map(|line| line.split_once("than a fork (not counted): "));
    assert!(
        unknown.unwrap().1.parse::<u64>().unwrap() >= 100,
        "the child's frees of its parent's blocks: {text}"
    );
    // Those of the child that was killed; the other's, which called _exit, ended with it.
    let end = text.split_once(" of them to the end of the recording").unwrap().0;
    let left: u64 = end.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((30..100).contains(&left), "{text}");
}

#[test]
fn executed_programs_are_recorded() {
    let (rows, text) = recorded("execs");
    assert_threads(&rows);
    let shared = ["10001", "20001", "40001", "80001"];
    assert_eq!(counts(&rows, &shared), [4100, 4050, 4001, 4030], "both modes: {rows:?}");
    // The parent, with its vfork child, which does not count; its two children by fork; and each executed program.
    assert!(text.contains(" by 5 processes: "), "{text}");
}

#[test]
fn lifetimes_are_those_of_the_blocks() {
    let (rows, _) = recorded("lives");
    let [longest, lasting, brief] = ["10001", "20001", "40001"].map(|size| rows[size]);
    assert_eq!((longest.0, lasting.0, brief.0), (1, 1, 10_000));
    // By nesting, whatever else the machine does.
    assert!(longest.1 >= lasting.1 && lasting.1 > brief.1 * 9_999.0, "{rows:?}");
}

#[test]
fn a_recorded_profile_is_a_load() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("profile.csv");
    let path = file.display().to_string();
    let program = program(directory.path(), &[]).display().to_string();
    let output = run(&["alloc", "record", "-q", "-o", &path, "--", &program, "threads"]);
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    let load = ["alloc", "glibc", "--profile", &path, "--rounds", "1", "-t", "1", "--steps", "100000"];
    let record = record(&run(&[&load[..], &["--format", "json"]].concat()));
    let steady = figure(&record, "alloc.steady.glibc.t1");
    assert_eq!(steady.status, Status::Measured, "{:?}", steady.reason);
}

#[test]
fn input_output_and_exit_code_are_the_programs_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv").display().to_string();
    let mut command = truebench(&["alloc", "record", "-o", &path, "--", "sh", "-c"]);
    command.arg("cat; echo to stderr >&2; exit 7").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"to stdin\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert_eq!(stdout(&output), "to stdin\n");
    assert!(stderr(&output).starts_with("to stderr\n") && Path::new(&path).is_file());
    assert_eq!(shell(&["-o", &path], "kill -KILL $$").status.code(), Some(137));
}

#[test]
fn a_large_program_runs_as_it_does_alone() {
    // Threads, a guardian, workers that are executed, signals: our own.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv").display().to_string();
    let output = run(&[
        &["alloc", "record", "-o", &path, "--", env!("CARGO_BIN_EXE_truebench")][..],
        &["memory", "--kernel", "triad", "--stores", "regular", "--array-size", "200000", "--rounds", "1"],
        &["--format", "json"],
    ]
    .concat());
    assert!(record(&output).figures.iter().any(|figure| figure.status == Status::Measured));
    let rows = rows(Path::new(&path));
    assert!(rows.values().map(|row| row.0).sum::<u64>() > 1000, "{rows:?}");
}

#[test]
fn interrupts_keep_what_was_recorded() {
    // By the terminal to both, and to truebench alone.
    for (signal, whole) in [(libc::SIGINT, true), (libc::SIGTERM, false)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.csv");
        let mut command = truebench(&["alloc", "record", "-o"]);
        command.arg(&path).args(["--", "sh", "-c", "echo ready; exec cat"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let target = if whole { -(child.id() as i32) } else { child.id() as i32 };
        // SAFETY: our child, or its group.
        assert_eq!(unsafe { libc::kill(target, signal) }, 0);
        // The other end of its input stays open until then.
        let input = child.stdin.take();
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        let status = child.wait().unwrap();
        drop(input);
        assert_eq!(status.code(), Some(128 + signal), "{text}");
        assert!(path.is_file(), "{text}");
    }
}

#[test]
fn unrecordable_programs_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv").display().to_string();
    let program = program(directory.path(), &["-static"]).display().to_string();
    let output = run(&["alloc", "record", "-o", &path, "--", &program, "lives"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nothing was recorded") && stderr(&output).contains("statically"));
    // What it ends with is its own, unless that says that all is well.
    let five = directory.path().join("five");
    let source = directory.path().join("five.c");
    std::fs::write(&source, "int main(void) { return 5; }").unwrap();
    assert!(Command::new("cc").arg("-static").arg("-o").arg(&five).arg(&source).status().unwrap().success());
    let output = run(&["alloc", "record", "-o", &path, "--", five.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let output = shell(&["-o", &path], "exec env -i /nowhere/program");
    assert!(output.status.code() == Some(127) && Path::new(&path).is_file(), "the shell itself allocates");
    std::fs::remove_file(&path).unwrap();
    let output = run(&["alloc", "record", "-o", &path, "--", "/nowhere/program"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/nowhere/program could not be started"), "{}", stderr(&output));
    assert!(!Path::new(&path).exists());
}

#[test]
fn wrong_usage_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let ran = directory.path().join("ran").display().to_string();
    let with = |arguments: &[&str]| {
        let mut command = truebench(&["alloc", "record"]);
        command.args(arguments).args(["--", "touch", &ran]).current_dir(&directory).output().unwrap()
    };
    std::fs::write(directory.path().join("touch.alloc.csv"), "mine").unwrap();
    for (arguments, words) in [
        (&[][..], "touch.alloc.csv is there already"),
        (&["-o", "/nowhere/x.csv"], "/nowhere/x.csv"),
        (&["-o", "x.csv", "jemalloc"], "unexpected argument 'jemalloc'"),
        (&["-o", "x.csv", "--dry-run"], "unexpected argument '--dry-run'"),
        (&["-o", "x.csv", "--profile", "uniform"], "unexpected argument '--profile'"),
        (&["-o", "x.csv", "--format", "json"], "unexpected argument '--format'"),
    ] {
        let output = with(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert!(stderr(&run(&["alloc", "record"])).contains("-- <COMMAND>"));
    assert!(!Path::new(&ran).exists());
    // Without the file of that name it is the default.
    std::fs::remove_file(directory.path().join("touch.alloc.csv")).unwrap();
    assert!(with(&[]).status.success() && directory.path().join("touch.alloc.csv").is_file());
}

#[test]
fn a_missing_recorder_is_reported() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = directory.path().join("bin");
    std::fs::create_dir(&alone).unwrap();
    let alone = alone.join("truebench");
    std::fs::hard_link(env!("CARGO_BIN_EXE_truebench"), &alone).unwrap();
    let mut command = Command::new(&alone);
    let output = command.args(["alloc", "record", "-o", "/dev/null", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("libtruebench_recorder.so was not found"), "{}", stderr(&output));
    // One that cannot be named to the dynamic linker.
    let spaced = directory.path().join("two words");
    std::fs::create_dir(&spaced).unwrap();
    std::fs::write(spaced.join("libtruebench_recorder.so"), "").unwrap();
    let output = command.env("TRUEBENCH_LIB", &spaced).output().unwrap();
    assert!(output.status.code() == Some(1) && stderr(&output).contains("a space or a colon"));
}

#[test]
fn our_own_malloc_is_the_c_librarys() {
    for program in [env!("CARGO_BIN_EXE_truebench"), env!("CARGO_BIN_EXE_truebench-workload")] {
        let output = Command::new("nm").args(["-D", program]).output().expect("nm, of binutils");
        let named = stdout(&output);
        let malloc: Vec<&str> =
            named.lines().filter(|line| line.split([' ', '@']).any(|word| word == "malloc")).collect();
        assert!(malloc.len() == 1 && malloc[0].contains(" U "), "{program}: {malloc:?}");
    }
}
