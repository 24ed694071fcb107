//! What a check answers: the JSON of `truebench fleet check`.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fingerprint::{Difference, Fact};
use crate::part::Part;
use crate::table::Unused;

/// The version of the JSON form of a [`Check`](crate::Check): a field may be added to it, none renamed, removed or given another
/// meaning.
pub const SCHEMA: u32 = 1;

/// What is known of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A figure, or the figures of a part together, are worse than those of the other nodes: by more than delta, and by more than chance.
    Slow,
    /// Too many of its figures are suspect or invalid to judge it by.
    Disturbed,
    /// Too few nodes and no baseline are like it, or too few of them have figures that can be used.
    NotComparable,
    /// It has no figure with a value, or lacks many that most nodes have.
    NotMeasured,
    /// Nothing is wrong with what was measured.
    Healthy,
}

impl Answer {
    /// All of them, what needs action first.
    pub const ALL: [Answer; 5] =
        [Answer::Slow, Answer::Disturbed, Answer::NotComparable, Answer::NotMeasured, Answer::Healthy];
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Slow => "slow",
            Answer::Disturbed => "disturbed",
            Answer::NotComparable => "not comparable",
            Answer::NotMeasured => "not measured",
            Answer::Healthy => "healthy",
        })
    }
}

/// A figure by which a node is accused.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Low {
    /// The figure's id.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// The centre that it is compared with.
    pub expected: f64,
    /// By how much it is worse, as a share: 0.05 is 5 %.
    pub deficit: f64,
    /// The probability of such a deficit on a healthy node.
    pub probability: f64,
}

/// The verdict on a node.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its record.
    pub file: String,
    /// The letter of its group.
    pub group: String,
    /// The verdict.
    pub answer: Answer,
    /// Of a slow node: whether a second measurement agreed; `None` without one that could be judged.
    pub confirmed: Option<bool>,
    /// The part that is slow; of a disturbed node the part whose other figures are low.
    pub part: Option<Part>,
    /// By how much the part's figures are worse on average, as a share: 0.05 is 5 %.
    pub deficit: Option<f64>,
    /// The reason, in words.
    pub why: String,
    /// The check or the failure behind it, where figures were lost: the commonest.
    pub reason: Option<String>,
    /// Facts in which it differs from the nodes that it is compared with.
    pub differs: Vec<Difference>,
    /// The figures that accuse it, the largest deficit first; at most [`MOST_LOW`].
    pub low: Vec<Low>,
    /// How many figures accuse it.
    pub low_count: usize,
    /// How many of its figures were compared.
    pub compared: usize,
    /// How many of its figures were left out because they are suspect or invalid, and on most nodes are not.
    pub disturbed: usize,
}

/// The check, or the failure, of a reason: the text before the details, which differ from node to node.
pub fn cause(reason: &str) -> &str {
    reason.split_once(": ").map_or(reason, |(cause, _)| cause)
}

/// A node that was to be measured and has no record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Missing {
    /// Its name.
    pub node: String,
    /// Why.
    pub why: String,
}

/// The most figures that are listed for a node.
pub const MOST_LOW: usize = 12;

/// What nodes of a group have in common.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// A, B, C, …; variants of one group are A1 and A2.
    pub letter: String,
    /// How many nodes give the reference, or would.
    pub nodes: usize,
    /// Further nodes that are compared with them, and differ from them in facts of their state.
    pub odd: usize,
    /// Whether its nodes are compared, and with what.
    pub reference: Comparison,
    /// The hardware and the program.
    pub kind: Vec<Fact>,
    /// What differs from the first group: own value first.
    pub differs: Vec<Difference>,
    /// Why it is one of two variants.
    pub variant: Option<String>,
}

/// With what the nodes of a group are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// With one another.
    Group,
    /// With a baseline.
    Baseline,
    /// With nothing: they are too few, and no baseline is of their kind.
    None,
}

/// How a figure is distributed over the nodes of a group.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// Its id.
    pub id: String,
    /// Its unit.
    pub unit: String,
    /// The letter of the group.
    pub group: String,
    /// How many nodes were compared by it.
    pub nodes: usize,
    /// The centre: a median of the nodes, or of the baseline.
    pub centre: f64,
    /// The spread between nodes, as a share of the centre.
    pub spread: f64,
    /// The standard error of a node's own value, as a share; the median over nodes.
    pub error: f64,
    /// Whether its lower tail is longer than normal.
    pub is_skewed: bool,
    /// Whether it can show which node is slow.
    pub can_rank: bool,
    /// How many rounds it would need for that, if more rounds would help.
    pub rounds_needed: Option<u32>,
    /// Against the baseline: by how much the group's median is better (above 0) or worse, as a share.
    pub shift: Option<f64>,
    /// How many nodes are slow by this figure.
    pub accused: usize,
    /// The smallest deficit of this figure alone that accuses a node, as a share.
    pub finds: Option<f64>,
    /// The lower decile, quartile, median, upper quartile and decile of the nodes, as shares above or below the centre.
    pub quantiles: [f64; 5],
}

/// Something about the fleet as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The claim.
    pub claim: String,
    /// What it rests on.
    pub evidence: String,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Intake {
    /// Nodes with a record.
    pub nodes: usize,
    /// Figures that nodes are compared by.
    pub figures: usize,
    /// Files that are not used.
    pub unused: Vec<Unused>,
    /// What is odd about files that are used.
    pub notes: Vec<String>,
}
