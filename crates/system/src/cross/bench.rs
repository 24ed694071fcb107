//! The worker: runs of UnixBench's programs and passes of ours, in turn.

use std::time::Duration;

use figure::evidence::{CLOCK_GRANULARITY, SAMPLE_SHORTEST, VERIFIED};
use figure::{Event, Round};
use lab::worker::{Bench, Facts};
use lab::{measure, program};
use workload::unixbench::Needs;

use super::plan::{Pair, Setup};
use super::unixbench;
use crate::index::pass::{LANGUAGE, Passes};
use crate::index::place::Place;

struct CrossBench {
    setup: Setup,
    /// For each placement.
    passes: Vec<Passes>,
}

/// Finds the cell, and starts threads on the CPUs of every placement.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let on = |cpus| Passes::on(&setup.machine, cpus, &setup.directory, setup.session);
    let passes = setup.places.iter().map(on).collect::<Result<Vec<_>, _>>()?;
    let mut facts = Facts::default();
    for (place, passes) in passes.iter().enumerate() {
        let here = setup.pairs.iter().filter(|pair| pair.place == place);
        let tasks: Vec<_> = here.map(|pair| pair.ours.clone()).collect();
        // What is true of every figure there is true only of ours here.
        let Facts { evidence, figures, .. } = passes.facts(&tasks);
        facts.figures.extend(tasks.into_iter().map(|task| (task.id, evidence.clone())));
        facts.figures.extend(figures);
    }
    Ok((Box::new(CrossBench { setup, passes }), facts))
}

impl CrossBench {
    /// A run of UnixBench's program.
    fn theirs(&self, pair: &Pair, passes: &Passes) -> Result<Round, String> {
        let place = Place::make(Needs::Directory, &passes.cell, &passes.directory, passes.session)?;
        let text = unixbench::text(&self.setup.unixbench);
        std::fs::copy(&text, place.directory.join(unixbench::TEXT_NAME))
            .map_err(|error| format!("{} could not be copied: {error}", text.display()))?;
        let (test, seconds) = (&pair.ours.test, pair.ours.seconds as u32);
        let call = unixbench::call(&self.setup.unixbench, test, seconds, &place.directory)
            .ok_or_else(|| format!("UnixBench has no {test}"))?;
        let name = |text: String| format!("{} {text}", call.program.display());
        let programs = unixbench::programs(&self.setup.unixbench).display().to_string();
        let asked = program::Program {
            path: call.program.clone(),
            arguments: call.arguments.clone(),
            environment: vec![
                ("LANG".to_owned(), LANGUAGE.to_owned()),
                (unixbench::BINARIES.to_owned(), programs),
            ],
            unset: Vec::new(),
            directory: Some(place.directory.clone()),
            places: vec![passes.cpus.clone()],
            deadline: Duration::from_secs_f64(self.setup.deadline()),
        };
        let body = || {
            let ran = program::run(&asked);
            let cpu = ran.as_ref().map_or(0.0, |ran| ran.cpu_seconds);
            (ran, cpu)
        };
        let (ran, around) =
            measure::around(&passes.pool, &passes.watch, body).map_err(|error| error.to_string())?;
        let ran = ran.map_err(|error| name(error.to_string()))?;
        if let Some(complaint) = ran.complaint() {
            return Err(name(format!("failed: {complaint}")));
        }
        let value = unixbench::read(&ran.errors, around.duration)
            .map_err(|reason| name(format!("was run, but {reason}")))?;
        let mut evidence = around.evidence;
        evidence.merge(ran.evidence);
        evidence.put(SAMPLE_SHORTEST, pair.ours.seconds);
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

impl Bench for CrossBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let found = self.setup.pairs.iter().find(|pair| pair.theirs == figure || pair.ours.id == figure);
        let pair = found.ok_or_else(|| format!("no figure {figure}"))?;
        let passes = self.passes.get(pair.place).ok_or_else(|| format!("{figure}: no such placement"))?;
        if pair.theirs == figure { self.theirs(pair, passes) } else { passes.pass(&pair.ours) }
    }

    /// A copy of ours whose work was not what it must be gives no round; what theirs did nobody knows.
    fn finish(&mut self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        for pair in &self.setup.pairs {
            let mut ours = figure::Evidence::default();
            ours.put(VERIFIED, true);
            facts.figures.push((pair.ours.id.clone(), ours));
            let mut theirs = figure::Evidence::default();
            theirs.put_unknown(VERIFIED, "UnixBench does not verify what its tests did");
            theirs
                .put_unknown(CLOCK_GRANULARITY, "UnixBench times by alarms, and by clocks of several sorts");
            facts.figures.push((pair.theirs.clone(), theirs));
        }
        Ok(facts)
    }
}
