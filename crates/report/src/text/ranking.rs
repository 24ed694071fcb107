//! Allocators beside one another: rank, time, memory, and which of them are a choice.

use comfy_table::{Cell, CellAlignment, ColumnConstraint};
use figure::Record;
use figure::format::{number, percent, plain_to};
use figure::ranking::{Place, Ranking, rankings, wasted};

use super::cells;
use super::page::Page;

/// From this width on there is room for the interval and for the whole verdict.
const WIDTH_FOR_INTERVAL: usize = 76;
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

fn table(page: &mut Page, ranking: &Ranking) {
    page.title(&format!("Allocators, {}", ranking.told()));
    let is_wide = page.width() >= WIDTH_FOR_INTERVAL;
    let mut heads = vec!["rank", "allocator", "ns/pair", "memory", "wasted", "choice", "verdict"];
    if is_wide {
        heads.insert(3, "±");
    }
    let mut table = cells::empty(page);
    table.set_header(heads.iter().map(|head| cells::head(head)));
    for place in &ranking.places {
        let overhead = place.overhead.and_then(|overhead| overhead.value);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "—".to_owned());
        let mut row = vec![
            Cell::new(rank(place)),
            Cell::new(plain_to(&place.name, MAX_NAME)),
            Cell::new(or_none(place.pair.value.map(number))),
            Cell::new(or_none(overhead.map(|overhead| format!("{overhead:.2}")))),
            Cell::new(or_none(overhead.map(|overhead| percent(wasted(overhead))))),
            Cell::new(if place.is_on_front { "yes" } else { "" }),
            cells::verdict(place.pair, page.width()),
        ];
        if is_wide {
            row.insert(3, Cell::new(cells::half_width(place.pair)));
        }
        table.add_row(row);
    }
    for at in 0..heads.len() {
        let Some(laid) = table.column_mut(at) else { continue };
        laid.set_padding((0, if at + 1 == heads.len() { 0 } else { 1 }));
        laid.set_constraint(ColumnConstraint::ContentWidth);
        if !matches!(heads[at], "allocator" | "choice" | "verdict") {
            laid.set_cell_alignment(CellAlignment::Right);
        }
    }
    cells::print(page, &table);
}

/// `1`, `1–3`.
fn rank(place: &Place) -> String {
    match place.rank {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}–{worst}"),
    }
}
