//! fortio (fortio/fortio): what `fortio load` prints, and its JSON.

use serde_json::Value;

use crate::command::{Command, Grammar, Style, is_target};
use crate::duration::duration;
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::shell::Word;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, half_digit, number};

pub(super) const FORMAT: Format = Format::lines(
    "fortio",
    &["Aggregated Function Time", "queries per second, ", " calls. qps="],
    starts,
    Some(&COMMAND),
    parse,
);
pub(super) const DOCUMENT: Format =
    Format::documents("fortio", &["\"DurationHistogram\""], is_result, Some(&COMMAND), parse_documents);

/// cli/fortio_main.go and bincommon/commonflags.go.
const COMMAND: Grammar = Grammar {
    programs: &["fortio"],
    style: Style::Go,
    values: &[
        "-qps",
        "-c",
        "-t",
        "-n",
        "-p",
        "-r",
        "-offset",
        "-gomaxprocs",
        "-profile",
        "-json",
        "-labels",
        "-data-dir",
        "-abort-on",
        "-s",
        "-grpc-ping-delay",
        "-grpc-method",
        "-healthservice",
        "-timeout",
        "-resolve",
        "-user",
        "-content-type",
        "-payload-size",
        "-payload",
        "-payload-file",
        "-unix-socket",
        "-cert",
        "-key",
        "-cacert",
        "-runid",
        "-connection-reuse",
        "-access-log-file",
        "-access-log-format",
        "-httpbufferkb",
        "-loglevel",
        "-H",
        "-X",
    ],
    flags: &[
        "-a",
        "-k",
        "-L",
        "-grpc",
        "-ping",
        "-health",
        "-jitter",
        "-uniform",
        "-nocatchup",
        "-calc-qps",
        "-compression",
        "-keepalive",
        "-halfclose",
        "-stdclient",
        "-http1.0",
        "-h2",
        "-https-insecure",
        "-log-errors",
        "-sequential-warmup",
        "-allow-initial-errors",
        "-no-reresolve",
        "-quiet",
        "-mtls",
        "-httpccch",
        "-grpc-compression",
        "-logger-force-color",
    ],
    hidden: &["-H", "-user", "-payload"],
    operand: |word: &Word| word.text == "load" || is_target(word),
    operands: 2..=2,
};

/// The line of the latencies, and the heading of those of failed calls.
const TIMES: &str = "Aggregated Function Time :";
const ERRORS: &str = "Error cases :";
/// How late requests were sent is printed in one of these: in the second where more than 5 % were late (periodic/periodic.go).
const SLEEPS: [&str; 2] = ["Sleep times :", "Aggregated Sleep Time :"];
/// The digits of a rate (`%.5g`): half of the last one, as a share.
const RATE_OFF: f64 = 5e-5;
/// Names that stand before the codes of calls.
const CODES: &[&str] = &["Code", "Health", "Ping", "Custom gRPC Method", "tcp", "udp"];
/// From this share of the 99th percentile on it matters how late requests were sent (`coordinated-omission`).
const LATE: f64 = 0.1;
/// Sockets for so many calls are a connection for each.
const EACH: f64 = 0.9;
/// The most rows of a histogram.
const MOST_ROWS: usize = 400;
const RESULTS: &str =
    "fortio's rate and latencies include failed calls; its quantiles are interpolated within buckets (-r)";

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let kinds: &[fn(&str) -> bool] = &[
        |line| line.starts_with("Fortio ") && line.contains(" running at "),
        |line| line.starts_with("Starting at ") && line.contains(" thread(s)"),
        |line| line.starts_with("Ended after ") && line.contains(" calls. qps="),
        is_behind,
        |line| line.starts_with(TIMES),
        |line| line.starts_with("Sockets used:"),
        |line| line.starts_with("All done ") && line.contains(" ms avg, "),
    ];
    begins(kinds, before, rest)
}

/// `WARNING 100.00% of sleep were falling behind`: it sleeps only between calls at a rate.
fn is_behind(line: &str) -> bool {
    line.starts_with("WARNING ") && line.contains("% of sleep were falling behind")
}

/// What a run holds, in whichever form.
#[derive(Default)]
struct Report {
    count: Option<f64>,
    seconds: Option<Printed>,
    asked_seconds: Option<Printed>,
    rate: Option<Printed>,
    latency: Statistics,
    codes: Vec<(String, f64)>,
    threads: Option<f64>,
    threads_from: String,
    pace: Pace,
    late: Option<f64>,
    sockets: Option<f64>,
    keeps_alive: Option<bool>,
    subject: String,
    unjudged: &'static str,
}

