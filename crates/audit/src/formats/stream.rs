//! STREAM: stream.c 4.x and 5.x, stream.f 3.x to 5.x. A head with the array's size, and a table of best rates and times.

use figure::evidence::audit::{CONTRADICTION, CORES, DIGITS, MEAN_OVER_BEST, RECOMPUTED, ROUNDING, UNJUDGED};
use figure::evidence::{
    ARRAY_BYTES, CLOCK_GRANULARITY, COUNTED_BYTES, INSTRUMENT_ARRAY, KERNEL, OFFSET_BYTES, SAMPLE_SHORTEST,
    THREADS, VERIFIED, VERIFIED_ERROR,
};
use figure::format::plain_to;
use figure::{Better, Conditions, Convention, Evidence, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::memory::{MIB, smallest_caches};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines(
    "STREAM",
    &["STREAM version", "STREAM Version", "STREAMy Version", "Rate MB/s", "Rate (MB/s)", "Rate (GB/s)"],
    starts,
    Some(&COMMAND),
    parse,
);

/// STREAM has no options; its variables are OpenMP's.
const COMMAND: Grammar = Grammar {
    programs: &["stream"],
    style: Style::Getopt,
    values: &[],
    flags: &[],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// The kernels: label in the table, word, arrays that each counts once.
const KERNELS: [(&str, &str, f64); 4] =
    [("Copy:", "copy", 2.0), ("Scale:", "scale", 2.0), ("Add:", "add", 3.0), ("Triad:", "triad", 3.0)];
/// Bytes of an element where the text does not show: a double.
const ELEMENT: f64 = 8.0;
/// From so many repetitions on the arrays of stream.c overflow, and its own check passes on what is no number: `a` grows 15-fold in each.
const OVERFLOWS: f64 = 262.0;
/// What the clock resolves where STREAM prints that it is less than a microsecond: gettimeofday(2) counts in these.
const MICROSECOND: f64 = 1e-6;
/// Lines from the head to the table: one for each thread in stream.f.
const HEAD_LINES: usize = 400;
/// The most other rows that are named.
const MOST_OTHERS: usize = 16;
/// What the column of rates shows in place of a number: the time is 0, or the number has too many digits for it.
const NO_NUMBERS: &[&str] = &["Infinity", "+Infinity", "inf", "Inf", "INF", "NaN", "nan"];

fn is_head(line: &str) -> bool {
    ["STREAM version", "STREAM Version", "STREAMy Version"].iter().any(|head| line.starts_with(head))
}

fn is_table(line: &str) -> bool {
    line.starts_with("Function") && line.contains("Rate") && unit(line).is_some()
}

/// The units of the column of rates, in MB/s; HPCC's STREAM prints GB/s.
const UNITS: &[(&str, f64)] =
    &[("MB/s", 1.0), ("GB/s", 1e3), ("MiB/s", MIB / 1e6), ("GiB/s", 1024.0 * MIB / 1e6)];

/// The unit of the rates, by the head of the table.
fn unit(head: &str) -> Option<f64> {
    let words = || head.split(|c: char| c.is_whitespace() || "()".contains(c));
    UNITS.iter().find(|(unit, _)| words().any(|word| word == *unit)).map(|(_, factor)| *factor)
}

/// A row of the table.
fn is_row(line: &str, label: &str) -> bool {
    let Some(rest) = line.strip_prefix(label) else { return false };
    let words: Vec<&str> = rest.split_whitespace().take(5).collect();
    words.len() == 4
        && (number(words[0]).is_some() || is_no_number(words[0]))
        && words[1..].iter().all(|word| number(word).is_some())
}

fn is_no_number(word: &str) -> bool {
    NO_NUMBERS.contains(&word) || !word.is_empty() && word.bytes().all(|byte| byte == b'*')
}

/// What a run has, in order; stream.f counts its digits before its name.
const KINDS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Double precision appears to have"),
    is_head,
    |line| line.starts_with("Array size =") || line.starts_with("Total Aggregate Array size ="),
    |line| line.starts_with("Memory per array ="),
    |line| line.starts_with("Each kernel will be executed") || line.starts_with("You are running each test"),
    |line| line.starts_with("Number of Threads requested") || line.starts_with("Number of Threads ="),
    |line| line.starts_with("Your clock granularity"),
    is_table,
    |line| is_row(line, "Copy:"),
    |line| is_row(line, "Scale:"),
    |line| is_row(line, "Add:"),
    |line| is_row(line, "Triad:"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    // A line of the head is STREAM's where its table follows.
    let is_followed = || rest.iter().take(HEAD_LINES).any(|line| is_table(line) || is_row(line, "Copy:"));
    begins(KINDS, before, rest)
        && (rest.first().is_some_and(|line| is_head(line) || KINDS[7..].iter().any(|is| is(line)))
            || is_followed())
}

/// A line of the table.
struct Row {
    /// MB/s; `None` where the text has no number.
    rate: Option<Printed>,
    /// Seconds: mean, best, worst.
    times: Option<[Printed; 3]>,
}

impl Row {
    /// The times, where they are more than their last digit.
    fn timed(&self) -> Option<[Printed; 3]> {
        self.times.filter(|times| times.iter().all(|time| time.value > 0.0))
    }

    /// The rate in MB/s: as printed, or of so many bytes in the best time; and by what share it is off, where it was not printed.
    fn rate(&self, bytes: Option<f64>) -> Option<(f64, Option<f64>)> {
        if let Some(rate) = self.rate {
            return Some((rate.value, None));
        }
        let [_, best, _] = self.times?;
        let megabytes = bytes? / 1e6;
        // Of a time of 0 it is known that it was less than half of the last digit.
        Some(if best.value > best.off {
            (megabytes / best.value, Some(best.share()))
        } else {
            (megabytes / best.off, Some(1.0))
        })
    }
}

/// Numbers of a row: a rate and three times.
const COLUMNS: usize = 4;

fn row(run: &Run, label: &str) -> Option<Row> {
    let words: Vec<&str> = run.after(label)?.split_whitespace().collect();
    if numbers(&words) > COLUMNS {
        return None;
    }
    let time = |at: usize| Printed::of(words.get(at)?);
    let times = time(1).zip(time(2)).zip(time(3)).map(|((mean, best), worst)| [mean, best, worst]);
    let word = words.first()?;
    let factor = run.lines.iter().filter(|line| is_table(line)).find_map(|line| unit(line)).unwrap_or(1.0);
    let rate = Printed::of(word).map(|rate| rate.times(factor));
    (rate.is_some() || is_no_number(word) && times.is_some()).then_some(Row { rate, times })
}

/// How many numbers a row begins with.
fn numbers(words: &[&str]) -> usize {
    words.iter().take_while(|word| number(word).is_some()).count()
}

/// Why a text has no row of STREAM's: none at all, or rows of other columns.
fn no_rows(run: &Run) -> String {
    let columns = KERNELS.iter().find_map(|(label, ..)| {
        let words: Vec<&str> = run.after(label)?.split_whitespace().collect();
        Some(numbers(&words)).filter(|columns| *columns > COLUMNS)
    });
    columns.map_or("has no line of Copy, Scale, Add or Triad".to_owned(), |columns| {
        format!("has rows of {columns} numbers: STREAM's have a rate, and a mean, a least and a largest time")
    })
}

/// Bytes of each array, as the head has them; and its elements.
fn array(run: &Run, element: f64) -> (Option<f64>, Option<f64>) {
    // stream_mpi.c distributes each array over its ranks.
    let elements = run.number("Total Aggregate Array size =").or(run.number("Array size ="));
    let memory = run.number("Total Aggregate Memory per array =").or(run.number("Memory per array ="));
    let memory = memory.map(|mebi| mebi * MIB);
    (elements.map(|elements| elements * element).or(memory).filter(|bytes| *bytes > 0.0), elements)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let rows: Vec<_> = KERNELS.iter().filter_map(|kernel| Some((kernel, row(run, kernel.0)?))).collect();
    if rows.is_empty() {
        return Err(no_rows(run));
    }
    let element = run
        .number("This system uses")
        .or(run.number("Assuming"))
        .filter(|bytes| *bytes > 0.0)
        .unwrap_or(ELEMENT);
    let (printed, elements) = array(run, element);
    // Rate and time together tell it as well, to as many digits as they have.
    let inferred = rows.iter().find_map(|((_, _, arrays), row)| {
        Some((row.rate?.value * 1e6 * row.timed()?[1].value / arrays / 1e3).round() * 1e3)
    });
    let array = printed.or(inferred).filter(|array| *array > 0.0);
    let mut conditions = Conditions::default();
    let threads = ["Number of Threads counted =", "Number of Threads requested =", "Number of Threads ="]
        .iter()
        .find_map(|label| run.number(label));
    let threads = threads.or_else(|| {
        let ranks = run.within("Data is distributed across ")?;
        Some(ranks * run.number("Number of Threads requested for each MPI rank =").unwrap_or(1.0))
    });
    let asked = run.command.and_then(|command| command.variable("OMP_NUM_THREADS"));
    threads.or(asked).or(known.threads).into_iter().for_each(|threads| conditions.set(THREADS, threads));
    array.into_iter().for_each(|array| conditions.set(ARRAY_BYTES, array));
    known.cores.into_iter().for_each(|cores| conditions.set(CORES, cores));
    let offset = run.lines.iter().find_map(|line| {
        let (_, rest) = line.split_once("Offset ")?;
        number(first(rest.trim_start().strip_prefix('=')?)?)
    });
    offset.into_iter().for_each(|offset| conditions.set(OFFSET_BYTES, offset * element));
    let times =
        run.within("Each kernel will be executed").or(run.within("You are running each test")).unwrap_or(1.0);
    let of = |((_, kernel, arrays), row): (&(&str, &str, f64), Row)| {
        let (rate, off) = row.rate(printed.map(|array| array * arrays))?;
        let id = format!("{SUITE}.stream.{kernel}");
        let mut figure =
            Figure::planned(id, SUITE, format!("{kernel} by STREAM"), Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(Convention::StreamCounted);
        figure.conditions = conditions.clone().with(KERNEL, (*kernel).to_owned());
        figure.conditions.set(COUNTED_BYTES, arrays * element);
        if array.is_none() {
            figure
                .evidence
                .put_unknown(INSTRUMENT_ARRAY, "the text shows neither STREAM's array size nor its times");
        }
        verification(run, &mut figure.evidence);
        known.caches(&mut figure.evidence);
        smallest_caches(array, threads.unwrap_or(1.0).max(1.0), known, &mut figure.evidence);
        granularity(run, &mut figure.evidence);
        off.into_iter().for_each(|off| figure.evidence.put(DIGITS, off.min(1.0)));
        let mut evidence = Evidence::default();
        if let Some([_, best, _]) = row.times.filter(|[_, best, _]| best.value == 0.0 && off.is_some()) {
            evidence.put(SAMPLE_SHORTEST, best.value);
        }
        if let Some([mean, best, worst]) = row.timed() {
            let times = Statistics {
                least: Some(best),
                mean: Some(mean),
                most: Some(worst),
                ..Statistics::default()
            };
            times.against_mean().into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
            evidence.put(SAMPLE_SHORTEST, best.value);
            evidence.put(MEAN_OVER_BEST, ((mean.value - mean.off) / (best.value + best.off)).max(1.0));
            if let (Some(elements), true, None) = (elements, best.value > best.off, off) {
                evidence.put(RECOMPUTED, elements * element * arrays / best.value / 1e9);
                evidence.put(ROUNDING, best.share());
            }
        }
        let seconds = row.timed().map_or(0.0, |[mean, ..]| mean.value * times);
        figure.rounds.push(round(seconds, rate / 1e3, evidence));
        Some(figure)
    };
    let mut figures: Vec<Figure> = rows.into_iter().filter_map(of).collect();
    if let Some(first) = figures.first_mut()
        && let Some(others) = others(run)
    {
        first.evidence.put(UNJUDGED, others);
    }
    if figures.is_empty() {
        return Err("prints no rate (Infinity or asterisks: the time is 0, or the rate has too many digits), and no array size to compute it from".to_owned());
    }
    Ok(figures)
}

/// The labels of other rows of the table: variants of STREAM have more kernels.
fn others(run: &Run) -> Option<String> {
    let labels = run.lines.iter().filter_map(|line| {
        let label = line.split_whitespace().next().filter(|label| label.ends_with(':'))?;
        let is_other = is_row(line, label) && !KERNELS.iter().any(|(own, ..)| *own == label);
        is_other.then(|| label.trim_end_matches(':'))
    });
    let labels: Vec<&str> = labels.take(MOST_OTHERS).collect();
    (!labels.is_empty()).then(|| plain_to(&format!("the rows {}", labels.join(", ")), MAX_SUBJECT))
}

/// What the clock resolves.
fn granularity(run: &Run, evidence: &mut Evidence) {
    let is_less = run.lines.iter().any(|line| line.starts_with("Your clock granularity appears to be less"));
    let microseconds =
        run.within("clock granularity/precision appears to be").map(|microseconds| microseconds * 1e-6);
    match microseconds.or(is_less.then_some(MICROSECOND)).filter(|seconds| *seconds > 0.0) {
        Some(seconds) => evidence.put(CLOCK_GRANULARITY, seconds),
        None => evidence.put_unknown(CLOCK_GRANULARITY, "the text does not show what the clock resolves"),
    }
}

/// What STREAM says of its arrays' contents.
fn verification(run: &Run, evidence: &mut Evidence) {
    if run.within("Each kernel will be executed").is_some_and(|times| times >= OVERFLOWS) {
        let why = "with 262 repetitions or more the arrays overflow, and STREAM's own check passes on what is no number";
        return evidence.put_unknown(VERIFIED, why);
    }
    let is_wrong = run.lines.iter().any(|line| line.starts_with("Failed Validation"));
    if is_wrong || run.after("Solution Validates").is_some() {
        evidence.put(VERIFIED, !is_wrong);
        let error = run.within("AvgRelAbsErr:").or(run.within("avg error less than"));
        error.into_iter().for_each(|error| evidence.put(VERIFIED_ERROR, error));
    } else {
        evidence.put_unknown(
            VERIFIED,
            "the text does not hold STREAM's own check of its arrays (\"Solution Validates\")",
        );
    }
}
