//! The latency of one chain in one round.
//!
//! Before each round the caches are brought to what an endless walk would have left in them: the steps before
//! the first timed one are taken, many side by side. Then the walk goes on from sample to sample and from
//! round to round, so that a chain larger than the caches is not walked again where it still lies in them.

use std::sync::Arc;

use figure::evidence::{CANARY_AFTER, CANARY_BEFORE, LATENCY_CYCLES};
use figure::{Evidence, Reading, Round};

use crate::pointer_chain::PointerChain;
use crate::team::Team;

/// Seconds of a sample: with [`SAMPLES`] of them, and one that does not count, a round lasts ten clock ticks
/// of 10 ms, so that tick accounting (steal, foreign load) can say something.
const SAMPLE: f64 = 0.025;
/// Timed samples of a round.
const SAMPLES: usize = 3;
/// Seconds of the trial that finds out how fast a chain is.
const TRIAL: f64 = 0.002;

/// A chain, and how far it was walked.
#[derive(Debug)]
pub struct ChainWalk {
    chain: Arc<PointerChain>,
    /// Steps before the first timed one that caches may remember.
    remembered: u64,
    /// The point where the next round begins.
    point: usize,
    /// Segments of a sample, once known.
    segments: Option<usize>,
    has_walked: bool,
    is_lost: bool,
}

impl ChainWalk {
    /// A walk along this chain, on a machine whose caches hold `remembered` elements of it at most.
    pub fn new(chain: PointerChain, remembered: u64) -> ChainWalk {
        let chain = Arc::new(chain);
        ChainWalk { chain, remembered, point: 0, segments: None, has_walked: false, is_lost: false }
    }

    /// One round on a team of one thread; samples are in ns for each step.
    ///
    /// # Errors
    /// A thread that failed, or a clock that gave no time.
    pub fn round(&mut self, team: &Team) -> Result<Round, String> {
        let (chain, point, remembered) = (self.chain.clone(), self.point, self.remembered);
        team.each(move |_| chain.warm(point, remembered))?;
        let segments = match self.segments {
            Some(segments) => segments,
            None => {
                let segments = self.trial(team)?;
                *self.segments.insert(segments)
            }
        };
        let chain = self.chain.clone();
        // The first sample does not count: what happens before a round leaves something else in the caches.
        let (measured, arrived) = team
            .round(SAMPLES + 1, move |_, sample| chain.walk(point + sample * segments, segments))?;
        self.has_walked = true;
        self.is_lost |= !arrived.into_iter().flatten().all(|arrived| arrived);
        self.point = (point + (SAMPLES + 1) * segments) % self.chain.count();

        let nanoseconds = |(sample, seconds): (usize, &f64)| {
            seconds * 1e9 / self.chain.steps(point + sample * segments, segments) as f64
        };
        let samples: Vec<f64> = measured.samples.iter().enumerate().skip(1).map(nanoseconds).collect();
        let mut evidence = measured.evidence;
        let latency = figure::stats::median(&samples).unwrap_or(f64::NAN);
        let cycles = cycles(latency, &evidence);
        evidence.put_reading(LATENCY_CYCLES, cycles);
        Ok(Round::new(measured.started, measured.duration, samples, evidence))
    }

    /// Whether every walk ended where it must; `None` if there was none.
    pub fn arrived(&self) -> Option<bool> {
        self.has_walked.then_some(!self.is_lost)
    }

    /// Segments of a sample, by a trial: whole turns of the chain if one is short enough.
    fn trial(&mut self, team: &Team) -> Result<usize, String> {
        let (chain, point) = (self.chain.clone(), self.point);
        let walks = team.each(move |seat| {
            let mut segments = 1;
            loop {
                let start = seat.clock.now();
                let arrived = chain.walk(point, segments);
                let seconds = seat.clock.seconds(start, seat.clock.now());
                if seconds >= TRIAL || !arrived {
                    return (seconds / chain.steps(point, segments) as f64, arrived);
                }
                segments *= 2;
            }
        })?;
        let Some(&(step, arrived)) = walks.first() else { return Err("no thread walked".to_owned()) };
        self.is_lost |= !arrived;
        Ok(segments(step, self.chain.elements(), self.chain.count()))
    }
}

/// Segments of a sample of a chain of this many elements and points, when a step takes `step` seconds.
fn segments(step: f64, elements: u64, points: usize) -> usize {
    let turn = step * elements as f64;
    let segments = if turn <= SAMPLE {
        (SAMPLE / turn).ceil() * points as f64
    } else {
        (SAMPLE / turn * points as f64).ceil()
    };
    // A step takes a nanosecond or more: the bound is for clocks that stand still.
    segments.clamp(1.0, SAMPLE * 1e9 * points as f64) as usize
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_whole_turns_where_turns_are_short() {
        // 16 KiB at 1.5 ns: 65104 turns of 256 steps are 25 ms.
        assert_eq!(segments(1.5e-9, 256, 16), 65105 * 16);
        // 2 GiB at 100 ns: a turn takes 3.4 s, and two of 256 segments are 26 ms.
        assert_eq!(segments(100e-9, 1 << 25, 256), 2);
        assert_eq!(segments(0.025 / 4096.0, 4096, 256), 256);
        assert!(segments(0.0, 256, 16) > 0, "a clock that stands still ends");
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
