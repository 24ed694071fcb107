//! pytest-benchmark: its table, and its JSON (--benchmark-json).

use figure::{Better, Figure, Unit};
use serde_json::Value;

use crate::format::Format;
use crate::formats::micro::{LEAST, Rows, exact, is_of_one, mean, nanoseconds, numbers};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(NAME, &["Name (time in "], starts, None, parse);
pub(super) const DOCUMENT: Format =
    Format::documents(NAME, &["\"stddev_outliers\"", "\"iqr_outliers\""], is_document, None, document);

const NAME: &str = "pytest-benchmark";
/// The columns that it can print (src/pytest_benchmark/table.py).
const COLUMNS: &[&str] =
    &["Min", "Max", "Mean", "StdDev", "Median", "IQR", "Outliers", "OPS", "Rounds", "Iterations"];
/// Quartiles of a normal distribution are so many standard deviations apart.
const QUARTILES: f64 = 1.349;
const ONE: &str =
    "one round: nothing in the text shows how far another would lie; needs --benchmark-min-rounds=5";

/// The unit of the times, in nanoseconds, and the columns.
fn head(line: &str) -> Option<(f64, Vec<&'static str>)> {
    let (unit, rest) = line.strip_prefix("Name (time in ")?.split_once(')')?;
    let of = |word: &str| {
        COLUMNS.iter().find(|column| word.trim_end_matches("(*)").trim_end_matches("(**)") == **column)
    };
    let columns: Vec<&str> = rest.split_whitespace().filter_map(|word| of(word).copied()).collect();
    Some((nanoseconds(unit)?, columns)).filter(|(_, columns)| !columns.is_empty())
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| head(line).is_some())
}

/// The name, and the text of each column; a ratio to the best of the column stands behind it in brackets.
fn row(line: &str, columns: usize) -> Option<(String, Vec<&str>)> {
    let is_ratio = |token: &str| {
        let inner = token.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        inner.is_some_and(|inner| inner == "inf" || number(inner.trim_start_matches('>')).is_some())
    };
    let tokens: Vec<&str> = line.split_whitespace().filter(|token| !is_ratio(token)).collect();
    let at = tokens.len().checked_sub(columns).filter(|at| *at > 0)?;
    let (names, cells) = tokens.split_at(at);
    let is_cell = |cell: &str| number(cell).is_some() || cell.contains(';') || matches!(cell, "inf" | "nan");
    if !cells.iter().all(|cell| is_cell(cell)) || names.iter().all(|name| number(name).is_some()) {
        return None;
    }
    Some((names.join(" "), cells.to_vec()))
}

/// What is known of a benchmark, in nanoseconds.
#[derive(Default)]
struct Stats {
    least: Option<Printed>,
    most: Option<Printed>,
    mean: Option<Printed>,
    deviation: Option<Printed>,
    median: Option<Printed>,
    quartiles: Option<Printed>,
    /// Operations a second.
    rate: Option<Printed>,
    rounds: Option<f64>,
    iterations: Option<f64>,
    single: Vec<f64>,
    /// Nanoseconds of all rounds.
    total: Option<f64>,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let line = run.lines.first().copied().unwrap_or_default();
    let (factor, columns) = head(line).ok_or("has no head of its table")?;
    let scale = ["Kops", "Mops", "Gops"].iter().zip([1e3, 1e6, 1e9]).find(|(unit, _)| line.contains(*unit));
    let scale = scale.map_or(1.0, |(_, scale)| scale);
    for line in run.lines.iter().skip(1) {
        let Some((name, cells)) = row(line, columns.len()) else { continue };
        let of = |column: &str| {
            let at = columns.iter().position(|own| *own == column)?;
            Printed::of(cells.get(at)?)
        };
        let time = |column: &str| of(column).map(|time| time.times(factor));
        let stats = Stats {
            least: time("Min"),
            most: time("Max"),
            mean: time("Mean"),
            deviation: time("StdDev"),
            median: time("Median"),
            quartiles: time("IQR"),
            rate: of("OPS").map(|rate| rate.times(scale)),
            rounds: of("Rounds").map(|count| count.value),
            iterations: of("Iterations").map(|count| count.value),
            ..Stats::default()
        };
        stats.figure(&mut rows, &name, known);
    }
    rows.note("outliers");
    rows.figures("has no row of a test")
}

