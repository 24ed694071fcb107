//! A load that was asked for, more closely: the spectrum of its latencies, and what was observed over time.

use figure::evidence::http as key;
use figure::format::{bytes, number};
use figure::series::Distribution;
use figure::{Unit, stats};
use suites::loads::{LONGEST, Load, MEDIAN, P99, P999, Quantity};

use super::cells::{or_none, three};
use crate::tables::{Column, Row, Table};

/// Quantiles of the spectrum, as wrk2 prints them; where `http.uncorrected` has them.
const SPECTRUM: [(f64, &str, Option<usize>); 6] = [
    (0.5, "50 %", Some(MEDIAN)),
    (0.75, "75 %", None),
    (0.9, "90 %", Some(MEDIAN + 1)),
    (0.99, "99 %", Some(P99)),
    (0.999, "99.9 %", Some(P999)),
    (0.9999, "99.99 %", None),
];

/// What is summed up of the timeline: the column, and what it is called.
const TIMELINE: &[(&str, &str)] = &[
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
    let is_open = sent.is_some();
    let heads = ["latency", "uncorrected"].into_iter().take(1 + usize::from(is_open));
    let note = "latency: from the intended start, all rounds together; uncorrected: from the sending, medians of the rounds, the longest of \
                all: what waits to be sent is not in it";
    let of_sent = |place: usize, sum: fn(&[f64]) -> Option<f64>| {
        let values: Option<Vec<f64>> = sent.as_ref()?.iter().map(|round| round.get(place).copied()).collect();
        Some(sum(&values?)? * 1e3)
    };
    let longest = |values: &[f64]| stats::range(values).map(|(_, high)| high);
    let row = |name: &str, value: Option<f64>, uncorrected: Option<f64>| {
        let uncorrected = is_open.then(|| or_none(uncorrected, three));
        Row::new([name.to_owned(), or_none(value, three)].into_iter().chain(uncorrected))
    };
    let quantiles = SPECTRUM.iter().map(|(q, name, place)| {
        row(name, quantile(latencies, *q), place.and_then(|place| of_sent(place, stats::median)))
    });
    let longest = row("longest", Some(latencies.max), of_sent(LONGEST, longest));
    let count = format!("{} latencies", number(latencies.count as f64));
    Some(Table {
        title: "Latency (ms)".to_owned(),
        columns: [Column::words("quantile", 0)]
            .into_iter()
            .chain(heads.map(|head| Column::numbers(head, 0)))
            .collect(),
        rows: quantiles.chain([longest, row("mean", Some(latencies.mean), None)]).collect(),
        notes: is_open.then(|| note.to_owned()).into_iter().chain([count]).collect(),
        ..Table::default()
    })
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

/// What the watcher observed, second by second: least, median, most.
fn over_time<'a>(load: &Load<'a>) -> Option<Table<'a>> {
    let timeline = load.rate.timeline.as_ref()?;
    let columns = TIMELINE.iter().filter_map(|(name, title)| {
        let column = timeline.columns.iter().find(|column| column.name == *name)?;
        row(title, &column.unit, &column.values.iter().flatten().copied().collect::<Vec<_>>())
    });
    let rates = row("answers a second, by round", &Unit::PER_S, &load.rate.kept_values());
    let rows: Vec<Row> = rates.into_iter().chain(columns).collect();
    let heads = ["least", "median", "most"].map(|head| Column::numbers(head, 0));
    (rows.len() > 1).then(|| Table {
        title: "Over time, second by second".to_owned(),
        columns: [Column::words("", 0)].into_iter().chain(heads).collect(),
        rows,
        ..Table::default()
    })
}

fn row<'a>(title: &str, unit: &Unit, values: &[f64]) -> Option<Row<'a>> {
    let (least, most) = stats::range(values)?;
    let show = if *unit == Unit::BYTES { bytes } else { number };
    let numbers = [least, stats::median(values)?, most].map(show);
    Some(Row::new([title.to_owned()].into_iter().chain(numbers)))
}
