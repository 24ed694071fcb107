//! The working directory of a test. It is created before each pass and removed after it, so that all passes
//! start equal.

use std::ffi::OsString;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use lab::failure::{Attempt, Failure};
use lab::scratch;
use workload::unixbench::Needs;

use super::scripts::{TEXT, TOGETHER, WORK, text};

/// A working directory with its files, and the arguments that the test needs.
#[derive(Debug)]
pub struct WorkDir {
    /// Its path; `/` for a test that needs no directory.
    pub directory: PathBuf,
    pub arguments: Vec<OsString>,
    // Removes the directory when dropped.
    _scratch: Option<scratch::Directory>,
}

impl WorkDir {
    /// Creates what a test with these needs requires, in a new directory in `parent` if it writes files.
    pub fn create(needs: Needs, helper: &Path, parent: &Path, session: u32) -> Result<WorkDir, Failure> {
        let (scratch, arguments) = match needs {
            Needs::Nothing => (None, Vec::new()),
            Needs::Program => (None, vec![helper.into()]),
            Needs::Directory => (Some(scratch_directory(parent, session)?), Vec::new()),
            Needs::Scripts => {
                let scratch = scratch_directory(parent, session)?;
                write_scripts(scratch.path())
                    .attempt_on("cannot write the scripts below", parent.display())?;
                (Some(scratch), vec![format!("./{}", TOGETHER.0).into()])
            }
        };
        // A test that needs no directory must not fail because none can be created.
        let directory =
            scratch.as_ref().map_or_else(|| PathBuf::from("/"), |scratch| scratch.path().to_owned());
        Ok(WorkDir { directory, arguments, _scratch: scratch })
    }
}

fn scratch_directory(parent: &Path, session: u32) -> Result<scratch::Directory, Failure> {
    scratch::Directory::new(parent, session)
        .attempt_on("no directory to work in below", parent.display())
        .map_err(|failure| failure.advice("--dir gives another"))
}

fn write_scripts(directory: &Path) -> std::io::Result<()> {
    for (name, script) in [TOGETHER, WORK] {
        let file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(directory.join(name));
        std::io::Write::write_all(&mut file?, script.as_bytes())?;
    }
    std::fs::write(directory.join(TEXT), text())
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_directory_has_what_is_needed_and_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let workdir = WorkDir::create(Needs::Scripts, Path::new("/helper"), parent.path(), 7).unwrap();
        let script = workdir.directory.join(&workdir.arguments[0]);
        let mut command = std::process::Command::new(script);
        let output = command.arg("2").current_dir(&workdir.directory).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(std::fs::read_dir(&workdir.directory).unwrap().count(), 3, "the scripts tidy up");
        drop(workdir);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_tests_that_write_get_a_directory() {
        let nowhere = Path::new("/nonexistent");
        let workdir = WorkDir::create(Needs::Program, Path::new("/helper"), nowhere, 7).unwrap();
        assert_eq!(
            (workdir.directory.as_path(), workdir.arguments),
            (Path::new("/"), vec![OsString::from("/helper")])
        );
        let error =
            WorkDir::create(Needs::Directory, Path::new("/helper"), nowhere, 7).unwrap_err().to_string();
        assert!(error.contains("/nonexistent") && error.contains("--dir"), "{error}");
    }
}
