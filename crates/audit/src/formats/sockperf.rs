//! sockperf (Mellanox/sockperf): ping-pong, under-load, and throughput of its client.

use figure::evidence::audit::UNJUDGED;
use figure::{Better, Figure, Unit};

use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::formats::transfer::{Datagrams, LEAST, beyond, lossy};
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, leads_to, number};

pub(super) const FORMAT: Format = Format::lines("sockperf", &["sockperf: "], starts, Some(&COMMAND), parse);

/// `sockperf ping-pong --help`. Its first operand is the test.
const COMMAND: Grammar = Grammar {
    programs: &["sockperf"],
    style: Style::Getopt,
    values: &[
        "-t",
        "--time",
        "-n",
        "--number-of-packets",
        "-b",
        "--burst",
        "--reply-every",
        "--mps",
        "--pps",
        "-m",
        "--msg-size",
        "-r",
        "--range",
        "--data-integrity",
        "-i",
        "--ip",
        "-p",
        "--port",
        "--client_ip",
        "--client_port",
        "-f",
        "--file",
        "-F",
        "--iomux-type",
        "--timeout",
        "-a",
        "--activity",
        "-A",
        "--Activity",
        "--tcp-avoid-nodelay",
        "--mc-rx-if",
        "--mc-tx-if",
        "--mc-ttl",
        "--buffer-size",
        "--vmazcopyread",
        "--daemonize",
        "--lls",
        "--tos",
        "--sender-affinity",
        "--receiver-affinity",
        "--full-log",
        "--ci_sig_lvl",
        "--histogram",
        "--rate-limit",
        "--uc-reuseaddr",
        "--tls",
    ],
    flags: &[
        "--tcp",
        "--full-rtt",
        "--dontwarmup",
        "--pre-warmup-wait",
        "--no-rdtsc",
        "--load-vma",
        "--load-xlio",
        "--nonblocked",
        "--dummy-send",
        "--giga-size",
        "--increase_output_precision",
        "--mc-loopback-enable",
        "--mc-loopback-disable",
        "--tcp-skip-blocking-send",
        "--recv_looping_num",
        "-d",
        "--debug",
        "--set-sock-accl",
    ],
    hidden: &[],
    operand: |word| MODES.iter().any(|names| names.contains(&word.text.as_str())),
    operands: 1..=1,
};

/// What sockperf does: by its name and its short one.
const MODES: [&[&str]; 3] = [&["ping-pong", "pp"], &["under-load", "ul"], &["throughput", "tp"]];
/// Messages a second of under-load without --mps (src/defs.h, MPS_DEFAULT).
const MESSAGES: f64 = 10_000.0;
/// Times are in microseconds.
const MICROSECOND: f64 = 1e-6;
/// Quantiles that become figures.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];
const OTHERS: &str = "other quantiles; measures of spread";
/// Lines of a run.
const WITHIN: usize = 80;

/// Lines of a run in their order.
const MARKS: &[fn(&str) -> bool] = &[
    |line| is(line, "Starting test..."),
    |line| is(line, "Test end "),
    |line| is(line, "Test ended"),
    |line| is(line, "[Total Run]"),
    |line| is(line, "[Valid Duration]"),
    |line| is(line, "====> avg-"),
    |line| is(line, "# dropped messages"),
    |line| is(line, "Total of "),
    is_result,
    |line| is(line, "Summary: BandWidth is "),
    |line| is(line, "Total ") && line.ends_with(" observations"),
    |line| own(line).is_some_and(|own| own.contains("MAX") && own.contains(" observation =")),
    |line| own(line).is_some_and(|own| own.contains("MIN") && own.contains(" observation =")),
];

/// A line without the name of the program.
fn own(line: &str) -> Option<&str> {
    line.strip_prefix("sockperf: ").map(str::trim_start)
}

fn is(line: &str, begin: &str) -> bool {
    own(line).is_some_and(|own| own.starts_with(begin))
}

