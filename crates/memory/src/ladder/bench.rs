//! The worker: fills a region for each thread, then reads its first part over and over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::plan::Setup;
use crate::dose;
use crate::region::Region;
use crate::simd::sweep::{LINE, Sweep, sweep};

/// Seconds of a sample: with [`SAMPLES`] of them, and one that is not counted, a round lasts ten clock ticks of 10 ms, so that tick accounting (steal,
/// foreign load) can say something.
const SAMPLE: f64 = 0.025;
/// Timed samples of a round at most.
const SAMPLES: usize = 3;
/// Bytes of one call: some milliseconds of memory, so that a thread's CPU is looked at now and then.
const CALL_BYTES: u64 = 64 << 20;
/// Pages of each region whose node is asked for.
const PAGE_SAMPLES: usize = 256;
/// Words differ, and their sum is known for any number of them: word i is i x this + 1.
const SLOPE: u64 = 0x9E37_79B9_7F4A_7C15;

/// How a size is read, once known.
#[derive(Clone, Copy, Debug)]
struct Dose {
    passes: u64,
    samples: usize,
}

#[derive(Debug)]
struct Task {
    bytes: u64,
    dose: Option<Dose>,
    /// Whether every sum was right; `None` before the first.
    right: Option<bool>,
}

struct LadderBench {
    pool: Pool,
    watch: Watch,
    sweep: Sweep,
    /// One for each thread.
    regions: Arc<Vec<Region>>,
    /// NUMA nodes near to each thread.
    near: Vec<Vec<u32>>,
    tasks: BTreeMap<String, Task>,
    at_start: Evidence,
}

/// The sums of the words in even and in odd lines of the first `bytes` bytes.
fn sums_of(bytes: u64) -> [u64; 2] {
    let words = LINE as u64 / 8;
    let pairs = bytes / LINE as u64 / 2;
    // Numbers of the first words of even lines: 0, 16, 32, …
    let firsts = u128::from(pairs) * u128::from(pairs.saturating_sub(1)) * u128::from(words);
    [0, words].map(|first| {
        // Each of the words of a line once: 0 to 7 beyond its first, or 8 to 15.
        let within = pairs * (words * first + words * (words - 1) / 2);
        let numbers = (firsts as u64).wrapping_mul(words).wrapping_add(within);
        numbers.wrapping_mul(SLOPE).wrapping_add(pairs * words)
    })
}

/// Maps and fills the regions, each by its thread, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let machine = &setup.machine;
    let placement = Placement { places: "list", bind: "close", threads: setup.threads.clone() };
    let clock = Clock::of(machine);
    let pool = Pool::new(&placement, clock).map_err(|error| error.to_string())?;
    let watch = Watch::new(&Tree::live(), machine, &placement.cpus());

    let most = setup.tasks.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as usize;
    let map = |_: &_| {
        Region::map(most, setup.pages, None).map_err(|error| {
            format!(
                "{} on {} pages could not be mapped: {error}; a limit on address space (ulimit -v) or \
                 vm.overcommit_memory=2 may forbid it: end --sizes earlier",
                figure::format::bytes(most as f64),
                setup.pages.word()
            )
        })
    };
    let regions = Arc::new(setup.threads.iter().map(map).collect::<Result<Vec<_>, _>>()?);
    let near = |place: &figure::CpuList| place.iter().filter_map(|cpu| machine.cpu(cpu)?.node).collect();
    let tasks =
        setup.tasks.iter().map(|(id, bytes)| (id.clone(), Task { bytes: *bytes, dose: None, right: None }));
    let mut bench = LadderBench {
        pool,
        watch,
        sweep: sweep(setup.simd),
        regions,
        near: setup.threads.iter().map(near).collect(),
        tasks: tasks.collect(),
        at_start: Evidence::default(),
    };
    bench.fill()?;
    bench.at_start = bench.obtained();
    let facts = bench.facts();
    Ok((Box::new(bench), facts))
}

