//! mm-mem, the memory test of DCPerf's health check on x86-64: idle latencies, peak bandwidths by mix, memcpy, latencies under load.

use figure::evidence::MIX;
use figure::{Convention, Figure};

use crate::SUITE;
use crate::format::Format;
use crate::formats::memory::{Curve, MIB, MOST_ROWS, Point, bandwidth, latency, nodes, sized, word};
use crate::known::Known;
use crate::quantity::Memory;
use crate::run::Run;
use crate::text::{NEAR, Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    "mm-mem",
    &["region size in KB:", "Idle Latency", "Memcpy Bandwidth:", "all reads :"],
    starts,
    None,
    parse,
);

/// The mixes as it prints them, our words, and the last part of their ids.
pub(super) const MIXES: [(&str, &str, &str); 4] = [
    ("all reads", "1:0", "reads"),
    ("3:1 read/write", "3:1", "3to1"),
    ("2:1 read/write", "2:1", "2to1"),
    ("1:1 read/write", "1:1", "1to1"),
];
/// Lines from the settings to the results.
const SETUP_LINES: usize = 12;
/// Nodes that are looked at.
const MOST_NODES: usize = 64;
/// GB/s of 2^30 bytes in ours.
pub(super) const GIB: f64 = MIB * 1024.0 / 1e9;
const MISSING: &str = "the text does not show the size of mm-mem's regions (\"region size in KB:\")";

fn mix(line: &str) -> Option<(usize, Printed, Option<Printed>)> {
    let at = MIXES.iter().position(|(label, ..)| {
        line.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with(':'))
    })?;
    let (value, again) = rates(line.split_once(" :")?.1)?;
    Some((at, value, again))
}

/// `65478.45 MB/s |   63.94 GB/s`, of 2^20 and 2^30 bytes, in GB/s of 10^9.
fn rates(text: &str) -> Option<(Printed, Option<Printed>)> {
    let (mega, giga) = text.split_once("MB/s")?;
    let again = giga
        .trim()
        .trim_start_matches('|')
        .trim()
        .strip_suffix("GB/s")
        .and_then(|text| Printed::of(text.trim()));
    Some((Printed::of(mega.trim())?.times(MIB / 1e9), again.map(|again| again.times(GIB))))
}

fn memcpy(line: &str) -> Option<(Printed, Option<Printed>)> {
    rates(line.strip_prefix("Memcpy Bandwidth:")?)
}

/// The head of a matrix of idle latencies, its access pattern, and its nodes.
fn idle_head(line: &str) -> Option<(&str, Vec<&str>)> {
    let rest = line.strip_prefix("Idle Latency")?;
    let at = rest.find("Node-")?;
    let pattern = rest[..at].trim().trim_start_matches("(ns)").trim().trim_start_matches('-').trim();
    Some((pattern, rest[at..].split_whitespace().take(MOST_NODES).collect()))
}

/// One idle latency: `Idle Latency - FullRandom : 115.2 ns`.
fn idle_alone(line: &str) -> Option<(&str, Printed)> {
    let (pattern, value) = line.strip_prefix("Idle Latency - ")?.split_once(':')?;
    Some((pattern.trim(), Printed::of(value.trim().strip_suffix("ns")?.trim())?))
}

fn loaded_head(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().take(6).collect();
    let is_head = words.get(..3).is_some_and(|head| head == ["delay", "bandwidth", "latency"]);
    is_head.then(|| words.get(4).copied().unwrap_or_default())
}

fn point(line: &str) -> Option<Point> {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    let [delay, bandwidth, latency] = words.as_slice() else { return None };
    Some(Point {
        delay: number(delay)?,
        latency: Printed::of(latency)?,
        bandwidth: Printed::of(bandwidth)?.times(GIB),
    })
}

fn is_setup(line: &str) -> bool {
    line.starts_with("region size in KB:")
}

