//! autocannon (mcollina/autocannon): a table of latencies and one of samples of the rate; JSON with --json.

mod document;

use figure::Figure;
use figure::evidence::audit::CONTRADICTION;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, is_alone, leads_to, number, thousands};

pub(super) const FORMAT: Format =
    Format::lines("autocannon", &[" test @", "Req/Sec", "Bytes/Sec"], starts, Some(&COMMAND), parse);

pub(super) const DOCUMENT: Format = Format::documents(
    "autocannon",
    &["\"pipelining\""],
    document::is_document,
    Some(&COMMAND),
    document::parse_documents,
);

/// A result as Node.js prints an object.
pub(super) const OBJECT: Format = Format::lines(
    "autocannon",
    &["pipelining: "],
    document::starts_object,
    Some(&COMMAND),
    document::parse_object,
);

/// autocannon's options (autocannon.js).
const COMMAND: Grammar = Grammar {
    programs: &["autocannon"],
    style: Style::Getopt,
    values: &[
        "-c",
        "--connections",
        "-p",
        "--pipelining",
        "-d",
        "--duration",
        "-a",
        "--amount",
        "-L",
        "--sampleInt",
        "-S",
        "--socketPath",
        "-w",
        "--workers",
        "-m",
        "--method",
        "-t",
        "--timeout",
        "-T",
        "--title",
        "-b",
        "--body",
        "-F",
        "--form",
        "-i",
        "--input",
        "-H",
        "--headers",
        "--header",
        "--har",
        "-B",
        "--bailout",
        "-M",
        "--maxConnectionRequests",
        "-O",
        "--maxOverallRequests",
        "-r",
        "--connectionRate",
        "-R",
        "--overallRate",
        "-D",
        "--reconnectRate",
        "-s",
        "--servername",
        "-E",
        "--expectBody",
        "--cert",
        "--key",
        "--ca",
    ],
    flags: &[
        "-C",
        "--ignoreCoordinatedOmission",
        "-n",
        "--no-progress",
        "-l",
        "--latency",
        "--renderLatencyTable",
        "-I",
        "--idReplacement",
        "-j",
        "--json",
        "-f",
        "--forever",
        "-x",
        "--excludeErrorStats",
        "--renderStatusCodes",
        "--on-port",
        "--debug",
        "-V",
        "--verbose",
    ],
    hidden: &["-H", "--headers", "--header", "-b", "--body", "-F", "--form"],
    operand: is_target,
    operands: 1..=1,
};
const OVERALL: &[&str] = &["-R", "--overallRate"];
const EACH: &[&str] = &["-r", "--connectionRate"];

/// Latencies are counted in whole milliseconds (lib/histUtil.js).
const MILLISECOND: f64 = 1e-3;
/// The rate is the mean of samples, which a busy client takes late.
const SAMPLED: f64 = 0.05;
/// From this share of errors on it is not known which requests the count of a report is of.
const ERRORS: f64 = 0.01;
/// How often the rate may be more than it is printed where one sample holds a run with a number of requests.
const UNBOUNDED: f64 = 1e3;
/// By what share rate times mean may miss what is in flight.
const NEAR: f64 = 0.25;
const RESULTS: &str = "autocannon has no latency of a timeout";
/// Connections by the command, and without the option (autocannon.js).
const ASKED: &[&str] = &["-c", "--connections"];
const OPENED: f64 = 10.0;
/// What may keep connections idle.
const LIMIT: &str = "whether -r or -R limits the rate";
/// Lines of a report between its first and that of its rate.
const WITHIN: usize = 60;

/// The first line of a report, which wrk has too.
fn is_head(line: &str) -> bool {
    line.starts_with("Running ") && (line.contains(" test @") || is_warmup(line))
}

/// Of a warm-up the connections are printed, and no result.
fn is_warmup(line: &str) -> bool {
    line.contains(" warmup @")
}

/// `10 connections`, `100 connections with 10 pipelining factor`.
fn is_connections(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let counts =
        words.next().is_some_and(|count| number(count).is_some()) && words.next() == Some("connections");
    counts && matches!(words.next(), None | Some("with"))
}

