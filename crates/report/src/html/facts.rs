//! Evidence and conditions in little room: what is zero or unknown in all rounds in a line each, the rest in a table.

use figure::evidence::{self, Fact};
use figure::format::exact;
use figure::format::{counted, number, plain_to};
use figure::{Figure, Reading};
use maud::{Markup, html};

/// The longest text of a fact.
const MAX_TEXT: usize = 120;
/// The most numbers of a fact that are listed; of more the smallest and the largest are lines.
const MOST_NUMBERS: usize = 8;
/// The most rounds whose facts are listed one by one; of more the smallest and the largest are lines.
const MOST_ROUNDS: usize = 12;
/// The most keys: truebench has fewer.
const MOST_KEYS: usize = 400;

/// The facts of a figure and of its kept rounds.
pub(super) fn of(figure: &Figure) -> Markup {
    let mut table: Vec<(String, String)> = Vec::new();
    let mut zero: Vec<String> = Vec::new();
    let mut unknown: Vec<(String, Vec<String>)> = Vec::new();
    for (name, readings) in readings(figure).into_iter().take(MOST_KEYS) {
        let shown: Vec<Result<String, &str>> = readings.iter().map(|reading| show(reading)).collect();
        let name = plain_to(name, 60);
        match shown.as_slice() {
            [Err(reason), ..] if shown.iter().all(Result::is_err) => {
                let reason = plain_to(reason, MAX_TEXT);
                match unknown.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, names)) => names.push(name),
                    None => unknown.push((reason, vec![name])),
                }
            }
            shown if shown.iter().all(|text| text.as_deref() == Ok("0")) => zero.push(name),
            shown => table.push((named(&name), together(shown, &readings))),
        }
    }
    if table.is_empty() && zero.is_empty() && unknown.is_empty() {
        return html! {};
    }
    html! {
        h4 { "Evidence" }
        @if !table.is_empty() { dl.facts { @for (name, values) in &table { div { dt { (name) } dd { (values) } } } } }
        @if !zero.is_empty() { p.facts { "Zero in every round: " (zero.join(", ")) "." } }
        @for (reason, names) in &unknown { p.facts { "Unknown, " (reason) ": " (names.join(", ")) "." } }
    }
}

/// The conditions that were set.
pub(super) fn conditions(figure: &Figure) -> Markup {
    let all: Vec<_> = figure.conditions.iter().take(MOST_KEYS).collect();
    html! { @if !all.is_empty() {
        h4 { "Conditions" }
        dl.facts { @for (name, fact) in all { div { dt { (named(&plain_to(name, 60))) } dd { (fact_text(fact)) } } } }
    } }
}

/// Keys with their readings: of each kept round, or of the figure.
fn readings(figure: &Figure) -> Vec<(&str, Vec<&Reading<Fact>>)> {
    let mut found: Vec<(&str, Vec<&Reading<Fact>>)> =
        figure.evidence.iter().map(|(name, reading)| (name, vec![reading])).collect();
    let mut rounds: std::collections::BTreeMap<&str, Vec<&Reading<Fact>>> = Default::default();
    for round in figure.used_rounds() {
        for (name, reading) in round.evidence.iter() {
            rounds.entry(name).or_default().push(reading);
        }
    }
    found.extend(rounds);
    found
}

/// A name with the unit of its key, where it has one.
fn named(name: &str) -> String {
    let key = evidence::all().find(|key| key.name == name);
    match key.map(|key| key.unit).filter(|unit| !unit.is_empty() && *unit != "1") {
        Some(unit) => format!("{name}, {unit}"),
        None => name.to_owned(),
    }
}

fn show(reading: &Reading<Fact>) -> Result<String, &str> {
    match reading {
        Reading::Value(fact) => Ok(fact_text(fact)),
        Reading::Unknown(reason) => Err(reason),
    }
}

fn fact_text(fact: &Fact) -> String {
    match fact {
        Fact::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Fact::Number(value) => short(*value),
        Fact::Text(text) => plain_to(text, MAX_TEXT),
        Fact::Numbers(values) if values.iter().all(|value| *value == 0.0) => "0".to_owned(),
        Fact::Numbers(values) if values.len() <= MOST_NUMBERS => {
            format!("[{}]", values.iter().map(|value| short(*value)).collect::<Vec<_>>().join(", "))
        }
        Fact::Numbers(values) => format!("[{} numbers, {}]", values.len(), span(values)),
    }
}

/// A number without zeros that say nothing: `0`, `4096`, `3.69`.
fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { exact(value) } else { number(value) }
}

fn span(values: &[f64]) -> String {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    format!("{} to {}", short(low), short(high))
}

/// What rounds saw, in their order; what all saw alike once.
fn together(shown: &[Result<String, &str>], readings: &[&Reading<Fact>]) -> String {
    let text = |one: &Result<String, &str>| {
        one.clone().unwrap_or_else(|reason| format!("unknown ({})", plain_to(reason, 60)))
    };
    if let [first, rest @ ..] = shown
        && rest.iter().all(|other| other == first)
    {
        return text(first);
    }
    let numbers: Vec<f64> = readings
        .iter()
        .filter_map(|reading| match reading {
            Reading::Value(Fact::Number(value)) => Some(*value),
            _ => None,
        })
        .collect();
    if shown.len() > MOST_ROUNDS && numbers.len() == shown.len() {
        return format!("{} in {}", span(&numbers), counted(shown.len(), "round"));
    }
    let more = shown.len().saturating_sub(MOST_ROUNDS);
    let mut lines: Vec<String> = shown.iter().take(MOST_ROUNDS).map(text).collect();
    if more > 0 {
        lines.push(format!("… and {} more", counted(more, "round")));
    }
    lines.join(" · ")
}
