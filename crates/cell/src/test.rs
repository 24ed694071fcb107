//! What a test is.

use core::ffi::{CStr, c_char};

use crate::Outcome;
use crate::shared::{Shared, Slot};

/// One of UnixBench's tests, self-described. Durations, passes and baselines are those of UnixBench 6.0.0.
#[derive(Debug)]
pub struct Test {
    /// Its word: UnixBench's own, on the command line and in ids.
    pub name: &'static str,
    /// UnixBench's name for people.
    pub title: &'static str,
    /// What a figure of it is: `lps`, `MWIPS`, `KBps`, `lpm`.
    pub unit: &'static str,
    /// What the reference machine ("George", a SPARCstation 20-61, rated 10.0) reached, in the unit.
    pub baseline: f64,
    /// Seconds that the unit counts in: 1 for a rate by the second, 60 by the minute, 0 where the count is the rate.
    pub timebase: f64,
    /// What a cell counts for one of the unit: above 1 where the unit is too coarse for a whole number.
    pub scale: f64,
    /// Seconds of one pass in UnixBench.
    pub seconds: f64,
    /// Whether UnixBench makes 10 passes of it; else 3.
    pub is_long: bool,
    /// What it exercises.
    pub class: Class,
    /// What is counted once, in words.
    pub counts: &'static str,
    /// The groups of UnixBench's command line that it belongs to, besides `index` and `all`.
    pub groups: &'static [&'static str],
    /// What it must be given.
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
    /// User code.
    Compute,
    /// Entering and leaving the kernel.
    Syscall,
    /// Making and ending processes.
    Process,
    /// The file system; here, its page cache.
    Files,
    /// One task waking another.
    Switching,
    /// All of it: a shell and its tools.
    Shell,
}

/// What a test must be given besides the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// An empty working directory, to which it writes.
    Directory,
    /// The path of `truebench-cell`, as its own argument: it executes itself.
    Cell,
    /// A working directory with the scripts and their input, and the path of the script to execute as its own argument.
    Scripts,
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

/// What a test is told.
#[derive(Debug)]
pub struct Job {
    /// Where its results go.
    pub slot: &'static Slot,
    /// The start.
    pub shared: Shared,
    /// How long to count.
    pub milliseconds: u64,
    /// All arguments of the process.
    pub argv: *const *const c_char,
    /// Number of the first that is the test's own.
    pub first: usize,
    /// How many there are in all.
    pub argc: usize,
}

impl Job {
    /// The descriptor of the shared memory, and the number of the slot there.
    pub fn place(&self) -> Option<(u64, u64)> {
        // SAFETY: as `argument`: these two come before the test's own, and were numbers.
        let number = |before: usize| unsafe {
            crate::sys::number(CStr::from_ptr(*self.argv.wrapping_add(self.first.checked_sub(before)?)))
        };
        Some((number(3)?, number(2)?))
    }

    /// The n-th argument of the test's own.
    pub fn argument(&self, index: usize) -> Option<&'static CStr> {
        let index = self.first + index;
        if index >= self.argc {
            return None;
        }
        // SAFETY: `argv` holds `argc` strings that live as long as the process.
        let text = unsafe { *self.argv.wrapping_add(index) };
        // SAFETY: likewise.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    }
}
