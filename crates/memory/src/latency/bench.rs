//! The worker: writes all chains, then walks the one that is asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Machine, Round};
use lab::clock::Clock;
use lab::worker::{Bench, Facts};

use super::chain_walk::ChainWalk;
use super::plan::{Setup, Task};
use crate::chase::Order;
use crate::page_evidence::{self, worse_of};
use crate::pages;
use crate::pointer_chain::PointerChain;
use crate::region::Region;
use crate::sizes;
use crate::team::Team;

/// Caches that are not shown may remember this much: more than any last level that one CPU can fill has.
const UNKNOWN_CACHE: u64 = 1 << 30;
/// Pages of a region whose node is asked for.
const PAGE_SAMPLES: usize = 256;

struct LatencyBench {
    machine: Machine,
    place: CpuList,
    team: Team,
    regions: Vec<Arc<Region>>,
    walks: BTreeMap<String, (Task, ChainWalk)>,
    /// The pages of each region at the start.
    at_start: Vec<Evidence>,
}

/// Maps the regions, writes the chains on the CPU that will walk them, and finds out on which pages they lie.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let place = CpuList::from_iter([setup.cpu]);
    let team = Team::new(&setup.machine, std::slice::from_ref(&place), Clock::of(&setup.machine))?;
    let caches = sizes::last_level(&setup.machine, &place);
    let remembered = caches.value().map_or(UNKNOWN_CACHE, |caches| caches.bytes) / setup.stride;
    let regions = map(&setup)?;
    let mut walks = BTreeMap::new();
    for (seed, task) in setup.tasks.iter().enumerate() {
        let chain = write(&team, &regions[task.region], task, setup.stride as usize, seed as u64)?;
        walks.insert(task.id.clone(), (task.clone(), ChainWalk::new(chain, remembered)));
    }
    let machine = setup.machine;
    let mut bench = LatencyBench { machine, place, team, regions, walks, at_start: Vec::new() };
    bench.at_start = bench.pages();
    let facts = bench.facts();
    Ok((Box::new(bench), facts))
}

/// Maps a region for each sort of pages; one that no chain needs stays unmapped.
fn map(setup: &Setup) -> Result<Vec<Arc<Region>>, String> {
    let needed = |index: usize| setup.tasks.iter().any(|task| task.region == index);
    let map = |(index, (pages, bytes)): (usize, &(pages::Pages, u64))| {
        let (pages, bytes) = if needed(index) { (*pages, *bytes) } else { (pages::Pages::Default, 1) };
        Region::map(bytes as usize, pages, None).map(Arc::new).map_err(|error| {
            format!(
                "{} on {} pages could not be mapped: {error}; a limit on address space (ulimit -v) or \
                 vm.overcommit_memory=2 may forbid it: end --sizes earlier",
                figure::format::bytes(bytes as f64),
                pages.word()
            )
        })
    };
    setup.regions.iter().enumerate().map(map).collect()
}

/// Writes a chain on the thread that will walk it, which thereby touches its pages first.
fn write(
    team: &Team,
    region: &Arc<Region>,
    task: &Task,
    stride: usize,
    seed: u64,
) -> Result<PointerChain, String> {
    let (region, task) = (region.clone(), task.clone());
    let order = if task.paged { Order::Pages(pages::base_page()) } else { Order::Random };
    let mut chains = team.each(move |_| {
        let (offset, bytes) = (task.offset as usize, task.bytes as usize);
        // SAFETY: the plan gives every chain words of its own, which its tests prove; nobody else has the
        // region.
        unsafe { PointerChain::write(region.clone(), offset, bytes, stride, order, seed) }
    })?;
    chains.pop().ok_or_else(|| "no thread wrote the chain".to_owned())
}

impl LatencyBench {
    /// What is true of every figure and of those of each region.
    fn facts(&self) -> Facts {
        let mut facts = Facts { evidence: self.team.evidence(), ..Facts::default() };
        let evidence = &mut facts.evidence;
        evidence.merge(sizes::cache_evidence(&self.machine, &self.place));
        // Every element that was written is an address, and a walk that arrives has read them.
        evidence.put(MEMORY_NONZERO, true);
        evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        for (id, (task, _)) in &self.walks {
            facts.figures.push((id.clone(), self.at_start[task.region].clone()));
        }
        facts
    }

    /// Size and place of each region's pages, as they are now.
    fn pages(&self) -> Vec<Evidence> {
        let pages = |region: &Arc<Region>| {
            let nodes = vec![region.nodes(PAGE_SAMPLES)];
            let local = page_evidence::local_share(&self.machine, std::slice::from_ref(&self.place), nodes);
            page_evidence::of_regions(&[&**region], region.bytes() as u64, local)
        };
        self.regions.iter().map(pages).collect()
    }
}

impl Bench for LatencyBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (_, walk) = self.walks.get_mut(id).ok_or_else(|| format!("no figure {id}"))?;
        walk.round(&self.team)
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let at_end = self.pages();
        let mut facts = Facts::default();
        for (id, (task, walk)) in &self.walks {
            let mut evidence = worse_of(&self.at_start[task.region], at_end[task.region].clone());
            // A figure without rounds here may have some from a worker that died, which cannot be checked.
            if let Some(arrived) = walk.arrived() {
                evidence.put(VERIFIED, arrived);
            }
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}
