//! YCSB: lines of categories, names and values.

use figure::Figure;

use crate::command::{Command, Grammar, Setting, Style};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines("YCSB", &["[OVERALL], "], starts, Some(&COMMAND), parse);

/// bin/ycsb.
const COMMAND: Grammar = Grammar {
    programs: &["ycsb", "go-ycsb"],
    style: Style::Go,
    values: &["-P", "-p", "-threads", "-target", "-db", "-cp", "-jvm-args", "-l"],
    flags: &["-s", "-t", "-load"],
    hidden: &["-p"],
    operand: |_| true,
    operands: 0..=3,
};

const MICROSECOND: f64 = 1e-6;
/// By what share the operations may miss the rate times the time: threads end at different moments.
const ROUNDED: f64 = 0.01;
const RESULTS: &str = "YCSB counts operations without a found record as done; -target limits the rate";

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_own = |line: &str| line.starts_with("[OVERALL], ");
    rest.first().is_some_and(|line| is_own(line)) && !before.last().is_some_and(|line| is_own(line))
}

/// Category, name and value: `[READ], AverageLatency(us), 835.13`.
fn row(line: &str) -> Option<(&str, &str, &str)> {
    let (category, rest) = line.strip_prefix('[')?.split_once("], ")?;
    let (name, value) = rest.split_once(',')?;
    Some((category, name.trim(), value.trim()))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let rows: Vec<(&str, &str, &str)> = run.lines.iter().filter_map(|line| row(line)).collect();
    let value = |category: &str, name: &str| {
        rows.iter()
            .find(|(own, key, _)| *own == category && *key == name)
            .and_then(|(_, _, value)| Printed::of(value))
    };
    let rate = value("OVERALL", "Throughput(ops/sec)");
    let seconds = value("OVERALL", "RunTime(ms)").map(|time| time.times(1e-3));
    if rate.is_some_and(|rate| rate.value == 0.0) {
        return Err("counted no operation".to_owned());
    }
    // A category has its operations; READ-MODIFY-WRITE is made of a READ and an UPDATE, which are there as well.
    let counts = rows.iter().filter(|(category, name, _)| {
        *name == "Operations" && *category != "CLEANUP" && !category.starts_with("Intended-")
    });
    let kinds: Vec<(&str, f64)> =
        counts.filter_map(|(category, _, value)| Some((*category, number(value)?))).collect();
    let is_failed = |category: &str| category.ends_with("-FAILED");
    let of_failed: f64 = kinds.iter().filter(|(own, _)| is_failed(own)).map(|(_, count)| count).sum();
    let returned = |is_ok: bool| -> f64 {
        let own = rows.iter().filter(|(category, name, _)| {
            *category != "CLEANUP"
                && !is_failed(category)
                && name.starts_with("Return=")
                && (*name == "Return=OK") == is_ok
        });
        own.filter_map(|(_, _, value)| number(value)).sum()
    };
    const BOTH: &str = "READ-MODIFY-WRITE";
    let single = || kinds.iter().filter(|(own, _)| !is_failed(own) && *own != BOTH);
    let both: f64 = kinds.iter().filter(|(own, _)| *own == BOTH).map(|(_, count)| count).sum();
    let done: f64 = single().map(|(_, count)| count).sum::<f64>() - both;
    let due = rate.zip(seconds).map(|(rate, seconds)| rate.value * seconds.value);
    // Of a text that is cut off some kinds are missing.
    let is_whole = due.is_some_and(|due| (done + of_failed - due).abs() <= ROUNDED * due);
    let time: Option<f64> = single()
        .map(|(own, count)| Some(count * value(own, "AverageLatency(us)")?.value * MICROSECOND))
        .sum();
    let mean = time.filter(|_| is_whole && done > 0.0).map(|time| Printed::exact(time / done));
    let only = (single().count() == 1 && is_whole).then(|| single().next()).flatten().map(|(own, _)| *own);
    let failed = of_failed.max(returned(false));
    let (connections, connections_from) = run.command.and_then(threads).unzip();
    let load = Load {
        tool: "ycsb",
        subject: format!("line {}", run.before.len() + 1),
        rate,
        seconds,
        completed: (done + of_failed > due.unwrap_or(0.0) || is_whole).then_some(done + of_failed),
        answered: (is_whole || failed > 0.0).then_some((done - returned(false)).max(0.0)),
        failed: vec![("unspecified", failed)],
        latency: Statistics { mean, ..only.map_or(Statistics::default(), |own| of_kind(&rows, own)) },
        connections,
        connections_from: connections_from.unwrap_or_default(),
        rate_asked: run.command.and_then(target),
        idle: "whether operations began at a rate (-target)",
        results: RESULTS,
        unjudged: if only.is_none() { "latencies of single kinds of operation" } else { "" }.to_owned(),
        ..Load::default()
    };
    load.figures(known)
}

/// The latencies of a kind of operation.
fn of_kind(rows: &[(&str, &str, &str)], kind: &str) -> Statistics {
    let own = || rows.iter().filter(|(category, ..)| *category == kind);
    let time = |text: &str| Printed::of(text).map(|time| time.times(MICROSECOND));
    let of = |name: &str| own().find(|(_, key, _)| *key == name).and_then(|(_, _, value)| time(value));
    // `99thPercentileLatency(us)`, and `99.9PercentileLatency(us)`.
    let quantile = |(_, name, value): &(&str, &str, &str)| {
        let rank =
            name.strip_suffix("PercentileLatency(us)")?.trim_end_matches(['t', 'h', 's', 'n', 'd', 'r']);
        Some(((number(rank)? * 1e4).round() / 1e6, time(value)?))
    };
    Statistics {
        least: of("MinLatency(us)"),
        mean: None,
        most: of("MaxLatency(us)"),
        deviation: None,
        quantiles: own().filter_map(quantile).collect(),
    }
}

/// A property of a command: `-p threadcount=10`.
fn property(command: &Command, name: &str) -> Option<f64> {
    command
        .values(&["-p"])
        .into_iter()
        .rev()
        .find_map(|word| number(word.strip_prefix(name)?.strip_prefix('=')?))
}

/// Threads of a command: one without -threads.
fn threads(command: &Command) -> Option<(f64, String)> {
    let stated = property(command, "threadcount");
    let threads = stated.or_else(|| match command.setting(&["-threads"]) {
        Setting::Is(threads) => Some(threads),
        // A file of properties (-P) may set it.
        _ => None,
    })?;
    Some((threads, command.quote(&["-threads"])))
}

fn target(command: &Command) -> Option<Asked> {
    let stated = property(command, "target").or(match command.setting(&["-target"]) {
        Setting::Is(rate) => Some(rate),
        _ => None,
    });
    stated.filter(|rate| *rate > 0.0).map(Asked::Rate)
}
