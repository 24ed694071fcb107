//! One round: timed work on all threads of a pool, with the evidence around it.
//!
//! Order of events: canary on every CPU; machine counters; then on each thread its own counters and, for each
//! sample, a barrier and the work between two clock readings and two CPU samples; thread counters; machine
//! counters; canary. A sample lasts from the first start to the last stop.

use std::sync::Arc;

use figure::evidence::*;
use figure::{Evidence, Reading, stats};
use machine::counters::Watch;
use rustix::time::ClockId;

use crate::canary;
use crate::clock::{Clock, Ticks, system_seconds};
use crate::pmu;
use crate::pool::{Pool, PoolError, WorkerThread};
use crate::thread_counters::{Counters, children_cpu_time, process_cpu_time};

const NO_CLOCK: &str = "an emulated processor has no clock";

/// A measured round in seconds. The suite converts these to its own unit.
#[derive(Clone, Debug)]
pub struct Measured {
    pub started: String,
    /// Wall-clock seconds that the evidence covers.
    pub duration: f64,
    /// Seconds of each sample, from the first thread's start to the last one's stop.
    pub samples: Vec<f64>,
    /// Seconds that each thread worked in the median sample.
    pub thread_seconds: Vec<f64>,
    pub evidence: Evidence,
}

struct ThreadResult {
    stamps: Vec<(Ticks, Ticks)>,
    /// Seconds between the two readings of the counters.
    seconds: f64,
    counters: Counters,
    /// CPU samples, and how many of them were off the thread's place.
    cpu_samples: (u64, u64),
    /// The first CPU of the thread's place.
    cpu: u32,
}

/// Runs one round of `samples` samples. `work` is called once per sample on each thread, with the index of
/// the sample. It should call [`WorkerThread::sample_cpu`] now and then.
pub fn round<F>(pool: &Pool, watch: &Watch, samples: usize, work: F) -> Result<Measured, PoolError>
where
    F: Fn(&WorkerThread, usize) + Send + Sync + 'static,
{
    round_with_values(pool, watch, samples, work).map(|(measured, _)| measured)
}

/// A round with work that returns a value for each sample, because the time from the first start to the last stop
/// is not the result. Values are by thread, then by sample.
pub fn round_with_values<T, F>(
    pool: &Pool,
    watch: &Watch,
    samples: usize,
    work: F,
) -> Result<(Measured, Vec<Vec<T>>), PoolError>
where
    T: Send + 'static,
    F: Fn(&WorkerThread, usize) -> T + Send + Sync + 'static,
{
    let work = Arc::new(work);
    let (results, around) = around(pool, watch, || {
        let children = children_cpu_time();
        let results = pool.run(move |thread| run_samples(thread, samples, &*work));
        (results, children_cpu_time() - children)
    })?;
    let (threads, values): (Vec<ThreadResult>, Vec<Vec<T>>) = results?.into_iter().unzip();
    let Around { started, duration, mut evidence } = around;
    write_counters(&mut evidence, &threads);
    let (samples, thread_seconds) = write_times(&mut evidence, &pool.clock, &threads);
    Ok((Measured { started, duration, samples, thread_seconds, evidence }, values))
}

#[derive(Clone, Debug)]
pub struct Around {
    /// Start in RFC 3339.
    pub started: String,
    /// Wall-clock seconds that the evidence covers.
    pub duration: f64,
    /// Canary, clocks and machine counters; no counters of threads.
    pub evidence: Evidence,
}

