//! sysbench's tests of the processor, of threads and of mutexes: events a second, and their times.

use figure::evidence::TEST_CLASS;
use figure::evidence::audit::{THREAD_SPREAD, UNJUDGED};
use figure::{Better, Figure, Status, Unit};

use crate::format::Format;
use crate::formats::sysbench::{COMMAND, LEAST, latency, seconds, spread, threads};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::has_quantile;
use crate::text::{Printed, begins};

pub(super) const CPU: Format = Format::lines(
    "sysbench cpu",
    &["Prime numbers limit:", "Doing CPU performance benchmark", "Maximum prime number checked in CPU test"],
    starts_cpu,
    Some(&COMMAND),
    |run, known| {
        parse(
            run,
            known,
            &Test { word: "sysbench-cpu", name: "test of the processor", is_fair: true, is_once: false },
        )
    },
);
pub(super) const THREADS: Format = Format::lines(
    "sysbench threads",
    &["Doing thread subsystem performance test", "Thread yields per test:"],
    starts_threads,
    Some(&COMMAND),
    |run, known| {
        parse(
            run,
            known,
            &Test { word: "sysbench-threads", name: "test of threads", is_fair: false, is_once: false },
        )
    },
);
pub(super) const MUTEX: Format = Format::lines(
    "sysbench mutex",
    &["Doing mutex performance test"],
    starts_mutex,
    Some(&COMMAND),
    |run, known| {
        parse(
            run,
            known,
            &Test { word: "sysbench-mutex", name: "test of mutexes", is_fair: false, is_once: true },
        )
    },
);

/// A report without the lines of its test.
pub(super) const ANY: Format = Format::lines(
    "sysbench",
    &["General statistics:", "Test execution summary:"],
    starts_any,
    Some(&COMMAND),
    |run, known| {
        parse(run, known, &Test { word: "sysbench-run", name: "test", is_fair: false, is_once: false })
    },
);

/// Since 1.0 the tests of threads and mutexes print no line of their own (without --verbosity=4): the command before tells which it is.
const COMMAND_WITHIN: usize = 16;
/// Lines of a report.
const REPORT_LINES: usize = 24;

struct Test {
    word: &'static str,
    name: &'static str,
    /// Whether every thread has the same work for the same time.
    is_fair: bool,
    /// Whether each thread does one event: then the time is the figure.
    is_once: bool,
}

fn is_report(line: &str) -> bool {
    is_summary(line) || line.starts_with("Throughput:")
}

/// What a report of one test has once.
fn is_summary(line: &str) -> bool {
    line.starts_with("General statistics:") || line.starts_with("Test execution summary:")
}

const CPU_KINDS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Doing CPU performance benchmark"),
    |line| {
        line.starts_with("Prime numbers limit:")
            || line.starts_with("Primer numbers limit:")
            || line.starts_with("Maximum prime number checked in CPU test")
    },
    |line| line.starts_with("CPU speed:"),
    |line| line.starts_with("events per second:"),
];

fn starts_cpu(before: &[&str], rest: &[&str]) -> bool {
    begins(CPU_KINDS, before, rest)
}

fn starts_threads(before: &[&str], rest: &[&str]) -> bool {
    let kinds: &[fn(&str) -> bool] = &[
        |line| line.starts_with("Doing thread subsystem performance test"),
        |line| line.starts_with("Thread yields per test:"),
    ];
    begins(kinds, before, rest) || is_bare(before, rest, "threads")
}

fn starts_mutex(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.starts_with("Doing mutex performance test"))
        || is_bare(before, rest, "mutex")
}

/// A report with its times, of no test that prints more.
fn starts_any(before: &[&str], rest: &[&str]) -> bool {
    let has = |label: &str| rest.iter().take(REPORT_LINES).any(|line| line.starts_with(label));
    rest.first().is_some_and(|line| is_summary(line))
        && has("total time:")
        && has("total number of events:")
        && !before
            .iter()
            .rev()
            .take(REPORT_LINES)
            .take_while(|line| !is_summary(line))
            .any(|line| is_of_test(line))
        && !["threads", "mutex"].iter().any(|test| is_bare(before, rest, test))
}

/// A line of a test that has a reader of its own, or that prints more than its events.
fn is_of_test(line: &str) -> bool {
    CPU_KINDS.iter().any(|is| is(line))
        || is_report(line)
        || [
            "Doing ",
            "SQL statistics:",
            "OLTP test statistics:",
            "transactions:",
            "ignored errors:",
            "File operations:",
            "Running memory speed test",
        ]
        .iter()
        .any(|head| line.starts_with(head))
        || line.contains(" transferred (")
}

