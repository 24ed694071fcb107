//! A program that was watched for its page faults: what it used, by which mechanism it faults, where, and who calls for memory.

use figure::evidence::*;
use figure::format::{bytes, decimals, number, percent, plain, plain_to, seconds};
use figure::{Figure, Record};
use suites::faults::{Call, Mechanism, Memory};

use super::block::{Block, Item, Mark, titled};
use crate::tables::{Column, Row, Table};

/// Processes that are shown.
const MOST: usize = 8;
/// Mechanisms, places and files with a smaller share are left to the record.
const LEAST: f64 = 0.005;
/// Callers with a smaller share of their kind.
const LEAST_OF_CALLS: f64 = 0.05;
/// Files with a smaller share, unless they cause major faults.
const LEAST_OF_FILES: f64 = 0.05;
/// Below so many calls a second, of all the time, a kind is left to the record.
const LEAST_CALLS: f64 = 0.5;
/// Events of blocks that were lost matter from this share of all on.
const MANY_LOST: f64 = 0.01;
/// From this width of a page on there is room for more than the least.
const ROOMY: usize = 70;
/// The figure of all calls, and the beginning of the ids of its kinds.
const CALLS: &str = "faults.calls";

/// Whether the record is of a program that was watched.
pub(super) fn is_watched(record: &Record) -> bool {
    record.figure("faults.minor").is_some_and(|figure| figure.conditions.get(WATCHED).is_some())
}

/// What it used, how often it faulted, and how much of that is known; nothing of another record.
pub(super) fn facts(record: &Record) -> Vec<(String, String)> {
    let minor = record.figure("faults.minor");
    let Some((minor, name)) = minor.and_then(|minor| Some((minor, minor.conditions.get(WATCHED)?))) else {
        return Vec::new();
    };
    let of = |key| fact(minor, key).unwrap_or(0.0);
    let time = of(PROGRAM_SECONDS);
    let resident = fact(minor, PROGRAM_RESIDENT);
    let ended = minor.evidence.get(PROGRAM_ENDED).into_value();
    let program = format!(
        "{}: {}; CPU {} user, {} system{}{}",
        plain_to(&name, 60),
        seconds(time),
        seconds(of(PROGRAM_USER)),
        seconds(of(PROGRAM_SYSTEM)),
        resident.map_or_else(String::new, |peak| format!("; at most {} resident at once", bytes(peak))),
        ended.map_or_else(String::new, |ended| format!("; it {}", plain(&ended)))
    );
    let rate = |count: f64| format!("{} ({}/s)", number(count), number(count / time.max(1e-9)));
    let mut faults = format!("{} minor, {} major", rate(of(FAULT_TOTAL)), rate(of(FAULT_MAJORS)));
    if let Some(price) = record.figure("faults.prices.minor.write").and_then(|figure| figure.value) {
        faults.push_str(&format!("; a minor one costs {} here", seconds(price * 1e-9)));
    }
    let huge = record.figure("faults.prices.huge").filter(|price| {
        record.figure("faults.gain").is_some_and(|gain| gain.derived_from.contains(&price.id))
    });
    if let Some(price) = huge.and_then(|figure| figure.value) {
        faults.push_str(&format!(", one of a huge page {}", seconds(price * 1e-6)));
    }
    let coverage = record.figure("faults.coverage").map(|figure| coverage(record, figure));
    [("Program", Some(program)), ("Faults", Some(faults)), ("Coverage", coverage)]
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?)))
        .collect()
}

/// How many of its faults were sampled, and what watching cost.
fn coverage(record: &Record, figure: &Figure) -> String {
    let Some(check) = figure.checks.iter().find(|check| check.id == "fault-coverage") else {
        return plain(figure.reason.as_deref().unwrap_or("not known"));
    };
    let cost = fact(figure, WATCH_CPU)
        .map_or_else(String::new, |time| format!("; watching took {} of CPU time", seconds(time)));
    let slowdown = record.figure("faults.slowdown").and_then(|figure| {
        let (share, interval) = (figure.value?, figure.interval.as_ref()?);
        let [low, high] = [interval.low, interval.high].map(percent);
        Some(format!(" and slowed the program by {} [{low}, {high}]", percent(share)))
    });
    format!("{}{cost}{}", plain(&check.detail), slowdown.unwrap_or_default())
}

