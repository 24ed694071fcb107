//! How many inputs to try, and how a failing one is reported.
//!
//! Each input follows from its seed; a run uses consecutive seeds. `TRUEBENCH_FUZZ_SECONDS` sets the length
//! of a run per target; `TRUEBENCH_FUZZ_SEED` the first seed, so that a failing one can be repeated.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// Default first seed: short runs try the same inputs each time.
const SEED: u64 = 7_000_000_000;
/// Allowed growth of the peak RSS: heads, buffers, histograms and stacks of concurrent tests, but no body.
pub const MAX_GROWTH: u64 = 48 << 20;

#[derive(Debug)]
pub struct Budget {
    first: u64,
    cases: u64,
    length: Option<Duration>,
}

impl Budget {
    /// `cases` inputs, unless a time is set.
    pub fn new(cases: u64) -> Budget {
        let length = number("TRUEBENCH_FUZZ_SECONDS").map(Duration::from_secs);
        let first = number("TRUEBENCH_FUZZ_SEED").unwrap_or(SEED);
        Budget { first, cases, length }
    }

    /// Runs the cases; each returns the number of its inputs.
    pub fn spend(&self, what: &str, case: impl Fn(u64) -> u64) {
        let (began, before) = (Instant::now(), largest());
        let (mut seed, mut inputs) = (self.first, 0);
        let is_enough = |done| match self.length {
            Some(length) => began.elapsed() >= length,
            None => done >= self.cases,
        };
        while !is_enough(seed.wrapping_sub(self.first)) {
            inputs += catch_unwind(AssertUnwindSafe(|| case(seed))).unwrap_or_else(|panic| {
                eprintln!("{what}: to repeat it: TRUEBENCH_FUZZ_SEED={seed}");
                resume_unwind(panic)
            });
            seed = seed.wrapping_add(1);
        }
        let (seconds, growth) = (began.elapsed().as_secs_f64(), growth(before));
        eprintln!(
            "{what}: {inputs} inputs, seeds {} to {seed}, {seconds:.1} s, {growth} bytes more",
            self.first
        );
        assert!(growth <= MAX_GROWTH, "{what}: the process grew by {growth} bytes");
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: a whole number is meant")))
}

/// Growth of the peak RSS in bytes. The kernel's sums are inexact (proc_pid_status(5)) and may seem to fall.
pub fn growth(before: u64) -> u64 {
    largest().saturating_sub(before)
}

/// Peak RSS of this process (VmHWM) in bytes. Reduces malloc to one arena, so that freed memory is reused by
/// all threads (malloc(3) has up to eight arenas per CPU).
pub fn largest() -> u64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: the allocator reads this number under its own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}
