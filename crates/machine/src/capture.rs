//! Saves the /proc and /sys files that describe a machine, for bug reports and tests.
//!
//! The file is a tar archive of regular files, compressed with zstd. It contains no serial numbers, host
//! names, mounts (but those of control groups), unknown boot parameters, or data of single processes.

mod files;
mod pack;
mod unpack;

use std::io;
use std::path::PathBuf;

pub use pack::capture;
pub use unpack::unpack;

/// Files of an archive at most: about 60 per CPU, and the largest machines have about 4000 CPUs.
pub const MAX_FILES: usize = 250_000;
/// Bytes of an archive's tar stream at most: 1 KiB per file. The stream is in memory while it is packed,
/// and this is also the most that is read from an untrusted archive.
pub const MAX_BYTES: u64 = 256 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub files: usize,
    /// Bytes of their contents.
    pub bytes: u64,
    pub archive_bytes: u64,
    /// Files that exist but could not be read, with the reason. Another user may be able to.
    pub unreadable: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("cannot {what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{path} holds none of the files that describe a machine; it should have proc and sys in it", path = .0.display())]
    Empty(PathBuf),
    #[error("too large: more than {MAX_FILES} files and directories, or {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    #[error("{path} is no captured machine: {reason}", path = path.display())]
    Foreign { path: PathBuf, reason: String },
}
