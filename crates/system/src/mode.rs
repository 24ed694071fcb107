//! Options of the modes of this suite, and errors in them.

use std::path::PathBuf;

use figure::Figure;
use lab::failure::Failure;
pub use lab::mode::Planned;
use lab::schedule::Rules;
use lab::session::SuitePlan;

/// One way of measuring the operating system. To add one, add a file and a line in [`MODES`](crate::MODES).
pub type Mode<S> = lab::mode::Mode<Options, PlanError, S>;

#[derive(Clone, Debug)]
pub struct Options {
    /// Tests and groups by UnixBench's names; empty for all twelve.
    pub tests: Vec<String>,
    /// Numbers of copies; empty for one, and one per CPU.
    pub copies: Vec<u32>,
    /// Use UnixBench's durations and passes, for its score.
    pub unixbench: bool,
    /// Passes of a long test, as in UnixBench's `-i`.
    pub passes: Option<u32>,
    /// Seconds of one pass.
    pub duration: Option<f64>,
    /// Placements of two tasks that wake one another; empty for all.
    pub placements: Vec<String>,
    /// Ways of waking; empty for all, and for latencies.
    pub ways: Vec<String>,
    /// Directory for files and scripts of the tests; `None` for the system's temporary directory.
    pub directory: Option<PathBuf>,
    /// The directory of a UnixBench to compare with.
    pub with: Option<PathBuf>,
    /// truebench's process id, which identifies the directories that this run creates there.
    pub session: u32,
    pub rules: Rules,
}

/// Seconds that are added to every deadline, because a machine may be suspended or overloaded.
pub const GRACE: f64 = 120.0;

/// The plan of a mode with rounds of `round_seconds` at most.
pub fn suite_plan<S>(
    worker: &'static str,
    preparing: impl Into<String>,
    setup: S,
    figures: Vec<Figure>,
    rules: Rules,
    round_seconds: f64,
) -> SuitePlan<S> {
    SuitePlan {
        suite: crate::SUITE,
        worker,
        setup,
        figures,
        differences: Vec::new(),
        rules,
        preparing: preparing.into(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + round_seconds,
    }
}

#[cfg(test)]
impl Options {
    pub fn with_rules(rules: Rules) -> Options {
        Options {
            tests: Vec::new(),
            copies: Vec::new(),
            unixbench: false,
            passes: None,
            duration: None,
            placements: Vec::new(),
            ways: Vec::new(),
            directory: None,
            with: None,
            session: 0,
            rules,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("'{word}': there are the tests {tests}, the groups {groups}, and the modes {modes}")]
    NoSuchTest {
        /// The word; untrusted, without control characters.
        word: String,
        tests: String,
        groups: String,
        modes: String,
    },
    /// An error in the options of a mode: the option, the problem, and what to do.
    #[error(transparent)]
    Wrong(#[from] Failure),
    #[error("the plan cannot be written for its worker: {0}")]
    Setup(#[from] serde_json::Error),
}
