//! Another program's figure beside ours: what each quotes, and what follows from the two.

use figure::Figure;
use figure::evidence::{INSTRUMENT, INSTRUMENT_CODE, STATISTIC, TEST, TEST_CLASS};

use figure::stats::Ratio;

use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{self, stores};
use crate::relations::second_instrument::{Finding, Pair, compare, pair};

pub(super) const RULE: Rule =
    Rule { name: "second-instrument", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let pair = pair(subject).filter(|pair| usable(pair.theirs) && usable(pair.ours))?;
    let (ratio, finding) = compare(&pair).ok()?;
    let program = pair.theirs.conditions.get(INSTRUMENT)?;
    if pair.ours.conditions.get(TEST).is_some() {
        return Some(of_test(&program, &pair, &ratio, finding));
    }
    let quoted = match pair.theirs.conditions.get(STATISTIC).as_deref() {
        Some("best") => "the best repetition of each run",
        _ => "the mean of each run",
    };
    let both = format!(
        "{program} gives {}, truebench in the same rounds {} ({quoted}): {}",
        value(pair.theirs),
        value(pair.ours),
        partner::ratio_text(&ratio)
    );
    Some(match finding {
        Finding::Agree => format!("Two instruments agree on it: {both}, {}.", code(pair.theirs, pair.ours)),
        Finding::Explained(why) => format!("Two instruments differ as they must: {both}; {why}."),
        Finding::Guessed(why) => {
            format!("Two instruments disagree on it: {both}, {why}; nothing in the record bears that out.")
        }
        Finding::Disagree => format!(
            "Two instruments disagree on it: {both}, {}; no difference of bytes or stores has that factor.",
            code(pair.theirs, pair.ours)
        ),
    })
}

/// The same for a test of UnixBench's.
fn of_test(program: &str, pair: &Pair, ratio: &Ratio, finding: Finding) -> String {
    let both = format!(
        "{program}'s own program gives {}, ours in the same rounds {}: {}",
        value(pair.theirs),
        value(pair.ours),
        partner::ratio_text(ratio)
    );
    match (finding, pair.ours.conditions.get(TEST_CLASS).as_deref()) {
        (Finding::Agree, Some("compute")) => format!(
            "Two instruments agree on it, as far as two compilers do: {both}; its makefile asks for this CPU's instructions and \
             lets floating point be reordered."
        ),
        (Finding::Agree, _) => format!("Two instruments agree on it: {both}."),
        _ => format!(
            "Two instruments disagree on it: {both}; no known difference of the two programs has that factor."
        ),
    }
}

/// With what stores, and how that is known.
fn code(theirs: &Figure, ours: &Figure) -> String {
    let way = match stores(ours).as_deref() {
        Some("nt") => "both with non-temporal stores",
        Some("regular") => "both with regular stores",
        Some("libc") => "both by memcpy",
        _ => "both without stores",
    };
    let unknown = stores(theirs).is_none();
    let known = theirs.evidence.get(INSTRUMENT_CODE).into_value();
    match (unknown, stores(ours).as_deref(), known) {
        (true, Some(stores), Some(known)) => format!("ours with {stores} stores, its {known}"),
        (true, ..) => "its stores not known".to_owned(),
        (false, _, Some(known)) => format!("{way} ({known})"),
        (false, ..) => way.to_owned(),
    }
}
