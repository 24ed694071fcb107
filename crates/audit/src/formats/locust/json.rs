//! locust's statistics as JSON (`--json`, `--json-file`): an entry for each name, and none for all.

use figure::Figure;
use serde_json::Value;

use super::{COMMAND, MILLISECOND, load, rough};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(in crate::formats) const ENTRIES: Format =
    Format::documents("locust", &["\"num_none_requests\""], is, Some(&COMMAND), parse);

/// Quantiles that are computed from the counts of response times.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Numbers that may have been measured.
const SANE: std::ops::RangeInclusive<f64> = 1e-100..=1e18;

fn is(document: &Value) -> bool {
    let is_entry =
        |entry: &Value| entry.get("num_requests").is_some() && entry.get("response_times").is_some();
    document.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_entry))
}

fn parse(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let entries: Vec<&Value> = documents.iter().filter_map(Value::as_array).flatten().collect();
    let of = |entry: &Value, name: &str| {
        entry.get(name)?.as_f64().filter(|value| *value == 0.0 || SANE.contains(value))
    };
    let all = |name: &str| entries.iter().filter_map(|entry| of(entry, name)).collect::<Vec<f64>>();
    let sum = |name: &str| all(name).iter().sum::<f64>();
    let least = |name: &str| all(name).into_iter().reduce(f64::min);
    let most = |name: &str| all(name).into_iter().reduce(f64::max);
    let (requests, failures) = (sum("num_requests"), sum("num_failures"));
    let timed = requests - sum("num_none_requests");
    // All entries together last from the first start to the last request.
    let seconds = least("start_time").zip(most("last_request_timestamp")).map(|(start, last)| last - start);
    let seconds = seconds.filter(|seconds| *seconds > 0.0);
    let exact = |value: f64| Printed { value, off: value * f64::EPSILON };
    let millisecond = |time: f64| exact(time * MILLISECOND);
    let mut times: Vec<(f64, f64)> = entries
        .iter()
        .filter_map(|entry| entry.get("response_times")?.as_object())
        .flatten()
        .filter_map(|(time, count)| Some((number(time)?, count.as_f64().filter(|count| *count >= 0.0)?)))
        .collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let counted: f64 = times.iter().map(|(_, count)| count).sum();
    let quantile = |share: f64| {
        let mut below = 0.0;
        let (time, _) = times.iter().find(|(_, count)| {
            below += count;
            below >= share * counted
        })?;
        (counted * (1.0 - share) > 0.999 || share == 0.5).then(|| (share, rough(millisecond(*time))))
    };
    let load = Load {
        rate: seconds.map(|seconds| exact(requests / seconds)),
        seconds: seconds.map(exact),
        answered: Some(requests - failures).filter(|answered| *answered >= 0.0),
        failed: vec![("unspecified", failures)],
        latency: Statistics {
            least: least("min_response_time").map(millisecond),
            mean: (timed > 0.0).then(|| millisecond(sum("total_response_time") / timed)),
            most: most("max_response_time").map(millisecond),
            deviation: None,
            quantiles: QUANTILES.into_iter().filter_map(quantile).collect(),
        },
        unjudged: if entries.len() > 1 { "entries of single names" } else { "" }.to_owned(),
        ..load(run)
    };
    load.figures(known)
}
