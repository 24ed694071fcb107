//! A program that was watched for its page faults: the answer, the mechanisms, the places, the processes.

use comfy_table::Cell;
use figure::evidence::*;
use figure::format::{bytes, decimals, number, percent, plain, plain_to, seconds};
use figure::{Figure, Record};
use suites::faults::{Mechanism, Memory};

use super::page::{INDENT, Page};
use super::{blocks, body, calls, cells};

/// Processes that are shown.
const MOST: usize = 8;
/// Mechanisms and files with a smaller share are left to the record.
const LEAST: f64 = 0.005;
/// Width of the names in front of the lines.
const NAMES: usize = 8;

/// Whether the record is of a program that was watched.
pub(super) fn is_watched(record: &Record) -> bool {
    record.figure("faults.minor").is_some_and(|figure| figure.conditions.get(WATCHED).is_some())
}

/// Everything that is told of it.
pub(super) fn page(page: &mut Page, record: &Record) {
    program(page, record);
    body::findings(page, record);
    mechanisms(page, record);
    sites(page, record);
    blocks::blocks(page, record);
    calls::calls(page, record);
    files(page, record);
    processes(page, record);
}

fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

/// What it used, in three lines.
fn program(page: &mut Page, record: &Record) {
    let Some(minor) = record.figure("faults.minor") else { return };
    let name = minor.conditions.get(WATCHED).unwrap_or_default();
    let of = |key| fact(minor, key).unwrap_or(0.0);
    let time = of(PROGRAM_SECONDS);
    let resident = fact(minor, PROGRAM_RESIDENT);
    let ended = minor.evidence.get(PROGRAM_ENDED).into_value();
    page.entry(
        0,
        "Program",
        NAMES,
        &format!(
            "{}: {}; CPU {} user, {} system{}{}",
            plain_to(&name, 60),
            seconds(time),
            seconds(of(PROGRAM_USER)),
            seconds(of(PROGRAM_SYSTEM)),
            resident.map_or_else(String::new, |peak| format!("; at most {} resident at once", bytes(peak))),
            ended.map_or_else(String::new, |ended| format!("; it {}", plain(&ended)))
        ),
    );
    let rate = |count: f64| format!("{} ({}/s)", number(count), number(count / time.max(1e-9)));
    let mut faults = format!("{} minor, {} major", rate(of(FAULT_TOTAL)), rate(of(FAULT_MAJORS)));
    if let Some(price) = record.figure("faults.prices.minor.write").and_then(|figure| figure.value) {
        faults.push_str(&format!("; a minor one costs {} here", seconds(price * 1e-9)));
    }
    page.entry(0, "Faults", NAMES, &faults);
    if let Some(coverage) = record.figure("faults.coverage") {
        let text = match coverage.checks.iter().find(|check| check.id == "fault-coverage") {
            Some(check) => {
                let watch = fact(coverage, WATCH_CPU)
                    .map_or_else(String::new, |time| format!("; looking took {} of CPU time", seconds(time)));
                format!("{}{watch}{}", plain(&check.detail), slowdown(record))
            }
            None => plain(coverage.reason.as_deref().unwrap_or("not known")),
        };
        page.entry(0, "Seen", NAMES, &text);
    }
}

/// What watching added to its CPU time.
fn slowdown(record: &Record) -> String {
    let Some(figure) = record.figure("faults.slowdown") else { return String::new() };
    match (figure.value, &figure.interval) {
        (Some(share), Some(interval)) => format!(
            " and slowed the program by {} [{}, {}]",
            percent(share),
            percent(interval.low),
            percent(interval.high)
        ),
        _ => String::new(),
    }
}

/// Figures of a program's faults that are no curve and have this key.
fn found<'a>(record: &'a Record, series: Option<&'a str>) -> impl Iterator<Item = &'a Figure> {
    record.figures.iter().filter(move |figure| {
        figure.conditions.get(WATCHED).is_some()
            && figure.series.as_deref() == series
            && figure.value.is_some_and(|share| share >= LEAST)
    })
}

fn kind(figure: &Figure) -> String {
    let memory = figure.conditions.get(MEMORY_KIND).and_then(|word| Memory::of(&word));
    memory.map_or_else(String::new, |memory| memory.description().to_owned())
}

/// Interval of a share, and its verdict.
fn spread(figure: &Figure) -> String {
    match (&figure.interval, figure.value) {
        (Some(interval), Some(_)) => format!("±{:.1}", (interval.high - interval.low) * 50.0),
        _ => "—".to_owned(),
    }
}

