//! What the kernel's rings and the recorder's memory hold: records of perf events, tracepoints, large blocks, sizes of blocks.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use alloc::profile::Profile;
use alloc::record::Histogram;
use faults::observe::observation;
use faults::trace::calls::{self, reader};
use faults::trace::collect::Collector;
use faults::trace::record::{Entry, Reader, Set};
use faults::trace::ring::Ring;
use faults::trace::tracefs::Format;
use faults::trace::{Totals, Traced, event_ring, event_set};
use figure::Machine;
use shm::blocks::{self, Blocks, Kind, Regs};
use shm::recording::{self, Recording};

use crate::draw::{Draw, piece};
use crate::looks;
use crate::target::Target;

/// Records one after the other, each of some ring or memory; then their contents are checked.
pub const TARGET: Target = Target { name: "rings", one, seeds, longest: 8 << 10 };

const PAGE: u64 = 4096;
const SETS: [Set; 4] = [Set::Rare, Set::Minor, Set::Burst, Set::Maps];
const CALLS: [reader::Set; 4] =
    [reader::Set::Stacks, reader::Set::Counts, reader::Set::Codes, reader::Set::Forks];

/// Tracepoints of five calls, and of faults.
static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let of = |id: u64| {
        let fields =
            ["len", "flags", "new_len", "ret", "len_in", "behavior", "address", "error_code", "clone_flags"];
        let lines = fields.iter().enumerate().map(|(at, name)| {
            format!("\tfield:unsigned long {name};\toffset:{};\tsize:8;\tsigned:0;\n", 8 + 8 * at)
        });
        let head = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
        let text = format!("name: x\nID: {id}\nformat:\n{head}{}", lines.collect::<String>());
        Format::parse(&text).expect("a format")
    };
    (1..=5).map(of).collect()
});

/// Memory that both sides share, gone with this value.
struct Shared(*mut u8, usize);

impl Shared {
    fn of(bytes: usize) -> Shared {
        Shared(shm::sys::share(bytes).expect("memory"), bytes)
    }

    /// Puts a number somewhere, as whoever shares the memory may.
    fn poke(&self, at: u64, value: u64) {
        let word = (at % (self.1 / 8) as u64) as usize;
        // SAFETY: inside the mapping, aligned, and only ever atomic.
        unsafe { (*self.0.cast::<AtomicU64>().add(word)).store(value, Relaxed) };
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        shm::sys::unmap(self.0, self.1);
    }
}

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (of_blocks, of_sizes) = (Shared::of(blocks::BYTES), Shared::of(recording::BYTES));
    // SAFETY: mapped, of this size, until the end of this function.
    let blocks = unsafe { Blocks::over(of_blocks.0) };
    let (mut ring, mut stacks) = (Ring::over(blocks), vec![0]);
    let mut entries: Vec<Entry> = Vec::new();
    let mut is_recorded = false;
    while !draw.is_empty() {
        let choice = draw.byte();
        match choice % 10 {
            0..=3 => entries.extend(record(SETS[usize::from(choice % 10)], &mut draw)),
            4 => entries.extend(call(&mut draw)),
            5 => blocks.write(&block(&mut draw, &stacks)),
            6 => {
                let regs = Regs { pc: draw.long(), sp: draw.long(), fp: draw.long(), lr: draw.long() };
                let (chance, bytes) = (f64::from_bits(draw.long()), draw.piece());
                stacks.push(blocks.stack(regs, chance, |to| {
                    let length = bytes.len().min(shm::blocks::STACK);
                    // SAFETY: there is room for so many.
                    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), length) };
                    bytes.len()
                }));
            }
            7 => of_blocks.poke(draw.long(), draw.long()),
            8 => ring.drain(draw.long(), draw.flag(), &mut entries),
            _ => {
                is_recorded = true;
                of_sizes.poke(draw.word() as u64, draw.long());
            }
        }
    }
    ring.drain(u64::MAX, true, &mut entries);
    traced(entries);
    if is_recorded {
        // SAFETY: mapped, of this size, until the end of this function.
        recorded(&unsafe { Recording::over(of_sizes.0) });
    }
}

/// A record of perf events: its type, its mark and its bytes.
fn record(set: Set, draw: &mut Draw) -> Option<Entry> {
    let (kind, misc) = (u32::from(draw.byte()), draw.word() as u16);
    let weight = [1, 101, u64::MAX][usize::from(draw.byte() % 3)];
    event_ring::entry(kind, misc, draw.piece(), event_set::config(set), Reader { set, weight, without: None })
}

