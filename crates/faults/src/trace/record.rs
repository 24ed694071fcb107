//! The records of the kernel's rings and of the preloaded recorder, as plain data.

use perf_event::data::{
    Comm, Exit, Fork, Lost, LostSamples, Mmap2, RecordMetadata, Registers, Sample, SampleRegsAbi, Visitor,
};
use serde::{Deserialize, Serialize};

use super::growth::Resident;

pub use shm::blocks::Regs;

/// Which registers come with a sample, in the order of their bits (asm/perf_regs.h).
pub mod registers {
    /// Frame pointer (6), stack pointer (7), instruction pointer (8).
    #[cfg(target_arch = "x86_64")]
    pub const MASK: u64 = 1 << 6 | 1 << 7 | 1 << 8;
    /// Frame pointer (x29), link register (x30), stack pointer (31), program counter (32).
    #[cfg(target_arch = "aarch64")]
    pub const MASK: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Set {
    /// Major faults; forks, names and ends of tasks; mappings of code.
    Rare,
    /// Minor faults, sampled.
    Minor,
    /// Minor faults, every one of a burst.
    Burst,
    Maps,
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub time: u64,
    pub kind: EventKind,
}

/// What happened.
///
/// - `Fork`: a new task, a thread if both processes are the same. `Name`: a task got a name (untrusted); with
///   `exec` it also executed another program.
/// - `Counting`, `Mappings`: whether calls, or new mappings of data, are recorded from now on.
/// - `Window`: a window opens or closes ([`windows`](super::windows)). Without any, minor faults are sampled all the time.
/// - `Uncounted`: calls with records that found no room.
/// - `Shares`: the last process that this one forked shares its address space, as after vfork (CLONE_VM).
/// - `Code`: the error code of a fault, of x86: bit 0 a page was there, bit 1 it was to be written. `Codes`: whether they are recorded from now on.
///   `LostCodes`: those that found no room.
/// - `Resident`: what a process has in memory, read from /proc.
/// - `Lost`: records that found no room, and the events that they stand for; 0 records of a burst: it has ended.
#[derive(Clone, Debug)]
pub enum EventKind {
    Fault(Box<Fault>),
    Map(Map),
    Fork { process: u32, parent: u32, thread: u32 },
    Name { process: u32, thread: u32, name: String, exec: bool },
    Exit { process: u32, thread: u32 },
    Call(Box<Call>),
    Counting(bool),
    Uncounted(u64),
    Shares(u32),
    Code { process: u32, address: u64, sp: Option<u64>, code: u64 },
    Codes(bool),
    LostCodes(u64),
    Resident(u32, Resident),
    Mappings(bool),
    Window(bool),
    Lost { set: Set, records: u64, events: u64 },
    Block(Box<BlockRecord>),
}

impl EventKind {
    pub fn is_task_record(&self) -> bool {
        use EventKind::{Exit, Fork, Map, Name};
        matches!(self, Map(_) | Fork { .. } | Name { .. } | Exit { .. })
    }

    /// How many samples of minor faults it is: one, or those that found no room.
    pub fn minor_samples(&self) -> f64 {
        match self {
            EventKind::Fault(fault) if !fault.is_burst && !fault.is_major => 1.0,
            EventKind::Lost { set: Set::Minor, records, .. } => *records as f64,
            _ => 0.0,
        }
    }

    /// Records of a set that found no room, each of which stands for `period` events.
    pub fn lost(set: Set, records: u64, period: u64) -> EventKind {
        EventKind::Lost { set, records, events: records.saturating_mul(period) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    pub process: u32,
    pub thread: u32,
    pub address: u64,
    /// The instruction that touched it.
    pub ip: u64,
    /// How many faults it stands for.
    pub weight: u64,
    /// Whether it had to wait for a disk.
    pub is_major: bool,
    /// Whether it is one of a burst: those have no stack.
    pub is_burst: bool,
    /// Whether the kernel touched it for the program, in a system call.
    pub in_kernel: bool,
    /// Return addresses by frame pointers, as the kernel found them.
    pub chain: Vec<u64>,
    pub regs: Option<Regs>,
    /// The stack from the stack pointer on.
    pub stack: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who called, and where: a fault at no address, with the stack of one that was sampled.
    pub by: Fault,
    pub arguments: CallArguments,
    /// Whether it is a sample, with a stack; else it is one of those that are counted.
    pub has_stack: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockRecord {
    pub entry: shm::blocks::Entry,
    /// The stack of its allocation, and the probability with which stacks of such blocks are taken.
    pub stack: Option<(Fault, f64)>,
}

/// The arguments of a call for memory: of mremap the new size, of brk the end of the heap, moved or not. Of an mmap that only reserves
/// addresses (PROT_NONE) no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArguments {
    Map { bytes: u64, is_file: bool },
    Unmap { start: u64, bytes: u64 },
    Remap { bytes: u64 },
    Break { end: u64 },
    Advise { start: u64, bytes: u64, advice: i32 },
}

impl CallArguments {
    /// The place of its system call among those that are traced.
    pub fn place(self) -> usize {
        match self {
            CallArguments::Map { .. } => 0,
            CallArguments::Unmap { .. } => 1,
            CallArguments::Remap { .. } => 2,
            CallArguments::Break { .. } => 3,
            CallArguments::Advise { .. } => 4,
        }
    }
}

/// Major and minor number.
pub type Device = (u32, u32);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    pub process: u32,
    pub start: u64,
    /// Behind its last byte.
    pub end: u64,
    pub offset: u64,
    /// PROT_READ and so on (mmap(2)).
    pub protection: u32,
    pub is_private: bool,
    /// The file, or a name such as `[heap]`; untrusted.
    pub name: String,
    /// Of its file system; (0, 0) where there is no file.
    pub device: Device,
    /// Whether that file system maps files without the page cache.
    pub is_dax: bool,
}

#[derive(Clone, Copy)]
pub struct Reader {
    pub set: Set,
    /// How many events a sample stands for.
    pub weight: u64,
    /// A process whose records are left out before anything is allocated for them: the reader itself, where events are those of
    /// the machine. Else each record that is read would make others.
    pub without: Option<u32>,
}

/// The kernel's mark on a record that comes from a system call or an interrupt (PERF_RECORD_MISC_KERNEL).
const MODE: u16 = 7;
const KERNEL: u16 = 1;
/// The kernel's mark on the name of an executed program (PERF_RECORD_MISC_COMM_EXEC).
const EXEC: u16 = 1 << 13;
/// Addresses in a call chain from here on are marks, such as "user mode from here on" (PERF_CONTEXT_MAX).
const CONTEXT: u64 = -4095i64 as u64;

impl<'a> Visitor<'a> for Reader {
    type Output = Option<Entry>;