fn share(figure: &Figure) -> String {
    figure.value.map_or_else(String::new, |share| decimals(share * 100.0, 1))
}

/// The mechanisms with their shares.
fn mechanisms(page: &mut Page, record: &Record) {
    let all: Vec<&Figure> =
        found(record, None).filter(|figure| figure.conditions.get(MECHANISM).is_some()).collect();
    if all.is_empty() {
        return;
    }
    page.title("By which mechanism");
    let mut table = cells::empty(page);
    let is_wide = page.width() >= 70;
    let mut heads = vec!["%", "±", "mechanism"];
    heads.extend(is_wide.then_some("memory"));
    heads.push("verdict");
    table.set_header(heads.iter().map(|head| cells::head(head)));
    for figure in all {
        let mut row =
            vec![Cell::new(share(figure)), Cell::new(spread(figure)), Cell::new(plain(&figure.name))];
        row.extend(is_wide.then(|| Cell::new(kind(figure))));
        row.push(cells::verdict(figure, page.width()));
        table.add_row(row);
    }
    cells::lay(&mut table, |at| at < 2);
    cells::print(page, &table);
}

/// The places in the program.
fn sites(page: &mut Page, record: &Record) {
    let all: Vec<&Figure> = found(record, Some("faults.sites")).collect();
    if all.is_empty() {
        return;
    }
    page.title("Where they come from (the innermost function first)");
    for figure in all {
        let calls = figure.conditions.get(SITE_CALLS).unwrap_or_default();
        let mechanism = figure.conditions.get(MECHANISM).and_then(|word| Mechanism::of(&word));
        let mut about = vec![kind(figure)];
        about.extend(mechanism.map(|mechanism| mechanism.word().to_owned()));
        about.extend(fact(figure, FAULT_BLOCK).map(|block| format!("runs of {}", bytes(block))));
        about.extend(figure.conditions.get(SITE_LINE).map(|line| plain_to(&line, 60)));
        let first = format!("{:INDENT$}{:>5} %  ", "", share(figure));
        let rest = " ".repeat(INDENT + 9);
        page.paragraph(&first, &rest, &plain(&calls));
        page.paragraph(&rest, &rest, &about.join(", "));
    }
}

/// The files, if they matter.
fn files(page: &mut Page, record: &Record) {
    let majors = |figure: &Figure| fact(figure, FAULT_MAJORS).unwrap_or(0.0);
    let series = Some("faults.files");
    let all: Vec<&Figure> = record
        .figures
        .iter()
        .filter(|figure| figure.series.as_deref() == series && figure.value.is_some())
        .filter(|figure| majors(figure) > 0.0 || figure.value.is_some_and(|share| share >= 0.05))
        .collect();
    if all.is_empty() {
        return;
    }
    page.title("Files");
    let mut table = cells::empty(page);
    table.set_header(["% of minor", "major", "file"].map(cells::head));
    for figure in all {
        let name = figure.conditions.get(FAULT_FILE).unwrap_or_default();
        table.add_row([Cell::new(share(figure)), Cell::new(number(majors(figure))), Cell::new(plain(&name))]);
    }
    cells::lay(&mut table, |at| at < 2);
    cells::print(page, &table);
}

/// The processes, as `ps -o pid,comm,majflt,minflt` shows them.
fn processes(page: &mut Page, record: &Record) {
    let figures = record.figure("faults.minor").zip(record.figure("faults.major"));
    let Some((minor, major)) = figures else { return };
    let time = fact(minor, PROGRAM_SECONDS).unwrap_or(0.0);
    if minor.parts.is_empty() {
        return;
    }
    page.title("Processes (as ps -o pid,comm,majflt,minflt shows them)");
    let mut table = cells::empty(page);
    table.set_header(["pid", "majflt", "minflt", "command"].map(cells::head));
    for part in minor.parts.iter().take(MOST) {
        let (process, name) = part.name.split_once(' ').unwrap_or((&part.name, ""));
        let of = major.parts.iter().find(|other| other.name == part.name).map_or(0.0, |other| other.value);
        let count = |rate: f64| Cell::new(decimals(rate * time, 0));
        table.add_row([Cell::new(plain(process)), count(of), count(part.value), Cell::new(plain(name))]);
    }
    cells::lay(&mut table, |at| at < 3);
    cells::print(page, &table);
    if minor.parts.len() > MOST {
        page.aside(&format!("{} more are in the record", minor.parts.len() - MOST));
    }
}
