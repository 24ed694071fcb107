//! Buffers lent to the kernel (io_uring_register_buf_ring(3)): it takes the first of the ring; returned
//! buffers go to its end.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

pub const GROUP: u16 = 0;
/// Number of buffers; a power of two. Each is returned before the next event, so that few are in use.
const COUNT: u16 = 512;
const SIZE: usize = 4096;
/// The ring must start at a page.
const PAGE: usize = 4096;

const LAYOUT: Layout = match Layout::from_size_align(size_of::<BufRingEntry>() * COUNT as usize, PAGE) {
    Ok(layout) => layout,
    Err(_) => panic!("a page is a power of two"),
};

#[derive(Debug)]
pub struct Buffers {
    /// COUNT entries, at the start of a page.
    ring: *mut BufRingEntry,
    bytes: Vec<u8>,
    tail: u16,
}

impl Buffers {
    pub fn new(uring: &IoUring) -> io::Result<Buffers> {
        // SAFETY: a layout that is not empty.
        let ring = unsafe { alloc_zeroed(LAYOUT) }.cast::<BufRingEntry>();
        if ring.is_null() {
            handle_alloc_error(LAYOUT);
        }
        let mut buffers = Buffers { ring, bytes: vec![0; SIZE * COUNT as usize], tail: 0 };
        // SAFETY: the ring has COUNT entries, and lives until the io_uring is gone: its owner drops that first.
        unsafe { uring.submitter().register_buf_ring_with_flags(ring as u64, COUNT, GROUP, 0) }?;
        (0..COUNT).for_each(|buffer| buffers.give_back(buffer));
        Ok(buffers)
    }

    /// The received bytes of a buffer that is not yet returned.
    pub fn bytes(&self, buffer: u16, filled: usize) -> &[u8] {
        let from = SIZE * buffer as usize;
        &self.bytes[from..from + filled.min(SIZE)]
    }

    #[inline]
    pub fn give_back(&mut self, buffer: u16) {
        let from = SIZE * usize::from(buffer % COUNT);
        let address = self.bytes[from..].as_mut_ptr();
        // SAFETY: the index is below COUNT; the kernel reads only entries below the tail, which is moved
        // after this.
        unsafe {
            let entry = &mut *self.ring.add(usize::from(self.tail % COUNT));
            entry.set_addr(address as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.ring).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and this value owns it.
        unsafe { dealloc(self.ring.cast(), LAYOUT) };
    }
}
