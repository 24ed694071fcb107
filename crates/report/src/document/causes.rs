//! Why figures are not valid: each cause once, with the figures that it spoils and what to do.

use figure::causes::{self, Group};
use figure::format::{plain, plain_to};
use figure::{Figure, Outcome, Record, Verdict};

use super::block::{Item, Mark, ids};
use crate::outline;
use crate::reasons::{self, MAX_ID};

/// A check that spoils figures.
pub(crate) struct Cause {
    /// Their verdict.
    pub verdict: Verdict,
    /// How many there are, with those that were computed from them.
    pub count: usize,
    /// The check.
    pub check: String,
    /// The cause as an entry.
    pub item: Item,
}

/// The causes behind all figures that are not valid: worst verdict first, then the one with most figures.
pub(crate) fn causes(record: &Record) -> Vec<Cause> {
    causes::groups(record.figures.iter()).into_iter().filter_map(|group| cause(record, group)).collect()
}

fn cause(record: &Record, group: Group) -> Option<Cause> {
    let Group { verdict, own, following, .. } = group;
    let count = own.len() + following.len();
    let (figures, following) = if own.is_empty() { (following, 0) } else { (own, following.len()) };
    let reason = reasons::of(figures.first()?).into_iter().next()?;
    let mut further: Vec<(String, usize)> = Vec::new();
    let mut is_alike = true;
    for figure in &figures {
        let mut reasons = reasons::of(figure).into_iter();
        is_alike &= reasons.next().is_some_and(|first| first.detail == reason.detail);
        for other in reasons {
            match further.iter_mut().find(|(id, _)| *id == other.id) {
                Some((_, count)) => *count += 1,
                None => further.push((other.id, 1)),
            }
        }
    }
    further.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let further: Vec<String> = further.into_iter().map(|(id, _)| id).collect();
    let detail = match figures.first() {
        // Each figure has numbers of its own.
        Some(first) if !is_alike => format!("{}: {}", outline::short_id(record, first), reason.detail),
        _ => reason.detail,
    };
    let also = (!further.is_empty()).then(|| format!("also: {}", further.join(", ")));
    let item = Item {
        mark: Mark::Verdict(verdict),
        head: format!("{count} {verdict}: {}", reason.id),
        scope: Some(scope(record, &figures, following)),
        details: [detail].into_iter().chain(also).collect(),
        fix: reason.fix,
        figures: ids(&figures),
    };
    Some(Cause { verdict, count, check: reason.id, item })
}

/// The figures of a cause in words: `triad, copy, and 3 computed from them`.
fn scope(record: &Record, figures: &[&Figure], following: usize) -> String {
    let own = outline::listed(record, figures);
    let them = if figures.len() == 1 { "it" } else { "them" };
    if following == 0 { own } else { format!("{own}, and {following} computed from {them}") }
}

/// Checks without an answer for some figure that do not count for its verdict: each once, with the first reason.
pub(super) fn unobserved<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<(String, String)> {
    let mut unobserved: Vec<(String, String)> = Vec::new();
    for check in figures.flat_map(|figure| &figure.checks) {
        let id = plain_to(&check.id, MAX_ID);
        let is_unanswered = check.outcome == Outcome::Unknown && !check.essential;
        if is_unanswered && !unobserved.iter().any(|(known, _)| *known == id) {
            unobserved.push((id, plain(&check.detail)));
        }
    }
    unobserved
}
