//! Files and directories that a run makes for itself alone. Their names begin with `truebench-PID-`, PID being truebench's own, and who
//! made one holds a lock on it as long as he lives: so what a run that was killed left is known, and removed.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempDir};

/// How all names begin; a number follows.
const PREFIX: &str = "truebench-";
/// What is younger than this may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);
/// The time that killed processes may take to end, and the time between two scans.
const ENDING: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(10);

/// A directory, and a lock on it.
#[derive(Debug)]
pub struct Directory {
    directory: TempDir,
    _lock: File,
}

impl Directory {
    /// Makes one below `below`, for the run of the truebench with this process number.
    ///
    /// # Errors
    /// What the system answered.
    pub fn new(below: &Path, session: u32) -> io::Result<Directory> {
        let directory = tempfile::Builder::new().prefix(&prefix(session)).tempdir_in(below)?;
        let lock = File::open(directory.path())?;
        // Where there are no locks nobody can tell either that it was abandoned.
        let _ = flock(&lock, FlockOperation::NonBlockingLockShared);
        Ok(Directory { directory, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// A file in `below` that is to take another's place. Its mode is what the umask leaves of rw-rw-rw-.
///
/// # Errors
/// What the system answered.
pub fn file(below: &Path, session: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{}", prefix(session));
    let file = builder.prefix(&prefix).permissions(Permissions::from_mode(0o666)).tempfile_in(below)?;
    let _ = flock(file.as_file(), FlockOperation::NonBlockingLockShared);
    Ok(file)
}

/// How the names of a run begin.
fn prefix(session: u32) -> String {
    format!("{PREFIX}{session}-")
}

/// Removes the unlocked files and directories of a killed run below `below`. Its processes may still be ending, with locks held and files
/// written: it scans again, for at most [`ENDING`].
pub fn sweep(below: &Path, session: u32) {
    let until = Instant::now() + ENDING;
    while remove_free(below, session) > 0 && Instant::now() < until {
        std::thread::sleep(AGAIN);
    }
}

/// Removes the unlocked entries of the run. Returns the number of its entries, removed ones included: a process may create them again.
fn remove_free(below: &Path, session: u32) -> usize {
    let prefix = prefix(session);
    let mut found = 0;
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_of_run =
            name.to_str().is_some_and(|name| name.strip_prefix('.').unwrap_or(name).starts_with(&prefix));
        if is_of_run {
            found += 1;
            if is_free(&entry.path()) != Some(false) {
                remove(&entry.path());
            }
        }
    }
    found
}

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
        if is_old && is_free(&entry.path()) == Some(true) {
            remove(&entry.path());
        }
    }
}

/// Whether nobody holds a lock on it; `None`: the file system cannot tell.
fn is_free(path: &Path) -> Option<bool> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

/// Somebody else's is not ours to remove, nor is it worth a word.
fn remove(path: &Path) {
    let _ = match path.symlink_metadata() {
        Ok(there) if there.is_dir() => std::fs::remove_dir_all(path),
        _ => std::fs::remove_file(path),
    };
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_run_that_was_killed_leaves_nothing_and_another_keeps_its_own() {
        let below = tempfile::tempdir().unwrap();
        let names = || {
            let entries = std::fs::read_dir(&below).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let made = |session| Directory::new(below.path(), session).unwrap();
        let (kept, held) = (made(7), file(below.path(), 7).unwrap());
        let held_file = held.path().file_name().unwrap().to_str().unwrap().to_owned();
        // As who was killed leaves it: without its lock.
        for dead in [made(7).directory.keep(), made(70).directory.keep()] {
            std::fs::write(dead.join("file"), "").unwrap();
        }
        let (_, lost) = file(below.path(), 7).unwrap().keep().unwrap();
        std::fs::write(below.path().join("truebench-7"), "a user's").unwrap();
        sweep(below.path(), 7);
        let mut left = names();
        left.sort();
        assert!(!lost.exists());
        assert_eq!(left.len(), 4, "{left:?}");
        assert!(
            kept.path().exists() && left.contains(&held_file) && left.contains(&"truebench-7".to_owned())
        );
        drop((kept, held));
        sweep(below.path(), 70);
        assert_eq!(names(), ["truebench-7"]);
    }

    #[test]
    fn what_nobody_holds_is_abandoned_when_it_is_old() {
        let below = tempfile::tempdir().unwrap();
        let used = Directory::new(below.path(), 8).unwrap();
        let make = |name: &str| {
            let path = below.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "left").unwrap();
            path
        };
        let (left, young, other) =
            (make("truebench-7-abc"), make("truebench-9-def"), make("truebench-old-abc"));
        let long_ago = std::time::SystemTime::now() - 2 * YOUNG;
        for path in [left.as_path(), used.path(), other.as_path()] {
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
        sweep_abandoned(below.path());
        assert_eq!(
            [left.as_path(), used.path(), &young, &other].map(Path::exists),
            [false, true, true, true]
        );
    }
}
