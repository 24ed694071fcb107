//! What a check is.

use figure::{CheckResult, Figure, Outcome, Record};

/// What a check looks at: a figure within its record.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The figure under judgement.
    pub figure: &'a Figure,
    /// All that was measured with it, and the machine.
    pub record: &'a Record,
}

/// One check: a question about a figure, the evidence it reads, the rule, and its page.
#[derive(Debug)]
pub struct Check {
    /// Stable name, kebab-case: `truebench explain ID`.
    pub id: &'static str,
    /// The question in one line, as a person would ask it.
    pub question: &'static str,
    /// Names of the evidence keys and conditions that the rule reads.
    pub reads: &'static [&'static str],
    /// The page docs/checks/ID.md: question, evidence, rule, fix.
    pub page: &'static str,
    /// Whether the question makes sense for this figure. A check that does not apply says nothing.
    pub applies: fn(&Subject) -> bool,
    /// Whether the figure may be called valid only if this could be answered.
    pub essential: fn(&Subject) -> bool,
    /// The rule: pure.
    pub rule: fn(&Subject) -> Answer,
}

/// What a rule answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Pass, warn, fail, unknown.
    pub outcome: Outcome,
    /// What was seen, with numbers; or why nothing could be seen.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Answer {
    /// The condition held.
    pub fn pass(detail: impl Into<String>) -> Self {
        Answer { outcome: Outcome::Pass, detail: detail.into(), fix: None }
    }

    /// It could not be observed.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Answer { outcome: Outcome::Unknown, detail: reason.into(), fix: None }
    }

    /// The condition was disturbed.
    pub fn warn(detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Answer { outcome: Outcome::Warn, detail: detail.into(), fix: Some(fix.into()) }
    }

    /// The condition did not hold.
    pub fn fail(detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Answer { outcome: Outcome::Fail, detail: detail.into(), fix: Some(fix.into()) }
    }
}

impl Check {
    /// Applies the check; `None` if it does not apply or the figure has no value.
    pub fn apply(&self, subject: &Subject) -> Option<CheckResult> {
        if subject.figure.value.is_none() || !(self.applies)(subject) {
            return None;
        }
        let answer = (self.rule)(subject);
        Some(CheckResult {
            id: self.id.to_owned(),
            outcome: answer.outcome,
            detail: answer.detail,
            fix: answer.fix,
            essential: (self.essential)(subject),
        })
    }
}

/// Every check and relation, in causal order.
pub fn all() -> impl Iterator<Item = &'static Check> {
    crate::checks::ALL.iter().copied().chain(crate::relations::ALL.iter().copied())
}

/// For [`Check::applies`] and [`Check::essential`]: always.
pub fn always(_: &Subject) -> bool {
    true
}

/// For [`Check::essential`]: never.
pub fn never(_: &Subject) -> bool {
    false
}
