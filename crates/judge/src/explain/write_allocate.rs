//! How much of the gap between regular and non-temporal stores is the write-allocate.
//!
//! A regular store to a line that is not in cache reads it first; STREAM does not count that read (study 1,
//! step 6). The rival cause, placement or clock, is excluded by the pair itself: both figures come from the same
//! threads in the same interleaved rounds, and only the store differs.
//!
//! Where non-temporal stores bring nothing: does the processor avoid the write-allocate, or is its non-temporal store slow?
//! Both are known: Intel SpecI2M (Ice Lake and later) and Arm write streaming claim lines without reading them;
//! on Xeon 7500 even a non-temporal store costs a third transfer (study 1, step 7). The most that this memory moves
//! elsewhere decides: no figure can move more with a write-allocate.
//!
//! By the counters of the memory controllers: study 1, step 6 has regular copy read and write 2:1, and non-temporal copy 1:1. The rival
//! of the write-allocate is that the processor avoids it, that of the non-temporal store a third transfer: the ratio of reads to writes
//! decides.

use super::peak;
use super::support::*;
use crate::check::of_counters;
use crate::checks::traffic_agreement::shares;
use crate::relations::partner::{NON_TEMPORAL, REGULAR, stores};
use crate::relations::traffic::{Mix, mix};
use crate::relations::write_allocate::NO_GAIN;

/// A gain of at least this share of what the traffic predicts is explained by it; a mix of reads and writes is
/// worth a tenth (study 1: copy 1.34 of 1.50) to a fifth (a Sapphire Rapids guest: 1.22 of 1.50).
const EXPLAINED: f64 = 0.75;
/// A gain above the prediction by more than this share has a further cause.
pub(super) const EXCEEDED: f64 = 1.05;
/// Traffic above the best that is certain by more than this is not traffic.
const BEYOND: f64 = 1.10;
/// A ratio of reads to writes this close to a whole mix is that mix.
const SAME: f64 = 0.10;

pub(super) fn gap(subject: &Subject) -> Option<Memory> {
    let pair = pair(subject)?;
    let (gain, predicted) = (pair.gain()?, pair.traffic_ratio()?);
    if gain < NO_GAIN {
        return None;
    }
    let is_regular = stores(subject.figure).as_deref() == Some(REGULAR);
    let other = Name::from(if is_regular { pair.nt } else { pair.regular });
    let (is_more, is_less) = (gain > predicted * EXCEEDED, gain < predicted * EXPLAINED);
    let (gain, predicted) = (Times(gain), Times(predicted));
    Some(match is_regular {
        _ if is_more => Memory::WriteAllocateExceeded { other, gain, predicted },
        _ if is_less => Memory::WriteAllocateInPart { other, gain, predicted },
        false => Memory::WriteAllocateAvoided { regular: other, gain, predicted },
        true => {
            let conditions = &subject.figure.conditions;
            let (counted, bytes) = (conditions.get(COUNTED_BYTES)?, conditions.get(TRAFFIC_BYTES)?);
            Memory::WriteAllocateExplains {
                counted: Amount::of(subject.figure)?,
                moved: traffic_amount(subject.figure)?,
                hidden: Count(bytes - counted),
                bytes: Count(bytes),
                nt: other,
                gain,
                predicted,
            }
        }
    })
}

pub(super) fn avoided(subject: &Subject) -> Option<Memory> {
    let pair = pair(subject)?;
    let gain = pair.gain().filter(|gain| *gain < NO_GAIN).map(Times)?;
    let (regular, claimed) = (Name::from(pair.regular), traffic_amount(pair.regular)?);
    if let Some(peak) = peak::limit(subject).filter(|peak| claimed.value > peak.value) {
        let amount = Amount { value: peak.value, unit: claimed.unit.clone() };
        let most = Sourced::Other { amount, source: "the theoretical peak" };
        return Some(Memory::ProcessorAvoids { gain, regular, claimed, most });
    }
    // The pair itself is what has to be explained.
    let best = most_traffic(subject, |other| is_certain(other) && !std::ptr::eq(other, pair.nt))?;
    let best = cited_traffic(best)?;
    let (is_beyond, most) = (claimed.value > best.amount.value * BEYOND, Sourced::Figure(best));
    Some(match is_beyond {
        true => Memory::ProcessorAvoids { gain, regular, claimed, most },
        false => Memory::SlowNonTemporal { gain, regular, claimed, most },
    })
}

pub(super) fn counted(subject: &Subject) -> Option<Memory> {
    if !of_counters(subject) {
        return None;
    }
    let shares = shares(subject).into_value()?;
    let (moved, declared) = (Times(shares.total / shares.stream), Times(1.0 / shares.stream));
    let case = shares.directions.and_then(|directions| compared(subject, directions, moved, declared));
    Some(case.unwrap_or(Memory::CountedTotal { moved, declared }))
}

/// Reads against writes; `None` where the kernel does not write, or its stores are not known.
fn compared(subject: &Subject, (read, written): (f64, f64), moved: Times, declared: Times) -> Option<Memory> {
    let mix = mix(subject.figure).filter(|mix| mix.writes > 0.0 && written > 0.0)?;
    let (first, not) = match stores(subject.figure)?.as_str() {
        REGULAR => (mix, Mix { reads: mix.reads - mix.writes, ..mix }),
        NON_TEMPORAL => (Mix { reads: mix.reads + mix.writes, ..mix }, mix),
        _ => return None,
    };
    let near = |mix: Mix| mix.reads > 0.0 && (read / written / (mix.reads / mix.writes) - 1.0).abs() <= SAME;
    let ratio = Number(read / written);
    let (read_first, not_read) = (first.to_string(), not.to_string());
    Some(match near(first) {
        true => Memory::CountedReadFirst { moved, declared, ratio, read_first, not_read },
        false if near(not) => Memory::CountedNotRead { moved, declared, ratio, read_first, not_read },
        false => Memory::CountedBetween { moved, declared, ratio, read_first, not_read },
    })
}
