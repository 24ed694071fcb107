//! netperf (HewlettPackard/netperf): tables of its classic tests, and `KEY=value` lines of its omni tests (`-- -k`).

use figure::evidence::audit::UNJUDGED;
use figure::{Better, Figure, Unit};

use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::formats::transfer::{Datagrams, LEAST, Transfer, beyond};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, id_word, number};

pub(super) const FORMAT: Format = Format::lines(
    "netperf",
    &[
        " TEST from ",
        " TEST to ",
        "Recv   Send    Send",
        "Local /Remote",
        "Socket  Message  Elapsed",
        "THROUGHPUT=",
    ],
    starts,
    Some(&COMMAND),
    parse,
);

/// netperf(1). What follows `--` are options of the test.
const COMMAND: Grammar = Grammar {
    programs: &["netperf"],
    style: Style::Getopt,
    values: &[
        "-a", "-A", "-b", "-B", "-c", "-C", "-d", "-D", "-f", "-F", "-H", "-i", "-I", "-j", "-k", "-l", "-L",
        "-n", "-O", "-o", "-p", "-P", "-r", "-s", "-t", "-T", "-v", "-W", "-w", "-y", "-Y", "-Z",
    ],
    flags: &["-4", "-6", "-h", "-N", "-S", "-V"],
    hidden: &["-Z"],
    operand: |_| false,
    operands: 0..=0,
};

/// Lines from a title to the numbers of a table.
const WITHIN: usize = 16;
/// The most lines of `KEY=value`.
const MOST_KEYS: usize = 400;
/// The longest part of an id.
const LONGEST: usize = 40;
/// Times of `KEY=value` are in microseconds (src/nettest_omni.c).
const MICROSECOND: f64 = 1e-6;
/// The rate of a transfer in Mbit/s, by the unit that is printed; options -f g, m, k, G, M, K.
const RATES: &[(&str, f64)] = &[
    ("10^6bits/s", 1.0),
    ("10^9bits/s", 1e3),
    ("10^3bits/s", 1e-3),
    ("GBytes/s", 8e-6 * 1_073_741_824.0),
    ("MBytes/s", 8e-6 * 1_048_576.0),
    ("KBytes/s", 8e-6 * 1024.0),
];

/// `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET`: the test, and where to.
fn title(line: &str) -> Option<(&str, &str)> {
    let (test, rest) = line.split_once(" TEST ")?;
    let is_test =
        test.bytes().all(|byte| byte.is_ascii_uppercase() || b" /_-".contains(&byte)) && !test.is_empty();
    let to = rest.split_once("to ").filter(|_| rest.starts_with("from ") || rest.starts_with("to "))?.1;
    is_test.then(|| {
        (test.trim_start_matches("MIGRATED").trim(), to.split_whitespace().next().unwrap_or_default())
    })
}

/// What the table of a test holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Table {
    /// A transfer, in this many Mbit/s.
    Stream(f64),
    /// Messages that were sent, and that arrived, in the same.
    Messages(f64),
    Requests,
}

/// Which of the numbers of a table are the seconds, by its line of units.
fn seconds_at(line: &str) -> Option<usize> {
    line.split_whitespace()
        .position(|word| word == "secs." || word == "secs")
        .filter(|_| line.starts_with("bytes "))
}

/// The line of units, by which a table is known: `bytes  bytes   bytes    secs.    10^6bits/sec`.
fn table(line: &str) -> Option<Table> {
    seconds_at(line)?;
    let unit =
        |(name, factor): &(&str, f64)| line.replace("Bytes /", "Bytes/").contains(name).then_some(*factor);
    let rate = RATES.iter().find_map(unit);
    match rate {
        _ if line.contains("per sec") => Some(Table::Requests),
        Some(rate) if line.contains(" # ") => Some(Table::Messages(rate)),
        Some(rate) => Some(Table::Stream(rate)),
        None => None,
    }
}

/// `THROUGHPUT=9415.93`.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let is_name = name.len() > 3
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_name.then_some((name, value.trim()))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let near = || before.iter().rev().take(WITHIN).take_while(|line| table(line).is_none());
    if title(line).is_some() {
        let mut own = rest.iter().skip(1).take(WITHIN);
        return own.any(|line| table(line).is_some() || key(line).is_some_and(|(name, _)| is_measured(name)));
    }
    if table(line).is_some() {
        return !near().any(|line| title(line).is_some());
    }
    let is_key = |line: &str| key(line).is_some();
    if !is_key(line) || near().take(3).any(|line| is_key(line) || title(line).is_some()) {
        return false;
    }
    rest.iter()
        .take(MOST_KEYS)
        .take_while(|line| is_key(line) || line.is_empty())
        .any(|line| key(line).is_some_and(|(name, value)| is_measured(name) && number(value).is_some()))
}

