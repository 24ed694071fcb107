//! For each goal a row for each number of connections and each server.

use figure::evidence::http as key;
use figure::format::{plain_to, quantity};
use figure::stats;
use indexmap::IndexSet;
use suites::loads::{self, Load, Quantity};

use super::cells::{NONE, cell, half, of_ceiling, server, three, whole};
use crate::tables::{Column, Row, Table};

/// The goals, and what their tables are called.
const GOALS: &[(&str, &str)] = &[
    (loads::SATURATION, "as many requests as the server answers (closed loop)"),
    (loads::EQUAL_RATE, "the same rate for all servers, 70 % of what the slowest can do (open loop)"),
    (loads::SLO, "the largest rate that holds a latency (open loop)"),
    (loads::DUTY, "connections that are idle for 99 % of the time or more (open loop)"),
    (loads::SHORT, "a connection for each request (closed loop)"),
    (loads::POOL, "pools of workers of several sizes (closed loop)"),
    (loads::REFUSAL, "more connections than the server takes (closed loop)"),
    (loads::DOUBLED, "control: saturated by twice the client's threads (closed loop)"),
    (loads::ASKED, "the server that was asked for"),
];

/// How a request can fail, in the order of `http.failed`.
const KINDS: [&str; 14] = [
    "another status",
    "another length",
    "malformed",
    "reset",
    "closed before the answer",
    "closed within the answer",
    "timed out",
    "refused",
    "not connected in time",
    "no local port",
    "not connected",
    "TLS",
    "another body",
    "in an unspecified way",
];

/// What the columns mean, below the last table.
const LEGEND: &str = "rounds: the lowest and the highest of them; limit: what bounds the rate: the client, the server, both, the rate that was asked for, or unknown; p50, p99, p99.9: latency from the intended start, ms; CPU: of the server, user and system, µs for a request; mem.: \
                      what the server grew by, KiB for a connection; gorout.: goroutines under load; wait: 99 % of the waits of goroutines for a CPU \
                      were no longer, ms; of null: of what the client reaches with the null responder (ceiling)";
const CLOSED: &str = "in a closed loop latency is connections/rate by construction (Little's law): it compares no servers; an equal rate does";

