//! One run of the load: starts the processes with an allocator, leads them through the phases, and reads
//! their memory between phases.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::Ordering;
use std::time::Duration;

use figure::{CpuList, Reading, format};
use lab::copies::{Copies, CopiesSpec};
use lab::failure::Failure;
use serde::{Deserialize, Serialize};
use workload::alloc_load::parameters::{BUCKETS, FUNCTIONS, PHASES, Parameters, fields, lowest_ticks};
use workload::shared::Slot;

use crate::find::Installed;
use crate::memory::{self, Resident};
use crate::serving;

/// Bytes of a process outside of the load: code, stacks, memory that an allocator keeps for each thread.
const PROCESS_BYTES: f64 = 512e6;
/// Resident per requested bytes at which an allocator is stopped: the worst published ratio is 4.
const RUNAWAY: f64 = 8.0;

#[derive(Clone, Debug)]
pub struct Config<'a> {
    pub allocator: Option<&'a Installed>,
    /// The load of each thread.
    pub parameters: Parameters,
    /// The CPU of each thread, over all processes; empty for any.
    pub cpus: &'a [u32],
    pub allowed: &'a CpuList,
    /// Processes, of [`Parameters::threads`] threads each.
    pub processes: usize,
    /// Bytes that the load of all threads requests, including the slots.
    pub bytes: f64,
    /// Time after which a phase counts as hung.
    pub phase_timeout: Duration,
    /// Bytes of memory at which the processes are stopped, together.
    pub available: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Nanoseconds in which steps were executed.
    pub wall: f64,
    /// Ticks of the time stamp counter in the same time.
    pub ticks: f64,
    /// CPU cycles in user code in the same time, if there is a counter.
    pub cycles: Option<f64>,
    /// Nanoseconds of CPU time.
    pub cpu: f64,
    /// Nanoseconds of CPU time in the kernel.
    pub system: f64,
    pub minor: f64,
    pub major: f64,
    /// Nanoseconds on a run queue, if known.
    pub run_delay: Option<f64>,
    /// Voluntary and involuntary context switches.
    pub switches: (f64, f64),
    pub allocated: f64,
    pub freed: f64,
    /// Begin and end, in nanoseconds of CLOCK_MONOTONIC.
    pub window: (u64, u64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ThreadResult {
    /// Setup, steady, exit.
    pub phases: [Phase; PHASES.len()],
    /// Requested bytes live after setup.
    pub live: f64,
    /// Requested bytes live after the steady phase.
    pub live_end: f64,
    /// Peak of the requested live bytes in the steady phase.
    pub peak: f64,
    /// Usable per requested bytes, if the allocator defines malloc_usable_size.
    pub usable: Option<f64>,
    /// Blocks passed on to the next thread, and blocks for which its mailbox had no room.
    pub remote: (f64, f64),
    /// Samples of the CPU in the steady phase, and samples on another CPU than the thread's.
    pub cpu_samples: (f64, f64),
    /// Histograms of the durations of timed calls: malloc, then free.
    pub calls: [Vec<u64>; 2],
}

/// Resident memory of all processes: before the load, after setup, after the steady phase, and after the last
/// free.
pub type MemoryByPhase = [Reading<Resident>; PHASES.len() + 1];

#[derive(Clone, Debug)]
pub struct RunResult {
    pub threads: Vec<ThreadResult>,
    pub resident: MemoryByPhase,
    /// Sum of the peak RSS of all processes, in bytes.
    pub peak: Reading<f64>,
    /// The library that served; `None` for a control.
    pub library: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Run<'a> {
    config: Config<'a>,
    copies: Copies,
    resident: Vec<Reading<Resident>>,
    is_peak_reset: bool,
    library: Option<PathBuf>,
}

impl<'a> Run<'a> {
    /// Starts the processes, proves which library serves, and runs the setup phase.
    pub fn begin(workload: &Path, config: Config<'a>) -> Result<Run<'a>, Failure> {
        let mut environment = Vec::new();
        if let Some(allocator) = config.allocator {
            environment.extend(allocator.environment.iter().cloned());
            if let Some(library) = &allocator.library {
                environment.push(("LD_PRELOAD".to_owned(), library.to_string_lossy().into_owned()));
            }
        }
        let spec = CopiesSpec {
            name: workload::alloc_load::NAME,
            copies: config.processes,
            threads: config.parameters.threads as usize,
            duration: Duration::ZERO,
            arguments: Vec::<OsString>::new(),
            directory: PathBuf::from("/"),
            cpus: config.allowed.clone(),
            environment,
        };
        let copies = Copies::begin(workload, &spec, |shared| {
            // SAFETY: no process is started yet.
            unsafe { *Parameters::in_memory(shared) = config.parameters };
            for (thread, cpu) in config.cpus.iter().enumerate() {
                if let Some(field) = shared.slot(thread).and_then(|slot| slot.field(fields::CPU)) {
                    field.store(u64::from(*cpu) + 1, Ordering::Release);
                }
            }
        })?;
        let mut run = Run { config, copies, resident: Vec::new(), is_peak_reset: false, library: None };
        run.wait_for_threads()?;
        run.library = run.prove_library()?;
        run.is_peak_reset = run.copies.processes().all(|process| memory::reset_peak(&directory(process)));
        run.read_memory();
        run.copies.release();
        run.wait_for_threads()?;
        run.read_memory();
        Ok(run)
    }

    pub fn steady(&mut self) -> Result<(), Failure> {
        self.copies.release();
        self.wait_for_threads()
    }

    /// CPU seconds of all threads in the steady phase.
    pub fn cpu_seconds(&self) -> f64 {
        self.copies.slots().map(|slot| phase(slot, 1).cpu).sum::<f64>() * 1e-9
    }

    /// Runs the exit phase and collects the results.
    pub fn end(mut self) -> Result<RunResult, Failure> {
        self.read_memory();
        let peak = self.peak();
        self.copies.release();
        let processes = self.config.processes;
        self.wait_for(processes)?;
        self.read_memory();
        let threads = self.copies.slots().map(thread_result).collect();
        self.copies.release();
        self.copies.wait_for_end()?;
        let resident =
            self.resident.try_into().map_err(|_| Failure::new("the memory of a phase was not read"))?;
        Ok(RunResult { threads, resident, peak, library: self.library })
    }

    fn peak(&self) -> Reading<f64> {
        if !self.is_peak_reset {
            return Reading::unknown("/proc/PID/clear_refs: the peak could not be reset");
        }
        let peaks = self.copies.processes().map(|process| memory::peak(&directory(process)));
        let sum = peaks.reduce(|one, other| one.and(other).map(|(one, other)| one + other));
        sum.unwrap_or_else(|| Reading::unknown("no process"))
    }

    /// Waits until all threads have ended their phase.
    fn wait_for_threads(&mut self) -> Result<(), Failure> {
        self.wait_for(self.config.processes * self.config.parameters.threads as usize)
    }

    fn wait_for(&mut self, arrivals: usize) -> Result<(), Failure> {
        let requested = self.config.bytes;
        let limit = (requested * RUNAWAY + PROCESS_BYTES).min(self.config.available);
        let timeout = self.config.phase_timeout;
        self.copies.ready(arrivals, timeout, |children: &[Child]| {
            let resident: f64 = children.iter().filter_map(|child| lab::copies::resident(child.id())).sum();
            if resident <= limit {
                return Ok(());
            }
            let [resident, requested, limit] = [resident, requested, limit].map(format::bytes);
            Err(Failure::new(format!(
                "it had {resident} in memory for a load of {requested}, and was stopped (the limit is {limit})"
            )))
        })
    }

    /// Proves which library serves the first process. The others were started in the same way.
    fn prove_library(&self) -> Result<Option<PathBuf>, Failure> {
        let Some(allocator) = self.config.allocator else { return Ok(None) };
        let (slot, process) = (self.copies.slots().next(), self.copies.processes().next());
        let (slot, process) = slot.zip(process).ok_or_else(|| Failure::new("no process"))?;
        let maps = lab::maps::read(directory(process).join("maps"))?;
        let addresses: Vec<u64> =
            (0..FUNCTIONS.len()).map(|function| field(slot, fields::FUNCTIONS + function)).collect();
        let owners = serving::owners(&addresses, &maps);
        serving::verify(allocator.library.as_deref(), &owners).map_err(|failure| {
            match self.copies.first_stderr_line() {
                Some(line) => failure.advice(format!("it printed: {line}")),
                None => failure,
            }
        })?;
        Ok(owners.into_iter().next().flatten())
    }

    fn read_memory(&mut self) {
        let readings = self.copies.processes().map(|process| memory::resident(&directory(process)));
        let sum = readings.reduce(|one, other| one.and(other).map(|(one, other)| one.and(other)));
        self.resident.push(sum.unwrap_or_else(|| Reading::unknown("no process")));
    }
}

fn directory(process: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}"))
}

fn field(slot: &Slot, index: usize) -> u64 {
    slot.field(index).map_or(0, |field| field.load(Ordering::Acquire))
}

fn phase(slot: &Slot, phase: usize) -> Phase {
    let value = |offset: usize| field(slot, fields::PHASES + phase * fields::PHASE + offset);
    let number = |offset: usize| value(offset) as f64;
    let optional =
        |offset: usize| Some(value(offset)).filter(|value| *value != u64::MAX).map(|value| value as f64);
    Phase {
        wall: number(fields::WALL),
        ticks: number(fields::TICKS),
        cycles: optional(fields::CYCLES),
        cpu: number(fields::CPU_TIME),
        system: number(fields::SYSTEM) * 1e3,
        minor: number(fields::MINOR),
        major: number(fields::MAJOR),
        run_delay: optional(fields::RUN_DELAY),
        switches: (number(fields::VOLUNTARY), number(fields::INVOLUNTARY)),
        allocated: number(fields::ALLOCATED),
        freed: number(fields::FREED),
        window: (value(fields::BEGIN), value(fields::END)),
    }
}

fn thread_result(slot: &Slot) -> ThreadResult {
    let number = |index: usize| field(slot, index) as f64;
    let requested = number(fields::USABLE_REQUESTED);
    let usable = Some(field(slot, fields::USABLE)).filter(|usable| *usable != u64::MAX);
    let usable = usable.map(|usable| usable as f64 / requested).filter(|ratio| ratio.is_finite());
    let calls = |histogram: usize| {
        (0..BUCKETS).map(|bucket| field(slot, fields::CALLS + histogram * BUCKETS + bucket)).collect()
    };
    ThreadResult {
        phases: std::array::from_fn(|number| phase(slot, number)),
        live: number(fields::LIVE),
        live_end: number(fields::LIVE_END),
        peak: number(fields::PEAK),
        usable,
        remote: (number(fields::REMOTE), number(fields::REMOTE_FULL)),
        cpu_samples: (number(fields::CPU_SAMPLES), number(fields::OFF_PLACE)),
        calls: [calls(0), calls(1)],
    }
}

/// A quantile of a histogram, in ticks; `None` without calls.
pub fn quantile(calls: &[u64], share: f64) -> Option<f64> {
    let total: u64 = calls.iter().sum();
    let rank = share * total as f64;
    let mut below = 0.0;
    for (bucket, count) in calls.iter().enumerate().filter(|(_, count)| **count > 0) {
        let count = *count as f64;
        if below + count >= rank {
            let (from, to) = (lowest_ticks(bucket) as f64, lowest_ticks(bucket + 1) as f64);
            return Some(from + (to - from) * ((rank - below) / count).clamp(0.0, 1.0));
        }
        below += count;
    }
    None
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn quantiles_lie_in_their_buckets() {
        let mut calls = vec![0; BUCKETS];
        assert_eq!(quantile(&calls, 0.5), None);
        (calls[0], calls[8]) = (99, 1);
        let half = quantile(&calls, 0.5).unwrap();
        assert!((16.0..18.0).contains(&half), "{half}");
        let longest = quantile(&calls, 1.0).unwrap();
        assert!((32.0..=36.0).contains(&longest), "{longest}");
    }
}
