//! The worker: a start of the walk is a round of each figure of its arm.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Evidence, Round};
use lab::clock::Clock;
use lab::copies::{Copies, CopiesSpec};
use lab::failure::{Attempt, Failure};
use lab::install::find_helper;
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;
use procfs_core::process::{MMapPath, MemoryMap};
use workload::heap_walk::{BLOCKS, STEPS, fields};

use super::arms::{ARMS, Arm};
use super::heap_layout::{Baseline, Extent, HeapLayout, Snapshot, anonymous};
use super::plan::Setup;

/// How long the helper may take for a step: a fault takes a microsecond, but a machine may be overloaded.
const PATIENCE: Duration = Duration::from_secs(30);
/// The bit of an entry of /proc/PID/pagemap for a page in memory (Documentation/admin-guide/mm/pagemap.rst).
const PRESENT: u64 = 1 << 63;
/// The most pages of a heap or mapping that are read: no block here comes near to that.
const MOST_PAGES: u64 = 1 << 20;

struct WalkBench {
    setup: Setup,
    helper: PathBuf,
    pool: Pool,
    watch: Watch,
    /// The last start of each arm: each step serves for one round of its figure.
    walks: [Option<Walk>; ARMS.len()],
    /// The library that served malloc in the last start.
    malloc: Evidence,
}

struct Walk {
    started: String,
    duration: f64,
    around: Evidence,
    steps: Vec<Option<HeapLayout>>,
}

pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let helper = find_helper()?;
    let clock = Clock::for_machine(&setup.machine);
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.allowed);
    let mut facts = WorkerReport::default();
    clock.write(&mut facts.evidence);
    facts.evidence.put(WALK_ENVIRONMENT, environment());
    let pool = Pool::on_each(&setup.allowed, clock)?;
    let bench = WalkBench {
        setup,
        helper,
        pool,
        watch,
        walks: [const { None }; ARMS.len()],
        malloc: Evidence::default(),
    };
    Ok((Box::new(bench), facts))
}

/// The variables that are set and that a malloc may read.
fn environment() -> String {
    let is_read = |name: &str| {
        name.starts_with("MALLOC_")
            || name.ends_with("MALLOC_CONF")
            || ["GLIBC_TUNABLES", "LD_PRELOAD"].contains(&name)
    };
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        is_read(&name).then(|| format!("{name}={}", value.to_string_lossy()))
    });
    let mut variables: Vec<String> = variables.collect();
    variables.sort_unstable();
    figure::format::plain_to(&variables.join(" "), 200)
}

impl Bench for WalkBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let no_figure = || Failure::new("no figure").on(figure);
        let task = self.setup.tasks.iter().find(|task| task.id == figure).ok_or_else(no_figure)?;
        let (arm, step) = (task.arm, task.step);
        let about = ARMS.get(arm).ok_or_else(no_figure)?;
        let has_step = |walk: &Option<Walk>| {
            walk.as_ref().is_some_and(|walk| matches!(walk.steps.get(step), Some(Some(_))))
        };
        if !has_step(&self.walks[arm]) {
            self.walks[arm] = Some(self.walk(about)?);
        }
        let walk = self.walks[arm].as_mut().ok_or_else(no_figure)?;
        let layout = walk.steps.get_mut(step).and_then(Option::take).ok_or_else(no_figure)?;
        let mut evidence = walk.around.clone();
        layout.write(&mut evidence);
        Ok(Round::new(walk.started.clone(), walk.duration, vec![layout.resident() as f64], evidence))
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport { evidence: self.malloc.clone(), ..WorkerReport::default() })
    }
}

impl WalkBench {
    fn walk(&mut self, arm: &Arm) -> Result<Walk, Failure> {
        let variables = arm.variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let ask = CopiesSpec {
            name: workload::heap_walk::NAME,
            copies: 1,
            threads: 1,
            duration: Duration::ZERO,
            arguments: Vec::new(),
            directory: PathBuf::from("/"),
            cpus: self.setup.allowed.clone(),
            environment: variables.collect(),
        };
        let body = || (steps(&self.helper, &ask), 0.0);
        let (result, around) = measure::around(&self.pool, &self.watch, body)?;
        let (steps, malloc) = result?;
        self.malloc = malloc;
        let steps = steps.into_iter().map(Some).collect();
        Ok(Walk { started: around.started, duration: around.duration, around: around.evidence, steps })
    }
}

