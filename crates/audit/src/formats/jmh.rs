//! JMH: its table of results, and its JSON (-rf json).

use figure::{Better, Figure, Unit};
use serde_json::Value;

use crate::format::Format;
use crate::formats::micro::{LEAST, MOST_ROWS, Rows, continues, exact, is_of_one, mean, numbers, words};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::{Statistics, has_quantile};
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(NAME, MARKS, starts, None, parse);
pub(super) const DOCUMENT: Format =
    Format::documents(NAME, &["\"primaryMetric\""], is_document, None, document);

pub(super) const NAME: &str = "JMH";
const MARKS: &[&str] =
    &["  Cnt ", "  Samples ", " ns/op", " us/op", " ms/op", " s/op", " ops/s", " ops/ms", " ops/us"];
const MODES: &[&str] = &["thrpt", "avgt", "sample", "ss"];
/// Lines between two of a table.
const WITHIN: usize = 12;
/// Its units of time, in seconds.
const TIMES: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("hr", 3600.0), ("day", 86400.0)];
/// Quantiles that become figures.
const QUANTILES: &[(&str, f64, &str)] =
    &[("0.50", 0.5, "p50"), ("0.90", 0.9, "p90"), ("0.99", 0.99, "p99"), ("0.999", 0.999, "p999")];
const NO_ERROR: &str = "of too few iterations for an error (Cnt): needs -i 5 -f 3 or more";

/// A row of the table.
struct Row {
    name: String,
    mode: &'static str,
    count: Option<f64>,
    score: Printed,
    error: Option<f64>,
    unit: String,
}

/// Whether a number has a decimal comma: JMH puts none between thousands, and always prints three decimals.
fn has_comma(score: &str) -> bool {
    score.contains(',') && !score.contains('.')
}

/// Which word of a row is the mode.
fn mode_at(tokens: &[&str]) -> Option<usize> {
    tokens.iter().position(|token| MODES.contains(token)).filter(|at| *at > 0)
}

/// Whether a line may be a row, though its numbers cannot be read: the language of the JVM decides how they are written.
fn is_like_row(line: &str) -> bool {
    let tokens = words(line);
    mode_at(&tokens).is_some() && tokens.last().is_some_and(|unit| unit.contains('/'))
}

/// Benchmark, parameters, mode, count, score, error, unit. Without an error its column is empty, and of one iteration the count too.
fn row(line: &str) -> Option<Row> {
    let tokens = words(line);
    let at = mode_at(&tokens)?;
    let mode = MODES.iter().find(|mode| **mode == tokens[at])?;
    let (unit, numbers) = tokens.get(at + 1..)?.split_last()?;
    let is_unit = unit.contains('/') || ["#", "ms", "B", "counts", "---"].contains(unit);
    let is_error = |token: &&str| matches!(*token, "±" | "?" | "+-" | "+/-" | "\u{fffd}");
    let (before, error) = match numbers.iter().position(is_error) {
        Some(at) => (&numbers[..at], Some(*numbers.get(at + 1)?)),
        None => (numbers, None),
    };
    let is_count = |token: &&str| token.bytes().all(|byte| byte.is_ascii_digit());
    let (count, score, error) = match (before, error) {
        ([score], error) => (None, *score, error),
        ([count, score], error) if is_count(count) => (Some(*count), *score, error),
        // Before 1.3 the error stood without a sign.
        ([count, score, error], None) if is_count(count) => (Some(*count), *score, Some(*error)),
        _ => return None,
    };
    is_unit.then_some(())?;
    Some(Row {
        name: tokens[..at].join(" "),
        mode,
        count: count.and_then(number),
        score: Printed::of(score).filter(|_| !has_comma(score))?,
        error: error.and_then(number),
        unit: (*unit).to_owned(),
    })
}

/// `Benchmark   (size)  Mode  Cnt  Score  Error  Units`.
pub(super) fn is_head(line: &str) -> bool {
    line.starts_with("Benchmark ")
        && line.contains(" Mode ")
        && line.contains("Score")
        && line.contains("Units")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_row = |line: &str| row(line).is_some();
    is_head(line) && rest.iter().skip(1).take(WITHIN).any(|line| is_like_row(line))
        || is_row(line) && !continues(before, WITHIN, |line| is_row(line) || is_head(line))
}

