//! The worker that looks where a program's faults come from. It begins when it is prepared and ends when it is to finish; what it gives
//! are figures that nobody could plan. Rounds are not its business: rates are taken by whoever started it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use figure::evidence::*;
use figure::format::plain_to;
use figure::{CpuList, Event, Evidence, Figure, Round};
use lab::worker::{Bench, Facts};
use serde::{Deserialize, Serialize};

use crate::trace::collect::{Collector, Sampled};
use crate::trace::events::Target;
use crate::trace::kept::{self, Kept, Tail, Writer};
use crate::trace::looked::tasks_of;
use crate::trace::ring::Ring;
use crate::trace::tasks::Program;
use crate::trace::{Besides, Trace, Traced};

mod blocks;
mod calls;
mod owners;
mod shares;
mod sites;
mod stacks;

/// Programs that could not be watched are told so many.
const MOST_UNSEEN: usize = 5;

/// The name of the worker.
pub const NAME: &str = "observe";

/// Whom to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Processes. One that is about to execute its program is alone.
    pub processes: Vec<u32>,
    /// Whether it is about to execute its program.
    pub is_starting: bool,
    /// CPUs that are there.
    pub cpus: CpuList,
    /// Where a recorder that is preloaded tells of large blocks.
    pub blocks: Option<PathBuf>,
    /// Whether calls for memory are counted all the time, and not in moments.
    #[serde(default)]
    pub all_calls: bool,
    /// The file in which what is seen is kept, if so.
    pub keeps: Option<PathBuf>,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// Of the whole.
    pub evidence: Evidence,
    /// What there is.
    pub figures: Vec<Figure>,
}

struct Observer(Option<Trace<Found>>);

/// Begins to look.
///
/// # Errors
/// Why it cannot, in words for the user.
pub fn prepare(plan: serde_json::Value, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let target = match setup.processes.as_slice() {
        [process] if setup.is_starting => Target::Starting(*process),
        processes => Target::Running(processes.iter().copied().flat_map(tasks_of).collect()),
    };
    let page = rustix::param::page_size() as u64;
    let create =
        |path: PathBuf| Writer::create(&path, page).map_err(|error| format!("{}: {error}", path.display()));
    let besides = Besides {
        ring: setup.blocks.as_deref().map(Ring::open).transpose()?,
        all_calls: setup.all_calls,
        keeps: setup.keeps.map(create).transpose()?,
        running: if setup.is_starting { Vec::new() } else { setup.processes },
    };
    let trace = Trace::begin(&target, &setup.cpus, besides, conclude)?;
    Ok((Box::new(Observer(Some(trace))), Facts::default()))
}

impl Bench for Observer {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        Err(format!("{figure}: this worker looks, and measures no rounds"))
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let found = self.0.take().ok_or("it has ended already")?.end()?;
        Ok(Facts { evidence: found.evidence, found: found.figures, ..Facts::default() })
    }
}

/// What a trace shows, as figures; with what is kept of it brought to its end.
fn conclude(mut traced: Traced) -> Found {
    let keeps = traced.collector.keeps.take();
    if let Some(Err(error)) = keeps.map(|writer| writer.end(Tail::of(&traced))) {
        traced.trouble = Some(format!("what was seen is not kept: {error}"));
    }
    shown(traced)
}

/// Why there are neither calls nor error codes in somebody's kept events.
const NOT_KEPT: &str = "not kept";

/// What somebody's kept events show, as figures: nothing of this machine is asked.
///
/// # Errors
/// Why the file cannot be read.
pub fn of_kept(path: &Path) -> Result<Found, String> {
    kept::read(path).map(found)
}

/// What kept events show, once they are read.
pub fn found(kept: Kept) -> Found {
    let tail = kept.tail;
    let mut collector = Collector::of_others(kept.page, kept.looked);
    kept.entries.into_iter().for_each(|entry| collector.take(entry));
    collector.runs.end();
    for program in &mut collector.tasks.programs {
        program.told = tail.programs.get(&program.name).cloned();
    }
    shown(Traced {
        collector,
        totals: tail.totals,
        trouble: None,
        unseen: BTreeSet::new(),
        calls: Err(NOT_KEPT.to_owned()),
        codes: Err(NOT_KEPT.to_owned()),
    })
}

impl Tail {
    fn of(traced: &Traced) -> Tail {
        let told = |program: &Program| Some((program.name.clone(), program.told.clone()?));
        Tail {
            totals: traced.totals.clone(),
            programs: traced.collector.tasks.programs.iter().filter_map(told).collect(),
        }
    }
}

/// What a trace shows.
pub fn shown(traced: Traced) -> Found {
    let mut evidence = Evidence::default();
    let Sampled { samples, seen, lost } = traced.collector.minor;
    evidence.put(FAULT_COUNTED, traced.totals.counted as f64);
    evidence.put(FAULT_SEEN, seen);
    evidence.put(FAULT_SAMPLES, samples);
    evidence.put(FAULT_LOST, lost);
    let (news, news_lost) = traced.collector.news;
    evidence.put(FAULT_NEWS_LOST, news_lost / (news + news_lost).max(1.0));
    evidence.put(FAULT_BURST, traced.collector.burst);
    evidence.put(FAULT_PERIOD, traced.totals.period as f64);
    evidence.put(FAULT_IN_KERNEL, traced.totals.sees_kernel);
    let unseen: Vec<String> = traced.unseen.iter().take(MOST_UNSEEN).map(|name| plain_to(name, 40)).collect();
    evidence.put(WATCH_UNSEEN, unseen.join(", "));
    evidence.put(WATCH_CPU, traced.totals.cpu_seconds);
    let names = stacks::names(&traced.collector);
    let groups = shares::groups(&traced, &names);
    let mut figures = shares::mechanisms(&groups, &traced);
    figures.extend(calls::calls(&traced, &names));
    figures.extend(shares::files(&traced));
    figures.extend(sites::sites(&groups, &traced, &names));
    figures.extend(stacks::stacks(&traced, &names));
    figures.extend(blocks::blocks(&groups, &traced));
    Found { evidence, figures }
}
