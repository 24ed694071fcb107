//! Runs with nothing planted: what they are called, who accuses them, and whether two of them are called different.
//!
//! Each run is a short one of one suite. On a machine that is left alone a verdict other than valid is a false alarm; on one
//! that is shared it may be true, and the details tell which.

use std::collections::{BTreeMap, BTreeSet};

use figure::{CheckResult, Outcome, Record, Verdict};
use serde::{Deserialize, Serialize};

use crate::tally::Share;

/// The runs of one turn: each suite's, with figures that need no more than seconds. A profile costs the server per cents, of which
/// `observer-cost` accuses it rightly: without. Where figures are differences or quantiles the same time is cut into more rounds: of 8 the interval
/// is their whole range, of 12 the two lowest and the two highest are outside.
pub const RUNS: &[&str] = &[
    "memory --kernel triad,copy --stores nt --rounds 8 --max-time 45s",
    "system syscall pipe dhry2reg -c 1 --rounds 8 --duration 200ms",
    "alloc glibc -t 1 --rounds 12 --max-time 10s",
    "faults prices minor.write minor.read --rounds 8 --max-time 6s",
    "http --servers nethttp --loads saturation -c 50 --rounds 12 --no-profile",
];

/// The most that a check may accuse of the figures of clean runs: its budget.
pub const BUDGET: f64 = 0.02;

/// The most invalid figures that are listed one by one.
const MAX_INVALID: usize = 50;

/// What two figures of the same are called that lie within the band.
const SAME: &str = "same";

/// … that cannot be compared, because the figure has no interval: a sum of others, such as an index.
pub const NO_INTERVAL: &str = "without an interval";

/// What came of clean runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Clean {
    /// How many runs.
    pub runs: usize,
    /// Runs without a record, and why.
    pub broken: Vec<String>,
    /// Runs that were set aside and made again, as the hypervisor took CPU time away.
    pub disturbed: usize,
    /// Runs that were asked for and not made, as the user stopped it.
    pub left: usize,
    /// By suite.
    pub suites: BTreeMap<String, Verdicts>,
    /// What is called invalid, and its first reason: the first of them.
    pub invalid: Vec<String>,
    /// By check, those that accused any figure.
    pub checks: BTreeMap<String, Accusations>,
    /// Pairs of runs of the same, one after the other: what their figures were called.
    pub pairs: Called,
    /// Those of them with figures that are valid in both.
    pub valid_pairs: Called,
    /// By what was called anything but the same: the figures, and how often.
    pub others: BTreeMap<String, BTreeMap<String, usize>>,
    /// How many pairs of runs had figures that could be compared.
    pub comparisons: usize,
    /// … figures that are valid in both.
    pub valid_comparisons: usize,
}

/// How many figures were called what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Called(BTreeMap<String, usize>);

impl Called {
    fn add(&mut self, word: &str, count: usize) {
        *self.0.entry(word.to_owned()).or_default() += count;
    }

    fn count(&self, word: &str) -> usize {
        self.0.get(word).copied().unwrap_or(0)
    }

    /// Of those that were compared, in so many comparisons of runs, those that were not called different.
    fn alike(&self, comparisons: usize) -> Share {
        Share::grouped(self.count(SAME) + self.count("inconclusive"), self.compared(), comparisons)
    }

    /// Of those that were compared, those that were called the same.
    fn same(&self, comparisons: usize) -> Share {
        Share::grouped(self.count(SAME), self.compared(), comparisons)
    }

    fn compared(&self) -> usize {
        [SAME, "inconclusive", "faster", "slower"].map(|word| self.count(word)).iter().sum()
    }

    /// Each word with its count.
    pub fn words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(word, count)| (word.as_str(), *count))
    }
}

/// How often a check accused. The figures of one run are alike, so that intervals go by runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accusations {
    /// Runs with figures of which it could answer.
    pub runs: usize,
    /// Those figures: without an observation it cannot accuse.
    pub asked: usize,
    /// It warned.
    pub warned: usize,
    /// It failed.
    pub failed: usize,
    /// The detail of the first answer of its worst outcome.
    #[serde(rename = "said")]
    pub example: String,
}

