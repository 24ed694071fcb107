//! The worker. It runs UnixBench's programs and truebench's passes alternately.

use std::time::Duration;

use figure::evidence::{CLOCK_GRANULARITY, SAMPLE_SHORTEST, VERIFIED};
use figure::{Event, Round};
use lab::failure::{Attempt, Failure};
use lab::worker::{Bench, WorkerReport};
use lab::{measure, program};
use workload::unixbench::Needs;

use super::plan::{Pair, Setup};
use super::unixbench;
use crate::index::pass::{LANGUAGE, PassRunner};
use crate::index::workdir::WorkDir;

struct CrossBench {
    setup: Setup,
    /// By placement.
    runners: Vec<PassRunner>,
}

/// Finds the helper, and starts threads on the CPUs of every placement.
pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let runner = |cpus| PassRunner::new(&setup.machine, cpus, &setup.directory, setup.session);
    let runners = setup.places.iter().map(runner).collect::<Result<Vec<_>, _>>()?;
    let mut report = WorkerReport::default();
    for (place, runner) in runners.iter().enumerate() {
        let pairs = setup.pairs.iter().filter(|pair| pair.place == place);
        let tasks: Vec<_> = pairs.map(|pair| pair.truebench.clone()).collect();
        // Evidence of all figures of the index applies only to truebench's figures here.
        let WorkerReport { evidence, figures, .. } = runner.report(&tasks);
        report.figures.extend(tasks.into_iter().map(|task| (task.id, evidence.clone())));
        report.figures.extend(figures);
    }
    Ok((Box::new(CrossBench { setup, runners }), report))
}

impl CrossBench {
    fn run_unixbench(&self, pair: &Pair, runner: &PassRunner) -> Result<Round, Failure> {
        let workdir = WorkDir::create(Needs::Directory, &runner.helper, &runner.directory, runner.session)?;
        let text = unixbench::text(&self.setup.unixbench_dir);
        std::fs::copy(&text, workdir.directory.join(unixbench::TEXT_NAME))
            .attempt_on("cannot copy", text.display())?;
        let (test, seconds) = (&pair.truebench.test, pair.truebench.seconds as u32);
        let call = unixbench::call(&self.setup.unixbench_dir, test, seconds, &workdir.directory)
            .ok_or_else(|| Failure::new("UnixBench has no").on(test))?;
        let programs = unixbench::programs(&self.setup.unixbench_dir).display().to_string();
        let program = program::Program {
            path: call.program.clone(),
            arguments: call.arguments.clone(),
            environment: vec![
                ("LANG".to_owned(), LANGUAGE.to_owned()),
                (unixbench::BINARIES.to_owned(), programs),
            ],
            unset: Vec::new(),
            directory: Some(workdir.directory.clone()),
            places: vec![runner.cpus.clone()],
            deadline: Duration::from_secs_f64(self.setup.deadline()),
        };
        let body = || {
            let result = program::run(&program);
            let cpu = result.as_ref().map_or(0.0, |result| result.cpu_seconds);
            (result, cpu)
        };
        let (result, around) = measure::around(&runner.pool, &runner.watch, body)?;
        let result = result.map_err(|error| Failure::new(format!("{} {error}", call.program.display())))?;
        if let Some(complaint) = result.complaint() {
            return Err(Failure::new(format!("{} failed", call.program.display())).answer(complaint));
        }
        let value =
            unixbench::read(&result.errors, around.duration).attempt_on("", call.program.display())?;
        let mut evidence = around.evidence;
        evidence.merge(result.evidence);
        evidence.put(SAMPLE_SHORTEST, pair.truebench.seconds);
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

impl Bench for CrossBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let is_pair = |pair: &&Pair| pair.unixbench == figure || pair.truebench.id == figure;
        let pair =
            self.setup.pairs.iter().find(is_pair).ok_or_else(|| Failure::new("no figure").on(figure))?;
        let runner =
            self.runners.get(pair.place).ok_or_else(|| Failure::new("no placement of").on(figure))?;
        if pair.unixbench == figure { self.run_unixbench(pair, runner) } else { runner.pass(&pair.truebench) }
    }

    /// A truebench copy with wrong results fails its round. UnixBench does not verify its results.
    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let mut report = WorkerReport::default();
        for pair in &self.setup.pairs {
            let mut truebench = figure::Evidence::default();
            truebench.put(VERIFIED, true);
            report.figures.push((pair.truebench.id.clone(), truebench));
            let mut unixbench = figure::Evidence::default();
            unixbench.put_unknown(VERIFIED, "UnixBench does not verify what its tests did");
            let reason = "UnixBench times by alarms, and by clocks of several sorts";
            unixbench.put_unknown(CLOCK_GRANULARITY, reason);
            report.figures.push((pair.unixbench.clone(), unixbench));
        }
        Ok(report)
    }
}