fn is_result(line: &str) -> bool {
    ["Summary: Latency ", "Summary: Round trip ", "Summary: Message Rate "]
        .iter()
        .any(|begin| is(line, begin))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(MARKS, before, rest)
        && leads_to(MARKS, rest, WITHIN, |line| is_result(line) || is(line, "====> avg-"))
}

/// The number behind a label within a line: `SentMessages=105413`.
fn field(line: &str, label: &str) -> Option<Printed> {
    let rest = line.split_once(label)?.1;
    Printed::of(first(rest)?.trim_matches(['*', ')']))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines: Vec<&str> = run.lines.iter().take(WITHIN).filter_map(|line| own(line)).collect();
    let line = |begin: &str| lines.iter().find(|line| line.starts_with(begin)).copied();
    let command = run.command;
    let mode = command.and_then(|command| command.operands.first());
    let mode = mode.and_then(|word| MODES.iter().position(|names| names.contains(&word.text.as_str())));
    let load = Load {
        tool: "sockperf",
        subject: subject(run),
        results: "sockperf counts a latency as half of a round trip, without --full-rtt",
        ..Load::default()
    };
    if let Some(rate) = line("Summary: Message Rate is ").and_then(|line| field(line, " is ")) {
        // Of a stream there are no answers.
        let total = line("Total of ");
        return Load {
            rate: Some(rate),
            seconds: total.and_then(|line| field(line, " sent in ")),
            completed: total.and_then(|line| field(line, "Total of ")).map(|count| count.value),
            pauses: true,
            unjudged: "bandwidth".to_owned(),
            ..load
        }
        .figures(known);
    }
    let valid = line("[Valid Duration]");
    let counts = valid.and_then(|line| {
        Some((field(line, "SentMessages=")?.value, field(line, "ReceivedMessages=")?.value))
    });
    let dropped = line("# dropped messages")
        .and_then(|line| field(line, "dropped messages ="))
        .map(|count| count.value);
    let seconds = valid.and_then(|line| field(line, "RunTime=")).filter(|seconds| seconds.value > 0.0);
    let latency = latency(&lines)?;
    let is_round_trip = lines
        .iter()
        .any(|line| line.starts_with("Summary: Round trip ") || line.starts_with("====> avg-rtt="));
    // Under load one message of many is answered: 100 by default (--reply-every).
    let is_under_load = mode.map_or_else(
        || counts.is_some_and(|(sent, received)| sent > received + dropped.unwrap_or(0.0) + 1.0),
        |mode| mode == 1,
    );
    let lost = counts
        .zip(dropped)
        .map_or(0.0, |((sent, received), dropped)| sent * dropped / (received + dropped).max(1.0));
    let rate = counts.zip(seconds).map(|((sent, _), seconds)| {
        let value = sent / seconds.value;
        Printed { value, off: value * seconds.share() }
    });
    let asked = command.map(|command| command.setting(&["--mps", "--pps"]));
    if is_under_load {
        let rate_asked = match asked {
            Some(Setting::Is(rate)) => Asked::Rate(rate),
            Some(Setting::Default) => Asked::Rate(MESSAGES),
            _ => Asked::Unstated,
        };
        return Load {
            rate,
            seconds,
            answered: counts.zip(dropped).map(|((sent, _), _)| (sent - lost).max(0.0)),
            failed: vec![("unspecified", lost)],
            rateless: rate.is_none(),
            rate_asked: Some(rate_asked),
            latency,
            unjudged: OTHERS.to_owned(),
            ..load
        }
        .figures(known);
    }
    let has_bursts = command.is_some_and(|command| command.has(&["-b", "--burst"]))
        || lines.iter().any(|line| line.contains(" of burst of "));
    let trip = latency.mean.map(|mean| mean.times(if is_round_trip { 1.0 } else { 2.0 }));
    let against = rate.zip(trip).filter(|_| !has_bursts).and_then(|(rate, trip)| beyond(rate, trip, 1.0));
    // A time that is printed as 0 is less than half of its last digit.
    let lasted = valid.and_then(|line| field(line, "RunTime=")).map(|seconds| seconds.value.max(seconds.off));
    let quantity = |part: &str, name: String, value: Printed, unit: Unit, better: Better| Quantity {
        subject: load.subject.clone(),
        seconds: lasted,
        least_seconds: lasted.map(|_| LEAST),
        ..Quantity::of("sockperf", part.to_owned(), name, value, unit, better)
    };
    let mut figures = Vec::new();
    if let Some(rate) = rate {
        let own =
            quantity("rate", "messages a second by sockperf".to_owned(), rate, Unit::PER_S, Better::Higher);
        let mut figure = own.figure(known);
        if let Some((_, received)) = counts.filter(|_| dropped.is_some()) {
            lossy(&mut figure, Datagrams { arrived: Some(received), lost });
        }
        figures.push(figure);
    }
    let what = if is_round_trip { "round trip" } else { "latency" };
    let mut time = |part: &str, value: Printed, quantile: Option<f64>| {
        let own = quantity(
            part,
            format!("{part} {what} by sockperf"),
            value.times(1e6),
            Unit::of("µs"),
            Better::Lower,
        );
        let contradiction = against.clone().filter(|_| quantile.is_none());
        figures.push(Quantity { samples: latency.clone(), quantile, contradiction, ..own }.figure(known));
    };
    latency.mean.into_iter().for_each(|mean| time("mean", mean, None));
    for (share, part) in QUANTILES {
        let found = latency.quantiles.iter().find(|(own, _)| *own == share);
        found.into_iter().for_each(|(_, value)| time(part, *value, Some(share)));
    }
    let first = figures.first_mut().ok_or("has no latency")?;
    first.evidence.put(UNJUDGED, OTHERS.to_owned());
    Ok(figures)
}

