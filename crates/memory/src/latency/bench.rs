//! Walks along chains of pointers: memory, code, verification.
//!
//! Before each round the caches are brought to what an endless walk would have left in them: the steps before
//! the first timed one are taken, many side by side. Then the walk goes on from sample to sample and from
//! round to round, so that a chain larger than the caches is not walked again where it still lies in them.

use std::rc::Rc;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine, Reading, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::plan::{self, Setup};
use crate::calibration::{Calibration, Policy, Trial};
use crate::chase::Order;
use crate::page_evidence;
use crate::pages::{self, Pages};
use crate::pointer_chain::PointerChain;
use crate::region::Region;
use crate::sizes;
use crate::team::Team;
use crate::worker::{Amount, Kernel, Sample, Tasks};

/// Seconds of a sample at least: a round of [`SAMPLES`] and a warm-up lasts ten ticks of 10 ms.
const SHORTEST_SAMPLE: f64 = 0.025;
const SAMPLES: usize = 3;
/// Seconds of the trial that finds out how fast a chain is.
const TRIAL: f64 = 0.002;
/// Caches that are not shown may remember this much: more than any last level that one CPU can fill has.
const UNKNOWN_CACHE: u64 = 1 << 30;
const PAGE_SAMPLES: usize = 256;

/// A chain, and how far it was walked. A pass is a segment of it.
pub(crate) struct Task {
    chain: Arc<PointerChain>,
    region: usize,
    point: usize,
}

pub(crate) struct Latency {
    machine: Machine,
    place: CpuList,
    team: Rc<Team>,
    regions: Vec<Arc<Region>>,
    /// Elements before the first timed one that caches may remember.
    remembered: u64,
}

pub(crate) struct Walk {
    chain: Arc<PointerChain>,
    point: usize,
    segments: usize,
}

/// Maps a region for each sort of pages; one that no chain needs stays unmapped.
fn map(setup: &Setup) -> Result<Vec<Arc<Region>>, Failure> {
    let is_needed = |index: usize| setup.tasks.iter().any(|task| task.region == index);
    let map = |(index, (pages, bytes)): (usize, &(Pages, u64))| {
        let (pages, bytes) = if is_needed(index) { (*pages, *bytes) } else { (Pages::Default, 1) };
        Region::map(bytes as usize, pages, None).map(Arc::new)
    };
    setup.regions.iter().enumerate().map(map).collect()
}

fn write(
    team: &Team,
    region: &Arc<Region>,
    task: &plan::Task,
    stride: usize,
    seed: u64,
) -> Result<PointerChain, Failure> {
    let (region, task) = (region.clone(), task.clone());
    let order = if task.paged { Order::Pages(pages::base_page()) } else { Order::Random };
    let mut chains = team.each(move |_| {
        let (offset, bytes) = (task.offset as usize, task.bytes as usize);
        // SAFETY: the plan gives every chain words of its own, which its tests prove; no other code has the
        // region.
        unsafe { PointerChain::write(region.clone(), offset, bytes, stride, order, seed) }
    })?;
    chains.pop().ok_or_else(|| Failure::new("no thread wrote the chain"))
}

impl Kernel for Latency {
    type Setup = Setup;
    type Task = Task;
    type Sample = Walk;

    // What happens before a round leaves something else in the caches.
    const WARM_UP: usize = 1;
    const IS_EXACT: bool = true;

    fn set_up(setup: Setup) -> Result<(Latency, Tasks<Latency>), Failure> {
        let place = CpuList::from_iter([setup.cpu]);
        let team =
            Team::new(&setup.machine, std::slice::from_ref(&place), Clock::for_machine(&setup.machine))?;
        let caches = sizes::in_use(&setup.machine, &place);
        let remembered = caches.value().map_or(UNKNOWN_CACHE, |caches| caches.bytes) / setup.stride;
        let regions = map(&setup)?;
        let mut tasks = Vec::new();
        for (seed, task) in setup.tasks.iter().enumerate() {
            let chain = write(&team, &regions[task.region], task, setup.stride as usize, seed as u64)?;
            tasks.push((task.id.clone(), Task { chain: Arc::new(chain), region: task.region, point: 0 }));
        }
        let team = Rc::new(team);
        Ok((Latency { machine: setup.machine, place, team, regions, remembered }, tasks))
    }

