//! The worker: a start of the walk is a round of each figure of its arm.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Evidence, Round};
use lab::clock::Clock;
use lab::copies::{Ask, Copies};
use lab::measure;
use lab::ours::find_cell;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;
use procfs_core::process::{MMapPath, MemoryMap};
use workload::heap_walk::{BLOCKS, STEPS, fields};

use super::plan::Setup;
use super::seen::{Extent, Look, Origin, Seen, anonymous};
use super::{ARMS, Arm};

/// How long the cell may take for a step: a page fault takes a microsecond, but a machine may be swamped.
const PATIENCE: Duration = Duration::from_secs(30);
/// Of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): the page is in memory.
const PRESENT: u64 = 1 << 63;
/// A heap or mapping of more pages is not looked at page by page: no block here is near to that.
const MOST_PAGES: u64 = 1 << 20;

struct WalkBench {
    setup: Setup,
    cell: PathBuf,
    pool: Pool,
    watch: Watch,
    /// By arm, what the last start gave: each step for one round of its figure.
    walked: [Option<Walked>; ARMS.len()],
    /// Who served, of the last start.
    served: Evidence,
}

/// What a start gave.
struct Walked {
    started: String,
    duration: f64,
    around: Evidence,
    steps: Vec<Option<Seen>>,
}

/// Gets ready to look.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let cell = find_cell()?;
    let clock = Clock::of(&setup.machine);
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.allowed);
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    facts.evidence.put(WALK_ENVIRONMENT, environment());
    let pool = Pool::on_each(&setup.allowed, clock).map_err(|error| error.to_string())?;
    let bench = WalkBench {
        setup,
        cell,
        pool,
        watch,
        walked: [const { None }; ARMS.len()],
        served: Evidence::default(),
    };
    Ok((Box::new(bench), facts))
}

/// What is set that a malloc may read.
fn environment() -> String {
    let is_read = |name: &str| {
        name.starts_with("MALLOC_")
            || name.ends_with("MALLOC_CONF")
            || ["GLIBC_TUNABLES", "LD_PRELOAD"].contains(&name)
    };
    let set = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        is_read(&name).then(|| format!("{name}={}", value.to_string_lossy()))
    });
    let mut set: Vec<String> = set.collect();
    set.sort_unstable();
    figure::format::plain_to(&set.join(" "), 200)
}

impl Bench for WalkBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let (arm, step) =
            task.map(|task| (task.arm, task.step)).ok_or_else(|| format!("no figure {figure}"))?;
        let about = ARMS.get(arm).ok_or("no such arm")?;
        let left = |walked: &Option<Walked>| {
            walked.as_ref().is_some_and(|walked| matches!(walked.steps.get(step), Some(Some(_))))
        };
        if !left(&self.walked[arm]) {
            self.walked[arm] = Some(self.walk(about)?);
        }
        let walked = self.walked[arm].as_mut().ok_or("no walk")?;
        let seen = walked.steps.get_mut(step).and_then(Option::take).ok_or("no such step")?;
        let mut evidence = walked.around.clone();
        seen.write(&mut evidence);
        Ok(Round::new(walked.started.clone(), walked.duration, vec![seen.resident() as f64], evidence))
    }

    fn finish(&mut self) -> Result<Facts, String> {
        Ok(Facts { evidence: self.served.clone(), ..Facts::default() })
    }
}

impl WalkBench {
    /// One start.
    fn walk(&mut self, arm: &Arm) -> Result<Walked, String> {
        let variables = arm.variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let ask = Ask {
            name: workload::heap_walk::NAME,
            copies: 1,
            threads: 1,
            duration: Duration::ZERO,
            arguments: Vec::new(),
            directory: PathBuf::from("/"),
            cpus: self.setup.allowed.clone(),
            environment: variables.collect(),
        };
        let body = || (steps(&self.cell, &ask), 0.0);
        let (walked, around) =
            measure::around(&self.pool, &self.watch, body).map_err(|error| error.to_string())?;
        let (steps, served) = walked?;
        self.served = served;
        let steps = steps.into_iter().map(Some).collect();
        Ok(Walked { started: around.started, duration: around.duration, around: around.evidence, steps })
    }
}

