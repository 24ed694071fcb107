//! What a kernel really moves between cache and memory, and in which mix of reads and writes.
//!
//! The declared bytes in the figure's conditions are the truth for amounts; the class table below adds what they
//! do not show: how many streams a kernel reads and writes, and whether its store misses.

use figure::Figure;
use figure::evidence::{COUNTED_BYTES, MIX, NODE_OF_MEMORY, PAGES_ASKED, THREADS, TRAFFIC_BYTES};

use super::partner::{NON_TEMPORAL, REGULAR, find, is_headline, kernel, same_threads, stores};
use crate::subject::Subject;

/// Bytes of a cache line on every processor that truebench has kernels for.
pub const LINE_BYTES: f64 = 64.0;

/// The streams of a kernel.
struct Streams {
    kernel: &'static str,
    /// Arrays that it reads.
    reads: f64,
    /// Arrays that it writes.
    writes: f64,
    /// Whether it writes an array that it has not read: then a regular store reads the line first
    /// (McCalpin, "STREAM: counting bytes": all four STREAM kernels are store misses).
    store_miss: bool,
}

const STREAMS: &[Streams] = &[
    Streams { kernel: "copy", reads: 1.0, writes: 1.0, store_miss: true },
    Streams { kernel: "scale", reads: 1.0, writes: 1.0, store_miss: true },
    Streams { kernel: "add", reads: 2.0, writes: 1.0, store_miss: true },
    Streams { kernel: "triad", reads: 2.0, writes: 1.0, store_miss: true },
    Streams { kernel: "write", reads: 0.0, writes: 1.0, store_miss: true },
    Streams { kernel: "read", reads: 1.0, writes: 0.0, store_miss: false },
    Streams { kernel: "update", reads: 1.0, writes: 1.0, store_miss: false },
];

/// Reads against writes between cache and memory, in arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Arrays read from memory, write-allocate included.
    pub reads: f64,
    /// Arrays written to memory.
    pub writes: f64,
}

impl Mix {
    /// The mix of this name: `3:1`, or `triad-like`, which reads two streams and writes one past the cache.
    pub fn named(name: &str) -> Option<Mix> {
        if name == "triad-like" {
            return Some(Mix { reads: 2.0, writes: 1.0 });
        }
        let (reads, writes) = name.split_once(':')?;
        let mix = Mix { reads: reads.parse().ok()?, writes: writes.parse().ok()? };
        (mix.reads >= 0.0 && mix.writes >= 0.0 && mix.reads + mix.writes > 0.0).then_some(mix)
    }

    /// Share of the traffic that is reads, 0 to 1.
    pub fn read_share(self) -> f64 {
        self.reads / (self.reads + self.writes)
    }
}

impl std::fmt::Display for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.reads, self.writes)
    }
}

/// The mix that a figure's kernel makes with its stores; `None` for kernels and stores not declared here
/// (what a library or compiler chose is not known). A walk in a mix names it.
pub fn mix(figure: &Figure) -> Option<Mix> {
    let name = kernel(figure)?;
    if name == WALK {
        return Mix::named(&figure.conditions.get(MIX)?);
    }
    let streams = STREAMS.iter().find(|streams| streams.kernel == name)?;
    let allocated = match stores(figure)?.as_str() {
        REGULAR if streams.store_miss => streams.writes,
        REGULAR | NON_TEMPORAL | "none" => 0.0,
        _ => return None,
    };
    Some(Mix { reads: streams.reads + allocated, writes: streams.writes })
}

/// `kernel` of a walk that reads and writes in a given mix.
pub const WALK: &str = "mix";

/// What walks in this mix move with the subject's threads, all at full speed: the most of them.
pub fn walked<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a Figure> {
    let of = subject.figure;
    let fits = |other: &&Figure| {
        kernel(other).as_deref() == Some(WALK)
            && other.conditions.get(MIX).as_deref() == Some(name)
            && other.is_usable()
            && !std::ptr::eq(*other, of)
            && same_threads(other, of)
            && other.conditions.get(NODE_OF_MEMORY) == of.conditions.get(NODE_OF_MEMORY)
            && other.conditions.get(PAGES_ASKED) == of.conditions.get(PAGES_ASKED)
    };
    let walks = subject.record.figures.iter().filter(fits);
    walks.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// What regular stores cost a kernel against non-temporal ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreChange {
    /// Bytes moved with regular stores for each moved with non-temporal ones: 3/2, 4/3 or 2.
    pub bytes: f64,
    /// Lines read likewise: 2 for copy, 3/2 for triad; as `bytes` where non-temporal stores read none.
    pub reads: f64,
}

