//! Why a figure is not valid.

use figure::causes;
use figure::format::{plain, plain_to};
use figure::{CheckResult, Figure};

use crate::mark;

/// The longest name of a check that is printed.
pub(crate) const MAX_ID: usize = 40;

/// Why a figure is not valid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reason {
    /// The name of the check that is the cause, of this figure or of one that it was computed from.
    pub id: String,
    /// What it found.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// The reasons of a figure that is not valid, cause first; empty for a valid one.
pub(crate) fn of(figure: &Figure) -> Vec<Reason> {
    causes::reasons(figure).iter().map(Reason::of).collect()
}

/// `! suspect: steal`: the sign of the verdict, the verdict, and its first reason; nothing of a figure that is not judged.
pub(crate) fn verdict(figure: &Figure) -> Option<String> {
    let verdict = figure.verdict?;
    let reason = of(figure).into_iter().next().map_or_else(String::new, |reason| format!(": {}", reason.id));
    Some(format!("{} {verdict}{reason}", mark::of(verdict)))
}

impl Reason {
    fn of(check: &CheckResult) -> Self {
        Reason {
            id: plain_to(check.root(), MAX_ID),
            detail: plain(&check.detail),
            fix: check.fix.as_deref().map(plain).filter(|fix| !fix.is_empty()),
        }
    }
}
