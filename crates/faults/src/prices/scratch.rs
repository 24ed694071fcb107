//! Files of a measurement: without names, and out of the page cache on demand.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Advice, fadvise};

use crate::mapping::Mapping;

/// Bytes that are written at a time.
pub const CHUNK: usize = 1 << 20;
/// How often the pages are dropped: some may be on their way to the disk, or to the lists of clean pages.
const DROPS: usize = 20;

/// A new file that is already unlinked: nothing is left of it, however this process ends.
pub fn unlinked_file(directory: &Path) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!(".truebench-faults-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Writes so many random bytes, which no file system can compress, and waits until the disk has them.
pub fn write_random(file: &mut File, bytes: usize) -> io::Result<()> {
    let mut words = vec![0u64; CHUNK / size_of::<u64>()];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut chunk = Vec::with_capacity(CHUNK);
    for at in (0..bytes).step_by(CHUNK) {
        for word in &mut words {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *word = state;
        }
        chunk.clear();
        chunk.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        file.write_all(&chunk[..CHUNK.min(bytes - at)])?;
    }
    file.sync_all()
}

/// Drops a file from the page cache; `mapping` must be untouched. It is an error if pages stay.
pub fn drop_cache(file: &File, mapping: &Mapping) -> io::Result<()> {
    let mut left = 0;
    for _ in 0..DROPS {
        fadvise(file, 0, None, Advice::DontNeed)?;
        left = mapping.cached()?;
        if left == 0 {
            return Ok(());
        }
        file.sync_all()?;
    }
    let pages = mapping.pages();
    Err(io::Error::other(format!(
        "{left} of {pages} pages of a file stay in memory though they are given up"
    )))
}

#[cfg(test)]
mod unit {
    use rustix::mm::MapFlags;

    use super::*;

    #[test]
    fn dropped_pages_are_gone_or_the_error_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = unlinked_file(directory.path()).unwrap();
        write_random(&mut file, CHUNK).unwrap();
        let region = Mapping::file(&file, CHUNK, MapFlags::PRIVATE, false).unwrap();
        assert_eq!(region.cached().unwrap(), region.pages(), "just written");
        match drop_cache(&file, &region) {
            Ok(()) => assert_eq!(region.cached().unwrap(), 0),
            Err(error) => assert!(error.to_string().contains("stay in memory"), "{error}"),
        }
    }
}
