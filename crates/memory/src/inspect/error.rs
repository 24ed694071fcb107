//! Why a file cannot be inspected.

/// A file larger than this is no benchmark: STREAM's arrays take no room in the file.
pub const LARGEST: u64 = 256 << 20;

#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    #[error("cannot be read: {0}")]
    Io(String),
    #[error("is no regular file")]
    NotAFile,
    #[error("is empty")]
    Empty,
    #[error("has {size}; no benchmark is larger than {most}", size = figure::format::bytes(*.0 as f64),
        most = figure::format::bytes(LARGEST as f64))]
    TooLarge(u64),
    #[error("is no ELF file, but {0}; name the compiled binary itself")]
    NotElf(&'static str),
    #[error("is for {0}; x86-64 and aarch64 can be inspected")]
    OtherArchitecture(String),
    #[error("is no executable and no shared library, but {0}")]
    NotExecutable(&'static str),
    #[error("is damaged: {0}")]
    Damaged(String),
}
