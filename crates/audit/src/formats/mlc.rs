//! Intel Memory Latency Checker: peak injection bandwidth by mix, and the matrix of bandwidths between nodes.

use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, KERNEL, MIX, THREADS, VERIFIED};
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Conditions, Convention, Evidence, Figure, Unit};

use crate::SUITE;
use crate::formats::{Format, stream};
use crate::known::Known;
use crate::run::Run;
use crate::text::{is_alone, number, round};

pub(super) const FORMAT: Format = Format { name: "Intel MLC", starts, command: None, parse };

/// Lines of the table of mixes, our words for them, and the last part of their ids.
const MIXES: [(&str, &str, &str); 5] = [
    ("ALL Reads", "1:0", "reads"),
    ("3:1 Reads-Writes", "3:1", "3to1"),
    ("2:1 Reads-Writes", "2:1", "2to1"),
    ("1:1 Reads-Writes", "1:1", "1to1"),
    ("Stream-triad like", "triad-like", "triad-like"),
];
/// Bytes of a line.
const LINE: f64 = 64.0;
/// More nodes than any machine has.
const MOST_NODES: usize = 256;

fn is_head(line: &str) -> bool {
    line.starts_with("Intel(R) Memory Latency Checker")
}

fn is_table(line: &str) -> bool {
    line.starts_with("ALL Reads") && line.contains(':')
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line) || is_table(line) && is_alone(before, is_head, is_table))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut conditions = Conditions::default();
    known.threads.into_iter().for_each(|threads| conditions.set(THREADS, threads));
    // Every thread has a buffer of its own; the sum of all is compared with the caches.
    let buffer = run.lines.iter().find_map(|line| buffer(line));
    let all = buffer.zip(known.threads).map(|(buffer, threads)| buffer * threads);
    all.into_iter().for_each(|all| conditions.set(ARRAY_BYTES, all));
    let of = |id: String, name: String, bandwidth: f64| {
        let mut figure =
            Figure::planned(format!("{SUITE}.mlc.{id}"), SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(Convention::EstimatedTraffic);
        figure.conditions = conditions.clone().with(COUNTED_BYTES, LINE).with(KERNEL, "mix".to_owned());
        figure.evidence.put_unknown(VERIFIED, "Intel MLC does not check what it read");
        stream::caches(known, &mut figure.evidence);
        figure.rounds.push(round(0.0, bandwidth / 1e3, Evidence::default()));
        figure
    };
    let mut figures = Vec::new();
    for (label, mix, word) in MIXES {
        let Some(bandwidth) = run.after(label).and_then(|rest| number(rest.trim_start_matches(':').trim()))
        else {
            continue;
        };
        let mut figure = of(word.to_owned(), format!("{mix} by Intel MLC"), bandwidth);
        figure.conditions.set(MIX, mix.to_owned());
        figures.push(figure);
    }
    for (from, row) in matrix(run).into_iter().enumerate() {
        for (to, bandwidth) in row.into_iter().enumerate() {
            let mut figure = of(
                format!("node{from}.node{to}"),
                format!("node {from} to node {to} by Intel MLC"),
                bandwidth,
            );
            figure.series = Some(format!("{SUITE}.mlc.nodes"));
            figure.at = At::from([("from".to_owned(), node(from)), ("to".to_owned(), node(to))]);
            figures.push(figure);
        }
    }
    if figures.is_empty() {
        return Err("has neither a table of mixes nor a matrix of bandwidths, which are what is read of it"
            .to_owned());
    }
    Ok(figures)
}

fn node(number: usize) -> Coordinate {
    Coordinate { value: CoordinateValue::Number(number as f64), unit: None }
}

/// `Using buffer size of 100.000MB/thread`, in bytes; MLC's MB and MiB are both 2^20 bytes where it allocates.
fn buffer(line: &str) -> Option<f64> {
    let size = line.strip_prefix("Using buffer size of ")?.split("/thread").next()?;
    let digits = size.trim_end_matches("MiB").trim_end_matches("MB");
    Some(number(digits.trim())? * 1024.0 * 1024.0)
}

/// The matrix of bandwidths; empty if there is none, or it is one of latencies.
fn matrix(run: &Run) -> Vec<Vec<f64>> {
    let is_bandwidth =
        run.lines.iter().any(|line| line.starts_with("Measuring Memory Bandwidths between nodes"));
    if !is_bandwidth {
        return Vec::new();
    }
    let from = run
        .lines
        .iter()
        .position(|line| line.starts_with("Measuring Memory Bandwidths between nodes"))
        .unwrap_or(0);
    let rows = run.lines[from..].iter().skip_while(|line| !line.starts_with("Numa node  ")).skip(1);
    rows.take(MOST_NODES)
        .map_while(|line| {
            let cells: Option<Vec<f64>> =
                line.split_whitespace().skip(1).take(MOST_NODES).map(number).collect();
            cells.filter(|cells| !cells.is_empty())
        })
        .collect()
}
