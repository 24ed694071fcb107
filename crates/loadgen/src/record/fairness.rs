//! Whether all connections were served.

use serde::{Deserialize, Serialize};

/// Answers of the window by connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    pub connections: u64,
    pub starved: u64,
    /// Fewest answers of a connection; `None` without connections.
    pub min: Option<u64>,
    pub max: u64,
    sum: u64,
    squares: f64,
}

impl Fairness {
    pub fn from_served(served: impl IntoIterator<Item = u64>) -> Fairness {
        let mut fairness = Fairness::default();
        for answers in served {
            fairness.connections += 1;
            fairness.starved += u64::from(answers == 0);
            fairness.min = Some(fairness.min.map_or(answers, |min| min.min(answers)));
            fairness.max = fairness.max.max(answers);
            fairness.sum += answers;
            fairness.squares += (answers as f64).powi(2);
        }
        fairness
    }

    pub fn merge(&mut self, other: &Fairness) {
        self.connections += other.connections;
        self.starved += other.starved;
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Jain's index: 1 if all connections got the same number of answers, 1/n if one of n got all
    /// (Jain, Chiu and Hawe, DEC-TR-301, 1984). `None` without an answer.
    pub fn jain(&self) -> Option<f64> {
        let sum = self.sum as f64;
        (self.sum > 0).then(|| sum * sum / (self.connections as f64 * self.squares))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn known_indices() {
        assert_eq!(Fairness::from_served([7; 9]).jain(), Some(1.0));
        assert_eq!(Fairness::from_served([0, 0, 0, 12]).jain(), Some(0.25));
        assert_eq!(Fairness::from_served([0, 0, 0, 12]).starved, 3);
        assert_eq!(Fairness::from_served([]).jain(), None);
        assert_eq!(Fairness::from_served([0, 0]).jain(), None);
    }

    #[test]
    fn merged_is_the_same_as_together() {
        let mut merged = Fairness::from_served([1, 2, 3]);
        merged.merge(&Fairness::from_served([4, 0]));
        assert_eq!(merged, Fairness::from_served([1, 2, 3, 4, 0]));
        assert_eq!((merged.min, merged.max), (Some(0), 4));
    }
}
