//! The sampling period: enough samples at little cost; and whether all new mappings are recorded.

use super::record::EventKind;

/// Samples per second that are aimed at. One costs microseconds: a fault with a copy of 8 KB of stack.
pub const AIM: f64 = 500.0;
/// The first period: short enough for the start of a program, long enough for a storm of faults.
pub const FIRST: u64 = 23;
/// New mappings per second above which they are recorded in bursts only.
const MANY_MAPS: f64 = 5000.0;
/// New mappings of each program that do not count: its loader makes them, and they cost little compared with
/// an exec. A program that ends soon shows nothing else.
const LOADER_MAPS: f64 = 16.0;
/// At least this share of the expected samples arrives if tasks live long enough for the period.
const LEAST_SHARE: f64 = 0.75;
/// The period is at most this share of the faults of a task, where most tasks are short: a task that ends before its first
/// sample has none.
const OF_TASK: f64 = 0.25;
/// Seconds over which rates are averaged: a program works and rests, and another period for each would be one too many.
const LONG: f64 = 2.0;
/// A share of fewer expected samples says nothing.
const SURE: f64 = 50.0;

/// What happened since the last adjustment: numbers per second, and how many seconds that was.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub samples: f64,
    /// All minor faults.
    pub faults: f64,
    /// Tasks that began.
    pub tasks: f64,
    pub seconds: f64,
}

/// Finds a period that gives enough samples and not too many.
#[derive(Debug)]
pub struct Control {
    /// Whether the period was not adapted yet.
    pub is_first: bool,
    /// A longer period misses many faults: the tasks do not live long enough.
    longest: u64,
    /// Means of the last intervals, the older the less: samples, those that are expected, faults and new tasks per second.
    means: [f64; 4],
}

impl Control {
    pub fn new() -> Control {
        Control { is_first: true, longest: u64::MAX, means: [0.0; 4] }
    }

    /// Another period, if the samples per second are far from their aim. It is a prime, so that it does not
    /// run in step with blocks, which have a power of two of pages. `is_whole`: no samples were lost in full rings.
    pub fn adapted(&mut self, period: u64, now: Interval, is_whole: bool) -> Option<u64> {
        let weight = if self.is_first { 1.0 } else { 1.0 - (-now.seconds / LONG).exp() };
        self.is_first = false;
        for (mean, now) in
            self.means.iter_mut().zip([now.samples, now.faults / period as f64, now.faults, now.tasks])
        {
            *mean += weight * (now - *mean);
        }
        let [samples, expected, faults, tasks] = self.means;
        let of_task = (faults / tasks.max(f64::MIN_POSITIVE) * OF_TASK).max(1.0);
        let most = of_task.min(self.longest as f64);
        let wanted = if is_whole && period > 1 && expected > SURE && samples < expected * LEAST_SHARE {
            self.longest = (period / 4).max(1);
            self.longest
        } else if samples > AIM * 2.0 || (samples < AIM / 4.0 && period > 1) {
            (faults / AIM).clamp(1.0, most) as u64
        } else {
            return None;
        };
        let new = Some(prime_from(wanted)).filter(|new| *new != period)?;
        let expected = faults / new as f64;
        self.means = [expected, expected, faults, tasks];
        Some(new)
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
        // Each in its first interval.
        let first =
            |period, samples, faults| Control::new().adapted(period, interval(samples, faults, 0.05), true);
        assert_eq!(first(7, AIM, AIM * 7.0), None);
        assert_eq!(first(7, 70_000.0, AIM * 700.0), Some(701));
        assert_eq!(first(701, AIM / 5.0, AIM * 100.0), Some(101));
        assert_eq!([first(7, 0.0, 0.0), first(1, 0.0, 0.0)], [Some(1), None]);
    }

    #[test]
    fn short_tasks_have_samples_from_the_start() {
        let now = Interval { tasks: 800.0, ..interval(1700.0, 40_000.0, 0.05) };
        assert_eq!(Control::new().adapted(FIRST, now, true), Some(13), "a quarter of 50");
    }

    fn interval(samples: f64, faults: f64, seconds: f64) -> Interval {
        Interval { samples, faults, tasks: 0.0, seconds }
    }

    /// The periods of a program with so many faults a second, an interval of `seconds` each.
    fn periods(faults: impl Iterator<Item = f64>, seconds: f64) -> Vec<u64> {
        let (mut control, mut period) = (Control::new(), FIRST);
        let adapt = |rate: f64| {
            let now = interval(rate / period as f64, rate, seconds);
            period = control.adapted(period, now, true).unwrap_or(period);
            period
        };
        faults.map(adapt).collect()
    }

    #[test]
    fn storms_raise_it_soon_and_a_rest_lowers_it_late() {
        let storm = periods(std::iter::repeat_n(1e6, 5), 0.02);
        assert_eq!(storm[0], prime_from((1e6 / AIM) as u64));
        // A tenth of a second of work, and nine of rest, again and again.
        let rate = |interval: usize| if interval.is_multiple_of(10) { 30_000.0 } else { 0.0 };
        let all = periods((0..200).map(rate), 0.1);
        let changes = all[50..].windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 15, "{all:?}");
        assert!(all[50..].iter().all(|period| (3..=60).contains(period)), "{all:?}");
    }

    #[test]
    fn tasks_that_do_not_live_long_enough_for_the_period_shorten_it_for_good() {
        let mut control = Control::new();
        // 900 threads a second of 60 faults each.
        let samples = |period: u64| if period > 60 { 0.0 } else { (60 / period * 900) as f64 };
        let mut period = FIRST;
        for _ in 0..60 {
            period =
                control.adapted(period, interval(samples(period), 54_000.0, 0.25), true).unwrap_or(period);
        }
        assert!(samples(period) * period as f64 > 0.75 * 54_000.0, "{period}");
        assert!(period > 3, "{period}");
    }

    #[test]
    fn lost_samples_do_not_shorten_the_period() {
        let mut control = Control::new();
        let few = interval(AIM / 3.0, AIM * 7000.0, 1.0);
        assert_eq!(control.adapted(701, few, false), None);
        assert_eq!(control.longest, u64::MAX);
        assert_eq!(control.adapted(701, few, true), Some(prime_from(175)));
    }
}
