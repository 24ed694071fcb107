//! The worker: two pinned threads that hand one line to and fro.
//!
//! All pairs use the same line, so that it is at home on the same memory node for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Reading, Round, stats};
use lab::clock::Clock;
use lab::measure;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::line::{Alone, Line};
use super::plan::{Setup, TRIPS};

/// Round trips before each sample, which are not timed: the threads leave their barrier one after the other.
const UNTIMED: u64 = 50;
/// Hand-overs of a sample.
const HAND_OVERS: u64 = 2 * (UNTIMED + TRIPS);
/// Samples by which the number of a round is found.
const TRIED: usize = 5;
/// Samples of a round at least, for its quartiles, and at most.
const SAMPLES: (usize, usize) = (11, 4000);

struct CoresBench {
    setup: Setup,
    clock: Clock,
    line: Arc<Line>,
    /// Samples of a round, by figure.
    samples: BTreeMap<String, usize>,
    /// Every thread read back the mask that was set.
    readback: bool,
    /// Every line held the count that it must.
    verified: bool,
}

/// Finds the clock.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let clock = Clock::of(&setup.machine);
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    let (line, samples) = (Arc::default(), BTreeMap::new());
    Ok((Box::new(CoresBench { setup, clock, line, samples, readback: true, verified: true }), facts))
}

/// Seconds of a sample's timed trips, by the thread that times them.
type Timed = Result<Option<f64>, Alone>;

/// The part of either thread in a sample.
fn part(line: &Line, seat: &Seat, sample: usize) -> Timed {
    let first = sample as u64 * HAND_OVERS + seat.index as u64;
    line.bounce(first, UNTIMED)?;
    let start = seat.clock.now();
    line.bounce(first + 2 * UNTIMED, TRIPS)?;
    let stop = seat.clock.now();
    Ok((seat.index == 0).then(|| seat.clock.seconds(start, stop)))
}

impl CoresBench {
    /// Samples of a round of this pair, by a few that are not kept.
    fn dose(&mut self, id: &str, pool: &Pool) -> Result<usize, String> {
        if let Some(samples) = self.samples.get(id) {
            return Ok(*samples);
        }
        self.line.begin(0);
        let line = self.line.clone();
        let tried = pool.run(move |seat| {
            (0..TRIED).map(|sample| part(&line, seat, sample)).collect::<Result<Vec<_>, Alone>>()
        });
        let tried = tried.map_err(|error| error.to_string())?;
        let tried: Result<Vec<_>, Alone> = tried.into_iter().collect();
        let seconds: Vec<f64> =
            tried.map_err(|error| format!("{id}: {error}"))?.into_iter().flatten().flatten().collect();
        let typical = stats::median(&seconds).unwrap_or(0.0).max(1e-9);
        let samples = ((self.setup.round / typical) as usize).clamp(SAMPLES.0, SAMPLES.1);
        self.samples.insert(id.to_owned(), samples);
        Ok(samples)
    }

    fn measure(&mut self, id: &str, cpus: [u32; 2]) -> Result<Round, String> {
        let cpus: CpuList = cpus.into_iter().collect();
        // Threads for a round: a thousand pairs of them would wait for their turn otherwise.
        let pool = Pool::on_each(&cpus, self.clock.clone()).map_err(|error| error.to_string())?;
        self.readback &= pool.readback;
        let watch = Watch::new(&Tree::live(), &self.setup.machine, &cpus);
        let samples = self.dose(id, &pool)?;
        self.line.begin(0);
        let line = self.line.clone();
        let work = move |seat: &Seat, sample: usize| part(&line, seat, sample);
        let (measured, given) =
            measure::round_giving(&pool, &watch, samples, work).map_err(|error| error.to_string())?;
        let given: Result<Vec<Option<f64>>, Alone> = given.into_iter().flatten().collect();
        let seconds: Vec<f64> =
            given.map_err(|error| format!("{id}: {error}"))?.into_iter().flatten().collect();
        let handed_over = self.line.count();
        self.verified &= handed_over == samples as u64 * HAND_OVERS;

        let one_way = |seconds: f64| seconds / (2 * TRIPS) as f64 * 1e9;
        let quartile = |q| stats::quantile(&seconds, q).map(one_way);
        let value = quartile(0.5).filter(|value| *value > 0.0);
        let value = value.ok_or_else(|| format!("{id}: the clock ({}) gave no time", self.clock.basis))?;
        let mut evidence = measured.evidence;
        let known = |value| Reading::or_unknown(value, "no sample was taken");
        evidence.put_reading(SAMPLE_SHORTEST, known(stats::quantile(&seconds, 0.0)));
        evidence.put(HANDED_OVER, handed_over as f64);
        evidence.put(LINE_SAMPLES, seconds.len() as f64);
        evidence.put_reading(LINE_LOW, known(quartile(0.25)));
        evidence.put_reading(LINE_HIGH, known(quartile(0.75)));
        Ok(Round::new(
            measured.started,
            measured.duration,
            // Hundreds of samples of as many pairs would be all that a record holds.
            vec![value],
            evidence,
        ))
    }
}

impl Bench for CoresBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let cpus = task.ok_or_else(|| format!("no figure {figure}"))?.cpus;
        self.measure(figure, cpus)
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        facts.evidence.put(PLACE_READBACK, self.readback);
        facts.evidence.put(VERIFIED, self.verified);
        Ok(facts)
    }
}
