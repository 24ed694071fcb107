//! The lock on a run's directory: one run at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::exit::CommandError;

/// The file that is locked; it says who holds the lock, and since when.
const LOCK: &str = "lock";

/// A held lock (flock(2)). It ends with this value, or with the process, however that ends.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// Wrong usage: another run has it, or nothing can be written there.
    pub fn take(directory: &Path) -> Result<Lock, CommandError> {
        let (shown, path) = (directory.display(), directory.join(LOCK));
        let unusable =
            |error: io::Error| CommandError::usage(format!("{}: cannot be locked: {error}", path.display()));
        loop {
            let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
            let mut file = file.map_err(unusable)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => {
                    return Err(CommandError::usage(format!(
                        "{shown}: a run is at work there ({}); wait until it has ended, or name another directory",
                        holder(&mut file)
                    )));
                }
                // A file system without locks: there nothing keeps two runs apart.
                Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(error) => return Err(unusable(error.into())),
            }
            // The previous holder may have removed the file in the meantime.
            let is_there =
                |opened: fs::Metadata| fs::metadata(&path).is_ok_and(|named| named.ino() == opened.ino());
            if !file.metadata().is_ok_and(is_there) {
                continue;
            }
            let holder = format!("PID {}, since {}", std::process::id(), lab::timestamp());
            file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).map_err(unusable)?;
            return Ok(Lock { path, _file: file });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before it is released. What cannot be removed is no lock any more all the same.
        let _ = fs::remove_file(&self.path);
    }
}

/// Who has the lock, by the file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(100).read_to_string(&mut text) {
        Ok(1..) => figure::format::plain(&text),
        _ => "its file does not name the process".to_owned(),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn one_at_a_time_and_nothing_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let first = Lock::take(directory.path()).unwrap();
        let refusal = Lock::take(directory.path()).unwrap_err();
        assert!(
            refusal.message().contains(&format!("PID {}, since ", std::process::id())),
            "{}",
            refusal.message()
        );
        drop(first);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        // As a run that was killed leaves it.
        fs::write(directory.path().join(LOCK), "PID 1, since then").unwrap();
        Lock::take(directory.path()).unwrap();
    }
}
