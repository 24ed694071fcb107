//! Events of large blocks ([`shm::blocks`]), from which truebench finds the blocks that page faults are in.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr};

use shm::blocks::{Blocks, Entry, Kind, Regs, STACK};
use shm::sys;

use crate::address_set::AddressSet;
use crate::stack_sampler::StackSampler;

static LIVE: AddressSet = AddressSet::new();
static SAMPLER: StackSampler = StackSampler::new();
/// The process ID, in memory that fork clears in the child; null before Linux 4.14.
static PROCESS_ID: AtomicPtr<AtomicI32> = AtomicPtr::new(core::ptr::null_mut());
/// Whether process_vm_readv(2) works.
static CAN_READ: AtomicBool = AtomicBool::new(true);

#[derive(Clone, Copy, Debug)]
pub struct LargeBlocks {
    shared: Blocks,
}

#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    address: usize,
    /// When it was removed; `None` for a small block.
    time: Option<u64>,
}

impl LargeBlocks {
    pub fn new(shared: Blocks) -> LargeBlocks {
        LargeBlocks { shared }
    }

    pub fn hello(&self) {
        if let Some(memory) = sys::fresh_wiped_on_fork(sys::page()) {
            PROCESS_ID.store(memory.cast(), Relaxed);
        }
        self.shared.head().programs.fetch_add(1, Relaxed);
        self.shared.write(&entry(Kind::Hello, 0, sys::now()));
    }

    /// Records an allocation. `begun` is its start time, or 0 if that is unknown.
    pub fn allocated(&self, address: usize, size: usize, begun: u64) {
        if !LIVE.insert(address) {
            self.shared.head().unrecorded.fetch_add(1, Relaxed);
            return;
        }
        let (size, time) = (size as u64, sys::now());
        let stack = SAMPLER.sample(size, time).map_or(0, |chance| self.stack(chance));
        let begun = if begun == 0 { time } else { begun };
        self.shared.write(&Entry { size, begun, stack, ..entry(Kind::Born, address, time) });
    }

    #[inline]
    pub fn freed(&self, address: usize) {
        let removed = self.remove(address);
        self.confirm(removed);
    }

    #[inline]
    pub fn remove(&self, address: usize) -> Removed {
        Removed { address, time: if LIVE.remove(address) { Some(sys::now()) } else { None } }
    }

    #[inline]
    pub fn confirm(&self, removed: Removed) {
        if let Some(time) = removed.time {
            self.shared.write(&entry(Kind::Ended, removed.address, time));
        }
    }

    pub fn restore(&self, removed: Removed) {
        if removed.time.is_some() {
            LIVE.insert(removed.address);
        }
    }

    #[inline(never)]
    fn stack(&self, chance: f64) -> u64 {
        let errno = sys::errno();
        // Unwinding begins in this function.
        let regs = registers();
        let number = self.shared.stack(regs, chance, |to| copy_stack(regs.sp as usize, to));
        // SAFETY: always a valid location.
        unsafe { *libc::__errno_location() = errno };
        number
    }
}

fn entry(kind: Kind, address: usize, time: u64) -> Entry {
    Entry { kind, process: process_id(), address: address as u64, size: 0, begun: time, time, stack: 0 }
}

/// The cached process ID. A vfork child gets that of its parent, because it shares the parent's memory.
fn process_id() -> u32 {
    let cached = PROCESS_ID.load(Relaxed);
    if cached.is_null() {
        return sys::process() as u32;
    }
    // SAFETY: mapped for the rest of the process.
    let cached = unsafe { &*cached };
    if cached.load(Relaxed) == 0 {
        cached.store(sys::process(), Relaxed);
    }
    cached.load(Relaxed) as u32
}

#[inline(always)]
fn registers() -> Regs {
    let (pc, sp, fp): (u64, u64, u64);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes only the three outputs.
    unsafe {
        core::arch::asm!(
            "lea {pc}, [rip]", "mov {sp}, rsp", "mov {fp}, rbp",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, options(nomem, nostack, preserves_flags)
        );
    }
    #[cfg(target_arch = "x86_64")]
    let lr = 0;
    #[cfg(target_arch = "aarch64")]
    let lr: u64;
    #[cfg(target_arch = "aarch64")]
    // SAFETY: writes only the four outputs.
    unsafe {
        core::arch::asm!(
            "adr {pc}, .", "mov {sp}, sp", "mov {fp}, x29", "mov {lr}, x30",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr,
            options(nomem, nostack, preserves_flags)
        );
    }
    Regs { pc, sp, fp, lr }
}