/// What an omni test measures.
fn is_measured(name: &str) -> bool {
    matches!(name, "THROUGHPUT" | "MEAN_LATENCY")
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let (test, host) = run.lines.iter().take(WITHIN).find_map(|line| title(line)).unwrap_or_default();
    let at = run.lines.iter().position(|line| table(line).is_some());
    let mut figures = match at {
        Some(at) => of_table(run, at, test, host, known)?,
        None => of_keys(run, test, host, known)?,
    };
    let first = figures.first_mut().ok_or("has no line of numbers")?;
    first
        .evidence
        .put(UNJUDGED, "sizes of sockets and messages; CPU utilization and service demand".to_owned());
    Ok(figures)
}

/// The half width of the confidence interval that was reached, where it is not the one that was asked for:
/// `!!! Confidence intervals: Throughput      : 12.345%`, which is the width.
fn error(run: &Run) -> Option<f64> {
    let line = run.lines.iter().find(|line| line.starts_with("!!! Confidence intervals: Throughput"))?;
    Some(number(line.rsplit(':').next()?.trim().strip_suffix('%')?)? / 200.0)
}

/// Seconds that were asked for.
fn asked(run: &Run) -> Option<f64> {
    match run.command?.setting(&["-l"]) {
        Setting::Is(seconds) => Some(seconds),
        _ => None,
    }
}

/// The figures of the table whose units are in this line.
fn of_table(run: &Run, at: usize, test: &str, host: &str, known: &Known) -> Result<Vec<Figure>, String> {
    let units = run.lines[at];
    let (Some(table), Some(time)) = (table(units), seconds_at(units)) else { return Ok(Vec::new()) };
    let rows = run.lines[at + 1..]
        .iter()
        .take(WITHIN)
        .take_while(|line| title(line).is_none())
        .filter(|line| !line.is_empty());
    let rows: Vec<Vec<Printed>> = rows
        .map(|line| line.split_whitespace().map_while(Printed::of).take(12).collect::<Vec<_>>())
        .take_while(|row| row.len() > 1)
        .take(2)
        .collect();
    let [row, more @ ..] = rows.as_slice() else { return Err("has no line of numbers".to_owned()) };
    let missing = || "has too few numbers in its line".to_owned();
    let word = |default: &str| {
        Some(id_word(test, LONGEST)).filter(|word| !word.is_empty()).unwrap_or_else(|| default.to_owned())
    };
    let transfer = |part: String, name: String, rate: Printed, seconds: Printed| Transfer {
        tool: "netperf",
        part,
        name,
        subject: host.to_owned(),
        rate,
        seconds: Some(seconds),
        asked_seconds: asked(run),
        error_of_mean: error(run),
        ..Transfer::default()
    };
    Ok(match (table, row.get(time..).unwrap_or_default()) {
        (Table::Stream(factor), [seconds, rate, ..]) => {
            let word = word("stream");
            vec![
                transfer(word.clone(), format!("{word} by netperf"), rate.times(factor), *seconds)
                    .figure(known),
            ]
        }
        (Table::Requests, [seconds, rate, ..]) => {
            let word = word("requests");
            let name = format!("transactions of {word} by netperf");
            let own = Quantity::of("netperf", word, name, *rate, Unit::PER_S, Better::Higher);
            let own = Quantity {
                subject: host.to_owned(),
                seconds: Some(seconds.value),
                least_seconds: Some(LEAST),
                error_of_mean: error(run),
                ..own
            };
            vec![own.figure(known)]
        }
        (Table::Messages(factor), [seconds, sent, errors, rate, ..]) => {
            let word = word("udp-stream");
            // Of the receiver there is no size of a message: socket, time, messages, rate.
            let received = match more.first().map(Vec::as_slice) {
                Some([_, seconds, received, rate, ..]) => Some((*seconds, received.value, *rate)),
                _ => None,
            };
            let size = row.get(1).map_or(0.0, |size| size.value);
            let bytes = |count: f64| Some(Printed { value: count * size, off: size });
            let own = transfer(
                format!("{word}.sent"),
                format!("{word}, sent, by netperf"),
                rate.times(factor),
                *seconds,
            );
            // What could not be sent arrives as little as what is lost on the way.
            let datagrams = received.map(|(_, received, _)| Datagrams {
                arrived: Some(received),
                lost: (sent.value - received).max(0.0) + errors.value,
            });
            let datagrams = datagrams.unwrap_or(Datagrams { arrived: None, lost: errors.value });
            let mut all =
                vec![Transfer { bytes: bytes(sent.value), datagrams: Some(datagrams), ..own }.figure(known)];
            all.extend(received.map(|(seconds, received, rate)| {
                let name = format!("{word}, received, by netperf");
                let own = transfer(format!("{word}.received"), name, rate.times(factor), seconds);
                let more = (received > sent.value)
                    .then(|| format!("{received} messages arrived, and {} were sent", sent.value));
                Transfer { bytes: bytes(received), contradiction: more, ..own }.figure(known)
            }));
            all
        }
        _ => return Err(missing()),
    })
}

