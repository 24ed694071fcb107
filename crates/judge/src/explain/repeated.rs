//! Figures that are there to test others: measured again, with doubled arrays, or by another program, where the two agree or differ by
//! a known factor. The check reports a disagreement.

use super::support::*;
use crate::relations::partner::{self, AGAIN, DOUBLED, stores};
use crate::relations::second_instrument::{COMPUTE, Finding, compare, pair};

/// Differences up to here are none (the rule of the check `doubling`).
const SAME: f64 = 0.03;

pub(super) fn case(subject: &Subject) -> Option<Memory> {
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
    partner::stores(figure)?;
    let is_single = |other: &&Figure| other.conditions.get(ARRAY_BYTES).is_some_and(|bytes| bytes < size);
    let single = others(subject)
        .filter(|other| partner::is_headline(other) && partner::same_setting(other, figure))
        .filter(|other| same(other, figure, KERNEL) && same(other, figure, STORES))
        .find(is_single)?;
    let paired = partner::ratio(figure, single).ok()?;
    let (from, to) = (Bytes(single.conditions.get(ARRAY_BYTES)?), Bytes(size));
    let ratio = RatioTo::new(&paired, single);
    Some(match paired.value < 1.0 - SAME && paired.high < 1.0 {
        true => Memory::PartlyCached { from, to, ratio },
        false => Memory::NotCached { from, to, ratio },
    })
}

pub(super) fn second_instrument(subject: &Subject) -> Option<Audit> {
    let pair = pair(subject).filter(|pair| pair.other.is_usable() && pair.own.is_usable())?;
    let (ratio, finding) = compare(&pair).ok()?;
    let program = pair.other.conditions.get(INSTRUMENT)?;
    let conditions = &pair.own.conditions;
    let are_stores_known = stores(pair.other).is_some() || conditions.get(TEST).is_some();
    let (ratio, theirs, ours) = (Range::from(&ratio), Cited::of(pair.other)?, Cited::of(pair.own)?);
    Some(match finding {
        Finding::Agree if is(pair.own, TEST_CLASS, COMPUTE) => {
            Audit::CompilersAgree { program, ratio, theirs, ours }
        }
        Finding::Agree if are_stores_known => Audit::InstrumentsAgree { program, ratio, theirs, ours },
        Finding::Agree => Audit::StoresUnknown { program, ratio, theirs, ours },
        Finding::Explained(reason) => Audit::InstrumentsDiffer { program, ratio, theirs, ours, reason },
        Finding::Guessed(_) | Finding::Disagree => return None,
    })
}
