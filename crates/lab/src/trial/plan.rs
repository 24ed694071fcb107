//! The program, its variants, and how long a start may take. Pure, but for variables that are already set.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use figure::{CpuList, Figure, Machine};
use serde::{Deserialize, Serialize};

use crate::preload;
use crate::schedule::Rules;
use crate::session::SuitePlan;
use crate::start::{Program, assignment};

/// Seconds that a start may take, unless `--max-time` is longer.
const PATIENCE: f64 = 900.0;
/// Seconds that the deadline of a round adds for starting and for the canary.
const OVERHEAD: f64 = 120.0;

#[derive(Clone, Debug)]
pub struct Trial {
    pub suite: &'static str,
    pub worker: &'static str,
    pub program: Program,
    pub directory: PathBuf,
    pub until_rate: Option<f64>,
    pub rules: Rules,
    pub variants: Vec<Variant>,
    /// Figures before their first round: one for each variant, and those that are not available.
    pub figures: Vec<Figure>,
    pub proof_starts: usize,
    pub preparing: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub program: Program,
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    pub allowed: CpuList,
    /// Seconds that a start may take.
    pub patience: f64,
    /// Seconds that a start gets until its rates are steady, if it does not end by itself.
    pub until_rate: Option<f64>,
    /// Starts that each variant gets, time permitting, and the most.
    pub starts: (usize, usize),
    /// Seconds for all of them, if there is a bound.
    pub max_time: Option<f64>,
    pub variants: Vec<Variant>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variant {
    pub name: String,
    pub figure: String,
    /// The variables that make it, as NAME=VALUE; none for the program as it is.
    pub environment: Vec<OsString>,
    /// The library that is preloaded, if there is one; `environment` names it too.
    pub library: Option<PathBuf>,
}

impl Variant {
    pub fn is_plain(&self) -> bool {
        self.library.is_none() && self.environment.is_empty()
    }
}

impl Trial {
    pub fn suite_plan(self, machine: &Machine) -> SuitePlan<Setup> {
        let max_time = Some(self.rules.max_time).filter(|seconds| *seconds < f64::MAX);
        let patience = max_time.map_or(PATIENCE, |seconds| seconds.max(PATIENCE));
        let setup = Setup {
            machine: machine.clone(),
            program: self.program,
            directory: self.directory,
            allowed: machine.topology.usable(),
            patience,
            until_rate: self.until_rate,
            starts: (self.rules.least, self.rules.most),
            max_time,
            variants: self.variants,
        };
        SuitePlan {
            suite: self.suite,
            worker: self.worker,
            setup,
            figures: self.figures,
            differences: Vec::new(),
            rules: self.rules,
            preparing: self.preparing,
            least_seconds: 0.0,
            prepare_deadline: self.proof_starts as f64 * (patience + OVERHEAD),
            round_deadline: patience + OVERHEAD,
        }
    }
}

/// The program and its file, for `--dry-run`.
pub fn notes(program: &Program) -> [(&'static str, String); 2] {
    [
        ("program", figure::format::plain_to(&program.command_line(), 200)),
        ("file", figure::format::plain_to(&program.file.to_string_lossy(), 200)),
    ]
}

/// Variables and a library to preload, each as NAME=VALUE. What is preloaded anyway stays so, behind it.
pub fn environment(variables: &[(String, String)], library: Option<&Path>) -> Vec<OsString> {
    let variables = variables.iter().map(|(name, value)| assignment(name, value.as_ref()));
    let preload = library.map(|library| preload::variable(library, std::env::var_os("LD_PRELOAD")));
    variables.chain(preload).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    fn trial(max_time: f64) -> Trial {
        Trial {
            suite: "suite",
            worker: "suite.trial",
            program: Program { file: "/bin/true".into(), arguments: vec!["true".into()] },
            directory: "/nonexistent".into(),
            until_rate: None,
            rules: Rules { max_time, ..Rules::exactly(6, 60.0) },
            variants: Vec::new(),
            figures: Vec::new(),
            proof_starts: 3,
            preparing: String::new(),
        }
    }

    #[test]
    fn a_start_may_take_as_long_as_the_whole_trial_or_the_default() {
        let plan = |max_time| trial(max_time).suite_plan(&Machine::default());
        assert_eq!(plan(60.0).round_deadline, PATIENCE + OVERHEAD);
        assert_eq!(plan(f64::MAX).round_deadline, PATIENCE + OVERHEAD);
        let long = plan(2.0 * PATIENCE);
        assert_eq!(long.round_deadline, 2.0 * PATIENCE + OVERHEAD);
        assert_eq!(long.prepare_deadline, 3.0 * long.round_deadline);
        let setup = long.setup;
        assert_eq!((setup.patience, setup.max_time), (2.0 * PATIENCE, Some(2.0 * PATIENCE)));
    }

    #[test]
    fn variables_come_before_the_library() {
        let variables = [("A".to_owned(), "b c".to_owned())];
        assert_eq!(environment(&variables, None), ["A=b c"]);
        let all = environment(&variables, Some(Path::new("/opt/libmine.so")));
        assert!(all[1].to_string_lossy().starts_with("LD_PRELOAD=/opt/libmine.so"), "{all:?}");
    }
}
