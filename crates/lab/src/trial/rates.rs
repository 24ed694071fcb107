//! When an endless program runs steadily, and its CPU time and faults per second then. Pure.

use figure::{Evidence, evidence as key, stats};

use crate::process_tree::Usage;

/// Seconds of a block, over which a rate is taken: the kernel counts CPU time in ticks of 10 ms.
const BLOCK: f64 = 0.5;
/// How many of the latest blocks count.
const BLOCKS: usize = 10;
/// Fewest blocks for a rate when the time is over.
const LEAST: usize = 4;
/// Rates are steady if the half-width of their interval is below this share of the median, or below these
/// values: CPUs, and faults per second.
const NARROW: f64 = 0.05;
const NO_CPU: f64 = 0.005;
const NO_FAULTS: f64 = 20.0;

/// What the program had used `time` seconds after its start.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    used: Usage,
}

#[derive(Debug, Default)]
pub struct RateWatch {
    /// Boundaries of blocks.
    marks: Vec<Sample>,
}

type Field = fn(&Usage) -> f64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    pub seconds: f64,
    pub is_steady: bool,
    /// CPU seconds per second, in user code and in the kernel.
    pub cpu: (f64, f64),
    /// Minor and major faults per second.
    pub faults: (f64, f64),
    /// Bytes in memory at the end.
    pub resident: f64,
}

impl RateWatch {
    pub fn take(&mut self, time: f64, used: Usage) {
        if self.marks.last().is_none_or(|last| time - last.time >= BLOCK) {
            self.marks.push(Sample { time, used });
        }
    }

    /// The rates of the latest blocks; `None` before there are any.
    pub fn rates(&self) -> Option<Rates> {
        let window = &self.marks[self.marks.len().saturating_sub(BLOCKS + 1)..];
        let (first, last) = (window.first()?, window.last()?);
        if window.len() <= LEAST {
            return None;
        }
        let seconds = last.time - first.time;
        let rate = |field: Field| (field(&last.used) - field(&first.used)).max(0.0) / seconds;
        let rate_of_block = |field: Field, pair: &[Sample]| {
            (field(&pair[1].used) - field(&pair[0].used)) / (pair[1].time - pair[0].time)
        };
        let blocks =
            |field: Field| -> Vec<f64> { window.windows(2).map(|pair| rate_of_block(field, pair)).collect() };
        let is_steady = window.len() > BLOCKS
            && is_narrow(&blocks(|used| used.user + used.system), NO_CPU)
            && is_narrow(&blocks(|used| used.minor + used.major), NO_FAULTS);
        Some(Rates {
            seconds,
            is_steady,
            cpu: (rate(|used| used.user), rate(|used| used.system)),
            faults: (rate(|used| used.minor), rate(|used| used.major)),
            resident: last.used.resident,
        })
    }
}

/// Whether the interval of these rates is narrow, as a share of their median or below `negligible`.
fn is_narrow(rates: &[f64], negligible: f64) -> bool {
    let (Some(value), Some(interval)) = (stats::median(rates), stats::median_interval(rates)) else {
        return false;
    };
    (interval.high - interval.low) / 2.0 <= (NARROW * value.abs()).max(negligible)
}

impl Rates {
    pub fn busy(&self) -> f64 {
        self.cpu.0 + self.cpu.1
    }

    pub fn write(&self, evidence: &mut Evidence) {
        evidence.put(key::RATE_SECONDS, self.seconds);
        evidence.put(key::RATE_STEADY, self.is_steady);
        evidence.put(key::RATE_USER, self.cpu.0);
        evidence.put(key::RATE_SYSTEM, self.cpu.1);
        evidence.put(key::RATE_FAULTS, self.faults.0 + self.faults.1);
        evidence.put(key::RATE_RESIDENT, self.resident);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Read ten times a second; `speed` by the time.
    fn watched(seconds: f64, speed: impl Fn(f64) -> f64) -> RateWatch {
        let (mut watch, mut used) = (RateWatch::default(), Usage { resident: 1e6, ..Usage::default() });
        for step in 0..(seconds * 10.0) as u32 {
            let time = f64::from(step) * 0.1;
            used.user += 0.02 * speed(time);
            used.system += 0.01 * speed(time);
            used.minor += 100.0 * speed(time);
            watch.take(time, used);
        }
        watch
    }

    #[test]
    fn a_steady_program_has_rates() {
        let rates = watched(8.0, |_| 1.0).rates().unwrap();
        assert!(rates.is_steady && (rates.busy() - 0.3).abs() < 0.01, "{rates:?}");
        assert!((rates.faults.0 - 1000.0).abs() < 30.0 && rates.resident == 1e6, "{rates:?}");
        assert!((rates.seconds - 5.0).abs() < 0.2, "{rates:?}");
    }

    #[test]
    fn the_start_is_left_out() {
        let rates = watched(10.0, |time| if time < 3.0 { 20.0 } else { 1.0 }).rates().unwrap();
        assert!(rates.is_steady && (rates.busy() - 0.3).abs() < 0.01, "{rates:?}");
        assert!(!watched(4.5, |time| if time < 3.0 { 20.0 } else { 1.0 }).rates().unwrap().is_steady);
    }

    #[test]
    fn too_little_or_too_wild_is_not_steady() {
        assert_eq!(watched(1.0, |_| 1.0).rates(), None);
        assert!(!watched(3.0, |_| 1.0).rates().unwrap().is_steady, "too short");
        let wild = watched(20.0, |time| if (time as u32).is_multiple_of(2) { 3.0 } else { 1.0 });
        assert!(!wild.rates().unwrap().is_steady);
        assert!(watched(8.0, |_| 0.0).rates().unwrap().is_steady, "nothing is as steady as nothing");
    }
}
