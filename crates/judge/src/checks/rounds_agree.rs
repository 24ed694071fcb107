//! Do the rounds agree with one another?

use figure::evidence::audit::MOMENTS;
use figure::evidence::{NOISE, PRICE_AGAIN, TARGET};
use figure::format;

use super::levels::LOST_TIME;
use crate::prelude::*;

/// The half-width of the interval may be this many times what was aimed at before it is worth a warning: the
/// interval is printed with the figure and speaks for itself.
const TARGETS: f64 = 3.5;
/// The usual target (`--target 2%`), where the record has none.
const USUAL_TARGET: f64 = 0.02;
/// Least half-width that is warned of: shared machines stay below, and up to there the interval, printed next
/// to the value, is enough. STREAM without pinning (study 1, step 1) reaches 7.2 %.
const MIN_WARN: f64 = 0.07;
/// A figure known to a quarter is not known.
const FAIL: f64 = 0.25;

/// Rounds of which the highest is so many times the lowest.
const TENFOLD: f64 = 10.0;

/// The 95 % interval of the median over rounds.
///
/// With 6 to 8 rounds that interval is their whole range, and a single outlier makes it wide while it leaves
/// the median alone. So the middle half of the rounds must be wide too: half as wide as the interval may be,
/// which for normally distributed rounds it is.
pub const CHECK: Check = Check::new(
    page!("rounds-agree"),
    |subject| is_difference(subject) || measured(subject) && subject.condition(MOMENTS) != Some(true),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let values = subject.round_values();
    let (Some(value), Some(interval)) = (figure.value, &figure.interval) else {
        return by_range(subject, &values);
    };
    let target = figure.evidence.get(TARGET).into_value().unwrap_or(USUAL_TARGET);
    // A share of time that was lost is as uncertain as what it may hide, whatever part of itself that is. Noise that comes
    // and goes is noise all the same: never more than a warning, and its explanation names who made it.
    let of_time = subject.condition(NOISE).is_some();
    let (whole, levels) = match of_time {
        true => (100.0, Levels { fail: f64::INFINITY, ..LOST_TIME }),
        false => (
            value.abs() + taken_off(subject),
            Levels { warn: (TARGETS * target).clamp(MIN_WARN, FAIL), fail: FAIL },
        ),
    };
    let half_width = interval.relative_half_width(whole);
    let spread = half_width.min(middle_half(&values) / whole.abs());
    let (low, high) = stats::range(&values).unwrap_or((value, value));
    let case = Rounds::RoundsAgree {
        level: Share(interval.level),
        half_width: Share(half_width),
        of_time,
        rounds: Counted(interval.rounds as f64, "round"),
        low: Number(low),
        high: subject.amount(high),
    };
    levels.answer(if spread.is_nan() { f64::INFINITY } else { spread }, case)
}

/// Of too few rounds for an interval the range: at 95 % it would be wider still. So much scatter is warned of whatever more rounds
/// would show; less is left to them.
fn by_range(subject: &Subject, values: &[f64]) -> Answer {
    let count = values.len();
    let comparable = subject.figure.value.filter(|_| count > 1 && subject.condition(NOISE).is_none());
    let Some((value, (low, high))) = comparable.zip(stats::range(values)) else {
        return Answer::unknown(format!("{}: no interval", format::counted(count, "round")));
    };
    let whole = value.abs() + taken_off(subject);
    let spread = ((high - low) / 2.0).min(middle_half(values)) / whole;
    // An order of magnitude apart they did not measure the same, however many of them are alike.
    let is_wide = spread >= FAIL || (low > 0.0 && high >= TENFOLD * low);
    let rounds = Counted(count as f64, "round");
    let case = Rounds::RoundsRange { rounds, low: Number(low), high: subject.amount(high) };
    Answer::of(if is_wide { Outcome::Warn } else { Outcome::Unknown }, case)
}

/// From the lower to the upper quartile.
pub(super) fn middle_half(values: &[f64]) -> f64 {
    let quartiles = stats::quantile(values, 0.25).zip(stats::quantile(values, 0.75));
    quartiles.map_or(0.0, |(low, high)| high - low)
}

/// What was taken off from what was timed, in the figure's unit: a difference is as uncertain as its parts, however small it is.
fn taken_off(subject: &Subject) -> f64 {
    let off = subject.typical(PRICE_AGAIN).into_value().unwrap_or(0.0);
    if subject.figure.unit == Unit::of("µs") { off * 1e-3 } else { off }
}
