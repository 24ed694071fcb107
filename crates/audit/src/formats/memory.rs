//! What the readers of memory benchmarks share: units, names in ids, caches that any machine has, latencies under load.

use std::collections::HashMap;

use figure::evidence::audit::{DISTURBED, UNDER_MORE_LOAD, UNLOADED};
use figure::evidence::{INSTRUMENT_ARRAY, LLC_BASIS, LLC_BYTES, WORKING_SET};
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Evidence, Figure, Unit};

use crate::SUITE;
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::text::{Printed, id_word, number};

/// Bytes of what most tools call MB.
pub const MIB: f64 = 1024.0 * 1024.0;
/// Bytes of a line.
pub const LINE: f64 = 64.0;
/// The most figures of one run: more rows are named, and not read.
pub const MOST_ROWS: usize = 200;
/// The smallest first-level data cache that servers and desktops have had in twenty years: 16 KiB (AMD Bulldozer). What it holds is in
/// cache on any.
pub const SMALLEST: f64 = 16.0 * 1024.0;
/// Caches of the smallest processors with x86-64 (Atom, Sempron).
const SMALLEST_OF_X86: f64 = 512.0 * 1024.0;
/// Caches of any core that copies at [`FAST`]: what hides the latency of memory so well is not built with less (RK3588: 3.5 MiB).
const SMALLEST_OF_FAST: f64 = 2.0 * 1024.0 * 1024.0;
/// Copied bytes a second from which a core is no microcontroller's. Small cores in order (Cortex-A53, SiFive U74) copy at 2 to 5 GB/s.
const FAST: f64 = 10e9;
/// The most last-level cache that a processor has for each of its hardware threads: 768 MiB for 32 (EPYC 7373X, 9184X).
const MOST_FOR_THREAD: f64 = 24.0 * MIB;
/// The most last-level cache that one core has: 504 MB (Xeon 6980P).
const MOST_FOR_CORE: f64 = 504e6;
/// Bytes a second of all threads that no machine with less than [`SMALLEST_OF_FAST`] moves: its memory is slower.
const FAST_MACHINE: f64 = 20e9;
/// An array in sizes of the caches that is not in them.
const CACHES: f64 = 4.0;
/// The longest name in an id, in characters.
const MAX_WORD: usize = 40;
/// By what share a latency may be above one under more load: under full load those of mm-mem's own example differ by 11 %.
const RISE: f64 = 0.15;
/// From so many latencies and such a share of a curve on that are above one under more load, the others of the run are not trusted either.
const MOST_RISES: usize = 3;
const SHARE_OF_RISES: f64 = 0.20;

/// A name as a word of an id.
pub fn word(name: &str) -> String {
    Some(id_word(name, MAX_WORD)).filter(|word| !word.is_empty()).unwrap_or_else(|| "other".to_owned())
}

/// Words that were given, so that no id is given twice.
#[derive(Default)]
pub struct Words(HashMap<String, usize>);

impl Words {
    /// The word, with a number if it was given before.
    pub fn unique(&mut self, word: String) -> String {
        let count = self.0.entry(word.clone()).or_default();
        *count += 1;
        if *count > 1 { format!("{word}-{count}") } else { word }
    }
}

/// Where the caller knows no caches, those that any machine has, if the array may fit them: an array of each thread in a cache of its own.
pub fn smallest_caches(array: Option<f64>, threads: f64, known: &Known, evidence: &mut Evidence) {
    if known.llc.is_none() && array.is_some_and(|array| array <= SMALLEST * threads) {
        evidence.put(LLC_BYTES, SMALLEST * threads);
        evidence.put(LLC_BASIS, "the smallest first-level cache of any server".to_owned());
    }
}

/// The same for one thread that copies so many bytes a second, or runs code for x86-64.
pub fn caches_of_fast_core(
    array: Option<f64>,
    rate: f64,
    is_x86: bool,
    known: &Known,
    evidence: &mut Evidence,
) {
    let (caches, basis) = match (rate >= FAST, is_x86) {
        (true, _) => (SMALLEST_OF_FAST, "the smallest caches of a core that copies so fast"),
        (_, true) => (SMALLEST_OF_X86, "the smallest caches of an x86-64 processor"),
        _ => return,
    };
    if known.llc.is_none() && array.is_some_and(|array| array < CACHES * caches) {
        evidence.put(LLC_BYTES, caches);
        evidence.put(LLC_BASIS, basis.to_owned());
    }
}

/// The same for threads that together move so many bytes a second.
pub fn caches_of_fast_threads(
    array: Option<f64>,
    rate: f64,
    threads: f64,
    known: &Known,
    evidence: &mut Evidence,
) {
    let rate = if rate >= FAST_MACHINE { rate } else { rate / threads };
    caches_of_fast_core(array, rate, false, known, evidence);
}