impl Accusations {
    /// Of the figures that were asked, those that were accused.
    pub fn share(&self) -> Share {
        Share::grouped(self.warned + self.failed, self.asked, self.runs)
    }

    /// Whether no more than its budget allows were accused.
    pub fn is_within_budget(&self) -> bool {
        (self.warned + self.failed) as f64 <= BUDGET * self.asked as f64
    }

    /// Whether it is known to accuse more than that: the whole interval of the share is above it.
    pub fn is_beyond_budget(&self) -> bool {
        self.share().interval.is_some_and(|interval| interval.low > BUDGET)
    }
}

impl Clean {
    /// With what came of the runs of other suites, elsewhere.
    pub fn join(&mut self, other: Clean) {
        self.runs += other.runs;
        self.broken.extend(other.broken);
        self.disturbed += other.disturbed;
        self.left += other.left;
        self.invalid.extend(other.invalid);
        self.suites.extend(other.suites);
        for (id, of) in other.checks {
            let mine = self.checks.entry(id).or_default();
            if (of.failed > 0, of.warned > 0) > (mine.failed > 0, mine.warned > 0) {
                mine.example = of.example;
            }
            mine.runs += of.runs;
            mine.asked += of.asked;
            mine.warned += of.warned;
            mine.failed += of.failed;
        }
        for (mine, others) in [(&mut self.pairs, other.pairs), (&mut self.valid_pairs, other.valid_pairs)] {
            others.words().for_each(|(word, count)| mine.add(word, count));
        }
        for (word, figures) in other.others {
            self.others.entry(word).or_default().extend(figures);
        }
        self.comparisons += other.comparisons;
        self.valid_comparisons += other.valid_comparisons;
    }

    /// Whether anything was run.
    pub fn was_tried(&self) -> bool {
        self.tried() > 0
    }

    /// Of the figures that were compared, those that were called the same.
    pub fn same(&self) -> Share {
        self.pairs.same(self.comparisons)
    }

    /// Of the figures that were compared, those that were not called different.
    pub fn alike(&self) -> Share {
        self.pairs.alike(self.comparisons)
    }

    /// … and of those that are valid in both runs.
    pub fn valid_alike(&self) -> Share {
        self.valid_pairs.alike(self.valid_comparisons)
    }

    /// Runs that were made, with a record or without.
    pub fn tried(&self) -> usize {
        self.runs + self.broken.len()
    }

