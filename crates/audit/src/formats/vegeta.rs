//! vegeta (tsenart/vegeta): `vegeta report` as text, JSON, histogram and HdrHistogram plot.

use serde_json::Value;

use crate::command::{Command, Grammar, Style};
use crate::duration::duration;
use crate::format::Format;
use crate::formats::hey::kind;
use crate::formats::vegeta_quantiles::{buckets, plot};
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::shell::Word;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, number};

pub(super) const FORMAT: Format = Format::lines(
    "vegeta",
    &["[total, rate", "[code:count]", "Value(ms)", "Bucket  "],
    starts,
    Some(&COMMAND),
    parse,
);
pub(super) const DOCUMENT: Format = Format::documents(
    "vegeta",
    &["\"50th\"", "\"status_codes\""],
    is_report,
    Some(&COMMAND),
    parse_documents,
);

/// attack.go and report.go.
const COMMAND: Grammar = Grammar {
    programs: &["vegeta"],
    style: Style::Go,
    values: &[
        "-name",
        "-targets",
        "-format",
        "-output",
        "-body",
        "-cert",
        "-key",
        "-root-certs",
        "-duration",
        "-timeout",
        "-workers",
        "-max-workers",
        "-connections",
        "-max-connections",
        "-redirects",
        "-max-body",
        "-rate",
        "-header",
        "-proxy-header",
        "-laddr",
        "-unix-socket",
        "-prometheus-addr",
        "-dns-ttl",
        "-connect-to",
        "-resolvers",
        "-type",
        "-every",
        "-buckets",
        "-cpus",
    ],
    flags: &["-chunked", "-http2", "-h2c", "-insecure", "-lazy", "-keepalive", "-session-tickets"],
    hidden: &["-header", "-proxy-header", "-body"],
    operand: is_operand,
    operands: 1..=2,
};

/// Decimals of times (`round` in lib/reporters.go). Before 12.8 all digits were printed.
const DECIMALS: usize = 3;
/// The share of successes has two decimals of a percent.
const RATIO_OFF: f64 = 1e-4;
/// By what share totals may differ from what they are of, beyond rounding.
const APART: f64 = 0.05;
/// vegeta takes the time when a worker sends (`hit` in lib/attack.go).
const RESULTS: &str = "vegeta's latencies begin when a worker sends, not when the request was due";
/// Lines of the histogram and of the plot begin so.
const BUCKETS: &str = "Bucket ";
const PLOT: &str = "Value(ms)";
/// The most errors that are read.
const MOST_ERRORS: usize = 1000;

fn is_operand(word: &Word) -> bool {
    matches!(word.text.as_str(), "attack" | "report")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if line.starts_with(BUCKETS) && line.ends_with("Histogram") {
        return true;
    }
    if line.starts_with(PLOT) && line.contains("1/(1-Percentile)") {
        return true;
    }
    begins(&[is_requests, is_duration, is_latencies, is_bytes, is_success, is_codes], before, rest)
}

fn is_requests(line: &str) -> bool {
    is_row(line, "Requests", "total")
}

fn is_duration(line: &str) -> bool {
    is_row(line, "Duration", "total")
}

fn is_latencies(line: &str) -> bool {
    is_row(line, "Latencies", "m")
}

fn is_bytes(line: &str) -> bool {
    is_row(line, "Bytes In", "total")
}

fn is_success(line: &str) -> bool {
    is_row(line, "Success", "ratio")
}

fn is_codes(line: &str) -> bool {
    is_row(line, "Status Codes", "code:count")
}

/// Whether a line is `name  [label, …]  values`.
fn is_row(line: &str, name: &str, label: &str) -> bool {
    line.strip_prefix(name)
        .and_then(|rest| rest.trim_start().strip_prefix('['))
        .is_some_and(|labels| labels.starts_with(label))
}

