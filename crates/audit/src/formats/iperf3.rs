//! iperf3 (esnet/iperf): the last rows of its tables, and its JSON (`-J`).

use figure::evidence::audit::UNJUDGED;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};
use serde_json::Value;

use crate::MAX_SUBJECT;
use crate::command::{Grammar, Setting, Style};
use crate::document::exact;
use crate::format::Format;
use crate::formats::transfer::{Datagrams, Transfer};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines("iperf3", &["bits/sec", "Bytes/sec"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format = Format::documents(
    "iperf3",
    &["\"bits_per_second\"", "\"sum_sent\""],
    is,
    Some(&COMMAND),
    parse_documents,
);

/// iperf3(1).
const COMMAND: Grammar = Grammar {
    programs: &["iperf3"],
    style: Style::Getopt,
    values: &[
        "-p",
        "--port",
        "-f",
        "--format",
        "-i",
        "--interval",
        "-F",
        "--file",
        "-A",
        "--affinity",
        "-B",
        "--bind",
        "--bind-dev",
        "--logfile",
        "--timestamps",
        "-c",
        "--client",
        "-b",
        "--bitrate",
        "--bandwidth",
        "--pacing-timer",
        "--fq-rate",
        "-t",
        "--time",
        "-n",
        "--bytes",
        "-k",
        "--blockcount",
        "-l",
        "--length",
        "--cport",
        "-P",
        "--parallel",
        "-w",
        "--window",
        "-M",
        "--set-mss",
        "-S",
        "--tos",
        "--dscp",
        "-L",
        "--flowlabel",
        "-X",
        "--xbind",
        "-O",
        "--omit",
        "-T",
        "--title",
        "--extra-data",
        "-C",
        "--congestion",
        "--connect-timeout",
        "--rcv-timeout",
        "--snd-timeout",
        "--username",
        "--rsa-public-key-path",
    ],
    flags: &[
        "-s",
        "--server",
        "-V",
        "--verbose",
        "-J",
        "--json",
        "--json-stream",
        "-d",
        "--debug",
        "-1",
        "--one-off",
        "-u",
        "--udp",
        "--sctp",
        "-R",
        "--reverse",
        "--bidir",
        "-N",
        "--no-delay",
        "-4",
        "--version4",
        "-6",
        "--version6",
        "-Z",
        "--zerocopy",
        "--get-server-output",
        "--udp-counters-64bit",
        "--repeating-payload",
        "--dont-fragment",
        "--forceflush",
        "-m",
        "--mptcp",
        "--skip-rx-copy",
        "-D",
        "--daemon",
    ],
    hidden: &["--username", "--rsa-public-key-path"],
    operand: |_| false,
    operands: 0..=0,
};

/// Lines of a run between two of it: a row a second for each stream.
const WITHIN: usize = 2000;
/// By what share a printed share of lost datagrams may be off, which has two digits.
const TWO_DIGITS: f64 = 0.06;
const OTHERS: &str = "retransmissions; rows of intervals and of single streams";

/// `[  5][TX-C]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec   12             sender`.
struct Row<'a> {
    /// A stream's number, or `SUM`.
    id: &'a str,
    /// `TX-C` and the like, of a test in both directions.
    way: &'a str,
    seconds: Printed,
    bytes: Printed,
    /// Mbit/s.
    rate: Printed,
    /// `sender`, `receiver`; iperf3 before 3.7 names neither for UDP.
    role: &'a str,
    counts: Option<Counts>,
}

/// `0.021 ms  10/906 (1.1%)`.
struct Counts {
    /// Milliseconds.
    jitter: Printed,
    lost: f64,
    all: f64,
    percent: f64,
}

fn row(line: &str) -> Option<Row<'_>> {
    let (id, rest) = line.strip_prefix('[')?.split_once(']')?;
    let id = id.trim();
    if id != "SUM" && (id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let (way, rest) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).unwrap_or(("", rest));
    let (span, rest) = rest.split_once("sec")?;
    let (from, to) = span.trim().split_once('-')?;
    let (from, to) = (Printed::of(from.trim())?, Printed::of(to.trim())?);
    let words: Vec<&str> = rest.split_whitespace().take(16).collect();
    let [bytes, unit, rate, by, behind @ ..] = words.as_slice() else { return None };
    let last = behind.last().copied().unwrap_or_default();
    Some(Row {
        id,
        way: way.trim(),
        seconds: Printed { value: to.value - from.value, off: to.off + from.off },
        bytes: Printed::of(bytes)?.times(size(unit)?),
        rate: Printed::of(rate)?.times(speed(by)?),
        role: ["sender", "receiver"].into_iter().find(|role| *role == last).unwrap_or_default(),
        counts: counts(behind),
    })
    .filter(|row| row.seconds.value > 0.0)
}