/// Runs work that keeps the pool's CPUs busy, and collects the evidence around it. `body` also returns the
/// CPU seconds of programs that it started, which are not foreign load.
pub fn around<T>(
    pool: &Pool,
    watch: &Watch,
    body: impl FnOnce() -> (T, f64),
) -> Result<(T, Around), PoolError> {
    let canary_before = pool.run(|thread| canary::gigahertz(&thread.clock))?;
    let started = crate::timestamp();
    let (clocks, cpu_time, counters) = (Clocks::now(), process_cpu_time(), watch.snapshot());
    let (result, programs) = body();
    let (after, clocks) = (watch.snapshot(), Clocks::now().since(&clocks));
    let truebench = process_cpu_time() - cpu_time + programs;
    let canary_after = pool.run(|thread| canary::gigahertz(&thread.clock))?;

    let mut evidence = watch.delta(&counters, &after);
    // The busy time of these CPUs by tick accounting, minus the CPU time of truebench. Ticks err both ways: of many short rounds
    // only a sum that keeps what is below zero is right.
    let own = truebench + watch.exits(&counters, &after);
    let foreign = watch.busy(&counters, &after).map(|busy| busy - own);
    evidence.put_reading(CPU_FOREIGN, foreign);
    evidence.put(CLOCK_SUSPENDED, clocks.suspended);
    evidence.put(CLOCK_STEPPED, clocks.stepped);
    if watch.is_emulated() {
        // There the time of an instruction depends on the emulator and changes all the time.
        for key in [CANARY_BEFORE, CANARY_AFTER, CANARY_CHANGE, CANARY_SPREAD] {
            evidence.put_unknown(key, NO_CLOCK);
        }
    } else {
        write_canary(&mut evidence, &canary_before, &canary_after);
    }
    Ok((result, Around { started, duration: clocks.raw, evidence }))
}

fn run_samples<T>(
    thread: &WorkerThread,
    samples: usize,
    work: &(impl Fn(&WorkerThread, usize) -> T + ?Sized),
) -> (ThreadResult, Vec<T>) {
    let (mut stamps, mut values) = (Vec::with_capacity(samples), Vec::with_capacity(samples));
    thread.take_cpu_samples();
    let (begin, before) = (thread.clock.now(), thread.counters.read());
    for sample in 0..samples {
        if thread.wait().is_err() {
            break;
        }
        thread.sample_cpu();
        let start = thread.clock.now();
        let value = work(thread, sample);
        let stop = thread.clock.now();
        thread.sample_cpu();
        stamps.push((start, stop));
        values.push(value);
    }
    let counters = thread.counters.read().since(&before);
    let seconds = thread.clock.seconds(begin, thread.clock.now());
    let cpu = thread.place.first().unwrap_or(0);
    (ThreadResult { stamps, seconds, counters, cpu_samples: thread.take_cpu_samples(), cpu }, values)
}

/// Seconds of CLOCK_MONOTONIC_RAW, and by how many boot time and real time are ahead of CLOCK_MONOTONIC.
struct Clocks {
    raw: f64,
    suspended: f64,
    stepped: f64,
}

impl Clocks {
    fn now() -> Self {
        let monotonic = system_seconds(ClockId::Monotonic);
        Clocks {
            raw: system_seconds(ClockId::MonotonicRaw),
            suspended: system_seconds(ClockId::Boottime) - monotonic,
            stepped: system_seconds(ClockId::Realtime) - monotonic,
        }
    }

    fn since(&self, earlier: &Clocks) -> Clocks {
        Clocks {
            raw: self.raw - earlier.raw,
            suspended: self.suspended - earlier.suspended,
            stepped: self.stepped - earlier.stepped,
        }
    }
}

fn write_canary(evidence: &mut Evidence, before: &[f64], after: &[f64]) {
    let reading = |value: Option<f64>| Reading::or_unknown(value, "no thread gave a reading");
    evidence.put_reading(CANARY_BEFORE, reading(stats::median(before)));
    evidence.put_reading(CANARY_AFTER, reading(stats::median(after)));
    let change = before.iter().zip(after).map(|(before, after)| (after / before - 1.0).abs());
    evidence.put_reading(CANARY_CHANGE, reading(change.reduce(f64::max)));
    let spread = stats::range(before).map(|(slowest, fastest)| 1.0 - slowest / fastest);
    evidence.put_reading(CANARY_SPREAD, reading(spread));
}

