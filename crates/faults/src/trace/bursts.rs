//! When every fault is recorded, without its stack, or every fault's error code: in bursts, as far as that costs little of the program's CPU
//! time. Pure.
//!
//! Where a program takes fewer faults than may be recorded, all are: one burst.

use std::time::{Duration, Instant};

use figure::stats::Random;

use super::time::varied;

/// How many faults may be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// For each second of the program's CPU time.
    pub of_cpu: f64,
    /// For each second, at least and at most.
    pub least: f64,
    pub most: f64,
    /// When the program begins, and after a rest.
    pub first: f64,
}

/// Of 0.26 us each, where a fault is 1.1 us (`faults.prices.watching.burst`), and some 0.4 us in a program of many processes (perf of
/// Apache httpd): up to 1.6 % of the CPU time.
pub const FAULTS: Allowance = Allowance { of_cpu: 40_000.0, least: 500.0, most: 60_000.0, first: 5000.0 };
/// Of 0.26 to 0.4 us each: up to 0.4 %.
pub const CODES: Allowance = Allowance { of_cpu: 10_000.0, least: 500.0, most: 20_000.0, first: 2000.0 };
/// What is not used is saved for so many seconds, or as much as when the program begins; what was used beyond it counts for as many.
const SAVED: f64 = 1.0;
/// The longest burst, and the most faults in it, where new mappings are recorded in bursts only: these cost more.
const SHORT: Duration = Duration::from_millis(50);
const SHORT_FAULTS: f64 = 2000.0;
/// The mean time from the first burst to the second; from each to the next it is so many times as long, up to the longest.
const PAUSE: Duration = Duration::from_millis(60);
const LATER: u32 = 3;
const LONGEST: Duration = Duration::from_secs(1);

pub struct Bursts {
    allowance: Allowance,
    began: Option<Instant>,
    /// Faults in this one, or in the last.
    faults: f64,
    /// Faults that may be recorded now, below 0 where too many were; and when that was worked out.
    credit: f64,
    counted: Instant,
    next: Instant,
    pause: Duration,
    random: Random,
    /// CPUs that the program uses.
    pub cpus: Option<f64>,
}

impl Bursts {
    pub fn new(allowance: Allowance, now: Instant, seed: u64) -> Bursts {
        Bursts {
            allowance,
            began: None,
            faults: 0.0,
            credit: allowance.first,
            counted: now,
            next: now,
            pause: PAUSE,
            random: Random::new(seed),
            cpus: None,
        }
    }

    pub fn is_on(&self) -> bool {
        self.began.is_some()
    }

    /// Counts faults that were recorded, or found no room. However many they are, another burst may follow a second later.
    pub fn count(&mut self, faults: f64) {
        self.faults += faults;
        self.credit = (self.credit - faults).max(-self.rate() * SAVED);
    }

    /// How long a burst can last at so many faults a second.
    pub fn lasts(&self, rate: f64) -> Duration {
        Duration::try_from_secs_f64(self.credit.max(0.0) / rate.max(1.0)).unwrap_or(Duration::MAX)
    }

    /// Faults that may be recorded for each second.
    fn rate(&self) -> f64 {
        let Allowance { of_cpu, least, most, .. } = self.allowance;
        (self.cpus.unwrap_or(1.0) * of_cpu).clamp(least, most)
    }

    /// Whether one must begin.
    pub fn is_due(&mut self, now: Instant) -> bool {
        self.save(now);
        !self.is_on() && self.credit > 0.0 && now >= self.next
    }

    pub fn begin(&mut self, now: Instant) {
        (self.began, self.faults) = (Some(now), 0.0);
    }

    /// Whether the one that is on must end.
    pub fn is_over(&mut self, now: Instant, is_short: bool) -> bool {
        self.save(now);
        let is_long = |began: Instant| now - began >= SHORT || self.faults >= SHORT_FAULTS;
        self.began.is_some_and(|began| self.credit <= 0.0 || is_short && is_long(began))
    }

    /// Ends it; returns how many seconds it was. The next may begin at once where faults may be recorded still.
    pub fn end(&mut self, now: Instant, is_short: bool) -> f64 {
        if is_short || self.credit <= 0.0 {
            self.next = now + varied(self.pause, &mut self.random);
            self.pause = (self.pause * LATER).min(LONGEST);
        }
        self.began.take().map_or(0.0, |began| (now - began).as_secs_f64())
    }

    fn save(&mut self, now: Instant) {
        let rate = self.rate();
        let seconds = now.duration_since(self.counted).as_secs_f64();
        let most = (rate * SAVED).max(self.allowance.first);
        (self.credit, self.counted) = ((self.credit + rate * seconds).min(most), now);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const STEP: Duration = Duration::from_millis(10);

    /// Of so many faults a second, for so many seconds, the share that is recorded; and how many bursts there were.
    fn recorded(rate: f64, seconds: u32, cpus: f64, is_short: bool) -> (f64, usize) {
        let begin = Instant::now();
        let mut bursts = Bursts::new(FAULTS, begin, 1);
        bursts.cpus = Some(cpus);
        let (mut faults, mut number) = (0.0, 0);
        for step in 1..=seconds * 100 {
            let now = begin + STEP * step;
            if bursts.is_on() {
                faults += rate * STEP.as_secs_f64();
                bursts.count(rate * STEP.as_secs_f64());
                if bursts.is_over(now, is_short) {
                    bursts.end(now, is_short);
                }
            } else if bursts.is_due(now) {
                bursts.begin(now);
                number += 1;
            }
        }
        (faults / rate / f64::from(seconds), number)
    }

    #[test]
    fn all_faults_are_recorded_where_they_are_few() {
        assert!(
            recorded(30_000.0, 10, 1.0, false) > (0.99, 0) && recorded(400.0, 10, 0.0, false) > (0.99, 0)
        );
        assert_eq!([400.0, 30_000.0].map(|rate| recorded(rate, 10, 1.0, false).1), [1; 2]);
    }

    #[test]
    fn a_storm_is_recorded_as_far_as_it_may_cost() {
        for (rate, cpus, most) in
            [(500_000.0, 1.0, 40_000.0), (500_000.0, 8.0, 60_000.0), (10_000.0, 0.01, 500.0)]
        {
            let (share, number) = recorded(rate, 200, cpus, false);
            let of_most = share * rate / most;
            assert!((0.7..1.1).contains(&of_most) && number >= 10, "{rate}: {of_most} in {number}");
        }
        // The first second has several: a program may be short.
        assert!(recorded(500_000.0, 1, 1.0, false).1 >= 3);
    }

    #[test]
    fn bursts_are_short_where_mappings_are_recorded_in_them_only() {
        let (share, number) = recorded(1000.0, 20, 1.0, true);
        assert!(share < 0.1 && number > 15, "{share} {number}");
    }
}
