//! Events of large blocks, which truebench reads while the program runs: each allocation and each free with
//! address, size and time, and for some allocations the stack of the caller.
//!
//! All processes of the program share two rings. A writer takes a position by one atomic addition and never
//! waits. A reader that is too slow loses the overwritten entries; the positions tell how many. A writer that
//! is killed halfway leaves one entry without its number or with a wrong checksum: only that entry is lost.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU64, fence};

use crate::memory::Memory;

/// Default size of the smallest recorded block, in bytes.
pub const LEAST: u64 = 64 << 10;
pub const ENTRIES: u64 = 1 << 15;
pub const STACKS: u64 = 256;
/// Most bytes of a stack, as with a page fault.
pub const STACK: usize = 8 << 10;
/// First word of the memory once it is set up. Its last byte is the version of the format.
pub const MAGIC: u64 = u64::from_be_bytes(*b"trueblk\x01");

const HEAD_BYTES: usize = 4096;
const STACKS_AT: usize = HEAD_BYTES + ENTRIES as usize * size_of::<Slot>();
pub const BYTES: usize = STACKS_AT + STACKS as usize * size_of::<StackSlot>();

const _: () = assert!(size_of::<Head>() <= HEAD_BYTES && size_of::<Slot>() == 64);
const _: () = assert!(ENTRIES.is_power_of_two() && STACKS.is_power_of_two());
// The recorder distinguishes the two kinds of memory by their size.
const _: () = assert!(BYTES != crate::recording::BYTES);

#[repr(C)]
#[derive(Debug)]
pub struct Head {
    pub magic: AtomicU64,
    /// Size of the smallest recorded block, in bytes; written before the program starts.
    pub least: AtomicU64,
    /// Entries written so far, which is the position of the next.
    pub entries: AtomicU64,
    pub stacks: AtomicU64,
    /// Executed programs that mapped this memory.
    pub programs: AtomicU64,
    /// Large blocks that were not recorded, because a process had too many at once.
    pub unrecorded: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A program has mapped this memory and records from now on.
    Hello = 1,
    Born = 2,
    /// A block is about to be freed.
    Ended = 3,
}

/// An entry. Times are nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    /// Process ID in its own PID namespace.
    pub process: u32,
    pub address: u64,
    /// Requested bytes.
    pub size: u64,
    /// When the allocation began: calloc and realloc touch the block before they return.
    pub begun: u64,
    /// When the allocation returned, or when the block was freed.
    pub time: u64,
    /// Number of the stack ([`Blocks::stack`]); 0 for none.
    pub stack: u64,
}

impl Entry {
    fn words(&self) -> [u64; WORDS] {
        let head = (self.kind as u64) << 32 | u64::from(self.process);
        [head, self.address, self.size, self.begun, self.time, self.stack]
    }

    fn from_words([head, address, size, begun, time, stack]: [u64; WORDS]) -> Option<Entry> {
        let kind = match head >> 32 {
            1 => Kind::Hello,
            2 => Kind::Born,
            3 => Kind::Ended,
            _ => return None,
        };
        Some(Entry { kind, process: head as u32, address, size, begun, time, stack })
    }
}

const WORDS: usize = 6;

#[repr(C, align(64))]
struct Slot {
    /// Position plus 1, stored after the words.
    number: AtomicU64,
    /// Checksum of number and words, which detects two concurrent writers.
    sum: AtomicU64,
    words: [AtomicU64; WORDS],
}