/// Quantiles of `KEY=value`.
const QUANTILES: [(f64, &str, &str); 3] =
    [(0.5, "P50_LATENCY", "p50"), (0.9, "P90_LATENCY", "p90"), (0.99, "P99_LATENCY", "p99")];

fn of_keys(run: &Run, test: &str, host: &str, known: &Known) -> Result<Vec<Figure>, String> {
    let all: Vec<(&str, &str)> = run.lines.iter().take(MOST_KEYS).filter_map(|line| key(line)).collect();
    let text = |name: &str| all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    let of = |name: &str| text(name).and_then(Printed::of);
    let time = |name: &str| of(name).filter(|time| time.value > 0.0).map(|time| time.times(MICROSECOND));
    let word =
        Some(id_word(test, LONGEST)).filter(|word| !word.is_empty()).unwrap_or_else(|| "omni".to_owned());
    let units = text("THROUGHPUT_UNITS").unwrap_or_default();
    let seconds = of("ELAPSED_TIME");
    let rate = of("THROUGHPUT");
    let mut figures = Vec::new();
    let requests =
        rate.filter(|_| units == "Trans/s").or(of("TRANSACTION_RATE").filter(|rate| rate.value > 0.0));
    let stream = rate.zip(RATES.iter().find(|(name, _)| units.starts_with(name)));
    if let Some((rate, (_, factor))) = stream.filter(|_| requests.is_none()) {
        let own = Transfer {
            tool: "netperf",
            part: word.clone(),
            name: format!("{word} by netperf"),
            subject: host.to_owned(),
            rate: rate.times(*factor),
            seconds,
            asked_seconds: asked(run),
            ..Transfer::default()
        };
        figures.push(own.figure(known));
    }
    let samples = Statistics {
        least: time("MIN_LATENCY"),
        mean: time("MEAN_LATENCY"),
        most: time("MAX_LATENCY"),
        deviation: time("STDDEV_LATENCY"),
        quantiles: QUANTILES.iter().filter_map(|(share, name, _)| Some((*share, time(name)?))).collect(),
    };
    // Transactions that are sent before the first of them is answered.
    let burst = of("BURST_SIZE").or(of("LOCAL_BURST_SIZE")).map(|burst| burst.value + 1.0);
    let quantity = |part: &str, name: String, value: Printed, unit: Unit, better: Better| Quantity {
        subject: host.to_owned(),
        seconds: seconds.map(|seconds| seconds.value),
        least_seconds: seconds.map(|_| LEAST),
        ..Quantity::of("netperf", format!("{word}{part}"), name, value, unit, better)
    };
    if let Some(rate) = requests {
        let name = format!("transactions of {word} by netperf");
        figures.push(quantity("", name, rate, Unit::PER_S, Better::Higher).figure(known));
    }
    let under_way = requests.zip(samples.mean).zip(burst);
    let against = under_way.and_then(|((rate, mean), most)| beyond(rate, mean, most));
    let latency = |part: &str, value: Printed, share: Option<f64>| {
        let name = format!("{} latency by netperf", part.trim_start_matches('.'));
        let own = quantity(part, name, value.times(1e6), Unit::of("µs"), Better::Lower);
        let contradiction = against.clone().filter(|_| share.is_none());
        Quantity { samples: samples.clone(), quantile: share, contradiction, ..own }.figure(known)
    };
    samples.mean.into_iter().for_each(|mean| figures.push(latency(".mean", mean, None)));
    for (share, name, part) in QUANTILES {
        time(name).into_iter().for_each(|own| figures.push(latency(&format!(".{part}"), own, Some(share))));
    }
    Ok(figures)
}
