//! memtier_benchmark (Redis, memcached): a table of rates and latencies by kind of command, and the same as JSON.

use figure::Figure;
use serde_json::Value;

use crate::command::{Grammar, Setting, Style};
use crate::document::exact;
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines("memtier_benchmark", &["Ops/sec"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format =
    Format::documents("memtier_benchmark", &["\"ALL STATS\""], is_document, Some(&COMMAND), parse_documents);

/// Options of memtier_benchmark(1) that say how much load there is, and common others.
const COMMAND: Grammar = Grammar {
    programs: &["memtier_benchmark"],
    style: Style::Getopt,
    values: &[
        "-s",
        "--server",
        "--host",
        "-h",
        "-p",
        "--port",
        "-S",
        "--unix-socket",
        "-P",
        "--protocol",
        "-a",
        "--authenticate",
        "-x",
        "--run-count",
        "-n",
        "--requests",
        "-c",
        "--clients",
        "-t",
        "--threads",
        "--test-time",
        "--ratio",
        "--pipeline",
        "--reconnect-interval",
        "--multi-key-get",
        "-d",
        "--data-size",
        "--data-size-range",
        "--data-size-list",
        "--data-size-pattern",
        "--expiry-range",
        "--key-prefix",
        "--key-minimum",
        "--key-maximum",
        "--key-pattern",
        "--key-stddev",
        "--key-median",
        "--command",
        "--command-ratio",
        "--command-key-pattern",
        "--print-percentiles",
        "--rate-limiting",
        "--select-db",
        "-o",
        "--out-file",
        "--json-out-file",
        "--hdr-file-prefix",
        "--cert",
        "--key",
        "--cacert",
        "--sni",
    ],
    flags: &[
        "-R",
        "--random-data",
        "-D",
        "--debug",
        "-4",
        "--ipv4",
        "-6",
        "--ipv6",
        "--distinct-client-seed",
        "--hide-histogram",
        "--cluster-mode",
        "--tls",
        "--tls-skip-verify",
        "--randomize",
        "--show-config",
        "--no-expiry",
        "--generate-keys",
    ],
    hidden: &["-a", "--authenticate"],
    operand: |_| false,
    operands: 0..=0,
};

/// `memtier_benchmark --help`: connections of each thread, and threads.
const CLIENTS: f64 = 50.0;
const THREADS: f64 = 4.0;
/// Lines before the table in which threads and connections stand.
const WITHIN: usize = 24;
/// Rows of a table.
const ROWS: usize = 64;
/// Times are in milliseconds.
const MILLISECOND: f64 = 1e-3;
const RESULTS: &str =
    "memtier_benchmark prints errors of the server to stderr only, and adds up the rates of its threads";
/// From so many times the connections on the rate cannot be: it is the sum of rates of threads (`totals::add`), of which
/// those that end early count for all of the time.
const BEYOND: f64 = 1.05;

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.starts_with("Type ") && line.contains(" Ops/sec "))
}

/// Heads of columns, which have two spaces or more between them.
fn columns(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let columns = columns(run.lines.first().copied().unwrap_or_default());
    let fits = |cells: &Vec<&str>| {
        cells.len() == columns.len() && cells[0].ends_with('s') && number(cells[1]).is_some()
    };
    let below = run.lines.iter().skip(1).take(ROWS);
    let rows: Vec<Vec<&str>> =
        below.map(|line| line.split_whitespace().collect()).filter(|cells| fits(cells)).collect();
    let of_kind = |kind: &str| rows.iter().find(|cells| cells[0] == kind);
    let busy = rows.iter().filter(|cells| number(cells[1]) != Some(0.0));
    let own = of_kind("Totals").or(busy.clone().next().filter(|_| busy.count() == 1));
    let own = own.ok_or("has no row of all commands (Totals)")?;
    let cell =
        |name: &str| columns.iter().position(|column| *column == name).and_then(|at| Printed::of(own[at]));
    let time = |name: &str| cell(name).map(|time| time.times(MILLISECOND));
    let quantile = |column: &&str| {
        let name = column.strip_prefix('p')?.strip_suffix(" Latency")?;
        Some(((number(name)? * 10.0).round() / 1000.0, time(column)?))
    };
    let rate = cell("Ops/sec").ok_or("has no rate of all commands")?;
    let mean = time("Avg. Latency").or(time("Latency"));
    let (connections, connections_from) = connections(run).unzip();
    let by_client = before(run, "Requests per client").or(before(run, "Requests per thread"));
    let missed = cell("Misses/sec").filter(|missed| missed.value > 0.0).map(|missed| {
        let found = cell("Hits/sec").map_or(0.0, |found| found.value);
        format!("misses: {:.0} % of the keys that were read", 100.0 * missed.value / (missed.value + found))
    });
    let depth = match run.command.map(|command| command.setting(&["--pipeline"])) {
        Some(Setting::Is(depth)) if depth > 1.0 => Depth::Is(depth),
        Some(Setting::Is(_) | Setting::Default) => Depth::One,
        _ => Depth::Unknown,
    };
    let at_once = connections.zip(mean).map(|(connections, mean)| (rate.value * mean.value, connections));
    let beyond = at_once
        .filter(|(busy, connections)| depth == Depth::One && *busy > BEYOND * connections)
        .map(|(busy, connections)| {
            format!("rate times mean is {busy:.0}, and there are {connections} connections")
        });
    let none = mean.filter(|mean| rate.value == 0.0 && mean.value > 0.0);
    let load = Load {
        tool: "memtier",
        subject: heading(run),
        rate: Some(rate),
        answered: by_client.zip(connections).map(|(each, connections)| each * connections),
        latency: Statistics {
            mean,
            quantiles: columns.iter().filter_map(quantile).collect(),
            ..Statistics::default()
        },
        connections,
        connections_from: connections_from.unwrap_or_default(),
        depth,
        in_flight_unknown: beyond
            .as_ref()
            .map_or("", |_| "the rate is a sum over threads that end at different moments")
            .to_owned(),
        rate_asked: run.command.filter(|command| command.has(&["--rate-limiting"])).map(|_| Asked::Unstated),
        idle: "whether connections were held to a rate (--rate-limiting), and when each thread ended",
        contradiction: none.map(|_| "no operation is counted, and there is a latency".to_owned()).or(beyond),
        unjudged: missed
            .into_iter()
            .chain(["rows of single commands; KB a second".to_owned()])
            .collect::<Vec<_>>()
            .join("; "),
        results: RESULTS,
        ..Load::default()
    };
    load.figures(known)
}

