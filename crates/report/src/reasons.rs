//! Why a figure is not valid, and which figures share a cause.

use figure::format::{plain, plain_to};
use figure::{CheckResult, Figure, Outcome, Record, Verdict};

use crate::{loads, outline};

/// The longest name of a check that is printed.
const MAX_ID: usize = 40;

/// Why a figure is not valid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reason {
    /// The check's name; `rounds` where the rule of [`Verdict::of`] on their number decided.
    pub id: String,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// Whether `truebench explain` has a page for it.
    pub has_page: bool,
}

/// The reasons of a figure that is not valid, cause first; empty for a valid one.
pub(crate) fn of(figure: &Figure) -> Vec<Reason> {
    let mut reasons: Vec<Reason> =
        figure.checks.iter().filter(|check| check.is_reason()).map(Reason::of).collect();
    if figure.verdict == Some(Verdict::Unverified)
        && let Some(rounds) = CheckResult::too_few_rounds(figure.kept().count())
    {
        reasons.push(Reason { has_page: false, ..Reason::of(&rounds) });
    }
    reasons
}

impl Reason {
    fn of(check: &CheckResult) -> Self {
        Reason {
            id: plain_to(&check.id, MAX_ID),
            detail: plain(&check.detail),
            fix: check.fix.as_deref().map(plain).filter(|fix| !fix.is_empty()),
            has_page: true,
        }
    }
}

/// Figures whose first reason is the same check.
#[derive(Debug)]
pub(crate) struct Cause<'a> {
    /// Their verdict.
    pub verdict: Verdict,
    /// The reason of the first of them.
    pub reason: Reason,
    /// Whether all of them give the same detail.
    pub alike: bool,
    /// The figures, in the record's order.
    pub figures: Vec<&'a Figure>,
    /// Names of their further reasons, most frequent first.
    pub further: Vec<String>,
}

/// The causes behind all figures that are not valid: worst verdict first, then the one with most figures.
pub(crate) fn causes<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<Cause<'a>> {
    let mut causes: Vec<(Cause, Vec<(String, usize)>)> = Vec::new();
    for figure in figures {
        let Some(verdict) = figure.verdict.filter(|verdict| *verdict != Verdict::Valid) else { continue };
        let mut reasons = of(figure).into_iter();
        let Some(first) = reasons.next() else { continue };
        let known = causes.iter().position(|(c, _)| c.verdict == verdict && c.reason.id == first.id);
        let at = known.unwrap_or_else(|| {
            let cause =
                Cause { verdict, reason: first.clone(), alike: true, figures: vec![], further: vec![] };
            causes.push((cause, Vec::new()));
            causes.len() - 1
        });
        let (cause, further) = &mut causes[at];
        cause.alike &= cause.reason.detail == first.detail;
        cause.figures.push(figure);
        for reason in reasons {
            match further.iter_mut().find(|(id, _)| *id == reason.id) {
                Some((_, count)) => *count += 1,
                None => further.push((reason.id, 1)),
            }
        }
    }
    let mut causes: Vec<Cause> = causes
        .into_iter()
        .map(|(mut cause, mut further)| {
            further.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            cause.further = further.into_iter().map(|(id, _)| id).collect();
            cause
        })
        .collect();
    causes.sort_by_key(|cause| std::cmp::Reverse((cause.verdict, cause.figures.len())));
    causes
}

/// Whether figures that were computed from loads are only no better than these.
pub(crate) fn is_echo(cause: &Cause) -> bool {
    cause.reason.id == SOURCES && cause.figures.iter().all(|figure| loads::is_computed(figure))
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

/// The check that says only that others are to blame.
const SOURCES: &str = "sources";

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