/// The numbers of a row of a table behind its label, without borders and units. What is no number is `None`.
fn row(line: &str, label: &str) -> Option<Vec<Option<Printed>>> {
    let rest = line.strip_prefix(label)?;
    let cells = rest.split(|c: char| c.is_whitespace() || "│|┃║".contains(c));
    let cells = cells.filter(|cell| !cell.is_empty() && !matches!(*cell, "ms" | "(ms)"));
    Some(cells.map(Printed::of).collect())
}

/// The row of the rate, whose numbers since 7.14 are written as the user's language has them: `16,882.5`, `16.882,5`, `16 882,5`.
fn rates(line: &str) -> Option<Vec<Option<Printed>>> {
    let rest = line.strip_prefix("Req/Sec")?;
    let Some(rest) = rest.trim_start().strip_prefix(['│', '|', '┃', '║']) else {
        return row(line, "Req/Sec");
    };
    let cells: Vec<&str> = rest.split(['│', '|', '┃', '║']).map(str::trim).collect();
    // Four quantiles of counts are whole: what divides their digits stands between groups.
    let whole = cells.iter().take(cells.len().saturating_sub(3)).flat_map(|cell| cell.chars());
    let group = whole.into_iter().find(|c| !c.is_ascii_digit());
    let plain = |cell: &&str| {
        let digits: String = cell.chars().filter(|c| Some(*c) != group && !c.is_whitespace()).collect();
        let has_point = digits.contains('.');
        let is_group = |rest: &str| group.is_none() && (has_point || rest.len() == 3);
        match digits.split_once(',') {
            Some((whole, rest)) if is_group(rest) => Printed::of(&format!("{whole}{rest}")),
            Some((whole, rest)) => Printed::of(&format!("{whole}.{rest}")),
            None => Printed::of(&digits),
        }
    };
    Some(cells.iter().map(plain).collect())
}

/// Cells of a row: before 3.0, and since.
const CELLS: [usize; 2] = [3, 7];

/// A row of latencies has milliseconds in its label, or in its cells.
fn is_latency(line: &str) -> bool {
    let is_own = line.starts_with("Latency (ms)") || line.starts_with("Latency ") && line.contains(" ms");
    is_own && row(line, "Latency").is_some_and(|cells| CELLS.contains(&cells.len()))
}

/// wrk's row of this name ends in a share.
fn is_rate(line: &str) -> bool {
    !line.ends_with('%') && rates(line).is_some_and(|cells| CELLS.contains(&cells.len()))
}

/// `211k requests in 10.05s, 22.8 MB read`; wrk has no space before the unit.
fn is_total(line: &str) -> bool {
    line.contains(" requests in ") && line.ends_with(" read") && line.split_whitespace().count() == 7
}

/// Lines that a report has, in order, up to that of its rate.
const MARKS: &[fn(&str) -> bool] = &[is_head, is_connections, is_latency, is_rate];

/// Whether a report begins.
pub(super) fn starts(before: &[&str], rest: &[&str]) -> bool {
    if before.last().is_some_and(|line| is_warmup(line)) {
        return false;
    }
    // Authors may keep no more than the last lines.
    let is_early = |line: &str| is_head(line) || is_connections(line) || is_latency(line) || is_rate(line);
    if rest.first().is_some_and(|line| is_total(line)) && is_alone(before, is_early, is_total) {
        return true;
    }
    let is_own = match rest.first() {
        Some(line) if is_warmup(line) => false,
        Some(line) if is_head(line) => {
            let own = rest.iter().skip(1).take(WITHIN).take_while(|line| !is_head(line));
            own.clone()
                .any(|line| is_connections(line) || is_latency(line) || is_rate(line) || is_total(line))
        }
        _ => leads_to(MARKS, rest, WITHIN, is_rate),
    };
    is_own && begins(MARKS, before, rest)
}

