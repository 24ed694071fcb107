//! When an iteration begins: after the one before, or by the clock.

use crate::sys;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub iterations: u64,
    /// Iterations that begin per second; 0 for as fast as possible.
    pub rate: u64,
}

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

impl Pace {
    /// Fixed work, as fast as possible.
    pub const fn work(iterations: u64) -> Pace {
        Pace { iterations, rate: 0 }
    }

    pub const fn rate(rate: u64, seconds: u64) -> Pace {
        Pace { iterations: rate.saturating_mul(seconds), rate }
    }

    /// Runs all iterations. An iteration that is late begins at once: none is left out.
    pub fn each<E>(self, mut iteration: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let start = sys::now();
        for number in 0..self.iterations {
            if let Some(period) = SECOND.checked_div(self.rate) {
                let due = number.saturating_mul(SECOND) / self.rate;
                sleep_until(start.wrapping_add(due).wrapping_add(offset(number, period)));
            }
            iteration()?;
        }
        Ok(())
    }
}

/// Nanoseconds from the beginning of its period to the beginning of an iteration: multiples of the golden
/// ratio, which are evenly spread.
///
/// Iterations in step with the kernel's tick would never be interrupted by it, and their CPU time would be
/// accounted to others.
const fn offset(number: u64, period: u64) -> u64 {
    /// 2^32 divided by the golden ratio.
    const GOLDEN: u64 = 2_654_435_769;
    ((number.wrapping_mul(GOLDEN) & 0xffff_ffff) * period) >> 32
}

fn sleep_until(nanoseconds: u64) {
    let due = libc::timespec {
        tv_sec: (nanoseconds / SECOND) as libc::time_t,
        tv_nsec: (nanoseconds % SECOND) as core::ffi::c_long,
    };
    let (clock, flags) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
    // A signal handler ends the sleep early.
    // SAFETY: a time that lives.
    while unsafe { libc::clock_nanosleep(clock, flags, &due, core::ptr::null_mut()) } == libc::EINTR {}
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn iterations_begin_no_sooner_than_their_time() {
        let begin = sys::now();
        let mut starts = Vec::new();
        let done: Result<(), ()> = Pace { iterations: 5, rate: 100 }.each(|| {
            starts.push(sys::now());
            Ok(())
        });
        assert_eq!((done, starts.len()), (Ok(()), 5));
        for (number, start) in starts.iter().enumerate() {
            assert!(start - begin >= number as u64 * SECOND / 100);
        }
    }

    #[test]
    fn iterations_are_not_in_step_with_a_tick() {
        let period = 500_000;
        assert!((0..1000).all(|number| offset(number, period) < period));
        // Every eighth, as a tick of 4 ms meets them: equally many in each tenth of the period.
        let mut tenths = [0; 10];
        (0..1000).for_each(|number| tenths[(offset(number * 8, period) * 10 / period) as usize] += 1);
        assert!(tenths.iter().all(|count| (80..120).contains(count)), "{tenths:?}");
    }

    #[test]
    fn the_first_failure_ends_it() {
        let mut done = 0;
        let outcome = Pace::work(10).each(|| {
            done += 1;
            if done == 3 { Err("three") } else { Ok(()) }
        });
        assert_eq!((outcome, done), (Err("three"), 3));
        assert_eq!(Pace::rate(2000, 10), Pace { iterations: 20_000, rate: 2000 });
    }
}
