//! One run of the load: the cell is started with an allocator, led through its phases, and looked at between them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cell::load::order::{BUCKETS, FUNCTIONS, Order, PHASES, note, ticks_of};
use cell::shared::Slot;
use figure::{CpuList, Reading};
use lab::copies::{Ask, Copies};
use serde::{Deserialize, Serialize};

use crate::find::Installed;
use crate::memory::{self, Resident};
use crate::owner;

/// Bytes that a process has besides the load: its code, its stacks, what an allocator keeps for each thread.
const BESIDES: f64 = 512e6;
/// An allocator that takes so many times what is asked for runs away: the worst that was published takes 4.
const RUNAWAY: f64 = 8.0;

/// What is run.
#[derive(Clone, Debug)]
pub struct Arm<'a> {
    /// Who serves; `None` if nobody does.
    pub allocator: Option<&'a Installed>,
    /// What each thread is told.
    pub order: Order,
    /// The CPU of each thread, over all processes; empty for any.
    pub cpus: &'a [u32],
    /// All CPUs that they may use.
    pub allowed: &'a CpuList,
    /// Processes, of [`Order::threads`] threads each.
    pub processes: usize,
    /// Bytes that the load asks for, slots included: of all threads.
    pub bytes: f64,
    /// How long a phase may take before its allocator is said to hang.
    pub patience: Duration,
    /// Bytes that there are at most.
    pub available: f64,
}

/// A phase of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Nanoseconds in which steps were done.
    pub wall: f64,
    /// Ticks of the time stamp counter in them.
    pub ticks: f64,
    /// Cycles of the CPU in user code in them, if they are counted.
    pub cycles: Option<f64>,
    /// Nanoseconds of CPU time.
    pub cpu: f64,
    /// Of these, in the kernel.
    pub system: f64,
    /// Minor faults.
    pub minor: f64,
    /// Major faults.
    pub major: f64,
    /// Nanoseconds ready and without a CPU, if the kernel tells.
    pub run_delay: Option<f64>,
    /// Voluntary and involuntary switches.
    pub switches: (f64, f64),
    /// Blocks allocated.
    pub allocated: f64,
    /// Blocks freed.
    pub freed: f64,
    /// Begin and end, in nanoseconds of CLOCK_MONOTONIC.
    pub window: (u64, u64),
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Setup, steady, exit.
    pub phases: [Phase; PHASES.len()],
    /// Requested bytes live after setup.
    pub live: f64,
    /// The same after the steady phase.
    pub live_end: f64,
    /// The most in the steady phase.
    pub peak: f64,
    /// Bytes given for bytes asked, if the allocator tells.
    pub usable: Option<f64>,
    /// Blocks left to the next thread, and such for which there was no room.
    pub remote: (f64, f64),
    /// Looks at the CPU in the steady phase, and those that found another than it should be.
    pub looks: (f64, f64),
    /// Sampled calls of malloc, then of free: counts by bucket.
    pub calls: [Vec<u64>; 2],
}

/// What the processes had in memory before the load, after setup, after the steady phase, and when all was given back.
pub type Looks = [Reading<Resident>; PHASES.len() + 1];

/// A run that ended well.
#[derive(Clone, Debug)]
pub struct Ran {
    /// By thread.
    pub threads: Vec<Done>,
    /// What was in memory.
    pub resident: Looks,
    /// The most that was, of all processes together.
    pub most: Reading<f64>,
    /// The file that the allocator's functions lie in; `None` if nobody served.
    pub served: Option<PathBuf>,
}

/// A load that is under way: set up, and about to be timed.
#[derive(Debug)]
pub struct Run<'a> {
    arm: Arm<'a>,
    copies: Copies,
    looks: Vec<Reading<Resident>>,
    can_forget: bool,
    served: Option<PathBuf>,
}

