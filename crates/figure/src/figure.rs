//! A figure: one measured number with all that is needed to defend it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::check::{CheckResult, Verdict};
use crate::conditions::Conditions;
use crate::evidence::{Evidence, FactType, Key, ROLE, Scope};
use crate::explanation::Explanation;
use crate::interval::Interval;
use crate::reading::Reading;
use crate::series::{At, Distribution, Part, Timeline};
use crate::unit::{Convention, Unit};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A bandwidth or a rate.
    Higher,
    /// A latency or a cost.
    Lower,
    /// A description, such as a frequency.
    Neither,
}

/// Whether there is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Measured: `value` is there.
    Measured,
    /// Its condition cannot be set on this machine; `reason` says why. Never filled by another figure.
    NotAvailable,
    /// It should have worked and did not; `reason` says what happened.
    Failed,
    /// The run was stopped before it had a round.
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Measured => "measured",
            Status::NotAvailable => "not available",
            Status::Failed => "failed",
            Status::Interrupted => "not reached",
        })
    }
}

/// The physical or theoretical limit that a figure is compared with, in the figure's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The limit.
    pub value: f64,
    /// Where it comes from: `8 x DDR5-4800`, or the id of another figure.
    pub basis: String,
}

/// One visit to a figure in the interleaved order of a run. Evidence is the change around its timed region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// RFC 3339, UTC.
    pub started: String,
    /// Wall-clock seconds of the region that the evidence covers.
    pub duration: f64,
    /// Values of the single samples, in the figure's unit, in the order they were taken.
    pub samples: Vec<f64>,
    /// The evidence of its time.
    pub evidence: Evidence,
    /// Whether the figure's value rests on it too.
    #[serde(rename = "kept")]
    pub used: bool,
    /// The reason, if it is not used.
    pub reason: Option<String>,
}

impl Round {
    /// A round that is kept: when it began (RFC 3339), how many seconds it took, its samples, and its evidence.
    pub fn new(started: String, duration: f64, samples: Vec<f64>, evidence: Evidence) -> Round {
        Round { started, duration, samples, evidence, used: true, reason: None }
    }

    /// The round's value: the median of its samples. `None` without samples.
    pub fn value(&self) -> Option<f64> {
        crate::stats::median(&self.samples)
    }
}

/// One figure. Its JSON form is the record format's `figures[]` entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Stable and dotted: suite.what.variant, such as `memory.triad.nt`.
    pub id: String,
    /// The suite that measured it.
    pub suite: String,
    /// Its name for people.
    pub name: String,
    /// Unit of all its values.
    pub unit: Unit,
    /// Which bytes a bandwidth counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convention: Option<Convention>,
    /// Which way is better.
    pub better: Better,
    /// Whether there is a value.
    pub status: Status,
    /// Why there is none.
    pub reason: Option<String>,
    /// What the value rests on.
    #[serde(default)]
    pub basis: Basis,
    /// The median of the kept rounds; null unless measured.
    pub value: Option<f64>,
    /// 95 % interval of the median; null with fewer than 6 kept rounds.
    pub interval: Option<Interval>,
    /// The best sample of the kept rounds, where the field quotes the best (STREAM).
    pub best: Option<f64>,
    /// Every round, kept or not.
    pub rounds: Vec<Round>,
    /// The curve or matrix that it is a point of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Where on that curve or matrix.
    #[serde(default, skip_serializing_if = "At::is_empty")]
    pub at: At,
    /// Single observations, as a histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// Columns over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The figure split up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The limit that it is compared with.
    pub limit: Option<Limit>,
    /// Ids of the figures that it was computed from, if it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<String>,
    /// What was asked for and set.
    pub conditions: Conditions,
    /// Facts about the figure as a whole.
    pub evidence: Evidence,
    /// Answers of the checks that apply; in order: causes before their consequences.
    pub checks: Vec<CheckResult>,
    /// What the figure is worth; null unless measured and judged.
    pub verdict: Option<Verdict>,
    /// Why the figure is what it is, the most specific first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
}

impl Figure {
    /// A figure before its first round: status interrupted, no value.
    pub fn planned(
        id: impl Into<String>,
        suite: &str,
        name: impl Into<String>,
        unit: Unit,
        better: Better,
    ) -> Self {
        Figure {
            id: id.into(),
            suite: suite.to_owned(),
            name: name.into(),
            unit,
            convention: None,
            better,
            status: Status::Interrupted,
            reason: Some("stopped before its first round".to_owned()),
            basis: Basis::Rounds,
            value: None,
            interval: None,
            best: None,
            rounds: Vec::new(),
            series: None,
            at: At::new(),
            distribution: None,
            timeline: None,
            parts: Vec::new(),
            limit: None,
            derived_from: Vec::new(),
            conditions: Conditions::default(),
            evidence: Evidence::default(),
            checks: Vec::new(),
            verdict: None,
            explanations: Vec::new(),
        }
    }

    /// Marks that the figure's condition cannot be set here.
    pub fn not_available(mut self, reason: impl Into<String>) -> Self {
        self.status = Status::NotAvailable;
        self.reason = Some(reason.into());
        self
    }

    /// Makes it one that follows from others: the median of `values`, one for each round or pair of rounds of `from`, with its
    /// interval where there are rounds enough. `None` without a value: then it is missing for the same reason as what it needs, if one of
    /// these is.
    pub fn derive(&mut self, values: &[f64], from: &[&Figure]) -> Option<()> {
        let value = crate::stats::median(values);
        if let (None, Some(missing)) = (value, from.iter().find(|figure| figure.value.is_none())) {
            (self.status, self.reason) = (missing.status, missing.reason.clone());
        }
        self.value = Some(value?);
        self.interval = crate::stats::median_interval(values);
        self.computed_from(from.iter().map(|figure| figure.id.clone()).collect());
        (self.status, self.reason) = (Status::Measured, None);
        Some(())
    }

