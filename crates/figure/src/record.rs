//! A record: one run of truebench, whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explanation::Explanation;
use crate::figure::Figure;
use crate::format::plain;
use crate::host::Machine;
use crate::series::SeriesInfo;

/// The version of the record format that this crate writes.
pub const SCHEMA: u32 = 2;

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
    /// What series of figures are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesInfo>,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What matters most, in order.
    pub findings: Vec<Explanation>,
}

/// The most figures of a record that is read: figures are compared with one another, in the square of their number. All suites and
/// modes, on the largest machine, leave half of it.
pub const MAX_FIGURES: usize = 10_000;

/// Of no run: what a record of figures alone is completed with.
impl Default for Record {
    fn default() -> Record {
        Record {
            schema: SCHEMA,
            tool: Tool::default(),
            machine: Machine::default(),
            started: String::new(),
            duration: 0.0,
            command: Vec::new(),
            interrupted: None,
            observer: Observer::default(),
            series: Vec::new(),
            figures: Vec::new(),
            findings: Vec::new(),
        }
    }
}

impl Record {
    /// The record that a file holds: all of it, or its last line (what `truebench faults --format json` streams).
    ///
    /// # Errors
    /// Why it is none, in words that follow its name: it is no record, one of a newer truebench, or too large.
    pub fn read(text: &[u8]) -> Result<Record, String> {
        let newer = |version: u64| {
            format!("has record format {version}, this truebench knows {SCHEMA}; use a newer truebench")
        };
        match parsed::<Record>(text) {
            Ok(record) if record.schema > SCHEMA => Err(newer(record.schema.into())),
            Ok(record) if record.figures.len() > MAX_FIGURES => {
                Err(format!("holds {} figures; {MAX_FIGURES} are the most", record.figures.len()))
            }
            Ok(record) => Ok(record),
            // What a newer format changed may keep it from being read at all.
            Err(error) => Err(match parsed::<Version>(text) {
                Ok(Version { schema }) if schema > SCHEMA.into() => newer(schema),
                _ => format!("is no truebench record: {}", plain(&error.to_string())),
            }),
        }
    }

    /// The figure of this id.
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id)
    }
}

/// Of a record only its version.
#[derive(Deserialize)]
struct Version {
    schema: u64,
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text).or_else(|error| {
        let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
        serde_json::from_slice(last).map_err(|_| error)
    })
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// The JSON Schema (2020-12) of a [`Record`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Record).to_value()
}
