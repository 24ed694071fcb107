//! A mode of a suite: one way of measuring, with its own plan and worker.

use figure::{Figure, Machine};

use crate::session::SuitePlan;
use crate::worker::Prepare;

/// One way of measuring. `O` are the options of its suite, `E` are the errors in them.
#[derive(Debug)]
pub struct Mode<O: 'static, E: 'static> {
    /// Its word on the command line. Its worker is `SUITE.NAME`.
    pub name: &'static str,
    /// What it measures, for a heading.
    pub title: &'static str,
    /// Seconds that it may take by default. `--thorough` distributes its time in proportion.
    pub seconds: f64,
    /// Resolves options against a machine. Pure.
    pub plan: fn(&Machine, &O) -> Result<Planned, E>,
    /// Creates the body of its worker.
    pub prepare: Prepare,
    /// Adds limits and derived figures to the measured ones. Pure.
    pub complete: fn(&mut Vec<Figure>, &Machine),
}

/// A mode's plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan that the session runs.
    pub suite: SuitePlan,
    /// Resolved options for `--dry-run`: names and values.
    pub notes: Vec<(&'static str, String)>,
}