/// When calls are made.
#[derive(Clone, Copy, Default, PartialEq)]
enum Pace {
    /// It is not known.
    #[default]
    Unknown,
    /// As soon as the last has ended.
    Closed,
    /// So many a second, or it is not known how many.
    At(Option<f64>),
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let head = run.lines.iter().find(|line| line.starts_with("Fortio ") && line.contains(" running at "));
    let start = run.lines.iter().find(|line| line.starts_with("Starting at ") && line.contains(" thread(s)"));
    let ended = run.after("Ended after ");
    let done = run.after("All done ");
    let sleeps = SLEEPS.iter().find_map(|label| run.after(label));
    let latencies = run.after(TIMES).unwrap_or_default();
    let (statistics, late) = (statistics(run, latencies), sleeps.map(|sleeps| lateness(run, sleeps)));
    let of_done = || Printed::of(done?.rsplit_once(", ")?.1.strip_suffix(" qps")?);
    let rate = ended.and_then(|line| general(line.rsplit_once("qps=")?.1)).or_else(of_done);
    let threads = start.and_then(|line| number(line.split_once(" with ")?.1.split_once(" thread(s)")?.0));
    let sockets = run.after("Sockets used:");
    let perfect = sockets.and_then(|line| number(first(line.split_once("would be ")?.1)?));
    let report = Report {
        count: field(latencies, "count").or_else(|| number(first(done?)?)),
        seconds: ended.and_then(|line| duration(line.split_once(" : ")?.0, 9)),
        asked_seconds: start.and_then(|line| duration(first(line.rsplit_once(" for ")?.1)?, 9)),
        rate,
        codes: run.lines.iter().filter_map(|line| code(line)).take(MOST_ROWS).collect(),
        threads: threads.or(perfect),
        threads_from: match (threads, perfect) {
            (Some(threads), _) => format!("from with {threads} thread(s)"),
            (None, Some(perfect)) => format!("from would be {perfect}"),
            (None, None) => String::new(),
        },
        pace: pace(
            head.copied(),
            start.copied(),
            sleeps.is_some() || run.lines.iter().any(|line| is_behind(line)),
            ended.is_some() && !latencies.is_empty(),
        ),
        late: late.and_then(|late| late.against(&statistics)),
        sockets: sockets.and_then(|line| number(first(line)?)),
        keeps_alive: run.command.and_then(keeps_alive),
        subject: head
            .and_then(|line| line.rsplit_once(": "))
            .map_or(String::new(), |(_, url)| url.to_owned()),
        unjudged: if run.after("Response").is_some() { "sizes of heads and bodies" } else { "" },
        latency: statistics,
    };
    load(report).figures(known)
}

/// Numbers as `%g` prints them: `9.6921`, `1.0301e+05`.
fn general(text: &str) -> Option<Printed> {
    let token = first(text)?;
    let value = number(token)?;
    Some(Printed {
        value,
        off: if token.contains('e') {
            RATE_OFF * value
        } else {
            half_digit(token).min(RATE_OFF * value.max(1e-9))
        },
    })
}

/// The number behind a word in `count 40 avg 0.060587641 +/- 0.006564 min 0.052549016 max 0.089893269 sum 2.42350566`.
fn field(line: &str, name: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == name)?;
    signed(words.next()?)
}

fn signed(token: &str) -> Option<f64> {
    match token.strip_prefix('-') {
        Some(rest) => number(rest).map(|value| -value),
        None => number(token),
    }
}

/// The latencies: their line, the histogram, and `# target 99% 0.085936` for each quantile. Marks of quotes and comments may
/// be taken off.
fn statistics(run: &Run, latencies: &str) -> Statistics {
    let of = |name: &str| field(latencies, name).filter(|value| *value >= 0.0).map(Printed::exact);
    let below = run.lines.iter().skip_while(|line| !line.starts_with(TIMES)).skip(1);
    let own: Vec<&&str> =
        below.take_while(|line| !line.starts_with(ERRORS) && code(line).is_none()).take(MOST_ROWS).collect();
    let buckets: Vec<(f64, f64)> = own.iter().filter_map(|line| bucket(line)).collect();
    let quantile = |line: &&&str| {
        let (quantile, value) =
            line.trim_start_matches('#').trim_start().strip_prefix("target ")?.split_once("% ")?;
        let quantile = (number(quantile)? * 1e4).round() / 1e6;
        Some((quantile, within(number(value.trim())?, &buckets)))
    };
    Statistics {
        least: of("min"),
        mean: of("avg"),
        most: of("max"),
        deviation: of("+/-"),
        quantiles: own.iter().filter_map(quantile).collect(),
    }
}

