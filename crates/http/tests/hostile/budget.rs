//! How long inputs are made, and how one that fails is told.
//!
//! Each input follows from its seed, and those of a run are one behind the other. `TRUEBENCH_FUZZ_SECONDS` makes it a long run, of so many
//! seconds for each target; `TRUEBENCH_FUZZ_SEED` is the first seed, so that the seed of a failure repeats it as the first input.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// The first seed, if none is asked for: a short run tries the same each time.
const SEED: u64 = 7_000_000_000;
/// How much larger the process may have become at its largest: heads, buffers, histograms and stacks of the tests that run at the same
/// time, but no body.
pub const GROWTH_MOST: u64 = 48 << 20;

/// When it is enough.
#[derive(Debug)]
pub struct Budget {
    first: u64,
    cases: u64,
    length: Option<Duration>,
}

impl Budget {
    /// So many inputs, unless a time is asked for.
    pub fn of(cases: u64) -> Budget {
        let length = number("TRUEBENCH_FUZZ_SECONDS").map(Duration::from_secs);
        let first = number("TRUEBENCH_FUZZ_SEED").unwrap_or(SEED);
        Budget { first, cases, length }
    }

    /// Runs the cases. Each tells how many inputs it tried.
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
        assert!(growth <= GROWTH_MOST, "{what}: the process grew by {growth} bytes");
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: a whole number is meant")))
}

/// By how many bytes the process was larger at its largest than it was then. The kernel's sums are not exact (proc_pid_status(5)), and may
/// seem to fall.
pub fn growth(before: u64) -> u64 {
    largest().saturating_sub(before)
}

/// The largest that this process has been, in bytes of resident memory (VmHWM). From the first call on its allocator has one arena: what
/// is freed is used again, whichever of the many threads had it (malloc(3) keeps up to eight arenas for each CPU).
pub fn largest() -> u64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: a number that the allocator reads under its own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}
