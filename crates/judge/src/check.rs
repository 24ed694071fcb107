//! What a check is.

use figure::check::Cause;
use figure::{CheckResult, Outcome, Severity};

use crate::cases::{Case, General};
pub use crate::subject::{SWITCHING, Subject, of_counters};

/// One check: a question about a figure, the rule, and its page.
#[derive(Debug)]
pub struct Check {
    /// Stable name, kebab-case: `truebench explain ID`.
    pub id: &'static str,
    /// The page docs/checks/ID.md: question, evidence, rule, fix.
    pub page: &'static str,
    /// Whether the question makes sense for this figure. A check that does not apply says nothing.
    pub applies: fn(&Subject) -> bool,
    /// Whether the figure may be called valid only if this could be answered.
    pub essential: fn(&Subject) -> bool,
    /// Whether it is asked of figures that other tools printed.
    pub audited: bool,
    /// The rule: pure.
    pub rule: fn(&Subject) -> Answer,
}

/// What a rule answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Pass, warn, fail, unknown.
    pub outcome: Outcome,
    /// What was observed, with its values, or why nothing could be; and what to do about it.
    pub case: Case,
    /// How much of the figure this is about, as a share of it: time lost, or how far it is off. `None` where no number says so.
    pub share: Option<f64>,
    /// What is wrong with another figure, where the answer only passes that on.
    pub cause: Option<Cause>,
}

impl Answer {
    /// An answer of this outcome.
    pub fn of(outcome: Outcome, case: impl Into<Case>) -> Self {
        Answer { outcome, case: case.into(), share: None, cause: None }
    }

    /// The condition held.
    pub fn pass(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Pass, case)
    }

    /// It could not be observed.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Answer::of(Outcome::Unknown, General::Unknown { reason: reason.into() })
    }

    /// The condition was disturbed.
    pub fn warn(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Warn, case)
    }

    /// A warning if the condition was disturbed.
    pub fn warn_if(is_disturbed: bool, case: impl Into<Case>) -> Self {
        Answer::of(if is_disturbed { Outcome::Warn } else { Outcome::Pass }, case)
    }

    /// The condition did not hold.
    pub fn fail(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Fail, case)
    }

    /// A failure if the condition did not hold.
    pub fn fail_if(is_broken: bool, case: impl Into<Case>) -> Self {
        Answer::of(if is_broken { Outcome::Fail } else { Outcome::Pass }, case)
    }

    /// As the result of a check. What to do is kept where it keeps the figure from being valid.
    pub fn result(self, id: &str, essential: bool) -> CheckResult {
        let worded = self.case.explanation(id, Severity::Note, Vec::new());
        let detail: Vec<String> = [Some(worded.claim), worded.evidence].into_iter().flatten().collect();
        let mut result = CheckResult {
            id: id.to_owned(),
            outcome: self.outcome,
            detail: detail.join("; "),
            fix: worded.fix,
            essential,
            cause: self.cause,
            case: worded.case,
            values: worded.values,
        };
        result.fix = result.fix.take().filter(|_| result.is_reason());
        result
    }
}

/// Where a rule warns and where it fails, for a quantity of which less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// From here on the figure may be off.
    pub warn: f64,
    /// From here on the figure does not mean what its name says.
    pub fail: f64,
}

impl Levels {
    /// What `value` amounts to.
    pub fn outcome(&self, value: f64) -> Outcome {
        if value >= self.fail {
            Outcome::Fail
        } else if value >= self.warn {
            Outcome::Warn
        } else {
            Outcome::Pass
        }
    }

    /// What `value` amounts to, as an answer.
    pub fn answer(&self, value: f64, case: impl Into<Case>) -> Answer {
        Answer { share: Some(value), ..Answer::of(self.outcome(value), case) }
    }
}

/// The id of a check and its page, compiled in.
macro_rules! page {
    ($id:literal) => {
        ($id, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checks/", $id, ".md")))
    };
}
pub(crate) use page;

/// The value of a [`Reading`]; in a rule, what could not be observed is answered as unknown with its reason.
macro_rules! observed {
    ($reading:expr) => {
        match $reading {
            figure::Reading::Value(value) => value,
            figure::Reading::Unknown(reason) => return $crate::check::Answer::unknown(reason),
        }
    };
}
pub(crate) use observed;

impl Check {
    /// A check of what truebench measured. A figure may be valid although it could not be answered.
    pub(crate) const fn new(
        (id, page): (&'static str, &'static str),
        applies: fn(&Subject) -> bool,
        rule: fn(&Subject) -> Answer,
    ) -> Check {
        Check { id, page, applies, essential: |_| false, audited: false, rule }
    }

    /// The same; a figure may be valid only if this could be answered.
    pub(crate) const fn essential(
        page: (&'static str, &'static str),
        applies: fn(&Subject) -> bool,
        rule: fn(&Subject) -> Answer,
    ) -> Check {
        Check::new(page, applies, rule).essential_where(|_| true)
    }

    /// Figures that `essential` holds for may be valid only if this could be answered.
    pub(crate) const fn essential_where(mut self, essential: fn(&Subject) -> bool) -> Check {
        self.essential = essential;
        self
    }

    /// It is asked of figures that other tools printed as well.
    pub(crate) const fn audited(mut self) -> Check {
        self.audited = true;
        self
    }

    /// The question in one line, as a person would ask it: what the page begins with.
    pub fn question(&self) -> &'static str {
        self.page.lines().find(|line| line.ends_with('?')).unwrap_or(self.id)
    }

    /// Applies the check; `None` if it does not apply or the figure has no value.
    pub fn apply(&self, subject: &Subject) -> Option<CheckResult> {
        self.weigh(subject).map(|(result, _)| result)
    }

    /// The same, and how much of the figure the answer is about ([`Answer::share`]).
    pub(crate) fn weigh(&self, subject: &Subject) -> Option<(CheckResult, Option<f64>)> {
        if subject.figure.value.is_none() || !(self.applies)(subject) {
            return None;
        }
        let answer = (self.rule)(subject);
        let share = answer.share;
        Some((answer.result(self.id, (self.essential)(subject)), share))
    }
}
