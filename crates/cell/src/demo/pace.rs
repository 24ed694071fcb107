//! When an iteration begins: as soon as the one before is done, or by the clock.

use crate::sys;

/// How many iterations, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many.
    pub iterations: u64,
    /// Iterations that begin in a second; 0 for as many as there can be.
    pub rate: u64,
}

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

impl Pace {
    /// Fixed work, as fast as it goes.
    pub const fn work(iterations: u64) -> Pace {
        Pace { iterations, rate: 0 }
    }

    /// So many a second, for so many seconds.
    pub const fn rate(rate: u64, seconds: u64) -> Pace {
        Pace { iterations: rate.saturating_mul(seconds), rate }
    }

    /// Does them all. One that begins late because others took long begins at once: no request is lost.
    ///
    /// # Errors
    /// What the first iteration that failed said.
    pub fn each<E>(self, mut iteration: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let begun = sys::now();
        for number in 0..self.iterations {
            if let Some(period) = SECOND.checked_div(self.rate) {
                let due = number.saturating_mul(SECOND) / self.rate;
                sleep_until(begun.wrapping_add(due).wrapping_add(within(number, period)));
            }
            iteration()?;
        }
        Ok(())
    }
}

/// Where in its period an iteration begins, in nanoseconds: by multiples of the golden ratio, which are spread evenly.
///
/// Requests do not come by the clock either; and those that did, in step with the kernel's tick, would never be met by it:
/// their CPU time would be told as another's, or none as the kernel's.
const fn within(number: u64, period: u64) -> u64 {
    /// 2^32 by the golden ratio.
    const GOLDEN: u64 = 2_654_435_769;
    ((number.wrapping_mul(GOLDEN) & 0xffff_ffff) * period) >> 32
}

/// Sleeps until CLOCK_MONOTONIC has come so far; not at all if it has.
fn sleep_until(nanoseconds: u64) {
    let due = libc::timespec {
        tv_sec: (nanoseconds / SECOND) as libc::time_t,
        tv_nsec: (nanoseconds % SECOND) as core::ffi::c_long,
    };
    // SAFETY: a time that lives. A signal that is handled ends it early, so it is asked again.
    while unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const due,
            core::ptr::null_mut(),
        )
    } == libc::EINTR
    {}
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn iterations_begin_no_sooner_than_their_time() {
        let begun = sys::now();
        let mut starts = Vec::new();
        let done: Result<(), ()> = Pace { iterations: 5, rate: 100 }.each(|| {
            starts.push(sys::now());
            Ok(())
        });
        assert_eq!((done, starts.len()), (Ok(()), 5));
        for (number, start) in starts.iter().enumerate() {
            assert!(start - begun >= number as u64 * SECOND / 100);
        }
    }

    #[test]
    fn iterations_are_in_step_with_nothing() {
        let period = 500_000;
        assert!((0..1000).all(|number| within(number, period) < period));
        // Every eighth, as it would be met by a tick of 4 ms: in each tenth of the period are as many.
        let mut tenths = [0; 10];
        (0..1000).for_each(|number| tenths[(within(number * 8, period) * 10 / period) as usize] += 1);
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
