//! What a test is.

use crate::Outcome;
use crate::job::Job;

/// One of UnixBench's tests. Durations, passes and baselines are those of UnixBench 6.0.0.
#[derive(Debug)]
pub struct Test {
    /// UnixBench's name on the command line; part of ids.
    pub name: &'static str,
    /// UnixBench's title of it.
    pub title: &'static str,
    /// Unit of the result: `lps`, `MWIPS`, `KBps`, `lpm`.
    pub unit: &'static str,
    /// Result of the reference machine ("George", a SPARCstation 20-61, rated 10.0), in the unit.
    pub baseline: f64,
    /// Seconds that the unit counts in: 1 for a rate by the second, 60 by the minute, 0 where the count is
    /// the rate.
    pub timebase: f64,
    /// Counts per unit: above 1 where the unit is too coarse for a whole number.
    pub scale: f64,
    /// Seconds of one pass in UnixBench.
    pub seconds: f64,
    /// Whether UnixBench makes 10 passes of it; else 3.
    pub is_long: bool,
    pub class: Class,
    /// What is counted once, in words.
    pub counts: &'static str,
    /// Groups of UnixBench's command line that it belongs to, in addition to `index` and `all`.
    pub groups: &'static [&'static str],
    /// Its required arguments in addition to the time.
    pub needs: Needs,
    /// Its body.
    ///
    /// # Safety
    /// Called once in a process of one thread, with the arguments that the test takes.
    pub run: unsafe fn(&Job) -> Outcome,
}

/// What a test exercises: tests of one class move together when a machine changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Compute,
    Syscall,
    Process,
    /// The file system; here, its page cache.
    Files,
    Switching,
    /// All of it: a shell and its tools.
    Shell,
}

/// Required arguments of a test in addition to the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// An empty working directory, to which it writes.
    Directory,
    /// The path of this program as an argument: the test executes itself.
    Program,
    /// A working directory with the scripts and their input, and the path of the script to execute as an
    /// argument.
    Scripts,
}

impl Test {
    /// What most tests have: a count of loops by the second, in 3 passes of 30 s, that needs nothing.
    pub(super) const LPS: Test = Test {
        name: "",
        title: "",
        unit: "lps",
        baseline: 0.0,
        timebase: 1.0,
        scale: 1.0,
        seconds: 30.0,
        is_long: false,
        class: Class::Syscall,
        counts: "",
        groups: &["system", "oldsystem"],
        needs: Needs::Nothing,
        run: |_| Ok(()),
    };
    /// The same, in 10 passes of 10 s.
    pub(super) const LONG: Test = Test { seconds: 10.0, is_long: true, ..Test::LPS };
}

impl Class {
    /// The word in records.
    pub const fn word(self) -> &'static str {
        match self {
            Class::Compute => "compute",
            Class::Syscall => "syscall",
            Class::Process => "process",
            Class::Files => "files",
            Class::Switching => "switching",
            Class::Shell => "shell",
        }
    }
}