/// Seconds of an operation that a unit is of; or operations a second, as `Err`.
pub(super) fn unit(text: &str) -> Option<Result<f64, f64>> {
    let of = |name: &str| TIMES.iter().find(|(own, _)| *own == name).map(|(_, seconds)| *seconds);
    match text.split_once('/')? {
        (time, "op") => Some(Ok(of(time)?)),
        ("ops", time) => Some(Err(1.0 / of(time)?)),
        _ => None,
    }
}

/// Of a row `x:x·p0.99` the benchmark and the quantile.
fn quantile(name: &str) -> Option<(&str, f64, &'static str)> {
    let (name, metric) = name.split_once(':')?;
    let digits = metric.rsplit_once('p')?.1;
    let is_own = metric.contains("·p")
        || metric.contains("?p")
        || metric.contains("\u{fffd}p")
        || metric.starts_with('p');
    let (_, quantile, word) = QUANTILES.iter().find(|(own, ..)| *own == digits)?;
    is_own.then_some((name, *quantile, *word))
}

/// What JMH prints before a score of too few digits, `≈ 10⁻³`.
const ABOUT: char = '≈';

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let all: Vec<Row> = run.lines.iter().filter_map(|line| row(line)).take(MOST_ROWS).collect();
    let unread = || run.lines.iter().filter(|line| row(line).is_none() && is_like_row(line));
    if unread().any(|line| line.contains(ABOUT)) {
        rows.note("rows that have a power of ten in place of a score (≈)");
    }
    if unread().any(|line| !line.contains(ABOUT)) {
        rows.note("rows whose numbers cannot be read (decimal commas: run Java with -Duser.language=en)");
    }
    for row in &all {
        let Some(unit) = unit(&row.unit).filter(|_| !row.name.contains(':')) else {
            if quantile(&row.name).is_none() {
                rows.note("secondary metrics");
            }
            continue;
        };
        let mut score = Score::of(&row.name, row.mode, row.score, unit);
        score.error = row.error;
        score.count = row.count.or(Some(1.0)).filter(|_| row.mode != "sample");
        let samples = row.count.filter(|_| row.mode == "sample");
        let mut quantiles = Vec::new();
        for own in all.iter().filter(|own| own.unit == row.unit) {
            let Some((_, quantile, word)) = quantile(&own.name).filter(|(name, ..)| *name == row.name) else {
                continue;
            };
            match samples.filter(|count| !has_quantile(*count, quantile)) {
                Some(count) => rows.note(&format!("{word} of {count} samples")),
                None => quantiles.push((quantile, own.score, word)),
            }
        }
        score.figures(&quantiles, &mut rows, known);
    }
    rows.figures("has no row of a score; with decimal commas run Java with -Duser.language=en")
}

fn results(document: &Value) -> Vec<&Value> {
    document.as_array().map_or_else(|| vec![document], |all| all.iter().collect())
}

fn is_document(document: &Value) -> bool {
    results(document)
        .first()
        .is_some_and(|own| own.get("primaryMetric").is_some() && own.get("benchmark").is_some())
}

/// `10 s`, in seconds.
fn duration(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once(' ')?;
    Some(number(count)? * TIMES.iter().find(|(own, _)| *own == unit)?.1)
}