/// Makes the steps: the layout after each, and the library that served malloc.
fn steps(helper: &Path, ask: &CopiesSpec) -> Result<(Vec<HeapLayout>, Evidence), Failure> {
    let mut copies = Copies::begin(helper, ask, |_| {})?;
    copies.ready(1, PATIENCE, |_| Ok(()))?;
    let process = copies.processes().next().ok_or(Failure::new("the helper has no process"))?;
    let reader = MemoryReader::open(process)?;
    let maps = reader.maps()?;
    let malloc = malloc_library(&copies, &maps)?;
    let before = snapshot(&copies, &maps)?;
    let is_glibc = malloc.get(WALK_GLIBC).into_value().is_some_and(|version| version > 0.0);
    let (block_pages, page) = (Vec::new(), reader.page);
    let mut baseline =
        Baseline { heap: before.end, anonymous: before.anonymous, block_pages, page, is_glibc };
    let mut layouts = Vec::with_capacity(STEPS.len());
    for _ in STEPS {
        copies.release();
        copies.ready(1, PATIENCE, |_| Ok(()))?;
        let after = snapshot(&copies, &reader.maps()?)?;
        layouts.push(HeapLayout::new(&mut baseline, &after, |extent| reader.resident(extent))?);
    }
    copies.release();
    copies.wait_for_end()?;
    Ok((layouts, malloc))
}

fn note_of(copies: &Copies, index: usize) -> Result<u64, Failure> {
    let note = copies.slots().next().and_then(|slot| slot.field(index));
    note.map(|note| note.load(Ordering::Acquire)).ok_or(Failure::new("the helper has no place for results"))
}

fn snapshot(copies: &Copies, maps: &[MemoryMap]) -> Result<Snapshot, Failure> {
    let mut snapshot = Snapshot {
        end: note_of(copies, fields::BREAK)?,
        faults: note_of(copies, fields::FAULTS)?,
        anonymous: anonymous(maps),
        ..Snapshot::default()
    };
    for index in 0..BLOCKS.len() {
        snapshot.blocks[index] = note_of(copies, fields::BLOCKS + index)?;
        snapshot.headers[index] = note_of(copies, fields::HEADERS + index)?;
    }
    Ok(snapshot)
}

/// The library that malloc is in, by its address.
fn malloc_library(copies: &Copies, maps: &[MemoryMap]) -> Result<Evidence, Failure> {
    let (malloc, version) = (note_of(copies, fields::MALLOC)?, note_of(copies, fields::VERSION)?);
    let map = maps.iter().find(|map| (map.address.0..map.address.1).contains(&malloc));
    let mut evidence = Evidence::default();
    match map.map(|map| &map.pathname) {
        Some(MMapPath::Path(path)) => {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let is_libc = name.starts_with("libc.so") || name.starts_with("libc-");
            evidence.put(LIBRARY, figure::format::plain_to(&path.to_string_lossy(), 200));
            evidence.put(WALK_GLIBC, if is_libc { version as f64 } else { 0.0 });
        }
        _ => {
            let reason = "the file that malloc belongs to is unknown";
            evidence.put_unknown(LIBRARY, reason);
            evidence.put_unknown(WALK_GLIBC, reason);
        }
    }
    Ok(evidence)
}

struct MemoryReader {
    directory: PathBuf,
    pagemap: File,
    page: u64,
}

impl MemoryReader {
    fn open(process: u32) -> Result<MemoryReader, Failure> {
        let directory = PathBuf::from(format!("/proc/{process}"));
        let path = directory.join("pagemap");
        let pagemap = File::open(&path).attempt_on("", path.display())?;
        Ok(MemoryReader { directory, pagemap, page: workload::sys::page() as u64 })
    }

    fn maps(&self) -> Result<Vec<MemoryMap>, Failure> {
        lab::maps::read(self.directory.join("maps")).map(|maps| maps.0)
    }

    /// Whether each page of a range is in memory.
    fn resident(&self, (from, to): Extent) -> Result<Vec<bool>, Failure> {
        let first = from / self.page;
        let pages = to.div_ceil(self.page).saturating_sub(first);
        if pages > MOST_PAGES {
            return Err(Failure::new(format!("{pages} pages where some hundreds were expected")));
        }
        let mut entries = vec![0; pages as usize * size_of::<u64>()];
        let at = first * size_of::<u64>() as u64;
        let path = self.directory.join("pagemap");
        self.pagemap.read_exact_at(&mut entries, at).attempt_on("", path.display())?;
        let entries = entries.as_chunks::<8>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
        Ok(entries.map(|entry| entry & PRESENT != 0).collect())
    }
}
