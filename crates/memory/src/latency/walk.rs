//! The latency of one chain in one round.
//!
//! Before each round the caches are brought to what an endless walk would have left in them: the steps before the first
//! timed one are taken, many side by side. Then the walk goes on from sample to sample and from round to round, so that a
//! chain larger than the caches is not walked again where it still lies in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use figure::evidence::{CANARY_AFTER, CANARY_BEFORE, LATENCY_CYCLES};
use figure::{Evidence, Reading, Round};
use lab::measure;
use lab::pool::{Pool, Seat};
use machine::counters::Watch;

use crate::track::Track;

/// Seconds of a sample: with [`SAMPLES`] of them, and one that is not counted, a round lasts ten clock ticks of 10 ms, so that tick accounting (steal,
/// foreign load) can say something.
const SAMPLE: f64 = 0.025;
/// Timed samples of a round.
const SAMPLES: usize = 3;
/// Seconds of the trial that finds out how fast a chain is.
const TRIAL: f64 = 0.002;

/// A chain, and how far it was walked.
#[derive(Debug)]
pub struct Walk {
    track: Arc<Track>,
    /// Steps before the first timed one that caches may remember.
    memory: u64,
    /// The point where the next round begins.
    point: usize,
    /// Legs of a sample, once known.
    legs: Option<usize>,
    walked: bool,
    lost: bool,
}

impl Walk {
    /// A walk along this chain, on a machine whose caches hold `cached` elements of it at most.
    pub fn new(track: Track, cached: u64) -> Walk {
        Walk { track: Arc::new(track), memory: cached, point: 0, legs: None, walked: false, lost: false }
    }

    /// One round on a pool of one thread; samples are in ns for each step.
    ///
    /// # Errors
    /// A thread that failed, or a clock that gave no time.
    pub fn round(&mut self, pool: &Pool, watch: &Watch) -> Result<Round, String> {
        let (track, point, memory) = (self.track.clone(), self.point, self.memory);
        each(pool, move |_| track.warm(point, memory))?;
        let legs = match self.legs {
            Some(legs) => legs,
            None => {
                let legs = self.trial(pool)?;
                *self.legs.insert(legs)
            }
        };
        let (track, lost) = (self.track.clone(), Arc::new(AtomicBool::new(false)));
        let missed = lost.clone();
        // The first sample is not counted: what happens before a round leaves something else in the caches.
        let measured = measure::round(pool, watch, SAMPLES + 1, move |_, sample| {
            if !track.walk(point + sample * legs, legs) {
                missed.store(true, Ordering::Relaxed);
            }
        })
        .map_err(|error| error.to_string())?;
        self.walked = true;
        self.lost |= lost.load(Ordering::Relaxed);
        self.point = (point + (SAMPLES + 1) * legs) % self.track.count();

        let nanoseconds = |(sample, seconds): (usize, &f64)| {
            seconds * 1e9 / self.track.steps(point + sample * legs, legs) as f64
        };
        let samples: Vec<f64> = measured.samples.iter().enumerate().skip(1).map(nanoseconds).collect();
        if samples.is_empty() || samples.iter().any(|sample| *sample <= 0.0) {
            return Err(format!("the clock ({}) gave no time for a sample", pool.clock.basis));
        }
        let mut evidence = measured.evidence;
        let latency = figure::stats::median(&samples).unwrap_or(f64::NAN);
        let cycles = cycles(latency, &evidence);
        evidence.put_reading(LATENCY_CYCLES, cycles);
        Ok(Round::new(measured.started, measured.duration, samples, evidence))
    }

    /// Whether every walk ended where it must; `None` if there was none.
    pub fn arrived(&self) -> Option<bool> {
        self.walked.then_some(!self.lost)
    }

    /// Legs of a sample: whole turns of the chain if one is short enough.
    fn trial(&mut self, pool: &Pool) -> Result<usize, String> {
        let (track, point) = (self.track.clone(), self.point);
        let found = each(pool, move |seat| {
            let mut legs = 1;
            loop {
                let start = seat.clock.now();
                let arrived = track.walk(point, legs);
                let seconds = seat.clock.seconds(start, seat.clock.now());
                if seconds >= TRIAL || !arrived {
                    return (seconds / track.steps(point, legs) as f64, arrived);
                }
                legs *= 2;
            }
        })?;
        let Some(&(step, arrived)) = found.first() else { return Err("no thread walked".to_owned()) };
        self.lost |= !arrived;
        Ok(legs(step, self.track.elements(), self.track.count()))
    }
}

/// Legs of a sample of a chain of this many elements and points, when a step takes `step` seconds.
fn legs(step: f64, elements: u64, points: usize) -> usize {
    let turn = step * elements as f64;
    let legs = if turn <= SAMPLE {
        (SAMPLE / turn).ceil() * points as f64
    } else {
        (SAMPLE / turn * points as f64).ceil()
    };
    // A step of less than a nanosecond is none: the bound is for clocks that stand still.
    legs.clamp(1.0, SAMPLE * 1e9 * points as f64) as usize
}

/// Cycles of a latency in ns, by the canary around the round.
fn cycles(latency: f64, evidence: &Evidence) -> Reading<f64> {
    if !cfg!(target_arch = "x86_64") {
        return Reading::unknown(
            "the canary counts cycles on x86 only: elsewhere its multiplication takes 2 to 5",
        );
    }
    match (evidence.get(CANARY_BEFORE), evidence.get(CANARY_AFTER)) {
        (Reading::Value(before), Reading::Value(after)) => Reading::Value(latency * (before + after) / 2.0),
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
    }
}

fn each<T: Send + 'static>(
    pool: &Pool,
    job: impl Fn(&Seat) -> T + Send + Sync + 'static,
) -> Result<Vec<T>, String> {
    pool.run(job).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_whole_turns_where_turns_are_short() {
        // 16 KiB at 1.5 ns: 65104 turns of 256 steps are 25 ms.
        assert_eq!(legs(1.5e-9, 256, 16), 65105 * 16);
        // 2 GiB at 100 ns: a turn takes 3.4 s, and two of 256 legs are 26 ms.
        assert_eq!(legs(100e-9, 1 << 25, 256), 2);
        assert_eq!(legs(0.025 / 4096.0, 4096, 256), 256);
        assert!(legs(0.0, 256, 16) > 0, "a clock that stands still ends");
    }

    #[test]
    fn cycles_need_a_proved_clock() {
        let mut evidence = Evidence::default();
        assert!(cycles(100.0, &evidence).reason().is_some());
        evidence.put(CANARY_BEFORE, 3.0);
        evidence.put(CANARY_AFTER, 3.2);
        if cfg!(target_arch = "x86_64") {
            assert!((cycles(100.0, &evidence).into_value().unwrap() - 310.0).abs() < 1e-9);
        }
    }
}
