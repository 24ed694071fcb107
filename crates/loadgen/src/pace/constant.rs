//! Requests at equal distances.

use super::{Due, Pace};

/// Each moment is calculated from the first, so that rounding errors do not add up.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Nanoseconds between two requests of this thread.
    interval: f64,
    /// Nanoseconds from the start to the first request.
    offset: f64,
    start: u64,
    taken: u64,
}

impl Constant {
    /// At `rate` requests/s over all threads. Thread `index` of `threads` sends every `threads`-th request.
    pub fn new(rate: f64, index: u32, threads: u32) -> Constant {
        let step = 1e9 / rate;
        Constant { interval: step * f64::from(threads), offset: step * f64::from(index), start: 0, taken: 0 }
    }
}

impl Pace for Constant {
    const IS_OPEN: bool = true;

    fn begin(&mut self, start: u64) {
        (self.start, self.taken) = (start, 0);
    }

    #[inline]
    fn due(&self, now: u64) -> Due {
        let at = self.start.saturating_add((self.offset + self.interval * self.taken as f64) as u64);
        if at <= now { Due::Now(at) } else { Due::At(at) }
    }

    #[inline]
    fn take(&mut self) {
        self.taken += 1;
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn threads_take_turns_and_nothing_drifts() {
        let mut moments = Vec::new();
        for index in 0..3 {
            let mut pace = Constant::new(3_000_000.0, index, 3);
            pace.begin(1_000);
            while let Due::Now(at) = pace.due(1_000 + 999_999_999) {
                moments.push(at);
                pace.take();
            }
        }
        moments.sort_unstable();
        assert_eq!(moments.len(), 3_000_000);
        let error = |(k, at): (usize, &u64)| (*at as f64 - 1_000.0 - k as f64 * 1e9 / 3e6).abs();
        assert!(moments.iter().enumerate().map(error).fold(0.0, f64::max) <= 1.0);
    }

    #[test]
    fn a_request_stays_due_until_it_is_taken() {
        let mut pace = Constant::new(1_000.0, 0, 1);
        pace.begin(0);
        pace.take();
        assert_eq!(pace.due(999_999), Due::At(1_000_000));
        assert_eq!(pace.due(5_000_000), Due::Now(1_000_000));
        assert_eq!(pace.due(5_000_000), Due::Now(1_000_000));
    }
}
