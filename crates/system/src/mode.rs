//! What the modes of this suite have in common: options, and what can be wrong with them.

use std::path::PathBuf;

pub use lab::mode::Planned;
use lab::schedule::Rules;

/// One way of measuring the operating system. A new one is a file, and a line in [`MODES`](crate::MODES).
pub type Mode = lab::mode::Mode<Options, PlanError>;

/// What the user asked for. A mode takes what concerns it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tests and groups, by UnixBench's names; empty for the twelve of its index.
    pub tests: Vec<String>,
    /// Numbers of copies, each a set of figures; empty for one and as many as there are CPUs.
    pub copies: Vec<u32>,
    /// UnixBench's own durations and passes, and its score.
    pub unixbench: bool,
    /// Passes of a long test, as UnixBench's `-i`.
    pub passes: Option<u32>,
    /// Seconds of one pass.
    pub duration: Option<f64>,
    /// Where files are copied and scripts work; `None` for the system's directory for temporary files.
    pub directory: Option<PathBuf>,
    /// The directory of a UnixBench to compare with.
    pub with: Option<PathBuf>,
    /// Names the directories that this run makes there, so that they can be told from others': truebench's process id.
    pub session: u32,
    /// When there are enough rounds.
    pub rules: Rules,
}

#[cfg(test)]
impl Options {
    /// Nothing asked for, under these rules.
    pub fn nothing_but(rules: Rules) -> Options {
        Options {
            tests: Vec::new(),
            copies: Vec::new(),
            unixbench: false,
            passes: None,
            duration: None,
            directory: None,
            with: None,
            session: 0,
            rules,
        }
    }
}

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No such test.
    #[error("'{0}': there are the tests {tests}, the groups {groups}, and besides {modes}",
        tests = crate::catalogue::names().join(", "), groups = crate::catalogue::groups().join(", "),
        modes = crate::MODES.iter().skip(1).map(|mode| mode.name).collect::<Vec<_>>().join(", "))]
    NoSuchTest(String),
    /// What a mode has to say about its own options: what, where, what to do.
    #[error("{0}")]
    Wrong(String),
}
