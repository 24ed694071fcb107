//! Requests at exponential distances, as from independent clients.

use super::{Due, Pace};

/// A Poisson process. The same seed gives the same schedule; several threads add up to one process at the sum
/// of their rates.
#[derive(Clone, Copy, Debug)]
pub struct Poisson {
    /// Mean distance in nanoseconds.
    interval: f64,
    start: u64,
    /// Nanoseconds from the start to the next request.
    next: f64,
    seed: u64,
    state: u64,
}

impl Poisson {
    /// At `rate` requests/s over all threads, for thread `index` of `threads`.
    pub fn new(rate: f64, seed: u64, index: u32, threads: u32) -> Poisson {
        let seed = splitmix(seed ^ splitmix(u64::from(index).wrapping_add(1)));
        Poisson { interval: 1e9 / rate * f64::from(threads), start: 0, next: 0.0, seed, state: seed }
    }

    fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(GOLDEN);
        // 53 bits, above 0 and up to 1, so that the logarithm is finite.
        let uniform = ((splitmix(self.state) >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln() * self.interval
    }
}

/// 2^64 divided by the golden ratio: the step of SplitMix64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn splitmix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Pace for Poisson {
    const IS_OPEN: bool = true;

    fn begin(&mut self, start: u64) {
        (self.start, self.state) = (start, self.seed);
        self.next = self.draw();
    }

    #[inline]
    fn due(&self, now: u64) -> Due {
        let at = self.start.saturating_add(self.next as u64);
        if at <= now { Due::Now(at) } else { Due::At(at) }
    }

    #[inline]
    fn take(&mut self) {
        self.next += self.draw();
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn moments(seed: u64, index: u32, threads: u32) -> Vec<u64> {
        let mut pace = Poisson::new(100_000.0, seed, index, threads);
        pace.begin(0);
        let mut moments = Vec::new();
        while let Due::Now(at) = pace.due(1_000_000_000) {
            moments.push(at);
            pace.take();
        }
        moments
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule() {
        assert_eq!(moments(7, 0, 1), moments(7, 0, 1));
        assert_ne!(moments(7, 0, 1), moments(8, 0, 1));
        assert_ne!(moments(7, 0, 2), moments(7, 1, 2));
    }

    #[test]
    fn counts_in_equal_times_have_the_variance_of_their_mean() {
        let mut merged = [moments(1, 0, 2), moments(1, 1, 2)].concat();
        merged.sort_unstable();
        // Standard deviation of the number is 316.
        assert!((merged.len() as f64 - 100_000.0).abs() < 1_500.0, "{}", merged.len());
        let mut counts = vec![0.0f64; 1000];
        merged.iter().for_each(|at| counts[(*at / 1_000_001) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((0.8..1.25).contains(&(variance / mean)), "{variance} {mean}");
    }
}
