//! Reads of the first part of a region, over and over: memory, code, verification.

use std::rc::Rc;
use std::sync::Arc;

use figure::Evidence;
use figure::evidence::*;
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::plan::Setup;
use crate::calibration::{Calibration, Policy, Trial};
use crate::page_evidence;
use crate::pages::Backing;
use crate::region::Region;
use crate::simd::sweep::{LINE, Sweep, sweep};
use crate::team::Team;
use crate::worker::{Amount, Kernel, Sample, Tasks};

/// Seconds of a sample at least: a round of [`MOST_SAMPLES`] and a warm-up lasts ten ticks of 10 ms.
const SHORTEST_SAMPLE: f64 = 0.025;
const MOST_SAMPLES: usize = 3;
/// Bytes of one call: some milliseconds of memory, so that a thread's current CPU is read now and then.
const CALL_BYTES: u64 = 64 << 20;
const PAGE_SAMPLES: usize = 256;
/// Words differ, and their sum is known for any number of them: word i is i x this + 1.
const SLOPE: u64 = 0x9E37_79B9_7F4A_7C15;

/// A region for each thread, ready to measure. A task is the bytes that every thread reads.
pub(crate) struct Ladder {
    setup: Setup,
    team: Rc<Team>,
    sweep: Sweep,
    regions: Arc<Vec<Region>>,
}

pub(crate) struct Passes {
    sweep: Sweep,
    regions: Arc<Vec<Region>>,
    bytes: u64,
    passes: u64,
    sums: [u64; 2],
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

impl Ladder {
    /// Writes every word, each thread its own region: the first touch.
    fn fill(&self) -> Result<(), Failure> {
        let regions = self.regions.clone();
        self.team.each(move |thread| {
            let region = &regions[thread.index];
            let start = region.start().cast::<u64>();
            for word in 0..region.bytes() / size_of::<u64>() {
                // SAFETY: inside the thread's own region.
                unsafe { start.add(word).write((word as u64).wrapping_mul(SLOPE).wrapping_add(1)) };
            }
        })?;
        Ok(())
    }
}

impl Kernel for Ladder {
    type Setup = Setup;
    type Task = u64;
    type Sample = Passes;

    const WARM_UP: usize = 1;
    const IS_EXACT: bool = true;

    fn set_up(setup: Setup) -> Result<(Ladder, Tasks<Ladder>), Failure> {
        let team = Team::new(&setup.machine, &setup.threads, Clock::for_machine(&setup.machine))?;
        let most = setup.tasks.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as usize;
        let regions = setup.threads.iter().map(|_| Region::map(most, setup.pages, None));
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        let (sweep, tasks) = (sweep(setup.simd), setup.tasks.clone());
        let kernel = Ladder { setup, team: Rc::new(team), sweep, regions: Arc::new(regions) };
        kernel.fill()?;
        Ok((kernel, tasks))
    }

    fn team(&self, _task: &u64) -> Result<Rc<Team>, Failure> {
        Ok(self.team.clone())
    }

    fn policy(&self, _task: &u64) -> Policy {
        Policy {
            shortest_sample: SHORTEST_SAMPLE,
            shortest_round: SHORTEST_SAMPLE * MOST_SAMPLES as f64,
            most_samples: MOST_SAMPLES,
            // A tenth of a sample is long enough to estimate a pass.
            trial: Trial::Seconds(SHORTEST_SAMPLE / 10.0),
            ..Policy::default()
        }
    }

    fn amount(&self, bytes: &u64) -> Amount {
        Amount::Bytes((bytes * self.team.threads() as u64) as f64)
    }

    fn sample(&mut self, bytes: &u64, calibration: Calibration) -> Result<Passes, Failure> {
        Ok(Passes {
            sweep: self.sweep,
            regions: self.regions.clone(),
            bytes: *bytes,
            passes: calibration.passes,
            sums: sums_of(*bytes),
        })
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        // Memory is never written again, and every pass checks its sum.
        Ok(vec![0.0])
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        let backing = Backing::sum(self.regions.iter().map(Region::backing));
        let bytes = self.regions.iter().map(|region| region.bytes() as f64).sum();
        let nodes = self.regions.iter().map(|region| region.nodes(PAGE_SAMPLES)).collect();
        let Setup { machine, threads, .. } = &self.setup;
        Ok(vec![page_evidence::of_threads(backing, bytes, machine, threads, nodes)])
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = self.team.evidence();
        // A sum that is right has read every word.
        evidence.put(MEMORY_NONZERO, true);
        Ok(evidence)
    }
}

impl Sample for Passes {
    /// Reads in calls of a few milliseconds; the error is 0 if every sum was right, else 1.
    fn run(&self, thread: &WorkerThread, sample: usize) -> f64 {
        let start = self.regions[thread.index].start();
        let [even, odd] = self.sums;
        let most = (CALL_BYTES / self.bytes).max(1);
        // With an odd number of passes each sample begins with the other lines.
        let first = sample as u64 % 2;
        let (mut done, mut is_right) = (0, true);
        while done < self.passes {
            let now = most.min(self.passes - done);
            // Where a call is one pass, even and odd lines take turns from call to call.
            let swapped = (done + first) % 2 == 1;
            // SAFETY: the thread's region holds as many bytes, a multiple of a turn, and is never written
            // again; it begins on a page; the plan chose an instruction set that there is.
            let sum = unsafe { (self.sweep)(start, self.bytes as usize, now, swapped) };
            let (one, other) = if swapped { (odd, even) } else { (even, odd) };
            is_right &= sum == one.wrapping_mul(now.div_ceil(2)).wrapping_add(other.wrapping_mul(now / 2));
            done += now;
            thread.sample_cpu();
        }
        if is_right { 0.0 } else { 1.0 }
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
