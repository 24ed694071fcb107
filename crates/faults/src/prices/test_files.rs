//! The files that are mapped: in the page cache, and on disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::mm::MapFlags;

use super::capabilities::Capabilities;
use super::scratch::{drop_cache, unlinked_file, write_random};
use crate::mapping::Mapping;

/// Pages of the file of single pages.
pub const SINGLES: usize = 512;

#[derive(Debug)]
pub struct TestFiles {
    /// A file in the page cache.
    pub cached: File,
    /// A file with a cached page every `stride` pages, and holes between them.
    pub singles: File,
    /// Pages from one cached page of `singles` to the next.
    pub stride: usize,
    large: Option<LargeFile>,
}

/// A file as large as there is room for; in the page cache or not.
#[derive(Debug)]
pub struct LargeFile {
    file: File,
    bytes: usize,
    /// Its pages in random order.
    order: Vec<usize>,
    next: AtomicUsize,
}

impl TestFiles {
    /// Writes them; `region` bytes of the cached one.
    pub fn create(capabilities: &Capabilities, region: usize) -> io::Result<TestFiles> {
        let Capabilities { directory, page, .. } = capabilities;
        // Without a large file where its pages cannot be dropped from memory.
        let large = match &capabilities.disk {
            Ok(bytes) => Some(LargeFile::create(directory, *bytes, *page)?),
            Err(_) => None,
        };
        let mut cached = unlinked_file(directory)?;
        write_random(&mut cached, region)?;
        // Farther apart than fault-around reaches.
        let stride = 2 * capabilities.around.as_ref().map_or(1, |pages| *pages as usize);
        let singles = unlinked_file(directory)?;
        singles.set_len((SINGLES * stride * page) as u64)?;
        for nth in 0..SINGLES {
            singles.write_all_at(&[1], (nth * stride * page) as u64)?;
        }
        singles.sync_all()?;
        Ok(TestFiles { cached, singles, stride, large })
    }

    pub fn large(&self) -> io::Result<&LargeFile> {
        self.large.as_ref().ok_or_else(|| io::Error::other("there is no large file"))
    }
}

impl LargeFile {
    fn create(directory: &Path, bytes: usize, page: usize) -> io::Result<LargeFile> {
        let mut file = unlinked_file(directory)?;
        write_random(&mut file, bytes)?;
        let mut order: Vec<usize> = (0..bytes / page).collect();
        // Fisher and Yates by a linear congruential generator (Knuth's MMIX): the same order in every run.
        let mut state = 1u64;
        for last in (1..order.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            order.swap(last, ((state >> 33) as usize) % (last + 1));
        }
        Ok(LargeFile { file, bytes, order, next: AtomicUsize::new(0) })
    }

    pub fn map(&self) -> io::Result<Mapping> {
        Mapping::file(&self.file, self.bytes, MapFlags::PRIVATE, false)
    }

    /// Drops its pages from the page cache; `region` is an untouched mapping of it.
    pub fn drop_cache(&self, region: &Mapping) -> io::Result<()> {
        drop_cache(&self.file, region)
    }

    /// The next pages of its random order, at most `most`.
    pub fn next_pages(&self, most: usize) -> impl Iterator<Item = usize> + '_ {
        let count = most.min(self.order.len());
        let first = self.next.fetch_add(count, Ordering::Relaxed);
        (first..first + count).map(move |nth| self.order[nth % self.order.len()])
    }
}
