//! ghz (bojand/ghz): the summary as text and as JSON.

use serde_json::Value;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::formats::hey::{counts, kind};
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, number};

pub(super) const FORMAT: Format =
    Format::lines("ghz", &[" % in ", "Requests/sec:"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format =
    Format::documents("ghz", &["\"statusCodeDistribution\""], is_report, Some(&COMMAND), parse_documents);

/// cmd/ghz/main.go.
const COMMAND: Grammar = Grammar {
    programs: &["ghz"],
    style: Style::Getopt,
    values: &[
        "-c",
        "-n",
        "-t",
        "-z",
        "-x",
        "-d",
        "-D",
        "-b",
        "-B",
        "-m",
        "-M",
        "-r",
        "-o",
        "-O",
        "-i",
        "--config",
        "--proto",
        "--protoset",
        "--call",
        "--import-paths",
        "--cacert",
        "--cert",
        "--key",
        "--cname",
        "--authority",
        "--rps",
        "--load-schedule",
        "--load-start",
        "--load-step",
        "--load-end",
        "--load-step-duration",
        "--load-max-duration",
        "--concurrency",
        "--concurrency-schedule",
        "--concurrency-start",
        "--concurrency-end",
        "--concurrency-step",
        "--concurrency-step-duration",
        "--concurrency-max-duration",
        "--total",
        "--timeout",
        "--duration",
        "--max-duration",
        "--duration-stop",
        "--data",
        "--data-file",
        "--binary-file",
        "--metadata",
        "--metadata-file",
        "--stream-interval",
        "--stream-call-duration",
        "--stream-call-count",
        "--reflect-metadata",
        "--output",
        "--format",
        "--skipFirst",
        "--connections",
        "--connect-timeout",
        "--keepalive",
        "--name",
        "--tags",
        "--cpus",
        "--debug",
        "--lb-strategy",
        "--max-recv-message-size",
        "--max-send-message-size",
    ],
    flags: &[
        "-e",
        "--skipTLS",
        "--insecure",
        "--async",
        "--binary",
        "--stream-dynamic-messages",
        "--count-errors",
        "--enable-compression",
        "--disable-template-functions",
        "--disable-template-data",
    ],
    hidden: &["-d", "--data", "-m", "--metadata", "--reflect-metadata", "--tags"],
    operand: is_target,
    operands: 1..=1,
};

/// ghz's own default of --concurrency.
const WORKERS: f64 = 50.0;
/// Details that ghz keeps (runner/requester.go, `maxResult`): quantiles are of these.
const STORED: f64 = 1e6;
/// Errors of calls that were under way when --duration ended (--duration-stop close). There are at most as many as workers.
const CUT_OFF: &[&str] = &[
    "transport is closing",
    "client connection is closing",
    "use of closed network connection",
    "context canceled",
];
/// The statuses of such calls.
const CLOSING: &[&str] = &["Unavailable", "Canceled"];
/// Where the number of workers is not known: of so many calls one may be such.
const CUT_OFF_SHARE: f64 = 0.01;
const RESULTS: &str =
    "ghz keeps its first million calls; its mean includes failed calls, its quantiles do not";
/// What a worker does between two calls is in no latency (runner/worker.go, runner/stats_handler.go): of its time it may be so much.
const BETWEEN: std::ops::Range<f64> = 0.85..0.95;
/// Lines within which a summary has what distinguishes it from hey's and oha's.
const WITHIN: usize = 40;

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let kinds: &[fn(&str) -> bool] = &[
        |line| line == "Summary:",
        |line| line.starts_with("Count:"),
        |line| line.starts_with("Total:"),
        |line| line.starts_with("Slowest:"),
        |line| line.starts_with("Fastest:"),
        |line| line.starts_with("Average:"),
        |line| line.starts_with("Requests/sec:"),
    ];
    begins(kinds, before, rest) && is_own(rest)
}

/// Whether what follows is ghz's: counts of calls, `10 % in`, codes of gRPC by name.
fn is_own(rest: &[&str]) -> bool {
    let own =
        || rest.iter().take(WITHIN).enumerate().take_while(|(at, line)| *at == 0 || **line != "Summary:");
    let is_quantile =
        |line: &str| line.split_once(" % in ").is_some_and(|(quantile, _)| number(quantile).is_some());
    let is_code = |line: &str| {
        let code = line.strip_prefix('[').and_then(|line| line.split_once(']'));
        code.is_some_and(|(code, rest)| {
            code.starts_with(|c: char| c.is_ascii_uppercase()) && rest.trim_end().ends_with("responses")
        })
    };
    own().any(|(_, line)| is_quantile(line) || is_code(line))
        || own().take(4).any(|(_, line)| line.starts_with("Count:"))
            && own().any(|(_, line)| line.starts_with("Requests/sec:"))
}

/// A time such as `69.60 ms`, in seconds.
fn time(text: &str) -> Option<Printed> {
    let (digits, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "ns" => 1e-9,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Some(Printed::of(digits)?.times(factor))
}

/// What a summary holds, in whichever form.
#[derive(Default)]
struct Report {
    count: Option<f64>,
    seconds: Option<Printed>,
    rate: Option<Printed>,
    latency: Statistics,
    codes: Vec<(String, f64)>,
    errors: Vec<(String, f64)>,
    workers: Option<f64>,
    workers_from: String,
    rate_asked: Option<Asked>,
    in_flight_unknown: String,
    subject: String,
    unjudged: &'static str,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let of_time = |label: &str| run.after(label).and_then(time);
    let quantile = |line: &&str| {
        // Before 0.60 there was no space before the sign.
        let (quantile, latency) = line.split_once(" % in ").or_else(|| line.split_once("% in "))?;
        Some(((number(quantile.trim())? * 1e4).round() / 1e6, time(latency)?))
    };
    let number_of = |text: &str| first(text).and_then(number);
    let codes = counts(run, "Status code distribution:");
    let codes = codes.into_iter().filter_map(|(code, text)| Some((code.to_owned(), number_of(text)?)));
    let errors = counts(run, "Error distribution:");
    let errors = errors.into_iter().filter_map(|(count, text)| Some((text.to_owned(), number(count)?)));
    let setting = |names: &[&str]| run.command.map(|command| command.setting(names));
    let asks = |names: &[&str]| run.command.is_some_and(|command| command.has(names));
    let varies = asks(&["--concurrency-schedule"]);
    let rate_asked = match setting(&["-r", "--rps"]) {
        _ if asks(&["--load-schedule"]) => Some(Asked::Unstated),
        Some(Setting::Is(rate)) if rate > 0.0 => Some(Asked::Rate(rate)),
        Some(Setting::Unknown) if asks(&["-r", "--rps"]) => Some(Asked::Unstated),
        _ if asks(&["--async"]) => Some(Asked::Unstated),
        Some(Setting::Default) => None,
        _ => Some(Asked::Perhaps),
    };
    let report = Report {
        count: run.number("Count:"),
        seconds: of_time("Total:"),
        rate: run.printed("Requests/sec:"),
        latency: Statistics {
            least: of_time("Fastest:"),
            mean: of_time("Average:"),
            most: of_time("Slowest:"),
            deviation: None,
            quantiles: run.lines.iter().filter_map(quantile).collect(),
        },
        codes: codes.collect(),
        errors: errors.collect(),
        workers: setting(&["-c", "--concurrency"])
            .and_then(|setting| setting.or(WORKERS))
            .filter(|_| !varies),
        workers_from: run.command.map_or(String::new(), |command| command.quote(&["-c", "--concurrency"])),
        rate_asked,
        in_flight_unknown: if varies { VARIES.to_owned() } else { String::new() },
        subject: run.operand().unwrap_or_default().to_owned(),
        unjudged: "",
    };
    load(report).figures(known)
}

const VARIES: &str = "the number of workers changed in the run";

fn is_report(document: &Value) -> bool {
    let has = |name: &str| document.get(name).is_some();
    has("rps") && has("count") && has("average") && has("statusCodeDistribution")
}

fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(load(of_document(document)).figures(known)?);
    }
    Ok(figures)
}

