//! Did the kernel swap or reclaim memory during the measurement?

use figure::evidence::{PSI_MEMORY, VM_DIRECT_SCAN, VM_SWAPPED};

use super::levels::LOST_TIME;
use crate::prelude::*;

/// Seconds that a swapped page costs where pressure is unknown: the latency of a 4 KiB read from a fast
/// solid-state disk. An order of magnitude.
const SWAPPED_PAGE: f64 = 1e-4;
/// Seconds that a page scanned by direct reclaim costs where pressure is unknown: an order of magnitude.
const SCANNED_PAGE: f64 = 1e-6;

/// /proc/vmstat pswpin, pswpout, pgscan_direct; /proc/pressure/memory: how long some task waited for it.
pub const CHECK: Check = Check::new(page!("swap"), measured, rule);

fn rule(subject: &Subject) -> Answer {
    let [swapped, scanned] = observed!(subject.sums([VM_SWAPPED, VM_DIRECT_SCAN]));
    if swapped == 0.0 && scanned == 0.0 {
        return Answer::pass(Arrays::NoSwap);
    }
    let waited = subject.sum(PSI_MEMORY).into_value();
    let cost = waited.unwrap_or(swapped * SWAPPED_PAGE + scanned * SCANNED_PAGE) / subject.seconds();
    let swapped = Counted(swapped, "page");
    let (scanned, share) = (Count(scanned), Share(cost));
    LOST_TIME.answer(cost, Arrays::Swapped { swapped, scanned, share, is_estimate: waited.is_none() })
}
