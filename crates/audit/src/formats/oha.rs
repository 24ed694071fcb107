//! oha (hatoo/oha): hey's summary with a success rate; the same as JSON, and a CSV with a row for each request.

use figure::format::plain_to;
use serde_json::Value;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::formats::hey::{self, counts, kind, quantiles};
use crate::formats::request_rows::{Columns, LEAST_ROWS};
use crate::known::Known;
use crate::load::{Asked, Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format::lines("oha", &["Success rate:"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format =
    Format::documents("oha", &["\"requestsPerSec\""], is_result, Some(&COMMAND), parse_documents);
pub(super) const ROWS: Format =
    Format::lines("oha", &["request-start,DNS,DNS+dialup"], starts_rows, Some(&COMMAND), parse_rows);

/// oha's options (src/lib.rs).
const COMMAND: Grammar = Grammar {
    programs: &["oha"],
    style: Style::Getopt,
    values: &[
        "-n",
        "-c",
        "-p",
        "-z",
        "-q",
        "-H",
        "-t",
        "-A",
        "-d",
        "-D",
        "-Z",
        "-T",
        "-a",
        "-m",
        "-r",
        "-u",
        "-x",
        "-o",
        "-F",
        "--burst-delay",
        "--burst-rate",
        "--max-repeat",
        "--dump-urls",
        "--fps",
        "--method",
        "--connect-timeout",
        "--http-version",
        "--host",
        "--redirect",
        "--cacert",
        "--cert",
        "--key",
        "--connect-to",
        "--unix-socket",
        "--db-url",
        "--output",
        "--output-format",
        "--time-unit",
        "--proxy",
        "--proxy-header",
        "--proxy-http-version",
        "--form",
    ],
    flags: &[
        "-w",
        "-j",
        "--rand-regex-url",
        "--urls-from-file",
        "--latency-correction",
        "--no-tui",
        "--http2",
        "--disable-compression",
        "--disable-keepalive",
        "--no-pre-lookup",
        "--ipv6",
        "--ipv4",
        "--insecure",
        "--disable-color",
        "--no-color",
        "--stats-success-breakdown",
        "--debug",
        "--json",
        "--proxy-http2",
        "--wait-ongoing-requests-after-deadline",
    ],
    hidden: &["-H", "-d", "-a", "-x", "-F", "--proxy", "--proxy-header", "--form"],
    operand: is_target,
    operands: 1..=1,
};

/// Rate times time is the number of requests to within this share: they are printed with four decimals.
const ROUNDED: f64 = 0.005;
/// oha's own default of -c.
const CONNECTIONS: f64 = 50.0;
/// What becomes of requests that are under way at the end of -z (src/client.rs).
const DROPS: &str = "with -z oha leaves out what is in flight at the end";
/// oha's word for them.
const BROKEN_OFF: &str = "aborted due to deadline";

/// oha's units of time, in seconds. Since 1.9.0 one of them is chosen for the whole report, by the slowest request, or by -u
/// (src/timescale.rs).
const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("sec", 1.0),
    ("secs", 1.0),
    ("10 sec", 10.0),
    ("min", 60.0),
    ("10 min", 600.0),
    ("hr", 3600.0),
];

/// A time with its unit, in seconds.
fn time(text: &str) -> Option<Printed> {
    let (digits, unit) = text.trim().split_once(char::is_whitespace)?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    Some(Printed::of(digits)?.times(*factor))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let [head, next, ..] = rest else { return false };
    let is_next = |line: &str| line.starts_with("Success rate:");
    *head == "Summary:" && is_next(next)
        || is_next(head) && next.starts_with("Total:") && before.last().is_none_or(|line| *line != "Summary:")
        || hey::is_cut(before, rest) && hey::is_of_oha(rest)
}

/// What a summary holds, in whichever form.
struct Report {
    rate: Option<Printed>,
    seconds: Option<Printed>,
    latency: Statistics,
    /// Counts by status; `None` where there is no such table.
    statuses: Option<Vec<(String, f64)>>,
    /// Counts by error.
    errors: Vec<(String, f64)>,
    /// Requests that have a latency, where they are counted once more.
    recorded: Option<f64>,
    unjudged: &'static str,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let total = run.after("Total:").unwrap_or_default();
    if first(total).and_then(number).is_some() && time(total).is_none() {
        return Err(format!("its times have an unknown unit: {}", plain_to(total, 60)));
    }
    let statuses: Vec<(String, f64)> = counts(run, "Status code distribution:")
        .into_iter()
        .map(|(code, rest)| (code.to_owned(), first(rest).and_then(number).unwrap_or(0.0)))
        .collect();
    let report = Report {
        rate: run.printed("Requests/sec:"),
        seconds: run.after("Total:").and_then(time),
        latency: Statistics {
            least: run.after("Fastest:").and_then(time),
            mean: run.after("Average:").and_then(time),
            most: run.after("Slowest:").and_then(time),
            deviation: None,
            quantiles: quantiles(run, time),
        },
        statuses: Some(statuses).filter(|all| all.iter().any(|(_, count)| *count > 0.0)),
        errors: counts(run, "Error distribution:")
            .into_iter()
            .map(|(count, text)| (text.to_owned(), number(count).unwrap_or(0.0)))
            .collect(),
        recorded: None,
        unjudged: "",
    };
    load(report, run).figures(known)
}

fn is_result(document: &Value) -> bool {
    let summary = document.get("summary");
    let has = |name: &str| summary.is_some_and(|summary| summary.get(name).is_some());
    has("requestsPerSec") && has("successRate")
}

fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(load(of_document(document), run).figures(known)?);
    }
    Ok(figures)
}