/// A column: its head, the narrowest page that it is shown on, and its cell of a load.
type Measure = (&'static str, usize, fn(&Load) -> String);

const MEASURES: &[Measure] = &[
    ("req/s", 0, |load| cell(load, Quantity::Rate, whole)),
    ("±", 60, |load| half(load.rate)),
    ("rounds", 0, rounds),
    ("limit", 60, |load| load.bound().word().to_owned()),
    ("of\nnull", 60, of_ceiling),
    ("p50\nms", 78, |load| cell(load, Quantity::P50, three)),
    ("p99\nms", 0, |load| cell(load, Quantity::P99, three)),
    ("p99.9\nms", 78, |load| cell(load, Quantity::P999, three)),
    ("CPU\nµs", 60, |load| cell(load, Quantity::Cpu, three)),
    ("mem.\nKiB", 60, |load| cell(load, Quantity::Memory, |bytes| three(bytes / 1024.0))),
    ("gor-\nout.", 78, |load| cell(load, Quantity::Goroutines, whole)),
    ("wait\nms", 100, |load| cell(load, Quantity::Runnable, three)),
];

/// The tables, goals in the order of [`GOALS`]; those that are not in it last, under their own words.
pub(super) fn tables<'a>(all: &[Load<'a>], ceilings: &[Load<'a>]) -> Vec<Table<'a>> {
    let mut goals: IndexSet<String> = all.iter().map(Load::goal).collect();
    goals.sort_by_cached_key(|goal| GOALS.iter().position(|(known, _)| known == goal).unwrap_or(GOALS.len()));
    let mut tables: Vec<Table> = goals.iter().map(|goal| table(goal, all, ceilings)).collect();
    if let Some(last) = tables.last_mut() {
        last.notes.push(LEGEND.to_owned());
        if all.iter().any(Load::is_closed) {
            last.notes.push(CLOSED.to_owned());
        }
    }
    tables
}

fn table<'a>(goal: &str, all: &[Load<'a>], ceilings: &[Load<'a>]) -> Table<'a> {
    let mut loads: Vec<&Load> = all.iter().filter(|load| load.goal() == goal).collect();
    loads.sort_by(|a, b| a.connections.total_cmp(&b.connections));
    let about = GOALS.iter().find(|(known, _)| *known == goal);
    let about = about.map_or_else(String::new, |(_, about)| format!(": {about}"));
    let mut table = Table { title: format!("http.{}{about}", plain_to(goal, 32)), ..Table::default() };
    let has_cells =
        |(_, _, cell): &&Measure| loads.iter().any(|load| !["", NONE].contains(&cell(load).as_str()));
    let measures: Vec<&Measure> = MEASURES.iter().filter(has_cells).collect();
    table.columns = vec![Column::numbers("conns", 0), Column::words("server", 0)];
    table.columns.extend(measures.iter().map(|(head, least, _)| Column::numbers(*head, *least)));
    let has_ceiling = [loads::SATURATION, loads::ASKED].contains(&goal);
    for group in loads.chunk_by(|a, b| a.connections == b.connections) {
        let connections = group[0].connections;
        let ceiling = ceilings.iter().find(|ceiling| has_ceiling && ceiling.connections == connections);
        let rows = group.iter().map(|load| (*load, label(load)));
        let rows = rows.chain(ceiling.map(|ceiling| (ceiling, "(ceiling)".to_owned())));
        for (at, (load, label)) in rows.enumerate() {
            let first = if at == 0 { whole(connections) } else { String::new() };
            table.rows.push(row(load, first, label, &measures));
        }
    }
    table.notes.extend(loads.iter().filter_map(|load| failures(load)));
    table
}

/// The lowest and the highest round, where no interval shows how far they are apart, and of every search.
fn rounds(load: &Load) -> String {
    let values = load.rate.kept_values();
    let is_shown = values.len() > 1 && (load.rate.interval.is_none() || load.goal() == loads::SLO);
    let range = stats::range(&values).filter(|_| is_shown);
    range.map_or_else(String::new, |(low, high)| format!("{}–{}", whole(low), whole(high)))
}

/// The server; or the size of its pool, where that is varied.
fn label(load: &Load) -> String {
    match load.rate.conditions.get(key::POOL) {
        Some(workers) => format!("pool of {}", whole(workers)),
        None => server(load),
    }
}

fn row<'a>(load: &Load<'a>, connections: String, label: String, measures: &[&Measure]) -> Row<'a> {
    let judged = Some(load.rate).filter(|rate| rate.value.is_some());
    let cells = measures.iter().enumerate().map(|(at, (_, _, cell))| match (judged, at) {
        (Some(_), _) => cell(load),
        (None, 0) => NONE.to_owned(),
        (None, _) => String::new(),
    });
    Row { cells: [connections, label].into_iter().chain(cells).collect(), judged, ..Row::default() }
}

/// What failed, by kind; `None` if nothing did.
fn failures(load: &Load) -> Option<String> {
    let by_kind = |what: &str, fact| {
        let rounds: Vec<Vec<f64>> = load.rate.over_rounds(fact).into_value().unwrap_or_default();
        let sum = |at: usize| rounds.iter().filter_map(|round| round.get(at)).sum::<f64>();
        let counts = KINDS.iter().enumerate().map(|(at, kind)| (sum(at), kind));
        let kinds: Vec<String> = counts
            .filter(|(count, _)| *count > 0.0)
            .map(|(count, kind)| format!("{} {kind}", whole(count)))
            .collect();
        (!kinds.is_empty()).then(|| format!("{what}: {}", kinds.join(", ")))
    };
    let parts = [by_kind("requests", key::FAILED), by_kind("connections", key::UNCONNECTED)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let connections = quantity(load.connections, "connection");
    (!parts.is_empty()).then(|| format!("{}, {connections}: failed {}", label(load), parts.join("; ")))
}