fn counts(words: &[&str]) -> Option<Counts> {
    let [jitter, "ms", counts, percent, ..] = words else { return None };
    let (lost, all) = counts.split_once('/')?;
    let percent = percent.strip_prefix('(')?.trim_end_matches(')').strip_suffix('%')?;
    Some(Counts {
        jitter: Printed::of(jitter)?,
        lost: number(lost)?,
        all: number(all).filter(|all| *all > 0.0)?,
        percent: number(percent)?,
    })
}

/// Bytes: prefixes of 1024.
fn size(unit: &str) -> Option<f64> {
    Some(1024_f64.powi(power(unit.strip_suffix("Bytes")?)?))
}

/// Mbit/s: prefixes of 1000 for bits, and of 1024 for bytes.
fn speed(unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/sec")?;
    match unit.strip_suffix("bits") {
        Some(prefix) => Some(1e-6 * 1000_f64.powi(power(prefix)?)),
        None => Some(8e-6 * size(unit)?),
    }
}

fn power(prefix: &str) -> Option<i32> {
    ["", "K", "M", "G", "T"].iter().position(|own| *own == prefix).map(|power| power as i32)
}

fn is_head(line: &str) -> bool {
    line.starts_with("Connecting to host ") && line.contains(", port ")
        || line.starts_with("Accepted connection from ")
}

fn is_separator(line: &str) -> bool {
    line.starts_with("- - - - -")
}

/// `[  4] Sent 1585 datagrams`, below the row of all the time; before 3.7.
fn is_count(line: &str) -> bool {
    line.split_once("] Sent ").is_some_and(|(_, rest)| rest.trim_end().ends_with(" datagrams"))
}

/// A row of the whole run.
fn is_last(line: &str) -> bool {
    row(line).is_some_and(|row| !row.role.is_empty())
}

/// Whether a run has such a line only where all its time is summed up.
fn is_end(line: &str) -> bool {
    is_separator(line) || is_last(line) || is_count(line)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let ends = |line: &str| line.starts_with("iperf Done.") || line.contains("iperf3: ");
    if is_head(line) {
        let mut own = rest.iter().skip(1).take(WITHIN).take_while(|line| !is_head(line) && !ends(line));
        return own.any(|line| is_end(line));
    }
    if row(line).is_none() {
        return false;
    }
    let near = before.iter().rev().take(WITHIN).take_while(|line| !ends(line));
    let goes_on = near.into_iter().any(|line| is_head(line) || row(line).is_some());
    !goes_on && rest.iter().take(WITHIN).take_while(|line| !is_head(line)).any(|line| is_end(line))
}

