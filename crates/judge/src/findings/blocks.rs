//! Which large blocks a program's page faults are in, and who allocates them.

use figure::evidence::*;
use figure::{Explanation, Record, Severity, format};

use super::faults::{explanation, fact};
use crate::cases::Faults;
use crate::values::{Bytes, Seconds, Share};

/// Blocks with a smaller share are left to the table.
const LEAST: f64 = 0.1;
/// A block that is faulted in within so many seconds of its allocation is young: it was allocated to be filled.
const YOUNG: f64 = 0.1;
/// Blocks of which such a share is freed come and go.
const MOSTLY: f64 = 0.5;

/// The kind of block with most faults, if that is a good part of them.
pub(super) fn blocks(record: &Record) -> Option<Explanation> {
    let rows = record.figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.blocks"));
    let main = rows.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let site = format::plain(&main.conditions.get(BLOCK_SITE).filter(|site| !site.is_empty())?);
    let share = Share(main.value.filter(|share| *share >= LEAST)?);
    let are_freed = fact(main, BLOCK_FREED).is_some_and(|share| share >= MOSTLY);
    let young = fact(main, BLOCK_AGE).filter(|age| *age < YOUNG && are_freed).map(Seconds);
    let case = Faults::InBlocks { share, size: Bytes(fact(main, BLOCK_MOST)?), site, young };
    Some(explanation("blocks", case, Severity::Note, &[main]))
}
