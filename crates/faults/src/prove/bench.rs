//! The worker: one start of the program is a round.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::image::Image;
use lab::measure;
use lab::ours::find_cell;
use lab::pool::Pool;
use lab::preload::{self, Proof};
use lab::start::{Ended, Stage, Start, open_files};
use lab::tree::{self, Account};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::plan::{Setup, Task};
use super::rates::{self, Rates};
use super::seen::Seen;

/// How long a program that does not end by itself runs for the proof.
const PROOF: Duration = Duration::from_secs(3);
/// How often the rates of one are looked at.
const LOOK: Duration = Duration::from_millis(100);

struct ProveBench {
    setup: Setup,
    cell: PathBuf,
    files: u64,
    /// Why a figure gets no rounds, by its place among the tasks.
    void: Vec<Option<String>>,
    /// One thread for each CPU, asleep while the program runs: for the canary.
    pool: Pool,
    watch: Watch,
}

/// Starts the program once with each lever, for the proof that it takes.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let cell = find_cell()?;
    let clock = Clock::of(&setup.machine);
    let pool = Pool::on_each(&setup.allowed, clock.clone()).map_err(|error| error.to_string())?;
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.allowed);
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    let mut bench = ProveBench { setup, cell, files: open_files(), void: Vec::new(), pool, watch };
    let proofs: Vec<_> = bench
        .setup
        .tasks
        .iter()
        .map(|task| {
            event(Event::Preparing { what: format!("one start for the proof: {}", task.id) });
            bench.proof(task)
        })
        .collect();
    // What differs from start to start, from the first to the last.
    let again = match bench.setup.tasks.first().map(|task| bench.seen(task)) {
        Some(Ok(seen)) => seen.calls(bench.is_rate()),
        Some(Err(reason)) => Reading::Unknown(reason),
        None => Reading::unknown("no start without a lever"),
    };
    let without = proofs.first().and_then(|proof| proof.as_ref().ok()).map(|proof| proof.get(LEVER_CALLS));
    let without = without.unwrap_or_else(|| Reading::unknown("no start without a lever"));
    let mut fails = None;
    for (index, (task, proof)) in bench.setup.tasks.iter().zip(proofs).enumerate() {
        let (mut evidence, void) = match proof {
            Ok(evidence) => (evidence, None),
            Err(cause) => (Evidence::default(), Some(cause)),
        };
        evidence.put_reading(LEVER_CALLS_BASE, without.clone());
        evidence.put_reading(LEVER_CALLS_AGAIN, again.clone());
        if index == 0 {
            fails = void.clone();
        }
        let void = match (void, &fails) {
            (Some(_), Some(how)) | (None, Some(how)) => Some(format!("the program itself fails: {how}")),
            (Some(how), None) => Some(format!("the program without it does not fail, and with it: {how}")),
            (None, None) => None,
        };
        facts.figures.push((task.id.clone(), evidence));
        bench.void.push(void);
    }
    Ok((Box::new(bench), facts))
}