/// The rows of all the time: behind the last separator, with a role, or above a count of datagrams.
fn last_rows<'a>(run: &Run<'a>, from: Option<usize>) -> Vec<Row<'a>> {
    let rows = |lines: &[&'a str]| lines.iter().filter_map(|line| row(line)).collect::<Vec<_>>();
    if let Some(from) = from {
        return rows(&run.lines[from..]);
    }
    let with_role: Vec<Row> = rows(run.lines).into_iter().filter(|row| !row.role.is_empty()).collect();
    match run.lines.iter().position(|line| is_count(line)).filter(|_| with_role.is_empty()) {
        Some(count) => rows(&run.lines[..count]).pop().into_iter().collect(),
        None => with_role,
    }
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let from = run.lines.iter().rposition(|line| is_separator(line));
    let last = last_rows(run, from);
    let asked = run.command.and_then(|command| match command.setting(&["-t", "--time"]) {
        Setting::Is(seconds) if !command.has(&["-n", "--bytes", "-k", "--blockcount"]) => Some(seconds),
        _ => None,
    });
    let host = run.lines.iter().find_map(|line| line.strip_prefix("Connecting to host ")).unwrap_or_default();
    let mut figures = Vec::new();
    let mut ways: Vec<&str> = last.iter().map(|row| row.way).collect();
    ways.dedup();
    ways.truncate(4);
    for way in ways {
        let of = |role: &str| -> Result<Option<(&Row, Vec<Printed>)>, String> {
            let own: Vec<&Row> = last
                .iter()
                .filter(|row| row.way == way && row.role == role && row.bytes.value > 0.0)
                .collect();
            let streams: Vec<Printed> =
                own.iter().filter(|row| row.id != "SUM").map(|row| row.rate).collect();
            match own.iter().rfind(|row| row.id == "SUM").or(own.last().filter(|_| own.len() == 1)) {
                // Rows of single streams may be lost, if the line above the table is.
                Some(row) => {
                    let sum: f64 = streams.iter().map(|stream| stream.value).sum();
                    let is_known = from.is_some() || sum > row.rate.value;
                    Ok(Some((*row, if is_known { streams } else { Vec::new() })))
                }
                None if own.is_empty() => Ok(None),
                None => Err("has no line of the sum of its streams".to_owned()),
            }
        };
        let (sent, received) = (of("sender")?.or(of("")?), of("receiver")?);
        // What a sender prints of its datagrams is that it sent them.
        let is_of_udp = sent.iter().any(|(row, _)| row.counts.is_some());
        let counted = [&received, &sent].into_iter().flatten().filter(|(row, _)| row.role != "sender");
        let counted = counted.filter_map(|(row, _)| row.counts.as_ref()).next();
        let subject = format!("{host}{}{}", if way.is_empty() { "" } else { " " }, way);
        let transfer = |part: &str, (row, streams): &(&Row, Vec<Printed>)| Transfer {
            tool: "iperf3",
            part: part.to_owned(),
            name: format!("{part} by iperf3"),
            subject: subject.clone(),
            rate: row.rate,
            bytes: Some(row.bytes),
            seconds: Some(row.seconds),
            asked_seconds: asked,
            streams: streams.clone(),
            ..Transfer::default()
        };
        // Of TCP all that was sent arrives, or is sent again.
        if let Some(sent) = sent.iter().find(|_| received.is_none() || is_of_udp) {
            let arrived = counted.map(|own| (own.all - own.lost).max(0.0));
            let lost = counted.map_or(0.0, |own| own.lost);
            let datagrams = is_of_udp.then_some(Datagrams { arrived, lost });
            let contradiction = counted.and_then(Counts::against);
            figures.push(Transfer { datagrams, contradiction, ..transfer("sent", sent) }.figure(known));
        }
        received.iter().for_each(|received| figures.push(transfer("received", received).figure(known)));
        counted.into_iter().for_each(|own| figures.push(jitter(own.jitter, &subject, known)));
    }
    noted(figures)
}

impl Counts {
    fn against(&self) -> Option<String> {
        let share = 100.0 * self.lost / self.all;
        let is_apart = (share - self.percent).abs() > TWO_DIGITS * self.percent.max(0.1);
        (self.lost > self.all || is_apart)
            .then(|| format!("{} lost datagrams of {} are not {} %", self.lost, self.all, self.percent))
    }
}

