//! DCPerf's health check: the report of benchpress in JSON, and the lines of its sleepbench.

use figure::evidence::MIX;
use figure::evidence::audit::UNJUDGED;
use figure::{Better, Convention, Figure, Unit};
use serde_json::Value;

use crate::SUITE;
use crate::format::Format;
use crate::formats::memory::{Curve, MIB, MOST_ROWS, Point, Words, bandwidth, latency, nodes, word};
use crate::formats::mm_mem::{GIB, MIXES};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{NEAR, Printed};

pub(super) const SLEEPBENCH: Format =
    Format::lines("sleepbench", &["total nanosleep calls"], starts, None, parse_sleepbench);
pub(super) const DOCUMENT: Format =
    Format::documents("DCPerf health check", &["\"health_check\"", "sleepbench"], is, None, parse);

const MISSING: &str = "the report does not show the size of the buffers";
/// Seconds of the default: a run of a second or more.
const LEAST: f64 = 1.0;

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let last = before.iter().rev().take(NEAR).find(|line| !line.is_empty());
    let is_total = |line: &str| line.ends_with(" total nanosleep calls");
    rest.first().is_some_and(|line| {
        is_total(line) || line.ends_with(" calls per second") && !last.is_some_and(|line| is_total(line))
    })
}

fn parse_sleepbench(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let before =
        |words: &str| run.lines.iter().find_map(|line| Printed::of(line.strip_suffix(words)?.trim()));
    let rate = before(" calls per second").ok_or("has no line of the calls a second")?;
    let total = before(" total nanosleep calls");
    let elapsed = run
        .before
        .iter()
        .rev()
        .take(8192)
        .find_map(|line| Printed::of(line.strip_suffix(" seconds elapsed")?));
    let again = total.zip(elapsed.filter(|elapsed| elapsed.value > 0.0)).map(|(total, elapsed)| {
        let value = total.value / elapsed.value;
        Printed { value, off: value * elapsed.share() }
    });
    Ok(vec![sleeps(rate, again, elapsed, known)])
}

fn sleeps(rate: Printed, again: Option<Printed>, elapsed: Option<Printed>, known: &Known) -> Figure {
    let name = "sleeps a second by sleepbench".to_owned();
    let quantity = Quantity {
        again,
        seconds: elapsed.map(|elapsed| elapsed.value),
        least_seconds: Some(LEAST),
        ..Quantity::of("sleepbench", "calls".to_owned(), name, rate, Unit::PER_S, Better::Higher)
    };
    quantity.figure(known)
}

fn is(document: &Value) -> bool {
    let metrics = document.get("metrics");
    let is_named = document.get("benchmark_name").and_then(Value::as_str) == Some("health_check");
    let has_memory = metrics.is_some_and(|metrics| metrics.pointer("/memory/peak_bandwidth_mb_s").is_some());
    metrics.is_some_and(Value::is_object) && (is_named || has_memory)
}

/// A number, or a string of one: benchpress writes either.
fn value(of: Option<&Value>) -> Option<Printed> {
    let of = of?;
    let text = of
        .as_str()
        .map_or_else(|| of.as_f64().map(|value| value.to_string()), |text| Some(text.trim().to_owned()))?;
    Printed::of(&text)
}

fn parse(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        let Some(metrics) = document.get("metrics") else { continue };
        if let Some(memory) = metrics.get("memory") {
            figures.extend(of_memory(memory, known));
        }
        figures.extend(of_network(metrics, known));
        let calls = value(metrics.pointer("/sleepbench/calls per second")).filter(|rate| rate.value > 0.0);
        figures.extend(calls.map(|rate| sleeps(rate, None, None, known)));
        if metrics.pointer("/sleepbench/irq%").is_some()
            && let Some(first) = figures.first_mut()
        {
            first.evidence.put(UNJUDGED, "the shares of CPU time of sleepbench".to_owned());
        }
    }
    figures.truncate(2 * MOST_ROWS);
    if figures.is_empty() {
        Err("has no metric of memory, network or sleeps".to_owned())
    } else {
        Ok(figures)
    }
}

