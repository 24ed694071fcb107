//! Reads large blocks from the memory of the preloaded recorder, while the program runs ([`shm::blocks`]).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;

use lab::failure::{Attempt, Failure};
use shm::blocks::{Absent, BYTES, Blocks, ENTRIES, MAGIC, STACK, Stack};

use super::record::{BlockRecord, Entry, EventKind, Fault};

/// Nanoseconds after which an unfinished entry is given up: its writer was killed.
const PATIENCE: u64 = 100_000_000;

#[derive(Debug)]
pub struct Ring {
    blocks: Blocks,
    next: u64,
    /// Since when the next entry is unfinished.
    waiting: Option<u64>,
    lost: u64,
}

impl Ring {
    /// Opens the file that the recorder writes to.
    pub fn open(path: &Path) -> Result<Ring, Failure> {
        Ring::map(path).attempt_on("cannot read the memory of the recorder", path.display())
    }

    fn map(path: &Path) -> io::Result<Ring> {
        let file = File::options().read(true).write(true).open(path)?;
        let is_whole = file.metadata()?.len() == BYTES as u64;
        let blocks = Blocks::map(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
        if !is_whole || blocks.head().magic.load(Ordering::Acquire) != MAGIC {
            return Err(io::Error::other("it has another format"));
        }
        Ok(Ring::over(blocks))
    }

    pub fn over(blocks: Blocks) -> Ring {
        Ring { blocks, next: 0, waiting: None, lost: 0 }
    }

    /// Reads the entries. `now`: CLOCK_MONOTONIC in ns; `is_last`: it does not wait for unfinished ones.
    pub fn drain(&mut self, now: u64, is_last: bool, entries: &mut Vec<Entry>) {
        let written = self.blocks.head().entries.load(Ordering::Acquire);
        if written.saturating_sub(self.next) > ENTRIES {
            // The oldest may be overwritten while they are read: they are skipped.
            let oldest = written - ENTRIES + ENTRIES / 8;
            self.lost += oldest - self.next;
            (self.next, self.waiting) = (oldest, None);
        }
        while self.next < written {
            match self.blocks.read(self.next) {
                Ok(entry) => {
                    let stack = self.stack(&entry);
                    let block = BlockRecord { entry, stack };
                    entries.push(Entry { time: block.entry.time, kind: EventKind::Block(Box::new(block)) });
                }
                Err(Absent::Unwritten) => {
                    let since = *self.waiting.get_or_insert(now);
                    if !is_last && now.saturating_sub(since) < PATIENCE {
                        return;
                    }
                    self.lost += 1;
                }
                Err(Absent::Overwritten | Absent::Torn) => self.lost += 1,
            }
            self.next += 1;
            self.waiting = None;
        }
    }

    fn stack(&self, entry: &shm::blocks::Entry) -> Option<(Fault, f64)> {
        let mut bytes = [0; STACK];
        let Stack { regs, length, chance } = self.blocks.read_stack(entry.stack, &mut bytes)?;
        let stack = bytes.get(..length)?.to_vec();
        let fault =
            Fault { process: entry.process, ip: regs.pc, regs: Some(regs), stack, ..Fault::default() };
        Some((fault, chance))
    }

    /// Entries that were overwritten before they were read, or never finished.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Executed programs in which the recorder was loaded.
    pub fn programs(&self) -> u64 {
        self.blocks.head().programs.load(Ordering::Relaxed)
    }

    /// Large blocks that the recorder had no room for.
    pub fn unrecorded(&self) -> u64 {
        self.blocks.head().unrecorded.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod unit {
    use super::super::record::Regs;
    use super::*;
    use shm::blocks::Kind;

    fn ring() -> Ring {
        // SAFETY: mapped, of this size, and never unmapped.
        Ring::over(unsafe { Blocks::over(shm::sys::share(BYTES).unwrap()) })
    }

    fn entry(number: u64) -> shm::blocks::Entry {
        let (kind, address) = (Kind::Born, number << 16);
        shm::blocks::Entry { kind, process: 5, address, size: 1 << 16, begun: number, time: number, stack: 0 }
    }

    fn times(ring: &mut Ring, now: u64, is_last: bool) -> Vec<u64> {
        let mut entries = Vec::new();
        ring.drain(now, is_last, &mut entries);
        entries.iter().map(|entry| entry.time).collect()
    }

    #[test]
    fn an_entry_is_read_once_with_its_stack() {
        let mut ring = ring();
        let blocks = ring.blocks;
        let regs = Regs { pc: 1, sp: 2, fp: 3, lr: 4 };
        let stack = blocks.stack(regs, 0.5, |_| 16);
        blocks.write(&shm::blocks::Entry { stack, ..entry(7) });
        let mut entries = Vec::new();
        ring.drain(10, false, &mut entries);
        let [Entry { time: 7, kind: EventKind::Block(block) }] = entries.as_slice() else {
            panic!("{entries:?}");
        };
        let (fault, chance) = block.stack.as_ref().unwrap();
        assert_eq!((fault.process, fault.ip, fault.stack.len(), *chance), (5, 1, 16, 0.5));
        assert_eq!(fault.regs, Some(Regs { pc: 1, sp: 2, fp: 3, lr: 4 }));
        assert!(times(&mut ring, 11, false).is_empty());
        assert_eq!((ring.lost(), ring.unrecorded()), (0, 0));
    }

    #[test]
    fn overwritten_entries_are_counted() {
        let mut ring = ring();
        (0..ENTRIES + 100).for_each(|number| ring.blocks.write(&entry(number)));
        let read = times(&mut ring, 1, false);
        assert_eq!(read.len() as u64 + ring.lost(), ENTRIES + 100);
        assert_eq!(read.last(), Some(&(ENTRIES + 99)));
        assert!(ring.lost() >= 100);
    }

    #[test]
    fn an_unfinished_entry_is_not_waited_for_long() {
        let mut ring = ring();
        ring.blocks.write(&entry(1));
        ring.blocks.head().entries.fetch_add(1, Ordering::Relaxed);
        ring.blocks.write(&entry(3));
        assert_eq!(times(&mut ring, 50, false), [1]);
        assert!(times(&mut ring, 50 + PATIENCE / 2, false).is_empty());
        assert_eq!(times(&mut ring, 50 + PATIENCE, false), [3]);
        ring.blocks.head().entries.fetch_add(1, Ordering::Relaxed);
        assert!(times(&mut ring, 51 + PATIENCE, true).is_empty());
        assert_eq!(ring.lost(), 2);
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Ring::open(file.path()).unwrap_err().to_string().contains("memory of the recorder"));
        assert!(Ring::open(Path::new("/nonexistent")).is_err());
    }
}
