//! Did the kernel move pages between NUMA nodes during the measurement?

use figure::evidence::{VM_DEMOTED, VM_NUMA_HINTS, VM_NUMA_MIGRATED};

use super::levels::LOST_TIME;
use super::loss::loss;
use crate::prelude::*;

/// Seconds that a page moved costs: a hinting fault, the copy of 4 KiB, the flush of the address on all CPUs.
/// An order of magnitude.
const MOVED_PAGE: f64 = 1e-5;

/// /proc/vmstat numa_pages_migrated, numa_hint_faults and pgdemote_*; kernel.numa_balancing
/// (Documentation/admin-guide/sysctl/kernel.rst).
pub const CHECK: Check = Check::new(page!("numa-balancing"), measured, rule);

fn rule(subject: &Subject) -> Answer {
    if subject.machine().has_one_memory() {
        return Answer::pass(Arrays::OneNode);
    }
    let demoted = subject.sum(VM_DEMOTED).into_value().unwrap_or(0.0);
    let moved = observed!(subject.sum(VM_NUMA_MIGRATED)) + demoted;
    let hints = subject.sum(VM_NUMA_HINTS).into_value();
    // Of the whole machine: others' pages are moved by others' CPUs, unless one of our threads fell behind.
    let share = loss(subject, moved * MOVED_PAGE);
    let hints = hints.map(|hints| Counted(hints, "hinting fault"));
    let demoted = (demoted > 0.0).then_some(Counted(demoted, "page"));
    LOST_TIME.answer(
        share,
        Arrays::PagesMoved { moved: Counted(moved, "page"), demoted, hints, share: Share(share) },
    )
}