/// From what a result of either shape is made: what the tool counted.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// Answers: 2xx and 3xx, and others.
    expected: Option<f64>,
    other: f64,
    errors: f64,
    timeouts: f64,
    /// Answers with another body than the expected one.
    mismatches: f64,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().filter(|line| is_head(line)).copied().unwrap_or_default();
    let (asked, url) = head.split_once(" test @").unwrap_or_default();
    let asked = asked.trim_start_matches("Running ");
    let is_amount = asked.ends_with(" requests");
    let find = |is: fn(&str) -> bool| run.lines.iter().find(|line| is(line)).copied().unwrap_or_default();
    let settings = find(is_connections);
    let (opened, depth) = settings.split_once(" with ").unwrap_or((settings, ""));
    let opened = number(first(opened).unwrap_or_default());
    let workers = run.lines.iter().find_map(|line| number(line.strip_suffix(" workers")?)).unwrap_or(0.0);
    let interval = run.after("Req/Bytes counts sampled every ").and_then(|rest| number(first(rest)?));
    let interval = interval.filter(|interval| *interval > 0.0).unwrap_or(1.0);
    let rates = rates(find(is_rate)).unwrap_or_default();
    // Average, deviation, and smallest or largest end each row.
    let nth_last = |row: &[Option<Printed>], nth: usize| row.len().checked_sub(nth).and_then(|at| row[at]);
    let rate = nth_last(&rates, 3).map(|rate| rate.times(1.0 / interval));
    let total = find(is_total);
    let sent = first(total).and_then(thousands);
    let seconds = total
        .split_once(" requests in ")
        .and_then(|(_, rest)| Printed::of(first(rest)?.trim_end_matches('s')));
    let rate = rate.or_else(|| over_time(sent?, seconds?));
    let load = Load {
        subject: url.trim().to_owned(),
        rate,
        seconds,
        // It ends with a sample.
        asked_seconds: number(asked.trim_end_matches('s'))
            .filter(|_| !is_amount)
            .map(|asked| Printed { value: asked, off: interval.max(0.5) }),
        latency: latency(run, find(is_latency)),
        depth: match number(first(depth).unwrap_or_default()) {
            Some(depth) => Depth::Is(depth),
            None if settings.is_empty() => Depth::Unknown,
            None => Depth::One,
        },
        unjudged: "quantiles of the rate; bytes a second".to_owned(),
        ..Load::default()
    };
    let load = opened_by(load, opened, workers, || format!("from {settings}"));
    let load = with_command(load, run);
    let counts = counts(run, &load, sent, total);
    figures(by_amount(with_counts(load, counts, sent), is_amount, interval), known)
}

/// The rate of so many requests, of which thousands are rounded.
fn over_time(sent: f64, seconds: Printed) -> Option<Printed> {
    let off = if sent >= 1e3 && sent % 1e3 == 0.0 { 500.0 } else { 0.0 };
    let share = off / sent.max(1.0) + seconds.share();
    let rate = sent / seconds.value;
    (seconds.value > 0.0 && sent > 0.0).then_some(Printed { value: rate, off: rate * share })
}

/// The figures. Before 7.0.5 latencies of pipelined requests were counted from the last one that was sent (lib/httpClient.js, `cer`): rate
/// times mean is then the number of connections, and not of requests in flight.
fn figures(load: Load, known: &Known) -> Result<Vec<Figure>, String> {
    let deep = if let Depth::Is(depth) = load.depth { Some(depth) } else { None };
    let product = load
        .rate
        .zip(load.latency.mean)
        .map(|(rate, mean)| (rate.value * mean.value, rate.value * MILLISECOND));
    let Some(((depth, connections), (low, more))) = deep.zip(load.connections).zip(product) else {
        return load.figures(known);
    };
    let is_near = |all: f64| low <= all * (1.0 + NEAR) && low + more >= all * (1.0 - NEAR);
    if depth <= 1.0 || load.rate_asked.is_some() || is_near(connections * depth) || !is_near(connections) {
        return load.figures(known);
    }
    let why = format!(
        "rate times mean is {low:.0}, as with one request on each of {connections} connections, and {depth} are sent"
    );
    let mut figures = Load { depth: Depth::One, ..load }.figures(known)?;
    figures.iter_mut().skip(1).for_each(|figure| figure.evidence.put(CONTRADICTION, why.clone()));
    Ok(figures)
}