    fn team(&self, _task: &Task) -> Result<Rc<Team>, Failure> {
        Ok(self.team.clone())
    }

    fn policy(&self, task: &Task) -> Policy {
        Policy {
            shortest_sample: SHORTEST_SAMPLE,
            shortest_round: SHORTEST_SAMPLE * SAMPLES as f64,
            least_samples: SAMPLES,
            most_samples: SAMPLES,
            turn: task.chain.count() as u64,
            trial: Trial::Seconds(TRIAL),
            ..Policy::default()
        }
    }

    fn amount(&self, task: &Task) -> Amount {
        Amount::Steps(task.chain.elements() as f64 / task.chain.count() as f64)
    }

    fn sample_amount(&self, task: &Task, passes: u64, sample: usize) -> Amount {
        let segments = passes as usize;
        Amount::Steps(task.chain.steps(task.point + sample * segments, segments) as f64)
    }

    fn prepare(&mut self, team: &Team, task: &Task, _round: usize) -> Result<(), Failure> {
        let (chain, point, remembered) = (task.chain.clone(), task.point, self.remembered);
        team.each(move |_| chain.warm(point, remembered)).map(drop)
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Walk, Failure> {
        let segments = calibration.passes as usize;
        Ok(Walk { chain: task.chain.clone(), point: task.point, segments })
    }

    fn follow(&mut self, task: &mut Task, passes: u64) {
        task.point = (task.point + passes as usize) % task.chain.count();
    }

    fn observe(&self, _task: &mut Task, _walk: &Walk, round: &mut Round) {
        let latency = round.value().unwrap_or(f64::NAN);
        let cycles = cycles(latency, &round.evidence);
        round.evidence.put_reading(LATENCY_CYCLES, cycles);
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        // Chains are never written again, and where each walk ended is checked.
        Ok(vec![0.0; self.regions.len()])
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        let pages = |region: &Arc<Region>| {
            let (place, nodes) = (std::slice::from_ref(&self.place), vec![region.nodes(PAGE_SAMPLES)]);
            let bytes = region.bytes() as f64;
            page_evidence::of_threads(region.backing(), bytes, &self.machine, place, nodes)
        };
        Ok(self.regions.iter().map(pages).collect())
    }

    fn memory_of(&self, task: &Task) -> usize {
        task.region
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = self.team.evidence();
        evidence.merge(sizes::cache_evidence(&self.machine, &self.place));
        // Every element that was written is an address, and a walk that arrives has read them.
        evidence.put(MEMORY_NONZERO, true);
        Ok(evidence)
    }
}

impl Sample for Walk {
    /// The error is 0 if the walk ended where it must, else 1.
    fn run(&self, _thread: &WorkerThread, sample: usize) -> f64 {
        let arrived = self.chain.walk(self.point + sample * self.segments, self.segments);
        if arrived { 0.0 } else { 1.0 }
    }
}

/// Cycles of a latency in ns, by the canary around the round.
fn cycles(latency: f64, evidence: &Evidence) -> Reading<f64> {
    if !cfg!(target_arch = "x86_64") {
        return Reading::unknown(
            "the canary counts cycles on x86 only: elsewhere its multiplication takes 2 to 5",
        );
    }
    let canaries = evidence.get(CANARY_BEFORE).and(evidence.get(CANARY_AFTER));
    canaries.map(|(before, after)| latency * (before + after) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_need_a_proved_clock() {
        let mut evidence = Evidence::default();
        assert!(cycles(100.0, &evidence).reason().is_some());
        evidence.put(CANARY_BEFORE, 3.0);
        evidence.put(CANARY_AFTER, 3.2);
        if cfg!(target_arch = "x86_64") {
            assert!((cycles(100.0, &evidence).into_value().unwrap() - 310.0).abs() < 1e-9);
        }
    }
}