/// What a report holds, in whichever form.
#[derive(Default)]
struct Report {
    requests: Option<f64>,
    /// Requests that were sent, a second of the attack.
    rate: Option<Printed>,
    /// Successes, a second of attack and wait.
    throughput: Option<Printed>,
    /// Attack and wait.
    total: Option<Printed>,
    attack: Option<Printed>,
    /// For the answer to the last request.
    wait: Option<Printed>,
    latency: Statistics,
    /// Successes as a share.
    success: Option<f64>,
    codes: Vec<(String, f64)>,
    errors: Vec<String>,
    unjudged: &'static str,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    if head.starts_with(BUCKETS) {
        return rateless(buckets(run)?, run, "shares of the buckets").figures(known);
    }
    if head.starts_with(PLOT) {
        return rateless(plot(run)?, run, "").figures(known);
    }
    let requests = row(run, "Requests");
    let times = row(run, "Duration");
    let latencies = row(run, "Latencies");
    let time = |label: &str| find(&times, label).and_then(|text| duration(text, DECIMALS));
    let latency = |label: &str| find(&latencies, label).and_then(|text| duration(text, DECIMALS));
    let of_quantile = |(label, text): &(&str, &str)| {
        let quantile = number(label).filter(|quantile| *quantile <= 100.0)?;
        Some(((quantile * 1e4).round() / 1e6, duration(text, DECIMALS)?))
    };
    let codes = run.lines.iter().find(|line| is_codes(line)).and_then(|line| line.split_once(']'));
    let codes = codes.map_or(Vec::new(), |(_, codes)| {
        let pairs = codes.split_whitespace().filter_map(|pair| pair.split_once(':'));
        pairs.filter_map(|(code, count)| Some((code.to_owned(), number(count)?))).collect()
    });
    let errors = run.lines.iter().skip_while(|line| !line.starts_with("Error Set:")).skip(1);
    let success = row(run, "Success");
    let report = Report {
        requests: find(&requests, "total").and_then(number),
        rate: find(&requests, "rate").and_then(Printed::of),
        throughput: find(&requests, "throughput").and_then(Printed::of),
        total: time("total"),
        attack: time("attack"),
        wait: time("wait"),
        latency: Statistics {
            least: latency("min"),
            mean: latency("mean"),
            most: latency("max"),
            deviation: None,
            quantiles: latencies.iter().filter_map(of_quantile).collect(),
        },
        success: find(&success, "ratio").and_then(|text| Some(number(text.strip_suffix('%')?)? / 100.0)),
        codes,
        errors: errors
            .take_while(|line| !line.is_empty())
            .take(MOST_ERRORS)
            .map(|line| (*line).to_owned())
            .collect(),
        unjudged: "",
    };
    load(report, run)?.figures(known)
}

/// The labels of a row, `Name  [label, label]  value, value`, with their values.
fn row<'a>(run: &Run<'a>, name: &str) -> Vec<(&'a str, &'a str)> {
    let line = run.lines.iter().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('['));
    let Some((labels, values)) = line.and_then(|line| line.split_once(']')) else { return Vec::new() };
    labels.split(',').map(str::trim).zip(values.split(", ").map(str::trim)).collect()
}

fn find<'a>(row: &[(&'a str, &'a str)], label: &str) -> Option<&'a str> {
    row.iter().find(|(own, _)| *own == label).map(|(_, value)| *value)
}

fn is_report(document: &Value) -> bool {
    document.get("latencies").is_some_and(|latencies| latencies.get("50th").is_some())
        && document.get("status_codes").is_some()
}

fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(load(of_document(document), run)?.figures(known)?);
    }
    Ok(figures)
}

fn of_document(document: &Value) -> Report {
    let field = |name: &str| document.get(name)?.as_f64().filter(|value| *value >= 0.0).map(Printed::exact);
    let time = |name: &str| field(name).map(|nanoseconds| nanoseconds.times(1e-9));
    let latency = |name: &str| {
        let nanoseconds = document.get("latencies")?.get(name)?.as_f64().filter(|value| *value >= 0.0)?;
        Some(Printed { value: nanoseconds * 1e-9, off: 0.5e-9 })
    };
    let quantiles = [(0.5, "50th"), (0.9, "90th"), (0.95, "95th"), (0.99, "99th")];
    let codes = document.get("status_codes").and_then(Value::as_object);
    let errors = document.get("errors").and_then(Value::as_array);
    let (attack, wait) = (time("duration"), time("wait"));
    Report {
        requests: field("requests").map(|requests| requests.value),
        rate: field("rate"),
        throughput: field("throughput"),
        total: attack.zip(wait).map(|(attack, wait)| Printed::exact(attack.value + wait.value)),
        attack,
        wait,
        latency: Statistics {
            least: latency("min"),
            mean: latency("mean"),
            most: latency("max"),
            deviation: None,
            quantiles: quantiles
                .iter()
                .filter_map(|(quantile, name)| Some((*quantile, latency(name)?)))
                .collect(),
        },
        success: field("success").map(|success| success.value),
        codes: codes.map_or(Vec::new(), |codes| {
            codes.iter().filter_map(|(code, count)| Some((code.clone(), count.as_f64()?))).collect()
        }),
        errors: errors.map_or(Vec::new(), |errors| {
            errors.iter().filter_map(Value::as_str).take(MOST_ERRORS).map(str::to_owned).collect()
        }),
        unjudged: if document.get("buckets").is_some() { "buckets" } else { "" },
    }
}

