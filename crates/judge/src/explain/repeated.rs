//! Figures that are there to test others: measured again, or with doubled arrays.

use figure::evidence::ARRAY_BYTES;

use super::Rule;
use crate::cases::{Case, Memory};
use crate::check::Subject;
use crate::relations::partner::{self, AGAIN, DOUBLED};
use crate::values::{Bytes, RatioTo, Share};

/// Differences up to here are none (the rule of the check `doubling`).
const SAME: f64 = 0.03;

pub(super) const RULE: Rule = Rule { name: "repeated", says: |subject| says(subject).map(Case::from) };

fn says(subject: &Subject) -> Option<Memory> {
    match partner::role(subject.figure)?.as_str() {
        AGAIN => again(subject),
        DOUBLED => doubled(subject),
        _ => None,
    }
}

fn again(subject: &Subject) -> Option<Memory> {
    let first = crate::relations::aa_pair::twin(subject).filter(|first| first.is_usable())?;
    let ratio = partner::ratio(subject.figure, first).ok()?;
    Some(Memory::MeasuredAgain { difference: Share((ratio.value - 1.0).abs()), first: first.into() })
}

fn doubled(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let size = figure.conditions.get(ARRAY_BYTES)?;
    let (kernel, stores) = (partner::kernel(figure)?, partner::stores(figure)?);
    let single = subject.record.figures.iter().find(|other| {
        other.is_usable()
            && partner::is_headline(other)
            && partner::kernel(other).as_ref() == Some(&kernel)
            && partner::stores(other).as_ref() == Some(&stores)
            && partner::same_setting(other, figure)
            && other.conditions.get(ARRAY_BYTES).is_some_and(|bytes| bytes < size)
    })?;
    let paired = partner::ratio(figure, single).ok()?;
    let (from, to) = (Bytes(single.conditions.get(ARRAY_BYTES)?), Bytes(size));
    let ratio = RatioTo::new(&paired, single);
    Some(match paired.value < 1.0 - SAME && paired.high < 1.0 {
        true => Memory::PartlyCached { from, to, ratio },
        false => Memory::NotCached { from, to, ratio },
    })
}
