//! The worker: one start of the program is a round.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use figure::evidence::{LIBRARY, PROGRAM_PROCESSES};
use figure::format::seconds;
use figure::{Event, Evidence, Reading, Round};
use machine::Tree;
use machine::counters::Watch;

use super::plan::{Setup, Variant};
use super::rates::{RateWatch, Rates};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::install::find_helper;
use crate::measure;
use crate::pool::Pool;
use crate::preload::{self, Proof};
use crate::process_tree::{self, UsageTotals};
use crate::start::{LaunchSettings, Start, StartResult, open_files};
use crate::worker::{Bench, Prepared, WorkerReport};

/// How long a program that does not end by itself runs for the proof.
const PROOF_TIME: Duration = Duration::from_secs(3);
/// Time between two readings of the CPU time and faults of such a program.
const RATE_INTERVAL: Duration = Duration::from_millis(100);

pub struct Runner {
    setup: Setup,
    helper: PathBuf,
    files: u64,
    /// Why a variant gets no rounds; in the order of the variants.
    void: Vec<Option<String>>,
    /// One thread for each CPU, asleep while the program runs: for the canary.
    pool: Pool,
    watch: Watch,
}

#[derive(Clone, Debug, Default)]
pub struct VariantProof {
    pub evidence: Evidence,
    pub void: Option<String>,
}

/// Gets the worker ready. `prove` gives a proof for each variant, in order.
pub fn prepare(
    setup: Setup,
    event: &mut dyn FnMut(Event),
    prove: impl FnOnce(&Runner, &mut dyn FnMut(Event)) -> Result<Vec<VariantProof>, Failure>,
) -> Prepared {
    let helper = find_helper()?;
    let clock = Clock::for_machine(&setup.machine);
    let pool = Pool::on_each(&setup.allowed, clock.clone())?;
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.allowed);
    let mut report = WorkerReport::default();
    clock.write(&mut report.evidence);
    let mut runner = Runner { setup, helper, files: open_files(), void: Vec::new(), pool, watch };
    let proofs = prove(&runner, event)?;
    for (variant, proof) in runner.setup.variants.iter().zip(proofs) {
        report.figures.push((variant.figure.clone(), proof.evidence));
        runner.void.push(proof.void);
    }
    Ok((Box::new(runner), report))
}

/// Writes who served; `library` is the one that was asked for, in words. Nothing where the proof failed.
pub fn write_library(evidence: &mut Evidence, proof: &Proof, library: String) {
    match proof {
        Proof::Served(processes) => {
            evidence.put(LIBRARY, library);
            evidence.put(PROGRAM_PROCESSES, *processes as f64);
        }
        Proof::Unknown(reason) => evidence.put_unknown(LIBRARY, reason.clone()),
        Proof::ServedByOther(_) | Proof::Failed(_) => {}
    }
}

impl Runner {
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn stage(&self) -> LaunchSettings<'_> {
        LaunchSettings {
            helper: &self.helper,
            program: &self.setup.program,
            files: self.files,
            allowed: &self.setup.allowed,
            patience: Duration::from_secs_f64(self.setup.patience),
        }
    }

    /// How long a start for the proof runs; `None` for a program that ends by itself.
    pub fn proof_time(&self) -> Option<Duration> {
        self.setup.until_rate.map(|time| PROOF_TIME.min(Duration::from_secs_f64(time)))
    }

    /// Proves by a start of its own which library serves the program's memory: this one, or the C library.
    pub fn prove_library(&self, library: Option<&Path>, environment: &[OsString]) -> Result<Proof, Failure> {
        preload::prove(&self.stage(), library, environment, &self.setup.directory, self.proof_time())
    }

    /// One start, neither timed nor counted.
    pub fn start_untimed(&self, environment: &[OsString]) -> Result<StartResult, Failure> {
        let start = Start::begin(&self.stage(), environment.to_vec())?;
        match self.proof_time() {
            Some(time) => start.run_for(time, |_| Ok(())),
            None => start.run(|_| Ok(())),
        }
    }

    fn measure(&self, variant: &Variant) -> Result<Round, Failure> {
        let start = Start::begin(&self.stage(), variant.environment.clone())?;
        let body = || {
            let result = match self.setup.until_rate {
                Some(time) => run_until_steady(start, time),
                None => start.run(|_| Ok(())).map(|result| (result, None, 0.0)),
            };
            // wait4(2) leaves out processes that still ran when the program was stopped; the readings do not.
            let used = result.as_ref().map_or(0.0, |(result, _, cpu)| result.cpu().max(*cpu));
            (result, used)
        };
        let (result, around) = measure::around(&self.pool, &self.watch, body)?;
        let (result, rates, _) = result?;
        if let Some(failure) = &result.failure {
            return Err(Failure::new("one start of several failed").answer(failure));
        }
        let mut evidence = around.evidence;
        result.write(&mut evidence);
        let value = match rates {
            Some(rates) => {
                rates.write(&mut evidence);
                rates.busy()
            }
            None => result.cpu(),
        };
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

/// Runs the program until its rates are steady, or for `time` seconds. Returns also the CPU seconds of it and
/// its descendants until then.
fn run_until_steady(start: Start, time: f64) -> Result<(StartResult, Option<Rates>, f64), Failure> {
    let (start_time, mut watch, mut cpu) = (Instant::now(), RateWatch::default(), 0.0);
    let mut account = UsageTotals::default();
    let result = start.run_until(RATE_INTERVAL, |helper| {
        let now = start_time.elapsed().as_secs_f64();
        if let Reading::Value(used) = process_tree::usage_below(helper, &mut account) {
            cpu = used.cpu();
            watch.take(now, used);
        }
        Ok(now >= time || watch.rates().is_some_and(|rates| rates.is_steady))
    })?;
    let rates = watch.rates();
    match (&result.failure, rates) {
        (Some(how), _) => {
            let end = format!("{how} after {}, before its rates were steady", seconds(result.wall));
            Err(Failure::new(end).advice("leave --until-rate out where the work has an end"))
        }
        (None, None) => Err(Failure::new(format!("{} is too short for rates", seconds(time)))
            .advice("--until-rate=30s allows more")),
        (None, rates) => Ok((result, rates, cpu)),
    }
}

impl Bench for Runner {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let index = self.setup.variants.iter().position(|variant| variant.figure == figure);
        let index = index.ok_or_else(|| Failure::new("no figure").on(figure))?;
        match self.void.get(index) {
            Some(Some(reason)) => Err(Failure::new(reason.clone())),
            _ => self.measure(&self.setup.variants[index]),
        }
    }

    /// Every variant was proved before the first round.
    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}