fn document(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for result in documents.iter().flat_map(results) {
        let text = |name: &str| result.get(name).and_then(Value::as_str);
        let count = |name: &str| result.get(name).and_then(exact).map(|own| own.value);
        let Some(metric) = result.get("primaryMetric") else { continue };
        let shown = metric.get("scoreUnit").and_then(Value::as_str).and_then(unit);
        let (Some(name), Some(unit), Some(value)) =
            (text("benchmark"), shown, metric.get("score").and_then(exact))
        else {
            continue;
        };
        let params = result.get("params").and_then(Value::as_object);
        let params = params.map_or(String::new(), |all| {
            all.iter().map(|(name, value)| format!(" {name}={}", value.as_str().unwrap_or("?"))).collect()
        });
        let mode = MODES.iter().find(|mode| text("mode") == Some(**mode)).copied().unwrap_or("thrpt");
        let mut score = Score::of(&format!("{name}{params}"), mode, value, unit);
        score.error = metric.get("scoreError").and_then(exact).map(|error| error.value);
        let raw = metric.get("rawData").and_then(Value::as_array);
        let single: Vec<f64> = raw.map_or(Vec::new(), |forks| forks.iter().flat_map(numbers).collect());
        score.count = raw.map(|_| single.len() as f64).filter(|count| *count > 0.0);
        score.threads = count("threads");
        let each = text("measurementTime").and_then(duration);
        score.seconds = each.zip(score.count).map(|(each, count)| each * count).filter(|_| mode != "ss");
        let extreme = |quantile: &str| metric.get("scorePercentiles")?.get(quantile).and_then(exact);
        score.extremes = [extreme("0.0"), extreme("100.0")];
        score.single = single;
        if result.get("secondaryMetrics").and_then(Value::as_object).is_some_and(|all| !all.is_empty()) {
            rows.note("secondary metrics");
        }
        score.figures(&[], &mut rows, known);
    }
    rows.figures("has no score of a time or a rate")
}

/// A score, in its own unit.
pub(super) struct Score {
    name: String,
    mode: &'static str,
    value: Printed,
    /// Seconds of the unit, or operations a second.
    unit: Result<f64, f64>,
    pub(super) error: Option<f64>,
    pub(super) count: Option<f64>,
    threads: Option<f64>,
    seconds: Option<f64>,
    extremes: [Option<Printed>; 2],
    pub(super) single: Vec<f64>,
}

impl Score {
    pub(super) fn of(name: &str, mode: &'static str, value: Printed, unit: Result<f64, f64>) -> Score {
        Score {
            name: name.to_owned(),
            mode,
            value,
            unit,
            error: None,
            count: None,
            threads: None,
            seconds: None,
            extremes: [None, None],
            single: Vec::new(),
        }
    }

    pub(super) fn figures(self, quantiles: &[(f64, Printed, &str)], rows: &mut Rows, known: &Known) {
        let title = format!("{} ({}) by JMH", self.name, self.mode);
        let (factor, unit, better) = match self.unit {
            Ok(seconds) => (seconds * 1e9, Unit::NANOSECONDS, Better::Lower),
            Err(rate) => (rate, Unit::PER_S, Better::Higher),
        };
        let Some(id) = rows.id(&self.name).map(|id| format!("{id}.{}", self.mode)) else { return };
        let value = self.value.times(factor);
        let mut own = Quantity::of("jmh", id.clone(), title.clone(), value, unit.clone(), better);
        own.operation = match self.unit {
            Ok(_) => Some(value.times(1e-9)),
            // A rate is of all threads together.
            Err(_) if value.value > 0.0 => self.threads.map(|threads| {
                let time = threads / value.value;
                Printed { value: time, off: time * value.share().min(1.0) }
            }),
            Err(_) => None,
        };
        own.loops = Some(1.0).filter(|_| self.mode != "ss");
        own.threads = self.threads;
        own.repetitions = self.count;
        own.seconds = self.seconds;
        own.least_seconds = Some(LEAST);
        own.error_of_mean =
            self.error.filter(|_| self.value.value > 0.0).map(|error| error / self.value.value);
        own.again = mean(&self.single).filter(|_| self.mode != "sample").map(|mean| mean.times(factor));
        let [least, most] = self.extremes;
        // The law of bounds is the same in any unit.
        own.contradiction =
            Statistics { least, mean: Some(self.value), most, ..Statistics::default() }.against_mean();
        own.single = self.single;
        let mut figure = own.figure(known);
        let has_few = self.error.is_none() && self.count.is_some_and(|count| count < 3.0);
        if has_few {
            is_of_one(&mut figure, NO_ERROR);
        }
        rows.push(figure);
        let statistics = Statistics {
            quantiles: quantiles
                .iter()
                .map(|(quantile, value, _)| (*quantile, value.times(factor * 1e-9)))
                .collect(),
            ..Statistics::default()
        };
        for (quantile, value, word) in quantiles {
            let title = format!("{word} of {title}");
            let mut own =
                Quantity::of("jmh", format!("{id}.{word}"), title, value.times(factor), unit.clone(), better);
            (own.samples, own.quantile) = (statistics.clone(), Some(*quantile));
            rows.push(own.figure(known));
        }
    }
}
