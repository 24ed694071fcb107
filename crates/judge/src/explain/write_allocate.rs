//! How much of the gap between regular and non-temporal stores is the write-allocate.
//!
//! A regular store to a line that is not in cache reads it first; STREAM does not count that read (study 1,
//! step 6). The rival cause, placement or clock, is excluded by the pair itself: both figures come from the same
//! threads in the same interleaved rounds, and only the store differs.

use figure::evidence::{COUNTED_BYTES, TRAFFIC_BYTES};

use super::{Rule, moved, pair, value};
use crate::check::Subject;
use crate::relations::partner::{REGULAR, stores};
use crate::relations::write_allocate::NO_GAIN;

/// A gain of at least this share of what the traffic predicts is explained by it; a mix of reads and writes is
/// worth a tenth (study 1: copy 1.34 of 1.50) to a fifth (a Sapphire Rapids guest: 1.22 of 1.50).
pub(super) const EXPLAINED: f64 = 0.75;
/// A gain above the prediction by more than this share has another cause besides.
pub(super) const EXCEEDED: f64 = 1.05;

pub(super) const RULE: Rule = Rule { name: "write-allocate", says };

fn says(subject: &Subject) -> Option<String> {
    let pair = pair(subject)?;
    let (gain, expected) = (pair.gain()?, pair.traffic_ratio()?);
    if gain < NO_GAIN {
        return None;
    }
    let (regular, nt) = (&pair.regular.id, &pair.nt.id);
    let of = format!("{gain:.2}x of the {expected:.2}x that write-allocate predicts");
    let is_regular = stores(subject.figure).as_deref() == Some(REGULAR);
    Some(if gain > expected * EXCEEDED {
        if is_regular {
            format!("Write-allocate explains {expected:.2}x of the {gain:.2}x that {nt} gains.")
        } else {
            format!("Gains {gain:.2}x over {regular}, of which write-allocate explains {expected:.2}x.")
        }
    } else if gain < expected * EXPLAINED {
        let or = "the processor avoids part of those reads by itself, or its non-temporal stores are slow";
        if is_regular {
            format!("Write-allocate explains only a part: {nt} gains {of}; {or}.")
        } else {
            format!("Gains over {regular} only {of}; {or}.")
        }
    } else if is_regular {
        let conditions = &subject.figure.conditions;
        let (counted, traffic) = (conditions.get(COUNTED_BYTES)?, conditions.get(TRAFFIC_BYTES)?);
        format!(
            "Write-allocate explains it: {} of {traffic} B moved for each element are reads that are not counted, \
             so that {} counted is {} moved; {nt}, where only the store differs, gains {of}, which rules out \
             placement and clock.",
            traffic - counted,
            value(subject.figure),
            moved(subject.figure),
        )
    } else {
        format!("Moves only what it counts: without the write-allocate it gains over {regular} {of}.")
    })
}
