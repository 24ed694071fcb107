//! bombardier (codesenberg/bombardier): statistics of rate and latency, counts of codes and errors; JSON with -o json.

use figure::Figure;
use serde_json::Value;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::document::exact;
use crate::format::Format;
use crate::formats::hey::kind;
use crate::known::Known;
use crate::load::{Asked, Load, answers};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, TIMES, begins, first, leads_to, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("bombardier", &["Bombarding ", "Reqs/sec"], starts, Some(&COMMAND), parse);

pub(super) const DOCUMENT: Format = Format::documents(
    "bombardier",
    &["\"numberOfConnections\""],
    is_document,
    Some(&COMMAND),
    parse_documents,
);

/// bombardier's options (args_parser.go).
const COMMAND: Grammar = Grammar {
    programs: &["bombardier"],
    style: Style::Getopt,
    values: &[
        "-c",
        "--connections",
        "-t",
        "--timeout",
        "-m",
        "--method",
        "-b",
        "--body",
        "-f",
        "--body-file",
        "--cert",
        "--key",
        "-H",
        "--header",
        "-n",
        "--requests",
        "-d",
        "--duration",
        "-r",
        "--rate",
        "-p",
        "--print",
        "-o",
        "--format",
    ],
    flags: &[
        "-l",
        "--latencies",
        "-s",
        "--stream",
        "-k",
        "--insecure",
        "-a",
        "--disableKeepAlives",
        "-q",
        "--no-print",
        "--fasthttp",
        "--http1",
        "--http2",
    ],
    hidden: &["-H", "--header", "-b", "--body"],
    operand: is_target,
    operands: 1..=1,
};
const RATE: &[&str] = &["-r", "--rate"];
const CONNECTIONS: &[&str] = &["-c", "--connections"];
/// Connections without the option (config.go).
const OPENED: f64 = 125.0;
/// By what share rate times mean may be above the connections: windows of a short run are unequal.
const BEYOND: f64 = 1.10;

/// Its rate is the mean over windows of 10 ms or more (bombardier.go, `rateMeter`), which load makes unequal.
const WINDOWS: f64 = 0.05;
/// bombardier.go, `performSingleRequest`.
const RESULTS: &str = "bombardier counts failed requests in its rate and latencies";
/// What may keep connections idle.
const LIMIT: &str = "whether -r limits the rate";

/// Lines that a report has, in order, up to that of its rate.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Bombarding "),
    |line| line.starts_with("Statistics ") && line.split_whitespace().skip(1).eq(["Avg", "Stdev", "Max"]),
    is_rate,
];
/// Lines of a report up to that of its rate: its bar may have been printed again and again.
const WITHIN: usize = 100;

fn is_rate(line: &str) -> bool {
    line.starts_with("Reqs/sec")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    // With -o json the result follows as a document.
    begins(MARKS, before, rest) && leads_to(MARKS, rest, WITHIN, is_rate)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let head = run.after("Bombarding ").unwrap_or_default();
    let connections = head.split_once(" using ").and_then(|(_, rest)| number(first(rest)?));
    let asked = head.split_once(" for ").and_then(|(_, rest)| duration(first(rest)?));
    let is_counted = asked.is_none() && head.contains(" request");
    let row = |label: &str| -> Vec<&str> {
        run.after(label).map_or(Vec::new(), |row| row.split_whitespace().take(3).collect())
    };
    let rate = row("Reqs/sec").first().and_then(|rate| Printed::of(rate));
    let time = |at: usize| with_unit(row("Latency").get(at)?, TIMES);
    let (mean, most) = (time(0), time(2));
    let codes = codes(run);
    let completed = codes.map(|codes| codes.iter().sum::<f64>());
    // Of a run with a duration the end is that of its last request.
    let timed = asked.map(|asked| Printed { value: asked, off: mean.map_or(0.0, |mean| mean.value) });
    let shown = if is_counted { elapsed(run) } else { None };
    // Otherwise no time is printed.
    let by_rate = completed.zip(rate).filter(|(_, rate)| rate.value > 0.0);
    let by_rate = by_rate.map(|(completed, rate)| Printed { value: completed / rate.value, off: 0.0 });
    let load = Load {
        runs_out: true,
        subject: head
            .split(" for ")
            .next()
            .unwrap_or_default()
            .split(" with ")
            .next()
            .unwrap_or_default()
            .to_owned(),
        rate,
        seconds: timed.or(shown).or(by_rate),
        asked_seconds: asked.map(|asked| Printed { value: asked, off: 0.0 }),
        completed: completed.filter(|_| timed.or(shown).is_some()),
        latency: Statistics { mean, most, quantiles: quantiles(run), ..Statistics::default() },
        connections,
        connections_from: connections.map_or(String::new(), |_| format!("from Bombarding {head}")),
        ..counted(codes, &errors(run))
    };
    let load = with_command(load, run);
    let is_by_rate = timed.or(shown).is_none();
    against_connections(load, is_by_rate, run).figures(known)
}

