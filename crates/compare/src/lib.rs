//! Records side by side: what may be compared, by how much each figure differs, which tests are out of line, and which
//! machine is best for what. Pure: records in, a [`Comparison`] out.
//!
//! The first record is A; every other one is compared with it, figure by figure of the same id. A ratio above 1 always means
//! that the other one is better, whichever way the figure is.

use figure::Record;
use figure::format::{counted, plain};
use schemars::JsonSchema;
use serde::Serialize;

mod abnormal;
mod cause;
mod classes;
mod compared;
mod gate;
mod pair;
mod pattern;
mod rules;
mod select;

pub use abnormal::{Abnormal, Rule};
pub use compared::{Compared, Ratio, Standing};
pub use gate::Difference;
pub use pair::Pair;
pub use pattern::Pattern;
use rules::letter;
pub use rules::{MOST_RECORDS, Rules};
pub use select::{Cell, Selection};

/// The version of the JSON form of a comparison that this crate writes: a field may be added to it, none renamed, removed or
/// given another meaning.
pub const SCHEMA: u32 = 1;
/// The classes of figures, in addition to the names of suites.
pub use classes::WORDS as CLASSES;

/// A record and its name.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    /// Its file's name, or another; untrusted.
    pub name: String,
    /// The record.
    pub record: &'a Record,
}

/// One of the records, for the heading of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Host {
    /// A for the first, B, C, …
    pub letter: char,
    /// Its name.
    pub name: String,
    /// The machine's host name, where known.
    pub hostname: Option<String>,
    /// The machine in one line.
    pub machine: String,
    /// The program that wrote it, its version and build.
    pub tool: String,
    /// When the run began: RFC 3339, UTC.
    pub started: String,
    /// Why the run ended before its plan did.
    pub interrupted: Option<String>,
}

/// Records side by side. `truebench schema comparison` prints the JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "truebench comparison")]
pub struct Comparison {
    /// Version of this format.
    pub schema: u32,
    /// Half the width of the band in which two figures are the same.
    pub band: f64,
    /// The level of the intervals, and of Holm's correction over the figures of a pair.
    pub level: f64,
    /// Whether what may not be compared was compared all the same.
    pub forced: bool,
    /// The records, in order.
    pub records: Vec<Host>,
    /// Each record but the first against the first.
    pub pairs: Vec<Pair>,
    /// Which machine is best for what, with three records and more.
    pub selection: Option<Selection>,
}

impl Comparison {
    fn figures(&self) -> impl Iterator<Item = &Compared> {
        self.pairs.iter().flat_map(|pair| &pair.figures)
    }

    /// Whether a figure of any record is slower than that of the first.
    pub fn is_slower(&self) -> bool {
        self.figures().any(|figure| figure.standing == Standing::Slower && !figure.is_direction_only)
    }

    /// Whether any figure could be compared at all.
    pub fn has_ratios(&self) -> bool {
        self.figures().any(|figure| figure.ratio.is_some())
    }

    /// Whether some figure of each record was judged.
    pub fn is_judged(&self) -> bool {
        self.pairs.iter().all(|pair| pair.judged > 0)
    }

    /// What was required and is not judged in some record, each with its reason.
    pub fn unjudged(&self, required: &[Pattern]) -> Vec<String> {
        let of_pair = |pattern: &Pattern, Pair { a, b, figures, .. }: &Pair| {
            let required: Vec<&Compared> =
                figures.iter().filter(|figure| pattern.matches(&figure.id)).collect();
            let Some(first) = required.first() else {
                return Some(format!("{pattern}: no such figure in both {a} and {b}"));
            };
            let why = plain(first.why.as_deref().unwrap_or("no reason was recorded"));
            let count = counted(required.len(), "figure");
            let is_judged = required.iter().any(|figure| figure.is_judged());
            (!is_judged).then(|| format!("{pattern}: none of {count} is judged in {b}: {why}"))
        };
        let pairs = |pattern| self.pairs.iter().filter_map(move |pair| of_pair(pattern, pair));
        required.iter().flat_map(pairs).collect()
    }
}

/// Compares records, two at least, with the first.
///
/// # Errors
/// A sentence for the user: a pattern of no figure.
pub fn compare(records: &[Named], rules: &Rules) -> Result<Comparison, String> {
    let has = |pattern: &Pattern| {
        records.iter().flat_map(|named| &named.record.figures).any(|figure| pattern.matches(&figure.id))
    };
    if let Some(pattern) = rules.figures.iter().find(|pattern| !has(pattern)) {
        return Err(format!("--figure {pattern}: no record has such a figure; quote '*' from the shell"));
    }
    let pair = |at: usize| pair::pair(records[0].record, records[at].record, [letter(0), letter(at)], rules);
    let pairs: Vec<Pair> = (1..records.len()).map(pair).collect();
    Ok(Comparison {
        schema: SCHEMA,
        band: rules.band,
        level: pair::LEVEL,
        forced: rules.force,
        records: records.iter().enumerate().map(|(at, named)| host(at, named)).collect(),
        selection: if records.len() > 2 { select::select(&pairs) } else { None },
        pairs,
    })
}

fn host(at: usize, named: &Named) -> Host {
    let record = named.record;
    Host {
        letter: letter(at),
        name: named.name.clone(),
        hostname: record.machine.hostname.value().cloned(),
        machine: record.machine.summary(),
        tool: format!("{} {} ({})", record.tool.name, record.tool.version, record.tool.build),
        started: record.started.clone(),
        interrupted: record.interrupted.clone(),
    }
}

/// The JSON Schema (2020-12) of a [`Comparison`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Comparison).to_value()
}
