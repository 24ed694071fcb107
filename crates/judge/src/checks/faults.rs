//! Did our threads fault while the clock ran?

use figure::evidence::{ARRAY_BYTES, CPUS, FAULT_MAJOR, FAULT_MINOR, PAGES_HUGE_SHARE, THREADS, WORKING_SET};
use figure::format;

use crate::check::{Answer, Check, Levels, Subject, always, observed, on_arrays};

/// Faults have no place in a timed region whose memory was touched before: half of what would be said of time
/// that others took.
const FAULTING: Levels = Levels { warn: 0.01, fail: 0.05 };
/// Seconds of a minor fault on a small page: entry, allocation, clearing of 4 KiB. An order of magnitude.
const MINOR: f64 = 1e-6;
/// Seconds of a minor fault on a 2 MiB page, which is cleared at about 10 GB/s.
const MINOR_HUGE: f64 = 200e-6;
/// Bytes of such a page, and arrays of a kernel at most.
const HUGE: f64 = (2 << 20) as f64;
const ARRAYS: f64 = 3.0;
/// Seconds of a major fault: a read from disk. An order of magnitude.
const MAJOR: f64 = 1e-3;

/// ru_minflt and ru_majflt of getrusage(2), RUSAGE_THREAD.
pub const CHECK: Check = Check {
    id: "faults",
    question: "Did our threads take page faults while the clock ran?",
    reads: &[
        ARRAY_BYTES.name,
        WORKING_SET.name,
        FAULT_MINOR.name,
        FAULT_MAJOR.name,
        PAGES_HUGE_SHARE.name,
        THREADS.name,
        CPUS.name,
    ],
    page: include_str!("../../../../docs/checks/faults.md"),
    // Where allocation is what is measured, faults belong to the figure.
    applies: on_arrays,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let minor = observed!(subject.figure.sum(FAULT_MINOR));
    let major = observed!(subject.figure.sum(FAULT_MAJOR));
    let share_huge = subject.figure.evidence.get(PAGES_HUGE_SHARE).into_value().unwrap_or(0.0);
    // No more of them can be of huge pages than there are, in each round.
    let bytes = subject.condition(WORKING_SET).or(subject.condition(ARRAY_BYTES).map(|bytes| bytes * ARRAYS));
    let pages = (bytes.unwrap_or(0.0) / HUGE).ceil() * subject.figure.kept().count() as f64;
    let huge = if share_huge >= 0.5 { minor.min(pages) } else { 0.0 };
    // Threads fault side by side; a disk serves one after the other.
    let minors = huge * MINOR_HUGE + (minor - huge) * MINOR;
    let share = minors / subject.cpu_seconds() + major * MAJOR / subject.seconds();
    FAULTING.answer(
        share,
        format!(
            "{minor} minor and {major} major faults in the timed region: about {} of the time",
            format::percent(share)
        ),
        "use smaller arrays, so that they stay in memory; see swap, memory-limit and numa-balancing",
    )
}
