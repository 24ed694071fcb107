//! Did the measured threads take page faults while the clock ran?

use figure::evidence::{ARRAY_BYTES, FAULT_MAJOR, FAULT_MINOR, PAGES_HUGE_SHARE, PAGES_SIZE, WORKING_SET};

use crate::prelude::*;

/// Faults have no place in a timed region whose memory was touched before: half of the levels of time
/// that others took.
const FAULTING: Levels = Levels { warn: 0.01, fail: 0.05 };
/// Seconds of a minor fault: entry and allocation. An order of magnitude, as is the rate at which its page is cleared, in bytes a second.
const MINOR: f64 = 600e-9;
const CLEARING: f64 = 10e9;
/// Bytes of a small page where its size is not known.
const SMALL: f64 = 4096.0;
/// The largest base page that Linux has.
const LARGEST_SMALL: f64 = 65536.0;
/// Bytes of an entry in a page table: a huge page is what one table maps (2 MiB of 4 KiB, 512 MiB of 64 KiB).
const ENTRY: f64 = 8.0;
/// Arrays of a kernel at most.
const ARRAYS: f64 = 3.0;
/// Seconds of a major fault: a read from disk. An order of magnitude.
const MAJOR: f64 = 1e-3;

/// ru_minflt and ru_majflt of getrusage(2), RUSAGE_THREAD.
/// Where allocation is what is measured, faults belong to the figure.
pub const CHECK: Check = Check::essential(page!("faults"), on_arrays, rule);

fn rule(subject: &Subject) -> Answer {
    let [minor, major] = observed!(subject.sums([FAULT_MINOR, FAULT_MAJOR]));
    let share_huge = subject.fact(PAGES_HUGE_SHARE).into_value().unwrap_or(0.0);
    // No more of them can be of huge pages than there are, in each round.
    let bytes = subject.condition(WORKING_SET).or(subject.condition(ARRAY_BYTES).map(|bytes| bytes * ARRAYS));
    // Pages of the range may be huge by themselves (hugetlbfs).
    let size = subject.fact(PAGES_SIZE).into_value().filter(|size| *size <= LARGEST_SMALL);
    let small = size.unwrap_or(SMALL);
    let large = small / ENTRY * small;
    let pages = (bytes.unwrap_or(0.0) / large).ceil() * subject.figure.used_rounds().count() as f64;
    let huge = if share_huge >= 0.5 { minor.min(pages) } else { 0.0 };
    // Threads fault side by side; a disk serves one after the other.
    let cost = |page: f64| MINOR + page / CLEARING;
    let minors = huge * cost(large) + (minor - huge) * cost(small);
    let share = minors / subject.cpu_seconds() + major * MAJOR / subject.seconds();
    let (minor, major) = (Counted(minor, "minor fault"), Counted(major, "major fault"));
    FAULTING.answer(share, Arrays::Faults { minor, major, share: Share(share) })
}
