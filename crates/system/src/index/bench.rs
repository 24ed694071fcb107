//! The worker. A round is one pass of a test's copies.

use figure::evidence::VERIFIED;
use figure::{Event, Round};
use lab::failure::Failure;
use lab::worker::{Bench, WorkerReport};

use super::pass::{self, PassRunner};
use super::plan::Setup;

struct IndexBench {
    setup: Setup,
    runner: PassRunner,
}

pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let runner = PassRunner::new(&setup.machine, &setup.cpus, &setup.directory, setup.session)?;
    let report = runner.report(&setup.tasks);
    Ok((Box::new(IndexBench { setup, runner }), report))
}

impl Bench for IndexBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let task = task.ok_or_else(|| Failure::new("no figure").on(figure))?;
        if self.setup.unixbench {
            pass::settle();
        }
        self.runner.pass(task)
    }

    /// All rounds are verified: a copy with wrong results fails its round (see [`lab::copies::Copies::run`]).
    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let mut report = WorkerReport::default();
        report.evidence.put(VERIFIED, true);
        Ok(report)
    }
}
