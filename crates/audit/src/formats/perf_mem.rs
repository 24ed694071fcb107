//! `perf bench mem`: memcpy, memset and mmap by their functions, and find_bit.

use figure::evidence::{CLOCK_GRANULARITY, SAMPLE_SHORTEST};
use figure::{Better, Convention, Figure, Unit};

use crate::SUITE;
use crate::command::{Command, Grammar, Setting, Style};
use crate::format::Format;
use crate::formats::memory::{MIB, MOST_ROWS, Words, caches_of_fast_core, smallest_caches, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{NEAR, Printed, bytes, number};

pub(super) const FORMAT: Format = Format::lines(
    "perf bench mem",
    &["Running mem/", "Running 'mem/", "# Copying ", "for_each_set_bit took"],
    starts,
    Some(&COMMAND),
    parse,
);

/// perf-bench(1).
const COMMAND: Grammar = Grammar {
    programs: &["perf"],
    style: Style::Getopt,
    values: &[
        "-s",
        "--size",
        "-l",
        "--nr_loops",
        "-f",
        "--function",
        "--format",
        "-p",
        "--page",
        "-k",
        "--chunk",
        "-t",
        "--threads",
        "-r",
        "--repeat",
        "-i",
        "-j",
    ],
    flags: &["-c", "--cycles"],
    hidden: &[],
    operand: |word| {
        matches!(
            word.text.as_str(),
            "bench" | "mem" | "all" | "memcpy" | "memset" | "mmap" | "find_bit" | "mem/memcpy" | "mem/memset"
        )
    },
    operands: 2..=3,
};

/// Lines from a function to its result, and back to the test that it is of.
const RESULT_LINES: usize = 8;
const TEST_LINES: usize = 400;
/// Lines of all functions of a test: six for each of at most ten.
const FUNCTION_LINES: usize = 60;
/// What gettimeofday(2) resolves, by which perf times.
const TICK: f64 = 1e-6;
/// Units of a result; a mistake in perf's format puts a d behind the number of KB.
const UNITS: &[(&str, f64)] = &[
    ("bytes/sec", 1.0),
    ("b/sec", 1.0),
    ("kb/sec", 1024.0),
    ("mb/sec", MIB),
    ("gb/sec", 1024.0 * MIB),
    ("tb/sec", MIB * MIB),
];

/// A line without the mark that perf puts before what is no result.
fn bare(line: &str) -> &str {
    line.trim_start_matches("# ").trim()
}

fn test(line: &str) -> Option<&str> {
    let rest = bare(line).strip_prefix("Running ")?.trim_start_matches('\'');
    let name = rest.strip_prefix("mem/")?.split(['\'', ' ']).next()?;
    (!name.is_empty()).then_some(name)
}

fn function(line: &str) -> Option<&str> {
    let (name, _) = bare(line).strip_prefix("function '")?.split_once('\'')?;
    Some(name)
}

/// `Copying 1MB bytes ...`, before Linux 4.5 `Copying 1MB Bytes ...`.
fn size(line: &str) -> Option<f64> {
    let text = bare(line).strip_prefix("Copying ")?.split_whitespace().next()?.to_ascii_uppercase();
    bytes(&text, 1024.0).map(|size| size.value).filter(|size| *size > 0.0)
}

/// `Copying 1MB bytes ...` of perf, and of nothing else.
fn is_copying(line: &str) -> bool {
    size(line).is_some() && line.to_ascii_lowercase().contains(" bytes")
}

fn bits(line: &str) -> Option<(f64, f64, f64)> {
    let words: Vec<&str> = line.split_whitespace().take(9).collect();
    let [count, "operations", set, "bits", "set", "of", all, "bits"] = words.as_slice() else { return None };
    Some((number(count)?, number(set)?, number(all)?)).filter(|(count, ..)| *count > 0.0)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if test(line).is_some() {
        return true;
    }
    let last = before.iter().rev().take(NEAR).find(|line| !line.is_empty());
    let follows = |is: &dyn Fn(&str) -> bool| last.is_some_and(|line| is(line));
    if let Some(name) = function(line) {
        return !is_another(name, before) && rest.iter().take(RESULT_LINES).any(|line| is_result(line));
    }
    if is_copying(line) && rest.iter().take(RESULT_LINES).skip(1).any(|line| is_result(line)) {
        return !follows(&|line| test(line).is_some() || function(line).is_some());
    }
    // Of find_bit, one run for all lines.
    let Some((_, set, all)) = bits(line) else { return false };
    let near = before.iter().rev().take(3 * RESULT_LINES);
    match near.clone().find_map(|line| bits(line)) {
        // Their numbers rise within a run.
        Some((_, other, of)) => of > all || of == all && other >= set,
        None => !near.take(2).any(|line| test(line).is_some()),
    }
}

/// Whether a function is another of the run above it: only results stand between them, and none is of the same function.
fn is_another(name: &str, before: &[&str]) -> bool {
    let mut has_function = false;
    for line in before.iter().rev().take(FUNCTION_LINES) {
        if test(line).is_some() {
            return true;
        }
        match function(line) {
            Some(other) if other == name => return false,
            Some(_) => has_function = true,
            None if line.is_empty() || is_copying(line) || is_result(line) => {}
            None => break,
        }
    }
    has_function
}

/// What a run printed: bytes a second, or cycles for a byte.
enum Outcome {
    Rate(Printed),
    Cycles(Printed),
}

fn outcome(line: &str) -> Option<(Outcome, bool)> {
    let mut words = line.split_whitespace();
    let value = Printed::of(words.next()?.trim_end_matches('d'));
    let Some(unit) = words
        .next()
        .map(|unit| unit.split("/thread").next().unwrap_or(unit).trim_end_matches('.').to_ascii_lowercase())
    else {
        // --format=simple: bytes a second alone.
        return value.filter(|_| line.contains('.')).map(|value| (Outcome::Rate(value), false));
    };
    let is_prefaulted = line.contains("(with prefault)");
    if matches!(unit.as_str(), "cycles/byte" | "clock/byte") {
        return Some((Outcome::Cycles(value?), is_prefaulted));
    }
    let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    Some((Outcome::Rate(value?.times(factor)), is_prefaulted))
}

fn is_result(line: &str) -> bool {
    outcome(line).is_some()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let test = run.lines.first().and_then(|line| test(line));
    let before = || run.before.iter().rev().take(TEST_LINES).find_map(|line| self::test(line));
    let test = test.or_else(before).unwrap_or("copy");
    let figures = if run.lines.iter().any(|line| bits(line).is_some()) {
        find_bit(run, known)
    } else {
        copies(run, test, known)
    };
    if figures.is_empty() { Err("has no line of a bandwidth".to_owned()) } else { Ok(figures) }
}

/// Results of one test, each with the function and the size before it.
fn copies(run: &Run, test: &str, known: &Known) -> Vec<Figure> {
    let mut words = Words::default();
    let mut figures = Vec::new();
    let (mut own, mut bytes) = (None, None);
    let is_x86 = run.lines.iter().any(|line| line.contains("x86-64"));
    let is_x86 = is_x86
        || run.before.iter().rev().take(RESULT_LINES * 2).any(|line| line.contains("function 'x86-64"));
    for line in run.lines {
        if let Some(name) = function(line) {
            own = Some(name);
        } else if let Some(size) = size(line) {
            bytes = Some(size);
        } else if let Some((outcome, is_prefaulted)) =
            outcome(line).filter(|_| own.is_some() || bytes.is_some())
        {
            if figures.len() >= MOST_ROWS {
                break;
            }
            let name = own.unwrap_or("default");
            let part =
                format!("{}.{}{}", word(test), word(name), if is_prefaulted { ".prefault" } else { "" });
            let copy = Copy { test, name, bytes, is_x86, command: run.command };
            figures.push(copy.figure(words.unique(part), outcome, known));
        } else if !line.is_empty() && !line.starts_with('#') {
            // The lines of another test.
            if !figures.is_empty() {
                break;
            }
        }
    }
    figures
}

struct Copy<'a> {
    test: &'a str,
    name: &'a str,
    bytes: Option<f64>,
    is_x86: bool,
    command: Option<&'a Command>,
}