/// Whether a report begins here, without a line of a test before it, of the test that the command names.
fn is_bare(before: &[&str], rest: &[&str], test: &str) -> bool {
    if !rest.first().is_some_and(|line| is_report(line)) {
        return false;
    }
    let near = || before.iter().rev().take(COMMAND_WITHIN + REPORT_LINES);
    let calls = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.ends_with("sysbench"));
        let option = format!("--test={test}");
        at.is_some_and(|at| words[at + 1..].contains(&test) || words[at + 1..].contains(&option.as_str()))
            && words.contains(&"run")
    };
    near().take_while(|line| !is_of_test(line)).any(calls)
}

fn parse(run: &Run, known: &Known, test: &Test) -> Result<Vec<Figure>, String> {
    let events = run.number("total number of events:");
    let seconds = seconds(run);
    let computed = events.zip(seconds).map(|(events, seconds)| {
        let value = events / seconds.value;
        Printed { value, off: value * seconds.share() }
    });
    let printed = run.printed("events per second:").or(run.printed("events/s (eps):"));
    let rate =
        printed.or(computed).ok_or("has no events a second, and not both their number and the time")?;
    let samples = latency(run);
    let threads = threads(run);
    let common = |part: &str, name: &str, value: Printed, unit: Unit, better: Better| Quantity {
        seconds: seconds.map(|seconds| seconds.value),
        least_seconds: Some(LEAST),
        threads,
        ..Quantity::of(
            test.word,
            part.to_owned(),
            format!("{name} by sysbench's {}", test.name),
            value,
            unit,
            better,
        )
    };
    let mut figures = Vec::new();
    if rate.value == 0.0 {
        let mut figure = common("rate", "events a second", rate, Unit::PER_S, Better::Higher).figure(known);
        (figure.status, figure.reason) = (Status::Failed, Some("sysbench counted no event".to_owned()));
        figure.rounds.clear();
        return Ok(vec![figure]);
    }
    if test.is_once {
        let time = seconds.ok_or("has no line of the total time")?;
        figures.push(common("time", "time", time, Unit::SECONDS, Better::Lower).figure(known));
    } else {
        let quantity = common("rate", "events a second", rate, Unit::PER_S, Better::Higher);
        let again = computed.filter(|_| printed.is_some());
        figures.push(Quantity { again, ..quantity }.figure(known));
    }
    if let Some(spread) = spread(run).filter(|_| test.is_fair)
        && let Some(round) = figures.first_mut().and_then(|figure| figure.rounds.first_mut())
    {
        round.evidence.put(THREAD_SPREAD, spread);
    }
    let time = |value: Printed| value.times(1e3);
    if let Some(mean) = samples.mean.filter(|mean| mean.value > 0.0) {
        let quantity = common("mean", "mean time of an event", time(mean), Unit::of("ms"), Better::Lower);
        let in_turn = (!test.is_once).then_some(rate);
        figures.push(
            Quantity { samples: samples.clone(), in_turn, operation: Some(mean), ..quantity }.figure(known),
        );
    }
    let mut unjudged = Vec::new();
    for (rank, value) in &samples.quantiles {
        let percent = (rank * 100.0).round();
        if let Some(events) = events.filter(|events| !has_quantile(*events, *rank)) {
            unjudged.push(format!("p{percent} of {events} events"));
            continue;
        }
        let name = format!("{percent}th percentile of the time of an event");
        let quantity = common(&format!("p{percent}"), &name, time(*value), Unit::of("ms"), Better::Lower);
        figures.push(Quantity { samples: samples.clone(), quantile: Some(*rank), ..quantity }.figure(known));
    }
    // Its threads look for primes, each for itself.
    if let Some(first) = figures.first_mut().filter(|_| test.is_fair) {
        first.conditions.set(TEST_CLASS, "compute".to_owned());
    }
    let has = |head: &str| run.lines.iter().any(|line| line.starts_with(head));
    let others = [
        ("Latency histogram", "the histogram of latencies"),
        ("File operations:", "rates of files (fileio)"),
    ];
    unjudged.extend(others.iter().filter(|(head, _)| has(head)).map(|(_, what)| (*what).to_owned()));
    if let Some(first) = figures.first_mut().filter(|_| !unjudged.is_empty()) {
        first.evidence.put(UNJUDGED, unjudged.join("; "));
    }
    Ok(figures)
}
