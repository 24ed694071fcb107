//! Does another program measure the same as truebench?
//!
//! "Two instruments disagree, so at least one does not measure what is expected of it" (study 1, step 4). In that
//! step both were right but counted different bytes. So the check first looks for differences with a known factor.

use figure::evidence::{INSTRUMENT, PAIR, TEST_CLASS};
use figure::stats::Ratio;
use figure::{Convention, format};

use super::partner::{self, NON_TEMPORAL, REGULAR};
use super::traffic::{self, StoreChange};
use crate::prelude::*;
use crate::values::Range;

/// Programs that measure the same thing differ by this much: loops and prefetching. Next to STREAM, truebench's kernels
/// with the same stores are within 2 %, and next to likwid-bench within 5 % but for its straight walk of
/// non-temporal loops.
const SAME: f64 = 0.05;
/// The same for UnixBench's tests: two programs that make the same system calls.
const SAME_CALLS: f64 = 0.10;
/// The same for its tests of user code alone: other compilers, and its makefile lets its compiler reorder floating point.
const SAME_SOURCE: f64 = 0.25;
/// The class of tests of user code alone.
pub(crate) const COMPUTE: &str = "compute";
/// With an interval wider than this, half-width, anything agrees with anything.
const TOO_WIDE: f64 = 0.20;

/// Another program against truebench.
pub const CHECK: Check = Check::new(page!("second-instrument"), |subject| pair(subject).is_some(), rule);

/// `instrument` of truebench's own figures.
const OWN: &str = "truebench";

/// The same quantity by two programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    /// Another program's figure.
    pub other: &'a Figure,
    /// truebench's figure.
    pub own: &'a Figure,
}

/// The pair that the subject is half of.
pub(crate) fn pair<'a>(subject: &Subject<'a>) -> Option<Pair<'a>> {
    let figure = subject.figure;
    let name = figure.conditions.get(PAIR)?;
    let is_own = |figure: &Figure| figure.conditions.get(INSTRUMENT).as_deref() == Some(OWN);
    let fits = |other: &&Figure| {
        other.value.is_some()
            && other.conditions.get(PAIR).as_ref() == Some(&name)
            && is_own(other) != is_own(figure)
    };
    let partner = subject.record.figures.iter().find(fits)?;
    let (other, own) = if is_own(figure) { (partner, figure) } else { (figure, partner) };
    Some(Pair { other, own })
}

/// How the two compare.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The same.
    Agree,
    /// Not the same, and why: a known factor, which what is known of the program confirms.
    Explained(String),
    /// Not the same, and what would explain it; nothing confirms it.
    Guessed(String),
    /// Not the same, and no known factor.
    Disagree,
}

/// Compares; the reason where that cannot be done.
pub(crate) fn compare(pair: &Pair) -> Result<(Ratio, Finding), String> {
    let ratio = partner::ratio(pair.other, pair.own)?;
    if (ratio.high - ratio.low) / 2.0 > TOO_WIDE * ratio.value {
        return Err(format!("the rounds of the two programs vary too much: {}", Range::from(&ratio)));
    }
    let alike = tolerance(pair.own);
    let finding = if ratio.low <= 1.0 + alike && ratio.high >= 1.0 - alike {
        Finding::Agree
    } else {
        explanation(pair, &ratio)
    };
    Ok((ratio, finding))
}

/// How far apart two instruments may be that measure the same.
fn tolerance(figure: &Figure) -> f64 {
    match figure.conditions.get(TEST_CLASS).as_deref() {
        Some(COMPUTE) => SAME_SOURCE,
        Some(_) => SAME_CALLS,
        None => SAME,
    }
}

/// Whether the ratio, or the interval of its median, lies between `low` and `high`, or within the tolerance of them.
fn fits(ratio: &Ratio, low: f64, high: f64) -> bool {
    let (low, high) = (low * (1.0 - SAME), high * (1.0 + SAME));
    ratio.low <= high && ratio.high >= low
}

/// The first known difference with a factor that fits.
fn explanation(pair: &Pair, ratio: &Ratio) -> Finding {
    let Some(StoreChange { bytes, reads }) = traffic::store_change(pair.own) else {
        return Finding::Disagree;
    };
    let (most, program) = (reads.max(bytes), program(pair));
    let counts_traffic = pair.other.convention != Some(Convention::StreamCounted);
    let by_stores = |expected: &[&str], known: String, guess: &str| match partner::stores(pair.other) {
        Some(stores) if expected.contains(&stores.as_str()) => Finding::Explained(known),
        Some(_) => Finding::Disagree,
        None => Finding::Guessed(format!("{guess} ({})", fraction(bytes))),
    };
    match partner::stores(pair.own).as_deref() {
        Some(REGULAR) if fits(ratio, bytes, most) => {
            let gain = format!(
                "{program} pays no write-allocate: non-temporal stores or a call of memcpy move {} of what regular \
                 stores move, and where lines in flight are the limit gain up to {reads:.2}x",
                fraction(1.0 / bytes)
            );
            by_stores(&[NON_TEMPORAL, "libc"], gain, "as without write-allocate, or counting it")
        }
        Some(NON_TEMPORAL) if fits(ratio, 1.0 / most, 1.0 / bytes) => {
            let loss = format!(
                "{program} pays the write-allocate: regular stores move {} of what non-temporal ones move",
                fraction(bytes)
            );
            by_stores(&[REGULAR], loss, "as with the write-allocate")
        }
        _ if counts_traffic && fits(ratio, 1.0 / bytes, 1.0 / bytes) => {
            Finding::Guessed(format!("as if it counted as STREAM does ({})", fraction(1.0 / bytes)))
        }
        // Copied bytes: what arrives counts once, of one array read and one written.
        _ if reads == 2.0 && fits(ratio, 0.5, 0.5) => {
            Finding::Guessed("as if it counted copied bytes (1/2)".to_owned())
        }
        _ => Finding::Disagree,
    }
}

/// `3/2`, `4/3`, `1/2`.
fn fraction(value: f64) -> String {
    for below in 1..=4 {
        let above = value * f64::from(below);
        if (above - above.round()).abs() < 1e-6 {
            return format!("{}/{below}", above.round());
        }
    }
    format::number(value)
}

fn rule(subject: &Subject) -> Answer {
    let Some(pair) = pair(subject) else { return Answer::unknown("no figure of another program") };
    let (ratio, finding) = match compare(&pair) {
        Ok(compared) => compared,
        Err(reason) => return Answer::unknown(reason),
    };
    let ratio = RatioTo::new(&ratio, pair.own);
    let program = program(&pair);
    match finding {
        Finding::Agree => Answer::pass(Arrays::InstrumentsAgree { program, ratio }),
        Finding::Explained(cause) => Answer::pass(Arrays::InstrumentsDiffer { program, ratio, cause }),
        Finding::Guessed(cause) => Answer::warn(Arrays::InstrumentsMayDiffer { program, ratio, cause }),
        Finding::Disagree => Answer::warn(Arrays::InstrumentsDisagree { program, ratio }),
    }
}

fn program(pair: &Pair) -> String {
    pair.other.conditions.get(INSTRUMENT).unwrap_or_else(|| "the other program".to_owned())
}
