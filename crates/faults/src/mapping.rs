//! Memory to be faulted in: mappings with pages that only explicit touches bring in.
//!
//! An anonymous mapping asks for pages of the base size (MADV_NOHUGEPAGE), and against merging of equal pages
//! (KSM). A new mapping is untouched.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

pub fn page_size() -> usize {
    // SAFETY: asks for a constant.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096)
}

/// A mapping of this process. Dropping it unmaps what is left of it.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    /// Bytes of a page: stored, as a touch takes only nanoseconds.
    page: usize,
}

// SAFETY: plain memory that lives as long as the value; all access is through raw pointers.
unsafe impl Send for Mapping {}
// SAFETY: as above; users that share it never write the same byte from two threads at once.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Private anonymous memory of pages of the base size. `bytes` are rounded up to whole pages.
    pub fn anonymous(bytes: usize) -> io::Result<Mapping> {
        let mapping = Mapping::plain(bytes)?;
        // Kernels without huge pages or KSM refuse the advice, and need none.
        mapping.advise_if_known(Advice::LinuxNoHugepage)?;
        mapping.advise_if_known(Advice::LinuxUnmergeable)?;
        Ok(mapping)
    }

    /// Private anonymous memory that begins on a multiple of `huge` bytes and asks for huge pages.
    /// EINVAL where the kernel has no transparent huge pages.
    pub fn huge(bytes: usize, huge: usize) -> io::Result<Mapping> {
        let mapping = Mapping::plain(bytes.next_multiple_of(huge) + huge)?.aligned(huge)?;
        mapping.advise(Advice::LinuxHugepage)?;
        Ok(mapping)
    }

    /// Private anonymous memory of pages of the base size that begins on a multiple of `boundary` bytes.
    pub fn anonymous_at(bytes: usize, boundary: usize) -> io::Result<Mapping> {
        let mapping = Mapping::anonymous(bytes.next_multiple_of(page_size()) + boundary)?;
        mapping.aligned(boundary)
    }

    /// The first bytes of a file, private or shared, to read and, with `write`, to write.
    pub fn file(file: &File, bytes: usize, flags: MapFlags, write: bool) -> io::Result<Mapping> {
        let access = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice; this process owns the file and does not cut it short.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, access, flags, file, 0)? };
        Mapping::from_raw(start, bytes)
    }

    /// Private anonymous memory, without any advice.
    pub fn plain(bytes: usize) -> io::Result<Mapping> {
        let bytes = bytes.max(1).next_multiple_of(page_size());
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, flags)? };
        Mapping::from_raw(start, bytes)
    }

    fn from_raw(start: *mut std::ffi::c_void, bytes: usize) -> io::Result<Mapping> {
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mmap gave address 0"))?;
        Ok(Mapping { start, bytes, page: page_size() })
    }

    /// The part from the first multiple of `boundary` on, `boundary` bytes shorter.
    fn aligned(self, boundary: usize) -> io::Result<Mapping> {
        let skipped = self.start.as_ptr().align_offset(boundary);
        let bytes = self.bytes - boundary;
        let (base, all, page) = (self.start, self.bytes, self.page);
        std::mem::forget(self);
        // SAFETY: both parts belong to this mapping, and nothing uses them.
        unsafe {
            if skipped > 0 {
                munmap(base.as_ptr().cast(), skipped)?;
            }
            if all > skipped + bytes {
                munmap(base.as_ptr().add(skipped + bytes).cast(), all - skipped - bytes)?;
            }
            Ok(Mapping { start: base.add(skipped), bytes, page })
        }
    }

    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Pages of the base size.
    pub fn pages(&self) -> usize {
        self.bytes / self.page
    }

    fn page(&self, number: usize) -> *mut u8 {
        assert!(number < self.pages(), "page {number} of {}", self.pages());
        self.start().wrapping_add(number * self.page)
    }

    #[inline]
    pub fn write(&self, page: usize) {
        // SAFETY: inside the mapping, to which there are no references.
        unsafe { self.page(page).write_volatile(1) };
    }

    #[inline]
    pub fn read(&self, page: usize) {
        // SAFETY: inside the mapping.
        unsafe { self.page(page).read_volatile() };
    }

    /// How many pages of a mapped file are in the page cache (mincore(2)).
    pub fn cached(&self) -> io::Result<usize> {
        let mut pages = vec![0u8; self.pages()];
        // SAFETY: this mapping; there is a byte for each of its pages.
        if unsafe { libc::mincore(self.start().cast(), self.bytes, pages.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(pages.into_iter().filter(|page| page & 1 == 1).count())
    }

    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        self.advise_pages(0, self.pages(), advice)
    }

    /// Gives advice about `count` pages from the page `first` on.
    #[inline]
    pub fn advise_pages(&self, first: usize, count: usize, advice: Advice) -> io::Result<()> {
        assert!(first + count <= self.pages());
        // SAFETY: this mapping; its contents are not needed.
        unsafe { madvise(self.start().add(first * self.page).cast(), count * self.page, advice)? };
        Ok(())
    }

    fn advise_if_known(&self, advice: Advice) -> io::Result<()> {
        match self.advise(advice) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            other => other,
        }
    }

    /// Unmaps the last pages.
    #[inline]
    pub fn cut(&mut self, pages: usize) -> io::Result<()> {
        assert!(pages < self.pages());
        let bytes = pages * self.page;
        // SAFETY: the end of this mapping, which nothing uses.
        unsafe { munmap(self.start().add(self.bytes - bytes).cast(), bytes)? };
        self.bytes -= bytes;
        Ok(())
    }

    pub fn unmap(self) -> io::Result<()> {
        let (start, bytes) = (self.start, self.bytes);
        std::mem::forget(self);
        // SAFETY: the mapping belongs to this value, and nothing uses it any more.
        unsafe { munmap(start.as_ptr().cast(), bytes)? };
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and nothing uses it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
