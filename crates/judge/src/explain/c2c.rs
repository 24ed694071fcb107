//! Why a line takes as long as it does from core to core: against the requester's own cache, against memory, and
//! against the other state.
//!
//! Where a line came from is told by two walks of the same chain by the same CPU: what its own cache takes is too
//! short, what memory takes too long. The rival cause, that it came from memory, is excluded or named by the latter.

use figure::evidence::{C2C_MEMORY, C2C_OWN, CPUS, KERNEL, LINE_STATE, PAIR, PAIR_BASIS};
use figure::stats::{Ratio, paired_ratio};
use figure::{Figure, format};

use super::{Rule, amount, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::checks::line_transfer::{HAND_OVER, SIBLINGS};
use crate::relations::partner;

/// Latencies that differ by less than this share are the same: a latency of memory drifts by as much.
const AS_MEMORY: f64 = 0.10;
/// The two states differ when they do by more than this share.
const SAME_STATE: f64 = 0.03;
/// `line_state` of a line that only its owner holds.
const MODIFIED: &str = "modified";

pub(super) const RULE: Rule = Rule { name: "c2c", says: |subject| origin(subject).map(Case::Text) };
pub(super) const STATES: Rule = Rule { name: "c2c-states", says: |subject| states(subject).map(Case::Text) };

fn is_hand_over(figure: &Figure) -> bool {
    figure.conditions.get(KERNEL).as_deref() == Some(HAND_OVER)
}

/// Where the line came from.
fn origin(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !is_hand_over(figure) {
        return None;
    }
    let own = subject.typical(C2C_OWN).into_value()?;
    let of_own = format!("{:.1}x as long as its own cache ({})", figure.value? / own, amount(own, figure));
    let cpus = subject.thread_cpus();
    let (owner, requester) = (cpus.first()?, cpus.get(1)?);
    let state = figure.conditions.get(LINE_STATE)?;
    let claim = format!("A {state} line of CPU {owner} takes CPU {requester} {of_own}");
    if subject.condition(PAIR).as_deref() == Some(SIBLINGS) {
        return Some(format!("{claim}: hardware threads of one core share it, so that nothing moves."));
    }
    let basis = figure.conditions.get(PAIR_BASIS).filter(|basis| !basis.is_empty());
    let basis = basis.map_or_else(String::new, |basis| format!(" (the two CPUs: {basis})"));
    let rounds = figure.over_rounds(C2C_MEMORY).into_value();
    let Some(ratio) = rounds.and_then(|memory| paired_ratio(&figure.kept_values(), &memory)) else {
        return Some(format!("{claim}; what memory takes was not measured{basis}."));
    };
    let memory = amount(subject.typical(C2C_MEMORY).into_value()?, figure);
    let against = format!("{claim} and {} as long as memory ({memory})", partner::ratio_text(&ratio));
    let so = if ratio.same(AS_MEMORY) && state == MODIFIED {
        "memory does not hold it, but asking the other core takes as long"
    } else if ratio.same(AS_MEMORY) {
        "that memory answered is not ruled out"
    } else if ratio.value < 1.0 {
        "it came from a cache, and memory is ruled out"
    } else {
        "asking the other core costs more than memory"
    };
    Some(format!("{against}: {so}{basis}."))
}

/// Clean against modified, on the same CPUs.
fn states(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !is_hand_over(figure) {
        return None;
    }
    let own = figure.conditions.get(LINE_STATE)?;
    let other = subject.record.figures.iter().find(|other| {
        usable(other)
            && is_hand_over(other)
            && other.conditions.get(CPUS) == figure.conditions.get(CPUS)
            && other.conditions.get(LINE_STATE).is_some_and(|state| state != own)
    })?;
    let (modified, clean) = if own == MODIFIED { (figure, other) } else { (other, figure) };
    let ratio: Ratio = partner::ratio(modified, clean).ok()?;
    let values = format!("{} against {}", value(modified), value(clean));
    let seen = format!("{} of clean ({values}; {})", partner::ratio_text(&ratio), other.id);
    Some(if ratio.same(SAME_STATE) {
        format!("Clean or modified makes no difference: modified is {seen}.")
    } else if ratio.value > 1.0 {
        format!(
            "Modified is {seen}: only the owner has such a line, and has to give it up, which costs {}.",
            { format::percent(ratio.value - 1.0) }
        )
    } else {
        format!(
            "Modified is {seen}: the owner gives such a line, while a clean one comes from elsewhere or later."
        )
    })
}
