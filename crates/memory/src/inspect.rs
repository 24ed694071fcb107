//! What a STREAM binary holds: stores that bypass the cache, calls of memcpy, arrays. Measures nothing.
//!
//! One table of STREAM's may hold two kinds of stores, by the compiler's choice (study 1, step 7: icc's code
//! holds seven `movnt` instructions, gcc's none; gcc makes a call of memcpy of Copy). The binary shows which.

mod arm;
mod elf;
mod meaning;
mod tally;
mod x86;

use std::io::Read;
use std::path::Path;

use serde::Serialize;

use crate::words::words;

pub use meaning::Way;
pub use tally::{Function, Width};

/// A file larger than this is no benchmark: STREAM's arrays take no room in the file.
pub const LARGEST: u64 = 256 << 20;

words! {
    pub enum Architecture {
        X86 = "x86-64",
        Arm = "aarch64",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Of what: a mnemonic, or a function that is called.
    pub name: String,
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    pub name: String,
    pub bytes: u64,
}

/// What a binary holds. A function that is never called counts too; code that is made while it runs, and what
/// libc chooses for memcpy, cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    pub architecture: Architecture,
    /// Whether libraries are linked in and not loaded.
    pub is_static: bool,
    /// Whether it has no symbols, so that functions cannot be distinguished.
    pub is_stripped: bool,
    /// OpenMP's run-time libraries that it loads (DT_NEEDED).
    pub openmp: Vec<String>,
    /// Non-temporal stores outside of libc's own memory functions, by mnemonic, the commonest first.
    pub nontemporal: Vec<Count>,
    /// Calls of memcpy, memmove and memset outside of libc's own memory functions.
    pub calls: Vec<Count>,
    pub widest: Option<Width>,
    /// Large arrays of fixed size, by address.
    pub arrays: Vec<Array>,
    /// Functions that hold non-temporal stores or calls, or that are one of STREAM's kernels.
    pub functions: Vec<Function>,
    pub meaning: Vec<String>,
    pub limits: Vec<String>,
}

impl Inspection {
    pub fn nontemporal_count(&self) -> usize {
        self.nontemporal.iter().map(|count| count.count).sum()
    }

    /// Whether memcpy or memmove, which does the same work, is called.
    pub fn calls_memcpy(&self) -> bool {
        self.calls.iter().any(|call| call.name != "memset")
    }

    /// Bytes of each of the three arrays, if there are three of one size.
    pub fn array_bytes(&self) -> Option<u64> {
        let largest = self.arrays.iter().map(|array| array.bytes).max()?;
        (self.arrays.iter().filter(|array| array.bytes == largest).count() == 3).then_some(largest)
    }
}

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

pub fn file(path: &Path) -> Result<Inspection, InspectError> {
    let io = |error: std::io::Error| InspectError::Io(error.to_string());
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        return Err(InspectError::NotAFile);
    }
    if metadata.len() > LARGEST {
        return Err(InspectError::TooLarge(metadata.len()));
    }
    // It may grow in between.
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(LARGEST).read_to_end(&mut bytes).map_err(io)?;
    inspect(&bytes)
}

/// Inspects the bytes of a file. Never panics, whatever they are.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, InspectError> {
    let image = elf::Image::of(bytes)?;
    let mut tally = tally::Tally::new(&image.functions, image.is_static);
    match image.architecture {
        Architecture::X86 => x86::read(&image, &mut tally),
        Architecture::Arm => arm::read(&image, &mut tally),
    }
    let mut inspection = Inspection {
        architecture: image.architecture,
        is_static: image.is_static,
        is_stripped: image.is_stripped,
        openmp: image.openmp,
        nontemporal: Vec::new(),
        calls: Vec::new(),
        widest: None,
        arrays: image.arrays,
        functions: Vec::new(),
        meaning: Vec::new(),
        limits: Vec::new(),
    };
    tally.finish(&mut inspection);
    inspection.meaning = meaning::sentences(&inspection);
    inspection.limits = meaning::limits(&inspection);
    Ok(inspection)
}

#[cfg(test)]
mod tests;
