//! Runs with nothing planted: what they are called, who accuses them, and whether two of them are called different.
//!
//! Each run is a short one of one suite. On a machine that is left alone a verdict other than valid is a false alarm; on one
//! that is shared it may be true, and the details tell which.

use std::collections::BTreeMap;

use figure::{Outcome, Record, Verdict};
use serde::Serialize;

use crate::tally::Share;

/// The runs of one turn: each suite's, with figures that need no more than seconds.
pub const RUNS: &[&str] = &[
    "memory --kernel triad,copy --stores nt --rounds 8 --max-time 15s",
    "system syscall pipe dhry2reg -c 1 --rounds 8 --duration 200ms",
    "alloc glibc -t 1 --rounds 8 --max-time 6s",
    "faults prices minor.write minor.read --rounds 8 --max-time 6s",
    "http --servers nethttp --loads saturation -c 50 --rounds 8 -d 500ms --no-ceiling",
];

/// The most that a check may accuse of the figures of clean runs: its budget.
pub const BUDGET: f64 = 0.02;

/// What came of clean runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Clean {
    /// How many runs.
    pub runs: usize,
    /// Runs without a record, and why.
    pub broken: Vec<String>,
    /// By suite.
    pub suites: BTreeMap<String, Verdicts>,
    /// By check, those that accused any figure.
    pub checks: BTreeMap<String, Accusations>,
    /// Pairs of runs of the same, one after the other: what their figures were called.
    pub pairs: Called,
    /// Those of them whose figures are valid in both.
    pub valid_pairs: Called,
    /// How many pairs of runs.
    pub comparisons: usize,
}

/// How many figures were called what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// With a verdict.
    pub figures: usize,
    /// Called valid.
    pub valid: usize,
    /// Called unverified.
    pub unverified: usize,
    /// Called suspect.
    pub suspect: usize,
    /// Called invalid.
    pub invalid: usize,
}

/// How many pairs of figures were called what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Called(BTreeMap<String, usize>);

impl Called {
    fn add(&mut self, word: &str) {
        *self.0.entry(word.to_owned()).or_default() += 1;
    }

    fn count(&self, word: &str) -> usize {
        self.0.get(word).copied().unwrap_or(0)
    }

    /// Of those that were compared, those that were not called different.
    pub fn alike(&self) -> Share {
        let alike = self.count("same") + self.count("inconclusive");
        Share::new(alike, alike + self.count("faster") + self.count("slower"))
    }

    /// Each word with its count.
    pub fn words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(word, count)| (word.as_str(), *count))
    }
}

/// How often a check accused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Accusations {
    /// Figures that it was asked of.
    pub asked: usize,
    /// It warned.
    pub warned: usize,
    /// It failed.
    pub failed: usize,
    /// What it said the first time that it did worst.
    pub said: String,
}

impl Accusations {
    /// Of the figures that were asked, those that were accused.
    pub fn share(&self) -> Share {
        Share::new(self.warned + self.failed, self.asked)
    }

    /// Whether no more than its budget allows were accused.
    pub fn is_within_budget(&self) -> bool {
        (self.warned + self.failed) as f64 <= BUDGET * self.asked as f64
    }
}

impl Clean {
    /// Whether anything was run.
    pub fn was_tried(&self) -> bool {
        self.runs + self.broken.len() > 0
    }

    /// One more run.
    pub fn add(&mut self, record: &Record) {
        self.runs += 1;
        for figure in &record.figures {
            let Some(verdict) = figure.verdict else { continue };
            let count = self.suites.entry(figure.suite.clone()).or_default();
            count.figures += 1;
            *match verdict {
                Verdict::Valid => &mut count.valid,
                Verdict::Unverified => &mut count.unverified,
                Verdict::Suspect => &mut count.suspect,
                Verdict::Invalid => &mut count.invalid,
            } += 1;
            for check in &figure.checks {
                let accusations = self.checks.entry(check.id.clone()).or_default();
                accusations.asked += 1;
                let (is_worst, count) = match check.outcome {
                    Outcome::Fail => (accusations.failed == 0, &mut accusations.failed),
                    Outcome::Warn => {
                        (accusations.failed == 0 && accusations.warned == 0, &mut accusations.warned)
                    }
                    Outcome::Pass | Outcome::Unknown => continue,
                };
                *count += 1;
                if is_worst {
                    accusations.said = format!("{}: {}", figure.id, check.detail);
                }
            }
        }
    }

    /// One more pair, and what its figures were called (same, inconclusive, faster, slower), each with whether it is valid in both.
    pub fn compared<'a>(&mut self, called: impl Iterator<Item = (&'a str, bool)>) {
        self.comparisons += 1;
        for (word, is_valid) in called {
            self.pairs.add(word);
            if is_valid {
                self.valid_pairs.add(word);
            }
        }
    }

    /// All suites together.
    pub fn total(&self) -> Verdicts {
        self.suites.values().fold(Verdicts::default(), |sum, of| Verdicts {
            figures: sum.figures + of.figures,
            valid: sum.valid + of.valid,
            unverified: sum.unverified + of.unverified,
            suspect: sum.suspect + of.suspect,
            invalid: sum.invalid + of.invalid,
        })
    }

    /// The checks that accused, the most frequent first.
    pub fn accusers(&self) -> Vec<(&str, &Accusations)> {
        let mut all: Vec<(&str, &Accusations)> = self
            .checks
            .iter()
            .filter(|(_, of)| of.warned + of.failed > 0)
            .map(|(id, of)| (id.as_str(), of))
            .collect();
        all.sort_by_key(|(_, of)| std::cmp::Reverse(of.warned + of.failed));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_alike_unless_it_is_called_different() {
        let mut clean = Clean::default();
        let called = [("same", true), ("inconclusive", false), ("faster", false), ("not comparable", false)];
        clean.compared(called.into_iter());
        let [all, valid] = [&clean.pairs, &clean.valid_pairs].map(Called::alike);
        assert_eq!(((all.part, all.of), (valid.part, valid.of)), ((2, 3), (1, 1)));
        assert_eq!(clean.comparisons, 1);
    }

    #[test]
    fn a_budget_is_a_share_of_what_was_asked() {
        let of = |asked, warned, failed| Accusations { asked, warned, failed, said: String::new() };
        assert!(of(100, 1, 1).is_within_budget() && !of(100, 2, 1).is_within_budget());
    }
}