/// Mechanisms, places, blocks, calls, files and processes.
pub(super) fn blocks(record: &Record) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(mechanisms(record).map(Block::Table));
    blocks.extend(titled("Where they come from (the innermost function first)", sites(record)));
    blocks.extend(large_blocks(record));
    blocks.extend(calls(record));
    blocks.extend([files(record), processes(record)].into_iter().flatten().map(Block::Table));
    blocks
}

fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

fn text(figure: &Figure, key: Key<String>, most: usize) -> Option<String> {
    let text = figure.conditions.get(key).filter(|text| !text.is_empty())?;
    Some(plain_to(&text, most))
}

/// Figures of a program's faults in this series, or in none.
fn of_series<'a>(record: &'a Record, series: Option<&'a str>) -> impl Iterator<Item = &'a Figure> {
    record.figures.iter().filter(move |figure| {
        figure.conditions.get(WATCHED).is_some()
            && figure.series.as_deref() == series
            && figure.value.is_some_and(|share| share >= LEAST)
    })
}

fn memory(figure: &Figure) -> String {
    let memory = figure.conditions.get(MEMORY_KIND).and_then(|word| Memory::of(&word));
    memory.map_or_else(String::new, |memory| memory.description().to_owned())
}

fn share(figure: &Figure) -> String {
    figure.value.map_or_else(String::new, |share| decimals(share * 100.0, 1))
}

fn mechanisms(record: &Record) -> Option<Table<'_>> {
    let half = |figure: &Figure| {
        let interval = figure.interval.as_ref().filter(|_| figure.value.is_some());
        interval.map_or("—".to_owned(), |interval| format!("±{:.1}", (interval.high - interval.low) * 50.0))
    };
    let is_mechanism = |figure: &&Figure| figure.conditions.get(MECHANISM).is_some();
    let rows = of_series(record, None).filter(is_mechanism).map(|figure| {
        Row::judged([share(figure), half(figure), plain(&figure.name), memory(figure)], figure)
    });
    let columns = vec![
        Column::numbers("%", 0),
        Column::numbers("±", 0),
        Column::words("mechanism", 0),
        Column::words("memory", ROOMY),
    ];
    table("By which mechanism", columns, rows.collect())
}

/// A table, if it has rows.
fn table<'a>(title: &str, columns: Vec<Column>, rows: Vec<Row<'a>>) -> Option<Table<'a>> {
    (!rows.is_empty()).then(|| Table { title: title.to_owned(), columns, rows, ..Table::default() })
}

/// The places in the program.
fn sites(record: &Record) -> Vec<Item> {
    let item = |figure: &Figure| {
        let mechanism = figure.conditions.get(MECHANISM).and_then(|word| Mechanism::of(&word));
        let mut about = vec![memory(figure)];
        about.extend(mechanism.map(|mechanism| mechanism.word().to_owned()));
        about.extend(fact(figure, FAULT_BLOCK).map(|block| format!("runs of {}", bytes(block))));
        about.extend(text(figure, SITE_LINE, 60));
        place(figure, &about)
    };
    of_series(record, Some("faults.sites")).map(item).collect()
}

/// A place in the program by the calls that led there, with its share.
fn place(figure: &Figure, about: &[String]) -> Item {
    Item {
        mark: Mark::Share(figure.value.unwrap_or(0.0)),
        head: plain(&figure.conditions.get(SITE_CALLS).unwrap_or_default()),
        details: vec![about.join(", ")],
        ..Item::default()
    }
}

