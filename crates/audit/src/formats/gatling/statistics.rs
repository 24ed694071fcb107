//! Gatling's js/global_stats.json, and js/stats.json with a part for each request.

use figure::Figure;
use serde_json::Value;

use super::summary::Summary;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::Printed;

pub(in crate::formats) const STATISTICS: Format =
    Format::documents("Gatling", &["\"meanNumberOfRequestsPerSecond\""], is, None, parse);

const MILLISECOND: f64 = 1e-3;
/// The percentiles, by default (gatling.conf, charting.indicators).
const QUANTILES: [(f64, &str); 4] =
    [(0.5, "percentiles1"), (0.75, "percentiles2"), (0.95, "percentiles3"), (0.99, "percentiles4")];
/// Numbers that may have been measured.
const SANE: std::ops::RangeInclusive<f64> = 1e-100..=1e18;

/// The statistics of all requests.
fn statistics(document: &Value) -> Option<&Value> {
    let own = document.get("stats").unwrap_or(document);
    (own.get("numberOfRequests").is_some() && own.get("meanResponseTime").is_some()).then_some(own)
}

fn is(document: &Value) -> bool {
    statistics(document).is_some()
}

/// A number, which older versions write as text; a dash stands where there is none.
fn printed(value: &Value) -> Option<Printed> {
    match value {
        Value::String(text) => Printed::of(text),
        value => {
            let value = value.as_f64().filter(|value| *value == 0.0 || SANE.contains(value))?;
            // Times are whole milliseconds.
            Some(Printed { value, off: if value.fract() == 0.0 { 0.5 } else { value * f64::EPSILON } })
        }
    }
}

fn parse(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let own = statistics(document).ok_or("has no statistics of all requests")?;
        let cell = |name: &str, column: &str| printed(own.get(name)?.get(column)?);
        let all = |name: &str| cell(name, "total");
        let time = |name: &str| all(name).map(|time| time.times(MILLISECOND));
        let place = run.before.len() + 1;
        let summary = Summary {
            subject: match index {
                0 => format!("line {place}"),
                _ => format!("line {place}, document {}", index + 1),
            },
            counts: ["total", "ok", "ko"].map(|column| Some(cell("numberOfRequests", column)?.value)),
            rate: all("meanNumberOfRequestsPerSecond"),
            latency: Statistics {
                least: time("minResponseTime"),
                mean: time("meanResponseTime"),
                most: time("maxResponseTime"),
                deviation: time("standardDeviation"),
                quantiles: QUANTILES.iter().filter_map(|(share, name)| Some((*share, time(name)?))).collect(),
            },
            failed: Vec::new(),
            unjudged: if document.get("contents").is_some() {
                "statistics of single requests, and of OK and KO apart"
            } else {
                "statistics of OK and KO apart"
            }
            .to_owned(),
        };
        figures.extend(summary.load().figures(known)?);
    }
    Ok(figures)
}
