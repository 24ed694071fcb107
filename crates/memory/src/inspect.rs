//! What a STREAM binary holds: stores that bypass the cache, calls of memcpy, arrays. Measures nothing.
//!
//! One table of STREAM's may hold two kinds of stores, by the compiler's choice (study 1, step 7: icc's code
//! holds seven `movnt` instructions, gcc's none; gcc makes a call of memcpy of Copy). The binary shows which.

mod arm;
mod elf;
mod error;
mod inspection;
mod meaning;
mod tally;
mod x86;

use std::io::Read;
use std::path::Path;

pub use elf::{Architecture, Array};
pub use error::{InspectError, LARGEST};
pub use inspection::Inspection;
pub use meaning::Way;
pub use tally::{Count, Function, Width};

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
    let totals = tally.totals();
    let mut inspection = Inspection {
        architecture: image.architecture,
        is_static: image.is_static,
        is_stripped: image.is_stripped,
        openmp: image.openmp,
        nontemporal: totals.nontemporal,
        calls: totals.calls,
        widest: totals.widest,
        arrays: image.arrays,
        functions: totals.functions,
        meaning: Vec::new(),
        limits: Vec::new(),
    };
    inspection.meaning = meaning::sentences(&inspection);
    inspection.limits = meaning::limits(&inspection);
    Ok(inspection)
}

#[cfg(test)]
mod tests;
