//! Allocators beside one another: rank, time, memory, and which of them are a choice.

use std::ops::RangeInclusive;

use comfy_table::Cell;
use figure::Record;
use figure::format::{number, percent, plain_to};
use figure::ranking::{Place, Ranking, rankings, wasted};

use super::cells;
use super::page::Page;
use crate::mark;

/// The longest name that is shown.
const MAX_NAME: usize = 24;

/// A table for each team, then what its columns mean.
pub(super) fn rankings_of(page: &mut Page, record: &Record) {
    let all = rankings(record);
    for ranking in &all {
        table(page, ranking);
    }
    if !all.is_empty() {
        page.aside(
            "rank: from the best to the worst that it may have, as far as rounds side by side can tell; ns/pair: malloc and free, the \
             load itself taken off; memory: resident for 1 that is asked for; wasted: of memory, and in effect of each cache; choice: \
             no other one is better in time or memory without being worse in the other",
        );
    }
}

/// A column: its head, whether its numbers stand to the right, for which widths of the page it is.
struct Column {
    head: &'static str,
    right: bool,
    widths: RangeInclusive<usize>,
    cell: fn(&Place, usize) -> Cell,
}

/// All widths; those with room for more than the least; those with room for everything, and the others.
const ALL: RangeInclusive<usize> = 0..=usize::MAX;
const ROOMY: RangeInclusive<usize> = 56..=usize::MAX;
const WIDE: RangeInclusive<usize> = 76..=usize::MAX;
const NARROW: RangeInclusive<usize> = 0..=75;

const COLUMNS: &[Column] = &[
    Column { head: "rank", right: true, widths: ALL, cell: |place, _| Cell::new(rank(place)) },
    Column {
        head: "allocator",
        right: false,
        widths: ALL,
        cell: |place, _| Cell::new(plain_to(&place.name, MAX_NAME)),
    },
    Column {
        head: "ns/pair",
        right: true,
        widths: ALL,
        cell: |place, _| Cell::new(or_none(place.pair.value.map(number))),
    },
    Column {
        head: "±",
        right: true,
        widths: WIDE,
        cell: |place, _| Cell::new(cells::half_width(place.pair)),
    },
    Column {
        head: "memory",
        right: true,
        widths: ALL,
        cell: |place, _| Cell::new(of_memory(place, |value| format!("{value:.2}"))),
    },
    Column {
        head: "wasted",
        right: true,
        widths: ROOMY,
        cell: |place, _| Cell::new(of_memory(place, |value| percent(wasted(value)))),
    },
    Column {
        head: "choice",
        right: false,
        widths: ROOMY,
        cell: |place, _| Cell::new(if place.is_on_front { "yes" } else { "" }),
    },
    Column {
        head: "verdict",
        right: false,
        widths: WIDE,
        cell: |place, width| cells::verdict(place.pair, width),
    },
    Column {
        head: "",
        right: false,
        widths: NARROW,
        cell: |place, _| Cell::new(place.pair.verdict.map_or("", mark::of)),
    },
];

fn table(page: &mut Page, ranking: &Ranking) {
    page.title(&format!("Allocators, {}", ranking.description()));
    let width = page.width();
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.widths.contains(&width)).collect();
    let mut table = cells::empty(page);
    table.set_header(columns.iter().map(|column| cells::head(column.head)));
    for place in &ranking.places {
        table.add_row(columns.iter().map(|column| (column.cell)(place, width)));
    }
    cells::lay(&mut table, |at| columns[at].right);
    cells::print(page, &table);
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "—".to_owned())
}

fn of_memory(place: &Place, show: impl Fn(f64) -> String) -> String {
    or_none(place.overhead.and_then(|overhead| overhead.value).map(show))
}

/// `1`, `1–3`.
fn rank(place: &Place) -> String {
    match place.rank {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}–{worst}"),
    }
}
