//! Where a test works, and what it finds there: made before each pass, and removed after it, so that every pass starts alike.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cell::test::Needs;
use rustix::fs::{FlockOperation, flock};

use super::scripts::{TEXT, TOGETHER, WORK, text};

/// A working directory, and what the test must be told of it.
#[derive(Debug)]
pub struct Place {
    /// The directory.
    pub directory: PathBuf,
    /// The test's own arguments.
    pub arguments: Vec<OsString>,
    // Removes it.
    _made: Option<Made>,
}

/// A directory that was made, and a lock on it as long as we live.
#[derive(Debug)]
struct Made {
    directory: tempfile::TempDir,
    _lock: File,
}

impl Place {
    /// What a test with such needs must have, in a new directory below `below` if it writes.
    ///
    /// # Errors
    /// What could not be made, where, and why.
    pub fn make(needs: Needs, cell: &Path, below: &Path, session: u32) -> Result<Place, String> {
        let (made, arguments) = match needs {
            Needs::Nothing => (None, Vec::new()),
            Needs::Cell => (None, vec![cell.into()]),
            Needs::Directory => (Some(directory(below, session)?), Vec::new()),
            Needs::Scripts => {
                let made = directory(below, session)?;
                write(made.directory.path()).map_err(|error| {
                    format!("the scripts could not be written below {}: {error}", below.display())
                })?;
                (Some(made), vec![format!("./{}", TOGETHER.0).into()])
            }
        };
        // Whoever needs no directory must not fail for want of one.
        let directory =
            made.as_ref().map_or_else(|| PathBuf::from("/"), |made| made.directory.path().to_owned());
        Ok(Place { directory, arguments, _made: made })
    }
}

/// How the names of all directories begin; a number follows.
const PREFIX: &str = "truebench-";

/// How the names of a run's directories begin.
fn prefix(session: u32) -> String {
    format!("{PREFIX}{session}-")
}

/// Removes what a worker that was killed could not: directories of this run below `below`.
pub fn sweep(below: &Path, session: u32) {
    let prefix = prefix(session);
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
            // Somebody else's with such a name is not ours to remove, nor is it worth a word.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A directory younger than this may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// Removes what runs left that were killed with all their processes: directories below `below` that nobody holds a lock on.
/// Process numbers would not tell: a directory may be shared with other containers.
pub fn sweep_abandoned(below: &Path) {
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        if number.is_none_or(|(session, _)| session.parse::<u32>().is_err()) {
            continue;
        }
        let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
        let is_old = modified.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > YOUNG);
        let free = |directory: File| flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok();
        if is_old && File::open(entry.path()).is_ok_and(free) {
            // Somebody else's is not ours to remove, nor is it worth a word.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn directory(below: &Path, session: u32) -> Result<Made, String> {
    let make = || {
        let directory = tempfile::Builder::new().prefix(&prefix(session)).tempdir_in(below)?;
        let lock = File::open(directory.path())?;
        // Where there are no locks nobody can tell either that it was abandoned.
        let _ = flock(&lock, FlockOperation::NonBlockingLockShared);
        Ok(Made { directory, _lock: lock })
    };
    make().map_err(|error: std::io::Error| {
        format!("no directory to work in below {}: {error}; --dir gives another", below.display())
    })
}

fn write(directory: &Path) -> std::io::Result<()> {
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
    fn what_is_needed_is_there_and_goes_with_the_place() {
        let below = tempfile::tempdir().unwrap();
        let place = Place::make(Needs::Scripts, Path::new("/cell"), below.path(), 7).unwrap();
        let script = place.directory.join(&place.arguments[0]);
        let ran = std::process::Command::new(script).arg("2").current_dir(&place.directory).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(std::fs::read_dir(&place.directory).unwrap().count(), 3, "the scripts tidy up");
        sweep(below.path(), 77);
        assert!(place.directory.exists(), "another run's");
        drop(place);
        assert_eq!(std::fs::read_dir(below.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_worker_left_is_swept() {
        let below = tempfile::tempdir().unwrap();
        std::mem::forget(Place::make(Needs::Scripts, Path::new("/cell"), below.path(), 7).unwrap());
        std::fs::write(below.path().join("other"), "").unwrap();
        sweep(below.path(), 7);
        let left: Vec<_> =
            std::fs::read_dir(below.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["other"]);
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_what_is_in_use_is_not() {
        let below = tempfile::tempdir().unwrap();
        let used = Place::make(Needs::Directory, Path::new("/cell"), below.path(), 8).unwrap();
        let make = |name: &str| {
            let path = below.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "left").unwrap();
            path
        };
        let (left, young, other) =
            (make("truebench-7-abc"), make("truebench-9-def"), make("truebench-old-abc"));
        let long_ago = std::time::SystemTime::now() - 2 * YOUNG;
        for path in [&left, &used.directory, &other] {
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
        sweep_abandoned(below.path());
        assert_eq!(
            [&left, &used.directory, &young, &other].map(|path| path.exists()),
            [false, true, true, true]
        );
    }

    #[test]
    fn only_who_writes_gets_a_directory() {
        let nowhere = Path::new("/nonexistent");
        let place = Place::make(Needs::Cell, Path::new("/cell"), nowhere, 7).unwrap();
        assert_eq!(
            (place.directory.as_path(), place.arguments),
            (Path::new("/"), vec![OsString::from("/cell")])
        );
        let error = Place::make(Needs::Directory, Path::new("/cell"), nowhere, 7).unwrap_err();
        assert!(error.contains("/nonexistent") && error.contains("--dir"), "{error}");
    }
}