    /// One more run.
    pub fn add(&mut self, record: &Record) {
        self.runs += 1;
        let judged = record.figures.iter().filter(|figure| figure.verdict.is_some());
        let answers = |check: &&CheckResult| check.outcome != Outcome::Unknown;
        let checks = judged.flat_map(|figure| &figure.checks);
        let asked: BTreeSet<&str> = checks.filter(answers).map(|check| check.id.as_str()).collect();
        for check in asked {
            self.checks.entry(check.to_owned()).or_default().runs += 1;
        }
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
            if verdict == Verdict::Invalid && self.invalid.len() < MAX_INVALID {
                let reason = figure::causes::first_reason(figure);
                let reason = reason.map(|check| format!("{}: {}", check.root(), check.detail));
                self.invalid.push(format!("{}: {}", figure.id, reason.unwrap_or_default()));
            }
            for check in figure.checks.iter().filter(answers) {
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
                    accusations.example = format!("{}: {}", figure.id, check.detail);
                }
            }
        }
    }

    /// One more pair, and what its figures were called (same, inconclusive, faster, slower), each with whether it is valid in both.
    pub fn compared(&mut self, called: &[(String, &str, bool)]) {
        let before = (self.pairs.compared(), self.valid_pairs.compared());
        for (figure, word, is_valid) in called {
            self.pairs.add(word, 1);
            if *is_valid {
                self.valid_pairs.add(word, 1);
            }
            if *word != SAME {
                let figures = self.others.entry((*word).to_owned()).or_default();
                *figures.entry(figure.clone()).or_default() += 1;
            }
        }
        self.comparisons += usize::from(self.pairs.compared() > before.0);
        self.valid_comparisons += usize::from(self.valid_pairs.compared() > before.1);
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
    use figure::stats::share_interval;

    use super::*;
    use crate::answer::tests::record;

    #[test]
    fn a_pair_is_alike_unless_it_is_called_different() {
        let mut clean = Clean::default();
        let called = [("a", "same", true), ("b", "inconclusive", false), ("c", "faster", false)];
        let called = called.into_iter().chain([("c", "not comparable", false)]);
        let called: Vec<_> = called.map(|(id, word, is_valid)| (id.to_owned(), word, is_valid)).collect();
        clean.compared(&called);
        assert_eq!((clean.same().part, clean.same().of), (1, 3));
        assert_eq!(clean.same().interval, share_interval(1.0 / 3.0, 1), "figures of one run are alike");
        let [all, valid] = [clean.alike(), clean.valid_alike()];
        assert_eq!(((all.part, all.of), (valid.part, valid.of)), ((2, 3), (1, 1)));
        assert_eq!((clean.comparisons, clean.valid_comparisons), (1, 1));
        clean.compared(&[("b".to_owned(), "inconclusive", false), ("c".to_owned(), "not comparable", true)]);
        assert_eq!((clean.comparisons, clean.valid_comparisons), (2, 1));
        clean.compared(&[]);
        assert_eq!(clean.comparisons, 2, "nothing was compared");
        assert_eq!(clean.others.len(), 3);
        assert_eq!(clean.others["faster"], [("c".to_owned(), 1)].into());
    }

    #[test]
    fn what_came_of_different_suites_is_added() {
        let of = |warned, failed, example: &str| Accusations {
            runs: 1,
            asked: 10,
            warned,
            failed,
            example: example.to_owned(),
        };
        let clean = |suite: &str, accused| Clean {
            runs: 1,
            left: 2,
            suites: [(suite.to_owned(), Verdicts { figures: 2, valid: 2, ..Verdicts::default() })].into(),
            checks: [("steal".to_owned(), accused)].into(),
            pairs: Called([("same".to_owned(), 1)].into()),
            comparisons: 1,
            ..Clean::default()
        };
        let mut all = clean("memory", of(1, 0, "a little"));
        all.join(clean("http", of(0, 2, "much")));
        assert_eq!((all.tried(), all.left, all.total().valid, all.comparisons), (2, 4, 4, 2));
        assert_eq!((all.same().part, all.same().of), (2, 2));
        assert_eq!(
            all.checks["steal"],
            Accusations { runs: 2, asked: 20, warned: 1, failed: 2, example: "much".to_owned() }
        );
    }

    #[test]
    fn without_an_observation_there_is_no_accusation() {
        let mut clean = Clean::default();
        for outcome in [Outcome::Pass, Outcome::Warn, Outcome::Unknown, Outcome::Fail] {
            clean.add(&record(&[("steal", outcome), ("drift", Outcome::Unknown)]));
        }
        let steal = &clean.checks["steal"];
        assert_eq!((steal.runs, steal.asked, steal.warned, steal.failed), (3, 3, 1, 1));
        assert!(!clean.checks.contains_key("drift"));
    }

    #[test]
    fn a_budget_is_a_share_of_what_was_asked() {
        let of = |asked, warned, failed| {
            let runs = asked / 2;
            Accusations { runs, asked, warned, failed, example: String::new() }
        };
        assert!(of(100, 1, 1).is_within_budget() && !of(100, 2, 1).is_within_budget());
        // One of a few is more than a fiftieth, and no more than may be expected of one that keeps its budget.
        assert!(!of(20, 1, 0).is_within_budget() && !of(20, 1, 0).is_beyond_budget());
        assert!(of(200, 20, 0).is_beyond_budget());
    }
}
