//! How much of the gap between regular and non-temporal stores is the write-allocate.
//!
//! A regular store to a line that is not in cache reads it first; STREAM does not count that read (study 1,
//! step 6). The rival cause, placement or clock, is excluded by the pair itself: both figures come from the same
//! threads in the same interleaved rounds, and only the store differs.

use figure::evidence::{COUNTED_BYTES, TRAFFIC_BYTES};

use super::{Rule, pair, traffic_amount};
use crate::cases::{Case, Memory};
use crate::check::Subject;
use crate::relations::partner::{REGULAR, stores};
use crate::relations::write_allocate::NO_GAIN;
use crate::values::{Amount, Count, Name, Times};

/// A gain of at least this share of what the traffic predicts is explained by it; a mix of reads and writes is
/// worth a tenth (study 1: copy 1.34 of 1.50) to a fifth (a Sapphire Rapids guest: 1.22 of 1.50).
const EXPLAINED: f64 = 0.75;
/// A gain above the prediction by more than this share has another cause besides.
pub(super) const EXCEEDED: f64 = 1.05;

pub(super) const RULE: Rule = Rule { name: "write-allocate", says };

fn says(subject: &Subject) -> Option<Case> {
    let pair = pair(subject)?;
    let (gain, predicted) = (pair.gain()?, pair.traffic_ratio()?);
    if gain < NO_GAIN {
        return None;
    }
    let is_regular = stores(subject.figure).as_deref() == Some(REGULAR);
    let other = Name::from(if is_regular { pair.nt } else { pair.regular });
    let (is_more, is_less) = (gain > predicted * EXCEEDED, gain < predicted * EXPLAINED);
    let (gain, predicted) = (Times(gain), Times(predicted));
    let case = match is_regular {
        _ if is_more => Memory::WriteAllocateExceeded { other, gain, predicted },
        _ if is_less => Memory::WriteAllocateInPart { other, gain, predicted },
        false => Memory::WriteAllocateAvoided { regular: other, gain, predicted },
        true => {
            let conditions = &subject.figure.conditions;
            let (counted, bytes) = (conditions.get(COUNTED_BYTES)?, conditions.get(TRAFFIC_BYTES)?);
            Memory::WriteAllocateExplains {
                counted: Amount::of(subject.figure)?,
                moved: traffic_amount(subject.figure)?,
                hidden: Count(bytes - counted),
                bytes: Count(bytes),
                nt: other,
                gain,
                predicted,
            }
        }
    };
    Some(case.into())
}
