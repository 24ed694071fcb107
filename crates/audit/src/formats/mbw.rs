//! mbw: copies of one array to another, each timed, and their mean.

use figure::evidence::THREADS;
use figure::{Better, Convention, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::memory::{MIB, caches_of_one_thread, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{NEAR, Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    "mbw",
    &["Method: MEMCPY", "Method: DUMB", "Method: MCBLOCK"],
    starts,
    Some(&COMMAND),
    parse,
);

/// mbw(1).
const COMMAND: Grammar = Grammar {
    programs: &["mbw"],
    style: Style::Getopt,
    values: &["-n", "-t", "-b", "-w"],
    flags: &["-a", "-q"],
    hidden: &[],
    operand: |word| word.expands || number(&word.text).is_some(),
    operands: 1..=1,
};

/// More repetitions than anyone asks for, and methods than any version has.
const MOST_REPETITIONS: usize = 10_000;
const MOST_METHODS: usize = 16;

/// A copy: `0  Method: MEMCPY  Elapsed: 0.05318  MiB: 1024.00000  Copy: 19256.808 MiB/s`.
struct Copy<'a> {
    method: &'a str,
    /// Its number, from 0; `None` is the mean of those before.
    number: Option<f64>,
    elapsed: Printed,
    mebi: f64,
    rate: Printed,
}

fn copy(line: &str) -> Option<Copy<'_>> {
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    let after =
        |label: &str| words.iter().position(|word| *word == label).and_then(|at| words.get(at + 1)).copied();
    let head = *words.first()?;
    let own = number(head).filter(|_| head.bytes().all(|byte| byte.is_ascii_digit()));
    if own.is_none() && head != "AVG" || words.get(1) != Some(&"Method:") {
        return None;
    }
    Some(Copy {
        method: after("Method:")?,
        number: own,
        elapsed: Printed::of(after("Elapsed:")?)?,
        mebi: number(after("MiB:")?)?,
        rate: Printed::of(after("Copy:")?)?,
    })
}

fn is_head(line: &str) -> bool {
    line.starts_with("Long uses ") && line.contains("Allocating 2*")
}

/// Its other lines before the copies.
fn is_setup(line: &str) -> bool {
    line.starts_with("Using ") && (line.ends_with(" worker threads.") || line.contains(" bytes as blocks"))
        || line.starts_with("Getting down to business")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if is_head(line) {
        return true;
    }
    let nearest = before.iter().rev().take(NEAR).find(|line| !line.is_empty());
    let is_own = |line: &&&str| is_head(line) || is_setup(line) || copy(line).is_some();
    let is_followed = || rest.iter().take(8).any(|line| copy(line).is_some());
    (copy(line).is_some() || is_setup(line) && is_followed()) && nearest.filter(is_own).is_none()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let all: Vec<Copy> = run.lines.iter().filter_map(|line| copy(line)).take(MOST_REPETITIONS).collect();
    let mut methods: Vec<&str> = Vec::new();
    for copy in &all {
        if !methods.contains(&copy.method) && methods.len() < MOST_METHODS {
            methods.push(copy.method);
        }
    }
    let threads = run
        .lines
        .iter()
        .find_map(|line| number(line.strip_prefix("Using ")?.strip_suffix(" worker threads.")?));
    let figures: Vec<Figure> =
        methods.iter().flat_map(|method| of_method(&all, method, threads, known)).collect();
    if figures.is_empty() { Err("has no line of a copy and its time".to_owned()) } else { Ok(figures) }
}

/// A figure for each mean of a method, which is of the copies before it; or one of the copies, if there is no mean.
fn of_method(all: &[Copy], method: &str, threads: Option<f64>, known: &Known) -> Vec<Figure> {
    let own: Vec<&Copy> = all.iter().filter(|copy| copy.method == method).collect();
    let mut figures = Vec::new();
    let mut single: Vec<&Copy> = Vec::new();
    for copy in own {
        if copy.number.is_none() {
            // Of copies that are not all there nothing follows.
            let is_whole = single.iter().zip(0..).all(|(copy, at)| copy.number == Some(f64::from(at)));
            let of = if is_whole { single.as_slice() } else { &[] };
            figures.push(figure(copy.rate, copy, of, method, threads, known));
            single.clear();
        } else {
            single.push(copy);
        }
    }
    if let (true, Some(last)) = (figures.is_empty(), single.last()) {
        let elapsed = single.iter().map(|copy| copy.elapsed.value).sum::<f64>() / single.len() as f64;
        if elapsed > 0.0 {
            let off = last.elapsed.off / elapsed;
            let value = last.mebi / elapsed;
            let mean = Copy {
                elapsed: Printed { value: elapsed, off: last.elapsed.off },
                number: None,
                rate: Printed { value, off: value * off },
                ..**last
            };
            figures.push(figure(mean.rate, &mean, &single, method, threads, known));
        }
    }
    figures
}

fn figure(
    rate: Printed,
    mean: &Copy,
    single: &[&Copy],
    method: &str,
    threads: Option<f64>,
    known: &Known,
) -> Figure {
    let times: Vec<Printed> = single.iter().map(|copy| copy.elapsed).collect();
    let least = times.iter().copied().reduce(|one, other| if other.value < one.value { other } else { one });
    let most = times.iter().copied().reduce(|one, other| if other.value > one.value { other } else { one });
    let again = (mean.elapsed.value > mean.elapsed.off).then(|| {
        let value = mean.mebi * MIB / mean.elapsed.value / 1e9;
        Printed { value, off: value * mean.elapsed.share() }
    });
    let count = times.len() as f64;
    let average = times.iter().map(|time| time.value).sum::<f64>() / count.max(1.0);
    let variance =
        times.iter().map(|time| (time.value - average).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let error = (times.len() > 1 && average > 0.0).then(|| (variance / count).sqrt() / average);
    let memory = Memory {
        kernel: "copy",
        array: Some(mean.mebi * MIB).filter(|array| *array > 0.0),
        counted: 8.0,
        convention: Some(Convention::Copied),
        missing: "the text does not show the array size",
        ..Memory::default()
    };
    let method = word(method);
    let mut figure = Quantity {
        again,
        samples: Statistics { least, mean: Some(mean.elapsed), most, ..Statistics::default() },
        error_of_mean: error,
        repetitions: (count > 0.0).then_some(count),
        seconds: Some(mean.elapsed.value * count.max(1.0)),
        memory: Some(memory),
        ..Quantity::of(
            "mbw",
            method.clone(),
            format!("copy ({method}) by mbw"),
            rate.times(MIB / 1e9),
            Unit::GB_PER_S,
            Better::Higher,
        )
    }
    .figure(known);
    threads.into_iter().for_each(|threads| figure.conditions.set(THREADS, threads));
    if threads.is_none_or(|threads| threads == 1.0) {
        caches_of_one_thread(Some(mean.mebi * MIB), known, &mut figure.evidence);
    }
    figure
}