/// Which large blocks the faults are in: who allocates them, and who touches them first.
fn large_blocks(record: &Record) -> Vec<Block<'_>> {
    let Some(whole) = record.figure("faults.in_blocks") else { return Vec::new() };
    let least = bytes(whole.conditions.get(BLOCKS_LEAST).unwrap_or(0.0));
    let heading =
        Block::Heading(format!("Which large blocks they are in ({least} and more, from malloc and its kin)"));
    let Some(inside) = whole.value else {
        let reason = plain(whole.reason.as_deref().unwrap_or("not known"));
        return vec![heading, Block::Note(format!("not available: {reason}"))];
    };
    let is_block = |figure: &&Figure| figure.series.as_deref() == Some("faults.blocks");
    let listed: Vec<&Figure> = record.figures.iter().filter(is_block).collect();
    let rest = inside - listed.iter().filter_map(|figure| figure.value).sum::<f64>();
    let part = |share: f64, name: String| Item { mark: Mark::Share(share), ..Item::new(name) };
    let parts = whole.parts.iter().skip(1).filter(|part| part.share >= LEAST);
    let items = listed
        .iter()
        .map(|figure| block(figure))
        .chain((rest > LEAST).then(|| part(rest, "other large blocks".to_owned())))
        .chain(parts.map(|one| part(one.share, plain(&one.name))));
    let mut blocks = vec![heading, Block::List(items.collect())];
    if let Some(others) = text(whole, BLOCKS_BESIDES, 200) {
        blocks.push(Block::Note(format!("{others}: its blocks are not recorded, and count as elsewhere")));
    }
    let (recorded, lost) =
        (fact(whole, BLOCKS_RECORDED).unwrap_or(0.0), fact(whole, BLOCKS_LOST).unwrap_or(0.0));
    if lost > recorded * MANY_LOST {
        let (lost, all) = (number(lost), number(recorded + lost));
        blocks.push(Block::Note(format!(
            "{lost} allocations and frees of blocks were lost, of {all} allocations: the shares are rough"
        )));
    }
    blocks
}

fn block(figure: &Figure) -> Item {
    let size = match (fact(figure, BLOCK_LEAST), fact(figure, BLOCK_MOST)) {
        (Some(least), Some(most)) if bytes(least) != bytes(most) => {
            format!("{} to {}", bytes(least), bytes(most))
        }
        (Some(least), _) => bytes(least),
        _ => String::new(),
    };
    let by = match text(figure, BLOCK_CALLS, 400) {
        Some(calls) => format!("allocated by {calls}"),
        None => "the allocating function is not known".to_owned(),
    };
    let touched = text(figure, SITE_CALLS, 400).map(|calls| {
        let share = figure.parts.first().map_or(1.0, |part| part.share);
        let others = if share > 0.995 { String::new() } else { format!(" ({}, and others)", percent(share)) };
        let age = fact(figure, BLOCK_AGE);
        let after = age.map_or_else(String::new, |age| format!(", {} after the allocation", seconds(age)));
        format!("touched first by {calls}{others}{after}")
    });
    // With the line in the source, if that is known.
    let site = text(figure, BLOCK_SITE, 400).filter(|site| site.ends_with(')'));
    Item {
        mark: Mark::Share(figure.value.unwrap_or(0.0)),
        head: format!("{size}: {by}"),
        details: touched.into_iter().chain(site.map(|site| format!("allocated at {site}"))).collect(),
        ..Item::default()
    }
}

/// Calls for memory: how many, and who makes them; why there are none, unless a finding says it.
fn calls(record: &Record) -> Vec<Block<'_>> {
    let Some(all) = record.figure(CALLS) else { return Vec::new() };
    if all.value.is_none() {
        let is_found = record.findings.iter().any(|finding| finding.figures.iter().any(|id| id == CALLS));
        let reason = all.reason.as_ref().filter(|_| !is_found);
        let note =
            reason.map(|reason| Block::Note(format!("calls for memory: not available: {}", plain(reason))));
        return note.into_iter().collect();
    }
    let kinds = Call::ALL
        .iter()
        .filter_map(|call| Some((*call, record.figure(&format!("{CALLS}.{call}"))?)))
        .filter(|(_, figure)| calls_a_second(figure).is_some_and(|rate| rate >= LEAST_CALLS));
    let kinds: Vec<(Call, &Figure)> = kinds.collect();
    let title = calls_title(record, all);
    if kinds.is_empty() {
        return vec![Block::Heading(title), Block::Note("almost none".to_owned())];
    }
    let row = |(call, figure): &(Call, &Figure)| {
        Row::new([
            call.description().to_owned(),
            number(calls_a_second(figure).unwrap_or(0.0)),
            fact(figure, CALL_BYTES).map_or_else(String::new, bytes),
            callers(record, *call).next().map_or_else(String::new, caller),
        ])
    };
    let columns = vec![
        Column::words("call", 0),
        Column::numbers("a second", 0),
        Column::numbers("bytes a second", 0),
        Column::words("most of them by", ROOMY),
    ];
    let table = table(&title, columns, kinds.iter().map(row).collect());
    let is_many = |figure: &&Figure| figure.value.is_some_and(|share| share >= LEAST_OF_CALLS);
    let frees = kinds
        .iter()
        .filter(|(call, _)| call.gives_back())
        .flat_map(|(call, _)| callers(record, *call).filter(is_many).map(|figure| free(*call, figure)));
    let frees = frees.collect();
    let title = "Who gives memory back (the function nearest to the allocator first)";
    table.map(Block::Table).into_iter().chain(titled(title, frees)).collect()
}

