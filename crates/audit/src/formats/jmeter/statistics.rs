//! statistics.json of JMeter's dashboard.

use figure::Figure;
use serde_json::Value;

use super::{MILLISECOND, load, place};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::Printed;

pub(in crate::formats) const STATISTICS: Format =
    Format::documents("JMeter", &["\"meanResTime\""], is, None, parse);

/// The row of all samples, without those of transaction controllers.
const TOTAL: &str = "Total";
/// The three percentiles of a dashboard, by default (aggregate_rpt_pct1 to 3).
const QUANTILES: [(f64, &str); 4] =
    [(0.5, "medianResTime"), (0.9, "pct1ResTime"), (0.95, "pct2ResTime"), (0.99, "pct3ResTime")];
/// How many samples a dashboard takes percentiles of, by default: the last ones (jmeter.reportgenerator.statistic_window).
const WINDOW: f64 = 20_000.0;
/// Numbers that may have been measured.
const SANE: std::ops::RangeInclusive<f64> = 1e-100..=1e18;
/// By what a share in percent may be off.
const PERCENT: f64 = 0.01;

fn is(document: &Value) -> bool {
    let is_row = |row: &Value| row.get("sampleCount").is_some() && row.get("meanResTime").is_some();
    document.as_object().is_some_and(|rows| !rows.is_empty() && rows.values().all(is_row))
}

fn parse(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        let place = if number == 0 { place(run) } else { format!("{}, document {}", place(run), number + 1) };
        figures.extend(of_document(document, place, known)?);
    }
    Ok(figures)
}

fn of_document(document: &Value, place: String, known: &Known) -> Result<Vec<Figure>, String> {
    let rows = document.as_object().ok_or("has no rows")?;
    let only = rows.values().next().filter(|_| rows.len() == 1);
    let total = rows.get(TOTAL).or(only).ok_or("has no row of all samples (Total)")?;
    let number = |name: &str| {
        total.get(name).and_then(Value::as_f64).filter(|value| *value == 0.0 || SANE.contains(value))
    };
    let exact = |value: f64| Printed { value, off: value * f64::EPSILON };
    let millisecond = |name: &str| number(name).map(|time| exact(time * MILLISECOND));
    let (count, errors) = (number("sampleCount"), number("errorCount"));
    let share = count.zip(errors).zip(number("errorPct")).filter(|((count, _), _)| *count > 0.0);
    let share = share.filter(|((count, errors), percent)| (100.0 * errors / count - percent).abs() > PERCENT);
    let latency = Statistics {
        least: millisecond("minResTime"),
        mean: millisecond("meanResTime"),
        most: millisecond("maxResTime"),
        deviation: None,
        quantiles: QUANTILES.iter().filter_map(|(share, name)| Some((*share, millisecond(name)?))).collect(),
    };
    let is_part = count.is_some_and(|count| count > WINDOW);
    let other_samples = latency.other_samples().map(|why| {
        if is_part { format!("{why}: JMeter has its percentiles from the last 20000 samples") } else { why }
    });
    let load = Load {
        subject: place,
        rate: number("throughput").map(exact),
        answered: count.zip(errors).map(|(count, errors)| count - errors).filter(|answered| *answered >= 0.0),
        failed: errors.map(|errors| ("unspecified", errors)).into_iter().collect(),
        latency,
        contradiction: share.map(|((count, errors), percent)| {
            format!("{errors} errors of {count} samples are not {percent} %")
        }),
        other_samples,
        results: if is_part {
            "JMeter's dashboard has its percentiles from the last 20000 samples, by default"
        } else {
            ""
        },
        unjudged: if rows.len() > 2 { "rows of single labels" } else { "" }.to_owned(),
        ..load()
    };
    load.figures(known)
}
