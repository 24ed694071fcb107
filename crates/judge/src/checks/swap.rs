//! Did the kernel swap or reclaim memory during the measurement?

use figure::evidence::{PSI_MEMORY, VM_DIRECT_SCAN, VM_SWAPPED};
use figure::format;

use super::loss::LOST_TIME;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};

/// Seconds that a swapped page costs where pressure does not tell: the latency of a 4 KiB read from a fast
/// solid-state disk. An order of magnitude.
const SWAPPED_PAGE: f64 = 1e-4;
/// Seconds that a page scanned by direct reclaim costs where pressure does not tell: an order of magnitude.
const SCANNED_PAGE: f64 = 1e-6;

/// /proc/vmstat pswpin, pswpout, pgscan_direct; /proc/pressure/memory tells how long somebody waited for it.
pub const CHECK: Check = Check { id: "swap", page: page!("swap"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let swapped = observed!(subject.figure.sum(VM_SWAPPED));
    let scanned = observed!(subject.figure.sum(VM_DIRECT_SCAN));
    if swapped == 0.0 && scanned == 0.0 {
        return Answer::pass("no page was swapped, none was scanned by direct reclaim");
    }
    let (waited, basis) = match subject.figure.sum(PSI_MEMORY).into_value() {
        Some(waited) => (waited, "some task waited for memory"),
        None => (swapped * SWAPPED_PAGE + scanned * SCANNED_PAGE, "that may have cost, roughly,"),
    };
    let share = waited / subject.seconds();
    LOST_TIME.answer(
        share,
        format!(
            "the machine swapped {} and scanned {scanned} for reclaim; {basis} {} of the time",
            format::quantity(swapped, "page"),
            format::percent(share)
        ),
        "free memory (top, sorted by RES), use smaller arrays, or switch swap off (as root): swapoff -a",
    )
}
