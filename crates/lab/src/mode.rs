//! What a mode of a suite is: one way of measuring, with a plan and a worker of its own.

use figure::{Figure, Machine};

use crate::session::SuitePlan;
use crate::worker::Prepare;

/// One way of measuring; `O` is what a user can ask of its suite, `E` what can be wrong with that.
#[derive(Debug)]
pub struct Mode<O: 'static, E: 'static> {
    /// Its word on the command line, and the worker `SUITE.NAME`.
    pub name: &'static str,
    /// What it measures: a few words for a heading.
    pub title: &'static str,
    /// Seconds that it may take by default. `--thorough` shares its time out in proportion.
    pub seconds: f64,
    /// Resolves options against a machine. Pure.
    pub plan: fn(&Machine, &O) -> Result<Planned, E>,
    /// The body of its worker.
    pub prepare: Prepare,
    /// Adds what follows from the measured figures: limits, figures computed from others. Pure.
    pub complete: fn(&mut Vec<Figure>, &Machine),
}

/// A mode's plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// For the lab.
    pub suite: SuitePlan,
    /// What was resolved, for `--dry-run`: names and values.
    pub notes: Vec<(&'static str, String)>,
}