    fn visit_unimplemented(self, _: RecordMetadata) -> Option<Entry> {
        None
    }

    fn visit_sample(self, sample: Sample<'a>, metadata: RecordMetadata) -> Option<Entry> {
        if sample.pid() == self.without {
            return None;
        }
        let chain = sample.callchain().unwrap_or_default();
        let fault = Fault {
            process: sample.pid()?,
            thread: sample.tid()?,
            address: sample.addr()?,
            ip: sample.ip()?,
            weight: self.weight,
            is_major: self.set == Set::Rare,
            is_burst: self.set == Set::Burst,
            in_kernel: metadata.misc() & MODE == KERNEL,
            chain: addresses(chain),
            regs: sample.regs_user().and_then(regs),
            stack: sample.stack_user().unwrap_or_default().to_vec(),
        };
        Some(Entry { time: sample.time()?, kind: EventKind::Fault(Box::new(fault)) })
    }

    fn visit_mmap2(self, map: Mmap2<'a>, metadata: RecordMetadata) -> Option<Entry> {
        if Some(map.pid) == self.without {
            return None;
        }
        let map = Map {
            process: map.pid,
            start: map.addr,
            end: map.addr.checked_add(map.len)?,
            offset: map.pgoff,
            protection: map.prot,
            is_private: map.flags & libc::MAP_PRIVATE as u32 != 0,
            name: text(&map.filename),
            device: (map.maj().unwrap_or(0), map.min().unwrap_or(0)),
            is_dax: false,
        };
        Some(Entry { time: time(&metadata)?, kind: EventKind::Map(map) })
    }

    // A set that asks for mappings gets tasks as well (perf_event_task_match): one set's are enough.
    fn visit_fork(self, fork: Fork, _: RecordMetadata) -> Option<Entry> {
        let kind = EventKind::Fork { process: fork.pid, parent: fork.ppid, thread: fork.tid };
        (self.set == Set::Rare).then_some(Entry { time: fork.time, kind })
    }

    fn visit_exit(self, exit: Exit, _: RecordMetadata) -> Option<Entry> {
        let kind = EventKind::Exit { process: exit.pid, thread: exit.tid };
        (self.set == Set::Rare).then_some(Entry { time: exit.time, kind })
    }

    fn visit_comm(self, comm: Comm<'a>, metadata: RecordMetadata) -> Option<Entry> {
        let exec = metadata.misc() & EXEC != 0;
        let kind = EventKind::Name { process: comm.pid, thread: comm.tid, name: text(&comm.comm), exec };
        Some(Entry { time: time(&metadata)?, kind })
    }

    fn visit_lost(self, lost: Lost, metadata: RecordMetadata) -> Option<Entry> {
        Some(Entry { time: time(&metadata)?, kind: EventKind::lost(self.set, lost.lost, self.weight) })
    }

    fn visit_lost_samples(self, lost: LostSamples, metadata: RecordMetadata) -> Option<Entry> {
        Some(Entry { time: time(&metadata)?, kind: EventKind::lost(self.set, lost.lost, self.weight) })
    }
}

pub(super) fn addresses(chain: &[u64]) -> Vec<u64> {
    chain.iter().copied().filter(|address| *address < CONTEXT).collect()
}

fn time(metadata: &RecordMetadata) -> Option<u64> {
    metadata.sample_id().time()
}

fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn regs(all: &Registers) -> Option<Regs> {
    if all.abi != SampleRegsAbi::ABI_64 {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    match *all.regs.as_ref() {
        [fp, sp, pc] => Some(Regs { pc, sp, fp, lr: 0 }),
        _ => None,
    }
    #[cfg(target_arch = "aarch64")]
    match *all.regs.as_ref() {
        [fp, lr, sp, pc] => Some(Regs { pc, sp, fp, lr }),
        _ => None,
    }
}