fn of_document(document: &Value) -> Report {
    let number = |name: &str| document.get(name)?.as_f64().filter(|value| *value >= 0.0);
    let time =
        |name: &str| number(name).map(|nanoseconds| Printed { value: nanoseconds * 1e-9, off: 0.5e-9 });
    let counts = |name: &str| -> Vec<(String, f64)> {
        let all = document.get(name).and_then(Value::as_object);
        all.map_or(Vec::new(), |all| {
            all.iter().filter_map(|(key, count)| Some((key.clone(), count.as_f64()?))).collect()
        })
    };
    let quantile = |row: &Value| {
        let quantile = row.get("percentage")?.as_f64().filter(|quantile| *quantile > 0.0)? / 100.0;
        let latency = row.get("latency")?.as_f64().filter(|latency| *latency > 0.0)?;
        Some(((quantile * 1e6).round() / 1e6, Printed { value: latency * 1e-9, off: 0.5e-9 }))
    };
    let quantiles = document.get("latencyDistribution").and_then(Value::as_array);
    let option = |name: &str| document.get("options")?.get(name);
    let of_option = |name: &str| option(name)?.as_f64().filter(|value| *value > 0.0);
    let is_constant = |name: &str| {
        option(name).and_then(Value::as_str).is_none_or(|schedule| schedule == "const" || schedule.is_empty())
    };
    let text = |name: &str| option(name).and_then(Value::as_str).unwrap_or_default();
    let is_async = option("async").and_then(Value::as_bool) == Some(true);
    let varies = !is_constant("concurrency-schedule");
    // Before 0.50 the rate was called qps.
    let asked = of_option("rps").or(of_option("qps")).map(Asked::Rate);
    Report {
        count: number("count"),
        seconds: time("total"),
        rate: number("rps").map(|value| Printed { value, off: 0.0 }),
        latency: Statistics {
            least: time("fastest"),
            mean: time("average"),
            most: time("slowest"),
            deviation: None,
            quantiles: quantiles.map_or(Vec::new(), |all| all.iter().filter_map(quantile).collect()),
        },
        codes: counts("statusCodeDistribution"),
        errors: counts("errorDistribution"),
        workers: of_option("concurrency").filter(|_| !varies),
        workers_from: "from its option concurrency".to_owned(),
        rate_asked: match asked {
            _ if !is_constant("load-schedule") => Some(Asked::Unstated),
            None => is_async.then_some(Asked::Unstated),
            asked => asked,
        },
        in_flight_unknown: if varies { VARIES.to_owned() } else { String::new() },
        subject: format!("{} {}", text("host"), text("call")).trim().to_owned(),
        unjudged: if document.get("details").is_some() { "details of calls" } else { "" },
    }
}

