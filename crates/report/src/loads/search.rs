//! What the search for the largest rate that holds a latency tried.

use figure::Round;
use figure::evidence::http as key;
use figure::format::{percent, plain_to};
use suites::loads::{self, Load, Try};

use super::{Column, Row, Table, server, three, whole};

/// Loads of which each rate is shown; of more only a line each.
const MOST: usize = 2;
/// The longest condition that is shown.
const MAX_CONDITION: usize = 32;

/// A table for each load, or one line for each where they are many.
pub(super) fn tables<'a>(all: &[Load<'a>]) -> Vec<Table<'a>> {
    let searched: Vec<&Load> =
        all.iter().filter(|load| load.rate.rounds.iter().any(|round| !of(round).is_empty())).collect();
    if searched.len() <= MOST {
        return searched.into_iter().map(table).collect();
    }
    let notes = searched.iter().flat_map(|load| {
        load.rate.rounds.iter().enumerate().map(|(at, round)| {
            format!("{}, {} connections, {}", server(load), whole(load.connections), line(load, at, round))
        })
    });
    vec![Table { title: "http.slo: what was tried".to_owned(), notes: notes.collect(), ..Table::default() }]
}

fn of(round: &Round) -> Vec<Try> {
    loads::tries(&round.evidence)
}

fn condition(load: &Load) -> String {
    plain_to(&load.rate.conditions.get(key::SLO).unwrap_or_default(), MAX_CONDITION)
}

/// A round in a line: what it tried, and what held.
fn line(load: &Load, at: usize, round: &Round) -> String {
    let held = match round.value().filter(|_| round.kept) {
        Some(rate) => format!("{} held", whole(rate)),
        None => "none held".to_owned(),
    };
    format!("round {}: {}: {held}", at + 1, loads::summary(&of(round), &condition(load)))
}

/// The first search, which is the widest, rate by rate; the others in a line each.
fn table<'a>(load: &Load<'a>) -> Table<'a> {
    let condition = condition(load);
    let quantile = condition.split('<').next().unwrap_or_default().to_owned();
    let mut table = Table {
        title: format!("http.slo: what was tried for {condition}, {}, first round", server(load)),
        columns: vec![
            Column::numbers("asked\nreq/s", 0),
            Column::numbers("answered\nreq/s", 0),
            Column::numbers(format!("{quantile}\nms"), 0),
            Column::numbers("failed or\nnot sent", 60),
            Column::numbers("server\nCPU", 60),
            Column::numbers("other\nprocesses", 60),
            Column::words("held", 0),
            Column::words("limit", 0),
        ],
        ..Table::default()
    };
    let share = |share: Option<f64>| share.map_or("—".to_owned(), percent);
    let mut rounds = load.rate.rounds.iter().enumerate().filter(|(_, round)| !of(round).is_empty());
    if let Some((_, first)) = rounds.next() {
        let mut tried = of(first);
        tried.sort_by(|a, b| a.asked.total_cmp(&b.asked));
        table.rows.extend(tried.iter().map(|one| Row {
            cells: vec![
                whole(one.asked),
                whole(one.answered),
                if one.latency.is_finite() { three(one.latency * 1e3) } else { "—".to_owned() },
                whole(one.missed),
                share(one.server),
                share(one.others),
                if one.held { "yes" } else { "no" }.to_owned(),
                one.bound().word().to_owned(),
            ],
            judged: None,
        }));
    }
    table.notes.push(
        "server CPU: of its CPUs' time; other processes: of the time of the CPUs of client and server"
            .to_owned(),
    );
    table.notes.extend(rounds.map(|(at, round)| line(load, at, round)));
    table
}