/// The bounds in `>= 0.052549 <= 0.06 , 0.0562745 , 47.50, 19`.
fn bucket(line: &str) -> Option<(f64, f64)> {
    let row: Vec<&str> = line.trim_start_matches(['>', '=', ' ']).split_whitespace().collect();
    let [low, "<" | "<=", high, ",", ..] = row.as_slice() else { return None };
    Some((number(low)?, number(high)?))
}

/// A quantile, which may be anywhere in its bucket.
fn within(value: f64, buckets: &[(f64, f64)]) -> Printed {
    let own = buckets.iter().find(|(low, high)| (*low..=*high).contains(&value));
    Printed { value, off: own.map_or(0.0, |(low, high)| (value - low).max(high - value)) }
}

/// How late requests were sent: bounds of the 99th percentile, in seconds.
struct Lateness {
    least: f64,
    most: f64,
}

impl Lateness {
    /// The one that is known well enough for the latencies; `None` where the bounds say different things.
    fn against(&self, latency: &Statistics) -> Option<f64> {
        let (_, p99) = latency.quantiles.iter().find(|(quantile, _)| *quantile == 0.99)?;
        let matters = LATE * p99.value;
        if self.least >= matters {
            return Some(self.least);
        }
        (self.most < matters).then_some(self.most)
    }
}

/// Of the sleeps before requests those below 0 were late.
fn lateness(run: &Run, sleeps: &str) -> Lateness {
    let below = run.lines.iter().skip_while(|line| !line.starts_with(SLEEPS[1])).skip(1);
    let median = below.take_while(|line| !line.starts_with(TIMES)).take(MOST_ROWS).find_map(|line| {
        signed(line.trim_start_matches('#').trim_start().strip_prefix("target 50% ")?.trim())
    });
    let late = |sleep: Option<f64>| -sleep.unwrap_or(0.0).min(0.0);
    Lateness { least: late(median).max(late(field(sleeps, "avg"))), most: late(field(sleeps, "min")) }
}

/// `Code 200 : 40 (100.0 %)`, `Health SERVING : 40`.
fn code(line: &str) -> Option<(String, f64)> {
    let (what, count) = line.split_once(" : ")?;
    let (kind, code) = what.trim_end().rsplit_once(' ')?;
    CODES.contains(&kind.trim_end()).then_some((code.to_owned(), number(first(count)?)?))
}

fn pace(head: Option<&str>, start: Option<&str>, sleeps: bool, ended: bool) -> Pace {
    if let Some(start) = start {
        let asked = start.trim_start_matches("Starting at ");
        return if asked.starts_with("max ") {
            Pace::Closed
        } else {
            Pace::At(first(asked).and_then(number))
        };
    }
    if let Some(asked) = head.and_then(|line| first(line.split_once(" running at ")?.1)) {
        return match number(asked) {
            Some(rate) if rate > 0.0 => Pace::At(Some(rate)),
            None if !asked.starts_with('-') => Pace::Unknown,
            _ => Pace::Closed,
        };
    }
    match (sleeps, ended) {
        (true, _) => Pace::At(None),
        // Between these two lines sleeps would be.
        (false, true) => Pace::Closed,
        (false, false) => Pace::Unknown,
    }
}

fn keeps_alive(command: &Command) -> Option<bool> {
    let lost = |name: &str, value: &str| {
        let own = command.options.iter().filter(|(own, _)| own == name);
        own.map(|(_, word)| word.as_ref().map_or("true", |word| word.text.as_str())).any(|own| own == value)
    };
    if lost("-keepalive", "false") || lost("-http1.0", "true") {
        return Some(false);
    }
    command.whole.then_some(true)
}

fn is_result(document: &Value) -> bool {
    document.get("DurationHistogram").is_some_and(|histogram| histogram.get("Count").is_some())
        && document.get("ActualQPS").is_some()
}

fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(load(of_document(document)).figures(known)?);
    }
    Ok(figures)
}

