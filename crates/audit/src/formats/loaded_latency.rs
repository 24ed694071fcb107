//! Arm's loaded-latency (infra-microbenchmarks): latency of a walk and bandwidth of other threads at once; the table of its summarize.sh.

use figure::Figure;
use figure::evidence::{ORDER, WORKING_SET};

use crate::format::Format;
use crate::formats::memory::{Curve, LINE, MOST_ROWS, Point, bandwidth, latency, sized};
use crate::known::Known;
use crate::quantity::Memory;
use crate::run::Run;
use crate::text::{Printed, begins, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "loaded-latency",
    &["bandwidth threads requested", "Total Bandwidth =", "Average Latency =", "F\tBandwidth\tLatency"],
    starts,
    None,
    parse,
);

const MISSING: &str =
    "the text does not show the buffers of loaded-latency (\"bw_buflen\", \"lat_cacheline_count\")";

fn is_table(line: &str) -> bool {
    line.split_whitespace().eq(["F", "Bandwidth", "Latency"])
}

const KINDS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Bandwidth thread 0 on CPU"),
    |line| line.starts_with("Total of ") && line.ends_with(" bandwidth threads requested"),
    |line| line.starts_with("Latency thread 0 on CPU"),
    |line| line.starts_with("Total of ") && line.ends_with(" latency threads requested"),
    |line| line == "bandwidth settings:",
    |line| line == "latency settings:",
    |line| line.starts_with("Total Bandwidth = ") && line.ends_with(" MB/sec"),
    |line| line.starts_with("Average Latency = ") && line.ends_with(" ns"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_table(line)) || begins(KINDS, before, rest)
}

/// The number behind a setting: `bw_buflen           (-L) = 200000000 (200.000 (1e6) megabytes)`.
fn setting(run: &Run, name: &str) -> Option<f64> {
    number(first(run.after(name)?.split_once("= ")?.1)?)
}

/// A row of the table: delay, MB/s, ns.
fn point(line: &str) -> Option<Point> {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    let [delay, bandwidth, latency] = words.as_slice() else { return None };
    Some(Point {
        delay: number(delay)?,
        latency: Printed::of(latency)?,
        bandwidth: Printed::of(bandwidth)?.times(1e-3),
    })
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    if run.lines.first().is_some_and(|line| is_table(line)) {
        let points: Vec<Point> =
            run.lines[1..].iter().map_while(|line| point(line)).take(MOST_ROWS).collect();
        if points.is_empty() {
            return Err("has no row below its table's head".to_owned());
        }
        let curve = Curve {
            tool: "loaded-latency",
            part: "table".to_owned(),
            by: "loaded-latency",
            points,
            idle: None,
            array: None,
            missing: MISSING,
        };
        return Ok(curve.figures(known));
    }
    let count = |kind: &str| {
        run.lines.iter().find_map(|line| number(line.strip_prefix("Total of ")?.strip_suffix(kind)?))
    };
    let loads = count(" bandwidth threads requested");
    let delay = setting(run, "fine loop delay").filter(|_| loads != Some(0.0));
    let id = |what: &str| delay.map_or_else(|| what.to_owned(), |delay| format!("d{delay}.{what}"));
    let mut figures: Vec<Figure> = Vec::new();
    let label = |label: &str| Printed::of(first(run.after(label)?)?);
    if let Some(rate) = label("Total Bandwidth =").filter(|rate| rate.value > 0.0) {
        let array = setting(run, "bw_buflen")
            .zip(loads)
            .map(|(bytes, threads)| bytes * threads)
            .filter(|bytes| *bytes > 0.0);
        let name = "bandwidth by loaded-latency".to_owned();
        let mut quantity =
            bandwidth("loaded-latency", id("bandwidth"), name, rate.times(1e-3), array, MISSING);
        quantity.seconds = setting(run, "duration");
        figures.push(sized(quantity, known));
    }
    if let Some(value) = label("Average Latency =").filter(|value| value.value > 0.0) {
        figures.push(walk(run, id("latency"), value, known));
    }
    if figures.is_empty() {
        Err("has neither a total bandwidth nor an average latency".to_owned())
    } else {
        Ok(figures)
    }
}

/// The latency of a walk. Its size is an option of each run: one that a cache holds is meant for it.
fn walk(run: &Run, part: String, value: Printed, known: &Known) -> Figure {
    let lines = setting(run, "lat_cacheline_count").zip(setting(run, "lat_cacheline_bytes").or(Some(LINE)));
    let array = lines.map(|(count, bytes)| count * bytes).filter(|bytes| *bytes > 0.0);
    let in_cache = array.zip(known.llc.as_ref()).is_some_and(|(array, (caches, _))| array <= *caches);
    let missing = if in_cache { "" } else { MISSING };
    let memory =
        Memory { kernel: "latency", array: array.filter(|_| !in_cache), missing, ..Memory::default() };
    let part = array.map_or(part.clone(), |array| format!("{part}.{array}"));
    let mut figure = sized(
        latency("loaded-latency", part, "latency by loaded-latency".to_owned(), value, Some(memory)),
        known,
    );
    array.filter(|_| in_cache).into_iter().for_each(|array| figure.conditions.set(WORKING_SET, array));
    if let Some(randomised) = setting(run, "lat_randomize") {
        figure.conditions.set(ORDER, if randomised > 0.0 { "random" } else { "strided" }.to_owned());
    }
    figure
}
