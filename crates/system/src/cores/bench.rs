//! The worker: two pinned threads transfer a cache line to each other.
//!
//! All pairs use the same line, so that it is on the same memory node for all.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Reading, Round, stats};
use lab::clock::Clock;
use lab::failure::{Attempt, Failure};
use lab::measure;
use lab::pool::{Pool, WorkerThread};
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;

use super::line::{Line, NoAnswer};
use super::plan::{Setup, TRIPS};

/// Untimed round trips before each sample, because the threads leave the barrier one after the other.
const UNTIMED: u64 = 50;
const HAND_OVERS: u64 = 2 * (UNTIMED + TRIPS);
/// Samples that determine the number of samples of a round.
const CALIBRATION_SAMPLES: usize = 5;
/// Samples of a round at least, for its quartiles, and at most.
const SAMPLES: (usize, usize) = (11, 4000);

struct CoresBench {
    setup: Setup,
    clock: Clock,
    line: Arc<Line>,
    /// Samples of a round, by figure.
    samples: BTreeMap<String, usize>,
    readback: bool,
    verified: bool,
}

pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let clock = Clock::for_machine(&setup.machine);
    let mut report = WorkerReport::default();
    clock.write(&mut report.evidence);
    let (line, samples) = (Arc::default(), BTreeMap::new());
    Ok((Box::new(CoresBench { setup, clock, line, samples, readback: true, verified: true }), report))
}

/// One thread's part of a sample. The first thread returns the seconds of the timed round trips.
fn run_sample(line: &Line, thread: &WorkerThread, sample: usize) -> Result<Option<f64>, NoAnswer> {
    let first = sample as u64 * HAND_OVERS + thread.index as u64;
    line.bounce(first, UNTIMED)?;
    let start = thread.clock.now();
    line.bounce(first + 2 * UNTIMED, TRIPS)?;
    let stop = thread.clock.now();
    Ok((thread.index == 0).then(|| thread.clock.seconds(start, stop)))
}

impl CoresBench {
    /// Determines the number of samples of a round of this pair, once.
    fn calibrate(&mut self, id: &str, pool: &Pool) -> Result<usize, Failure> {
        if let Some(samples) = self.samples.get(id) {
            return Ok(*samples);
        }
        self.line.begin(0);
        let line = self.line.clone();
        let results = pool.run(move |thread| {
            let samples = (0..CALIBRATION_SAMPLES).map(|sample| run_sample(&line, thread, sample));
            samples.collect::<Result<Vec<_>, NoAnswer>>()
        });
        let results: Result<Vec<_>, NoAnswer> = results?.into_iter().collect();
        let seconds: Vec<f64> = results.attempt_on("", id)?.into_iter().flatten().flatten().collect();
        let typical = stats::median(&seconds).unwrap_or(0.0).max(1e-9);
        let samples = ((self.setup.round / typical) as usize).clamp(SAMPLES.0, SAMPLES.1);
        self.samples.insert(id.to_owned(), samples);
        Ok(samples)
    }

    fn measure(&mut self, id: &str, cpus: [u32; 2]) -> Result<Round, Failure> {
        let cpus: CpuList = cpus.into_iter().collect();
        // Threads are started for each round, because there may be a thousand pairs.
        let pool = Pool::on_each(&cpus, self.clock.clone())?;
        self.readback &= pool.readback;
        let watch = Watch::new(&Tree::live(), &self.setup.machine, &cpus);
        let samples = self.calibrate(id, &pool)?;
        self.line.begin(0);
        let line = self.line.clone();
        let work = move |thread: &WorkerThread, sample: usize| run_sample(&line, thread, sample);
        let (measured, results) = measure::round_with_values(&pool, &watch, samples, work)?;
        let results: Result<Vec<Option<f64>>, NoAnswer> = results.into_iter().flatten().collect();
        let seconds: Vec<f64> = results.attempt_on("", id)?.into_iter().flatten().collect();
        let handed_over = self.line.count();
        self.verified &= handed_over == samples as u64 * HAND_OVERS;

        let one_way = |seconds: f64| seconds / (2 * TRIPS) as f64 * 1e9;
        let quartile = |q| stats::quantile(&seconds, q).map(one_way);
        let value = quartile(0.5).filter(|value| *value > 0.0);
        let value = value.ok_or_else(|| {
            Failure::new("").on(id).answer(format!("the clock ({}) gave no time", self.clock.basis))
        })?;
        let mut evidence = measured.evidence;
        let reading = |value| Reading::or_unknown(value, "no sample was taken");
        evidence.put_reading(SAMPLE_SHORTEST, reading(stats::quantile(&seconds, 0.0)));
        evidence.put(HANDED_OVER, handed_over as f64);
        evidence.put(LINE_SAMPLES, seconds.len() as f64);
        evidence.put_reading(LINE_LOW, reading(quartile(0.25)));
        evidence.put_reading(LINE_HIGH, reading(quartile(0.75)));
        Ok(Round::new(
            measured.started,
            measured.duration,
            // Only the median: hundreds of samples of each pair would dominate the record.
            vec![value],
            evidence,
        ))
    }
}

impl Bench for CoresBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let cpus = task.ok_or_else(|| Failure::new("no figure").on(figure))?.cpus;
        self.measure(figure, cpus)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let mut report = WorkerReport::default();
        report.evidence.put(PLACE_READBACK, self.readback);
        report.evidence.put(VERIFIED, self.verified);
        Ok(report)
    }
}