impl ProveBench {
    fn stage(&self) -> Stage<'_> {
        Stage {
            cell: &self.cell,
            program: &self.setup.program,
            files: self.files,
            allowed: &self.setup.allowed,
            patience: Duration::from_secs_f64(self.setup.patience),
        }
    }

    fn is_rate(&self) -> bool {
        self.setup.until_rate.is_some()
    }

    fn enough(&self) -> Option<Duration> {
        self.setup.until_rate.map(|time| PROOF.min(Duration::from_secs_f64(time)))
    }

    fn seen(&self, task: &Task) -> Result<Seen, String> {
        Seen::start(&self.stage(), &task.environment, self.enough())
    }

    /// What a start for the proof saw.
    ///
    /// # Errors
    /// Why the figure is void.
    fn proof(&self, task: &Task) -> Result<Evidence, String> {
        let mut evidence = Evidence::default();
        let image = Image::of(&self.setup.program.file);
        if !task.environment.is_empty() && image.as_ref().is_some_and(|image| image.is_privileged) {
            return Err(
                "it is set-user-ID or set-group-ID: neither the dynamic linker nor malloc takes variables"
                    .into(),
            );
        }
        if let Some(library) = &task.library {
            let asked = Some(library.as_path());
            let proof = preload::prove(
                &self.stage(),
                asked,
                &task.environment,
                &self.setup.directory,
                self.enough(),
            )?;
            match proof {
                Proof::Served(processes) => {
                    evidence.put(LIBRARY, library.display().to_string());
                    evidence.put(PROGRAM_PROCESSES, processes as f64);
                }
                Proof::Unknown(reason) => evidence.put_unknown(LIBRARY, reason),
                Proof::Other(cause) | Proof::Failed(cause) => return Err(cause),
            }
        }
        let seen = self.seen(task)?;
        match &seen.ended.failure {
            None => seen.write(&mut evidence, self.is_rate()),
            // Where calls are counted it may fail for that alone: it may want the rights of another user.
            Some(how) => {
                let plain = self.started(task)?;
                match plain.failure {
                    Some(how) => return Err(how),
                    None => {
                        let reason = format!("the program fails where its calls are counted: {how}");
                        evidence.put_unknown(LEVER_CALLS, reason);
                    }
                }
            }
        }
        Ok(evidence)
    }

    /// One start, neither timed nor counted.
    fn started(&self, task: &Task) -> Result<Ended, String> {
        let start = Start::begin(&self.stage(), task.environment.clone())?;
        match self.enough() {
            Some(enough) => start.run_for(enough, |_| Ok(())),
            None => start.run(|_| Ok(())),
        }
    }

    fn run(&self, task: &Task) -> Result<Round, String> {
        let start = Start::begin(&self.stage(), task.environment.clone())?;
        let body = || {
            let result = match self.setup.until_rate {
                Some(time) => until_steady(start, time),
                None => start.run(|_| Ok(())).map(|ended| (ended, None, 0.0)),
            };
            // Who waited for whom is not told of a program that is ended while others that it started are still at work.
            let used = result.as_ref().map_or(0.0, |(ended, _, seen)| ended.cpu().max(*seen));
            (result, used)
        };
        let (result, around) =
            measure::around(&self.pool, &self.watch, body).map_err(|error| error.to_string())?;
        let (ended, rates, _) = result?;
        if let Some(failure) = &ended.failure {
            return Err(format!("one start of several failed: {failure}"));
        }
        let mut evidence = around.evidence;
        ended.write(&mut evidence);
        let value = match rates {
            Some(rates) => {
                rates.write(&mut evidence);
                rates.busy()
            }
            None => ended.cpu(),
        };
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

/// Lets the program run until its rates are steady, or the time is over; and the CPU seconds that it and all that it started had used
/// when it was told to end.
fn until_steady(start: Start, time: f64) -> Result<(Ended, Option<Rates>, f64), String> {
    let (begun, mut watch, mut seen) = (Instant::now(), rates::Watch::default(), 0.0);
    let mut account = Account::default();
    let ended = start.run_until(LOOK, |cell| {
        let now = begun.elapsed().as_secs_f64();
        if let Reading::Value(used) = tree::used(cell, &mut account) {
            seen = used.cpu();
            watch.take(now, used);
        }
        Ok(now >= time || watch.rates().is_some_and(|rates| rates.is_steady))
    })?;
    let rates = watch.rates();
    match (&ended.failure, rates) {
        (Some(how), _) => Err(format!(
            "{how} after {}, before its rates were steady: leave --until-rate out where the work has an end",
            figure::format::seconds(ended.wall)
        )),
        (None, None) => Err(format!(
            "{} is too short for rates: --until-rate=30s allows more",
            figure::format::seconds(time)
        )),
        (None, rates) => Ok((ended, rates, seen)),
    }
}

impl Bench for ProveBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let index = self.setup.tasks.iter().position(|task| task.id == figure);
        let index = index.ok_or_else(|| format!("no figure {figure}"))?;
        match self.void.get(index) {
            Some(Some(reason)) => Err(reason.clone()),
            _ => self.run(&self.setup.tasks[index]),
        }
    }

    /// What took was proved beforehand.
    fn finish(&mut self) -> Result<Facts, String> {
        Ok(Facts::default())
    }
}