/// A record of a call for memory, or of what a fault met.
fn call(draw: &mut Draw) -> Option<Entry> {
    let set = CALLS[usize::from(draw.byte()) % CALLS.len()];
    let reader = reader::Reader { set, formats: &FORMATS, periods: &[1, 7, 1, 1, 1] };
    event_ring::entry(u32::from(draw.byte()), draw.word() as u16, draw.piece(), calls::config(set), reader)
}

fn block(draw: &mut Draw, stacks: &[u64]) -> shm::blocks::Entry {
    let kind = [Kind::Hello, Kind::Born, Kind::Ended][usize::from(draw.byte() % 3)];
    let stack = stacks[usize::from(draw.byte()) % stacks.len()];
    let process = draw.word() as u32;
    let [address, size, begun, time] = [(); 4].map(|()| draw.long());
    shm::blocks::Entry { kind, process, address, size, begun, time, stack }
}

/// All of it, put together: figures come of it, and a record.
fn traced(entries: Vec<Entry>) {
    let mut collector = Collector::for_replay(PAGE, HashMap::new());
    collector.blocks = Some(Default::default());
    entries.into_iter().for_each(|entry| collector.take(entry));
    collector.runs.end();
    if let Some(blocks) = &mut collector.blocks {
        blocks.end();
    }
    let totals = Totals { counted: 1000, period: 101, seconds: 1.0, ..Totals::default() };
    let found = observation(Traced { collector, totals, unseen: Default::default(), calls: Ok(()) });
    looks::judged(found.figures, Machine::default());
}

/// The recorded sizes are shown, and their file is a readable profile.
fn recorded(recording: &Recording) {
    let histogram = Histogram::read(recording, 1_000_000_000, 3_000_000_000);
    assert!(!histogram.sentences().iter().any(|sentence| sentence.chars().any(char::is_control)));
    let file = histogram.csv("a\nb");
    if histogram.allocated() > 0 {
        // Too many blocks for any load is the one thing that may be wrong with it.
        let read = Profile::of_histogram("fuzz", &file);
        assert!(
            read.as_ref().map_or_else(|why| why.to_string().contains("too many"), |_| true),
            "{read:?}\n{file}"
        );
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let longs = |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let record = |choice: u8, kind: u8, body: &[u8]| [&[choice, kind, 0, 0, 0], &piece(body)[..]].concat();
    let pair = |low: u64, high: u64| low | high << 32;
    // In the order of perf_event_open(2): ip; pid, tid; time; addr; chain; registers' ABI and registers; stack.
    let fault =
        longs(&[0x40_1234, pair(7, 7), 5_000_000, 0x1000_0000, 2, 0x40_1234, 0x40_2000, 2, 1, 2, 3, 8, 9, 8]);
    let burst = longs(&[0x40_1234, pair(7, 7), 5_000_000, 0x1000_0000, 2, 1, 2, 3]);
    // pid, tid; addr; len; pgoff; maj, min; ino; ino_generation; prot, flags; filename; sample_id.
    let mut map = longs(&[pair(7, 7), 0x1000_0000, 0x20_0000, 0, 0, 0, 0, pair(3, 2)]);
    map.extend(b"//anon\0\0");
    map.extend(longs(&[pair(7, 7), 4_000_000]));
    let mut name = longs(&[pair(7, 7)]);
    name.extend(b"server\0\0");
    name.extend(longs(&[pair(7, 7), 1_000_000]));
    let fork = longs(&[pair(9, 7), pair(9, 7), 3_000_000, pair(7, 7), 3_000_000]);
    let raw = [&3_u16.to_le_bytes()[..], &[0; 6], &longs(&[0x4000, 2, 0x4000, 0, 0x4000, 4, 0x1000_0000, 3])]
        .concat();
    let mut called = longs(&[0x40_1234, pair(7, 7), 5_000_000]);
    called.extend((raw.len() as u32 + 4).to_le_bytes());
    called.extend(&raw);
    called.extend([0; 4]);
    let call = [&[4, 1, 9, 0, 0], &piece(&called)[..]].concat();
    let born = [&[5, 1, 0, 7, 0], &longs(&[0x1000_0000, 1 << 20, 1_000, 2_000])[..]].concat();
    let stack = [&[6], &longs(&[1, 2, 3, 4, 0.5_f64.to_bits()])[..], &piece(&[1; 32])].concat();
    let size = [&[9, 0, 2], &longs(&[12])[..]].concat();
    let whole = [
        record(0, 3, &name),
        record(3, 10, &map),
        record(0, 7, &fork),
        record(1, 9, &fault),
        record(2, 9, &burst),
        call.clone(),
        stack.clone(),
        born.clone(),
    ];
    vec![whole.concat(), record(1, 9, &fault), record(3, 10, &map), call, [stack, born].concat(), size]
}