/// Copies the stack from an address on, as far as memory is readable. Memory after a thread's stack may not
/// be.
fn copy_stack(from: usize, to: *mut u8) -> usize {
    let page = sys::page();
    // The stack reaches at least to the end of this page.
    let certain = page.wrapping_sub(from & page.wrapping_sub(1)).min(STACK);
    if CAN_READ.load(Relaxed) {
        let local = libc::iovec { iov_base: to.cast(), iov_len: STACK };
        // One element per page, because the kernel copies an element entirely or not at all.
        let mut remote = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PARTS];
        let (mut offset, mut count) = (0usize, 0usize);
        for part in &mut remote {
            let length = if offset == 0 { certain } else { page.min(STACK.wrapping_sub(offset)) };
            if length != 0 {
                *part = libc::iovec { iov_base: from.wrapping_add(offset) as *mut _, iov_len: length };
                (offset, count) = (offset.wrapping_add(length), count.wrapping_add(1));
            }
        }
        let process = process_id() as libc::pid_t;
        // SAFETY: there is room for all parts; the kernel skips unreadable ones.
        let copied = unsafe { libc::process_vm_readv(process, &local, 1, remote.as_ptr(), count as _, 0) };
        if copied > 0 {
            return copied as usize;
        }
        CAN_READ.store(false, Relaxed);
    }
    // SAFETY: the stack of this thread, and there is room for it.
    unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to, certain) };
    certain
}

/// Most pages of a copy: the smallest have 4 KiB.
const PARTS: usize = STACK / 4096 + 1;

#[cfg(test)]
mod unit {
    use shm::blocks::{Absent, BYTES};

    use super::*;

    fn large_blocks() -> LargeBlocks {
        let base = sys::share(BYTES).expect("memory");
        // SAFETY: mapped, of this size.
        LargeBlocks::new(unsafe { Blocks::over(base) })
    }

    /// One test: the set of live blocks is static.
    #[test]
    fn allocations_and_frees_are_recorded() {
        let large = large_blocks();
        large.hello();
        large.allocated(0x1_0000, 70_000, 5);
        // A realloc that fails, one that moves, a free, and frees of small blocks.
        large.restore(large.remove(0x1_0000));
        large.confirm(large.remove(0x1_0000));
        large.allocated(0x9_0000, 80_000, 0);
        large.freed(0x9_0000);
        large.freed(0x9_0000);
        large.freed(0x77_0000);
        let entries: Vec<Entry> = (0..).map_while(|position| large.shared.read(position).ok()).collect();
        let events: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.address, entry.size)).collect();
        assert_eq!(
            events,
            [
                (Kind::Hello, 0, 0),
                (Kind::Born, 0x1_0000, 70_000),
                (Kind::Ended, 0x1_0000, 0),
                (Kind::Born, 0x9_0000, 80_000),
                (Kind::Ended, 0x9_0000, 0),
            ]
        );
        assert!(entries.iter().all(|entry| entry.process == std::process::id()));
        assert!(entries[1].begun == 5 && entries[1].time > 5 && entries[3].begun == entries[3].time);
        assert_eq!(large.shared.read(5), Err(Absent::Unwritten));
        let mut bytes = [0; STACK];
        let stack = large.shared.read_stack(entries[1].stack, &mut bytes).expect("the first are sampled");
        assert_eq!((stack.length, stack.chance), (STACK, 1.0));
        let local = &raw const bytes as u64;
        assert!(stack.regs.sp < local && local - stack.regs.sp < 1 << 20, "it is this thread's");
        let code = allocations_and_frees_are_recorded as *const () as u64;
        assert!(stack.regs.pc.abs_diff(code) < 1 << 30, "it is in this program");
    }

    #[test]
    fn memory_after_a_stack_is_not_read() {
        let page = sys::page();
        let base = sys::fresh(3 * page).expect("memory");
        // SAFETY: just mapped, of this size.
        unsafe {
            base.write_bytes(7, page);
            libc::mprotect(base.add(page).cast(), page, libc::PROT_NONE);
        }
        let mut bytes = [0; STACK];
        let room = bytes.as_mut_ptr();
        assert_eq!(copy_stack(base as usize + page - 512, room), 512);
        assert!(bytes[..512] == [7; 512] && bytes[512..] == [0; STACK - 512]);
        assert!(CAN_READ.load(Relaxed), "a partial copy is no failure");
        assert_eq!(
            copy_stack(&raw const bytes as usize, std::hint::black_box(vec![0u8; STACK]).as_mut_ptr()),
            STACK
        );
        sys::unmap(base, 3 * page);
    }
}