impl Copy<'_> {
    fn figure(&self, part: String, outcome: Outcome, known: &Known) -> Figure {
        let name = format!("{} ({}) by perf bench mem", self.test, self.name);
        // mmap is timed with the faults of its pages.
        let is_copy = self.test != "mmap";
        let asked = self.command.and_then(|command| match command.setting(&["-s", "--size"]) {
            Setting::Is(bytes) => Some(bytes),
            _ => None,
        });
        let array = self.bytes.or(asked);
        let memory = Memory {
            kernel: if self.test == "memset" { "write" } else { "copy" },
            array,
            counted: 8.0,
            convention: Some(Convention::Copied),
            missing: "the text does not show the size (\"Copying 1MB bytes\")",
            ..Memory::default()
        };
        let memory = is_copy.then_some(memory);
        let of = |value: Printed, unit: Unit, better: Better| {
            let quantity = Quantity::of("perf-mem", part, name, value, unit, better);
            Quantity { threads: Some(1.0), memory, ..quantity }.figure(known)
        };
        let (mut figure, rate) = match outcome {
            Outcome::Rate(rate) => (of(rate.times(1e-9), Unit::GB_PER_S, Better::Higher), rate.value),
            Outcome::Cycles(cycles) => (of(cycles, Unit::of("cycles/B"), Better::Lower), 0.0),
        };
        if is_copy {
            smallest_caches(array, 1.0, known, &mut figure.evidence);
            caches_of_fast_core(array, rate, self.is_x86, known, &mut figure.evidence);
        }
        // One loop is timed, unless the command asks for more.
        let loops = self.command.and_then(|command| command.setting(&["-l", "--nr_loops"]).or(1.0));
        if let (Some(array), Some(loops), Some(round), true) =
            (array, loops, figure.rounds.first_mut(), rate > 0.0)
        {
            round.evidence.put(SAMPLE_SHORTEST, array * loops / rate);
            figure.evidence.put(CLOCK_GRANULARITY, TICK);
        }
        figure
    }
}

