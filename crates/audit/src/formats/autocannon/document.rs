//! Results of autocannon in JSON, and as Node.js prints an object.

use figure::Figure;
use serde_json::{Map, Value};

use super::{Counts, MILLISECOND, SAMPLED, figures, opened_by, with_command, with_counts};
use crate::document::exact;
use crate::known::Known;
use crate::load::{Asked, Depth, Load, answers};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

/// Lines of an object before that of its connections, and in all.
const OBJECT_HEAD: usize = 4;
const OBJECT_LINES: usize = 200;

pub(super) fn is_document(document: &Value) -> bool {
    let is_number = |of: &str, name: &str| document[of][name].is_number();
    document["connections"].is_number()
        && document["pipelining"].is_number()
        && is_number("requests", "average")
        && document["latency"].is_object()
}

pub(super) fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let all: Result<Vec<_>, _> =
        documents.iter().map(|document| figures(of_document(document, run), known)).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// A result in JSON. Latencies are in milliseconds.
fn of_document(document: &Value, run: &Run) -> Load {
    let value = |name: &str| exact(&document[name]).map(|number| number.value);
    let count = |name: &str| value(name).unwrap_or(0.0);
    let interval = value("sampleInt").filter(|interval| *interval > 0.0).unwrap_or(1e3) / 1e3;
    let latency = &document["latency"];
    let time = |name: &str| exact(&latency[name]).map(|latency| latency.times(MILLISECOND));
    let quantiles = latency.as_object().into_iter().flatten();
    let quantiles = quantiles.filter_map(|(name, value)| {
        Some((quantile(name.strip_prefix('p')?)?, exact(value)?.times(MILLISECOND)))
    });
    let url = &document["url"];
    let url = url.as_str().or(url[0].as_str()).unwrap_or_default();
    let (expected, redirected) = answers(count("2xx"), count("3xx"));
    let counts = Counts {
        expected: value("2xx").map(|_| expected),
        other: count("1xx") + redirected + count("4xx") + count("5xx"),
        errors: count("errors"),
        timeouts: count("timeouts"),
        mismatches: count("mismatches"),
    };
    let total = exact(&document["requests"]["total"]).map(|total| total.value);
    let depth = value("pipelining").filter(|depth| *depth > 1.0);
    let load = Load {
        subject: url.to_owned(),
        rate: exact(&document["requests"]["average"]).map(|rate| rate.times(1.0 / interval)),
        // Old versions rounded it to seconds.
        seconds: value("duration")
            .map(|seconds| Printed { value: seconds, off: if seconds.fract() == 0.0 { 0.5 } else { 0.005 } }),
        latency: Statistics {
            least: time("min"),
            mean: time("average").or(time("mean")),
            most: time("max"),
            deviation: time("stddev"),
            quantiles: quantiles.collect(),
        },
        depth: depth.map_or(Depth::One, Depth::Is),
        unjudged: "quantiles of the rate; bytes a second; single status codes".to_owned(),
        ..Load::default()
    };
    let load =
        opened_by(load, value("connections"), count("workers"), || "from connections in the JSON".to_owned());
    let mut load = with_command(load, run);
    // More latencies than answers: only of a limited rate some are added.
    let recorded = exact(&latency["totalCount"]).zip(total);
    let is_limited = recorded.is_some_and(|(recorded, total)| recorded.value > total * (1.0 + SAMPLED) + 1.0);
    if is_limited && load.rate_asked.is_none() {
        load = Load { rate_asked: Some(Asked::Unstated), adds_samples: true, ..load };
    }
    with_counts(load, counts, total)
}

/// Lines of an object: `connections: 25,` and, somewhat below, `pipelining: 1,`.
pub(super) fn starts_object(_: &[&str], rest: &[&str]) -> bool {
    let field = |line: &&str, name: &str| {
        line.strip_prefix(name).is_some_and(|value| number(value.trim_end_matches(',')).is_some())
    };
    rest.first().is_some_and(|line| field(line, "connections: "))
        && rest.iter().take(4).any(|line| field(line, "pipelining: "))
}

/// Fields of an object, and of those within it.
pub(super) fn parse_object(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut all = Map::new();
    let mut inner: Option<(String, Map<String, Value>)> = None;
    let url = run.before.iter().rev().take(OBJECT_HEAD).filter(|line| line.starts_with("url: "));
    for line in url.chain(run.lines.iter().take(OBJECT_LINES)) {
        if line.starts_with('}') {
            let Some((name, fields)) = inner.take() else { break };
            all.insert(name, Value::Object(fields));
            continue;
        }
        let Some((name, value)) = line.split_once(": ") else { continue };
        let name = name.trim_matches('\'').to_owned();
        let value = value.trim_end_matches(',');
        if value == "{" {
            inner = Some((name, Map::new()));
            continue;
        }
        let value = match number(value) {
            Some(value) => Value::from(value),
            None => Value::from(value.trim_matches('\'')),
        };
        inner.as_mut().map_or(&mut all, |(_, fields)| fields).insert(name, value);
    }
    inner.into_iter().for_each(|(name, fields)| drop(all.insert(name, Value::Object(fields))));
    let document = Value::Object(all);
    if !is_document(&document) {
        return Err("has no requests and latencies".to_owned());
    }
    figures(of_document(&document, run), known)
}

/// `50`, `99_9` or, in old versions, `999`, as a quantile.
fn quantile(name: &str) -> Option<f64> {
    let percent = number(&name.replace('_', "."))?;
    let old = 10_f64.powi(name.len().saturating_sub(2).min(9) as i32);
    let percent = if percent > 100.0 { percent / old } else { percent };
    Some((percent * 1e4).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_names_of_two_kinds() {
        assert_eq!(
            ["50", "99_9", "999", "9999", "2_5", "0_001"].map(quantile),
            [Some(0.5), Some(0.999), Some(0.999), Some(0.9999), Some(0.025), Some(0.00001)]
        );
        assert_eq!(quantile("x"), None);
    }
}
