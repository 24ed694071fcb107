//! Do the rounds agree with one another?

use figure::evidence::audit::MOMENTS;
use figure::evidence::{NOISE, PRICE_AGAIN, TARGET};
use figure::{Unit, format, stats};

use super::loss::LOST_TIME;
use crate::check::{Answer, Check, Levels, Subject, measured, never, page};

/// The half-width of the interval may be this many times what was aimed at before it is worth a warning: the
/// interval is printed with the figure and speaks for itself.
const TARGETS: f64 = 3.5;
/// The usual target (`--target 2%`), where the record does not tell.
const USUAL_TARGET: f64 = 0.02;
/// Least half-width that is warned of: shared machines stay below, and up to there the interval itself, printed
/// beside the value, says all that there is to say. STREAM without pinning (study 1, step 1) reaches 7.2 %.
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
pub const CHECK: Check = Check {
    id: "rounds-agree",
    page: page!("rounds-agree"),
    applies: |subject| measured(subject) && subject.condition(MOMENTS) != Some(true),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let values = figure.kept_values();
    let (Some(value), Some(interval)) = (figure.value, &figure.interval) else {
        return by_range(subject, &values);
    };
    let target = figure.evidence.get(TARGET).into_value().unwrap_or(USUAL_TARGET);
    // A share of time that was lost is as uncertain as what it may hide, whatever part of itself that is. Noise that comes
    // and goes is noise all the same: never more than a warning, and who made it is told.
    let (whole, levels, of) = match subject.condition(NOISE) {
        Some(_) => (100.0, Levels { fail: f64::INFINITY, ..LOST_TIME }, " of the time"),
        None => (
            value.abs() + taken_off(subject),
            Levels { warn: (TARGETS * target).clamp(MIN_WARN, FAIL), fail: FAIL },
            "",
        ),
    };
    let half_width = interval.relative_half_width(whole);
    let quartile = |q| stats::quantile(&values, q).unwrap_or(value);
    let middle_half = (quartile(0.75) - quartile(0.25)) / 2.0 / whole.abs();
    let spread = half_width.min(2.0 * middle_half);
    let (low, high) = stats::range(&values).unwrap_or((value, value));
    levels.answer(
        if spread.is_nan() { f64::INFINITY } else { spread },
        format!(
            "{:.0} % interval ±{}{of} from {} (lowest {}, highest {} {})",
            interval.level * 100.0,
            format::percent(half_width),
            format::counted(interval.rounds, "round"),
            format::number(low),
            format::number(high),
            figure.unit
        ),
        "look for what changes from round to round; more rounds make the interval narrower: --rounds N, \
         --max-time",
    )
}

/// Of too few rounds for an interval the range: at 95 % it would be wider still. So much scatter is warned of whatever more rounds
/// would show; less is left to them.
fn by_range(subject: &Subject, values: &[f64]) -> Answer {
    let count = values.len();
    let none = format!("{}: no interval", format::counted(count, "round"));
    let (Some(value), Some((low, high))) = (subject.figure.value, stats::range(values)) else {
        return Answer::unknown(none);
    };
    if count < 2 || subject.condition(NOISE).is_some() {
        return Answer::unknown(none);
    }
    let quartile = |q| stats::quantile(values, q).unwrap_or(value);
    let whole = value.abs() + taken_off(subject);
    let spread = ((high - low) / 2.0 / whole).min((quartile(0.75) - quartile(0.25)) / whole);
    let detail = format!(
        "{none}; they are from {} to {} {}",
        format::number(low),
        format::number(high),
        subject.figure.unit
    );
    // An order of magnitude apart they did not measure the same, however many of them are alike.
    if spread >= FAIL || (low > 0.0 && high >= TENFOLD * low) {
        Answer::warn(
            detail,
            "look for what changes from round to round; give it more rounds: --rounds N, --max-time",
        )
    } else {
        Answer::unknown(detail)
    }
}

/// What was taken off from what was timed, in the figure's unit: a difference is as uncertain as its parts, however small it is.
fn taken_off(subject: &Subject) -> f64 {
    let off = subject.typical(PRICE_AGAIN).into_value().unwrap_or(0.0);
    if subject.figure.unit == Unit::of("us") { off * 1e-3 } else { off }
}
