//! What the search for the largest rate that holds a latency tried.

use figure::Round;
use figure::evidence::http as key;
use figure::format::{percent, plain_to};
use suites::loads::{self, Load, Try};

use super::cells::{or_none, server, three, whole};
use crate::tables::{Column, Row, Table};

/// Loads of which each rate is shown; of more only a line each.
const MOST: usize = 2;
/// The longest condition that is shown.
const MAX_CONDITION: usize = 32;

/// What a column shows of a rate that was tried.
type Cell = fn(&Try) -> String;

/// A table for each load, or one line for each where they are many.
pub(super) fn tables<'a>(all: &[Load<'a>]) -> Vec<Table<'a>> {
    let is_searched = |load: &&Load| load.rate.rounds.iter().any(|round| !tried(round).is_empty());
    let searched: Vec<&Load> = all.iter().filter(is_searched).collect();
    if searched.len() <= MOST {
        return searched.into_iter().map(table).collect();
    }
    let notes = searched.iter().flat_map(|load| {
        let (server, connections) = (server(load), whole(load.connections));
        let rounds = load.rate.rounds.iter().enumerate();
        rounds
            .map(move |(at, round)| format!("{server}, {connections} connections, {}", line(load, at, round)))
    });
    vec![Table { title: "http.slo: what was tried".to_owned(), notes: notes.collect(), ..Table::default() }]
}

fn tried(round: &Round) -> Vec<Try> {
    loads::tries(&round.evidence)
}

fn condition(load: &Load) -> String {
    plain_to(&load.rate.conditions.get(key::SLO).unwrap_or_default(), MAX_CONDITION)
}

/// A round in a line: what it tried, and what held.
fn line(load: &Load, at: usize, round: &Round) -> String {
    let held = match round.value().filter(|_| round.used) {
        Some(rate) => format!("{} held", whole(rate)),
        None => "none held".to_owned(),
    };
    format!("round {}: {}: {held}", at + 1, loads::summary(&tried(round), &condition(load)))
}

/// The first search, which is the widest, rate by rate; the others in a line each.
fn table<'a>(load: &Load<'a>) -> Table<'a> {
    let condition = condition(load);
    let quantile = condition.split('<').next().unwrap_or_default().to_owned();
    let columns: [(Column, Cell); 8] = [
        (Column::numbers("asked\nreq/s", 0), |one| whole(one.asked)),
        (Column::numbers("answered\nreq/s", 0), |one| whole(one.answered)),
        (Column::numbers(format!("{quantile}\nms"), 0), |one| {
            or_none(Some(one.latency * 1e3).filter(|latency| latency.is_finite()), three)
        }),
        (Column::numbers("failed or\nnot sent", 60), |one| whole(one.missed)),
        (Column::numbers("server\nCPU", 60), |one| or_none(one.server, percent)),
        (Column::numbers("other\nprocesses", 60), |one| or_none(one.others, percent)),
        (Column::words("met", 0), |one| if one.is_met { "yes" } else { "no" }.to_owned()),
        (Column::words("limit", 0), |one| one.bound().word().to_owned()),
    ];
    let mut rounds = load.rate.rounds.iter().enumerate().filter(|(_, round)| !tried(round).is_empty());
    let mut first = rounds.next().map_or_else(Vec::new, |(_, first)| tried(first));
    first.sort_by(|a, b| a.asked.total_cmp(&b.asked));
    let note = "server CPU: of its CPUs' time; other processes: of the time of the CPUs of client and server";
    let notes = rounds.map(|(at, round)| line(load, at, round));
    Table {
        title: format!("http.slo: what was tried for {condition}, {}, first round", server(load)),
        rows: first.iter().map(|one| Row::new(columns.iter().map(|(_, cell)| cell(one)))).collect(),
        notes: [note.to_owned()].into_iter().chain(notes).collect(),
        columns: columns.map(|(column, _)| column).into(),
        ..Table::default()
    }
}
