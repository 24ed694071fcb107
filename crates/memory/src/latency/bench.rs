//! The worker: lays all chains, then walks the one that is asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::placement::Placement;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::plan::{Setup, Task};
use super::walk::Walk;
use crate::chase::Order;
use crate::pages::{self, Backing};
use crate::region::Region;
use crate::sizes;
use crate::track::Track;

/// Caches that hide from us may remember this much: more than any last level that one CPU can fill has.
const UNKNOWN_CACHE: u64 = 1 << 30;
/// Pages of a region whose node is asked for.
const PAGE_SAMPLES: usize = 256;

struct LatencyBench {
    pool: Pool,
    watch: Watch,
    regions: Vec<Arc<Region>>,
    walks: BTreeMap<String, (Task, Walk)>,
    /// Nodes that are near to the CPU.
    near: Option<u32>,
    /// What was obtained of each region at the start.
    at_start: Vec<Evidence>,
}

/// Maps the regions, lays the chains on the CPU that will walk them, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let machine = &setup.machine;
    let cpus = CpuList::from_iter([setup.cpu]);
    let placement = Placement { places: "list", bind: "close", threads: vec![cpus.clone()] };
    let clock = Clock::of(machine);
    let pool = Pool::new(&placement, clock).map_err(|error| error.to_string())?;
    let watch = Watch::new(&Tree::live(), machine, &cpus);

    let caches = sizes::last_level(machine, &cpus);
    let remembered = caches.value().map_or(UNKNOWN_CACHE, |caches| caches.bytes) / setup.stride;
    let regions = map(&setup)?;
    let mut walks = BTreeMap::new();
    for (seed, task) in setup.tasks.iter().enumerate() {
        let track = lay(&pool, &regions[task.region], task, setup.stride as usize, seed as u64)?;
        walks.insert(task.id.clone(), (task.clone(), Walk::new(track, remembered)));
    }
    let near = machine.cpu(setup.cpu).and_then(|cpu| cpu.node);
    let mut bench = LatencyBench { pool, watch, regions, walks, near, at_start: Vec::new() };
    bench.at_start = bench.regions.iter().map(|region| bench.obtained(region)).collect();
    let mut facts = bench.facts();
    match caches {
        Reading::Value(cache) => {
            facts.evidence.put(LLC_BYTES, cache.bytes as f64);
            facts.evidence.put(LLC_BASIS, cache.basis);
        }
        Reading::Unknown(reason) => {
            facts.evidence.put_unknown(LLC_BYTES, reason.clone());
            facts.evidence.put_unknown(LLC_BASIS, reason);
        }
    }
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

/// Lays a chain on the thread that will walk it, which thereby touches its pages first.
fn lay(pool: &Pool, region: &Arc<Region>, task: &Task, stride: usize, seed: u64) -> Result<Track, String> {
    let (region, task) = (region.clone(), task.clone());
    let order = if task.paged { Order::Pages(pages::base_page()) } else { Order::Random };
    let laid = pool.run(move |_| {
        // SAFETY: the plan gives every chain words of its own, which its tests prove; nobody else has the region.
        unsafe { Track::lay(region.clone(), task.offset as usize, task.bytes as usize, stride, order, seed) }
    });
    let mut tracks = laid.map_err(|error| error.to_string())?;
    tracks.pop().ok_or_else(|| "no thread laid the chain".to_owned())
}

impl LatencyBench {
    /// What was obtained, true of every figure and of those of each region.
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let evidence = &mut facts.evidence;
        self.pool.clock.write(evidence);
        evidence.put(PLACE_READBACK, self.pool.readback);
        // Every element that was laid is an address, and a walk that arrives has read them.
        evidence.put(MEMORY_NONZERO, true);
        evidence.put_unknown(VERIFIED, "told when all rounds are measured; the run ended before");
        for (id, (task, _)) in &self.walks {
            facts.figures.push((id.clone(), self.at_start[task.region].clone()));
        }
        facts
    }

    /// Size and place of a region's pages, as they are now.
    fn obtained(&self, region: &Region) -> Evidence {
        let mut evidence = Evidence::default();
        let backing = region.backing();
        let share = |part: fn(&Backing) -> u64| {
            backing.clone().map(|backing| (part(&backing) as f64 / region.bytes() as f64).min(1.0))
        };
        evidence.put_reading(MEMORY_RESIDENT, share(|backing| backing.resident));
        evidence.put_reading(PAGES_HUGE_SHARE, share(|backing| backing.huge));
        evidence.put_reading(PAGES_SIZE, backing.clone().map(|backing| backing.page as f64));
        let local = match (region.nodes(PAGE_SAMPLES), self.near) {
            (Reading::Value(nodes), Some(near)) => {
                let local = nodes.iter().filter(|node| **node == Some(near)).count();
                Reading::Value(local as f64 / nodes.len().max(1) as f64)
            }
            (Reading::Unknown(reason), _) => Reading::Unknown(reason),
            (_, None) => Reading::unknown("the kernel shows no NUMA node for the CPU in use"),
        };
        evidence.put_reading(NUMA_LOCAL_SHARE, local);
        evidence
    }
}

impl Bench for LatencyBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (_, walk) = self.walks.get_mut(id).ok_or_else(|| format!("no figure {id}"))?;
        walk.round(&self.pool, &self.watch).map_err(|error| format!("{id}: {error}"))
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let at_end: Vec<Evidence> = self.regions.iter().map(|region| self.obtained(region)).collect();
        let mut facts = Facts::default();
        for (id, (task, walk)) in &self.walks {
            let mut evidence = at_end[task.region].clone();
            // The worse of start and end: the kernel may join pages, move them, or take them away meanwhile.
            for key in [MEMORY_RESIDENT, PAGES_HUGE_SHARE, NUMA_LOCAL_SHARE] {
                let ends = [&self.at_start[task.region], &evidence].map(|ends| ends.get(key).into_value());
                if let [Some(start), Some(end)] = ends {
                    evidence.put(key, start.min(end));
                }
            }
            // A figure without rounds here may have some from a worker that died, of which nothing is known.
            if let Some(arrived) = walk.arrived() {
                evidence.put(VERIFIED, arrived);
            }
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}
