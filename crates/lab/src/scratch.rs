//! Private files and directories of a run, named `truebench-PID-…` after truebench's process id. The creator
//! holds a lock on each as long as it lives, so the remains of a killed run can be removed.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempDir};

/// Prefix of all names; the process id follows.
const PREFIX: &str = "truebench-";
/// A younger entry may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);
/// How long killed processes may take to end.
const ENDING: Duration = Duration::from_secs(2);
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// A locked temporary directory. Dropping it removes it.
#[derive(Debug)]
pub struct Directory {
    directory: TempDir,
    _lock: File,
}

impl Directory {
    /// Creates a directory in `parent`. `session` is the process id of truebench.
    pub fn new(parent: &Path, session: u32) -> io::Result<Directory> {
        let directory = tempfile::Builder::new().prefix(&prefix(session)).tempdir_in(parent)?;
        let lock = File::open(directory.path())?;
        // On a file system without locks, the entry cannot be recognised as abandoned either.
        let _ = flock(&lock, FlockOperation::NonBlockingLockShared);
        Ok(Directory { directory, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Creates a hidden file in `parent` that is to replace another. Its mode is rw-rw-rw- without the umask.
pub fn file(parent: &Path, session: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{}", prefix(session));
    let file = builder.prefix(&prefix).permissions(Permissions::from_mode(0o666)).tempfile_in(parent)?;
    let _ = flock(file.as_file(), FlockOperation::NonBlockingLockShared);
    Ok(file)
}

fn prefix(session: u32) -> String {
    format!("{PREFIX}{session}-")
}

/// Removes the unlocked files and directories of a killed run from `parent`. Its processes may still be
/// ending, with locks held and files written: it scans again, for at most [`ENDING`].
pub fn sweep(parent: &Path, session: u32) {
    let end = Instant::now() + ENDING;
    while remove_unlocked(parent, session) > 0 && Instant::now() < end {
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Returns the number of the run's entries, removed ones included: a process may create them again.
fn remove_unlocked(parent: &Path, session: u32) -> usize {
    let prefix = prefix(session);
    let mut count = 0;
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_of_run =
            name.to_str().is_some_and(|name| name.strip_prefix('.').unwrap_or(name).starts_with(&prefix));
        if is_of_run {
            count += 1;
            if is_unlocked(&entry.path()) != Some(false) {
                remove(&entry.path());
            }
        }
    }
    count
}

/// Removes old unlocked directories of killed runs from `parent`. Process ids cannot be checked instead,
/// because `parent` may be shared with other containers.
pub fn sweep_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let parts = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        if parts.is_none_or(|(session, _)| session.parse::<u32>().is_err()) {
            continue;
        }
        let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
        let is_old = modified.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > YOUNG);
        if is_old && is_unlocked(&entry.path()) == Some(true) {
            remove(&entry.path());
        }
    }
}

/// Whether no process holds a lock on an entry; `None` if it is not known.
fn is_unlocked(path: &Path) -> Option<bool> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

/// Ignores errors: an entry of another user cannot be removed and is not worth a message.
fn remove(path: &Path) {
    let _ = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        _ => std::fs::remove_file(path),
    };
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn only_the_entries_of_the_killed_run_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let names = || {
            let entries = std::fs::read_dir(&parent).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let create = |session| Directory::new(parent.path(), session).unwrap();
        let (locked_directory, locked_file) = (create(7), file(parent.path(), 7).unwrap());
        let file_name = locked_file.path().file_name().unwrap().to_str().unwrap().to_owned();
        // As a killed process leaves them: without a lock.
        for abandoned in [create(7).directory.keep(), create(70).directory.keep()] {
            std::fs::write(abandoned.join("file"), "").unwrap();
        }
        let (_, abandoned) = file(parent.path(), 7).unwrap().keep().unwrap();
        std::fs::write(parent.path().join("truebench-7"), "a user's").unwrap();
        sweep(parent.path(), 7);
        let mut left = names();
        left.sort();
        assert!(!abandoned.exists());
        assert_eq!(left.len(), 4, "{left:?}");
        assert!(
            locked_directory.path().exists()
                && left.contains(&file_name)
                && left.contains(&"truebench-7".to_owned())
        );
        drop((locked_directory, locked_file));
        sweep(parent.path(), 70);
        assert_eq!(names(), ["truebench-7"]);
    }

    #[test]
    fn an_old_unlocked_directory_is_abandoned() {
        let parent = tempfile::tempdir().unwrap();
        let used = Directory::new(parent.path(), 8).unwrap();
        let make = |name: &str| {
            let path = parent.path().join(name);
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
        sweep_abandoned(parent.path());
        assert_eq!(
            [left.as_path(), used.path(), &young, &other].map(Path::exists),
            [false, true, true, true]
        );
    }
}
