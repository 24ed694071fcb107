//! Why a line takes as long as it does from core to core: against the requester's own cache, against memory, and
//! against the other state.
//!
//! Two walks of the same chain by the same CPU show where a line came from: its own cache takes less, memory more. The
//! rival cause, that it came from memory, is excluded or named by the latter.

use figure::stats::paired_ratio;

use super::support::*;
use crate::checks::line_transfer::{HAND_OVER, SIBLINGS};
use crate::relations::partner;

/// Latencies that differ by less than this share are the same: a latency of memory drifts by as much.
const AS_MEMORY: f64 = 0.10;
/// The two states differ when they do by more than this share.
const SAME_STATE: f64 = 0.03;
/// `line_state` of a line that only its owner holds.
const MODIFIED: &str = "modified";

fn is_hand_over(figure: &Figure) -> bool {
    is(figure, KERNEL, HAND_OVER)
}

pub(super) fn origin(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let state = figure.conditions.get(LINE_STATE).filter(|_| is_hand_over(figure))?;
    let amount = |value| Amount::like(figure, value);
    let cache = subject.typical(C2C_OWN).into_value()?;
    let (times, cache) = (Times(figure.value? / cache), amount(cache));
    if subject.condition(PAIR).as_deref() == Some(SIBLINGS) {
        return Some(Topology::SharedByThreads { times, cache });
    }
    let paired = paired_ratio(&figure.kept_values(), &figure.over_rounds(C2C_MEMORY).into_value()?)?;
    let (ratio, memory) = (Range::from(&paired), amount(subject.typical(C2C_MEMORY).into_value()?));
    Some(match paired.same(AS_MEMORY) {
        true if state != MODIFIED => Topology::PerhapsFromMemory { ratio, memory },
        false if paired.value < 1.0 => Topology::FromCache { ratio, memory, times, cache },
        _ => Topology::SlowOtherCore { ratio, memory },
    })
}

/// Clean against modified, on the same CPUs.
pub(super) fn states(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let state = figure.conditions.get(LINE_STATE).filter(|_| is_hand_over(figure))?;
    let mut others = others(subject).filter(|other| is_hand_over(other) && same(other, figure, CPUS));
    let other =
        others.find(|other| other.conditions.get(LINE_STATE).is_some_and(|another| another != state))?;
    let (modified, clean) = if state == MODIFIED { (figure, other) } else { (other, figure) };
    let paired = partner::ratio(modified, clean).ok()?;
    let (ratio, modified, clean) = (Range::from(&paired), Cited::of(modified)?, Cited::of(clean)?);
    match paired.same(SAME_STATE) {
        true => None,
        false if paired.value > 1.0 => Some(Topology::ModifiedSlower { ratio, modified, clean }),
        false => Some(Topology::ModifiedFaster { ratio, modified, clean }),
    }
}
