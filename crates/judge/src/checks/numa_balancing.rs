//! Did the kernel move pages between NUMA nodes during the measurement?

use figure::evidence::{VM_NUMA_HINTS, VM_NUMA_MIGRATED};
use figure::format;

use super::loss::{LOST_TIME, loss};
use crate::check::{Answer, Check, Subject, measured, never, observed, page};

/// Seconds that a page moved costs: a hinting fault, the copy of 4 KiB, the flush of the address on all CPUs.
/// An order of magnitude.
const MOVED_PAGE: f64 = 1e-5;

/// /proc/vmstat numa_pages_migrated and numa_hint_faults; kernel.numa_balancing
/// (Documentation/admin-guide/sysctl/kernel.rst).
pub const CHECK: Check =
    Check { id: "numa-balancing", page: page!("numa-balancing"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let numa = &subject.machine().numa;
    if numa.nodes.len() == 1 {
        return Answer::pass("there is one NUMA node: nowhere to move pages to");
    }
    let moved = observed!(subject.figure.sum(VM_NUMA_MIGRATED));
    let hints = match subject.figure.sum(VM_NUMA_HINTS).into_value() {
        Some(hints) => format!(", {hints} hinting faults"),
        None => String::new(),
    };
    // Of the whole machine: others' pages are moved by others' CPUs, unless one of our threads fell behind.
    let share = loss(subject, moved * MOVED_PAGE);
    LOST_TIME.answer(
        share,
        format!(
            "the kernel moved {}{hints}: about {} of the CPU time",
            format::quantity(moved, "page"),
            format::percent(share)
        ),
        "switch it off while measuring (as root): sysctl -w kernel.numa_balancing=0",
    )
}