/// schema.json.
fn of_document(document: &Value) -> Report {
    let exact = |value: f64| Printed { value, off: 0.0 };
    let positive = |value: &Value| value.as_f64().filter(|value| *value >= 0.0);
    let summary = |name: &str| document.get("summary")?.get(name).and_then(positive).map(exact);
    let counts = |name: &str| -> Option<Vec<(String, f64)>> {
        let all = document.get(name)?.as_object()?;
        Some(all.iter().filter_map(|(key, count)| Some((key.clone(), positive(count)?))).collect())
    };
    let quantiles = document.get("latencyPercentiles").and_then(Value::as_object);
    let quantile = |(name, value): (&String, &Value)| {
        let quantile = number(name.strip_prefix('p')?).filter(|quantile| *quantile <= 100.0)?;
        Some(((quantile * 1e4).round() / 1e6, exact(positive(value)?)))
    };
    let histogram = counts("responseTimeHistogram");
    Report {
        rate: summary("requestsPerSec"),
        seconds: summary("total"),
        latency: Statistics {
            least: summary("fastest"),
            mean: summary("average"),
            most: summary("slowest"),
            deviation: None,
            quantiles: quantiles.map_or(Vec::new(), |all| all.iter().filter_map(quantile).collect()),
        },
        statuses: counts("statusCodeDistribution"),
        errors: counts("errorDistribution").unwrap_or_default(),
        recorded: histogram.map(|all| all.iter().map(|(_, count)| count).sum()),
        unjudged: "rates of intervals; times of connecting and of the first byte",
    }
}