/// With the reason why the rate cannot be, where no time confirms it: so many requests at a time need more connections. The latencies, each
/// measured alone, stand.
fn against_connections(load: Load, is_by_rate: bool, run: &Run) -> Load {
    let is_old = !run.command.is_some_and(|command| command.has(&["--http2"]));
    let product = load.rate.zip(load.latency.mean).zip(load.connections);
    let beyond = product.filter(|((rate, mean), connections)| {
        is_by_rate && is_old && (rate.value - rate.off) * (mean.value - mean.off) > BEYOND * connections
    });
    let Some(((rate, mean), connections)) = beyond else { return load };
    let share = 100.0 * rate.value * mean.value / connections;
    let why = format!("a mean over windows: times the mean latency it is {share:.0} % of the connections");
    let unknown =
        "the rate is a mean over windows, and the text does not show the time of the run".to_owned();
    Load { contradiction: Some(why), is_of_rate: true, in_flight_unknown: unknown, ..load }
}

/// What text and JSON give alike: the counts of codes by their class, and others; and errors.
fn counted(codes: Option<[f64; 6]>, errors: &[(&str, f64)]) -> Load {
    let [one, two, three, four, five, others] = codes.unwrap_or_default();
    let (expected, redirected) = answers(two, three);
    let failed: f64 = errors.iter().map(|(_, count)| count).sum();
    // A body that could not be read has a code and an error.
    let (within, unnamed) = ((failed - others).max(0.0), (others - failed).max(0.0));
    let mut kinds: Vec<(&'static str, f64)> =
        errors.iter().map(|(text, count)| (kind(text), *count)).collect();
    kinds.push(("status", one + redirected + four + five + unnamed));
    Load {
        tool: "bombardier",
        answered: codes.map(|_| (expected - within).max(0.0)),
        failed: kinds,
        sampled: WINDOWS,
        results: RESULTS,
        unjudged: "spread of the rate".to_owned(),
        ..Load::default()
    }
}

/// With what only the command shows.
fn with_command(load: Load, run: &Run) -> Load {
    let Some(command) = run.command else { return Load { idle: LIMIT, ..load } };
    let rate_asked = match command.setting(RATE) {
        Setting::Is(rate) => Some(Asked::Rate(rate)),
        Setting::Unknown if command.has(RATE) => Some(Asked::Unstated),
        _ => None,
    };
    let idle = if command.whole { "" } else { LIMIT };
    // The first line, which has them, may be lost.
    let (connections, connections_from) = match load.connections {
        Some(own) => (Some(own), load.connections_from.clone()),
        None => (command.setting(CONNECTIONS).or(OPENED), command.quote(CONNECTIONS)),
    };
    Load { rate_asked, idle, connections, connections_from, ..load }
}

/// Numbers behind `1xx - `, `2xx - ` and so on, and `others - `.
fn codes(run: &Run) -> Option<[f64; 6]> {
    let line = run.lines.iter().find(|line| line.starts_with("1xx - "))?;
    let mut all = [0.0; 6];
    for (part, count) in line.split(", ").zip(&mut all) {
        *count = number(part.split_once(" - ")?.1)?;
    }
    all[5] = run.number("others - ")?;
    Some(all)
}

/// Lines such as `dial tcp: missing address - 18155558` below "Errors:".
fn errors<'a>(run: &Run<'a>) -> Vec<(&'a str, f64)> {
    let below = run.lines.iter().skip_while(|line| **line != "Errors:").skip(1);
    let of = |line: &&'a str| {
        let (text, count) = line.rsplit_once(" - ")?;
        Some((text, number(count)?))
    };
    below.take_while(|line| !line.starts_with("Throughput:")).filter_map(of).collect()
}