/// Whether arrays of this size, one for each hardware thread of the machine, are not in its caches, whichever processor it has.
pub fn exceeds_any_cache(array: f64) -> bool {
    array >= CACHES * MOST_FOR_THREAD
}

/// Writes that each hardware thread has an array of this size, and the most cache that there is for it.
pub fn array_of_each_thread(array: f64, evidence: &mut Evidence) {
    evidence.put(INSTRUMENT_ARRAY, array);
    evidence.put(LLC_BYTES, MOST_FOR_THREAD);
    evidence.put(LLC_BASIS, "the most that a processor has for each thread".to_owned());
}

/// Writes the most cache that the only thread can have, where the caller knows none, and the array is not in it.
pub fn caches_of_one_thread(array: Option<f64>, known: &Known, evidence: &mut Evidence) {
    if known.llc.is_none() && array.is_some_and(|array| array >= CACHES * MOST_FOR_CORE) {
        evidence.put(LLC_BYTES, MOST_FOR_CORE);
        evidence.put(LLC_BASIS, "the most that a processor has for one core".to_owned());
    }
}

/// Whether an array is not in the caches that the caller knows.
pub fn exceeds_known(array: f64, known: &Known) -> bool {
    known.llc.as_ref().is_some_and(|(caches, _)| array >= CACHES * caches)
}

/// A latency in nanoseconds.
pub fn latency(
    tool: &'static str,
    part: String,
    name: String,
    value: Printed,
    memory: Option<Memory>,
) -> Quantity {
    Quantity {
        operation: Some(value.times(1e-9)),
        memory,
        ..Quantity::of(tool, part, name, value, Unit::NANOSECONDS, Better::Lower)
    }
}

/// The figure of a latency in an array of this size. A size that was asked for is that of a cache, where one holds it: the question is then its
/// latency. `is_asked` is `None` where the text does not show it.
pub fn in_array(mut quantity: Quantity, array: Option<f64>, is_asked: Option<bool>, known: &Known) -> Figure {
    let in_cache = is_asked != Some(false)
        && array.zip(known.llc.as_ref()).is_some_and(|(array, (caches, _))| array <= *caches);
    if let Some(memory) = &mut quantity.memory {
        (memory.array, memory.missing) = match (in_cache, is_asked) {
            (false, _) => (array, memory.missing),
            (true, None) => {
                (None, "the text does not show whether this size, which a cache holds, was asked for")
            }
            (true, Some(_)) => (None, ""),
        };
    }
    // A size that was asked for distinguishes the run from others.
    let mut figure = if is_asked == Some(true) { quantity.figure(known) } else { sized(quantity, known) };
    array
        .filter(|_| in_cache && is_asked.is_some())
        .into_iter()
        .for_each(|array| figure.conditions.set(WORKING_SET, array));
    figure
}

/// The figure of a tool that works on arrays of several sizes in one run: the size is evidence, and no condition that makes it another run's.
pub fn sized(mut quantity: Quantity, known: &Known) -> Figure {
    let array = quantity.memory.as_mut().and_then(|memory| memory.array.take());
    if let Some(memory) = quantity.memory.as_mut().filter(|_| array.is_some()) {
        memory.missing = "";
    }
    let mut figure = quantity.figure(known);
    array.into_iter().for_each(|array| figure.evidence.put(INSTRUMENT_ARRAY, array));
    figure
}

/// Where on an axis of numbers.
pub fn place(value: f64) -> Coordinate {
    Coordinate { value: CoordinateValue::Number(value), unit: None }
}

/// A matrix as tools print it: for each row its node, and a value for each node that has one.
pub fn nodes(from: &str, to: &str) -> At {
    let node = |name: &str| Coordinate {
        value: number(name).map_or_else(|| CoordinateValue::Name(name.to_owned()), CoordinateValue::Number),
        unit: None,
    };
    At::from([("from".to_owned(), node(from)), ("to".to_owned(), node(to))])
}

/// One load: what it waits between its accesses, the latency in ns, the bandwidth in GB/s.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub delay: f64,
    pub latency: Printed,
    pub bandwidth: Printed,
}

/// Latencies under load, which fall with the load.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The tool's word in ids, and the rest of the id before the delay.
    pub tool: &'static str,
    pub part: String,
    /// The tool's name.
    pub by: &'static str,
    pub points: Vec<Point>,
    /// The latency without load, in ns.
    pub idle: Option<f64>,
    /// Bytes of the array that is walked, where the text shows it, and the caches are smaller.
    pub array: Option<f64>,
    /// Why the size of the array is unknown.
    pub missing: &'static str,
}