fn of_memory(memory: &Value, known: &Known) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (label, mix, id) in MIXES {
        let rate = value(memory.get("peak_bandwidth_mb_s").and_then(|all| all.get(label)))
            .filter(|rate| rate.value > 0.0);
        figures.extend(rate.map(|rate| {
            let name = format!("{mix} by DCPerf's health check");
            let mut figure =
                bandwidth("dcperf", id.to_owned(), name, rate.times(MIB / 1e9), None, MISSING).figure(known);
            figure.conditions.set(MIX, mix.to_owned());
            figure
        }));
    }
    for (field, id) in [("memcpy_large_mb_s", "memcpy.large"), ("memcpy_medium_mb_s", "memcpy.medium")] {
        let rate = value(memory.get(field)).filter(|rate| rate.value > 0.0);
        figures.extend(rate.map(|rate| {
            let name = format!("{} by DCPerf's health check", id.replace('.', ", "));
            let mut quantity = bandwidth("dcperf", id.to_owned(), name, rate.times(MIB / 1e9), None, MISSING);
            if let Some(memory) = &mut quantity.memory {
                (memory.kernel, memory.counted, memory.convention) = ("copy", 8.0, Some(Convention::Copied));
            }
            quantity.figure(known)
        }));
    }
    let idle = memory.get("idle_latency").and_then(Value::as_object);
    let mut lowest: Vec<(&str, f64)> = Vec::new();
    for (pattern, all) in idle.into_iter().flatten().take(MOST_ROWS) {
        let memory = || Some(Memory { kernel: "latency", missing: MISSING, ..Memory::default() });
        // On Arm it is one number.
        if let Some(single) = value(Some(all)).filter(|single| single.value > 0.0) {
            let name = "idle latency by DCPerf's health check".to_owned();
            figures.push(
                latency("dcperf", format!("idle.{}", word(pattern)), name, single, memory()).figure(known),
            );
            lowest.push((pattern, single.value));
        }
        for (from, row) in all.as_object().into_iter().flatten().take(MOST_ROWS) {
            for (to, cell) in row.as_object().into_iter().flatten().take(MOST_ROWS) {
                let Some(single) = value(Some(cell)).filter(|single| single.value > 0.0) else { continue };
                let [from, to] = [from, to].map(|node| node.trim_start_matches("Node-"));
                let name = format!(
                    "idle latency ({pattern}) from node {from} to node {to} by DCPerf's health check"
                );
                let part = format!("idle.{}", word(pattern));
                let id = format!("{part}.node{}.node{}", word(from), word(to));
                let mut figure = latency("dcperf", id, name, single, memory()).figure(known);
                figure.series = Some(format!("{SUITE}.dcperf.{part}"));
                figure.at = nodes(from, to);
                figures.push(figure);
                lowest.push((pattern, single.value));
            }
        }
        if figures.len() >= MOST_ROWS {
            break;
        }
    }
    // Called so in reports and in the parser, one after the other.
    let loaded = ["delay_latency_bandwidth", "delay_bandwidth_latency"]
        .iter()
        .find_map(|field| memory.get(field)?.as_object());
    for (pattern, rows) in loaded.into_iter().flatten().take(8) {
        let points: Vec<Point> =
            rows.as_array().into_iter().flatten().take(MOST_ROWS).filter_map(point).collect();
        let idle = lowest.iter().filter(|(own, _)| own == pattern).map(|(_, value)| *value).reduce(f64::min);
        let part = format!("loaded.{}", word(pattern));
        figures.extend(
            Curve {
                tool: "dcperf",
                part,
                by: "DCPerf's health check",
                points,
                idle,
                array: None,
                missing: MISSING,
            }
            .figures(known),
        );
    }
    figures
}

/// Delay, bandwidth in GB/s of 2^30 bytes, latency in ns: in this order under either name.
fn point(row: &Value) -> Option<Point> {
    let of = |at: usize| value(row.get(at));
    let (delay, bandwidth, latency) = (of(0)?, of(1)?, of(2)?);
    Some(Point { delay: delay.value, latency, bandwidth: bandwidth.times(GIB) })
}

/// iperf3 and ping to each client.
fn of_network(metrics: &Value, known: &Known) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut words = Words::default();
    let list = |name: &str| metrics.get(name).and_then(Value::as_array).into_iter().flatten().take(MOST_ROWS);
    for entry in list("iperf3 bandwidth").chain(list("iperf3_bandwidth")) {
        let Some(rate) = value(entry.get("bandwidth")).filter(|rate| rate.value > 0.0) else { continue };
        let part = words.unique("iperf3".to_owned());
        let name = "bandwidth of the network by iperf3 (DCPerf's health check)".to_owned();
        figures
            .push(Quantity::of("dcperf", part, name, rate, Unit::of("Gbit/s"), Better::Higher).figure(known));
    }
    for entry in list("ping") {
        let Some(time) = value(entry.get("latency")).filter(|time| time.value > 0.0) else { continue };
        let part = words.unique("ping".to_owned());
        let name = "round trip by ping (DCPerf's health check)".to_owned();
        let quantity = Quantity {
            operation: Some(time.times(1e-3)),
            ..Quantity::of("dcperf", part, name, time, Unit::of("ms"), Better::Lower)
        };
        figures.push(quantity.figure(known));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_or_strings() {
        let of = |json: &str| value(Some(&serde_json::from_str(json).unwrap())).map(|value| value.value);
        assert_eq!(
            [of("\"658566.1\""), of("658566.1"), of("\"n/a\""), of("null")],
            [Some(658566.1), Some(658566.1), None, None]
        );
    }
}
