//! A record: one run of truebench, whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::host::Machine;

/// The version of the record format that this crate writes.
pub const SCHEMA: u32 = 1;

/// What a run leaves: the machine, the figures and the findings. `truebench schema` prints its JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "truebench record")]
pub struct Record {
    /// Version of this format.
    pub schema: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The machine it ran on.
    pub machine: Machine,
    /// When the run began: RFC 3339, UTC.
    pub started: String,
    /// Seconds from start to end of the run.
    pub duration: f64,
    /// The command line.
    pub command: Vec<String>,
    /// Why the run ended before its plan did; null if it did not.
    pub interrupted: Option<String>,
    /// What watching the run cost it.
    #[serde(default)]
    pub observer: Observer,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What matters most, in order.
    pub findings: Vec<Finding>,
}

impl Record {
    /// The figure of this id.
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id)
    }
}

/// What the live view did while figures were measured: it draws between rounds only, at most once a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observer {
    /// How often something was drawn.
    pub draws: u64,
    /// Seconds that drawing took.
    pub seconds: f64,
    /// Events that the view was too slow for.
    pub events_dropped: u64,
}

/// The program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `truebench`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `release` or `debug`, and the compiler.
    pub build: String,
    /// The widest instruction set that it can use here: sse2, avx2, avx512, neon or portable.
    pub simd: String,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Explains.
    Note,
    /// May mislead.
    Warning,
    /// Makes figures worthless.
    Error,
}

/// A sentence about one or several figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The sentence.
    pub text: String,
    /// How much it matters.
    pub severity: Severity,
    /// Ids of the figures it is about.
    pub figures: Vec<String>,
}

/// The JSON Schema (2020-12) of a [`Record`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Record).to_value()
}
