//! One round: work on all threads of a pool, timed, with what was seen around it.
//!
//! Order of events: canary on every CPU; counters of the machine; then on each thread its own counters, and for each
//! sample a barrier, the work between two readings of the clock, a glance at the CPU; its counters again;
//! counters of the machine; canary. A sample lasts from the first start to the last stop.

use std::sync::Arc;

use figure::evidence::*;
use figure::{Evidence, Reading, stats};
use machine::counters::Watch;
use rustix::time::{ClockId, clock_gettime};

use crate::canary;
use crate::clock::{Clock, Ticks};
use crate::pmu;
use crate::pool::{Pool, PoolError, Seat};
use crate::thread_counters::{Counters, children_cpu_time, process_cpu_time};

/// Why there is no canary.
const NO_CLOCK: &str = "an emulated processor has no clock";

/// A round as the lab saw it; the suite makes values of its own unit from the seconds.
#[derive(Clone, Debug)]
pub struct Measured {
    /// RFC 3339.
    pub started: String,
    /// Wall-clock seconds that the evidence covers.
    pub duration: f64,
    /// Seconds of each sample, from the first thread's start to the last one's stop.
    pub samples: Vec<f64>,
    /// Seconds that each thread worked in the median sample.
    pub thread_seconds: Vec<f64>,
    /// What was seen.
    pub evidence: Evidence,
}

/// What one thread brings back.
struct Stint {
    stamps: Vec<(Ticks, Ticks)>,
    /// Seconds between the two readings of the counters.
    seconds: f64,
    counters: Counters,
    glances: (u64, u64),
    /// First CPU of the thread's place.
    cpu: u32,
}

/// Runs one round of `samples` samples. `work` is called once for each sample on each thread, with the
/// number of the sample; it should call [`Seat::glance`] now and then.
///
/// # Errors
/// [`PoolError::Job`] when the work panics.
pub fn round<F>(pool: &Pool, watch: &Watch, samples: usize, work: F) -> Result<Measured, PoolError>
where
    F: Fn(&Seat, usize) + Send + Sync + 'static,
{
    round_giving(pool, watch, samples, work).map(|(measured, _)| measured)
}

/// A round whose threads bring something back from each sample: for work in which threads have different parts, so
/// that what counts is not the time from the first start to the last stop. Results by thread, then by sample.
///
/// # Errors
/// [`PoolError::Job`] when the work panics.
pub fn round_giving<T, F>(
    pool: &Pool,
    watch: &Watch,
    samples: usize,
    work: F,
) -> Result<(Measured, Vec<Vec<T>>), PoolError>
where
    T: Send + 'static,
    F: Fn(&Seat, usize) -> T + Send + Sync + 'static,
{
    let work = Arc::new(work);
    let (stints, around) = around(pool, watch, || {
        let children = children_cpu_time();
        let stints = pool.run(move |seat| stint(seat, samples, &*work));
        (stints, children_cpu_time() - children)
    })?;
    let (stints, given): (Vec<Stint>, Vec<Vec<T>>) = stints?.into_iter().unzip();
    let mut evidence = around.evidence;
    write_counters(&mut evidence, &stints);
    let (samples, thread_seconds) = write_times(&mut evidence, &pool.clock, &stints);
    let (started, duration) = (around.started, around.duration);
    Ok((Measured { started, duration, samples, thread_seconds, evidence }, given))
}

/// What the lab saw around something.
#[derive(Clone, Debug)]
pub struct Around {
    /// RFC 3339.
    pub started: String,
    /// Wall-clock seconds that the evidence covers.
    pub duration: f64,
    /// What was seen: canary, clocks, the machine's counters. Nothing of threads.
    pub evidence: Evidence,
}

