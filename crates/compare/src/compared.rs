//! A figure of two records: its ratio and its standing.

use figure::{Better, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// How a figure stands against that of the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Better by more than the band, surely.
    Faster,
    /// Worse by more than the band, surely.
    Slower,
    /// Within the band, surely.
    Same,
    /// Outside of the band, surely, where neither way is better: a count, a description.
    Changed,
    /// The rounds do not decide it.
    Inconclusive,
    /// There is no ratio, or it would not mean what it says.
    NotComparable,
}

impl Standing {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Faster => "faster",
            Standing::Slower => "slower",
            Standing::Same => "same",
            Standing::Changed => "changed",
            Standing::Inconclusive => "inconclusive",
            Standing::NotComparable => "not comparable",
        }
    }

    /// All, in the order in which they are counted.
    pub const ALL: [Standing; 6] = [
        Standing::Faster,
        Standing::Slower,
        Standing::Same,
        Standing::Changed,
        Standing::Inconclusive,
        Standing::NotComparable,
    ];
}

/// How many times as good the other record's figure is; where neither way is better, how many times as large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratio {
    /// Above 1: the other one is better.
    pub value: f64,
    /// Lower end of the 95 % interval, where there are rounds enough.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Standard error of its logarithm.
    pub error: Option<f64>,
}

/// A figure of two records.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// Its id in both.
    pub id: String,
    /// Its suite.
    pub suite: String,
    /// Its class, by which tests belong together.
    pub class: String,
    /// Its name for people; untrusted.
    pub name: String,
    /// Whether it sums other figures of the record up, as an index does.
    pub is_total: bool,
    /// The unit of both values.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The first record's value.
    pub a: Option<f64>,
    /// The other one's.
    pub b: Option<f64>,
    /// What each is worth; null where its record has no verdict.
    pub verdicts: [Option<Verdict>; 2],
    /// Smallest and largest round of both, where there are too few rounds for an interval.
    pub ranges: Option<[(f64, f64); 2]>,
    /// How many times as good the other one is.
    pub ratio: Option<Ratio>,
    /// The verdict.
    pub standing: Standing,
    /// What it would be by its own interval, were it the only figure.
    pub alone: Standing,
    /// Why it is not comparable or inconclusive.
    pub why: Option<String>,
    /// About how many rounds of each record would decide it, where the interval holds an edge of the band.
    pub rounds_needed: Option<f64>,
    /// That it was disturbed in one of the records, and by what; it is compared all the same.
    pub suspect: Vec<String>,
    /// Whether load made it invalid in a record and cannot have made the ratio: its direction is certain, its size is not. It is no reason
    /// to fail.
    pub is_direction_only: bool,
    /// Why it may not be compared, where it was forced.
    pub forced: Option<String>,
}

impl Compared {
    /// Whether it was judged: by an interval, or exactly.
    pub fn is_judged(&self) -> bool {
        self.ratio.is_some_and(|ratio| ratio.low.is_some())
    }

    /// Its ratio, where more of the figure is better or worse.
    pub fn merit(&self) -> Option<Ratio> {
        self.ratio.filter(|_| self.better != Better::Neither)
    }
}