/// The latencies, in seconds.
fn latency(lines: &[&str]) -> Result<Statistics, String> {
    let time = |text: &str| Printed::of(text.trim().trim_matches('*')).map(|time| time.times(MICROSECOND));
    let of = |begin: &str| lines.iter().find_map(|line| line.strip_prefix(begin));
    let average = of("====> avg-").and_then(|rest| rest.split_once('='));
    let mean = average.and_then(|(_, rest)| time(first(rest)?.trim_end_matches('(')));
    let summary = lines
        .iter()
        .find(|line| line.starts_with("Summary: "))
        .and_then(|line| time(first(line.split_once(" is ")?.1.trim_start_matches('*'))?));
    let mean = mean.or(summary).ok_or("has no mean latency")?;
    let observations = lines
        .iter()
        .find_map(|line| number(line.strip_prefix("Total ")?.split_once(" observations")?.0.trim()));
    let extreme = |word: &str| {
        let line = lines.iter().find(|line| line.contains(word) && line.contains(" observation ="))?;
        time(line.split_once('=')?.1)
    };
    let quantile = |line: &&str| {
        let (share, value) = line.split_once("percentile ")?.1.split_once('=')?;
        let share = (number(share.trim())? * 1e3).round() / 1e5;
        // Of fewer observations it is the slowest one.
        let is_known = observations.is_none_or(|count| count * (1.0 - share) > 0.999) || share <= 0.5;
        Some((share, time(value)?)).filter(|_| is_known)
    };
    Ok(Statistics {
        least: extreme("MIN"),
        mean: Some(mean),
        most: extreme("MAX"),
        deviation: average.and_then(|(_, rest)| field(rest, "std-dev=")).map(|time| time.times(MICROSECOND)),
        quantiles: lines.iter().filter_map(quantile).take(20).collect(),
    })
}

/// `[ 0] IP = 10.12.0.4       PORT = 12345 # TCP`: where to, which tells runs apart.
fn subject(run: &Run) -> String {
    let from = run.previous.max(run.before.len().saturating_sub(WITHIN));
    let near = run.before[from..].iter().rev().chain(run.lines.iter().take(WITHIN));
    let of = |line: &&str| {
        let (ip, rest) = line.split_once("IP = ")?.1.split_once("PORT = ")?;
        Some(format!(
            "{}:{}",
            ip.trim(),
            rest.replace(" #", "").split_whitespace().collect::<Vec<_>>().join(" ")
        ))
    };
    near.into_iter().find_map(of).unwrap_or_default()
}
