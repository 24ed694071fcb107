//! The class table: which figures belong together, and which tests are made of others. What moves a class besides the machine:
//! see [`suspects`](super::suspects). Nothing else of the comparison knows a test or a class by name.

use figure::evidence::{COPIES, HOP_WAY, PLACEMENT, TEST, TEST_CLASS, WAKER_BUSY};
use figure::format::plain_to;
use figure::{Figure, Unit};

/// The classes, in the order in which they are told. What is in none of them has its suite for a class.
pub const WORDS: &[&str] =
    &["compute", "syscall", "process", "files", "switching", "shell", "bandwidth", "latency", "serving"];

/// One of UnixBench's tests, as records of ours and reports of UnixBench's name it.
struct Test {
    name: &'static str,
    title: &'static str,
    class: &'static str,
    /// What the reference machine, of index 10, reached.
    baseline: f64,
}

const TESTS: &[Test] = &[
    Test {
        name: "dhry2reg",
        title: "Dhrystone 2 using register variables",
        class: "compute",
        baseline: 116_700.0,
    },
    Test { name: "whetstone-double", title: "Double-Precision Whetstone", class: "compute", baseline: 55.0 },
    Test { name: "execl", title: "Execl Throughput", class: "process", baseline: 43.0 },
    Test { name: "fstime", title: "File Copy 1024 bufsize 2000 maxblocks", class: "files", baseline: 3960.0 },
    Test { name: "fsbuffer", title: "File Copy 256 bufsize 500 maxblocks", class: "files", baseline: 1655.0 },
    Test { name: "fsdisk", title: "File Copy 4096 bufsize 8000 maxblocks", class: "files", baseline: 5800.0 },
    Test { name: "pipe", title: "Pipe Throughput", class: "syscall", baseline: 12440.0 },
    Test { name: "context1", title: "Pipe-based Context Switching", class: "switching", baseline: 4000.0 },
    Test { name: "spawn", title: "Process Creation", class: "process", baseline: 126.0 },
    Test { name: "syscall", title: "System Call Overhead", class: "syscall", baseline: 15000.0 },
    Test { name: "shell1", title: "Shell Scripts (1 concurrent)", class: "shell", baseline: 42.4 },
    Test { name: "shell8", title: "Shell Scripts (8 concurrent)", class: "shell", baseline: 6.0 },
];

/// A test whose operation is made of those of others: what it takes follows from what they take.
pub(super) struct Made {
    /// The test.
    pub test: &'static str,
    /// Its parts: how many times 1/rate of each is in 1/rate of the test.
    pub parts: &'static [(&'static str, f64)],
    /// What it does besides, if anything: in words, and how many times.
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

fn known(figure: &Figure) -> Option<&'static Test> {
    let title = || figure.name.split(", ").next().unwrap_or_default();
    match figure.conditions.get(TEST) {
        Some(name) => TESTS.iter().find(|test| test.name == name),
        None => TESTS.iter().find(|test| test.title == title()),
    }
}

/// The test's word, of a figure that is of one of UnixBench's tests.
pub(super) fn test(figure: &Figure) -> Option<&'static str> {
    known(figure).map(|test| test.name)
}

/// Whether a figure sums others up.
pub(super) fn is_total(figure: &Figure) -> bool {
    figure.unit == Unit::of(INDEX) && known(figure).is_none()
}

/// How many copies of its test a figure is of.
pub(super) fn copies(figure: &Figure) -> f64 {
    figure.conditions.get(COPIES).unwrap_or(1.0)
}

/// What a test's value is as a rate: an index is one of its reference machine's.
pub(super) fn rate(figure: &Figure, value: f64) -> f64 {
    match known(figure) {
        Some(test) if figure.unit == Unit::of(INDEX) => value / 10.0 * test.baseline,
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
    let declared =
        figure.conditions.get(TEST_CLASS).or_else(|| known(figure).map(|test| test.class.to_owned()));
    if let Some(class) = declared {
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
        for test in TESTS {
            assert!(WORDS.contains(&test.class), "{}", test.name);
        }
        for made in MADE {
            let is_test = |name: &str| TESTS.iter().any(|test| test.name == name);
            assert!(is_test(made.test) && made.parts.iter().all(|(part, _)| is_test(part)), "{}", made.test);
        }
    }
}