/// What regular stores cost the figure's kernel, whichever it has; `None` where they cost nothing.
pub fn store_change(figure: &Figure) -> Option<StoreChange> {
    let name = kernel(figure)?;
    let Streams { reads, writes, .. } =
        STREAMS.iter().find(|streams| streams.kernel == name && streams.store_miss)?;
    let bytes = (reads + 2.0 * writes) / (reads + writes);
    Some(StoreChange { bytes, reads: if *reads > 0.0 { (reads + writes) / reads } else { bytes } })
}

/// Bytes moved for each byte counted, by the figure's declaration: 1.5 for a regular copy.
pub fn per_counted(figure: &Figure) -> Option<f64> {
    let (moved, counted) = (figure.conditions.get(TRAFFIC_BYTES)?, figure.conditions.get(COUNTED_BYTES)?);
    (moved > 0.0 && counted > 0.0).then(|| moved / counted)
}

/// Declared traffic between cache and memory, in the figure's unit.
pub fn traffic(figure: &Figure) -> Option<f64> {
    Some(figure.value? * per_counted(figure)?)
}

/// Cache lines that each thread must keep under way to read at the figure's rate when a line takes `latency_ns`
/// (Little's law: rate x latency / 64 B). Only reads count: an evicted line, or a non-temporal store that has
/// left its buffer, waits for nothing. `None` if it reads nothing, or not in GB/s.
pub fn lines_in_flight(figure: &Figure, latency_ns: f64) -> Option<f64> {
    let rate = read_rate_per_thread(figure)?;
    Some(rate * latency_ns / LINE_BYTES)
}

/// What each thread reads from memory, write-allocate included, GB/s.
pub fn read_rate_per_thread(figure: &Figure) -> Option<f64> {
    if figure.unit != figure::Unit::GB_PER_S {
        return None;
    }
    let threads = figure.conditions.get(THREADS).filter(|threads| *threads >= 1.0)?;
    let rate = traffic(figure)? * mix(figure)?.read_share() / threads;
    (rate > 0.0).then_some(rate)
}

/// One kernel with regular and with non-temporal stores, all else equal.
#[derive(Clone, Copy, Debug)]
pub struct StorePair<'a> {
    /// With regular stores.
    pub regular: &'a Figure,
    /// With non-temporal stores.
    pub nt: &'a Figure,
}

impl<'a> StorePair<'a> {
    /// The pair that the subject is half of; headlines only.
    pub fn of(subject: &Subject<'a>) -> Option<Self> {
        let figure = subject.figure;
        if !is_headline(figure) || figure.value.is_none() {
            return None;
        }
        let name = kernel(figure)?;
        let pair = match stores(figure)?.as_str() {
            REGULAR => StorePair { regular: figure, nt: find(subject, &name, NON_TEMPORAL, None)? },
            NON_TEMPORAL => StorePair { regular: find(subject, &name, REGULAR, None)?, nt: figure },
            _ => return None,
        };
        // Without a store miss (update) there is no write-allocate to speak of.
        (pair.traffic_ratio()? > 1.0).then_some(pair)
    }

    /// Non-temporal against regular, of the values as printed.
    pub fn gain(&self) -> Option<f64> {
        let gain = self.nt.value? / self.regular.value?;
        gain.is_finite().then_some(gain)
    }

    /// The gain if memory moves the same bytes either way: 3/2, 4/3 or 2.
    pub fn traffic_ratio(&self) -> Option<f64> {
        Some(per_counted(self.regular)? / per_counted(self.nt)?)
    }

    /// The gain if not bytes but the reads under way in each core are the limit: lines read with regular stores
    /// for each line read with non-temporal ones, 2 for copy and 3/2 for triad. `None` where the latter reads
    /// nothing (write), so that this limit does not bind it.
    pub fn read_ratio(&self) -> Option<f64> {
        let (regular, nt) = (mix(self.regular)?, mix(self.nt)?);
        (nt.reads > 0.0).then(|| regular.reads / nt.reads)
    }
}