/// Goes through the steps: what is seen after each, and who served.
fn steps(cell: &Path, ask: &Ask) -> Result<(Vec<Seen>, Evidence), String> {
    let mut copies = Copies::begin(cell, ask, |_| {})?;
    copies.ready(1, PATIENCE, |_| Ok(()))?;
    let process = copies.processes().next().ok_or("no process")?;
    let eye = Eye::of(process)?;
    let maps = eye.maps()?;
    let served = served(&copies, &maps)?;
    let before = look(&copies, &maps)?;
    let is_glibc = served.get(WALK_GLIBC).into_value().is_some_and(|version| version > 0.0);
    let homes = Vec::new();
    let mut origin =
        Origin { heap: before.end, anonymous: before.anonymous, homes, page: eye.page, is_glibc };
    let mut seen = Vec::with_capacity(STEPS.len());
    for _ in STEPS {
        copies.let_go();
        copies.ready(1, PATIENCE, |_| Ok(()))?;
        seen.push(Seen::of(&mut origin, &look(&copies, &eye.maps()?)?, |extent| eye.resident(extent))?);
    }
    copies.let_go();
    copies.ended()?;
    Ok((seen, served))
}

/// A note of the cell.
fn noted(copies: &Copies, index: usize) -> Result<u64, String> {
    let slot = copies.slots().next().ok_or("no results")?;
    slot.field(index).map(|note| note.load(Ordering::Acquire)).ok_or_else(|| "no such note".to_owned())
}

/// What is so now.
fn look(copies: &Copies, maps: &[MemoryMap]) -> Result<Look, String> {
    let mut look = Look {
        end: noted(copies, fields::BREAK)?,
        faults: noted(copies, fields::FAULTS)?,
        anonymous: anonymous(maps),
        ..Look::default()
    };
    for index in 0..BLOCKS.len() {
        look.blocks[index] = noted(copies, fields::BLOCKS + index)?;
        look.headers[index] = noted(copies, fields::HEADERS + index)?;
    }
    Ok(look)
}

/// Whose malloc it is, by where that lies.
fn served(copies: &Copies, maps: &[MemoryMap]) -> Result<Evidence, String> {
    let (malloc, version) = (noted(copies, fields::MALLOC)?, noted(copies, fields::VERSION)?);
    let home = maps.iter().find(|map| (map.address.0..map.address.1).contains(&malloc));
    let mut evidence = Evidence::default();
    match home.map(|map| &map.pathname) {
        Some(MMapPath::Path(path)) => {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let is_libc = name.starts_with("libc.so") || name.starts_with("libc-");
            evidence.put(LIBRARY, figure::format::plain_to(&path.to_string_lossy(), 200));
            evidence.put(WALK_GLIBC, if is_libc { version as f64 } else { 0.0 });
        }
        _ => {
            let reason = "nobody knows which file malloc is of";
            evidence.put_unknown(LIBRARY, reason);
            evidence.put_unknown(WALK_GLIBC, reason);
        }
    }
    Ok(evidence)
}

/// Looks into a process that sleeps.
struct Eye {
    directory: PathBuf,
    pagemap: File,
    page: u64,
}

impl Eye {
    fn of(process: u32) -> Result<Eye, String> {
        let directory = PathBuf::from(format!("/proc/{process}"));
        let path = directory.join("pagemap");
        let pagemap = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Eye { directory, pagemap, page: workload::sys::page() as u64 })
    }

    fn maps(&self) -> Result<Vec<MemoryMap>, String> {
        lab::maps::read(self.directory.join("maps")).map(|maps| maps.0)
    }

    /// Of each page that has a byte of the range, whether it is in memory.
    fn resident(&self, (from, to): Extent) -> Result<Vec<bool>, String> {
        let first = from / self.page;
        let pages = to.div_ceil(self.page).saturating_sub(first);
        if pages > MOST_PAGES {
            return Err(format!("{pages} pages where some hundreds were expected"));
        }
        let mut entries = vec![0; pages as usize * size_of::<u64>()];
        let at = first * size_of::<u64>() as u64;
        self.pagemap
            .read_exact_at(&mut entries, at)
            .map_err(|error| format!("{}/pagemap: {error}", self.directory.display()))?;
        let entries = entries.as_chunks::<8>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
        Ok(entries.map(|entry| entry & PRESENT != 0).collect())
    }
}
