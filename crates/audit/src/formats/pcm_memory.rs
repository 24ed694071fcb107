//! Intel `pcm-memory`: what the memory controllers moved, by channel, by socket, and in all.

use figure::evidence::audit::{CHANNELS_FOUND, CHANNELS_LOST, CHANNELS_SHOWN, MOMENTS, RECOMPUTED, ROUNDING};
use figure::evidence::{COUNTED_BYTES, TRAFFIC_PART};
use figure::{Better, Convention, Evidence, Figure, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, is_alone, number, round};

pub(super) const FORMAT: Format =
    Format::lines("pcm-memory", &["Memory Channel Monitoring"], starts, None, parse);

/// What stands above the channels of each socket, and in the last line of all.
const HEAD: &str = "Memory Channel Monitoring";
const LAST: &str = "System Memory Throughput";
/// Bytes of a transfer.
const LINE: f64 = 64.0;
/// Lines before a table that list the channels found.
const FOUND_WITHIN: usize = 40;

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_head = |line: &str| line.contains(HEAD);
    rest.first().is_some_and(|line| is_head(line)) && is_alone(before, is_head, |line| line.contains(LAST))
}

/// Reads and writes, in GB/s, and what is odd about them.
#[derive(Default)]
struct Sum {
    value: f64,
    channels: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, token: &str) {
        match token.strip_prefix('-') {
            Some(rest) if number(rest).is_some() => self.lost += 1.0,
            _ => {
                let Some(value) = number(token) else { return };
                (self.value, self.channels) = (self.value + value / 1e3, self.channels + 1.0);
            }
        }
    }
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let (mut read, mut written) = (Sum::default(), Sum::default());
    let mut printed: Vec<(String, Printed)> = Vec::new();
    for (label, token) in run.lines.iter().flat_map(|line| cells(line)) {
        let is_channel = label.starts_with("Mem Ch");
        match label.as_str() {
            _ if is_channel => read.add(token),
            "Writes(MB/s)" => written.add(token),
            // Persistent memory has channels of its own, and is in what the system reads and writes.
            "PMM Reads(MB/s)" => read.value += number(token).unwrap_or(0.0) / 1e3,
            "PMM Writes(MB/s)" => written.value += number(token).unwrap_or(0.0) / 1e3,
            _ => printed.extend(Printed::of(token).map(|value| (label, value.times(1e-3)))),
        }
    }
    let found: Vec<f64> = run.before.iter().rev().take(FOUND_WITHIN).filter_map(|line| found(line)).collect();
    let of = |label: &str| printed.iter().find(|(own, _)| own == label).map(|(_, value)| *value);
    let all = read.value + written.value;
    let parts = [
        ("read", "System Read Throughput(MB/s)", read.value),
        ("write", "System Write Throughput(MB/s)", written.value),
        ("total", "System Memory Throughput(MB/s)", all),
    ];
    let mut figures = Vec::new();
    for (part, label, sum) in parts {
        let Some(value) = of(label) else { continue };
        let id = format!("{SUITE}.pcm-memory.{part}");
        let mut figure =
            Figure::planned(id, SUITE, format!("{part} by pcm-memory"), Unit::GB_PER_S, Better::Neither);
        figure.convention = Some(Convention::MeasuredTraffic);
        figure.conditions.set(COUNTED_BYTES, LINE);
        figure.conditions.set(TRAFFIC_PART, part.to_owned());
        figure.conditions.set(MOMENTS, true);
        figure.evidence.put(CHANNELS_SHOWN, read.channels);
        if !found.is_empty() {
            figure.evidence.put(CHANNELS_FOUND, found.iter().sum());
        }
        let mut evidence = Evidence::default();
        evidence.put(CHANNELS_LOST, read.lost.max(written.lost));
        if read.channels > 0.0 {
            evidence.put(RECOMPUTED, sum);
            evidence.put(ROUNDING, value.share() * (1.0 + read.channels + written.channels));
        }
        figure.rounds.push(round(0.0, value.value, evidence));
        figures.push(figure);
    }
    if figures.is_empty() {
        Err("has no line of what the system reads and writes".to_owned())
    } else {
        Ok(figures)
    }
}

/// The cells of a line, `|-- Mem Ch  0: Reads (MB/s):    18.91 --||-- …`: what each is, and its number.
fn cells(line: &str) -> Vec<(String, &str)> {
    let of = |cell| {
        let cell: &str = str::trim(str::trim_matches(cell, '|'));
        let inner = cell.strip_prefix("--").unwrap_or(cell);
        let (label, token) = inner.strip_suffix("--").unwrap_or(inner).rsplit_once(':')?;
        let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((label, token.trim()))
    };
    line.split("||").filter_map(of).collect()
}

/// `Socket 0: 2 memory controllers detected with total number of 6 channels.`
fn found(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("total number of ")?;
    let (count, rest) = rest.split_once(' ')?;
    number(count).filter(|_| rest.starts_with("channels"))
}
