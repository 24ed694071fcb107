//! Limits of the environment: each is named, and costs no more than it must.

use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output};

use figure::Record;
use libc::{RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_STACK, rlim_t};

use crate::bench::{ONCE, record, stderr, stdout, truebench};

/// Runs it under a limit, soft and hard.
fn limited(arguments: &[&str], resource: u32, soft: rlim_t, hard: rlim_t) -> Output {
    let mut command = truebench(arguments);
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: between fork and exec it makes a system call alone.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(resource as _, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    command.output().unwrap()
}

#[test]
fn a_limit_of_file_size_costs_the_file_and_not_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("f.json");
    let arguments = [ONCE, &["--kernel", "read", "-q", "-o", file.to_str().unwrap()]].concat();
    let output = limited(&arguments, RLIMIT_FSIZE, 8192, 8192);
    assert_eq!(output.status.code(), Some(1), "{:?}: {}", output.status, stderr(&output));
    assert!(stderr(&output).contains("8 KiB: ulimit -f"), "{}", stderr(&output));
    assert!(stdout(&output).contains("STREAM-counted"), "the text is what is left");
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0, "no temporary file is left");
    // What a program of the user's meets is its own.
    let loud = "trap 'echo mine; exit 9' XFSZ; head -c 9000 /dev/zero > \"$0\"";
    let file = directory.path().join("big");
    let program = ["faults", "--no-prices", "--", "sh", "-c", loud, file.to_str().unwrap()];
    let output = limited(&program, RLIMIT_FSIZE, 8192, 8192);
    assert!(output.status.code().is_some_and(|code| code != 0), "{:?}", output.status);
    assert_eq!(std::fs::metadata(file).unwrap().len(), 8192);
}

#[test]
fn a_limit_of_cpu_time_is_named_and_finished_figures_stay() {
    let endless =
        ["memory", "--array-size", "200000", "--rounds", "10000", "--kernel", "triad", "--format", "json"];
    // SIGKILL, and SIGXCPU before.
    for (soft, hard) in [(2, 2), (2, 60)] {
        let output = limited(&endless, RLIMIT_CPU, soft, hard);
        assert_eq!(output.status.signal(), None, "{}", stderr(&output));
        let record = record(&output);
        let reasons: Vec<&str> =
            record.figures.iter().filter_map(|figure| figure.reason.as_deref()).collect();
        assert!(reasons.iter().any(|reason| reason.contains("ulimit -t")), "{reasons:?}");
        assert!(!reasons.iter().any(|reason| reason.contains("by hand")), "{reasons:?}");
        assert!(record.figures.iter().any(|figure| figure.used_rounds().count() > 0), "{reasons:?}");
    }
}

#[test]
fn a_small_stack_is_enough() {
    let arguments = [ONCE, &["--kernel", "read", "--format", "json"]].concat();
    for stack in [64 << 10, 1 << 20] {
        let output = limited(&arguments, RLIMIT_STACK, stack, stack);
        assert_eq!(output.status.code(), Some(3), "{:?}: {}", output.status, stderr(&output));
        assert!(record(&output).figures.iter().any(|figure| figure.value.is_some()));
    }
}

#[test]
fn a_missing_proc_is_named() {
    let mut command = Command::new("unshare");
    let script = "mount --make-rprivate / && umount -l /proc && exec \"$0\" \"$@\"";
    command.args(["-m", "sh", "-c", script]).arg(env!("CARGO_BIN_EXE_truebench")).args(ONCE);
    let output = command.output().expect("unshare, of util-linux");
    if output.status.code() == Some(1) && !stderr(&output).contains("truebench") {
        eprintln!("skipped: no mount namespace here: {}", stderr(&output).trim());
        return;
    }
    let text = stdout(&output) + &stderr(&output);
    assert!(output.status.code() == Some(1) && text.contains("mount -t proc proc /proc"), "{text}");
}

#[test]
fn a_file_that_cannot_be_is_refused_and_a_link_stays_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    symlink("loop", path("loop")).unwrap();
    for file in [path(&"x".repeat(300)), path("missing/f.json"), path("loop"), path("loop/f.json")] {
        let output = truebench(&[ONCE, &["-q", "-o", &file]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{file}: {}", stderr(&output));
    }
    std::fs::create_dir(path("sub")).unwrap();
    symlink("sub/target.json", path("second")).unwrap();
    symlink("second", path("first")).unwrap();
    let first = path("first");
    let arguments = [ONCE, &["--kernel", "read", "-q", "-o", &first]].concat();
    assert_eq!(truebench(&arguments).output().unwrap().status.code(), Some(3));
    assert!(directory.path().join("first").is_symlink() && directory.path().join("second").is_symlink());
    serde_json::from_slice::<Record>(&std::fs::read(path("sub/target.json")).unwrap()).unwrap();
}
