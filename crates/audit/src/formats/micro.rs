//! What readers of micro-benchmarks share: a row for each benchmark, with an id of its name.

use std::collections::HashMap;

use figure::evidence::audit::{ERROR_OF_MEAN, UNJUDGED};
use figure::format::plain_to;
use figure::{Figure, secrets};
use serde_json::Value;

use crate::label::is_bold;
use crate::text::{Printed, id_word};

/// The most benchmarks of one run.
const MOST_NAMES: usize = 200;
/// The most rows of one run: benchmarks that are repeated have several.
pub(super) const MOST_ROWS: usize = 2000;
/// The longest part of a name that becomes part of an id.
const LONGEST: usize = 60;
/// The most characters about what is not judged.
const MOST_NOTES: usize = 300;
/// Seconds that the repetitions of an operation must last together. In less the clock frequency has not risen, and the first of them
/// (page faults, cold caches) are a large part.
pub(super) const LEAST: f64 = 0.05;
/// Half the last digit of a number with all its digits, as a share of it.
const ALL_DIGITS: f64 = 1e-9;

/// Times, in nanoseconds.
pub(super) const NANOSECONDS: &[(&str, f64)] =
    &[("ps", 1e-3), ("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// What a time of this unit is multiplied by, to be in nanoseconds.
pub(super) fn nanoseconds(unit: &str) -> Option<f64> {
    NANOSECONDS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

/// The words of a row. Of a Markdown table the bars between its cells are left out.
pub(super) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().take(64).filter(|word| *word != "|").collect()
}

/// Notes that a figure is of one repetition.
pub(super) fn is_of_one(figure: &mut Figure, reason: &str) {
    if let Some(round) = figure.rounds.first_mut() {
        round.evidence.put_unknown(ERROR_OF_MEAN, reason);
    }
}

/// Whether one of so many lines before is of the same run: a heading between them begins another.
pub(super) fn continues(before: &[&str], lines: usize, is_own: impl Fn(&str) -> bool) -> bool {
    let near = before.iter().rev().take(lines).take_while(|line| !is_heading(line));
    near.into_iter().any(|line| is_own(line))
}

/// A heading of Markdown, or a line in bold letters.
fn is_heading(line: &str) -> bool {
    line.starts_with("## ")
        || line.starts_with("### ")
        || line.starts_with("#### ")
        || is_bold(line) && !line.contains('|')
}

/// A number of JSON, with all its digits.
pub(super) fn exact(value: &Value) -> Option<Printed> {
    let value = value.as_f64().filter(|value| *value == 0.0 || (1e-100..1e18).contains(value))?;
    Some(Printed { value, off: value * ALL_DIGITS })
}

/// Numbers of a JSON array.
pub(super) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(Vec::new(), |all| all.iter().filter_map(exact).map(|own| own.value).collect())
}

/// The mean of numbers.
pub(super) fn mean(values: &[f64]) -> Option<Printed> {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    (!values.is_empty()).then_some(Printed { value, off: value * ALL_DIGITS })
}

/// The figures of a run.
#[derive(Default)]
pub(super) struct Rows {
    figures: Vec<Figure>,
    /// The names behind each id.
    names: HashMap<String, Vec<String>>,
    count: usize,
    left_out: usize,
    notes: Vec<String>,
}

impl Rows {
    /// The part of an id for this name, the same for the same name; `None` where there are too many.
    pub(super) fn id(&mut self, name: &str) -> Option<String> {
        let name = secrets::text(name);
        let word = word(&name);
        let alike = self.names.entry(word.clone()).or_default();
        let at = alike.iter().position(|other| *other == name);
        if at.is_none() && self.count >= MOST_NAMES || self.figures.len() >= MOST_ROWS {
            self.left_out += 1;
            return None;
        }
        let at = at.unwrap_or_else(|| {
            alike.push(name);
            self.count += 1;
            alike.len() - 1
        });
        Some(if at == 0 { word } else { format!("{word}-{}", at + 1) })
    }

    pub(super) fn push(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.figures.len()
    }

    /// Those from a number on.
    pub(super) fn since(&mut self, from: usize) -> &mut [Figure] {
        self.figures.get_mut(from..).unwrap_or_default()
    }

    /// Names what is not judged.
    pub(super) fn note(&mut self, what: &str) {
        if self.notes.len() < 20 && !self.notes.iter().any(|note| note == what) {
            self.notes.push(what.to_owned());
        }
    }

    /// All of them, or what is missing.
    pub(super) fn figures(mut self, missing: &str) -> Result<Vec<Figure>, String> {
        if self.left_out > 0 {
            self.notes.push(format!("{} more rows", self.left_out));
        }
        let first = self.figures.first_mut().ok_or_else(|| missing.to_owned())?;
        if !self.notes.is_empty() {
            first.evidence.put(UNJUDGED, plain_to(&self.notes.join("; "), MOST_NOTES));
        }
        Ok(self.figures)
    }
}

/// What an id can hold of a name.
pub(super) fn word(name: &str) -> String {
    Some(id_word(name, LONGEST)).filter(|word| !word.is_empty()).unwrap_or_else(|| "row".to_owned())
}