/// The mean difference of two transit times (RFC 1889).
fn jitter(milliseconds: Printed, subject: &str, known: &Known) -> Figure {
    let name = "jitter by iperf3".to_owned();
    let quantity =
        Quantity::of("iperf3", "jitter".to_owned(), name, milliseconds, Unit::of("ms"), Better::Lower);
    Quantity { subject: plain_to(subject, MAX_SUBJECT), ..quantity }.figure(known)
}

fn noted(mut figures: Vec<Figure>) -> Result<Vec<Figure>, String> {
    let first = figures
        .first_mut()
        .ok_or("has no row of all its time: nothing was transferred, or the last lines are lost")?;
    first.evidence.put(UNJUDGED, OTHERS.to_owned());
    Ok(figures)
}

fn is(document: &Value) -> bool {
    document
        .get("start")
        .is_some_and(|start| start.get("version").is_some() || start.get("test_start").is_some())
        && document.get("end").is_some()
        && document.get("intervals").is_some()
}

fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(of_document(document, known)?);
    }
    noted(figures)
}

/// What is summed of all streams: names of the parts, sent and received.
const SUMS: &[(&str, &str, &str)] =
    &[("", "sum_sent", "sum_received"), ("-back", "sum_sent_bidir_reverse", "sum_received_bidir_reverse")];

fn of_document(document: &Value, known: &Known) -> Result<Vec<Figure>, String> {
    if let Some(error) = document.get("error").and_then(Value::as_str) {
        return Err(format!("ended with an error: {}", plain_to(error, MAX_SUBJECT)));
    }
    let (start, end) = (&document["start"], &document["end"]);
    let asked = &start["test_start"];
    let word = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
    let streams = asked["num_streams"].as_u64().unwrap_or(1);
    let subject =
        format!("{} {}, streams: {streams}", word(&asked["protocol"]), word(&start["connecting_to"]["host"]));
    let duration = asked["duration"].as_f64().filter(|seconds| *seconds > 0.0);
    let mut figures = Vec::new();
    for (suffix, sent, received) in SUMS {
        // Of UDP there was one sum before 3.7, with the rate of sending.
        let of =
            |name: &str| end.get(name).filter(|sum| sum["bytes"].as_f64().is_some_and(|bytes| bytes > 0.0));
        let lossy = |sum: &Value| sum.get("lost_packets").is_some();
        let old = of("sum").filter(|sum| suffix.is_empty() && lossy(sum));
        let (sent, received) = (of(sent).or(old), of(received));
        let counted = received.filter(|sum| lossy(sum)).or(old).or(sent.filter(|sum| lossy(sum)));
        let counts =
            counted.and_then(|sum| Some([exact(&sum["packets"])?.value, exact(&sum["lost_packets"])?.value]));
        let transfer = |part: &str, sum: &Value| {
            Some(Transfer {
                tool: "iperf3",
                part: format!("{part}{suffix}"),
                name: format!("{part}{suffix} by iperf3"),
                subject: subject.clone(),
                rate: exact(&sum["bits_per_second"])?.times(1e-6),
                bytes: exact(&sum["bytes"]),
                seconds: exact(&sum["seconds"]),
                asked_seconds: duration,
                ..Transfer::default()
            })
        };
        if let Some(own) =
            sent.filter(|_| received.is_none() || counts.is_some()).and_then(|sum| transfer("sent", sum))
        {
            let datagrams =
                counts.map(|[all, lost]| Datagrams { arrived: Some((all - lost).max(0.0)), lost });
            figures.push(Transfer { datagrams, ..own }.figure(known));
        }
        let own = received.and_then(|sum| transfer("received", sum));
        own.into_iter().for_each(|own| figures.push(own.figure(known)));
        let jittery = counted.and_then(|sum| exact(&sum["jitter_ms"]));
        jittery.into_iter().for_each(|own| figures.push(jitter(own, &subject, known)));
    }
    Ok(figures)
}