fn load(report: Report, run: &Run) -> Load {
    let setting = |name: &str| run.command.map(|command| command.setting(&[name]));
    let statuses = report.statuses.unwrap_or_default();
    let counted: f64 = statuses.iter().map(|(_, count)| count).sum();
    let answered: f64 =
        statuses.iter().filter(|(code, _)| code.starts_with(['2', '3'])).map(|(_, count)| count).sum();
    let of_errors: f64 = report.errors.iter().map(|(_, count)| count).sum();
    let broken_off: f64 =
        report.errors.iter().filter(|(text, _)| text == BROKEN_OFF).map(|(_, count)| count).sum();
    let failed = report.errors.iter().filter(|(text, _)| text != BROKEN_OFF);
    let mut failed: Vec<(&'static str, f64)> = failed.map(|(text, count)| (kind(text), *count)).collect();
    failed.push(("status", counted - answered));
    let connections = setting("-c").and_then(|setting| setting.or(CONNECTIONS));
    let depth = depth(run);
    // What is in flight at the end is one request of each connection, and not left out of anything.
    let streams = if let Depth::Is(streams) = depth { streams } else { 1.0 };
    let most = connections.map_or(f64::INFINITY, |connections| connections * streams);
    let (rate, seconds) = (report.rate, report.seconds);
    // More answers than the time has at that rate are of another run.
    let is_more = |all: f64| {
        rate.zip(seconds)
            .is_some_and(|(rate, seconds)| all > rate.value * seconds.value * (1.0 + ROUNDED) + 1.0)
    };
    Load {
        runs_out: true,
        tool: "oha",
        subject: run.operand().unwrap_or_default().to_owned(),
        rate,
        seconds,
        completed: match report.recorded {
            Some(recorded) => Some(recorded + of_errors),
            None => Some(counted).filter(|all| is_more(*all)),
        },
        answered: (counted > 0.0 || of_errors - broken_off > 0.0).then_some(answered),
        failed,
        recorded: (counted > 0.0).then_some(counted),
        left_out: Some(if broken_off > most { broken_off } else { 0.0 }),
        latency: report.latency,
        connections,
        connections_from: run.command.map_or(String::new(), |command| command.quote(&["-c"])),
        depth,
        keeps_alive: run.command.map(|command| !command.has(&["--disable-keepalive"])),
        rate_asked: rate_asked(run),
        unjudged: report.unjudged.to_owned(),
        results: DROPS,
        ..Load::default()
    }
}

fn rate_asked(run: &Run) -> Option<Asked> {
    match run.command?.setting(&["-q"]) {
        Setting::Is(rate) => Some(Asked::Rate(rate)),
        Setting::Unknown if run.command?.has(&["-q"]) => Some(Asked::Unstated),
        _ => None,
    }
}

/// Streams of HTTP/2 on each connection.
fn depth(run: &Run) -> Depth {
    let command = run.command;
    match command.map(|command| command.setting(&["-p"])) {
        Some(Setting::Is(streams)) if streams > 1.0 => Depth::Is(streams),
        Some(Setting::Unknown) if command.is_some_and(|command| command.has(&["-p"])) => Depth::Unstated,
        _ => Depth::One,
    }
}

/// Since 1.5 (src/printer.rs, `print_csv`).
const HEAD: &str = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";
const COLUMNS: Columns = Columns { start: 0, duration: 4, status: 6, all: 7 };

fn starts_rows(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if *line == HEAD {
        return true;
    }
    let follows = before.last().is_some_and(|last| *last == HEAD || COLUMNS.is_row(last));
    !follows && rest.len() >= LEAST_ROWS && rest.iter().take(LEAST_ROWS).all(|line| COLUMNS.is_row(line))
}

/// The rows are of requests that were answered: how many were not, the text does not show.
fn parse_rows(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let own = COLUMNS.load(run)?;
    let command = run.command.and_then(|command| command.setting(&["-c"]).or(CONNECTIONS));
    let load = Load {
        tool: "oha",
        subject: run.operand().unwrap_or_default().to_owned(),
        connections: command.or(own.connections),
        connections_from: match (command, run.command) {
            (Some(_), Some(command)) => command.quote(&["-c"]),
            _ => own.connections_from.clone(),
        },
        depth: depth(run),
        rate_asked: rate_asked(run),
        unjudged: "columns of DNS, connecting and waiting".to_owned(),
        results: DROPS,
        ..own
    };
    load.figures(known)
}
