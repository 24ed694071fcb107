//! Phoronix Test Suite: the results that it prints while it runs: the runs of a test, their mean and deviation.

use figure::evidence::audit::UNJUDGED;
use figure::format::plain_to;
use figure::{Better, Convention, Figure, Unit};

use crate::MAX_SUBJECT;
use crate::format::Format;
use crate::formats::memory::{MIB, Words, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, bytes, number};

pub(super) const FORMAT: Format = Format::lines(
    "Phoronix Test Suite",
    &["Estimated Trial Run Count:", "Started Run "],
    starts,
    None,
    parse,
);

/// Units in which it prints results, ours, and what a number is multiplied by.
const UNITS: &[(&str, Unit, f64, Better)] = &[
    ("MB/s", Unit::GB_PER_S, 1e-3, Better::Higher),
    ("MiB/s", Unit::GB_PER_S, MIB / 1e9, Better::Higher),
    ("MiB/sec", Unit::GB_PER_S, MIB / 1e9, Better::Higher),
    ("GB/s", Unit::GB_PER_S, 1.0, Better::Higher),
    ("MIPS", Unit::of("MIPS"), 1.0, Better::Higher),
    ("MFLOPS", Unit::of("MFLOPS"), 1.0, Better::Higher),
    ("GFLOPS", Unit::of("GFLOPS"), 1.0, Better::Higher),
    ("GFLOP/s", Unit::of("GFLOPS"), 1.0, Better::Higher),
    ("Mop/s", Unit::of("Mop/s"), 1.0, Better::Higher),
    ("Total Mop/s", Unit::of("Mop/s"), 1.0, Better::Higher),
    ("Seconds", Unit::SECONDS, 1.0, Better::Lower),
    ("Milliseconds", Unit::of("ms"), 1.0, Better::Lower),
    ("ms", Unit::of("ms"), 1.0, Better::Lower),
    ("Microseconds", Unit::of("us"), 1.0, Better::Lower),
    ("Nanoseconds", Unit::NANOSECONDS, 1.0, Better::Lower),
    ("ns", Unit::NANOSECONDS, 1.0, Better::Lower),
    ("Ns Per Event", Unit::NANOSECONDS, 1.0, Better::Lower),
    ("Requests Per Second", Unit::REQ_PER_S, 1.0, Better::Higher),
    ("Events Per Second", Unit::PER_S, 1.0, Better::Higher),
    ("Frames Per Second", Unit::PER_S, 1.0, Better::Higher),
    ("Iterations Per Second", Unit::PER_S, 1.0, Better::Higher),
    ("Iterations/Sec", Unit::PER_S, 1.0, Better::Higher),
    ("Operations Per Second", Unit::PER_S, 1.0, Better::Higher),
    ("Ops/sec", Unit::PER_S, 1.0, Better::Higher),
    ("Nodes Per Second", Unit::PER_S, 1.0, Better::Higher),
    ("Ns Per Day", Unit::of("ns/day"), 1.0, Better::Higher),
    ("Score", Unit::of("score"), 1.0, Better::Higher),
];
/// Tests that measure memory.
const OF_MEMORY: &[&str] =
    &["stream", "tinymembench", "mbw", "ramspeed", "cachebench", "sysbench", "bandwidth"];
/// The most results of one run, and runs of one result.
const MOST_RESULTS: usize = 200;
const MOST_RUNS: usize = 500;
/// Percentage points by which a printed deviation may miss that of the runs: it is of all runs, or of the runs but one.
const DEVIATION_APART: f64 = 1.0;

/// `pts/stream-1.3.4 [Type: Copy]`: its name without the version, and the options.
fn profile(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (_, name) = name.split_once('/')?;
    let (name, version) = name.rsplit_once('-')?;
    let is_version =
        version.contains('.') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_version && !name.contains('/')).then(|| (name, rest.trim().trim_matches(['[', ']'])))
}

/// Whether a test begins here: its profile, and soon how often it is to run.
fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| profile(line).is_some())
        && rest.iter().skip(1).take(4).any(|line| line.starts_with("Estimated Trial Run Count:"))
}

/// `Average: 10696 MIPS`.
fn average(line: &str) -> Option<(Printed, &str)> {
    let (value, unit) = line.strip_prefix("Average:")?.trim().split_once(' ')?;
    Some((Printed::of(value)?, unit.trim()))
}