fn is_document(document: &Value) -> bool {
    let is_section =
        |section: &Value| section.get("Totals").is_some_and(|totals| totals.get("Ops/sec").is_some());
    document.as_object().is_some_and(|sections| sections.values().any(is_section))
}

/// What `--json-out-file` holds: a section for each run, of the same names as the tables (run_stats.cpp).
fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        let sections =
            document.as_object().into_iter().flatten().filter(|(_, own)| own["Totals"].is_object());
        for (name, section) in sections.take(ROWS) {
            figures.extend(of_section(name, section, document).figures(known)?);
        }
    }
    Ok(figures)
}

fn of_section(name: &str, section: &Value, document: &Value) -> Load {
    let (totals, asked) = (&section["Totals"], &document["configuration"]);
    let number = |value: &Value| exact(value).map(|own| own.value);
    let time = |name: &str| {
        exact(&totals[name]).map(|time| Printed { off: time.value * 1e-3, ..time }.times(MILLISECOND))
    };
    let threads = |name: &str, key: &str| number(&document["run information"][name]).or(number(&asked[key]));
    let connections = threads("Threads", "threads")
        .zip(threads("Connections per thread", "clients"))
        .map(|(threads, each)| threads * each);
    let quantile = |(name, value): (&String, &Value)| {
        let share = crate::text::number(name.strip_prefix('p')?)? / 100.0;
        Some(((share * 1e7).round() / 1e7, exact(value)?.times(MILLISECOND)))
    };
    let mean = time("Average Latency").or(time("Latency"));
    let of = |key: &str| number(&asked[key]).filter(|value| *value > 0.0);
    let depth = match of("pipeline") {
        Some(depth) if depth > 1.0 => Depth::Is(depth),
        Some(_) => Depth::One,
        None => Depth::Unknown,
    };
    let (count, failed) = (number(&totals["Count"]), number(&totals["Connection Errors"]));
    Load {
        tool: "memtier",
        subject: if name == "ALL STATS" { String::new() } else { name.to_owned() },
        rate: exact(&totals["Ops/sec"]).map(|rate| Printed { off: 0.005, ..rate }),
        seconds: exact(&section["Runtime"]["Total duration"])
            .map(|time| Printed { off: 0.5, ..time }.times(MILLISECOND)),
        asked_seconds: of("test_time").map(Printed::exact),
        completed: count,
        // Rates of threads that end early are of a shorter time.
        sampled: BEYOND - 1.0,
        answered: count,
        failed: failed.map(|count| ("unspecified", count)).into_iter().collect(),
        latency: Statistics {
            least: time("Min Latency"),
            mean: mean.filter(|mean| mean.value > 0.0),
            most: time("Max Latency"),
            deviation: None,
            quantiles: totals["Percentile Latencies"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(quantile)
                .collect(),
        },
        connections,
        connections_from: connections
            .map_or(String::new(), |_| "threads and connections of the document".to_owned()),
        depth,
        // Messages a second of each connection.
        rate_asked: of("rate_limit")
            .zip(connections)
            .map(|(rate, connections)| Asked::Rate(rate * connections)),
        idle: "when each thread ended",
        unjudged: "parts for each second; single commands; KB a second".to_owned(),
        results: RESULTS,
        ..Load::default()
    }
}

/// The number before a label: `16        Threads`.
fn before(run: &Run, label: &str) -> Option<f64> {
    let from = run.previous.max(run.before.len().saturating_sub(WITHIN));
    run.before[from..].iter().rev().find_map(|line| number(line.strip_suffix(label)?.trim()))
}

/// All connections, and where they are from.
fn connections(run: &Run) -> Option<(f64, String)> {
    let printed = before(run, "Threads").zip(before(run, "Connections per thread"));
    if let Some((threads, each)) = printed {
        return Some((threads * each, format!("from {threads} Threads, {each} Connections per thread")));
    }
    let command = run.command?;
    let threads = command.setting(&["-t", "--threads"]).or(THREADS)?;
    let each = command.setting(&["-c", "--clients"]).or(CLIENTS)?;
    Some((threads * each, command.quote(&["-c", "--clients"])))
}

/// Which of several tables it is: `BEST RUN RESULTS`.
fn heading(run: &Run) -> String {
    let near = run.before.iter().rev().take(3);
    near.filter(|line| line.contains("RESULTS") || line.contains("STATS"))
        .map(|line| (*line).to_owned())
        .next()
        .unwrap_or_default()
}
