//! Whether a line that is stored is read first, by the counters of the memory controllers.
//!
//! Study 1, step 6: regular copy reads and writes 2:1, and non-temporal copy 1:1. The rival of the write-allocate is
//! that the processor avoids it, that of the non-temporal store a third transfer: the ratio of reads to writes decides.

use super::Rule;
use crate::cases::{Case, Memory};
use crate::check::{Subject, of_counters};
use crate::checks::traffic_agreement::shares;
use crate::relations::partner::{NON_TEMPORAL, REGULAR, stores};
use crate::relations::traffic::{Mix, mix};
use crate::values::{Number, Times};

/// A ratio of reads to writes this close to a whole mix is that mix.
const SAME: f64 = 0.10;

pub(super) const RULE: Rule = Rule { name: "counted", says };

fn says(subject: &Subject) -> Option<Case> {
    if !of_counters(subject) {
        return None;
    }
    let shares = shares(subject).into_value()?;
    let (moved, declared) = (Times(shares.total / shares.stream), Times(1.0 / shares.stream));
    let case = shares.directions.and_then(|directions| compared(subject, directions, moved, declared));
    Some(case.unwrap_or(Memory::CountedTotal { moved, declared }).into())
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
