//! The worker that finds where a program's faults come from. It traces from `prepare` to `finish`, and gives
//! figures that depend on the program. It measures no rounds: the process that started it takes the rates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use figure::evidence::*;
use figure::format::plain_to;
use figure::{CpuList, Event, Evidence, Figure, Round};
use lab::failure::{Attempt, Failure};
use lab::worker::{Bench, PrepareFn, WorkerReport};
use serde::{Deserialize, Serialize};

use crate::trace::collect::{Collector, SampleTotals};
use crate::trace::event_log::{self, EventLog, Trailer, Writer};
use crate::trace::event_loop::TraceOptions;
use crate::trace::events::Target;
use crate::trace::procfs::tasks_of;
use crate::trace::program::Program;
use crate::trace::ring::Ring;
use crate::trace::{Trace, Traced};

mod balance;
mod blocks;
mod calls;
mod group;
mod groups;
mod owners;
mod shares;
mod sites;
mod stacks;

/// Names of programs that could not be watched, at most.
const MOST_UNSEEN: usize = 5;

pub const NAME: &str = "observe";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Processes; one alone if it is about to execute its program.
    pub processes: Vec<u32>,
    pub is_starting: bool,
    /// The online CPUs.
    pub cpus: CpuList,
    pub blocks: Option<PathBuf>,
    #[serde(default)]
    pub all_calls: bool,
    pub event_log: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Observation {
    pub evidence: Evidence,
    pub figures: Vec<Figure>,
}

struct Observer(Option<Trace<Observation>>);

pub const PREPARE: PrepareFn<Setup> = prepare;

fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let target = match setup.processes.as_slice() {
        [process] if setup.is_starting => Target::Starting(*process),
        processes => Target::Running(processes.iter().copied().flat_map(tasks_of).collect()),
    };
    let page = rustix::param::page_size() as u64;
    let create = |path: PathBuf| Writer::create(&path, page).attempt_on("", path.display());
    let options = TraceOptions {
        ring: setup.blocks.as_deref().map(Ring::open).transpose()?,
        all_calls: setup.all_calls,
        event_log: setup.event_log.map(create).transpose()?,
        running: if setup.is_starting { Vec::new() } else { setup.processes },
    };
    let trace = Trace::begin(&target, &setup.cpus, options, conclude)?;
    Ok((Box::new(Observer(Some(trace))), WorkerReport::default()))
}

impl Bench for Observer {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        Err(Failure::new("").on(figure).answer("this worker traces, and measures no rounds"))
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let trace = self.0.take().ok_or(Failure::new("the trace has ended already"))?;
        let Observation { evidence, figures } = trace.end()?;
        Ok(WorkerReport { evidence, discovered: figures, ..WorkerReport::default() })
    }
}

/// Ends the event log, and makes figures of the trace.
fn conclude(mut traced: Traced) -> Observation {
    if let Some(writer) = traced.collector.event_log.take() {
        // Whoever reads a log without its end hears that it is cut short.
        let _ = writer.end(trailer(&traced));
    }
    observation(traced)
}

/// What the events of a file show. Nothing is read from this machine.
pub fn replay_file(path: &Path) -> Result<Observation, Failure> {
    event_log::read(path).map(replay)
}

pub fn replay(log: EventLog) -> Observation {
    let trailer = log.trailer;
    let mut collector = Collector::for_replay(log.page, log.snapshots);
    log.entries.into_iter().for_each(|entry| collector.take(entry));
    collector.runs.end();
    for program in &mut collector.tasks.programs {
        program.hints = trailer.programs.get(&program.name).cloned();
        program.memory_state = trailer.memory.get(&program.name).cloned().unwrap_or_default();
    }
    let not_logged = Failure::new("an event log does not hold them");
    observation(Traced { collector, totals: trailer.totals, unseen: BTreeSet::new(), calls: Err(not_logged) })
}

fn trailer(traced: &Traced) -> Trailer {
    let hints = |program: &Program| Some((program.name.clone(), program.hints.clone()?));
    let programs = traced.collector.tasks.programs.iter().filter_map(hints).collect();
    let memory = |program: &Program| (program.name.clone(), program.memory_state.clone());
    let memory = traced.collector.tasks.programs.iter().map(memory).collect();
    Trailer { totals: traced.totals.clone(), programs, memory }
}

pub fn observation(traced: Traced) -> Observation {
    let mut evidence = Evidence::default();
    let SampleTotals { samples, faults, lost } = traced.collector.minor;
    evidence.put(FAULT_COUNTED, traced.totals.counted as f64);
    evidence.put(FAULT_IN_WINDOWS, traced.totals.in_windows.unwrap_or(traced.totals.counted) as f64);
    evidence.put(FAULT_SEEN, faults);
    evidence.put(FAULT_SAMPLES, samples);
    evidence.put(FAULT_MAJORS, traced.collector.groups.iter().map(|group| group.major).sum::<f64>());
    evidence.put(FAULT_LOST, lost);
    let (records, records_lost) = traced.collector.task_records;
    evidence.put(FAULT_NEWS_LOST, records_lost / (records + records_lost).max(1.0));
    evidence.put(FAULT_BURST, traced.collector.burst);
    evidence.put(FAULT_CODES, traced.collector.codes);
    evidence.put(FAULT_PERIOD, traced.totals.period as f64);
    evidence.put(FAULT_IN_KERNEL, traced.totals.sees_kernel);
    let unseen: Vec<String> = traced.unseen.iter().take(MOST_UNSEEN).map(|name| plain_to(name, 40)).collect();
    evidence.put(WATCH_UNSEEN, unseen.join(", "));
    evidence.put(WATCH_MACHINE, traced.totals.is_machine);
    evidence.put(WATCH_CPU, traced.totals.cpu_seconds);
    let names = stacks::names(&traced.collector);
    let groups = groups::groups(&traced, &names);
    evidence.put(FAULT_HUGE, groups.iter().map(shares::huge).fold(0.0, |sum, faults| sum + faults));
    let mut figures = shares::mechanisms(&groups, &traced);
    figures.extend(calls::calls(&traced, &names));
    figures.extend(shares::files(&traced));
    figures.extend(sites::sites(&groups, &traced, &names));
    figures.extend(stacks::stacks(&traced, &names));
    figures.extend(blocks::blocks(&groups, &traced));
    Observation { evidence, figures }
}
