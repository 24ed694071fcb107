//! The class table: which figures belong together, and which tests are made of others. What moves a class apart from the machine:
//! see [`cause`](super::cause). Nothing else of the comparison knows a test or a class by name.

use figure::evidence::{COPIES, HOP_WAY, PLACEMENT, TEST, TEST_CLASS, WAKER_BUSY};
use figure::format::plain_to;
use figure::{Figure, Unit};

/// The classes, in the order in which they are shown. What is in none of them has its suite for a class.
pub const WORDS: &[&str] =
    &["compute", "syscall", "process", "files", "switching", "shell", "bandwidth", "latency", "serving"];

/// One of UnixBench's tests: its name in records, its title in UnixBench's reports, its class, and what the reference machine, of index
/// 10, reached.
type Test = (&'static str, &'static str, &'static str, f64);

const TESTS: &[Test] = &[
    ("dhry2reg", "Dhrystone 2 using register variables", "compute", 116_700.0),
    ("whetstone-double", "Double-Precision Whetstone", "compute", 55.0),
    ("execl", "Execl Throughput", "process", 43.0),
    ("fstime", "File Copy 1024 bufsize 2000 maxblocks", "files", 3960.0),
    ("fsbuffer", "File Copy 256 bufsize 500 maxblocks", "files", 1655.0),
    ("fsdisk", "File Copy 4096 bufsize 8000 maxblocks", "files", 5800.0),
    ("pipe", "Pipe Throughput", "syscall", 12440.0),
    ("context1", "Pipe-based Context Switching", "switching", 4000.0),
    ("spawn", "Process Creation", "process", 126.0),
    ("syscall", "System Call Overhead", "syscall", 15000.0),
    ("shell1", "Shell Scripts (1 concurrent)", "shell", 42.4),
    ("shell8", "Shell Scripts (8 concurrent)", "shell", 6.0),
];

/// A test whose operation is made of those of others: what it takes follows from what they take.
pub(super) struct Made {
    /// The test.
    pub test: &'static str,
    /// Its parts: how many times 1/rate of each is in 1/rate of the test.
    pub parts: &'static [(&'static str, f64)],
    /// What it does beyond them, if anything: in words, and how many times.
    pub rest: Option<(&'static str, f64)>,
}

pub(super) const MADE: &[Made] = &[
    // A round trip is two passes through a pipe and two switches (study 2).
    Made { test: "context1", parts: &[("pipe", 2.0)], rest: Some(("a switch", 2.0)) },
    // A copy takes a time for each block and a time for each byte; blocks of 256 and 4096 bytes give both, in KB/s.
    Made { test: "fstime", parts: &[("fsbuffer", 0.2), ("fsdisk", 0.8)], rest: None },
];

/// The word of UnixBench's test that leaves its placement to the scheduler, and of what carries its number.
const FREE_TEST: (&str, &str) = ("context1", "pipe");
/// `placement` of tasks that are left to the scheduler.
const FREE: &str = "free";
/// UnixBench's unit of an index.
const INDEX: &str = "index";

/// The test that a figure is of.
fn of_unixbench(figure: &Figure) -> Option<&'static Test> {
    match figure.conditions.get(TEST) {
        Some(test) => TESTS.iter().find(|(name, ..)| *name == test),
        None => TESTS.iter().find(|(_, title, ..)| figure.name.split(", ").next() == Some(title)),
    }
}

/// The test's word, of a figure that is of one of UnixBench's tests.
pub(super) fn test(figure: &Figure) -> Option<&'static str> {
    of_unixbench(figure).map(|(name, ..)| *name)
}

/// Whether a figure sums others up.
pub(super) fn is_total(figure: &Figure) -> bool {
    figure.unit == Unit::of(INDEX) && of_unixbench(figure).is_none()
}

/// How many copies of its test a figure is of.
pub(super) fn copies(figure: &Figure) -> f64 {
    figure.conditions.get(COPIES).unwrap_or(1.0)
}

/// What a test's value is as a rate: an index is one of its reference machine's.
pub(super) fn rate(figure: &Figure, value: f64) -> f64 {
    match of_unixbench(figure) {
        Some((.., baseline)) if figure.unit == Unit::of(INDEX) => value / 10.0 * baseline,
        _ => value,
    }
}

/// For a figure whose two tasks the scheduler places: what carries the number from one to the other.
pub(super) fn free_way(figure: &Figure) -> Option<String> {
    let way =
        figure.conditions.get(HOP_WAY).filter(|_| figure.conditions.get(PLACEMENT).as_deref() == Some(FREE));
    let compatible =
        || (test(figure)? == FREE_TEST.0 && copies(figure) == 1.0).then(|| FREE_TEST.1.to_owned());
    way.or_else(compatible).filter(|_| figure.conditions.get(WAKER_BUSY).is_none())
}

/// For a figure whose two tasks are pinned: what carries the number.
pub(super) fn pinned_way(figure: &Figure) -> Option<String> {
    figure.conditions.get(PLACEMENT).filter(|placement| placement != FREE)?;
    figure.conditions.get(HOP_WAY).filter(|_| figure.conditions.get(WAKER_BUSY).is_none())
}

/// The class of a figure.
pub(super) fn class(figure: &Figure) -> String {
    let declared = figure.conditions.get(TEST_CLASS);
    let known = || of_unixbench(figure).map(|(_, _, class, _)| (*class).to_owned());
    if let Some(class) = declared.or_else(known) {
        return plain_to(&class, 24);
    }
    let by_suite = match figure.suite.as_str() {
        _ if figure.conditions.get(HOP_WAY).is_some() => "switching",
        "memory" if figure.unit == Unit::GB_PER_S => "bandwidth",
        "memory" if figure.unit == Unit::NANOSECONDS => "latency",
        "http" => "serving",
        suite => return plain_to(suite, 24),
    };
    by_suite.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        for (name, _, class, _) in TESTS {
            assert!(WORDS.contains(class), "{name}");
        }
        for made in MADE {
            let is_test = |name: &str| TESTS.iter().any(|(test, ..)| *test == name);
            assert!(is_test(made.test) && made.parts.iter().all(|(part, _)| is_test(part)), "{}", made.test);
        }
    }
}