fn write_counters(evidence: &mut Evidence, threads: &[ThreadResult]) {
    let sum =
        |counter: fn(&Counters) -> f64| threads.iter().map(|thread| counter(&thread.counters)).sum::<f64>();
    evidence.put(VOLUNTARY_SWITCHES, sum(|counters| counters.voluntary_switches));
    evidence.put(INVOLUNTARY_SWITCHES, sum(|counters| counters.involuntary_switches));
    evidence.put(FAULT_MINOR, sum(|counters| counters.minor_faults));
    evidence.put(FAULT_MAJOR, sum(|counters| counters.major_faults));
    let delays: Reading<Vec<f64>> = threads.iter().map(|thread| thread.counters.run_delay.clone()).collect();
    // Threads spin or yield until all are done: time that is neither CPU time nor run delay is off the CPU.
    let off_cpu = delays.clone().map(|delays| {
        let pairs = delays.iter().zip(threads);
        let off_cpu = pairs.map(|(delay, thread)| thread.seconds - thread.counters.cpu_time - delay);
        off_cpu.fold(0.0, f64::max)
    });
    evidence.put_reading(OFF_CPU_WORST, off_cpu);
    evidence.put_reading(RUN_DELAY_WORST, delays.clone().map(|all| all.into_iter().fold(0.0, f64::max)));
    evidence.put_reading(RUN_DELAY, delays.map(|all| all.iter().sum()));
    let migrations: Reading<Vec<f64>> =
        threads.iter().map(|thread| thread.counters.migrations.clone()).collect();
    evidence.put_reading(SCHED_MIGRATIONS, migrations.map(|all| all.iter().sum()));
    let ipc: Vec<_> =
        threads.iter().map(|thread| pmu::instructions_per_cycle(&thread.counters.pmu)).collect();
    evidence.put_reading(THREAD_IPC, ipc.into_iter().collect());
    evidence.put(PLACE_SAMPLES, threads.iter().map(|thread| thread.cpu_samples.0 as f64).sum());
    evidence.put(PLACE_STRAYED, threads.iter().map(|thread| thread.cpu_samples.1 as f64).sum());
}

/// Seconds of each sample, and of each thread in the median sample; their spread becomes evidence.
fn write_times(evidence: &mut Evidence, clock: &Clock, threads: &[ThreadResult]) -> (Vec<f64>, Vec<f64>) {
    let count = threads.iter().map(|thread| thread.stamps.len()).min().unwrap_or(0);
    let stamps = |sample: usize| threads.iter().map(move |thread| thread.stamps[sample]);
    let samples: Vec<f64> = (0..count)
        .map(|sample| {
            let start = stamps(sample).map(|(start, _)| start).min().unwrap_or(0);
            let stop = stamps(sample).map(|(_, stop)| stop).max().unwrap_or(0);
            clock.seconds(start, stop)
        })
        .collect();
    let reading = |value: Option<f64>| Reading::or_unknown(value, "no sample was taken");
    evidence.put_reading(SAMPLE_SHORTEST, reading(samples.iter().copied().reduce(f64::min)));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let Some(&median) = order.get(count / 2) else { return (samples, Vec::new()) };

    let seconds: Vec<f64> = stamps(median).map(|(start, stop)| clock.seconds(start, stop)).collect();
    let starts = || stamps(median).map(|(start, _)| start);
    let first = starts().min().unwrap_or(0);
    evidence.put(THREAD_STARTS, starts().map(|start| clock.seconds(first, start)).collect());
    evidence.put(THREAD_STOPS, stamps(median).map(|(_, stop)| clock.seconds(first, stop)).collect());
    let skew = clock.seconds(first, starts().max().unwrap_or(first));
    evidence.put(THREAD_START_SKEW, skew);
    evidence.put_reading(THREAD_SECONDS_MIN, reading(stats::quantile(&seconds, 0.0)));
    evidence.put_reading(THREAD_SECONDS_MEDIAN, reading(stats::median(&seconds)));
    evidence.put_reading(THREAD_SECONDS_MAX, reading(stats::quantile(&seconds, 1.0)));
    let slowest = seconds.iter().zip(threads).max_by(|a, b| a.0.total_cmp(b.0));
    evidence.put_reading(THREAD_SLOWEST_CPU, reading(slowest.map(|(_, thread)| f64::from(thread.cpu))));
    (samples, seconds)
}
