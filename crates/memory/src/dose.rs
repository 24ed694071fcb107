//! How much work one round is.

/// A sample lasts at least this long, by as many passes as that takes: 3 ms, 100 000 readings of a 30 ns clock.
pub const SHORTEST_SAMPLE: f64 = SHORTEST_ROUND / MOST_SAMPLES as f64;
/// A round lasts at least about this long, by as many samples as that takes: twenty clock ticks of 10 ms, so that
/// tick accounting (steal, foreign load) can say something.
pub const SHORTEST_ROUND: f64 = 0.2;
/// Samples of one round at most.
pub const MOST_SAMPLES: usize = 64;

/// Passes of a sample and samples of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dose {
    /// Passes over the data in each sample.
    pub passes: u64,
    /// Samples.
    pub samples: usize,
}

impl Dose {
    /// The dose for work of which one pass takes so many seconds.
    pub fn of(seconds: f64) -> Dose {
        let seconds = seconds.max(1e-9);
        let passes = (SHORTEST_SAMPLE / seconds).ceil().max(1.0);
        let samples = (SHORTEST_ROUND / (seconds * passes)).ceil() as usize;
        Dose { passes: passes as u64, samples: samples.clamp(1, MOST_SAMPLES) }
    }
}

/// Seconds of a pass, by passes that are not counted: `run` makes so many, and tells how long they took. They grow until they take `least`
/// seconds, and do so twice: who is interrupted once in a pass would take it for one that is long.
///
/// # Errors
/// Those of `run`.
pub fn pass_seconds(least: f64, mut run: impl FnMut(u64) -> Result<f64, String>) -> Result<f64, String> {
    let mut passes = 1;
    loop {
        let mut seconds = run(passes)?;
        if seconds >= least {
            seconds = seconds.min(run(passes)?);
        }
        // Passes that take no time are no passes.
        if seconds >= least || passes >= u64::MAX / 4 {
            return Ok(seconds.max(1e-9) / passes as f64);
        }
        passes *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_interrupted_once_takes_no_pass_for_a_long_one() {
        for interrupted in 0..20 {
            let mut runs = 0;
            let seconds = pass_seconds(0.001, |passes| {
                runs += 1;
                Ok(passes as f64 * 1e-6 + if runs - 1 == interrupted { 0.01 } else { 0.0 })
            });
            let seconds = seconds.unwrap();
            assert!((1e-6..1.1e-6).contains(&seconds), "{interrupted}: {seconds}");
        }
        assert_eq!(pass_seconds(0.001, |_| Ok(0.5)), Ok(0.5));
        assert!(pass_seconds(0.001, |_| Ok(0.0)).unwrap() > 0.0);
        assert_eq!(pass_seconds(0.001, |_| Err("gone".to_owned())), Err("gone".to_owned()));
    }

    #[test]
    fn short_passes_are_many_and_long_ones_few() {
        assert_eq!(Dose::of(0.5), Dose { passes: 1, samples: 1 });
        assert_eq!(Dose::of(0.04), Dose { passes: 1, samples: 5 });
        let short = Dose::of(1e-5);
        assert!(short.passes as f64 * 1e-5 >= SHORTEST_SAMPLE && short.samples > 30);
        assert!(Dose::of(0.0).samples > 0);
    }
}