/// The row of latencies, and the table of -l: quantiles, each with its latency.
fn latency(run: &Run, line: &str) -> Statistics {
    let label = if line.starts_with("Latency (ms)") { "Latency (ms)" } else { "Latency" };
    let row = row(line, label).unwrap_or_default();
    let nth_last = |nth: usize| {
        let cell = row.len().checked_sub(nth).and_then(|at| row[at]);
        cell.map(|latency| latency.times(MILLISECOND))
    };
    // Since 3.0 four quantiles stand before the average.
    let mut quantiles: Vec<(f64, Printed)> = Vec::new();
    if row.len() == 7 {
        for (quantile, latency) in [0.025, 0.5, 0.975, 0.99].into_iter().zip(&row) {
            latency.iter().for_each(|latency| quantiles.push((quantile, latency.times(MILLISECOND))));
        }
    }
    let table = run.lines.iter().skip_while(|line| !line.starts_with("Percentile")).skip(1);
    for line in table.take_while(|line| !is_total(line)) {
        let mut cells =
            line.split(|c: char| c.is_whitespace() || "│|┃║".contains(c)).filter(|cell| !cell.is_empty());
        let (Some(quantile), Some(latency), None) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        let Some((quantile, latency)) = number(quantile).zip(Printed::of(latency)) else { continue };
        let quantile = (quantile * 1e4).round() / 1e6;
        if !quantiles.iter().any(|(own, _)| *own == quantile) {
            quantiles.push((quantile, latency.times(MILLISECOND)));
        }
    }
    Statistics { least: None, mean: nth_last(3), deviation: nth_last(2), most: nth_last(1), quantiles }
}

/// The lines of counts. That of answers is there only where some are not 2xx, that of errors only where there are any.
fn counts(run: &Run, load: &Load, sent: Option<f64>, total: &str) -> Counts {
    if total.is_empty() {
        return Counts::default();
    }
    let line = |has: &str| run.lines.iter().find(|line| line.contains(has)).copied();
    let count = |text: &str| first(text).and_then(thousands).unwrap_or(0.0);
    let errors = run.lines.iter().find_map(|line| {
        let (errors, rest) = line.split_once(" errors")?;
        let timeouts = rest.strip_prefix(" (").and_then(first).and_then(thousands).unwrap_or(0.0);
        Some((thousands(errors)?, timeouts))
    });
    let (errors, timeouts) = errors.unwrap_or_default();
    let counts = Counts {
        errors,
        timeouts,
        mismatches: line(" requests with mismatched body").map_or(0.0, count),
        ..Counts::default()
    };
    match line(" non 2xx responses").and_then(|line| line.split_once(" 2xx responses, ")) {
        Some((expected, other)) => Counts { expected: Some(count(expected)), other: count(other), ..counts },
        // Since 7.4 the count is of requests that were sent (lib/printResult.js), before that of answers.
        None if counts.errors == 0.0 => Counts { expected: sent, ..counts },
        None => {
            let answered =
                load.rate.zip(load.seconds).map(|(rate, seconds)| (rate.value * seconds.value).round());
            Counts { expected: answered, ..counts }
        }
    }
}

/// With what the counts say.
fn with_counts(load: Load, counts: Counts, sent: Option<f64>) -> Load {
    let answered = counts.expected.map(|expected| (expected - counts.mismatches).max(0.0));
    let exact = counts.expected.map(|expected| expected + counts.other);
    let completed = if counts.other > 0.0 { exact } else { sent.or(exact) };
    let at_end =
        load.connections.unwrap_or(0.0) * if let Depth::Is(depth) = load.depth { depth } else { 1.0 };
    let off = completed.map_or(0.0, |completed| {
        // Thousands are rounded; what is in flight at the end was sent, and not answered.
        let rounded = if completed >= 1e3 && completed % 1e3 == 0.0 { 500.0 } else { 0.0 };
        (rounded + at_end) / completed.max(1.0)
    });
    Load {
        tool: "autocannon",
        answered,
        completed: completed.filter(|completed| counts.errors <= ERRORS * completed),
        failed: vec![
            ("status", counts.other),
            ("timeout", counts.timeouts),
            ("reset", (counts.errors - counts.timeouts).max(0.0)),
            ("another body", counts.mismatches),
        ],
        left_out: answered.map(|_| counts.timeouts),
        dropped: MILLISECOND,
        breaks_off: true,
        sampled: SAMPLED + off,
        results: RESULTS,
        ..load
    }
}

/// With its connections: each worker opens as many as all others (lib/manager.js).
fn opened_by(load: Load, asked: Option<f64>, workers: f64, from: impl Fn() -> String) -> Load {
    let Some(asked) = asked else { return load };
    let opened = if workers >= 1.0 { workers * (asked / workers).floor().max(1.0) } else { asked };
    let from =
        if opened == asked { from() } else { format!("{}: each worker opens {}", from(), opened / workers) };
    Load { connections: Some(opened), connections_from: from, ..load }
}

