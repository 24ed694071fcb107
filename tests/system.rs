//! `truebench system`: figures of the processes, files and scripts, and what becomes of them where something is wrong.

use std::ffi::CString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use figure::evidence::{self, FactType, Key};
use figure::{Figure, Record, Status};

use crate::bench::{record, stderr, truebench};

/// One round of 0.3 s, one copy.
const SHORT: &[&str] = &["--rounds", "1", "--duration", "0.3s", "-c", "1", "--format", "json"];
/// How long to wait for what must happen soon.
const PATIENCE: Duration = Duration::from_secs(60);

fn command(tests: &[&str], directory: &Path) -> Command {
    let mut command = truebench(&["system"]);
    command.args(tests).args(SHORT).arg("--dir").arg(directory);
    command
}

/// A record with figures of copies, for tests of what is written.
pub fn short() -> Record {
    let directory = tempfile::tempdir().unwrap();
    record(&command(&["pipe"], directory.path()).args(["-c", "2"]).output().unwrap())
}

fn figure<'a>(record: &'a Record, test: &str) -> &'a Figure {
    record.figure(&format!("system.{test}")).unwrap_or_else(|| panic!("no figure of {test}"))
}

fn fact<T: FactType>(record: &Record, test: &str, key: Key<T>) -> T {
    let reading = figure(record, test).evidence.get(key);
    reading.value().unwrap_or_else(|| panic!("{test}, {}: {:?}", key.name, reading.reason()));
    reading.into_value().expect("just checked")
}

/// These tests failed, each for a reason with all these words; the others were measured.
fn assert_failed(output: &Output, failed: &[&str], words: &[&str]) {
    let record = record(output);
    for figure in &record.figures {
        let reason = figure.reason.as_deref().unwrap_or_default();
        if failed.iter().any(|test| figure.id == format!("system.{test}")) {
            assert_eq!(figure.status, Status::Failed, "{}", figure.id);
            assert!(words.iter().all(|word| reason.contains(word)), "{}: {reason}", figure.id);
        } else {
            assert_eq!((figure.status, reason), (Status::Measured, ""), "{}: the rest stands", figure.id);
        }
    }
    assert!(record.figures.len() > failed.len(), "{}", stderr(output));
}

#[test]
fn processes_files_and_scripts_are_measured_and_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let tests = ["execl", "fstime", "fsbuffer", "fsdisk", "spawn", "shell1", "shell8"];
    let output = command(&tests, directory.path()).args(["-c", "2"]).output().unwrap();
    assert_failed(&output, &[], &[]);
    let record = record(&output);
    let of_tests = || record.figures.iter().filter(|figure| figure.conditions.get(evidence::TEST).is_some());
    assert_eq!(of_tests().count(), 2 * tests.len());
    assert_eq!(record.figures.len(), 2 * tests.len() + 2, "and a total for one copy and for two");
    for measured in of_tests() {
        assert!(measured.value.is_some_and(|value| value > 0.0), "{}", measured.id);
        let round = measured.used_rounds().next().expect("a round");
        let copies = measured.conditions.get(evidence::COPIES).expect("a number of copies") as usize;
        assert_eq!(round.evidence.get(evidence::COPY_COUNTS).into_value().map(|all| all.len()), Some(copies));
    }
    // By CPU time, which does not depend on what else runs here.
    let cost = |test: &str| {
        let round = &figure(&record, test).used_rounds().next().expect("a round").evidence;
        let used = [evidence::COPY_USER, evidence::COPY_SYSTEM]
            .map(|key| round.get(key).into_value().expect("observed"));
        used.iter().sum::<f64>() / round.get(evidence::COPY_COUNTS).into_value().expect("observed")[0]
    };
    assert!(cost("shell8") > 2.0 * cost("shell1"), "eight instances are more work than one");
    assert!(cost("fsbuffer") > 2.0 * cost("fsdisk"), "a KiB takes four turns, or a quarter of one");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn what_moves_the_figures_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let output =
        command(&["execl", "fsbuffer", "shell1"], directory.path()).env("LC_ALL", "C").output().unwrap();
    let record = record(&output);
    assert!(fact(&record, "execl", evidence::LIBC).contains("libc") || cfg!(target_env = "musl"));
    let bytes = std::fs::metadata(env!("CARGO_BIN_EXE_truebench-workload")).unwrap().len() as f64;
    assert_eq!(fact(&record, "execl", evidence::CELL_BYTES), bytes);
    let is_dynamic = fact(&record, "execl", evidence::CELL_LINKAGE) == "dynamic";
    assert_eq!(fact(&record, "execl", evidence::CELL_LIBRARIES) > 0.0, is_dynamic);
    for test in ["fsbuffer", "shell1"] {
        let (kind, options) =
            (fact(&record, test, evidence::FS_TYPE), fact(&record, test, evidence::FS_OPTIONS));
        assert!(!kind.is_empty() && options.split(',').any(|option| option == "rw"), "{kind}: {options}");
        assert!(fact(&record, test, evidence::FS_DEVICE).contains(':'));
    }
    assert!(figure(&record, "execl").evidence.get(evidence::FS_TYPE).value().is_none(), "it writes no file");
    assert!(fact(&record, "shell1", evidence::SHELL).starts_with('/'));
    let tools = fact(&record, "shell1", evidence::SHELL_TOOLS);
    assert!(["sort", "od", "grep", "tee", "wc", "rm"].iter().all(|tool| tools.contains(tool)), "{tools}");
    assert_eq!(fact(&record, "shell1", evidence::LOCALE_COLLATE), "C", "LC_ALL goes before LANG");
}

