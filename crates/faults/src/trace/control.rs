//! The sampling period: enough samples at little cost; and whether all new mappings are recorded.

use super::record::EventKind;

/// Samples per second that are aimed at. One costs microseconds: a fault with a copy of 8 KB of stack.
pub const AIM: f64 = 250.0;
/// The first period: short enough for the start of a program, long enough for a storm of faults.
pub const FIRST: u64 = 23;
/// New mappings per second above which they are recorded in bursts only.
const MANY_MAPS: f64 = 5000.0;
/// New mappings of each program that do not count: its loader makes them, and they cost little compared with
/// an exec. A program that ends soon shows nothing else.
const LOADER_MAPS: f64 = 16.0;
/// At least this share of the expected samples arrives if tasks live long enough for the period.
const LEAST_SHARE: f64 = 0.25;

/// Finds a period that gives enough samples and not too many.
#[derive(Debug)]
pub struct Control {
    /// Whether the period was not adapted yet.
    pub is_first: bool,
    /// A longer period misses most faults: the tasks do not live long enough.
    longest: u64,
}

impl Control {
    pub fn new() -> Control {
        Control { is_first: true, longest: u64::MAX }
    }

    /// Another period, if the samples per second are far from their aim. It is a prime, so that it does not
    /// run in step with blocks, which have a power of two of pages. `rate`: all faults per second; `is_whole`: no
    /// samples were lost in full rings.
    pub fn adapted(&mut self, period: u64, samples: f64, rate: f64, is_whole: bool) -> Option<u64> {
        self.is_first = false;
        let expected = rate / period as f64;
        let wanted = if is_whole && period > 1 && expected > AIM / 4.0 && samples < expected * LEAST_SHARE {
            self.longest = (period / 4).max(1);
            self.longest
        } else if samples > AIM * 2.0 || (samples < AIM / 4.0 && period > 1) {
            (rate / AIM).clamp(1.0, self.longest as f64) as u64
        } else {
            return None;
        };
        Some(prime_from(wanted)).filter(|new| *new != period)
    }
}

/// New mappings since the last adjustment, without those of loaders.
#[derive(Debug, Default)]
pub struct Maps(f64);

impl Maps {
    pub fn count(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Map(map) if map.name == "//anon" => self.0 += 1.0,
            EventKind::Name { exec: true, .. } => self.0 -= LOADER_MAPS,
            _ => {}
        }
    }

    /// Whether it costs the program too much to record all of them, if they came in so many seconds.
    pub fn are_many(&self, seconds: f64) -> bool {
        self.0 > MANY_MAPS * seconds
    }
}

/// The first prime from here on; 1 stays 1.
pub fn prime_from(number: u64) -> u64 {
    let is_prime =
        |number: u64| (2..).take_while(|part| part * part <= number).all(|part| !number.is_multiple_of(part));
    if number <= 1 { 1 } else { (number..).find(|number| is_prime(*number)).unwrap_or(number) }
}

#[cfg(test)]
mod unit {
    use super::super::record::Map;
    use super::*;

    #[test]
    fn mappings_of_loaders_do_not_count() {
        let map = EventKind::Map(Map { name: "//anon".to_owned(), ..Map::default() });
        let begins = EventKind::Name { process: 1, thread: 1, name: "true".to_owned(), exec: true };
        let after = |programs: usize, maps: usize| {
            let mut new = Maps::default();
            for _ in 0..programs {
                new.count(&begins);
                (0..maps).for_each(|_| new.count(&map));
            }
            new.are_many(1.0)
        };
        // Short programs of a shell, and one program below the limit.
        assert!(!after(3000, 4) && !after(300, 16) && !after(1, 5000));
        assert!(after(1, 6000) && after(10, 600));
    }

    #[test]
    fn periods_are_primes_and_follow_the_samples() {
        assert_eq!([0, 1, 2, 8, 512, 1000].map(prime_from), [1, 1, 2, 11, 521, 1009]);
        let mut control = Control::new();
        assert_eq!(control.adapted(7, AIM, AIM * 7.0, true), None);
        assert_eq!(control.adapted(7, 70_000.0, AIM * 700.0, true), Some(701));
        assert_eq!(control.adapted(701, AIM / 5.0, AIM * 100.0, true), Some(101));
        assert_eq!(control.adapted(7, 0.0, 0.0, true), Some(1));
        assert_eq!(control.adapted(1, 0.0, 0.0, true), None);
        assert_eq!(control.longest, u64::MAX);
    }

    #[test]
    fn tasks_that_do_not_live_long_enough_for_the_period_shorten_it_for_good() {
        let mut control = Control::new();
        // 900 threads a second of 60 faults each.
        let samples = |period: u64| if period > 60 { 0.0 } else { (60 / period * 900) as f64 };
        let mut period = FIRST;
        for _ in 0..10 {
            period = control.adapted(period, samples(period), 54_000.0, true).unwrap_or(period);
        }
        assert!((11..=60).contains(&period), "{period}");
    }

    #[test]
    fn lost_samples_do_not_shorten_the_period() {
        let mut control = Control::new();
        assert_eq!(control.adapted(701, AIM / 3.0, AIM * 7000.0, false), None);
        assert_eq!(control.longest, u64::MAX);
        assert_eq!(control.adapted(701, AIM / 3.0, AIM * 7000.0, true), Some(prime_from(175)));
    }
}