impl<'a> Run<'a> {
    /// Starts the cells, proves who serves, and lets them fill their slots.
    ///
    /// # Errors
    /// Why the row is void, in words for the user.
    pub fn begin(cell: &Path, arm: Arm<'a>) -> Result<Run<'a>, String> {
        let mut environment = Vec::new();
        if let Some(allocator) = arm.allocator {
            environment.extend(allocator.environment.iter().cloned());
            if let Some(library) = &allocator.library {
                environment.push(("LD_PRELOAD".to_owned(), library.to_string_lossy().into_owned()));
            }
        }
        let ask = Ask {
            name: cell::load::NAME,
            copies: arm.processes,
            threads: arm.order.threads as usize,
            duration: Duration::ZERO,
            arguments: Vec::<OsString>::new(),
            directory: PathBuf::from("/"),
            cpus: arm.allowed.clone(),
            environment,
        };
        let copies = Copies::begin(cell, &ask, |shared| {
            // SAFETY: no cell is started yet.
            unsafe { *Order::of(shared) = arm.order };
            for (thread, cpu) in arm.cpus.iter().enumerate() {
                if let Some(note) = shared.slot(thread).and_then(|slot| slot.note(note::CPU)) {
                    note.store(u64::from(*cpu) + 1, Ordering::Release);
                }
            }
        })?;
        let mut run = Run { arm, copies, looks: Vec::new(), can_forget: true, served: None };
        run.ready()?;
        run.served = run.prove()?;
        run.can_forget = run.copies.processes().all(|process| memory::forget_peak(&directory(process)));
        run.look();
        run.copies.let_go();
        run.ready()?;
        run.look();
        Ok(run)
    }

    /// The steady phase.
    ///
    /// # Errors
    /// Why the row is void, in words for the user.
    pub fn steady(&mut self) -> Result<(), String> {
        self.copies.let_go();
        self.ready()
    }

    /// CPU seconds that the steady phase used, and how many of them in all.
    pub fn used(&self) -> f64 {
        self.copies.slots().map(|slot| phase(slot, 1).cpu).sum::<f64>() * 1e-9
    }

    /// Lets them give all back, and collects.
    ///
    /// # Errors
    /// Why the row is void, in words for the user.
    pub fn end(mut self) -> Result<Ran, String> {
        self.look();
        let most = self.most();
        self.copies.let_go();
        let processes = self.arm.processes;
        self.await_ready(processes)?;
        self.look();
        let threads = self.copies.slots().map(done).collect();
        self.copies.let_go();
        self.copies.ended()?;
        let resident = self.looks.try_into().map_err(|_| "a phase was not looked at".to_owned())?;
        Ok(Ran { threads, resident, most, served: self.served })
    }

    /// The most that all processes together had in memory, as a sum of what each had.
    fn most(&self) -> Reading<f64> {
        if !self.can_forget {
            return Reading::unknown("/proc/PID/clear_refs: the peak could not be reset");
        }
        let peaks = self.copies.processes().map(|process| memory::peak(&directory(process)));
        let sum = peaks.reduce(|one, other| one.and(other).map(|(one, other)| one + other));
        sum.unwrap_or_else(|| Reading::unknown("no process"))
    }

    /// Waits until all threads have come to the end of their phase.
    fn ready(&mut self) -> Result<(), String> {
        let threads = self.arm.processes * self.arm.order.threads as usize;
        self.await_ready(threads)
    }

    fn await_ready(&mut self, arrivals: usize) -> Result<(), String> {
        let (needed, available) = (self.arm.bytes, self.arm.available);
        let most = (needed * RUNAWAY + BESIDES).min(available);
        let patience = self.arm.patience;
        self.copies.ready(arrivals, patience, |children: &[Child]| {
            let has: f64 = children.iter().filter_map(|child| lab::copies::resident(child.id())).sum();
            if has <= most {
                return Ok(());
            }
            let bytes = |bytes: f64| figure::format::bytes(bytes);
            Err(format!(
                "it had {} in memory for a load of {}, and was stopped (more than {} is not let happen here)",
                bytes(has),
                bytes(needed),
                bytes(most)
            ))
        })
    }

    /// Whose functions they are that the first process calls; the others were started alike.
    fn prove(&self) -> Result<Option<PathBuf>, String> {
        let Some(allocator) = self.arm.allocator else { return Ok(None) };
        let (slot, process) = (self.copies.slots().next(), self.copies.processes().next());
        let (slot, process) = slot.zip(process).ok_or("no process")?;
        let maps = lab::maps::read(directory(process).join("maps"))?;
        let addresses: Vec<u64> =
            (0..FUNCTIONS.len()).map(|function| of(slot, note::FUNCTIONS + function)).collect();
        let owners = owner::owners(&addresses, &maps);
        owner::proved(allocator.library.as_deref(), &owners).map_err(|cause| {
            match self.copies.first_words() {
                Some(words) => format!("{cause}; it said: {words}"),
                None => cause,
            }
        })?;
        Ok(owners.into_iter().next().flatten())
    }

    fn look(&mut self) {
        let all = self.copies.processes().map(|process| memory::resident(&directory(process)));
        let sum = all.reduce(|one, other| one.and(other).map(|(one, other)| one.and(other)));
        self.looks.push(sum.unwrap_or_else(|| Reading::unknown("no process")));
    }
}

fn directory(process: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}"))
}

