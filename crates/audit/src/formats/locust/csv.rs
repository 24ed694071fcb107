//! locust's `_stats.csv` (`--csv`).

use figure::Figure;

use super::{COMMAND, MILLISECOND, load, rough};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, fields, percent};

pub(in crate::formats) const STATS: Format =
    Format::lines("locust", &["Request Count", "\"# requests\""], starts, Some(&COMMAND), parse);

/// Heads of columns: since 1.0, and before.
const COUNT: &[&str] = &["Request Count", "# requests"];
const FAILURES: &[&str] = &["Failure Count", "# failures"];
const MEDIAN: &[&str] = &["Median Response Time", "Median response time"];
const MEAN: &[&str] = &["Average Response Time", "Average response time"];
const LEAST: &[&str] = &["Min Response Time", "Min response time"];
const MOST: &[&str] = &["Max Response Time", "Max response time"];
const RATE: &[&str] = &["Requests/s"];
/// The longest report, in rows.
const MOST_ROWS: usize = 5000;

fn at(columns: &[String], names: &[&str]) -> Option<usize> {
    columns.iter().position(|column| names.contains(&column.trim()))
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| {
        // A table of the history has times as well.
        line.contains("Name") && !line.contains("Timestamp") && line.contains(',') && {
            let columns = fields(line, ',');
            at(&columns, COUNT).is_some() && at(&columns, MEAN).is_some()
        }
    })
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let columns = fields(run.lines.first().copied().unwrap_or_default(), ',');
    let rows: Vec<Vec<String>> = run
        .lines
        .iter()
        .skip(1)
        .take(MOST_ROWS)
        .map(|line| fields(line, ','))
        .take_while(|cells| cells.len() > 3)
        .collect();
    let name = at(&columns, &["Name"]).ok_or("has no column of names")?;
    let is_total = |cells: &&Vec<String>| {
        cells.get(name).is_some_and(|name| matches!(name.trim(), "Aggregated" | "Total"))
    };
    let parts = rows.iter().filter(|cells| !is_total(cells)).count();
    let total = rows.iter().rfind(is_total).or(rows.first().filter(|_| rows.len() == 1));
    let total = total.ok_or("has no row of all requests (Aggregated)")?;
    let of = |cells: &[String], names: &[&str]| Printed::of(cells.get(at(&columns, names)?)?.trim());
    let cell = |names: &[&str]| of(total, names);
    let time = |names: &[&str]| cell(names).map(|time| time.times(MILLISECOND));
    let (requests, failures) =
        (cell(COUNT).map(|count| count.value), cell(FAILURES).map(|count| count.value));
    let quantiles: Vec<(f64, Printed)> = columns
        .iter()
        .zip(total)
        .filter_map(|(column, cell)| {
            let share = percent(column.trim().strip_suffix('%')?)?;
            Some((share, rough(Printed::of(cell.trim())?.times(MILLISECOND))))
        })
        .collect();
    let median = time(MEDIAN).filter(|_| !quantiles.iter().any(|(share, _)| *share == 0.5));
    let sum = |names: &[&str]| -> f64 {
        let others = rows.iter().filter(|cells| !is_total(cells));
        others.filter_map(|cells| of(cells, names)).map(|count| count.value).sum()
    };
    let more = requests.filter(|all| parts > 1 && sum(COUNT) > *all);
    let load = Load {
        rate: cell(RATE),
        answered: requests
            .zip(failures)
            .map(|(requests, failures)| requests - failures)
            .filter(|answered| *answered >= 0.0),
        failed: failures.map(|failures| ("unspecified", failures)).into_iter().collect(),
        latency: Statistics {
            least: time(LEAST),
            mean: time(MEAN).filter(|_| requests.is_none_or(|requests| requests > 0.0)),
            most: time(MOST),
            deviation: None,
            quantiles: median.map(|median| (0.5, rough(median))).into_iter().chain(quantiles).collect(),
        },
        contradiction: more
            .map(|all| format!("the rows have {} requests, and their total has {all}", sum(COUNT))),
        unjudged: if parts > 1 { "rows of single names" } else { "" }.to_owned(),
        ..load(run)
    };
    load.figures(known)
}
