//! How many passes a sample has, and how many samples a round.

use lab::failure::Failure;
pub const MOST_SAMPLES: usize = 64;
/// Seconds of a round at least: twenty ticks of 10 ms, so that tick accounting (steal, foreign load) shows.
pub const SHORTEST_ROUND: f64 = 0.2;
/// Seconds that a sample lasts at least: 3 ms, 100 000 readings of a 30 ns clock.
pub const SHORTEST_SAMPLE: f64 = SHORTEST_ROUND / MOST_SAMPLES as f64;

/// What a sample and a round must be at least, and at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Seconds of a sample at least.
    pub shortest_sample: f64,
    /// Seconds of a round at least, as far as the samples allow.
    pub shortest_round: f64,
    pub least_samples: usize,
    pub most_samples: usize,
    /// Passes after which the work comes round: a sample of as many or more is of whole turns.
    pub turn: u64,
    /// Whether passes and samples must be odd in number: every second pass of some kernels undoes the first.
    pub is_odd: bool,
    pub trial: Trial,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trial {
    Passes(u64),
    /// As many as last this many seconds, twice.
    Seconds(f64),
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            shortest_sample: SHORTEST_SAMPLE,
            shortest_round: SHORTEST_ROUND,
            least_samples: 1,
            most_samples: MOST_SAMPLES,
            turn: 1,
            is_odd: false,
            trial: Trial::Passes(1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    pub passes: u64,
    pub samples: usize,
}

impl Calibration {
    pub fn of(seconds: f64, policy: &Policy) -> Calibration {
        // A clock that stands still must not ask for passes without end.
        let seconds = seconds.max(1e-12);
        let odd = u64::from(policy.is_odd);
        let passes = (policy.shortest_sample / seconds).ceil().max(1.0) as u64;
        let whole = passes.next_multiple_of(policy.turn);
        let passes = odd | if passes < policy.turn { passes } else { whole };
        let samples = (policy.shortest_round / (seconds * passes as f64)).ceil() as usize;
        let samples = samples.clamp(policy.least_samples, policy.most_samples) | odd as usize;
        Calibration { passes, samples }
    }
}

pub fn pass_seconds(trial: Trial, mut run: impl FnMut(u64) -> Result<f64, Failure>) -> Result<f64, Failure> {
    match trial {
        Trial::Passes(passes) => Ok(run(passes)? / passes as f64),
        Trial::Seconds(least) => {
            let mut passes = 1;
            loop {
                let mut seconds = run(passes)?;
                if seconds >= least {
                    // An interrupt in the first run would pass for a slow kernel.
                    seconds = seconds.min(run(passes)?);
                }
                // A clock that stands still ends too.
                if seconds >= least || passes >= u64::MAX / 4 {
                    return Ok(seconds.max(1e-9) / passes as f64);
                }
                passes *= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_does_not_pass_for_a_slow_kernel() {
        for interrupted in 0..20 {
            let mut runs = 0;
            let seconds = pass_seconds(Trial::Seconds(0.001), |passes| {
                runs += 1;
                Ok(passes as f64 * 1e-6 + if runs - 1 == interrupted { 0.01 } else { 0.0 })
            });
            let seconds = seconds.unwrap();
            assert!((1e-6..1.1e-6).contains(&seconds), "{interrupted}: {seconds}");
        }
        let trial = Trial::Seconds(0.001);
        assert_eq!(pass_seconds(trial, |_| Ok(0.5)), Ok(0.5));
        assert!(pass_seconds(trial, |_| Ok(0.0)).unwrap() > 0.0);
        assert_eq!(pass_seconds(trial, |_| Err(Failure::new("gone"))), Err(Failure::new("gone")));
        assert_eq!(pass_seconds(Trial::Passes(4), |passes| Ok(passes as f64)), Ok(1.0));
    }

    #[test]
    fn short_passes_are_many_and_long_ones_few() {
        let policy = Policy::default();
        assert_eq!(Calibration::of(0.5, &policy), Calibration { passes: 1, samples: 1 });
        assert_eq!(Calibration::of(0.04, &policy), Calibration { passes: 1, samples: 5 });
        let short = Calibration::of(1e-5, &policy);
        assert!(short.passes as f64 * 1e-5 >= SHORTEST_SAMPLE && short.samples > 30);
        assert!(Calibration::of(0.0, &policy).samples > 0, "a clock that stood still ends too");
    }

    #[test]
    fn samples_are_whole_turns_where_turns_are_short() {
        let walk = |turn| Policy { shortest_sample: 0.025, turn, ..Policy::default() };
        // 16 KiB at 1.5 ns, in 16 segments of 16 steps: 65104 turns of 256 steps are 25 ms.
        assert_eq!(Calibration::of(16.0 * 1.5e-9, &walk(16)).passes, 65105 * 16);
        // 2 GiB at 100 ns: a turn takes 3.4 s, and 2 of 256 segments are 26 ms.
        assert_eq!(Calibration::of((1 << 17) as f64 * 100e-9, &walk(256)).passes, 2);
    }

    #[test]
    fn a_policy_bounds_both() {
        let several = Policy { least_samples: 3, ..Policy::default() };
        assert_eq!(Calibration::of(0.5, &several), Calibration { passes: 1, samples: 3 });
        for seconds in [1e-6, 1e-3, 0.05, 1.0] {
            let odd = Calibration::of(seconds, &Policy { is_odd: true, ..Policy::default() });
            assert!(odd.passes % 2 == 1 && odd.samples % 2 == 1, "{odd:?}");
        }
    }
}