impl Curve {
    /// A latency for each load, and the highest bandwidth.
    pub fn figures(mut self, known: &Known) -> Vec<Figure> {
        self.points.retain(|point| point.latency.value > 0.0 && point.delay.is_finite());
        self.points.truncate(MOST_ROWS);
        // More delay is less load.
        self.points.sort_by(|one, other| one.delay.total_cmp(&other.delay));
        let least = self.least_so_far();
        let rises = |at: usize| {
            let point = &self.points[at].latency;
            least[at].is_some_and(|least| point.value - point.off > least * (1.0 + RISE))
        };
        let rising: Vec<usize> = (0..self.points.len()).filter(|at| rises(*at)).collect();
        let share = rising.len() as f64 / self.points.len().max(1) as f64;
        let is_disturbed = rising.len() >= MOST_RISES && share >= SHARE_OF_RISES;
        let last = rising.last().copied().filter(|_| is_disturbed);
        let mut figures: Vec<Figure> = Vec::new();
        for (at, point) in self.points.iter().enumerate() {
            let part = format!("{}.d{}", self.part, point.delay);
            let name = format!("latency at delay {} by {}", point.delay, self.by);
            let memory =
                Memory { kernel: "latency", array: self.array, missing: self.missing, ..Memory::default() };
            let mut figure = sized(latency(self.tool, part, name, point.latency, Some(memory)), known);
            figure.series = Some(format!("{SUITE}.{}.{}", self.tool, self.part));
            figure.at = At::from([("delay".to_owned(), place(point.delay))]);
            if let Some(round) = figure.rounds.first_mut() {
                least[at].into_iter().for_each(|least| round.evidence.put(UNDER_MORE_LOAD, least));
                self.idle.into_iter().for_each(|idle| round.evidence.put(UNLOADED, idle));
                if last.is_some_and(|last| at <= last) {
                    round.evidence.put(DISTURBED, share);
                }
            }
            figures.push(figure);
        }
        let highest = self
            .points
            .iter()
            .map(|point| point.bandwidth)
            .reduce(|one, other| if other.value > one.value { other } else { one });
        figures.extend(highest.filter(|highest| highest.value > 0.0).map(|highest| {
            let (part, name) =
                (format!("{}.bandwidth", self.part), format!("highest bandwidth under load by {}", self.by));
            bandwidth(self.tool, part, name, highest, None, self.missing).figure(known)
        }));
        figures
    }

    /// The lowest latency of those with more load, for each.
    fn least_so_far(&self) -> Vec<Option<f64>> {
        let floor = floor(&self.points, self.idle);
        let mut least: Option<f64> = None;
        let all = self.points.iter().map(|point| {
            let before = least;
            if point.latency.value >= floor {
                least = Some(least.map_or(point.latency.value, |least| least.min(point.latency.value)));
            }
            before
        });
        all.collect()
    }

    /// The lowest latency under load.
    pub fn least(points: &[Point], idle: Option<f64>) -> Option<f64> {
        let floor = floor(points, idle);
        let all = points.iter().map(|point| point.latency.value).filter(|value| *value > 0.0);
        all.filter(|value| *value >= floor).reduce(f64::min)
    }
}

/// What a latency must have for the others to be compared with it: one or two that are below the one without load are themselves wrong.
fn floor(points: &[Point], idle: Option<f64>) -> f64 {
    let floor = idle.map_or(0.0, |idle| idle * (1.0 - RISE));
    let below = points.iter().filter(|point| point.latency.value < floor).count();
    if below < MOST_RISES && below < points.len() { floor } else { 0.0 }
}

/// A latency without load, against those under load of the same run.
pub fn against_load(figure: &mut Figure, least: Option<f64>) {
    if let (Some(least), Some(round)) = (least, figure.rounds.first_mut()) {
        round.evidence.put(UNDER_MORE_LOAD, least);
    }
}

/// A bandwidth in GB/s that counts what goes between caches and memory.
pub fn bandwidth(
    tool: &'static str,
    part: String,
    name: String,
    value: Printed,
    array: Option<f64>,
    missing: &'static str,
) -> Quantity {
    let convention = Some(figure::Convention::EstimatedTraffic);
    let memory = Memory { kernel: "mix", array, counted: LINE, convention, missing, ..Memory::default() };
    Quantity { memory: Some(memory), ..Quantity::of(tool, part, name, value, Unit::GB_PER_S, Better::Higher) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        assert_eq!(word(" C copy backwards (32 byte blocks) "), "c-copy-backwards-32-byte-blocks");
        assert_eq!((word("x86-64-movsq"), word("???")), ("x86-64-movsq".to_owned(), "other".to_owned()));
        let mut words = Words::default();
        assert_eq!(
            [words.unique("a".into()), words.unique("a".into()), words.unique("b".into())],
            ["a", "a-2", "b"]
        );
    }
}