impl LadderBench {
    /// Writes every word, each thread its own region: the first touch.
    fn fill(&self) -> Result<(), String> {
        let regions = self.regions.clone();
        self.each(move |seat| {
            let region = &regions[seat.index];
            let start = region.start().cast::<u64>();
            for word in 0..region.bytes() / size_of::<u64>() {
                // SAFETY: inside the thread's own region.
                unsafe { start.add(word).write((word as u64).wrapping_mul(SLOPE).wrapping_add(1)) };
            }
        })
        .map(|_| ())
    }

    fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&Seat) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, String> {
        self.pool.run(job).map_err(|error| error.to_string())
    }

    /// What was obtained, true of every figure.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let evidence = &mut facts.evidence;
        self.pool.clock.write(evidence);
        evidence.put(PLACE_READBACK, self.pool.readback);
        // A sum that is right has read every word.
        evidence.put(MEMORY_NONZERO, true);
        evidence.put_unknown(VERIFIED, "told when all rounds are measured; the run ended before");
        evidence.merge(self.at_start.clone());
        facts
    }

    /// Size and place of the pages, as they are now.
    fn obtained(&self) -> Evidence {
        let mut evidence = Evidence::default();
        let (mut resident, mut huge, mut page) =
            (Reading::Value(0.0), Reading::Value(0.0), Reading::default());
        let (mut local, mut sampled) = (0usize, 0usize);
        let mut blind = None;
        for (region, near) in self.regions.iter().zip(&self.near) {
            let share = |bytes: u64| {
                (bytes as f64 / region.bytes().max(1) as f64).min(1.0) / self.regions.len() as f64
            };
            match region.backing() {
                Reading::Value(backing) => {
                    resident = resident.map(|sum| sum + share(backing.resident));
                    huge = huge.map(|sum| sum + share(backing.huge));
                    page = Reading::Value(backing.page as f64);
                }
                Reading::Unknown(reason) => {
                    (resident, huge) = (Reading::Unknown(reason.clone()), Reading::Unknown(reason.clone()));
                    page = Reading::Unknown(reason);
                }
            }
            match region.nodes(PAGE_SAMPLES) {
                Reading::Value(nodes) => {
                    sampled += nodes.len();
                    local += nodes.iter().flatten().filter(|node| near.contains(node)).count();
                }
                Reading::Unknown(reason) => blind = Some(reason),
            }
            if near.is_empty() {
                blind = Some("the kernel shows no NUMA node for the CPUs in use".to_owned());
            }
        }
        evidence.put_reading(MEMORY_RESIDENT, resident);
        evidence.put_reading(PAGES_HUGE_SHARE, huge);
        evidence.put_reading(PAGES_SIZE, page);
        let share = local as f64 / sampled.max(1) as f64;
        evidence.put_reading(NUMA_LOCAL_SHARE, blind.map_or(Reading::Value(share), Reading::Unknown));
        evidence
    }

    /// Reads of one sample on one thread, in calls of a few milliseconds; whether every sum was right. `first` is the number of
    /// its first pass.
    fn work(&self, bytes: u64, passes: u64, first: u64) -> impl Fn(&Seat) -> bool + Send + Sync + use<> {
        let (regions, sweep) = (self.regions.clone(), self.sweep);
        let [even, odd] = sums_of(bytes);
        let most = (CALL_BYTES / bytes).max(1);
        move |seat| {
            let (mut done, mut right) = (0, true);
            while done < passes {
                let now = most.min(passes - done);
                // Where a call is one pass, even and odd lines take turns from call to call.
                let swapped = (done + first) % 2 == 1;
                // SAFETY: the thread's region holds as many bytes, a multiple of a turn, and is never written again; it
                // begins on a page; the plan chose an instruction set that there is.
                let sum = unsafe { sweep(regions[seat.index].start(), bytes as usize, now, swapped) };
                let (one, other) = if swapped { (odd, even) } else { (even, odd) };
                right &= sum == one.wrapping_mul(now.div_ceil(2)).wrapping_add(other.wrapping_mul(now / 2));
                done += now;
                seat.glance();
            }
            right
        }
    }

    /// Finds passes and samples by passes that are not counted.
    fn dose(&self, bytes: u64) -> Result<Dose, String> {
        // A tenth of a sample is long enough to tell by.
        let pass = dose::pass_seconds(SAMPLE / 10.0, |passes| {
            let work = self.work(bytes, passes, 0);
            let seconds = self.each(move |seat| {
                let _ = seat.wait();
                let start = seat.clock.now();
                work(seat);
                seat.clock.seconds(start, seat.clock.now())
            })?;
            Ok(seconds.into_iter().fold(0.0, f64::max))
        })?;
        let passes = (SAMPLE / pass).ceil().max(1.0) as u64;
        let sample = pass * passes as f64;
        let samples = (SAMPLE * SAMPLES as f64 / sample).round() as usize;
        Ok(Dose { passes, samples: samples.clamp(1, SAMPLES) })
    }
}

