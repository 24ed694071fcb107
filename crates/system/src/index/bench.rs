//! The worker: a pass of some copies is a round.

use figure::evidence::VERIFIED;
use figure::{Event, Round};
use lab::worker::{Bench, Facts};

use super::pass::{self, Passes};
use super::plan::Setup;

struct IndexBench {
    setup: Setup,
    passes: Passes,
}

/// Finds the cell, and what else moves the figures.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let passes = Passes::on(&setup.machine, &setup.cpus, &setup.directory, setup.session)?;
    let facts = passes.facts(&setup.tasks);
    Ok((Box::new(IndexBench { setup, passes }), facts))
}

impl Bench for IndexBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let task = task.ok_or_else(|| format!("no figure {figure}"))?;
        if self.setup.unixbench {
            pass::settle();
        }
        self.passes.pass(task)
    }

    /// A copy whose work was not what it must be gives no round: see [`Copies::run`].
    fn finish(&mut self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        facts.evidence.put(VERIFIED, true);
        Ok(facts)
    }
}
