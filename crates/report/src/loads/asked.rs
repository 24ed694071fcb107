//! A load that was asked for, more closely: the spectrum of its latencies, and what was seen over time.

use figure::evidence::http as key;
use figure::format::{bytes, number};
use figure::series::{Column as Seen, Distribution};
use figure::{Unit, stats};
use suites::loads::{Load, Quantity};

use super::{Column, Row, Table, three};

/// Quantiles of the spectrum, as wrk2 prints them; where `http.uncorrected` has them.
const SPECTRUM: [(f64, &str, Option<usize>); 6] = [
    (0.5, "50 %", Some(0)),
    (0.75, "75 %", None),
    (0.9, "90 %", Some(1)),
    (0.99, "99 %", Some(2)),
    (0.999, "99.9 %", Some(3)),
    (0.9999, "99.99 %", None),
];
/// Where `http.uncorrected` has the longest.
const LONGEST: usize = 4;

/// What is summed up of the timeline: the column, and what it is called.
const SEEN: &[(&str, &str)] = &[
    ("server.user", "server CPU, user"),
    ("server.system", "server CPU, system"),
    ("server.resident", "server memory, RSS"),
    ("server.processes", "server processes"),
    ("server.threads", "server threads"),
    ("go.goroutines", "goroutines"),
    ("client.user", "client CPU, user"),
    ("client.system", "client CPU, system"),
    ("host.cpu.softirq", "soft interrupts, CPUs"),
    ("host.switches", "context switches"),
    ("tcp.RetransSegs", "retransmitted segments"),
    ("tcp.ListenOverflows", "listen overflows"),
];

pub(super) fn tables<'a>(load: &Load<'a>) -> Vec<Table<'a>> {
    [spectrum(load), over_time(load)].into_iter().flatten().collect()
}

/// The latencies of all rounds; at a rate also from the sending.
fn spectrum<'a>(load: &Load<'a>) -> Option<Table<'a>> {
    let latencies = load.figure(Quantity::P50)?.distribution.as_ref()?;
    let sent = load.rate.over_rounds(key::UNCORRECTED).into_value().filter(|_| !load.is_closed());
    let mut table = Table { title: "Latency (ms)".to_owned(), ..Table::default() };
    table.columns = vec![Column::words("quantile", 0), Column::numbers("latency", 0)];
    if sent.is_some() {
        table.columns.push(Column::numbers("uncorrected", 0));
        table.notes.push(
            "latency: from the intended start, all rounds together; uncorrected: from the sending, medians of the rounds, the longest of \
             all: what waits to be sent is not in it"
                .to_owned(),
        );
    }
    let of_sent = |place: Option<usize>, sum: fn(&[f64]) -> Option<f64>| {
        let values: Option<Vec<f64>> =
            sent.as_ref()?.iter().map(|round| round.get(place?).copied()).collect();
        sum(&values?).map(|seconds| seconds * 1e3)
    };
    let mut add = |name: &str, value: Option<f64>, uncorrected: Option<f64>| {
        let shown = |value: Option<f64>| value.map_or("—".to_owned(), three);
        let mut cells = vec![name.to_owned(), shown(value)];
        if sent.is_some() {
            cells.push(shown(uncorrected));
        }
        table.rows.push(Row { cells, judged: None });
    };
    for (q, name, place) in SPECTRUM {
        add(name, quantile(latencies, q), of_sent(place, stats::median));
    }
    let longest = |values: &[f64]| stats::range(values).map(|(_, high)| high);
    add("longest", Some(latencies.max), of_sent(Some(LONGEST), longest));
    add("mean", Some(latencies.mean), None);
    table.notes.push(format!("{} latencies", number(latencies.count as f64)));
    Some(table)
}

/// A quantile that is recorded; else the upper end of the bucket that holds it.
fn quantile(latencies: &Distribution, q: f64) -> Option<f64> {
    if let Some(known) = latencies.quantiles.iter().find(|known| (known.q - q).abs() < 1e-9) {
        return Some(known.value);
    }
    let rank = q * latencies.count as f64;
    let mut below = 0.0;
    let bucket = latencies.buckets.iter().find(|bucket| {
        below += bucket.count as f64;
        below >= rank
    })?;
    Some(bucket.high)
}

/// What the watcher saw, second by second: least, median, most.
fn over_time<'a>(load: &Load<'a>) -> Option<Table<'a>> {
    let timeline = load.rate.timeline.as_ref()?;
    let mut table = Table { title: "Seen, second by second".to_owned(), ..Table::default() };
    table.columns = vec![
        Column::words("", 0),
        Column::numbers("least", 0),
        Column::numbers("median", 0),
        Column::numbers("most", 0),
    ];
    let rates = load.rate.kept_values();
    table.rows.extend(row("answers a second, by round", &Unit::of("1/s"), &rates));
    for (name, called) in SEEN {
        let Some(seen) = timeline.columns.iter().find(|column| column.name == *name) else { continue };
        table.rows.extend(row(called, &seen.unit, &values(seen)));
    }
    (table.rows.len() > 1).then_some(table)
}

fn values(seen: &Seen) -> Vec<f64> {
    seen.values.iter().flatten().copied().collect()
}

fn row<'a>(called: &str, unit: &Unit, values: &[f64]) -> Option<Row<'a>> {
    let (least, most) = stats::range(values)?;
    let shown = |value: f64| match unit {
        unit if *unit == Unit::BYTES => bytes(value),
        _ => number(value),
    };
    let cells = vec![called.to_owned(), shown(least), shown(stats::median(values)?), shown(most)];
    Some(Row { cells, judged: None })
}
