//! The clock that the kernel writes into records, and pauses between two looks.

use std::time::{Duration, Instant};

use figure::stats::Random;
use rustix::time::{ClockId, clock_gettime};

/// The end of a trace that was not asked to end.
pub const NEVER: u64 = u64::MAX;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// The same of an instant, whose clock that is.
pub fn at(instant: Instant) -> u64 {
    let (here, time) = (Instant::now(), now());
    let ahead = instant.saturating_duration_since(here).as_nanos() as u64;
    (time + ahead).saturating_sub(here.saturating_duration_since(instant).as_nanos() as u64)
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
    fn instants_are_of_the_kernel_s_clock() {
        const HOUR: u64 = 3_600_000_000_000;
        let (before, instant, after) = (now(), Instant::now(), now());
        let range = before - (HOUR / 100).min(before)..after + HOUR / 100;
        assert!(range.contains(&at(instant)));
        assert!(range.contains(&(at(instant + Duration::from_nanos(HOUR)) - HOUR)));
    }

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
