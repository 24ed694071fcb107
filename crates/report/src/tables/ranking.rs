//! Allocators side by side: rank, time, memory, and which of them are a choice.

use figure::Record;
use figure::format::{number, percent, plain_to};
use suites::ranking::{Place, Ranking, rankings, wasted};

use super::section::half_width;
use super::{Column, Kind, Row, Table};

/// The longest name that is shown.
const MAX_NAME: usize = 24;
/// From these widths on there is room for more than the least, and for everything.
const ROOMY: usize = 56;
const WIDE: usize = 76;

const LEGEND: &str = "rank: from the best to the worst that it may have, as far as rounds can tell; ns/pair: malloc and free without the \
                      load itself; memory: resident for each byte requested; overhead: its share of memory, and of each cache; choice: \
                      no other one is better in time or memory without being worse in the other";

/// A table for each team; below the last what its columns mean.
pub(crate) fn tables(record: &Record) -> Vec<Table<'_>> {
    let mut tables: Vec<Table> = rankings(record).into_iter().map(table).collect();
    if let Some(last) = tables.last_mut() {
        last.notes.push(LEGEND.to_owned());
    }
    tables
}

fn table(ranking: Ranking<'_>) -> Table<'_> {
    let columns = vec![
        Column::numbers("rank", 0),
        Column::words("allocator", 0),
        Column { head: "ns/pair".to_owned(), kind: Kind::Values, least: 0 },
        Column::numbers("±", WIDE),
        Column::numbers("memory", 0),
        Column::numbers("overhead", ROOMY),
        Column::words("choice", ROOMY),
    ];
    let row = |place: &Place| {
        let memory = |show: &dyn Fn(f64) -> String| {
            let memory = place.overhead.and_then(|overhead| overhead.value);
            memory.map_or_else(|| "—".to_owned(), show)
        };
        vec![
            rank(place),
            plain_to(&place.name, MAX_NAME),
            place.pair.value.map_or_else(|| "—".to_owned(), number),
            half_width(place.pair),
            memory(&|value| format!("{value:.2}")),
            memory(&|value| percent(wasted(value))),
            if place.is_on_front { "yes".to_owned() } else { String::new() },
        ]
    };
    Table {
        title: format!("Allocators, {}", ranking.description()),
        columns,
        rows: ranking.places.iter().map(|place| Row::judged(row(place), place.pair)).collect(),
        words_from: WIDE,
        ..Table::default()
    }
}

/// `1`, `1–3`.
fn rank(place: &Place) -> String {
    match place.rank {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}–{worst}"),
    }
}
