//! What a check says of a figure, and the rule that makes a verdict of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explanation::Values;

/// Fewer kept rounds than this give no 95 % interval for the median (order statistics: the range of 6
/// observations covers the median with probability 1 - 2·2⁻⁶ = 96.9 %, that of 5 only with 93.8 %).
pub const MIN_ROUNDS: usize = 6;

/// The check of how many rounds a figure rests on.
pub const ROUNDS: &str = "rounds";
/// The check of how wide its interval is.
pub const PRECISION: &str = "precision";

/// The answer of one check.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The condition was met, and this was observed.
    #[default]
    Pass,
    /// What the check reads could not be observed here.
    Unknown,
    /// The condition was disturbed; the figure may be off.
    Warn,
    /// The condition did not hold; the figure does not mean what its name says.
    Fail,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Pass => "pass",
            Outcome::Unknown => "unknown",
            Outcome::Warn => "warn",
            Outcome::Fail => "fail",
        })
    }
}

/// The check that another one only passes on, and the figure that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The check's name, or [`ROUNDS`].
    pub check: String,
    /// The id of the figure.
    pub figure: String,
}

/// One check applied to one figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The check's stable name, which `truebench explain ID` takes.
    pub id: String,
    /// Its answer.
    pub outcome: Outcome,
    /// What was observed, with numbers, or why nothing could be observed.
    pub detail: String,
    /// What to do about it: a command, or a sentence. Not with `pass`.
    #[serde(default)]
    pub fix: Option<String>,
    /// Whether this figure may be called valid only if this check could be answered.
    #[serde(default)]
    pub essential: bool,
    /// Where the answer only passes on what is wrong with a figure that this one was computed from: the first cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Which of the check's cases it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// What the case rests on.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub values: Values,
}

impl CheckResult {
    /// The name of the first cause: of the check itself, unless it only passes on that of another figure.
    pub fn root(&self) -> &str {
        self.cause.as_ref().map_or(&self.id, |cause| &cause.check)
    }

    /// Whether it keeps its figure from being valid.
    pub fn is_reason(&self) -> bool {
        match self.outcome {
            Outcome::Fail | Outcome::Warn => true,
            Outcome::Unknown => self.essential,
            Outcome::Pass => false,
        }
    }
}

/// What a figure is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every condition that matters was observed and met.
    Valid,
    /// Nothing wrong was observed, but something essential could not be observed: an unanswered check, too few rounds, too wide an interval.
    Unverified,
    /// A condition was disturbed.
    Suspect,
    /// A condition did not hold.
    Invalid,
}

impl Verdict {
    /// The rule: any fail is invalid; else any warn is suspect; else an essential unknown is unverified; else valid. Too few rounds and
    /// too wide an interval are essential unknowns ([`ROUNDS`], [`PRECISION`]).
    pub fn of(checks: &[CheckResult]) -> Verdict {
        let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
        let blind = checks.iter().any(|check| check.essential && check.outcome == Outcome::Unknown);
        if any(Outcome::Fail) {
            Verdict::Invalid
        } else if any(Outcome::Warn) {
            Verdict::Suspect
        } else if blind {
            Verdict::Unverified
        } else {
            Verdict::Valid
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Valid => "valid",
            Verdict::Suspect => "suspect",
            Verdict::Invalid => "invalid",
            Verdict::Unverified => "unverified",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcome: Outcome, essential: bool) -> CheckResult {
        CheckResult {
            id: "x".into(),
            outcome,
            detail: String::new(),
            fix: None,
            essential,
            ..Default::default()
        }
    }

    #[test]
    fn the_worst_answer_decides() {
        use Outcome::*;
        let pass = check(Pass, true);
        assert_eq!(Verdict::of(std::slice::from_ref(&pass)), Verdict::Valid);
        assert_eq!(Verdict::of(&[pass.clone(), check(Unknown, false)]), Verdict::Valid);
        assert_eq!(Verdict::of(&[pass.clone(), check(Unknown, true)]), Verdict::Unverified);
        assert_eq!(Verdict::of(&[check(Unknown, true), check(Warn, false)]), Verdict::Suspect);
        assert_eq!(Verdict::of(&[check(Fail, false), check(Warn, true)]), Verdict::Invalid);
    }
}