fn sum(number: u64, words: &[u64; WORDS]) -> u64 {
    words.iter().fold(number, |sum, word| (sum.rotate_left(7) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Registers at the begin of unwinding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regs {
    pub pc: u64,
    /// Stack pointer: address of the first copied byte.
    pub sp: u64,
    pub fp: u64,
    /// Link register; 0 on x86-64.
    pub lr: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stack {
    pub regs: Regs,
    pub length: usize,
    /// Probability that the stack of this block was sampled, in (0, 1]: it stands for `1 / chance` blocks.
    pub chance: f64,
}

#[repr(C, align(64))]
struct StackSlot {
    number: AtomicU64,
    words: [AtomicU64; 6],
    bytes: UnsafeCell<[u8; STACK]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    Unwritten,
    Overwritten,
    /// Two writers at once.
    Torn,
}

pub type Blocks = Memory<Head, BYTES>;

impl Blocks {
    fn slot(&self, position: u64) -> &'static Slot {
        let at = (position & (ENTRIES - 1)) as usize;
        // SAFETY: inside the mapping, by the line above; all fields are atomic.
        unsafe { &*self.base().add(HEAD_BYTES).cast::<Slot>().add(at) }
    }

    fn stack_slot(&self, position: u64) -> &'static StackSlot {
        let at = (position & (STACKS - 1)) as usize;
        // SAFETY: inside the mapping, by the line above; the bytes are accessed through raw pointers only.
        unsafe { &*self.base().add(STACKS_AT).cast::<StackSlot>().add(at) }
    }

    pub fn write(&self, entry: &Entry) {
        let position = self.head().entries.fetch_add(1, Relaxed);
        let (slot, words, number) = (self.slot(position), entry.words(), position.wrapping_add(1));
        // A read first: the kernel maps the pages around a read fault, but a single page for a write fault.
        if slot.number.load(Relaxed) > number {
            return;
        }
        for (to, word) in slot.words.iter().zip(words) {
            to.store(word, Relaxed);
        }
        slot.sum.store(sum(number, &words), Relaxed);
        slot.number.store(number, Release);
    }

    /// The entry at a position.
    pub fn read(&self, position: u64) -> Result<Entry, Absent> {
        let (slot, number) = (self.slot(position), position.wrapping_add(1));
        let before = slot.number.load(Acquire);
        if before < number {
            return Err(Absent::Unwritten);
        }
        let mut words = [0; WORDS];
        for (word, from) in words.iter_mut().zip(&slot.words) {
            *word = from.load(Relaxed);
        }
        let stored = slot.sum.load(Relaxed);
        fence(Acquire);
        if before > number || slot.number.load(Relaxed) != number {
            return Err(Absent::Overwritten);
        }
        if stored != sum(number, &words) {
            return Err(Absent::Torn);
        }
        Entry::from_words(words).ok_or(Absent::Torn)
    }

    /// Writes a stack. `copy` writes at most [`STACK`] bytes to the pointer and returns how many. Returns the
    /// number of the stack, which is never 0.
    pub fn stack(&self, regs: Regs, chance: f64, copy: impl FnOnce(*mut u8) -> usize) -> u64 {
        let position = self.head().stacks.fetch_add(1, Relaxed);
        let slot = self.stack_slot(position);
        let _ = slot.number.load(Relaxed);
        slot.number.store(0, Relaxed);
        fence(Release);
        let length = copy(slot.bytes.get().cast());
        let words = [regs.pc, regs.sp, regs.fp, regs.lr, length as u64, chance.to_bits()];
        for (to, word) in slot.words.iter().zip(words) {
            to.store(word, Relaxed);
        }
        let number = position.wrapping_add(1);
        slot.number.store(number, Release);
        number
    }

    /// The stack of a number. `None` if there is none, or it was overwritten.
    pub fn read_stack(&self, number: u64, bytes: &mut [u8; STACK]) -> Option<Stack> {
        let slot = self.stack_slot(number.checked_sub(1)?);
        if slot.number.load(Acquire) != number {
            return None;
        }
        let mut words = [0; 6];
        for (word, from) in words.iter_mut().zip(&slot.words) {
            *word = from.load(Relaxed);
        }
        // SAFETY: both have this size. A concurrent writer changes the number, which is verified below.
        unsafe { core::ptr::copy_nonoverlapping(slot.bytes.get().cast::<u8>(), bytes.as_mut_ptr(), STACK) };
        fence(Acquire);
        if slot.number.load(Relaxed) != number {
            return None;
        }
        let [pc, sp, fp, lr, length, chance] = words;
        let chance = f64::from_bits(chance);
        let is_sane = length as usize <= STACK && chance > 0.0 && chance <= 1.0;
        is_sane.then_some(Stack { regs: Regs { pc, sp, fp, lr }, length: length as usize, chance })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn memory() -> Blocks {
        let base = crate::sys::share(BYTES).expect("memory");
        // SAFETY: mapped, of this size.
        unsafe { Blocks::over(base) }
    }

    fn entry(number: u64) -> Entry {
        let (address, size) = (number << 20, number * 7 + 65_536);
        Entry { kind: Kind::Born, process: 77, address, size, begun: number, time: number + 1, stack: 0 }
    }

    #[test]
    fn what_is_written_is_read_until_it_is_overwritten() {
        let blocks = memory();
        assert_eq!(blocks.read(0), Err(Absent::Unwritten));
        for number in 0..ENTRIES + 3 {
            blocks.write(&entry(number));
        }
        assert_eq!([0, 1, 2].map(|position| blocks.read(position)), [Err(Absent::Overwritten); 3]);
        assert_eq!(blocks.read(3), Ok(entry(3)));
        assert_eq!(blocks.read(ENTRIES + 2), Ok(entry(ENTRIES + 2)));
        assert_eq!(blocks.read(ENTRIES + 3), Err(Absent::Unwritten));
        // Two writers at once: a word of the other.
        blocks.slot(9).words[2].store(1, Relaxed);
        assert_eq!(blocks.read(9), Err(Absent::Torn));
        // A late writer does not overwrite a newer entry.
        blocks.head().entries.store(5, Relaxed);
        blocks.slot(5).number.store(5 + ENTRIES * 2 + 1, Relaxed);
        blocks.write(&entry(5));
        assert_eq!(blocks.read(5), Err(Absent::Overwritten));
        crate::sys::unmap(blocks.base(), BYTES);
    }

    #[test]
    fn stacks_are_found_by_their_number() {
        let blocks = memory();
        let regs = Regs { pc: 1, sp: 2, fp: 3, lr: 4 };
        let write = |byte: u8| {
            blocks.stack(regs, 0.25, |to| {
                // SAFETY: within the room.
                unsafe { to.write_bytes(byte, 100) };
                100
            })
        };
        let mut bytes = [0; STACK];
        assert_eq!(blocks.read_stack(0, &mut bytes), None);
        assert_eq!(blocks.read_stack(1, &mut bytes), None);
        let first = write(9);
        assert_eq!(blocks.read_stack(first, &mut bytes), Some(Stack { regs, length: 100, chance: 0.25 }));
        assert!(bytes[..100] == [9; 100] && bytes[100..] == [0; STACK - 100]);
        let later = (0..STACKS).map(|_| write(8)).fold(0, |_, number| number);
        assert_eq!(blocks.read_stack(first, &mut bytes), None, "overwritten");
        assert!(blocks.read_stack(later, &mut bytes).is_some() && bytes[0] == 8);
        crate::sys::unmap(blocks.base(), BYTES);
    }

    #[test]
    fn writers_do_not_disturb_one_another() {
        let blocks = memory();
        const EACH: u64 = 5000;
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope
                    .spawn(move || (0..EACH).for_each(|number| blocks.write(&entry(writer * EACH + number))));
            }
        });
        let mut all: Vec<u64> = (0..4 * EACH)
            .map(|position| blocks.read(position).expect("written"))
            .map(|read| (read == entry(read.begun)).then_some(read.begun).expect("whole"))
            .collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..4 * EACH));
        crate::sys::unmap(blocks.base(), BYTES);
    }
}