fn is_document(document: &Value) -> bool {
    let first = document.get("benchmarks").and_then(|all| all.get(0));
    first.is_some_and(|first| first.get("stats").is_some_and(|stats| stats.get("rounds").is_some()))
}

fn document(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for test in documents.iter().filter_map(|own| own.get("benchmarks")?.as_array()).flatten() {
        let Some(stats) = test.get("stats") else { continue };
        let name = ["fullname", "name"].iter().find_map(|name| test.get(*name)?.as_str()).unwrap_or("test");
        let of = |field: &str| stats.get(field).and_then(exact);
        let time = |field: &str| of(field).map(|time| time.times(1e9));
        let single = stats.get("data").map_or(Vec::new(), numbers);
        let stats = Stats {
            least: time("min"),
            most: time("max"),
            mean: time("mean"),
            deviation: time("stddev"),
            median: time("median"),
            quartiles: time("iqr"),
            rate: of("ops"),
            rounds: of("rounds").map(|count| count.value),
            iterations: of("iterations").map(|count| count.value),
            total: time("total").map(|total| total.value),
            single,
        };
        stats.figure(&mut rows, name, known);
    }
    rows.figures("has no test with statistics")
}

impl Stats {
    fn figure(self, rows: &mut Rows, name: &str, known: &Known) {
        // Any of them says how long it takes; the mean is what its rate is of.
        let Some(value) = self.mean.or(self.median).or(self.least) else { return };
        let Some(id) = rows.id(name) else { return };
        let second = |time: Option<Printed>| time.map(|time| time.times(1e-9));
        let title = format!("{name} by pytest-benchmark");
        let mut own = Quantity::of("pytest-benchmark", id, title, value, Unit::NANOSECONDS, Better::Lower);
        own.operation = Some(value.times(1e-9));
        own.samples = Statistics {
            least: second(self.least),
            mean: second(self.mean),
            most: second(self.most),
            deviation: second(self.deviation),
            quantiles: second(self.median).map(|median| (0.5, median)).into_iter().collect(),
        };
        own.contradiction = own.samples.against_quantile(0.5);
        own.repetitions = self.rounds;
        own.deviation = self.scatter();
        let by_rate = self.rate.filter(|rate| rate.value > 0.0 && self.mean.is_some()).map(|rate| {
            let mean = 1e9 / rate.value;
            Printed { value: mean, off: mean * rate.share().min(1.0) }
        });
        let by_total = self.total.zip(self.rounds.filter(|rounds| *rounds > 0.0 && self.mean.is_some()));
        let by_total =
            by_total.map(|(total, rounds)| Printed { value: total / rounds, off: 1e-6 * total / rounds });
        own.again = mean(&self.single)
            .filter(|_| self.mean.is_some())
            .map(|mean| mean.times(1e9))
            .or(by_total)
            .or(by_rate);
        let times = self.rounds.zip(self.iterations).map(|(rounds, iterations)| rounds * iterations);
        own.seconds = times.map(|times| times * value.value * 1e-9);
        own.least_seconds = Some(LEAST);
        own.single = self.single;
        let mut figure = own.figure(known);
        if self.rounds == Some(1.0) {
            is_of_one(&mut figure, ONE);
        }
        rows.push(figure);
    }

    /// How far rounds typically lie apart, over the median. Interrupts and the garbage collector make a few rounds of many slow: they count
    /// by what they move the mean.
    fn scatter(&self) -> Option<f64> {
        let median = self.median.filter(|median| median.value > 0.0);
        let Some(median) = median else {
            let mean = self.mean.filter(|mean| mean.value > 0.0)?;
            return self.deviation.map(|deviation| deviation.value / mean.value);
        };
        let within = self.quartiles.map(|quartiles| quartiles.value / QUARTILES / median.value);
        let moved = self.mean.map(|mean| (mean.value / median.value - 1.0).abs());
        within.into_iter().chain(moved).reduce(f64::max)
    }
}
