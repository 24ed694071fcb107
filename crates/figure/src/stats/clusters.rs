//! Ratios of two sums over clusters, whose members are alike: what is observed in moments.

/// The sums of a ratio, cluster by cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterRatio {
    clusters: f64,
    part: f64,
    whole: f64,
    /// Sums over clusters: squares of the part, products, squares of the whole.
    squares: [f64; 3],
}

impl ClusterRatio {
    /// Adds a cluster.
    pub fn add(&mut self, part: f64, whole: f64) {
        self.clusters += 1.0;
        (self.part, self.whole) = (self.part + part, self.whole + whole);
        for (sum, product) in self.squares.iter_mut().zip([part * part, part * whole, whole * whole]) {
            *sum += product;
        }
    }

    /// The part for 1 of the whole; `None` without any.
    pub fn value(&self) -> Option<f64> {
        (self.whole > 0.0).then(|| self.part / self.whole)
    }

    /// Its standard error, where clusters are the sampling units; 0 with one cluster. `None` without any. Source: Cochran, Sampling
    /// Techniques, chapter 6; Särndal, Swensson and Wretman, Model Assisted Survey Sampling.
    pub fn error(&self) -> Option<f64> {
        let ratio = self.value()?;
        let [part, both, whole] = self.squares;
        let apart = (part - 2.0 * ratio * both + ratio.powi(2) * whole).max(0.0);
        Some((apart * self.clusters / (self.clusters - 1.0).max(1.0)).sqrt() / self.whole)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_error_goes_by_the_clusters() {
        let of = |parts: &[f64]| {
            let mut ratio = ClusterRatio::default();
            parts.iter().for_each(|part| ratio.add(*part, 10.0));
            (ratio.value(), ratio.error().map(|error| (error * 1e6).round() / 1e6))
        };
        assert_eq!(of(&[]), (None, None));
        assert_eq!(of(&[8.0]), (Some(0.8), Some(0.0)));
        assert_eq!(of(&[2.0; 4]), (Some(0.2), Some(0.0)));
        // They differ from 2 by 6, -2, -2 and -2: sqrt(4 / 3 * 48) / 40.
        assert_eq!(of(&[8.0, 0.0, 0.0, 0.0]), (Some(0.2), Some(0.2)));
    }
}
