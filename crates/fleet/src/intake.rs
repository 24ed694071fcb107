//! What the fleet keeps of a record: the machine, and of each figure value, interval, verdict and first reason. Rounds, evidence and
//! texts are skipped while the JSON is read, so that a record of megabytes costs kilobytes.

use std::borrow::Cow;
use std::fmt;

use figure::format::plain;
use figure::record::{MAX_FIGURES, SCHEMA};
use figure::{Better, Machine, Outcome, Status, Verdict};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A record, as far as the fleet reads it.
#[derive(Debug, Deserialize)]
pub(crate) struct Slim<'a> {
    pub schema: u32,
    #[serde(borrow)]
    pub tool: SlimTool<'a>,
    pub machine: Machine,
    #[serde(borrow)]
    pub started: Cow<'a, str>,
    #[serde(default)]
    pub duration: f64,
    #[serde(borrow)]
    pub figures: Vec<SlimFigure<'a>>,
}

/// The program that wrote it.
#[derive(Debug, Deserialize)]
pub(crate) struct SlimTool<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub version: Cow<'a, str>,
    #[serde(borrow)]
    pub build: Cow<'a, str>,
    #[serde(borrow)]
    pub simd: Cow<'a, str>,
}

/// A figure.
#[derive(Debug, Deserialize)]
pub(crate) struct SlimFigure<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub unit: Cow<'a, str>,
    pub better: Better,
    pub status: Status,
    #[serde(default)]
    pub reason: Option<String>,
    pub value: Option<f64>,
    pub interval: Option<SlimInterval>,
    /// Only whether there are any.
    #[serde(default)]
    pub derived_from: Vec<IgnoredAny>,
    #[serde(default)]
    pub conditions: SlimConditions,
    #[serde(default, borrow)]
    pub checks: Vec<SlimCheck<'a>>,
    pub verdict: Option<Verdict>,
}

/// Its interval.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct SlimInterval {
    pub low: f64,
    pub high: f64,
    pub rounds: u32,
}

/// Where it was measured.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SlimConditions {
    pub cpus: Lenient,
    pub memory_node: Lenient,
    pub threads: Lenient,
    pub role: Lenient,
}

/// A check.
#[derive(Debug, Deserialize)]
pub(crate) struct SlimCheck<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub outcome: Outcome,
    #[serde(borrow)]
    pub detail: Cow<'a, str>,
    #[serde(default)]
    pub cause: Option<figure::check::Cause>,
}

impl SlimCheck<'_> {
    /// The check that is the first cause.
    pub fn root(&self) -> &str {
        self.cause.as_ref().map_or(&self.id, |cause| &cause.check)
    }
}

impl SlimFigure<'_> {
    /// Why it is suspect or invalid: its first failure, else its first warning.
    pub fn first_reason(&self) -> Option<&SlimCheck<'_>> {
        let first = |outcome| self.checks.iter().find(|check| check.outcome == outcome);
        first(Outcome::Fail).or_else(|| first(Outcome::Warn))
    }
}

/// A condition of any type: of a record by another version it may be of another type, and is then no obstacle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Lenient {
    #[default]
    Other,
    Number(f64),
    Numbers(Vec<f64>),
    Text(String),
}

impl Lenient {
    /// CPU numbers: whole, not negative.
    pub fn cpus(&self) -> Vec<u32> {
        let numbers = match self {
            Lenient::Numbers(numbers) => numbers.as_slice(),
            Lenient::Number(number) => std::slice::from_ref(number),
            _ => &[],
        };
        let is_cpu = |number: &&f64| (0.0..65536.0).contains(*number) && number.fract() == 0.0;
        numbers.iter().filter(is_cpu).map(|number| *number as u32).collect()
    }

    /// A whole number that is not negative.
    pub fn whole(&self) -> Option<u32> {
        if matches!(self, Lenient::Number(_)) { self.cpus().first().copied() } else { None }
    }
}

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lenient, D::Error> {
        deserializer.deserialize_any(LenientVisitor)
    }
}

struct LenientVisitor;

impl<'de> Visitor<'de> for LenientVisitor {
    type Value = Lenient;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a condition")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Lenient, E> {
        Ok(Lenient::Other)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Lenient, E> {
        Ok(Lenient::Other)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Lenient, E> {
        Ok(Lenient::Number(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Lenient, E> {
        Ok(Lenient::Number(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Lenient, E> {
        Ok(Lenient::Number(value as f64))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Lenient, E> {
        Ok(Lenient::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Lenient, A::Error> {
        let (mut numbers, mut is_plain) = (Vec::new(), true);
        while let Some(item) = items.next_element::<Lenient>()? {
            match item {
                Lenient::Number(number) => numbers.push(number),
                _ => is_plain = false,
            }
        }
        Ok(if is_plain { Lenient::Numbers(numbers) } else { Lenient::Other })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Lenient, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Lenient::Other)
    }
}

/// Of a record only its version.
#[derive(Deserialize)]
struct Version {
    schema: u64,
}

/// Reads a record: all of the text, or its last line (what `truebench faults --format json` streams).
///
/// # Errors
/// Why it is none, in words that follow its name.
pub(crate) fn read(text: &[u8]) -> Result<Slim<'_>, String> {
    let whole = serde_json::from_slice::<Slim>(text);
    let parsed = match whole {
        Ok(slim) => Ok(slim),
        Err(error) => {
            let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
            if last.len() < text.trim_ascii().len() {
                serde_json::from_slice(last).map_err(|_| error)
            } else {
                Err(error)
            }
        }
    };
    match parsed {
        Ok(slim) if slim.schema > SCHEMA => Err(newer(slim.schema.into())),
        Ok(slim) if slim.figures.len() > MAX_FIGURES => {
            Err(format!("holds {} figures; {MAX_FIGURES} are the most", slim.figures.len()))
        }
        Ok(slim) => Ok(slim),
        Err(error) => Err(match serde_json::from_slice::<Version>(text) {
            Ok(Version { schema }) if schema > SCHEMA.into() => newer(schema),
            _ if text.trim_ascii().is_empty() => "is empty".to_owned(),
            _ if error.is_eof() => format!("is cut off: {}", plain(&error.to_string())),
            _ => format!("is no truebench record: {}", plain(&error.to_string())),
        }),
    }
}

fn newer(version: u64) -> String {
    format!("has record format {version}, this truebench knows {SCHEMA}; use a newer truebench")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_record_is_named() {
        let why = |text: &str| read(text.as_bytes()).map(drop).unwrap_err();
        assert_eq!(why(" \n"), "is empty");
        assert!(
            why("{\"schema\": 2, \"tool\"").starts_with("is cut off"),
            "{}",
            why("{\"schema\": 2, \"tool\"")
        );
        assert!(why("{\"schema\": 99}").starts_with("has record format 99"));
        assert!(why("[1]").starts_with("is no truebench record"));
    }

    #[test]
    fn conditions_of_any_type_are_read() {
        let read = |text| serde_json::from_str::<Lenient>(text).unwrap();
        assert_eq!(read("[0, 2.0]").cpus(), [0, 2]);
        assert_eq!(read("3").whole(), Some(3));
        assert_eq!(read("[1, \"x\"]"), Lenient::Other);
        assert_eq!(read("{\"a\": [1]}"), Lenient::Other);
        assert_eq!(read("[-1, 0.5, 1e9]").cpus(), [] as [u32; 0]);
    }
}
