//! The clock that the kernel writes into records, and pauses between two looks.

use std::time::Duration;

use figure::stats::Random;
use rustix::time::{ClockId, clock_gettime};

/// The end of a trace that was not asked to end.
pub const NEVER: u64 = u64::MAX;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

pub fn nanoseconds(time: rustix::time::Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A pause between a half and one and a half of `mean`. A program that works at fixed intervals would be seen
/// always at work, or never, after pauses in step with it (Cochran, Sampling Techniques, 3rd edition, chapter 8:
/// populations with periodic variation).
pub fn varied(mean: Duration, random: &mut Random) -> Duration {
    mean.mul_f64(0.5 + random.uniform())
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn pauses_do_not_keep_step_with_a_program_of_the_same_period() {
        const PERIOD: Duration = Duration::from_secs(1);
        for (period, work) in [(1.0, 0.05), (0.5, 0.1), (3.0, 0.02)] {
            let mut random = Random::new(1);
            let mut at = 0.0;
            let mut seen = || {
                at += varied(PERIOD, &mut random).as_secs_f64();
                at % period < work * period
            };
            let share = (0..10_000).filter(|_| seen()).count() as f64 / 10_000.0;
            assert!((share / work - 1.0).abs() < 0.2, "{share} of the moments meet {work} of the time");
            assert!((at / 10_000.0 - 1.0).abs() < 0.02, "{at} s of 10 000 pauses");
        }
    }
}