fn load(report: Report, run: &Run) -> Result<Load, String> {
    let sent = report.requests.ok_or("has no line of the number of requests")?;
    let is_success = |code: &str| code.starts_with(['2', '3']);
    let of = |is: &dyn Fn(&str) -> bool| -> f64 {
        report.codes.iter().filter(|(code, _)| is(code)).map(|(_, count)| count).sum()
    };
    let counted: f64 = report.codes.iter().map(|(_, count)| count).sum();
    let succeeded = of(&is_success);
    // Counts that are cut off show nothing.
    let answered =
        if counted == sent { Some(succeeded) } else { report.success.map(|share| (share * sent).round()) };
    let unsent = report.errors.iter().find(|error| !is_status(error)).map_or("connect", |error| kind(error));
    let failed = match (counted == sent, answered) {
        (true, _) => {
            vec![(unsent, of(&|code| code == "0")), ("status", sent - succeeded - of(&|code| code == "0"))]
        }
        (false, Some(answered)) => vec![("status", (sent - answered).max(0.0))],
        (false, None) => Vec::new(),
    };
    let pace = Pace::of(&report, sent, run.command);
    let attack = report.attack.filter(|attack| attack.value > 0.0);
    // The last request is sent at the end of the attack: n requests in n - 1 intervals.
    let attacked = attack.map(|attack| attack.value * if sent > 1.0 { sent / (sent - 1.0) } else { 1.0 });
    let attacked = attacked.or_else(|| pace.stated.map(|rate| sent / rate));
    let backlog = backlog(&report);
    let is_of_successes = report.throughput.is_some();
    // Before 6.0 there was no rate.
    let rate = report
        .rate
        .or(attack.map(|attack| Printed { value: sent / attack.value, off: attack.off / attack.value }));
    let seconds = if is_of_successes { report.total } else { attack };
    let asked = run.command.map_or(Vec::new(), |command| command.values(&["-duration"]));
    let asked = match asked.as_slice() {
        [asked] => duration(asked, DECIMALS).filter(|asked| asked.value > 0.0),
        _ => None,
    };
    Ok(Load {
        tool: "vegeta",
        subject: subject(run),
        rate: report.throughput.or(rate),
        seconds: seconds.or(report.total),
        sent_seconds: attacked.map(|attacked| attacked + backlog),
        // Without an attack that lasts the rates are counts.
        completed: attack.and(if is_of_successes { answered } else { Some(sent) }),
        asked_seconds: asked.map(|asked| Printed { off: asked.off + backlog, ..asked }),
        answered,
        failed,
        connections: pace.workers,
        connections_from: match (pace.workers, run.command) {
            (Some(_), Some(command)) => command.quote(&["-max-workers"]),
            _ => String::new(),
        },
        rate_asked: pace.asked,
        keeps_alive: run.command.filter(|command| command.has(&["-keepalive"])).map(|command| {
            !command.options.iter().any(|(name, value)| {
                name == "-keepalive" && value.as_ref().is_some_and(|value| value.text == "false")
            })
        }),
        contradiction: contradiction(&report, sent, succeeded, counted),
        latency: report.latency,
        unjudged: report.unjudged.to_owned(),
        results: RESULTS,
        ..Load::default()
    })
}

/// The URL of a target that the command is given: `echo "GET http://x" | vegeta attack`.
fn subject(run: &Run) -> String {
    let line = run.before.iter().rev().take(16).find(|line| line.contains("vegeta"));
    let url = line.and_then(|line| line.split(['"', '\'', ' ']).find(|word| word.contains("://")));
    url.unwrap_or_default().to_owned()
}