/// Lines such as `50%   250.00us`.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some((number(quantile)? / 100.0, with_unit(latency.trim(), TIMES)?))
    };
    run.lines.iter().filter_map(of).collect()
}

/// The time behind the full bar of a run with a number of requests, which drops parts of a second.
fn elapsed(run: &Run) -> Option<Printed> {
    let bar = run.lines.iter().find(|line| line.contains("] 100.00%"))?;
    let seconds = bar.split_whitespace().rev().find_map(duration).filter(|seconds| *seconds >= 1.0)?;
    Some(Printed { value: seconds + 0.5, off: 0.5 })
}

/// A time as Go prints it, in seconds: `1m30s`, `500ms`.
fn duration(text: &str) -> Option<f64> {
    crate::duration::duration(text, 9).map(|time| time.value)
}

fn is_document(document: &Value) -> bool {
    document["spec"]["numberOfConnections"].is_number() && document["result"]["req2xx"].is_number()
}

fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let all: Result<Vec<_>, _> =
        documents.iter().map(|document| of_document(document).figures(known)).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// One run in JSON. Latencies are in microseconds (internal/test_info.go).
fn of_document(document: &Value) -> Load {
    let (spec, result) = (&document["spec"], &document["result"]);
    let seconds = |value: &Value| exact(value).map(|microseconds| microseconds.times(1e-6));
    let count = |name: &str| exact(&result[name]).map_or(0.0, |count| count.value);
    let codes = ["req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others"].map(count);
    let errors = result["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let errors: Vec<(&str, f64)> = errors
        .iter()
        .filter_map(|error| Some((error["description"].as_str()?, exact(&error["count"])?.value)))
        .collect();
    let latency = &result["latency"];
    let quantiles = latency["percentiles"].as_object().into_iter().flatten();
    let quantiles = quantiles.filter_map(|(name, value)| Some((number(name)? / 100.0, seconds(value)?)));
    Load {
        subject: spec["url"].as_str().unwrap_or_default().to_owned(),
        rate: exact(&result["rps"]["mean"]),
        seconds: exact(&result["timeTakenSeconds"]),
        asked_seconds: exact(&spec["testDurationSeconds"]),
        completed: Some(codes.iter().sum()),
        latency: Statistics {
            mean: seconds(&latency["mean"]),
            most: seconds(&latency["max"]),
            quantiles: quantiles.collect(),
            ..Statistics::default()
        },
        connections: exact(&spec["numberOfConnections"]).map(|connections| connections.value),
        connections_from: "from numberOfConnections".to_owned(),
        rate_asked: exact(&spec["rate"]).map(|rate| Asked::Rate(rate.value)),
        ..counted(Some(codes), &errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_go_prints_them() {
        assert_eq!(duration("1m30s"), Some(90.0));
        assert_eq!(duration("500ms"), Some(0.5));
        assert_eq!(duration("10s"), Some(10.0));
        for text in ["", "s", "10", "1m30", "-1s", "1e400s", "ms10"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
