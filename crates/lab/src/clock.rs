//! The clock of all timing: the time stamp counter if it is proven, else CLOCK_MONOTONIC_RAW.
//!
//! NTP adjusts neither (clock_gettime(2)), so it cannot distort a measured rate.

use figure::evidence::{CLOCK_COST, CLOCK_GRANULARITY, CLOCK_SOURCE};
use figure::{Evidence, Machine};
use rustix::time::{ClockId, clock_gettime};

/// A point in time, in ticks of the [`Clock`] that read it.
pub type Ticks = u64;

/// Readings from which granularity and cost are computed.
const PROBES: usize = 2000;
/// Duration of each of the two calibrations against CLOCK_MONOTONIC_RAW.
#[cfg(target_arch = "x86_64")]
const CALIBRATION_NS: u64 = 5_000_000;
/// Two calibrations that differ by more than this share do not prove a constant rate. An interrupt may delay
/// one reading by some microseconds of the 5 ms.
#[cfg(target_arch = "x86_64")]
const CALIBRATION_TOLERANCE: f64 = 0.002;

/// A clock that every thread of the process may read.
#[derive(Clone, Debug)]
pub struct Clock {
    kind: Kind,
    nanoseconds_per_tick: f64,
    /// The name of the clock, and why it was chosen.
    pub basis: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    TimeStampCounter,
    MonotonicRaw,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Smallest positive difference between two successive readings, in seconds.
    pub granularity: f64,
    /// Mean time of one reading, in seconds. (The median of a coarse clock is 0.)
    pub cost: f64,
}

impl Clock {
    pub fn monotonic_raw() -> Self {
        Clock { kind: Kind::MonotonicRaw, nanoseconds_per_tick: 1.0, basis: "CLOCK_MONOTONIC_RAW".to_owned() }
    }

    pub fn for_machine(machine: &Machine) -> Self {
        let invariant = machine.cpu.invariant_counter.value().copied().unwrap_or(false);
        let clocksource = machine.kernel.setting("clocksource").and_then(|setting| setting.value.value());
        Clock::choose(invariant, clocksource.map(String::as_str))
    }

    /// The best clock for a machine. `invariant`: the processor's flags promise a constant rate.
    /// `clocksource` is the kernel's choice. The counter is used only if the kernel uses it as clocksource,
    /// because it then checks that the CPUs are synchronous, and if two calibrations agree.
    pub fn choose(invariant: bool, clocksource: Option<&str>) -> Self {
        #[cfg(target_arch = "x86_64")]
        if invariant && clocksource == Some("tsc") {
            let raw = Clock::monotonic_raw();
            let (first, second) = (calibrate(&raw), calibrate(&raw));
            if (first / second - 1.0).abs() < CALIBRATION_TOLERANCE {
                let rate = (first + second) / 2.0;
                return Clock {
                    kind: Kind::TimeStampCounter,
                    nanoseconds_per_tick: rate,
                    basis: format!(
                        "time stamp counter at {:.1} MHz: invariant by CPUID, the kernel's own clocksource, \
                         two calibrations against CLOCK_MONOTONIC_RAW agree",
                        1e3 / rate
                    ),
                };
            }
        }
        let _ = (invariant, clocksource);
        Clock::monotonic_raw()
    }

    /// The current time. Earlier loads and stores of the calling thread are complete, later ones not begun.
    #[inline]
    pub fn now(&self) -> Ticks {
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            Kind::TimeStampCounter => counter(),
            Kind::MonotonicRaw => {
                let now = clock_gettime(ClockId::MonotonicRaw);
                now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
            }
        }
    }

    /// Seconds from `from` to `to`; negative if `to` is earlier.
    pub fn seconds(&self, from: Ticks, to: Ticks) -> f64 {
        to.wrapping_sub(from) as i64 as f64 * self.nanoseconds_per_tick * 1e-9
    }

    /// Ticks per second of the time stamp counter, if it is the clock, for cycles that other code counted.
    pub fn counter_rate(&self) -> Option<f64> {
        (self.kind != Kind::MonotonicRaw).then(|| 1e9 / self.nanoseconds_per_tick)
    }

    /// Writes the clock's name, and its cost and granularity as measured on the calling thread.
    pub fn write(&self, evidence: &mut Evidence) {
        let precision = self.precision();
        evidence.put(CLOCK_GRANULARITY, precision.granularity);
        evidence.put(CLOCK_COST, precision.cost);
        evidence.put(CLOCK_SOURCE, self.basis.clone());
    }

    pub fn precision(&self) -> Precision {
        let readings: Vec<Ticks> = (0..PROBES).map(|_| self.now()).collect();
        let steps: Vec<f64> = readings.windows(2).map(|pair| self.seconds(pair[0], pair[1])).collect();
        let granularity = steps.iter().copied().filter(|step| *step > 0.0).fold(f64::INFINITY, f64::min);
        let total = self.seconds(readings[0], readings[PROBES - 1]);
        Precision { granularity, cost: total / (PROBES - 1) as f64 }
    }
}

pub(crate) fn system_seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Name, cost and granularity of CLOCK_MONOTONIC, for programs that use it. The kernel reads it like
/// CLOCK_MONOTONIC_RAW and only adjusts its rate.
pub fn monotonic_evidence() -> Evidence {
    let mut evidence = Evidence::default();
    Clock { basis: "CLOCK_MONOTONIC".to_owned(), ..Clock::monotonic_raw() }.write(&mut evidence);
    evidence
}

/// Nanoseconds per tick of the counter, compared with `raw` for 5 ms.
#[cfg(target_arch = "x86_64")]
fn calibrate(raw: &Clock) -> f64 {
    let (start, first) = (raw.now(), counter());
    loop {
        let (now, ticks) = (raw.now(), counter());
        if now - start >= CALIBRATION_NS {
            return (now - start) as f64 / (ticks - first) as f64;
        }
    }
}

/// RDTSCP waits for earlier instructions, and the LFENCE delays later ones (Intel SDM 3, section 19.17.1).
#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    use core::arch::x86_64::{__rdtscp, _mm_lfence};
    let mut aux = 0;
    // SAFETY: every x86-64 processor with an invariant counter has RDTSCP; LFENCE is part of SSE2.
    unsafe {
        let ticks = __rdtscp(&mut aux);
        _mm_lfence();
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_and_the_raw_clock_agree() {
        let chosen = Clock::choose(true, Some("tsc"));
        let raw = Clock::monotonic_raw();
        let (a, x) = (raw.now(), chosen.now());
        while raw.seconds(a, raw.now()) < 0.02 {}
        let (b, y) = (raw.now(), chosen.now());
        let ratio = raw.seconds(a, b) / chosen.seconds(x, y);
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn an_unproven_counter_is_not_used() {
        assert_eq!(Clock::choose(false, Some("tsc")).kind, Kind::MonotonicRaw);
        assert_eq!(Clock::choose(true, Some("hpet")).kind, Kind::MonotonicRaw);
        assert_eq!(Clock::choose(true, None).kind, Kind::MonotonicRaw);
    }

    #[test]
    fn precision_is_positive_and_small() {
        let precision = Clock::monotonic_raw().precision();
        assert!(precision.granularity > 0.0 && precision.granularity < 0.1);
        assert!(precision.cost > 0.0 && precision.cost < 0.01);
    }
}
