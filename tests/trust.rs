//! What another user planted is not run: programs in caches, beside truebench, on PATH, in TRUEBENCH_LIB.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::bench::{stderr, stdout, truebench};

/// Any user but root.
const STRANGER: u32 = 65534;

/// A place where every user can make files, and where a stranger's program shows that it ran.
struct Trap {
    directory: tempfile::TempDir,
}

impl Trap {
    /// None where files of another user cannot be made.
    fn set() -> Option<Trap> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: files of another user need root");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o1777)).unwrap();
        Some(Trap { directory })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A stranger's program of this name, in directories of the stranger's.
    fn plant(&self, name: &str) -> PathBuf {
        let program = self.path().join(name);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        let (sprung, version) = (self.path().join("sprung"), "go version go1.99 linux/amd64");
        fs::write(&program, format!("#!/bin/sh\n>{}\necho {version}\n", sprung.display())).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        for part in program.ancestors().take_while(|part| *part != self.path()) {
            chown(part, Some(STRANGER), Some(STRANGER)).unwrap();
        }
        program
    }

    fn sprang(&self) -> bool {
        self.path().join("sprung").exists()
    }
}

/// The name that the servers have in a cache.
fn servers_name() -> String {
    let listed = stdout(&truebench(&["http", "list"]).output().unwrap());
    let program = listed.lines().find_map(|line| line.strip_prefix("program: ")).expect("a program");
    Path::new(program).file_name().unwrap().to_str().unwrap().to_owned()
}

fn refused(output: &Output, word: &str) {
    assert_eq!(output.status.code(), Some(1), "{} {}", stdout(output), stderr(output));
    assert!(stderr(output).contains(word), "{}", stderr(output));
}

#[test]
fn a_cache_that_another_user_made_is_not_used() {
    let Some(trap) = Trap::set() else { return };
    let name = servers_name();
    let planted = trap.plant(&format!("truebench/{name}"));
    // A fixed name in the directory for temporary files, when there is no home.
    let homeless = truebench(&["http", "list"])
        .env_remove("HOME")
        .env_remove("XDG_CACHE_HOME")
        .env("TMPDIR", trap.path())
        .output()
        .unwrap();
    assert!(!trap.sprang(), "{} {}", stdout(&homeless), stderr(&homeless));
    let list = || truebench(&["http", "list"]).env("XDG_CACHE_HOME", trap.path()).output().unwrap();
    refused(&list(), "XDG_CACHE_HOME");
    // The directory is root's, the program is not; then it is, and every user can write it.
    chown(planted.parent().unwrap(), Some(0), Some(0)).unwrap();
    refused(&list(), "XDG_CACHE_HOME");
    chown(&planted, Some(0), Some(0)).unwrap();
    fs::set_permissions(&planted, Permissions::from_mode(0o777)).unwrap();
    refused(&list(), "XDG_CACHE_HOME");
    // A link to a program of one's own, in another's directory.
    let other = trap.plant("open/truebench/x");
    fs::rename(&planted, other.with_file_name(&name)).unwrap();
    let through =
        truebench(&["http", "list"]).env("XDG_CACHE_HOME", trap.path().join("open")).output().unwrap();
    refused(&through, "XDG_CACHE_HOME");
    assert!(!trap.sprang());
}

#[test]
fn programs_and_libraries_that_another_user_can_change_are_not_run() {
    let Some(trap) = Trap::set() else { return };
    for name in ["lib/truebench-workload", "lib/truebench-servers", "lib/libtruebench_recorder.so"] {
        trap.plant(name);
    }
    let csv = trap.path().join("x.csv");
    let run = |arguments: &[&str]| {
        truebench(arguments).env("TRUEBENCH_LIB", trap.path().join("lib")).output().unwrap()
    };
    refused(&run(&["http", "list"]), "truebench-servers");
    let recorded = run(&["alloc", "record", "-o", csv.to_str().unwrap(), "--", "true"]);
    refused(&recorded, "libtruebench_recorder.so");
    let switched = run(&["system", "switch", "--quick", "--rounds", "1", "--max-time", "2s"]);
    let text = stdout(&switched) + &stderr(&switched);
    assert!(text.contains("truebench-workload is not used: user 65534"), "{text}");
    assert!(!trap.sprang());
}

#[test]
fn go_of_another_user_on_the_path_is_passed_over() {
    let Some(trap) = Trap::set() else { return };
    let planted = trap.plant("bin/go");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", planted.parent().unwrap().display());
    // Servers that were built by the Go behind it are found in the cache.
    let listed = truebench(&["http", "list"]).env("PATH", path).output().unwrap();
    assert!(!trap.sprang(), "{}", stderr(&listed));
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
}

#[test]
fn a_run_that_another_user_forged_is_not_taken_up() {
    let Some(trap) = Trap::set() else { return };
    let state = trap.path().join("run.json");
    fs::write(&state, "{\"command\":[\"truebench\",\"run\",\"--dry-run\"],\"done\":[]}").unwrap();
    chown(&state, Some(STRANGER), None).unwrap();
    let resumed = truebench(&["run", "--resume", trap.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("user 65534"), "{}", stderr(&resumed));
}

#[test]
fn a_cache_that_cannot_be_made_names_the_variable() {
    let output = truebench(&["http", "list"]).env("XDG_CACHE_HOME", "/proc/none").output().unwrap();
    refused(&output, "XDG_CACHE_HOME");
}