fn is_result(line: &str) -> bool {
    mix(line).is_some()
        || memcpy(line).is_some()
        || idle_head(line).is_some()
        || idle_alone(line).is_some()
        || loaded_head(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if line.starts_with("threads:") {
        return rest.get(1).is_some_and(|line| is_setup(line));
    }
    let last = before.iter().rev().take(NEAR).find(|line| !line.is_empty());
    if is_setup(line) {
        return !last.is_some_and(|line| line.starts_with("threads:"));
    }
    // Where the settings are lost.
    is_result(line) && !before.iter().rev().take(SETUP_LINES).any(|line| is_setup(line) || is_result(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let region = run.number("region size in KB:").map(|kibi| kibi * 1024.0).filter(|bytes| *bytes > 0.0);
    let threads = run.number("threads:").filter(|threads| *threads > 0.0);
    let all = region.zip(threads).map(|(region, threads)| region * threads);
    let mut figures: Vec<Figure> = Vec::new();
    for (line, rest) in run.lines.iter().zip(1..).take(MOST_ROWS) {
        let rest = run.lines.get(rest..).unwrap_or_default();
        if let Some((at, value, again)) = mix(line) {
            let (_, mix, id) = MIXES[at];
            let mut quantity =
                bandwidth("mm-mem", id.to_owned(), format!("{mix} by mm-mem"), value, all, MISSING);
            quantity.again = again;
            let mut figure = sized(quantity, known);
            figure.conditions.set(MIX, mix.to_owned());
            figures.push(figure);
        } else if let Some((value, again)) = memcpy(line) {
            let size = run.after("copy size in").unwrap_or_default();
            let size =
                if size.is_empty() { "memcpy".to_owned() } else { word(&size.replace([':', ' '], "")) };
            let mut quantity = bandwidth(
                "mm-mem",
                format!("memcpy.{size}"),
                "memcpy by mm-mem".to_owned(),
                value,
                all,
                MISSING,
            );
            quantity.again = again;
            if let Some(memory) = &mut quantity.memory {
                (memory.kernel, memory.counted, memory.convention) = ("copy", 8.0, Some(Convention::Copied));
            }
            figures.push(sized(quantity, known));
        } else if let Some((pattern, to)) = idle_head(line) {
            figures.extend(idle(pattern, &to, rest, region, known));
        } else if let Some((pattern, value)) = idle_alone(line) {
            let name = format!("idle latency ({pattern}) by mm-mem");
            figures.push(idle_figure(format!("idle.{}", word(pattern)), name, value, region, known));
        } else if let Some(pattern) = loaded_head(line) {
            let points: Vec<Point> = rest.iter().map_while(|line| point(line)).take(MOST_ROWS).collect();
            let part =
                if pattern.is_empty() { "loaded".to_owned() } else { format!("loaded.{}", word(pattern)) };
            figures.extend(
                Curve {
                    tool: "mm-mem",
                    part,
                    by: "mm-mem",
                    points,
                    idle: None,
                    array: None,
                    missing: MISSING,
                }
                .figures(known),
            );
        }
    }
    if figures.is_empty() { Err("has no result behind its settings".to_owned()) } else { Ok(figures) }
}

fn idle_figure(part: String, name: String, value: Printed, region: Option<f64>, known: &Known) -> Figure {
    let memory = Memory { kernel: "latency", array: region, missing: MISSING, ..Memory::default() };
    sized(latency("mm-mem", part, name, value, Some(memory)), known)
}

/// The rows of a matrix of idle latencies.
fn idle(pattern: &str, to: &[&str], rest: &[&str], region: Option<f64>, known: &Known) -> Vec<Figure> {
    let part = if pattern.is_empty() { "idle".to_owned() } else { format!("idle.{}", word(pattern)) };
    let mut figures = Vec::new();
    for line in rest.iter().take(MOST_NODES).take_while(|line| line.starts_with("Node-")) {
        let mut cells = line.split_whitespace();
        let from = cells.next().unwrap_or_default();
        for (to, value) in to.iter().zip(cells).filter_map(|(to, cell)| Some((to, Printed::of(cell)?))) {
            let [from, to] = [from, to].map(|node| node.trim_start_matches("Node-"));
            let name = format!("idle latency from node {from} to node {to} by mm-mem");
            let id = format!("{part}.node{}.node{}", word(from), word(to));
            let mut figure = idle_figure(id, name, value, region, known);
            figure.series = Some(format!("{SUITE}.mm-mem.{part}"));
            figure.at = nodes(from, to);
            figures.push(figure);
        }
        if figures.len() >= MOST_ROWS {
            break;
        }
    }
    figures
}