fn of_document(document: &Value) -> Report {
    let histogram = document.get("DurationHistogram");
    let positive = |value: &Value| value.as_f64().filter(|value| *value >= 0.0);
    let field = |name: &str| document.get(name).and_then(positive);
    let of = |name: &str| histogram?.get(name).and_then(positive);
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let rows =
        |name: &str| histogram.and_then(|own| own.get(name)?.as_array()).map_or(&[][..], Vec::as_slice);
    let bucket = |row: &Value| Some((row.get("Start")?.as_f64()?, row.get("End")?.as_f64()?));
    let buckets: Vec<(f64, f64)> = rows("Data").iter().filter_map(bucket).collect();
    let quantile = |row: &Value| {
        let quantile = row.get("Percentile").and_then(positive)?;
        Some(((quantile * 1e4).round() / 1e6, within(row.get("Value").and_then(positive)?, &buckets)))
    };
    let codes = document.get("RetCodes").and_then(Value::as_object);
    // Of gRPC 1 is SERVING.
    let is_grpc = text("RunType").starts_with("GRPC");
    let named = |code: &str| if is_grpc && code == "1" { "SERVING".to_owned() } else { code.to_owned() };
    let asked = document.get("RequestedQPS");
    let asked = asked.and_then(|asked| asked.as_f64().or_else(|| signed(asked.as_str()?)));
    let threads = field("NumThreads").filter(|threads| *threads >= 1.0);
    Report {
        count: of("Count"),
        seconds: field("ActualDuration").map(|nanoseconds| Printed::exact(nanoseconds * 1e-9)),
        asked_seconds: duration(text("RequestedDuration"), 9).filter(|asked| asked.value > 0.0),
        rate: field("ActualQPS").map(Printed::exact),
        latency: Statistics {
            least: of("Min").map(Printed::exact),
            mean: of("Avg").map(Printed::exact),
            most: of("Max").map(Printed::exact),
            deviation: of("StdDev").map(Printed::exact),
            quantiles: rows("Percentiles").iter().filter_map(quantile).collect(),
        },
        codes: codes.map_or(Vec::new(), |codes| {
            codes.iter().filter_map(|(code, count)| Some((named(code), positive(count)?))).collect()
        }),
        threads,
        threads_from: threads.map_or(String::new(), |_| "from NumThreads".to_owned()),
        pace: match asked {
            Some(rate) if rate > 0.0 => Pace::At(Some(rate)),
            Some(_) => Pace::Closed,
            None if text("RequestedQPS") == "max" => Pace::Closed,
            None => Pace::Unknown,
        },
        late: None,
        sockets: field("SocketCount"),
        keeps_alive: document.get("DisableKeepAlive").and_then(Value::as_bool).map(|disabled| !disabled),
        subject: [text("URL"), text("Destination")]
            .into_iter()
            .find(|url| !url.is_empty())
            .unwrap_or_default()
            .to_owned(),
        unjudged: if document.get("Sizes").is_some() { "sizes of heads and bodies" } else { "" },
    }
}

fn load(report: Report) -> Load {
    // fortio counts 418 as well (fhttp/http_client.go, `codeIsOK`).
    let is_ok = |code: &str| code.starts_with(['2', '3']) || matches!(code, "418" | "SERVING" | "OK");
    let counted: f64 = report.codes.iter().map(|(_, count)| count).sum();
    let ok: f64 = report.codes.iter().filter(|(code, _)| is_ok(code)).map(|(_, count)| count).sum();
    let broken: f64 = report.codes.iter().filter(|(code, _)| code == "-1").map(|(_, count)| count).sum();
    let is_whole = report.count.is_some_and(|count| counted == count);
    let sockets = report.sockets.zip(report.threads).zip(report.count);
    // After a failed call fortio makes a new connection.
    let lost = (counted - ok).max(0.0);
    // Without keep-alive each call makes a connection; what lies between is keep-alive that was lost.
    let (keeps_alive, connects) = match sockets {
        Some(((sockets, threads), count)) if sockets > threads => {
            let each = report.keeps_alive != Some(true) && sockets >= EACH * count;
            (
                Some(!each && report.keeps_alive != Some(false)),
                (!each).then_some((sockets - threads - lost).max(0.0)),
            )
        }
        Some(_) => (report.keeps_alive, Some(0.0)),
        None => (report.keeps_alive, None),
    };
    let counted_seconds =
        report.count.zip(report.rate.filter(|rate| rate.value > 0.0)).map(|(count, rate)| count / rate.value);
    Load {
        tool: "fortio",
        subject: report.subject,
        rate: report.rate,
        seconds: report.seconds,
        // With -quiet the time follows from count and rate.
        sent_seconds: if report.seconds.is_none() { counted_seconds } else { None },
        // Only what ended before its time was too short: fortio waits for the last calls.
        asked_seconds: report
            .asked_seconds
            .filter(|asked| report.seconds.is_some_and(|own| own.value < asked.value)),
        completed: report.count,
        answered: is_whole.then_some(ok),
        failed: vec![("reset", broken), ("status", (counted - ok - broken).max(0.0))],
        latency: report.latency,
        interpolates: true,
        connections: report.threads,
        connections_from: report.threads_from,
        rate_asked: match report.pace {
            Pace::At(rate) => Some(rate.map_or(Asked::Unstated, Asked::Rate)),
            Pace::Unknown => Some(Asked::Perhaps),
            Pace::Closed => None,
        },
        late: report.late,
        keeps_alive,
        connects,
        unjudged: report.unjudged.to_owned(),
        results: RESULTS,
        ..Load::default()
    }
}
