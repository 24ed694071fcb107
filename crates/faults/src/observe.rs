//! The worker that looks where a program's faults come from. It begins when it is prepared and ends when it is to finish; what it gives
//! are figures that nobody could plan. Rounds are not its business: rates are taken by whoever started it.

use std::path::PathBuf;

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Figure, Round};
use lab::worker::{Bench, Facts};
use serde::{Deserialize, Serialize};

use crate::trace::events::Target;
use crate::trace::ring::Ring;
use crate::trace::{Trace, Traced, tasks_of};

mod blocks;
mod calls;
mod owners;
mod shares;
mod sites;
mod stacks;

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
    let ring = setup.blocks.as_deref().map(Ring::open).transpose()?;
    let trace = Trace::begin(&target, &setup.cpus, ring, setup.all_calls, conclude)?;
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

/// What a trace shows, as figures.
fn conclude(traced: Traced) -> Found {
    let mut evidence = Evidence::default();
    let (samples, seen, lost) = traced.collector.minor;
    evidence.put(FAULT_COUNTED, traced.counted as f64);
    evidence.put(FAULT_SEEN, seen);
    evidence.put(FAULT_SAMPLES, samples);
    evidence.put(FAULT_LOST, lost);
    evidence.put(FAULT_BURST, traced.collector.burst);
    evidence.put(FAULT_PERIOD, traced.period as f64);
    evidence.put(FAULT_IN_KERNEL, traced.sees_kernel);
    evidence.put(WATCH_CPU, traced.cpu_seconds);
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
