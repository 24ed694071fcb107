//! When to stop sending. Pure; moments are nanoseconds of CLOCK_MONOTONIC.

/// Decides for each request of the window whether it is still sent.
pub trait Stop {
    fn begin(&mut self, window: u64);

    /// Whether the request that is due at this moment is sent. After the first refusal all are refused.
    fn admit(&mut self, intended: u64) -> bool;

    fn end(&self) -> Option<u64>;
}

#[derive(Clone, Copy, Debug)]
pub struct After {
    length: u64,
    end: u64,
}

impl After {
    /// `length` is in nanoseconds from the start of the window.
    pub fn new(length: u64) -> After {
        After { length, end: u64::MAX }
    }
}

impl Stop for After {
    fn begin(&mut self, window: u64) {
        self.end = window.saturating_add(self.length);
    }

    #[inline]
    fn admit(&mut self, intended: u64) -> bool {
        intended < self.end
    }

    fn end(&self) -> Option<u64> {
        Some(self.end)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Requests {
    left: u64,
}

impl Requests {
    /// The part of thread `index` of `threads`; the parts add up to `total`.
    pub fn new(total: u64, index: u32, threads: u32) -> Requests {
        let (threads, index) = (u64::from(threads.max(1)), u64::from(index));
        Requests { left: total / threads + u64::from(index < total % threads) }
    }
}

impl Stop for Requests {
    fn begin(&mut self, _window: u64) {}

    #[inline]
    fn admit(&mut self, _intended: u64) -> bool {
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_left
    }

    fn end(&self) -> Option<u64> {
        None
    }
}

/// Stops after a time or a number of requests, whichever comes first.
#[derive(Clone, Copy, Debug)]
pub struct Either(pub After, pub Requests);

impl Stop for Either {
    fn begin(&mut self, window: u64) {
        self.0.begin(window);
    }

    #[inline]
    fn admit(&mut self, intended: u64) -> bool {
        self.0.admit(intended) && self.1.admit(intended)
    }

    fn end(&self) -> Option<u64> {
        self.0.end()
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_of_a_number_add_up() {
        for (total, threads) in [(10, 3), (2, 4), (0, 2), (7, 1)] {
            let mut admitted = 0;
            for index in 0..threads {
                let mut stop = Requests::new(total, index, threads);
                while stop.admit(0) {
                    admitted += 1;
                }
                assert!(!stop.admit(0));
            }
            assert_eq!(admitted, total);
        }
    }

    #[test]
    fn the_first_of_both_stops() {
        let mut stop = Either(After::new(100), Requests::new(2, 0, 1));
        stop.begin(1000);
        assert_eq!(stop.end(), Some(1100));
        assert_eq!([1000, 1099, 1099].map(|at| stop.admit(at)), [true, true, false]);
        let mut stop = Either(After::new(100), Requests::new(2, 0, 1));
        stop.begin(1000);
        assert!(!stop.admit(1100));
    }
}