/// Times of all operations on a set of bits, with the error of their mean (tools/perf/util/stat.c: stddev_stats).
fn find_bit(run: &Run, known: &Known) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let mut words = Words::default();
    let mut own = None;
    for line in run.lines {
        if let Some(found) = bits(line) {
            own = Some(found);
            continue;
        }
        let (Some((operations, set, all)), Some((what, rest))) =
            (own, line.strip_prefix("Average ").and_then(|rest| rest.split_once(" took:")))
        else {
            continue;
        };
        let mut numbers = rest.split_whitespace();
        let Some(time) = numbers.next().and_then(Printed::of).filter(|_| numbers.next() == Some("usec"))
        else {
            continue;
        };
        let error = rest.split_once("(+-").and_then(|(_, error)| number(error.split_whitespace().next()?));
        if figures.len() >= MOST_ROWS {
            break;
        }
        let what = if what.starts_with("test_bit") { "test-bit" } else { "next-bit" };
        let part = words.unique(format!("find-bit.{set}-of-{all}.{what}"));
        let name = format!("{what}, {set} of {all} bits, {operations} times, by perf bench mem");
        let quantity = Quantity {
            operation: Some(time.times(1e-6 / operations)),
            error_of_mean: error.filter(|_| time.value > 0.0).map(|error| error / time.value),
            threads: Some(1.0),
            ..Quantity::of("perf-mem", part, name, time, Unit::of("µs"), Better::Lower)
        };
        let mut figure = quantity.figure(known);
        figure.series = Some(format!("{SUITE}.perf-mem.find-bit.{what}"));
        figures.push(figure);
    }
    figures
}
