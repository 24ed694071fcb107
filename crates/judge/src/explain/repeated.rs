//! Figures that are there to test others: measured again, or with doubled arrays.

use figure::evidence::ARRAY_BYTES;
use figure::format;

use super::{Rule, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{self, AGAIN, DOUBLED};

/// Differences up to here are none (the rule of the check `doubling`).
const SAME: f64 = 0.03;

pub(super) const RULE: Rule = Rule { name: "repeated", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    match partner::role(subject.figure)?.as_str() {
        AGAIN => again(subject),
        DOUBLED => doubled(subject),
        _ => None,
    }
}

fn again(subject: &Subject) -> Option<String> {
    let first = crate::relations::aa_pair::twin(subject).filter(|first| usable(first))?;
    let ratio = partner::ratio(subject.figure, first).ok()?;
    Some(format!(
        "{} measured again, in the same rounds: {}; what differs from 1 is uncertainty that no interval shows.",
        first.id,
        partner::ratio_text(&ratio)
    ))
}

fn doubled(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let size = figure.conditions.get(ARRAY_BYTES)?;
    let (kernel, stores) = (partner::kernel(figure)?, partner::stores(figure)?);
    let single = subject.record.figures.iter().find(|other| {
        usable(other)
            && partner::is_headline(other)
            && partner::kernel(other).as_ref() == Some(&kernel)
            && partner::stores(other).as_ref() == Some(&stores)
            && partner::same_setting(other, figure)
            && other.conditions.get(ARRAY_BYTES).is_some_and(|bytes| bytes < size)
    })?;
    let ratio = partner::ratio(figure, single).ok()?;
    let seen = format!(
        "with {} instead of {} arrays it is {} of {}",
        format::bytes(size),
        format::bytes(single.conditions.get(ARRAY_BYTES)?),
        partner::ratio_text(&ratio),
        single.id
    );
    Some(if ratio.value < 1.0 - SAME && ratio.high < 1.0 {
        format!("Part of {} comes from cache: {seen}.", single.id)
    } else if ratio.value > 1.0 + SAME && ratio.low > 1.0 {
        format!("Cache is ruled out, as larger arrays are no slower: {seen}.")
    } else {
        format!("Cache plays no part: {seen}.")
    })
}
