//! Does the figure depend on where the scheduler placed the two tasks?

use figure::evidence::{HOP_SAMPLES, HOP_TOGETHER, PLACEMENT, TEST_CLASS};
use figure::{Figure, Outcome, format, stats};

use super::rounds_agree;
use crate::check::{Answer, Check, SWITCHING, Subject, always, measured, of_copies, page};

/// `placement` of tasks that are left to the scheduler.
pub(crate) const FREE: &str = "free";
/// From this share of the looks on, both tasks were on one CPU; up to the rest of it, on two.
pub(crate) const MOSTLY: f64 = 0.9;
/// Rounds that differ by this much with the placement are no figure: the median is that of the more frequent placement.
/// Twice is more than any other disturbance that is let pass makes of a rate.
const SEVERAL_FOLD: f64 = 2.0;

/// A free figure is the compatible one, and suspect at best: a better scheduler, or a hypervisor that hides a cache, moves it several-fold on
/// the same hardware (study 2).
pub const CHECK: Check = Check {
    id: "placement-dependent",
    page: page!("placement-dependent"),
    applies: |subject| measured(subject) && (is_free(subject) || is_compatible(subject)),
    essential: always,
    rule,
};

fn is_free(subject: &Subject) -> bool {
    subject.condition(PLACEMENT).as_deref() == Some(FREE)
}

/// UnixBench's own test, which leaves the placement to the scheduler and does not look.
fn is_compatible(subject: &Subject) -> bool {
    of_copies(subject) && subject.condition(TEST_CLASS).as_deref() == Some(SWITCHING)
}

/// Share of the looks that found both tasks on one CPU, over all kept rounds that had any. Rounds with more hops had more.
pub(crate) fn together(figure: &Figure) -> Option<f64> {
    let (mut looks, mut on_one) = (0.0, 0.0);
    for round in figure.kept() {
        if let figure::Reading::Value(share) = round.evidence.get(HOP_TOGETHER) {
            let many = round.evidence.get(HOP_SAMPLES).into_value().unwrap_or(1.0);
            looks += many;
            on_one += share * many;
        }
    }
    (looks > 0.0).then(|| on_one / looks)
}

const FIX: &str =
    "read the figures of pinned tasks beside it (truebench system switch), and compare machines by those";

fn rule(subject: &Subject) -> Answer {
    if !is_free(subject) {
        return match subject.machine().topology.allowed.len() {
            1 => Answer::pass("there is one CPU, and no other place for the two tasks"),
            // Where the rounds are no figure, this is why.
            _ => Answer::of(
                (rounds_agree::CHECK.rule)(subject).outcome.max(Outcome::Warn),
                "the scheduler puts the two tasks where it likes, which moves this figure several-fold on the same hardware",
                FIX,
            ),
        };
    }
    let together = match subject.figure.over_rounds(HOP_TOGETHER) {
        figure::Reading::Value(together) => together,
        figure::Reading::Unknown(reason) => {
            return Answer::warn(
                format!("the scheduler put the two tasks where it liked, and that was not seen ({reason})"),
                FIX,
            );
        }
    };
    let rounds = || subject.figure.kept_values().into_iter().zip(together.iter().copied());
    let of = |keep: fn(f64) -> bool| -> Vec<f64> {
        rounds().filter(|(_, together)| keep(*together)).map(|(value, _)| value).collect()
    };
    let (near, apart) = (of(|together| together >= MOSTLY), of(|together| together <= 1.0 - MOSTLY));
    let share = self::together(subject.figure).unwrap_or(f64::NAN);
    let seen = format!("both tasks were on one CPU in {} of the looks", format::percent(share));
    if let (Some(one), Some(two)) = (stats::median(&near), stats::median(&apart)) {
        let times = (one / two).max(two / one);
        if times >= SEVERAL_FOLD {
            return Answer::fail(
                format!(
                    "the rounds differ {}-fold by where the scheduler put the two tasks: {} on one CPU ({} of {} \
                     rounds), {} on two ({})",
                    format::number(times),
                    format::number(one),
                    near.len(),
                    together.len(),
                    format::number(two),
                    apart.len()
                ),
                FIX,
            );
        }
    }
    Answer::warn(format!("the scheduler puts the two tasks where it likes; here {seen}"), FIX)
}