/// Does something that keeps the pool's CPUs busy, and sees what goes on around it. `body` also gives the CPU
/// seconds that others used on our behalf (a program that we started): they are not foreign.
///
/// # Errors
/// [`PoolError::Job`] when the canary fails.
pub fn around<T>(
    pool: &Pool,
    watch: &Watch,
    body: impl FnOnce() -> (T, f64),
) -> Result<(T, Around), PoolError> {
    let canary_before = pool.run(|seat| canary::gigahertz(&seat.clock))?;
    let started = crate::timestamp();
    let (clocks, cpu_time, counters) = (Clocks::now(), process_cpu_time(), watch.snapshot());
    let (result, on_our_behalf) = body();
    let (after, clocks) = (watch.snapshot(), Clocks::now().since(&clocks));
    let own = process_cpu_time() - cpu_time + on_our_behalf;
    let canary_after = pool.run(|seat| canary::gigahertz(&seat.clock))?;

    let mut evidence = watch.delta(&counters, &after);
    // What tick accounting charges to these CPUs beyond our own CPU time.
    let foreign = watch.busy(&counters, &after).map(|busy| (busy - own).max(0.0));
    evidence.put_reading(CPU_FOREIGN, foreign);
    clocks.write(&mut evidence);
    if watch.is_emulated() {
        // What an instruction takes there is the emulator's affair, and changes all the time.
        for key in [CANARY_BEFORE, CANARY_AFTER, CANARY_CHANGE, CANARY_SPREAD] {
            evidence.put_unknown(key, NO_CLOCK);
        }
    } else {
        write_canary(&mut evidence, &canary_before, &canary_after);
    }
    Ok((result, Around { started, duration: clocks.raw, evidence }))
}

fn stint<T>(seat: &Seat, samples: usize, work: &(impl Fn(&Seat, usize) -> T + ?Sized)) -> (Stint, Vec<T>) {
    let (mut stamps, mut given) = (Vec::with_capacity(samples), Vec::with_capacity(samples));
    seat.take_glances();
    let (begun, before) = (seat.clock.now(), seat.counters.read());
    for sample in 0..samples {
        if seat.wait().is_err() {
            break;
        }
        seat.glance();
        let start = seat.clock.now();
        let result = work(seat, sample);
        let stop = seat.clock.now();
        seat.glance();
        stamps.push((start, stop));
        given.push(result);
    }
    let counters = seat.counters.read().since(&before);
    let seconds = seat.clock.seconds(begun, seat.clock.now());
    let cpu = seat.place.first().unwrap_or(0);
    (Stint { stamps, seconds, counters, glances: seat.take_glances(), cpu }, given)
}

/// The system's clocks at one moment, or how far each went, in seconds.
struct Clocks {
    raw: f64,
    monotonic: f64,
    boottime: f64,
    realtime: f64,
}

impl Clocks {
    fn now() -> Self {
        let seconds = |id| {
            let now = clock_gettime(id);
            now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
        };
        Clocks {
            raw: seconds(ClockId::MonotonicRaw),
            monotonic: seconds(ClockId::Monotonic),
            boottime: seconds(ClockId::Boottime),
            realtime: seconds(ClockId::Realtime),
        }
    }

    fn since(&self, earlier: &Clocks) -> Clocks {
        Clocks {
            raw: self.raw - earlier.raw,
            monotonic: self.monotonic - earlier.monotonic,
            boottime: self.boottime - earlier.boottime,
            realtime: self.realtime - earlier.realtime,
        }
    }

    fn write(&self, evidence: &mut Evidence) {
        evidence.put(CLOCK_SUSPENDED, self.boottime - self.monotonic);
        evidence.put(CLOCK_STEPPED, self.realtime - self.monotonic);
    }
}

fn write_canary(evidence: &mut Evidence, before: &[f64], after: &[f64]) {
    let known = |value: Option<f64>| Reading::or_unknown(value, "no thread gave a reading");
    evidence.put_reading(CANARY_BEFORE, known(stats::median(before)));
    evidence.put_reading(CANARY_AFTER, known(stats::median(after)));
    let change = before.iter().zip(after).map(|(before, after)| (after / before - 1.0).abs());
    evidence.put_reading(CANARY_CHANGE, known(change.reduce(f64::max)));
    let spread = stats::range(before).map(|(slowest, fastest)| 1.0 - slowest / fastest);
    evidence.put_reading(CANARY_SPREAD, known(spread));
}

