//! Births and ends of large blocks, told at once, for truebench to find the blocks that page faults are in ([`shm::blocks`]).

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr};

use shm::blocks::{Blocks, Entry, Kind, Regs, STACK};
use shm::sys;

use crate::live::Live;
use crate::pace::Pace;

static LIVE: Live = Live::new();
static PACE: Pace = Pace::new();
/// The number of this process, in memory that fork clears in the child; null where that cannot be had.
static PROCESS: AtomicPtr<AtomicI32> = AtomicPtr::new(core::ptr::null_mut());
/// Whether the system copies memory for us.
static COPIES: AtomicBool = AtomicBool::new(true);

/// Where they are told.
#[derive(Clone, Copy, Debug)]
pub struct Large {
    shared: Blocks,
}

/// A block of which it is open whether it ended.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    address: usize,
    /// When; `None` for a small one.
    time: Option<u64>,
}

impl Large {
    /// Of this memory.
    pub fn new(shared: Blocks) -> Large {
        Large { shared }
    }

    /// Says that this program is there.
    pub fn greet(&self) {
        let page = sys::page();
        if let Some(own) = sys::fresh(page) {
            // SAFETY: just mapped, of this size.
            let is_wiped = unsafe { libc::madvise(own.cast(), page, libc::MADV_WIPEONFORK) } == 0;
            if is_wiped {
                PROCESS.store(own.cast(), Relaxed);
            }
        }
        self.shared.head().programs.fetch_add(1, Relaxed);
        let time = sys::now();
        self.write(Entry { kind: Kind::Hello, process: 0, address: 0, size: 0, begun: time, time, stack: 0 });
    }

    /// A block that was asked for at `begun` came to be. `begun` is 0 if that is not known.
    pub fn born(&self, address: usize, size: usize, begun: u64) {
        if !LIVE.insert(address) {
            self.shared.head().unrecorded.fetch_add(1, Relaxed);
            return;
        }
        let (size, time) = (size as u64, sys::now());
        let stack = PACE.chance(size, time).map_or(0, |chance| self.stack(chance));
        let begun = if begun == 0 { time } else { begun };
        self.write(Entry { kind: Kind::Born, process: 0, address: address as u64, size, begun, time, stack });
    }

    /// A block is about to end.
    #[inline]
    pub fn ended(&self, address: usize) {
        let taken = self.taken(address);
        self.confirm(taken);
    }

    /// A block may be about to end.
    #[inline]
    pub fn taken(&self, address: usize) -> Taken {
        Taken { address, time: if LIVE.remove(address) { Some(sys::now()) } else { None } }
    }

    /// It did end.
    #[inline]
    pub fn confirm(&self, taken: Taken) {
        if let Some(time) = taken.time {
            let address = taken.address as u64;
            self.write(Entry {
                kind: Kind::Ended,
                process: 0,
                address,
                size: 0,
                begun: time,
                time,
                stack: 0,
            });
        }
    }

    /// It did not.
    pub fn restore(&self, taken: Taken) {
        if taken.time.is_some() {
            LIVE.insert(taken.address);
        }
    }

    fn write(&self, entry: Entry) {
        self.shared.write(&Entry { process: process(), ..entry });
    }

    /// Takes the stack of the caller, and tells by which number it is found.
    #[inline(never)]
    fn stack(&self, chance: f64) -> u64 {
        let errno = sys::errno();
        // Of this function itself: whoever unwinds begins here.
        let regs = here();
        let number = self.shared.stack(regs, chance, |to| copy(regs.sp as usize, to));
        // SAFETY: always a valid location.
        unsafe { *libc::__errno_location() = errno };
        number
    }
}

/// This process. A vfork child is its parent, whose memory it has.
fn process() -> u32 {
    let known = PROCESS.load(Relaxed);
    if known.is_null() {
        return sys::process() as u32;
    }
    // SAFETY: a number of ours, which stays for the rest of the process.
    let known = unsafe { &*known };
    if known.load(Relaxed) == 0 {
        known.store(sys::process(), Relaxed);
    }
    known.load(Relaxed) as u32
}