/// Whether an error is a status line: `403 Forbidden`.
fn is_status(error: &str) -> bool {
    error.split(' ').next().is_some_and(|code| code.len() == 3 && number(code).is_some())
}

/// How requests were paced.
struct Pace {
    asked: Option<Asked>,
    /// Requests a second, by the command.
    stated: Option<f64>,
    /// Where there is no rate: as many requests are under way as there are workers.
    workers: Option<f64>,
}

impl Pace {
    fn of(report: &Report, sent: f64, command: Option<&Command>) -> Pace {
        let stated = command.map_or(Vec::new(), |command| command.values(&["-rate"]));
        let stated = match stated.as_slice() {
            [rate] => per_second(rate),
            _ => None,
        };
        if stated == Some(0.0) {
            let workers = command.map_or(Vec::new(), |command| command.values(&["-max-workers"]));
            return Pace {
                asked: None,
                stated: None,
                workers: workers.first().and_then(|workers| number(workers)),
            };
        }
        // The printed rate is of n requests in n - 1 intervals.
        // Of one request, or of several at once, it is a count.
        let lasts = report.attack.is_some_and(|attack| attack.value > 0.0);
        let printed = report
            .rate
            .filter(|_| lasts)
            .map(|rate| rate.value * if sent > 1.0 { (sent - 1.0) / sent } else { 1.0 });
        let rate = stated.or(printed.map(|rate| (rate * 100.0).round() / 100.0));
        Pace { asked: Some(rate.map_or(Asked::Unstated, Asked::Rate)), stated, workers: None }
    }
}

/// `100`, `100/s`, `30/1m`, in requests a second.
fn per_second(text: &str) -> Option<f64> {
    let (count, per) = text.split_once('/').unwrap_or((text, "1s"));
    let per = if per.starts_with(|c: char| c.is_ascii_digit()) { per.to_owned() } else { format!("1{per}") };
    let seconds = duration(&per, DECIMALS)?.value;
    (seconds > 0.0).then_some(number(count)? / seconds)
}

/// Seconds that requests waited on average for others, at the end of the attack: what a rate leaves behind that the server cannot follow.
fn backlog(report: &Report) -> f64 {
    let (Some(wait), Some(mean), Some(least)) = (report.wait, report.latency.mean, report.latency.least)
    else {
        return 0.0;
    };
    (wait.value.min(mean.value) - least.value).max(0.0)
}

/// Why the totals cannot be.
fn contradiction(report: &Report, sent: f64, succeeded: f64, counted: f64) -> Option<String> {
    if let (Some(rate), Some(attack)) = (report.rate, report.attack.filter(|attack| attack.value > 0.0)) {
        let own = sent / attack.value;
        let rounding = attack.share() + rate.share() + APART;
        if (own - rate.value).abs() > rounding * own.max(rate.value) {
            return Some(format!("the rate, {}/s, is not {sent} requests in {} s", rate.value, attack.value));
        }
    }
    if let (Some(total), Some(attack), Some(wait)) = (report.total, report.attack, report.wait) {
        let parts = Printed { value: attack.value + wait.value, off: attack.off + wait.off };
        if total.differs(parts) && (total.value - parts.value).abs() > APART * total.value {
            return Some(format!(
                "the duration, {} s, is not attack and wait, {} s",
                total.value, parts.value
            ));
        }
    }
    if counted > sent {
        return Some(format!("{counted} status codes are more than {sent} requests"));
    }
    let share = report.success.filter(|_| counted == sent && sent > 0.0)?;
    let own = succeeded / sent;
    let apart = (share - own).abs() > RATIO_OFF + 0.01;
    apart.then(|| format!("the success ratio, {share}, is not that of the status codes, {own}"))
}

/// Latencies without a rate.
fn rateless(latency: Statistics, run: &Run, unjudged: &str) -> Load {
    Load {
        tool: "vegeta",
        subject: subject(run),
        latency,
        rate_asked: Some(Asked::Unstated),
        rateless: true,
        interpolates: true,
        unjudged: unjudged.to_owned(),
        results: RESULTS,
        ..Load::default()
    }
}
