//! Calls for memory of a program that was watched: how many, and who makes them.

use comfy_table::Cell;
use figure::evidence::*;
use figure::format::{bytes, decimals, number, plain, plain_to, seconds};
use figure::{Figure, Record};
use suites::faults::Call;

use super::cells;
use super::page::{INDENT, Page};

/// The figure of all of them, and the beginning of the names of the others.
const ALL: &str = "faults.calls";
/// Below so many a second, of all the time, a kind is left to the record.
const LEAST: f64 = 0.5;
/// Callers with a smaller share of their kind are left to the record.
const LEAST_SHARE: f64 = 0.05;

/// The table, and who gives memory back; one line that says why there is none.
pub(super) fn calls(page: &mut Page, record: &Record) {
    let Some(all) = record.figure(ALL) else { return };
    if all.value.is_none() {
        let is_told = record.findings.iter().any(|finding| finding.figures.iter().any(|id| id == ALL));
        if let Some(reason) = all.reason.as_ref().filter(|_| !is_told) {
            page.gap();
            page.aside(&format!("not available: {}", plain(reason)));
        }
        return;
    }
    let kinds: Vec<(Call, &Figure)> = Call::ALL
        .iter()
        .filter_map(|call| Some((*call, record.figure(&format!("{ALL}.{call}"))?)))
        .filter(|(_, figure)| mean(figure).is_some_and(|rate| rate >= LEAST))
        .collect();
    let of = |key| all.evidence.get(key).into_value().unwrap_or(0.0);
    let missing: String = [
        (CALL_LOST, "{} were not counted, for want of room"),
        (CALL_SIZE_UNKNOWN, "the size of {} is unknown: bytes are those of the others"),
    ]
    .into_iter()
    .filter(|(key, _)| of(*key) > 0.0)
    .map(|(key, text)| format!("; {}", text.replace("{}", &number(of(key)))))
    .collect();
    let whole =
        record.figure("faults.minor").and_then(|figure| figure.evidence.get(PROGRAM_SECONDS).into_value());
    let whole = whole.map_or_else(String::new, |time| format!(" of {}", seconds(time)));
    page.title(&format!("Calls for memory (counted for {}{whole}{missing})", seconds(of(CALL_SECONDS))));
    if kinds.is_empty() {
        page.aside("next to none");
        return;
    }
    let mut table = cells::empty(page);
    let is_wide = page.width() >= 70;
    let mut heads = vec!["call", "a second", "bytes a second"];
    heads.extend(is_wide.then_some("most of them by"));
    table.set_header(heads.iter().map(|head| cells::head(head)));
    for (call, figure) in &kinds {
        let rate = mean(figure).unwrap_or(0.0);
        let volume = figure.evidence.get(CALL_BYTES).into_value().map_or_else(String::new, bytes);
        let mut row = vec![Cell::new(call.description()), Cell::new(number(rate)), Cell::new(volume)];
        row.extend(is_wide.then(|| Cell::new(callers(record, *call).next().map_or_else(String::new, first))));
        table.add_row(row);
    }
    cells::lay(&mut table, |at| at == 1 || at == 2);
    cells::print(page, &table);
    places(page, record, &kinds);
}

/// Those who give memory back, with the calls that led there.
fn places(page: &mut Page, record: &Record, kinds: &[(Call, &Figure)]) {
    let places: Vec<(Call, &Figure)> = kinds
        .iter()
        .filter(|(call, _)| call.gives_back())
        .flat_map(|(call, _)| callers(record, *call).map(|figure| (*call, figure)))
        .filter(|(_, figure)| figure.value.is_some_and(|share| share >= LEAST_SHARE))
        .collect();
    if places.is_empty() {
        return;
    }
    page.title("Who gives memory back (the function nearest to the allocator first)");
    for (call, figure) in places {
        let condition = |key| figure.conditions.get(key).filter(|text: &String| !text.is_empty());
        let mut about = vec![format!("of {}", call.description())];
        about.extend(figure.evidence.get(CALL_EACH).into_value().map(|each| format!("{} each", bytes(each))));
        about.extend(condition(CALL_VIA).map(|via| format!("by {}", plain_to(&via, 80))));
        about.extend(condition(SITE_LINE).map(|line| plain_to(&line, 60)));
        let share = figure.value.map_or_else(String::new, |share| decimals(share * 100.0, 1));
        let first = format!("{:INDENT$}{share:>5} %  ", "");
        let rest = " ".repeat(INDENT + 9);
        page.paragraph(&first, &rest, &plain(&condition(SITE_CALLS).unwrap_or_default()));
        page.paragraph(&rest, &rest, &about.join(", "));
    }
}

/// Calls a second over all the time that they were counted.
fn mean(figure: &Figure) -> Option<f64> {
    let fact = |key| figure.evidence.get(key).into_value();
    Some(fact(CALL_COUNT)? / fact(CALL_SECONDS)?.max(1e-9))
}

/// Callers of a kind, those with most calls first.
fn callers(record: &Record, call: Call) -> impl Iterator<Item = &Figure> {
    let beginning = format!("faults.caller.{call}.");
    record.figures.iter().filter(move |figure| figure.id.starts_with(&beginning))
}

/// `97 % Server::answer`
fn first(figure: &Figure) -> String {
    let calls = figure.conditions.get(SITE_CALLS).unwrap_or_default();
    let name = calls.split(" < ").next().unwrap_or_default();
    format!("{} % {}", decimals(figure.value.unwrap_or(0.0) * 100.0, 0), plain_to(name, 50))
}