#[test]
fn a_program_that_is_not_on_path_is_named() {
    let (directory, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for tool in ["od", "grep", "tee", "wc", "rm"] {
        let there = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(tool));
        let there = there.iter().find(|path| path.exists()).expect(tool);
        std::os::unix::fs::symlink(there, programs.path().join(tool)).unwrap();
    }
    let mut command = command(&["shell1", "shell8", "pipe"], directory.path());
    let output = command.env("PATH", programs.path()).output().unwrap();
    assert_failed(&output, &["shell1", "shell8"], &["127", "sort", "not found"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left of a failure");
}

#[test]
fn a_directory_that_is_not_there_concerns_those_that_write() {
    let mut command = truebench(&["system", "spawn", "execl", "fsbuffer", "shell1"]);
    let output = command.args(SHORT).env("TMPDIR", "/nonexistent/here").output();
    assert_failed(&output.unwrap(), &["fsbuffer", "shell1"], &["/nonexistent/here", "--dir"]);
}

/// Runs it with a tmpfs on `directory`, in a mount namespace of its own, which takes the mount with it. `None` where one
/// may not mount: this is printed.
fn on_tmpfs(mut command: Command, directory: &Path, flags: libc::c_ulong, options: &str) -> Option<Output> {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root may mount");
        return None;
    }
    let point = CString::new(directory.as_os_str().as_bytes()).unwrap();
    let options = CString::new(options).unwrap();
    let mount = move || {
        let ok = |result: i32| if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
        // SAFETY: strings that live; system calls alone, as a forked child may make them.
        unsafe {
            ok(libc::unshare(libc::CLONE_NEWNS))?;
            let (none, private) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
            ok(libc::mount(none, c"/".as_ptr(), none, private, std::ptr::null()))?;
            let kind = c"tmpfs".as_ptr();
            ok(libc::mount(kind, point.as_ptr(), kind, flags, options.as_ptr().cast()))
        }
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(mount) };
    match command.output() {
        Ok(output) => Some(output),
        // Invalid: in a chroot whose root is no mount.
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => {
            eprintln!("skipped: nothing can be mounted here: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_full_disk_is_named() {
    let directory = tempfile::tempdir().unwrap();
    // Room for two files of 500 KiB, not for two of 2000.
    let files = command(&["fsbuffer", "fstime", "fsdisk", "syscall"], directory.path());
    if let Some(output) = on_tmpfs(files, directory.path(), 0, "size=3m") {
        assert_failed(&output, &["fstime", "fsdisk"], &["writing", "No space left"]);
        assert_eq!(fact(&record(&output), "fsbuffer", evidence::FS_TYPE), "tmpfs");
    }
    // Room for the scripts and their text, not for what they write.
    let scripts = command(&["shell1", "syscall"], directory.path());
    if let Some(output) = on_tmpfs(scripts, directory.path(), 0, "size=32k") {
        assert_failed(&output, &["shell1"], &["exit", "No space left"]);
    }
}

#[test]
fn a_directory_where_nothing_may_be_written_or_executed_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let ask = || command(&["execl", "fsbuffer", "shell1"], directory.path());
    if let Some(output) = on_tmpfs(ask(), directory.path(), libc::MS_RDONLY, "size=8m") {
        let place = directory.path().to_str().unwrap();
        assert_failed(&output, &["fsbuffer", "shell1"], &[place, "Read-only file system"]);
    }
    if let Some(output) = on_tmpfs(ask(), directory.path(), libc::MS_NOEXEC, "size=8m") {
        assert_failed(&output, &["shell1"], &["executing", "Permission denied", "noexec", "--dir"]);
    }
}

/// Processes below `pid` with arguments that begin with these after the program's name.
fn below(pid: u32, arguments: &[&str]) -> Option<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let is_below = |of: u32| std::iter::successors(Some(of), |at| parent(*at)).any(|at| at == pid);
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let mut found = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    found.find(|candidate| {
        let line = std::fs::read(format!("/proc/{candidate}/cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy).collect();
        arguments.iter().zip(&words).filter(|(wanted, word)| **wanted == **word).count() == arguments.len()
            && is_below(*candidate)
    })
}

/// Starts it, sends a signal to what runs a test as soon as it is there (`None`: to truebench itself), and waits.
fn disturbed(mut command: Command, test: &str, signal: i32, is_copy: bool) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let copy = loop {
        assert!(begun.elapsed() < PATIENCE, "no copy of {test}");
        match below(child.id(), &[test]) {
            Some(copy) => break copy,
            None => std::thread::yield_now(),
        }
    };
    let target = if is_copy { copy } else { child.id() };
    // SAFETY: a signal to a process of this test's, which was not waited for.
    assert_eq!(unsafe { libc::kill(target as i32, signal) }, 0);
    child.wait_with_output().unwrap()
}

#[test]
fn a_killed_copy_costs_its_test() {
    let directory = tempfile::tempdir().unwrap();
    let mut command =
        truebench(&["system", "pipe", "syscall", "--rounds", "1", "--duration", "2s", "-c", "1"]);
    command.args(["--format", "json", "--dir"]).arg(directory.path());
    let output = disturbed(command, "pipe", libc::SIGKILL, true);
    assert_failed(&output, &["pipe"], &["killed by SIGKILL"]);
}

#[test]
fn an_interrupted_run_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = truebench(&["system", "fsdisk", "--rounds", "1", "--duration", "60s", "-c", "1"]);
    command.args(["--format", "json", "--dir"]).arg(directory.path());
    let output = disturbed(command, "fsdisk", libc::SIGINT, false);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
}
