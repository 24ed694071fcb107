//! What the counters say of the write-allocate: is a line that is stored read first?
//!
//! Study 1, step 6: regular copy reads and writes 2:1, and non-temporal copy 1:1. The rival of the write-allocate is
//! that the processor avoids it, that of the non-temporal store a third transfer: reads against writes tell.

use figure::format;

use super::Rule;
use crate::cases::Case;
use crate::check::{Subject, of_counters};
use crate::checks::traffic_agreement::{Shares, shares};
use crate::relations::partner::{NON_TEMPORAL, REGULAR, stores};
use crate::relations::traffic::{Mix, mix};

/// A ratio of reads to writes this close to a whole mix is that mix.
const SAME: f64 = 0.10;

pub(super) const RULE: Rule = Rule { name: "counted", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    if !of_counters(subject) {
        return None;
    }
    let seen = shares(subject).into_value()?;
    let claim = format!(
        "Memory moved {:.2}x of what STREAM counts, by declaration {:.2}x",
        seen.total / seen.stream,
        1.0 / seen.stream
    );
    Some(match directions(subject, &seen) {
        Some(directions) => format!("{claim}; {directions}."),
        None if seen.directions.is_none() => {
            format!("{claim}; these counters do not tell reads from writes.")
        }
        None => format!("{claim}."),
    })
}

/// What reads against writes rule out.
fn directions(subject: &Subject, seen: &Shares) -> Option<String> {
    let (read, written) = seen.directions?;
    let expected = mix(subject.figure)?;
    if expected.writes == 0.0 || written <= 0.0 {
        return None;
    }
    let ratio = read / written;
    let near = |mix: Mix| (ratio / (mix.reads / mix.writes) - 1.0).abs() <= SAME;
    let seen = format!("reads to writes are {}:1", format::number(ratio));
    let moved = |reads: f64| Mix { reads, ..expected };
    Some(match stores(subject.figure)?.as_str() {
        REGULAR => {
            let avoided = moved(expected.reads - expected.writes);
            if near(expected) {
                format!(
                    "{seen}, the {expected} of a write-allocate, which rules out that the processor avoids it ({avoided})"
                )
            } else if avoided.reads > 0.0 && near(avoided) {
                format!(
                    "{seen}, {avoided} and not the {expected} of a write-allocate, so that the processor avoids it"
                )
            } else {
                format!("{seen}, where a write-allocate makes them {expected} and avoiding it {avoided}")
            }
        }
        NON_TEMPORAL => {
            let third = moved(expected.reads + expected.writes);
            if near(expected) {
                format!(
                    "{seen}, the {expected} that the kernel names, which rules out that the lines stored past the \
                     cache are read first ({third})"
                )
            } else if near(third) {
                format!(
                    "{seen}, {third} and not {expected}, so that the lines stored past the cache are read all the same"
                )
            } else {
                format!("{seen}, where the kernel names {expected}")
            }
        }
        _ => return None,
    })
}
