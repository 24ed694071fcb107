//! For each goal a row for each number of connections and each server.

use figure::evidence::http as key;
use figure::format::quantity;
use figure::stats;
use suites::loads::{self, Load, Quantity};

use super::{Column, Row, Table, cell, half, of_ceiling, server, three, whole};

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
const KINDS: [&str; 13] = [
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
];

/// What the columns mean, below the last table.
const LEGEND: &str = "rounds: the lowest and the highest of them; limit: what bounds the rate: the client, the server, both, the rate that was asked for, or unknown; p50, p99, p99.9: latency from the intended start, ms; CPU: of the server, user and system, us for a request; mem.: \
                      what the server grew by, KiB for a connection; gorout.: goroutines under load; wait: 99 % of the waits of goroutines for a CPU \
                      were no longer, ms; of null: of what the client reaches with the null responder (ceiling)";
const CLOSED: &str = "in a closed loop latency is connections/rate by construction (Little's law): it compares no servers; an equal rate does";

/// A column, and what it says of a load.
struct Said {
    head: &'static str,
    least: usize,
    says: fn(&Load) -> String,
}

const SAID: &[Said] = &[
    Said { head: "req/s", least: 0, says: |load| cell(load, Quantity::Rate, whole) },
    Said { head: "±", least: 60, says: |load| half(load.rate) },
    Said { head: "rounds", least: 0, says: rounds },
    Said { head: "limit", least: 60, says: |load| load.bound().word().to_owned() },
    Said { head: "of\nnull", least: 60, says: of_ceiling },
    Said { head: "p50\nms", least: 78, says: |load| cell(load, Quantity::P50, three) },
    Said { head: "p99\nms", least: 0, says: |load| cell(load, Quantity::P99, three) },
    Said { head: "p99.9\nms", least: 78, says: |load| cell(load, Quantity::P999, three) },
    Said { head: "CPU\nus", least: 60, says: |load| cell(load, Quantity::Cpu, three) },
    Said {
        head: "mem.\nKiB",
        least: 60,
        says: |load| cell(load, Quantity::Memory, |bytes| three(bytes / 1024.0)),
    },
    Said { head: "gor-\nout.", least: 78, says: |load| cell(load, Quantity::Goroutines, whole) },
    Said { head: "wait\nms", least: 100, says: |load| cell(load, Quantity::Runnable, three) },
];

/// The tables, goals in the order of [`GOALS`]; those that are not in it last, under their own words.
pub(super) fn tables<'a>(all: &[Load<'a>], ceilings: &[Load<'a>]) -> Vec<Table<'a>> {
    let mut goals: Vec<String> = Vec::new();
    for load in all {
        let goal = load.goal();
        if !goals.contains(&goal) {
            goals.push(goal);
        }
    }
    let rank = |goal: &String| GOALS.iter().position(|(known, _)| known == goal).unwrap_or(GOALS.len());
    goals.sort_by_key(rank);
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
    let mut own: Vec<&Load> = all.iter().filter(|load| load.goal() == goal).collect();
    own.sort_by(|a, b| a.connections.total_cmp(&b.connections));
    let called = GOALS.iter().find(|(known, _)| *known == goal).map_or("", |(_, called)| *called);
    let goal_name = figure::format::plain_to(goal, 32);
    let mut table = Table { title: format!("http.{goal_name}: {called}"), ..Table::default() };
    table.title = table.title.trim_end_matches(": ").to_owned();
    let has_ceiling = [loads::SATURATION, loads::ASKED].contains(&goal);
    let said: Vec<&Said> = SAID
        .iter()
        .filter(|said| own.iter().any(|load| !["", "—"].contains(&(said.says)(load).as_str())))
        .collect();
    table.columns = vec![Column::numbers("conns", 0), Column::words("server", 0)];
    table.columns.extend(said.iter().map(|said| Column::numbers(said.head, said.least)));
    for (at, load) in own.iter().enumerate() {
        let is_first = at == 0 || own[at - 1].connections != load.connections;
        let connections = if is_first { whole(load.connections) } else { String::new() };
        table.rows.push(row(load, connections, label(load), &said));
        let is_last = own.get(at + 1).is_none_or(|next| next.connections != load.connections);
        let ceiling = ceilings.iter().find(|ceiling| ceiling.connections == load.connections);
        if let Some(ceiling) = ceiling.filter(|_| has_ceiling && is_last) {
            table.rows.push(row(ceiling, String::new(), "(ceiling)".to_owned(), &said));
        }
    }
    table.notes.extend(own.iter().filter_map(|load| failures(load)));
    table
}

/// The lowest and the highest round, where no interval tells how far they are apart, and of every search.
fn rounds(load: &Load) -> String {
    let values = load.rate.kept_values();
    let is_told = values.len() > 1 && (load.rate.interval.is_none() || load.goal() == loads::SLO);
    let range = stats::range(&values).filter(|_| is_told);
    range.map_or_else(String::new, |(low, high)| format!("{}–{}", whole(low), whole(high)))
}

/// The server; and what it was told, where that is what is varied.
fn label(load: &Load) -> String {
    match load.rate.conditions.get(key::POOL) {
        Some(workers) => format!("pool of {}", whole(workers)),
        None => server(load),
    }
}

fn row<'a>(load: &Load<'a>, connections: String, label: String, said: &[&Said]) -> Row<'a> {
    let mut cells = vec![connections, label];
    match load.rate.value {
        Some(_) => cells.extend(said.iter().map(|said| (said.says)(load))),
        None => cells.extend(
            said.iter().enumerate().map(|(at, _)| if at == 0 { "—".to_owned() } else { String::new() }),
        ),
    }
    Row { cells, judged: Some(load.rate).filter(|rate| rate.value.is_some()) }
}

/// What failed, by kind; `None` if nothing did.
fn failures(load: &Load) -> Option<String> {
    let sums = |fact| -> Vec<f64> {
        let rounds = load.rate.over_rounds(fact).into_value().unwrap_or_default();
        (0..KINDS.len()).map(|at| rounds.iter().filter_map(|round: &Vec<f64>| round.get(at)).sum()).collect()
    };
    let told = |counts: Vec<f64>| -> Vec<String> {
        let kinds = counts.iter().zip(KINDS).filter(|(count, _)| **count > 0.0);
        kinds.map(|(count, kind)| format!("{} {kind}", whole(*count))).collect()
    };
    let (failed, unconnected) = (told(sums(key::FAILED)), told(sums(key::UNCONNECTED)));
    let parts = [("requests", failed), ("connections", unconnected)];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, kinds)| !kinds.is_empty())
        .map(|(what, kinds)| format!("{what}: {}", kinds.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| {
        format!("{}, {}: failed {}", label(load), quantity(load.connections, "connection"), parts.join("; "))
    })
}