/// The registers that unwinding needs.
#[inline(always)]
fn here() -> Regs {
    let (pc, sp, fp): (u64, u64, u64);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing is written but the three.
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
    // SAFETY: nothing is written but the four.
    unsafe {
        core::arch::asm!(
            "adr {pc}, .", "mov {sp}, sp", "mov {fp}, x29", "mov {lr}, x30",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr,
            options(nomem, nostack, preserves_flags)
        );
    }
    Regs { pc, sp, fp, lr }
}

/// Copies the stack from here on: as much of it as there is. Behind a thread's stack may lie what must not be read.
fn copy(from: usize, to: *mut u8) -> usize {
    let page = sys::page();
    // To the end of the page that we stand on there is a stack.
    let certain = page.wrapping_sub(from & page.wrapping_sub(1)).min(STACK);
    if COPIES.load(Relaxed) {
        let local = libc::iovec { iov_base: to.cast(), iov_len: STACK };
        // All or nothing of each: one for each page (the first and the last are parts of one).
        let mut remote = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PARTS];
        let (mut at, mut count) = (0usize, 0usize);
        for part in &mut remote {
            let length = if at == 0 { certain } else { page.min(STACK.wrapping_sub(at)) };
            if length != 0 {
                *part = libc::iovec { iov_base: from.wrapping_add(at) as *mut _, iov_len: length };
                (at, count) = (at.wrapping_add(length), count.wrapping_add(1));
            }
        }
        let process = process() as libc::pid_t;
        // SAFETY: there is room for all; what cannot be read the system leaves out.
        let copied = unsafe { libc::process_vm_readv(process, &local, 1, remote.as_ptr(), count as _, 0) };
        if copied > 0 {
            return copied as usize;
        }
        COPIES.store(false, Relaxed);
    }
    // SAFETY: of our own stack, and there is room for it.
    unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to, certain) };
    certain
}

/// Pages that a copy may touch: the smallest are of 4 KiB.
const PARTS: usize = STACK / 4096 + 1;

#[cfg(test)]
mod unit {
    use shm::blocks::{Absent, BYTES};

    use super::*;

    fn large() -> Large {
        let base = sys::share(BYTES).expect("memory");
        // SAFETY: mapped, of this size.
        Large::new(unsafe { Blocks::over(base) })
    }

    /// All in one: what lives is one thing for the whole process.
    #[test]
    fn births_and_ends_are_told() {
        let large = large();
        large.greet();
        large.born(0x1_0000, 70_000, 5);
        // A realloc that fails, one that moves, a free, and frees of small blocks.
        large.restore(large.taken(0x1_0000));
        large.confirm(large.taken(0x1_0000));
        large.born(0x9_0000, 80_000, 0);
        large.ended(0x9_0000);
        large.ended(0x9_0000);
        large.ended(0x77_0000);
        let entries: Vec<Entry> = (0..).map_while(|position| large.shared.read(position).ok()).collect();
        let told: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.address, entry.size)).collect();
        assert_eq!(
            told,
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
        let stack = large.shared.read_stack(entries[1].stack, &mut bytes).expect("the first are taken");
        assert_eq!((stack.length, stack.chance), (STACK, 1.0));
        let local = &raw const bytes as u64;
        assert!(stack.regs.sp < local && local - stack.regs.sp < 1 << 20, "it is this thread's");
        let code = births_and_ends_are_told as *const () as u64;
        assert!(stack.regs.pc.abs_diff(code) < 1 << 30, "it is in this program");
    }

    #[test]
    fn what_lies_behind_a_stack_is_not_read() {
        let page = sys::page();
        let base = sys::fresh(3 * page).expect("memory");
        // SAFETY: just mapped, of this size.
        unsafe {
            base.write_bytes(7, page);
            libc::mprotect(base.add(page).cast(), page, libc::PROT_NONE);
        }
        let mut bytes = [0; STACK];
        let room = bytes.as_mut_ptr();
        assert_eq!(copy(base as usize + page - 512, room), 512);
        assert!(bytes[..512] == [7; 512] && bytes[512..] == [0; STACK - 512]);
        assert!(COPIES.load(Relaxed), "a part is no failure");
        assert_eq!(
            copy(&raw const bytes as usize, std::hint::black_box(vec![0u8; STACK]).as_mut_ptr()),
            STACK
        );
        sys::unmap(base, 3 * page);
    }
}