impl Bench for LadderBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let task = self.tasks.get(id).ok_or_else(|| format!("no figure {id}"))?;
        let bytes = task.bytes;
        let dose = match task.dose {
            Some(dose) => dose,
            None => self.dose(bytes)?,
        };
        let works: Vec<_> = (0..2).map(|first| self.work(bytes, dose.passes, first)).collect();
        let wrong = Arc::new(AtomicBool::new(false));
        let seen = wrong.clone();
        // The first sample is not counted: it brings the caches to what passes leave in them.
        let measured = measure::round(&self.pool, &self.watch, dose.samples + 1, move |seat, sample| {
            // With an odd number of passes each sample begins with the other lines.
            if !works[sample % 2](seat) {
                seen.store(true, Ordering::Relaxed);
            }
        })
        .map_err(|error| error.to_string())?;
        let samples = measured.samples.get(1..).unwrap_or_default();
        if samples.is_empty() || samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!("{id}: the clock ({}) gave no time for a sample", self.pool.clock.basis));
        }
        let read = (bytes * dose.passes * self.pool.threads() as u64) as f64;
        if let Some(task) = self.tasks.get_mut(id) {
            task.dose = Some(dose);
            task.right = Some(task.right.unwrap_or(true) && !wrong.load(Ordering::Relaxed));
        }
        Ok(Round::new(
            measured.started,
            measured.duration,
            samples.iter().map(|seconds| read / seconds / 1e9).collect(),
            measured.evidence,
        ))
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let mut evidence = self.obtained();
        // The worse of start and end: the kernel may join pages, move them, or take them away meanwhile.
        for key in [MEMORY_RESIDENT, PAGES_HUGE_SHARE, NUMA_LOCAL_SHARE] {
            if let [Some(start), Some(end)] =
                [&self.at_start, &evidence].map(|ends| ends.get(key).into_value())
            {
                evidence.put(key, start.min(end));
            }
        }
        let mut facts = Facts { evidence, ..Facts::default() };
        // A figure without rounds here may have some from a worker that died, of which nothing is known.
        for (id, right) in self.tasks.iter().filter_map(|(id, task)| Some((id, task.right?))) {
            let mut evidence = Evidence::default();
            evidence.put(VERIFIED, right);
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_known_without_reading() {
        for lines in [2u64, 4, 8, 64, 4096, 100_000] {
            let mut sums = [0u64; 2];
            for word in 0..lines * 8 {
                let sum = &mut sums[(word / 8 % 2) as usize];
                *sum = sum.wrapping_add(word.wrapping_mul(SLOPE).wrapping_add(1));
            }
            assert_eq!(sums_of(lines * LINE as u64), sums, "{lines} lines");
        }
    }
}