    /// Whether it has a value that means what its name says: measured, and not judged invalid.
    pub fn is_usable(&self) -> bool {
        self.value.is_some() && self.verdict != Some(Verdict::Invalid)
    }

    /// Whether it is a baseline or a control, which others are compared with.
    pub fn is_control(&self) -> bool {
        self.conditions.get(ROLE).is_some_and(|role| !role.is_empty())
    }

    /// Marks that its value follows from those of other figures.
    pub fn computed_from(&mut self, ids: Vec<String>) {
        (self.basis, self.derived_from) = (Basis::Computed, ids);
    }

    /// All explanations as one text; `None` without any.
    pub fn why(&self) -> Option<String> {
        let texts: Vec<String> = self.explanations.iter().map(Explanation::text).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// How many repetitions the value rests on: its own kept rounds, else what its interval was made of. `None` for a value alone.
    pub fn repetitions(&self) -> Option<usize> {
        match self.used_rounds().count() {
            0 => self.interval.as_ref().map(|interval| interval.rounds),
            rounds => Some(rounds),
        }
    }

    /// The rounds that the value rests on.
    pub fn used_rounds(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| round.used)
    }

    /// Values of the kept rounds, in the order they were measured.
    pub fn kept_values(&self) -> Vec<f64> {
        self.used_rounds().filter_map(Round::value).collect()
    }

    /// Recomputes value, interval, best and status from the kept rounds. Without any, a measured figure
    /// falls back to interrupted.
    pub fn summarise(&mut self) {
        let values = self.kept_values();
        self.value = crate::stats::median(&values);
        self.interval = crate::stats::median_interval(&values);
        let samples: Vec<f64> = self.used_rounds().flat_map(|round| round.samples.iter().copied()).collect();
        self.best = match self.better {
            Better::Higher => samples.into_iter().reduce(f64::max),
            Better::Lower => samples.into_iter().reduce(f64::min),
            Better::Neither => None,
        };
        match (self.value, self.status) {
            // What failed after some rounds keeps them, and says why there are no more.
            (Some(_), Status::Failed) => self.status = Status::Measured,
            (Some(_), _) => {
                self.status = Status::Measured;
                self.reason = None;
            }
            (None, Status::Measured) => self.status = Status::Interrupted,
            (None, _) => {}
        }
    }

    /// A fact of each kept round; unknown as soon as it is unknown in one of them, or without rounds.
    pub fn over_rounds<T: FactType>(&self, key: Key<T>) -> Reading<Vec<T>> {
        debug_assert_eq!(key.scope, Scope::Round, "{} is not a fact of rounds", key.name);
        let mut values = Vec::new();
        for round in self.used_rounds() {
            match round.evidence.get(key) {
                Reading::Value(value) => values.push(value),
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
        if values.is_empty() { Reading::unknown("no round was kept") } else { Reading::Value(values) }
    }

    /// The sum of a fact over the kept rounds.
    pub fn sum(&self, key: Key<f64>) -> Reading<f64> {
        self.over_rounds(key).map(|values| values.iter().sum())
    }

    /// The largest of a fact over the kept rounds.
    pub fn largest(&self, key: Key<f64>) -> Reading<f64> {
        self.over_rounds(key).map(|values| values.into_iter().fold(f64::MIN, f64::max))
    }

    /// Seconds that the kept rounds lasted together.
    pub fn seconds(&self) -> f64 {
        self.used_rounds().fold(0.0, |sum, round| sum + round.duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CPU_STEAL, FAULT_MINOR};

    fn round(samples: &[f64], used: bool, steal: Option<f64>) -> Round {
        let mut evidence = Evidence::default();
        match steal {
            Some(steal) => evidence.put(CPU_STEAL, steal),
            None => evidence.put_unknown(CPU_STEAL, "no steal column"),
        }
        Round {
            started: "2026-01-01T00:00:00Z".into(),
            duration: 0.5,
            samples: samples.to_vec(),
            evidence,
            used,
            reason: None,
        }
    }

    fn figure(rounds: Vec<Round>) -> Figure {
        let mut figure = Figure::planned("a.b", "a", "b", Unit::GB_PER_S, Better::Higher);
        figure.rounds = rounds;
        figure.summarise();
        figure
    }

    #[test]
    fn value_is_the_median_of_rounds_and_best_is_the_best_sample() {
        let figure = figure(vec![
            round(&[1.0, 9.0, 2.0], true, Some(0.1)),
            round(&[3.0], true, Some(0.2)),
            round(&[4.0], true, Some(0.0)),
            round(&[100.0], false, None),
        ]);
        assert_eq!(figure.value, Some(3.0));
        assert_eq!(figure.best, Some(9.0));
        assert_eq!(figure.interval, None, "three rounds give no interval");
        assert_eq!(figure.status, Status::Measured);
        assert!((figure.sum(CPU_STEAL).into_value().unwrap() - 0.3).abs() < 1e-12);
        assert_eq!(figure.seconds(), 1.5);
    }

    #[test]
    fn one_blind_round_makes_the_whole_unknown() {
        let figure = figure(vec![round(&[1.0], true, Some(0.1)), round(&[1.0], true, None)]);
        assert_eq!(figure.sum(CPU_STEAL), Reading::unknown("no steal column"));
        assert_eq!(figure.sum(FAULT_MINOR), Reading::unknown("not recorded"));
    }

    #[test]
    fn without_rounds_it_is_interrupted() {
        let figure = figure(vec![]);
        assert_eq!(figure.status, Status::Interrupted);
        assert_eq!(figure.value, None);
    }
}
