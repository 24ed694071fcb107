//! Saves the /proc and /sys files that describe a machine, for bug reports and tests.
//!
//! The file is a tar archive of regular files, compressed with zstd. It contains no serial numbers, host
//! names, mounts, unknown boot parameters, or data of single processes; see [`FILES`].

mod files;
mod pack;
mod unpack;

use std::io;
use std::path::PathBuf;

pub use files::{FILES, Keep, Pattern};
pub use pack::capture;
pub use unpack::unpack;

/// Files of an archive at most: about 50 per CPU, and the largest machines have about 4000 CPUs.
pub const MAX_FILES: usize = 250_000;
/// Bytes of an archive's tar stream at most: 1 KiB per file. The stream is held in memory while it is packed,
/// and this is also the most that is read from an untrusted archive.
pub const MAX_BYTES: u64 = 256 << 20;

/// The contents of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files in the archive.
    pub files: usize,
    /// Bytes of their contents.
    pub bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Files that exist but could not be read, with the reason. Another user may be able to.
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
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The tree has none of the files.
    #[error("{path} holds none of the files that describe a machine; it should have proc and sys in it", path = .0.display())]
    Empty(PathBuf),
    /// More than an archive may hold.
    #[error("too large: more than {MAX_FILES} files and directories, or {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// Not a captured machine.
    #[error("{path} is no captured machine: {reason}", path = path.display())]
    Foreign {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
