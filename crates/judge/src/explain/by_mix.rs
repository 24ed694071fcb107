//! Bandwidth by the share of writes: a walk in one mix against walks in others.
//!
//! Every mix but two walks the same pages side by side and differs from the others only in which of them it writes, so
//! that no loop is to blame. Bandwidth that falls with the share of writes is memory's doing: it turns its bus
//! between the two. Bandwidth that rises cannot be: then the reads that each core can have in flight are the limit,
//! and writes, which wait for nothing, come on top.

use super::in_flight::{read_rate, under_way};
use super::support::*;
use crate::relations::partner::{Side, kernel, same_setting, side};
use crate::relations::traffic::{WALK, mix};

/// A thread that reads at most this many times its rate of reads alone is limited by its reads.
const AS_FAST: f64 = 1.05;
const READS: &str = "1:0";
/// A walk in three streams, as a triad: its loop is another.
pub(crate) const STREAMS: &str = "triad-like";

pub(crate) fn is_walk(figure: &Figure) -> bool {
    figure.unit == Unit::GB_PER_S && kernel(figure).as_deref() == Some(WALK)
}

/// The walk in another mix, under the subject's conditions.
fn other<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a Figure> {
    let mut walks = others(subject).filter(|other| is_walk(other) && same_setting(other, subject.figure));
    walks.find(|other| is(other, MIX, name))
}

pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    if !is_walk(figure) {
        return None;
    }
    let mix = mix(figure)?;
    if is(figure, MIX, STREAMS) {
        return streams(subject, &mix.to_string());
    }
    if mix.writes == 0.0 {
        let (lines, latency) = under_way(subject.record, figure)?;
        return Some(Memory::ReadsAlone { rate: read_rate(figure)?, lines, latency });
    }
    let reads = other(subject, READS)?;
    let (ratio, writes) = (Times(figure.value? / reads.value?), Share(1.0 - mix.read_share()));
    let (side, alone) = (side(figure, reads)?, read_rate(reads)?);
    let reads = Cited::of(reads)?;
    Some(match (side, mix.reads == 0.0) {
        (Side::Inconclusive, _) => return None,
        (Side::Below, true) => Memory::WritesSlower { ratio, other: reads },
        (_, true) => Memory::WritesUnlimited { ratio, reads },
        (Side::Below, false) => Memory::WritesCost { writes, ratio, reads },
        (Side::Same, false) => Memory::WritesFree { writes, ratio, reads },
        (Side::Above, false) => {
            let rate = read_rate(figure)?;
            match rate.value <= alone.value * AS_FAST {
                true => Memory::WritesAdd { writes, ratio, reads, rate, alone },
                false => Memory::ReadsDisturbed { reads, rate, alone },
            }
        }
    })
}

/// Three streams against twelve pages, in the same mix.
fn streams(subject: &Subject, mix: &str) -> Option<Memory> {
    let other = other(subject, mix)?;
    let case =
        Memory::ThreeStreams { ratio: Times(subject.figure.value? / other.value?), walk: Cited::of(other)? };
    (side(subject.figure, other)? != Side::Inconclusive).then_some(case)
}