fn of(slot: &Slot, at: usize) -> u64 {
    slot.note(at).map_or(0, |note| note.load(Ordering::Acquire))
}

fn phase(slot: &Slot, which: usize) -> Phase {
    let at = |offset: usize| of(slot, note::PHASES + which * note::PHASE + offset);
    let number = |offset: usize| at(offset) as f64;
    Phase {
        wall: number(note::WALL),
        ticks: number(note::TICKS),
        cycles: Some(at(note::CYCLES)).filter(|cycles| *cycles != u64::MAX).map(|cycles| cycles as f64),
        cpu: number(note::CPU_TIME),
        system: number(note::SYSTEM) * 1e3,
        minor: number(note::MINOR),
        major: number(note::MAJOR),
        run_delay: Some(at(note::RUN_DELAY)).filter(|delay| *delay != u64::MAX).map(|delay| delay as f64),
        switches: (number(note::VOLUNTARY), number(note::INVOLUNTARY)),
        allocated: number(note::ALLOCATED),
        freed: number(note::FREED),
        window: (at(note::BEGIN), at(note::END)),
    }
}

fn done(slot: &Slot) -> Done {
    let number = |at: usize| of(slot, at) as f64;
    let usable =
        Some(of(slot, note::USABLE)).filter(|usable| *usable != u64::MAX).map(|usable| usable as f64);
    let calls = |histogram: usize| {
        (0..BUCKETS).map(|bucket| of(slot, note::CALLS + histogram * BUCKETS + bucket)).collect()
    };
    Done {
        phases: std::array::from_fn(|which| phase(slot, which)),
        live: number(note::LIVE),
        live_end: number(note::LIVE_END),
        peak: number(note::PEAK),
        usable: usable.map(|usable| usable / number(note::USABLE_OF)).filter(|ratio| ratio.is_finite()),
        remote: (number(note::REMOTE), number(note::REMOTE_FULL)),
        looks: (number(note::LOOKS), number(note::STRAYED)),
        calls: [calls(0), calls(1)],
    }
}

/// The ticks below which a share of sampled calls took; `None` without calls.
pub fn quantile(calls: &[u64], share: f64) -> Option<f64> {
    let all: u64 = calls.iter().sum();
    let wanted = share * all as f64;
    let mut below = 0.0;
    for (bucket, count) in calls.iter().enumerate().filter(|(_, count)| **count > 0) {
        let count = *count as f64;
        if below + count >= wanted {
            let (from, to) = (ticks_of(bucket) as f64, ticks_of(bucket + 1) as f64);
            return Some(from + (to - from) * ((wanted - below) / count).clamp(0.0, 1.0));
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
        let most = quantile(&calls, 1.0).unwrap();
        assert!((32.0..=36.0).contains(&most), "{most}");
    }
}
