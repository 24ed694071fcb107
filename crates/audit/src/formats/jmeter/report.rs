//! JMeter's aggregate report and summary report, saved as CSV.

use figure::Figure;

use super::{MILLISECOND, load, place, separator};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, fields, number, percent};

pub(in crate::formats) const REPORT: Format =
    Format::lines("JMeter", &["# Samples,Average", "aggregate_report_count"], starts, None, parse);

/// Heads of columns: in words, or as the keys of their translations.
const COUNT: &[&str] = &["# Samples", "aggregate_report_count"];
const MEAN: &[&str] = &["Average", "average"];
const MEDIAN: &[&str] = &["Median", "aggregate_report_median"];
const LEAST: &[&str] = &["Min", "aggregate_report_min"];
const MOST: &[&str] = &["Max", "aggregate_report_max"];
const DEVIATION: &[&str] = &["Std. Dev.", "aggregate_report_stddev"];
const ERRORS: &[&str] = &["Error %", "aggregate_report_error%"];
const RATE: &[&str] = &["Throughput", "aggregate_report_rate"];
/// What a column of a quantile ends in: `90% Line`, `aggregate_report_90%_line`.
const QUANTILE: &[&str] = &["% Line", "%_line"];
/// The row of all samples.
const TOTAL: &str = "TOTAL";
/// The longest report, in rows.
const MOST_ROWS: usize = 5000;
/// Times of a report may be cut to whole milliseconds, in each of its rows.
const CUT: f64 = 1.0;

fn starts(_: &[&str], rest: &[&str]) -> bool {
    let is_head = |line: &&str| {
        (line.contains("# Samples") || line.contains("aggregate_report_count"))
            && columns(line)
                .is_some_and(|columns| at(&columns, COUNT).is_some() && at(&columns, MEAN).is_some())
    };
    rest.first().is_some_and(is_head)
}

/// The heads of a table of several columns.
fn columns(line: &str) -> Option<Vec<String>> {
    let columns = fields(line, separator(line));
    (columns.len() > 3).then_some(columns)
}

fn at(columns: &[String], names: &[&str]) -> Option<usize> {
    columns.iter().position(|column| names.contains(&column.trim()))
}

/// One row: samples of a label.
struct Row {
    label: String,
    cells: Vec<String>,
    count: f64,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    let columns = columns(head).ok_or("has no columns")?;
    let separator = separator(head);
    let count = at(&columns, COUNT).ok_or("has no column of samples")?;
    let row = |line: &&str| {
        let cells = fields(line, separator);
        let count = number(cells.get(count)?.trim())?;
        Some(Row { label: cells.first()?.clone(), count, cells })
    };
    let rows: Vec<Row> = run.lines.iter().skip(1).take(MOST_ROWS).map_while(row).collect();
    let total = rows.iter().rposition(|row| row.label.eq_ignore_ascii_case(TOTAL));
    // Without a row of all, the only row is it.
    let total = total.or((rows.len() == 1).then_some(0)).ok_or("has no row of all samples (TOTAL)")?;
    let own = &rows[total];
    let cell = |names: &[&str]| at(&columns, names).and_then(|at| own.cells.get(at)).map(|cell| cell.trim());
    let millisecond = |text: &str| Printed::of(text).map(|time| time.times(MILLISECOND));
    let mean = cell(MEAN).and_then(Printed::of).map(cut);
    let quantiles = columns.iter().enumerate().filter_map(|(at, column)| {
        let name = QUANTILE.iter().find_map(|end| column.trim().strip_suffix(end))?;
        Some((percent(name.rsplit('_').next()?)?, millisecond(own.cells.get(at)?.trim())?))
    });
    let median = cell(MEDIAN).and_then(millisecond).map(|median| (0.5, median));
    // `0.00%`. Without its sign a number may be a share or a percentage.
    let errors = cell(ERRORS).and_then(|text| match text.strip_suffix('%') {
        Some(percent) => Some(number(percent.trim())? / 100.0),
        None => number(text).filter(|share| *share == 0.0),
    });
    let errors = errors.filter(|share| *share <= 1.0);
    let failed = errors.map(|share| if share > 0.0 { (share * own.count).round().max(1.0) } else { 0.0 });
    let load = Load {
        subject: place(run),
        rate: cell(RATE).and_then(rate),
        answered: failed.map(|failed| own.count - failed),
        failed: failed.map(|failed| ("unspecified", failed)).into_iter().collect(),
        latency: Statistics {
            least: cell(LEAST).and_then(millisecond),
            mean: cell(MEAN).and_then(millisecond),
            most: cell(MOST).and_then(millisecond),
            deviation: cell(DEVIATION).and_then(millisecond),
            quantiles: median.into_iter().chain(quantiles).collect(),
        },
        contradiction: against(&rows, total, mean, |row| {
            at(&columns, MEAN)
                .and_then(|at| row.cells.get(at))
                .and_then(|cell| Printed::of(cell.trim()))
                .map(cut)
        }),
        unjudged: if rows.len() > 2 { "rows of single labels" } else { "" }.to_owned(),
        ..load()
    };
    load.figures(known)
}

/// A mean that may have been cut, not rounded.
fn cut(mean: Printed) -> Printed {
    Printed { off: mean.off.max(if mean.off >= 0.5 { CUT } else { 0.0 }), ..mean }
}

/// `12.3/sec`, `45.6/min`, or requests a second without a unit.
fn rate(text: &str) -> Option<Printed> {
    let (digits, unit) = text.split_once('/').unwrap_or((text, "sec"));
    let seconds = match unit.trim() {
        "sec" | "s" => 1.0,
        "min" => 60.0,
        "hour" => 3600.0,
        _ => return None,
    };
    Some(Printed::of(digits.trim())?.times(1.0 / seconds))
}

/// Why the row of all cannot be that of its rows: these have more samples, or as many and another mean.
fn against(
    rows: &[Row],
    total: usize,
    mean: Option<Printed>,
    mean_of: impl Fn(&Row) -> Option<Printed>,
) -> Option<String> {
    let own = &rows[total];
    let parts: Vec<&Row> =
        rows.iter().enumerate().filter(|(at, _)| *at != total).map(|(_, row)| row).collect();
    let samples: f64 = parts.iter().map(|row| row.count).sum();
    if parts.is_empty() || own.label != TOTAL {
        return None;
    }
    if samples > own.count {
        return Some(format!("the rows have {samples} samples, and their total has {}", own.count));
    }
    let mean = mean.filter(|_| samples == own.count && samples > 0.0)?;
    let means: Option<Vec<(Printed, f64)>> =
        parts.iter().map(|row| Some((mean_of(row)?, row.count))).collect();
    let means = means?;
    let again = |part: fn(&Printed) -> f64| {
        means.iter().map(|(mean, count)| part(mean) * count).sum::<f64>() / samples
    };
    let again = Printed { value: again(|mean| mean.value), off: again(|mean| mean.off) };
    again.differs(mean).then(|| {
        format!("the mean of the rows is {:.1} ms, and their total has {} ms", again.value, mean.value)
    })
}