fn write_counters(evidence: &mut Evidence, stints: &[Stint]) {
    let sum = |of: fn(&Counters) -> f64| stints.iter().map(|stint| of(&stint.counters)).sum::<f64>();
    evidence.put(VOLUNTARY_SWITCHES, sum(|counters| counters.voluntary_switches));
    evidence.put(INVOLUNTARY_SWITCHES, sum(|counters| counters.involuntary_switches));
    evidence.put(FAULT_MINOR, sum(|counters| counters.minor_faults));
    evidence.put(FAULT_MAJOR, sum(|counters| counters.major_faults));
    let delays = all(stints.iter().map(|stint| &stint.counters.run_delay));
    // Threads that are done spin, or yield, until all are: what is neither CPU time nor waiting for it is no work of theirs.
    let off = delays.clone().map(|all| {
        let off =
            all.iter().zip(stints).map(|(delay, stint)| stint.seconds - stint.counters.cpu_time - delay);
        off.fold(0.0, f64::max)
    });
    evidence.put_reading(OFF_CPU_WORST, off);
    evidence.put_reading(RUN_DELAY_WORST, delays.clone().map(|all| all.into_iter().fold(0.0, f64::max)));
    evidence.put_reading(RUN_DELAY, delays.map(|all| all.iter().sum()));
    let migrations = all(stints.iter().map(|stint| &stint.counters.migrations));
    evidence.put_reading(SCHED_MIGRATIONS, migrations.map(|all| all.iter().sum()));
    let ipc: Vec<_> = stints.iter().map(|stint| pmu::instructions_per_cycle(&stint.counters.pmu)).collect();
    evidence.put_reading(THREAD_IPC, all(ipc.iter()));
    evidence.put(PLACE_SAMPLES, stints.iter().map(|stint| stint.glances.0 as f64).sum());
    evidence.put(PLACE_STRAYED, stints.iter().map(|stint| stint.glances.1 as f64).sum());
}

/// All values, or the reason of the first that is unknown.
fn all<'a>(readings: impl Iterator<Item = &'a Reading<f64>>) -> Reading<Vec<f64>> {
    let mut values = Vec::new();
    for reading in readings {
        match reading {
            Reading::Value(value) => values.push(*value),
            Reading::Unknown(reason) => return Reading::unknown(reason),
        }
    }
    Reading::Value(values)
}

/// Seconds of each sample, and of each thread in the median sample; writes how even the threads were in it.
fn write_times(evidence: &mut Evidence, clock: &Clock, stints: &[Stint]) -> (Vec<f64>, Vec<f64>) {
    let taken = stints.iter().map(|stint| stint.stamps.len()).min().unwrap_or(0);
    let stamps = |sample: usize| stints.iter().map(move |stint| stint.stamps[sample]);
    let samples: Vec<f64> = (0..taken)
        .map(|sample| {
            let start = stamps(sample).map(|(start, _)| start).min().unwrap_or(0);
            let stop = stamps(sample).map(|(_, stop)| stop).max().unwrap_or(0);
            clock.seconds(start, stop)
        })
        .collect();
    let known = |value: Option<f64>| Reading::or_unknown(value, "no sample was taken");
    evidence.put_reading(SAMPLE_SHORTEST, known(samples.iter().copied().reduce(f64::min)));
    let mut order: Vec<usize> = (0..taken).collect();
    order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let Some(&median) = order.get(taken / 2) else { return (samples, Vec::new()) };

    let seconds: Vec<f64> = stamps(median).map(|(start, stop)| clock.seconds(start, stop)).collect();
    let starts = || stamps(median).map(|(start, _)| start);
    let first = starts().min().unwrap_or(0);
    evidence.put(THREAD_STARTS, starts().map(|start| clock.seconds(first, start)).collect());
    evidence.put(THREAD_STOPS, stamps(median).map(|(_, stop)| clock.seconds(first, stop)).collect());
    let skew = clock.seconds(first, starts().max().unwrap_or(first));
    evidence.put(THREAD_START_SKEW, skew);
    evidence.put_reading(THREAD_SECONDS_MIN, known(stats::quantile(&seconds, 0.0)));
    evidence.put_reading(THREAD_SECONDS_MEDIAN, known(stats::median(&seconds)));
    evidence.put_reading(THREAD_SECONDS_MAX, known(stats::quantile(&seconds, 1.0)));
    let slowest = seconds.iter().zip(stints).max_by(|a, b| a.0.total_cmp(b.0));
    evidence.put_reading(THREAD_SLOWEST_CPU, known(slowest.map(|(_, stint)| f64::from(stint.cpu))));
    (samples, seconds)
}
