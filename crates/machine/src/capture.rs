//! A machine in a file: the /proc and /sys files that describe it, so that a user can attach it to a bug report
//! and a test can be made of it.
//!
//! The file is a tar archive of regular files, compressed with zstd. Serial numbers, boot parameters of unknown
//! meaning, host names, mounts and all that is a process's own stay behind; see [`FILES`].

mod files;
mod pack;
mod unpack;

use std::io;
use std::path::PathBuf;

pub use files::{FILES, Keep, Pattern};
pub use pack::capture;
pub use unpack::unpack;

/// The most files of one archive: some 50 are kept for each CPU, and the largest machines have some 4000 CPUs.
pub const MAX_FILES: usize = 250_000;
/// The most bytes of one archive's tar stream: 1 KiB for each such file. It is held in memory while it is packed,
/// and so much an archive from elsewhere may make us read.
pub const MAX_BYTES: u64 = 256 << 20;

/// What was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files in the archive.
    pub files: usize,
    /// Bytes of their contents.
    pub bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Files that are there and could not be read, with the reason: as another user they may be.
    pub unreadable: Vec<String>,
}

/// Why a machine could not be captured or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The archive or a file of it could not be read or written.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    Io {
        /// `read`, `write`, `create`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The tree has nothing that describes a machine.
    #[error("{path} holds none of the files that describe a machine; it should have proc and sys in it", path = .0.display())]
    Empty(PathBuf),
    /// More than an archive may hold.
    #[error("too large: more than {MAX_FILES} files and directories, or {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// Not an archive of ours.
    #[error("{path} is no captured machine: {reason}", path = path.display())]
    Foreign {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