fn calls_title(record: &Record, all: &Figure) -> String {
    let of = |key| fact(all, key).unwrap_or(0.0);
    let missing: String = [
        (CALL_LOST, "{} were not counted: the buffer was full"),
        (CALL_SIZE_UNKNOWN, "the size of {} is unknown: bytes are those of the others"),
    ]
    .into_iter()
    .filter(|(key, _)| of(*key) > 0.0)
    .map(|(key, text)| format!("; {}", text.replace("{}", &number(of(key)))))
    .collect();
    let whole = record.figure("faults.minor").and_then(|figure| fact(figure, PROGRAM_SECONDS));
    let whole = whole.map_or_else(String::new, |time| format!(" of {}", seconds(time)));
    format!("Calls for memory (counted for {}{whole}{missing})", seconds(of(CALL_SECONDS)))
}

/// Who gives memory back, with the calls that led there.
fn free(call: Call, figure: &Figure) -> Item {
    let mut about = vec![format!("of {}", call.description())];
    about.extend(fact(figure, CALL_EACH).map(|each| format!("{} each", bytes(each))));
    about.extend(text(figure, CALL_VIA, 80).map(|via| format!("by {via}")));
    about.extend(text(figure, SITE_LINE, 60));
    place(figure, &about)
}

/// Calls a second over all the time that they were counted.
fn calls_a_second(figure: &Figure) -> Option<f64> {
    Some(fact(figure, CALL_COUNT)? / fact(figure, CALL_SECONDS)?.max(1e-9))
}

/// Callers of a kind, those with most calls first.
fn callers(record: &Record, call: Call) -> impl Iterator<Item = &Figure> {
    let beginning = format!("faults.caller.{call}.");
    record.figures.iter().filter(move |figure| figure.id.starts_with(&beginning))
}

/// `97 % Server::answer`
fn caller(figure: &Figure) -> String {
    let calls = figure.conditions.get(SITE_CALLS).unwrap_or_default();
    let name = calls.split(" < ").next().unwrap_or_default();
    format!("{} % {}", decimals(figure.value.unwrap_or(0.0) * 100.0, 0), plain_to(name, 50))
}

/// The files, if they matter.
fn files(record: &Record) -> Option<Table<'_>> {
    let majors = |figure: &Figure| fact(figure, FAULT_MAJORS).unwrap_or(0.0);
    let matters =
        |figure: &&Figure| figure.value.is_some_and(|share| share >= LEAST_OF_FILES || majors(figure) > 0.0);
    let files = record.figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.files"));
    let rows = files.filter(matters).map(|figure| {
        let name = plain(&figure.conditions.get(FAULT_FILE).unwrap_or_default());
        Row::new([share(figure), number(majors(figure)), name])
    });
    let columns =
        vec![Column::numbers("% of minor", 0), Column::numbers("major", 0), Column::words("file", 0)];
    table("Files", columns, rows.collect())
}

/// The processes, as `ps -o pid,comm,majflt,minflt` shows them.
fn processes(record: &Record) -> Option<Table<'_>> {
    let (minor, major) = record.figure("faults.minor").zip(record.figure("faults.major"))?;
    let time = fact(minor, PROGRAM_SECONDS).unwrap_or(0.0);
    let rows = minor.parts.iter().take(MOST).map(|part| {
        let (process, name) = part.name.split_once(' ').unwrap_or((&part.name, ""));
        let majors =
            major.parts.iter().find(|other| other.name == part.name).map_or(0.0, |other| other.value);
        let count = |rate: f64| decimals(rate * time, 0);
        Row::new([plain(process), count(majors), count(part.value), plain(name)])
    });
    let columns = vec![
        Column::numbers("pid", 0),
        Column::numbers("majflt", 0),
        Column::numbers("minflt", 0),
        Column::words("command", 0),
    ];
    let mut table = table("Processes (as ps -o pid,comm,majflt,minflt shows them)", columns, rows.collect())?;
    let more = minor.parts.len().saturating_sub(MOST);
    table.notes.extend((more > 0).then(|| format!("{more} more are in the record")));
    Some(table)
}
