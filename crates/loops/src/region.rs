//! A region of memory: mapped with the pages and on the NUMA node that were asked for, and proof of both.

use std::io;
use std::ptr::NonNull;

use figure::Reading;
use lab::failure::Failure;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::pages::{self, Backing, Pages, SampledNodes};

/// Regions begin on a boundary of a huge page, so that page size does not depend on luck.
pub const HUGE_PAGE: usize = 2 << 20;
const NOT_MAPPED: &str = "a limit on address space (ulimit -v), vm.overcommit_memory=2 or too few reserved pages may \
                          forbid it: take less by --array-size or --sizes, or --pages default";
const NOT_BOUND: &str = "a container may forbid mbind: allow it, as by docker run --cap-add SYS_NICE";
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// A private anonymous mapping. Nothing is touched when it is made.
#[derive(Debug)]
pub struct Region {
    base: NonNull<u8>,
    mapped: usize,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is plain memory that lives as long as the value. Whoever shares it between threads sees
// to it, through the unsafe code that any access needs, that no two write the same bytes at once.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `bytes` from a boundary of 2 MiB on. With a `node` all pages are from there (MPOL_BIND).
    pub fn map(bytes: usize, pages: Pages, node: Option<u32>) -> Result<Region, Failure> {
        let region = Region::mapped(bytes, pages).map_err(|error| {
            let object = format!("{} on {} pages", figure::format::bytes(bytes as f64), pages.word());
            Failure::new("cannot map").on(object).answer(error).advice(NOT_MAPPED)
        })?;
        if let Some(node) = node {
            region.bind(node)?;
        }
        Ok(region)
    }

    fn mapped(bytes: usize, pages: Pages) -> io::Result<Region> {
        let page = pages.reserved_size().unwrap_or(HUGE_PAGE as u64) as usize;
        // Reserved pages begin on a boundary by themselves; else one page more sees to it.
        let more = if pages.reserved_size().is_some() { 0 } else { page };
        let mapped = bytes.max(1).next_multiple_of(page) + more;
        let flags = match pages {
            Pages::Default | Pages::Small | Pages::Thp => MapFlags::PRIVATE | MapFlags::NORESERVE,
            Pages::Huge2m => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB,
            Pages::Huge1g => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_1GB,
        };
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), mapped, ProtFlags::READ | ProtFlags::WRITE, flags)?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::other("mmap gave address 0"))?;
        // SAFETY: at most `more` bytes into the mapping.
        let start = unsafe { base.add(base.as_ptr().align_offset(HUGE_PAGE)) };
        let region = Region { base, mapped, start, bytes };
        let advice = match pages {
            Pages::Thp => Some(Advice::LinuxHugepage),
            Pages::Small => Some(Advice::LinuxNoHugepage),
            Pages::Default | Pages::Huge2m | Pages::Huge1g => None,
        };
        if let Some(advice) = advice {
            // SAFETY: advice about our own mapping.
            match unsafe { madvise(base.as_ptr().cast(), mapped, advice) } {
                // A kernel without transparent huge pages gives small ones anyway.
                Err(rustix::io::Errno::INVAL) if pages == Pages::Small => {}
                other => other?,
            }
        }
        Ok(region)
    }

    fn bind(&self, node: u32) -> Result<(), Failure> {
        let mut mask = vec![0 as libc::c_ulong; node as usize / WORD_BITS + 1];
        mask[node as usize / WORD_BITS] = 1 << (node as usize % WORD_BITS);
        // The kernel reads one bit less than the number that is given (mbind(2), BUGS).
        let bits = mask.len() * WORD_BITS + 1;
        // SAFETY: the policy of our own mapping; the mask has as many bits as stated, bar the one that is not
        // read.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.base.as_ptr(),
                self.mapped,
                libc::MPOL_BIND,
                mask.as_ptr(),
                bits,
                0,
            )
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            let is_forbidden = error.kind() == io::ErrorKind::PermissionDenied;
            let failure = Failure::new("cannot bind memory to").on(format!("node {node}")).answer(error);
            return Err(if is_forbidden { failure.advice(NOT_BOUND) } else { failure });
        }
        Ok(())
    }

    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes that may be used from the start on.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What backs it now, by smaps. The page of slack that alignment takes is never touched.
    pub fn backing(&self) -> Reading<Backing> {
        let start = self.start() as usize;
        pages::backing(start, start + self.bytes)
    }

    /// The NUMA node of up to `samples` pages, evenly spread; `None` for one that is not there.
    pub fn nodes(&self, samples: usize) -> SampledNodes {
        pages::nodes_in([(self.start() as usize, self.bytes)], samples)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: this value owns the whole mapping, and nothing uses it any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.mapped) };
    }
}

/// Advises huge pages behind an empty vector with room: shuffling a long list else is page walks.
pub(crate) fn advise_huge<T>(vector: &mut Vec<T>) {
    let room = vector.spare_capacity_mut();
    let (start, bytes) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
    let skipped = start.align_offset(HUGE_PAGE);
    if let Some(whole) =
        bytes.checked_sub(skipped).map(|rest| rest / HUGE_PAGE * HUGE_PAGE).filter(|whole| *whole > 0)
    {
        // SAFETY: advice about memory that the vector owns; it does not change what the memory holds.
        let _ = unsafe { madvise(start.wrapping_add(skipped).cast(), whole, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(pages: Pages, node: Option<u32>) -> Region {
        let region = Region::map(8 << 20, pages, node).unwrap();
        // SAFETY: inside the region, which no other code has.
        unsafe { std::slice::from_raw_parts_mut(region.start(), region.bytes()) }.fill(1);
        region
    }

    #[test]
    fn small_pages_are_small() {
        let backing = touched(Pages::Small, None).backing().into_value().unwrap();
        assert_eq!(backing.huge, 0);
        assert!(backing.resident >= 8 << 20);
    }

    #[test]
    fn a_bound_region_lies_on_its_node() {
        let Reading::Value(nodes) = touched(Pages::Small, None).nodes(16) else { return };
        let node = nodes[0].unwrap();
        let bound = touched(Pages::Default, Some(node));
        assert_eq!(bound.nodes(16).into_value().unwrap(), vec![Some(node); 16]);
    }

    #[test]
    fn a_node_that_is_not_there_is_an_error() {
        let error = Region::map(1 << 20, Pages::Default, Some(1000)).unwrap_err();
        assert!(error.to_string().contains("node 1000"), "{error}");
    }
}
