//! The worker: counters read around rounds of the kernels.
//!
//! Order of events in a round: the threads rest, and the counters show what others move; one untimed pass;
//! counters; the round, with its own evidence; counters.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use figure::evidence::*;
use figure::{Event, Round};
use lab::failure::{Attempt, Failure};
use lab::traffic::{PerfReader, Traffic, TrafficReader};
use lab::worker::{Bench, WorkerReport};

use super::channels::{ChannelSelection, INTERVALS, NO_COUNTS, TOGETHER, select};
use super::plan::{Group, Part, Setup};
use crate::bandwidth::bench::{Bandwidth, ready};
use crate::kernels::Kernel;
use crate::worker::Worker;

/// How long threads rest before a round: 2 % of 100 GB/s are 100 MB in this time, some million counts.
const REST: Duration = Duration::from_millis(50);

/// What puts memory under load: the bandwidth mode's kernels, or in tests something that only says it did.
pub trait Load {
    /// Runs one untimed pass of a task; gives the elements that it worked on.
    fn warm(&mut self, task: &str) -> Result<f64, Failure>;

    /// Measures a round of a task, in GB/s of counted bytes; gives it with the elements of all its samples.
    fn round(&mut self, task: &str) -> Result<(Round, f64), Failure>;

    fn rest(&mut self) -> f64;

    fn finish(&mut self) -> Result<WorkerReport, Failure>;
}

impl Load for Worker<Bandwidth> {
    fn warm(&mut self, task: &str) -> Result<f64, Failure> {
        Worker::warm(self, task)?;
        Ok(elements(self, task))
    }

    fn round(&mut self, task: &str) -> Result<(Round, f64), Failure> {
        let (round, passes) = self.round_with_passes(task)?;
        Ok((round, elements(self, task) * passes as f64))
    }

    fn rest(&mut self) -> f64 {
        let begun = Instant::now();
        std::thread::sleep(REST);
        begun.elapsed().as_secs_f64()
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Bench::finish(self)
    }
}

fn elements(worker: &Worker<Bandwidth>, task: &str) -> f64 {
    worker.task(task).map_or(0.0, |task| task.elements as f64)
}

pub fn prepare(
    setup: Setup,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let reader = PerfReader::open(&setup.load.machine.uncore.channels)
        .attempt(format!("{NO_COUNTS}cannot be opened"))?;
    let (load, facts) = load(&setup)?;
    let (bench, facts) = CountersBench::new(setup, load, facts, Box::new(reader))?;
    Ok((Box::new(bench), facts))
}

pub fn load(setup: &Setup) -> Result<(Box<dyn Load>, WorkerReport), Failure> {
    let (bench, facts) = ready(setup.load.clone(), BTreeMap::new())?;
    Ok((Box::new(bench), facts))
}

pub struct CountersBench {
    setup: Setup,
    load: Box<dyn Load>,
    reader: Box<dyn TrafficReader>,
    channels: Vec<usize>,
    /// Rounds that were measured with one that was asked for: the figures of a kernel are of the same rounds.
    pending: BTreeMap<String, Round>,
}

impl CountersBench {
    /// Puts memory under load and selects channels by what they count. `facts` are the load's.
    pub fn new(
        setup: Setup,
        mut load: Box<dyn Load>,
        facts: WorkerReport,
        mut reader: Box<dyn TrafficReader>,
    ) -> Result<(CountersBench, WorkerReport), Failure> {
        let channels = &setup.load.machine.uncore.channels;
        let mut intervals = Vec::new();
        for _ in 0..INTERVALS {
            let before = reader.read()?;
            for group in &setup.groups {
                load.warm(&group.task)?;
            }
            intervals.push(Traffic::between(channels, &before, &reader.read()?)?);
        }
        let ChannelSelection { channels, evidence } = select(channels, &intervals)?;
        let mut facts = of_figures(&setup.groups, facts);
        facts.evidence.merge(evidence);
        Ok((CountersBench { setup, load, reader, channels, pending: BTreeMap::new() }, facts))
    }

    fn measure(&mut self, group: &Group) -> Result<Vec<(String, Round)>, Failure> {
        let channels = &self.setup.load.machine.uncore.channels;
        let before = self.reader.read()?;
        let rested = self.load.rest();
        let background = Traffic::between(channels, &before, &self.reader.read()?)?.sum(&self.channels);
        self.load.warm(&group.task)?;
        let before = self.reader.read()?;
        let (round, elements) = self.load.round(&group.task)?;
        let traffic = Traffic::between(channels, &before, &self.reader.read()?)?;

        let moved = traffic.sum(&self.channels);
        let kernel = Kernel::of(group.operation);
        let counted = kernel.counted_bytes() as f64 * elements;
        // Each sample counted the same bytes, at its own rate.
        let each = counted / round.samples.len().max(1) as f64;
        let seconds: f64 = round.samples.iter().map(|rate| each / (rate * 1e9)).sum();
        let mut round = round;
        let evidence = &mut round.evidence;
        evidence.put(TRAFFIC_MEASURED, moved.total());
        evidence.put(TRAFFIC_ESTIMATED, kernel.traffic_bytes(group.stores) as f64 * elements);
        evidence.put(TRAFFIC_COUNTED, counted);
        if self.setup.load.machine.uncore.has_directions() {
            evidence.put(TRAFFIC_READ, moved.read);
            evidence.put(TRAFFIC_WRITTEN, moved.write);
        } else {
            evidence.put_unknown(TRAFFIC_READ, TOGETHER);
            evidence.put_unknown(TRAFFIC_WRITTEN, TOGETHER);
        }
        evidence.put(TRAFFIC_BACKGROUND, background.total() / rested);
        evidence.put(TRAFFIC_SECONDS, seconds);
        evidence.put(TRAFFIC_RUNNING, traffic.running);
        let of_part = |(id, part): &(String, Part)| {
            let bytes = match part {
                Part::Read => moved.read,
                Part::Write => moved.write,
                Part::Total => moved.total(),
            };
            (id.clone(), Round { samples: vec![bytes / seconds / 1e9], ..round.clone() })
        };
        Ok(group.figures.iter().map(of_part).collect())
    }
}

impl Bench for CountersBench {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        if let Some(round) = self.pending.remove(id) {
            return Ok(round);
        }
        let group =
            self.setup.groups.iter().find(|group| group.figures.iter().any(|(figure, _)| figure == id));
        let group = group.cloned().ok_or_else(|| Failure::new("no figure").on(id))?;
        // What was not asked for in time is of an older round, and gives way.
        let rounds = self.measure(&group)?;
        self.pending.extend(rounds);
        self.pending.remove(id).ok_or_else(|| Failure::new("no figure").on(id))
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(of_figures(&self.setup.groups, self.load.finish()?))
    }
}

fn of_figures(groups: &[Group], facts: WorkerReport) -> WorkerReport {
    let figures = facts.figures.into_iter().flat_map(|(task, evidence)| {
        let group = groups.iter().find(|group| group.task == task);
        let ids = group.into_iter().flat_map(|group| &group.figures);
        ids.map(move |(id, _)| (id.clone(), evidence.clone())).collect::<Vec<_>>()
    });
    WorkerReport { figures: figures.collect(), ..facts }
}
