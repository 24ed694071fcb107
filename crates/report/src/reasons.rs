//! Why a figure is not valid, and which figures share a cause.

use figure::causes::{self, Group};
use figure::format::{plain, plain_to};
use figure::{CheckResult, Figure, Outcome, Record, Verdict};

use crate::outline;

/// The longest name of a check that is printed.
const MAX_ID: usize = 40;

/// Why a figure is not valid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reason {
    /// The name of the check that is the cause, of this figure or of one that it was computed from.
    pub id: String,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// The reasons of a figure that is not valid, cause first; empty for a valid one.
pub(crate) fn of(figure: &Figure) -> Vec<Reason> {
    causes::reasons(figure).iter().map(Reason::of).collect()
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

/// Figures whose first cause is the same check.
#[derive(Debug)]
pub(crate) struct Cause<'a> {
    /// Their verdict.
    pub verdict: Verdict,
    /// The reason of the first of them.
    pub reason: Reason,
    /// Whether all that have it themselves give the same detail.
    pub alike: bool,
    /// The figures that have it themselves, in the record's order; where none has, those that follow.
    pub figures: Vec<&'a Figure>,
    /// How many further figures only were computed from such.
    pub following: usize,
    /// Names of their further reasons, most frequent first.
    pub further: Vec<String>,
}

/// The causes behind all figures that are not valid: worst verdict first, then the one with most figures.
pub(crate) fn causes<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<Cause<'a>> {
    causes::groups(figures).into_iter().filter_map(cause).collect()
}

fn cause(group: Group) -> Option<Cause> {
    let Group { verdict, own, following, .. } = group;
    let (figures, following) = if own.is_empty() { (following, 0) } else { (own, following.len()) };
    let reason = of(figures.first()?).into_iter().next()?;
    let mut further: Vec<(String, usize)> = Vec::new();
    let mut alike = true;
    for figure in &figures {
        let mut reasons = of(figure).into_iter();
        alike &= reasons.next().is_some_and(|first| first.detail == reason.detail);
        for other in reasons {
            match further.iter_mut().find(|(id, _)| *id == other.id) {
                Some((_, count)) => *count += 1,
                None => further.push((other.id, 1)),
            }
        }
    }
    further.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let further = further.into_iter().map(|(id, _)| id).collect();
    Some(Cause { verdict, reason, alike, figures, following, further })
}

/// The figures of a cause in words: `triad, copy and 3 computed from such`.
pub(crate) fn named(record: &Record, cause: &Cause) -> String {
    let own = outline::listed(record, &cause.figures);
    match cause.following {
        0 => own,
        following => format!(
            "{own}, and {following} computed from {}",
            if cause.figures.len() == 1 { "it" } else { "them" }
        ),
    }
}

/// What was seen; where each figure has numbers of its own, those of the first.
pub(crate) fn told(record: &Record, cause: &Cause) -> String {
    match cause.figures.first() {
        Some(first) if !cause.alike => {
            format!("{}: {}", outline::short_id(record, first), cause.reason.detail)
        }
        _ => cause.reason.detail.clone(),
    }
}

/// Checks that could not be answered for some figure and do not count for its verdict: each check once, with
/// the first reason given.
pub(crate) fn unobserved<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for check in figures.flat_map(|figure| &figure.checks) {
        if check.outcome == Outcome::Unknown && !check.essential {
            let id = plain_to(&check.id, MAX_ID);
            if !found.iter().any(|(known, _)| *known == id) {
                found.push((id, plain(&check.detail)));
            }
        }
    }
    found
}