fn load(report: Report) -> Load {
    let is_ok = |code: &str| code == "OK";
    let of_errors: f64 = report.errors.iter().map(|(_, count)| count).sum();
    let counted: f64 = report.codes.iter().map(|(_, count)| count).sum();
    let ok: f64 = report.codes.iter().filter(|(code, _)| is_ok(code)).map(|(_, count)| count).sum();
    // Before 0.10 calls without a status were only among the errors.
    let is_whole = |count: f64| counted == count || counted + of_errors == count;
    let all = report.count.filter(|count| is_whole(*count));
    let cut_off: f64 = report
        .errors
        .iter()
        .filter(|(text, _)| CUT_OFF.iter().any(|words| text.contains(words)))
        .map(|(_, count)| count)
        .sum();
    let most = report.workers.unwrap_or(CUT_OFF_SHARE * report.count.unwrap_or(0.0));
    let cut_off = if cut_off <= most { cut_off } else { 0.0 };
    // The same calls by their status, where the table of errors is lost.
    let closing = report.codes.iter().filter(|(code, _)| CLOSING.contains(&code.as_str()));
    let closing: f64 = closing.map(|(_, count)| count).sum();
    let is_open = all.is_some_and(|all| ok + of_errors < all) && closing > 0.0 && closing <= most;
    let cut_off = if is_open { closing } else { cut_off };
    let lost = all.map_or(0.0, |all| (all - ok - cut_off).max(0.0));
    let timeouts: f64 =
        report.codes.iter().filter(|(code, _)| code == "DeadlineExceeded").map(|(_, count)| count).sum();
    let other = report.errors.iter().find(|(text, _)| !CUT_OFF.iter().any(|words| text.contains(words)));
    let other = other.map_or("status", |(text, _)| match kind(text) {
        "connect" => "status",
        kind => kind,
    });
    let timeouts = timeouts.min(lost);
    // The mean is of all calls; the extremes and the quantiles are of those without an error.
    let is_clean = all.is_some_and(|all| ok == all);
    let bounds = |bound: Option<Printed>| bound.filter(|_| is_clean && ok < STORED);
    let busy = report
        .rate
        .zip(report.latency.mean)
        .zip(report.workers)
        .map(|((rate, mean), workers)| rate.value * mean.value / workers);
    let between = busy.filter(|busy| BETWEEN.contains(busy)).map(|busy| {
        format!(
            "{:.0} % of the workers' time is in no latency: ghz leaves out its own work between calls",
            (1.0 - busy) * 100.0
        )
    });
    let stored = report.count.filter(|count| *count > STORED).map(|_| STORED);
    Load {
        tool: "ghz",
        subject: report.subject,
        rate: report.rate,
        seconds: report.seconds,
        completed: report.count,
        answered: all.filter(|_| !is_open || lost > 0.0).map(|_| ok),
        failed: vec![("timeout", timeouts), (other, lost - timeouts)],
        recorded: stored,
        mean_of_all: true,
        latency: Statistics {
            least: bounds(report.latency.least),
            most: bounds(report.latency.most),
            ..report.latency
        },
        connections: report.workers,
        connections_from: report.workers.map_or(String::new(), |_| report.workers_from),
        rate_asked: report.rate_asked,
        in_flight_unknown: between.unwrap_or(report.in_flight_unknown),
        unjudged: report.unjudged.to_owned(),
        results: RESULTS,
        ..Load::default()
    }
}