/// A run with a number of requests ends within its last sample. The rest of that sample is idle, and counted.
fn by_amount(load: Load, is_amount: bool, interval: f64) -> Load {
    let (true, Some(rate)) = (is_amount, load.rate) else { return load };
    let samples = load.seconds.map_or(1.0, |seconds| (seconds.value / interval).round().max(1.0));
    let more = if samples > 1.0 { 1.0 / (samples - 1.0) } else { UNBOUNDED };
    let seconds = load.seconds.map(|seconds| {
        let half = interval.min(seconds.value) / 2.0;
        Printed { value: seconds.value - half, off: seconds.off + half }
    });
    Load { rate: Some(Printed { off: rate.off + rate.value * more, ..rate }), seconds, ..load }
}

/// With the rate that only the command shows. Of a limited rate latencies are added (lib/run.js).
fn with_command(load: Load, run: &Run) -> Load {
    let Some(command) = run.command else { return Load { idle: LIMIT, ..load } };
    // The line of connections may be lost.
    let load = match load.connections {
        Some(_) => load,
        None => {
            let workers = command.setting(&["-w", "--workers"]).or(0.0).unwrap_or(0.0);
            let depth = match command.setting(&["-p", "--pipelining"]).or(1.0) {
                Some(depth) if depth > 1.0 => Depth::Is(depth),
                Some(_) => Depth::One,
                None => load.depth,
            };
            let asked = command.setting(ASKED).or(OPENED);
            opened_by(Load { depth, ..load }, asked, workers, || command.quote(ASKED))
        }
    };
    let limit = |names: &[&str], times: Option<f64>| match command.setting(names) {
        Setting::Is(rate) if rate > 0.0 => {
            Some(times.map_or(Asked::Unstated, |times| Asked::Rate(rate * times)))
        }
        Setting::Unknown if command.has(names) => Some(Asked::Unstated),
        _ => None,
    };
    let rate_asked = limit(EACH, load.connections).or_else(|| limit(OVERALL, Some(1.0)));
    Load {
        idle: if command.whole { "" } else { LIMIT },
        adds_samples: rate_asked.is_some() && !command.has(&["-C", "--ignoreCoordinatedOmission"]),
        rate_asked,
        ..load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_borders() {
        let values = |line: &str| -> Vec<Option<f64>> {
            row(line, "Latency").unwrap().into_iter().map(|cell| cell.map(|cell| cell.value)).collect()
        };
        let of = [0.0, 0.02, 16.45].map(Some);
        assert_eq!(values("Latency │ 0 ms │ 0.02 ms │ 16.45 ms"), of);
        assert_eq!(values("Latency 0 ms 0.02 ms 16.45 ms"), of);
        assert_eq!(values("Latency (ms) NaN 1 2"), [None, Some(1.0), Some(2.0)]);
    }

    #[test]
    fn a_rate_is_read_as_the_users_language_writes_it() {
        let of = |cells: &str| {
            rates(&format!("Req/Sec {cells}")).unwrap().into_iter().nth(4).flatten().unwrap().value
        };
        assert_eq!(of("│ 80.575 │ 80.575 │ 87.871 │ 94.911 │ 87.916,8 │ 4.933,47 │ 80.560"), 87_916.8);
        assert_eq!(of("│ 2,083 │ 2,083 │ 2,233 │ 2,879 │ 2,333.7 │ 232.68 │ 2,082"), 2333.7);
        assert_eq!(
            of("│ 80\u{202f}575 │ 80\u{202f}575 │ 87\u{202f}871 │ 94\u{202f}911 │ 87\u{202f}916,8 │ 4 │ 80"),
            87_916.8
        );
        assert_eq!(of("│ 554 │ 554 │ 698 │ 741 │ 688,5 │ 51,69 │ 554"), 688.5);
        assert_eq!(of("│ 554 │ 554 │ 698 │ 741 │ 1,688 │ 51.69 │ 554"), 1688.0);
        assert_eq!(of("│ 20623 │ 20623 │ 25583 │ 26271 │ 25131.2 │ 1540.94 │ 20615"), 25_131.2);
        assert_eq!(of("20623 20623 25583 26271 25131.2 1540.94 20615"), 25_131.2);
    }
}