/// The lines of a result, which end in its mean: its title, and its runs.
fn result<'a>(lines: &[&'a str]) -> (&'a str, Vec<f64>) {
    let mut runs = Vec::new();
    let mut title = "";
    for line in lines.iter().rev().take(MOST_RUNS).filter(|line| !line.is_empty()) {
        match number(line) {
            Some(value) => runs.push(value),
            None => {
                title = line;
                break;
            }
        }
    }
    runs.reverse();
    (title.strip_suffix(':').unwrap_or_default(), runs)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let (test, options) = run.lines.first().and_then(|line| profile(line)).ok_or("has no profile")?;
    let mut words = Words::default();
    let (mut figures, mut others) = (Vec::new(), Vec::new());
    for (at, line) in run.lines.iter().enumerate() {
        let Some((mean, unit)) = average(line) else { continue };
        if figures.len() >= MOST_RESULTS {
            others.push(format!("results from {mean:?} on", mean = mean.value));
            break;
        }
        let (title, runs) = result(&run.lines[..at]);
        let title = if title.is_empty() || title == "Test Results" { options } else { title };
        let title = if title.is_empty() { "result" } else { title };
        let Some((_, own, factor, better)) = UNITS.iter().find(|(name, ..)| *name == unit) else {
            others.push(format!("{title} in {unit}"));
            continue;
        };
        let mean_of = runs.iter().sum::<f64>() / runs.len().max(1) as f64;
        let variance =
            runs.iter().map(|value| (value - mean_of).powi(2)).sum::<f64>() / (runs.len().max(2) - 1) as f64;
        let error =
            (runs.len() > 1 && mean_of > 0.0).then(|| (variance / runs.len() as f64).sqrt() / mean_of);
        let printed = run.lines[at..]
            .iter()
            .take(3)
            .find_map(|line| number(line.strip_prefix("Deviation:")?.trim().strip_suffix('%')?));
        let off = mean.off.max(mean.value * 1e-3);
        let contradiction = if !runs.is_empty() && (mean_of - mean.value).abs() > off {
            Some(format!("the mean of the runs is {mean_of}, and {} is printed", mean.value))
        } else {
            let own = 100.0 * variance.sqrt() / mean_of;
            printed
                .filter(|printed| runs.len() > 1 && (printed - own).abs() > DEVIATION_APART + 0.5 * own)
                .map(|printed| format!("the deviation of the runs is {own:.2} %, and {printed} % is printed"))
        };
        let is_memory = OF_MEMORY.contains(&test) && *own == Unit::GB_PER_S;
        // Of mbw the options hold the size: `Test: Memory Copy - Array Size: 1024 MiB`.
        let size = options.split_once("Array Size: ").and_then(|(_, size)| {
            bytes(&size.split(" - ").next()?.replace(' ', ""), 1024.0).map(|size| size.value)
        });
        let memory = is_memory.then(|| Memory {
            kernel: kernel(title),
            array: size.filter(|size| *size > 0.0),
            counted: 8.0,
            convention: Some(Convention::Copied),
            missing: "the text does not show the arrays that the test used",
            ..Memory::default()
        });
        let quantity = Quantity {
            subject: options.to_owned(),
            contradiction,
            error_of_mean: error,
            repetitions: (!runs.is_empty()).then_some(runs.len() as f64),
            single: runs,
            memory,
            ..Quantity::of(
                "phoronix",
                words.unique(format!("{}.{}", word(test), word(title))),
                format!("{title} of {test} by Phoronix Test Suite"),
                mean.times(*factor),
                own.clone(),
                *better,
            )
        };
        figures.push(quantity.figure(known));
    }
    let first = figures.first_mut().ok_or_else(|| match others.as_slice() {
        [] => "has no line of a mean (\"Average:\")".to_owned(),
        all => format!(
            "has only results in units that are not known: {}",
            plain_to(&all.join("; "), MAX_SUBJECT)
        ),
    })?;
    if !others.is_empty() {
        first.evidence.put(UNJUDGED, plain_to(&others.join("; "), MAX_SUBJECT));
    }
    Ok(figures)
}

fn kernel(title: &str) -> &'static str {
    let title = title.to_ascii_lowercase();
    let all = [
        ("copy", "copy"),
        ("scale", "scale"),
        ("add", "add"),
        ("triad", "triad"),
        ("read", "read"),
        ("write", "write"),
    ];
    all.iter().find(|(word, _)| title.contains(word)).map_or("mix", |(_, kernel)| kernel)
}
