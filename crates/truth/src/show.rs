//! The table, for people.

use std::collections::BTreeMap;

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{Cell, Color, ContentArrangement, Table};
use figure::Interval;
use figure::format::plain_to;

use crate::quiet::Clean;
use crate::tally::{BEHIND, NOT_HERE, Rates, Row, Share, rates};

/// The longest text of an unexpected answer, in characters.
const MAX_ANSWER: usize = 300;

/// For a terminal of so many columns.
pub fn text(rows: &[Row], clean: &Clean, width: usize, colour: bool) -> String {
    let mut out = if rows.is_empty() { String::new() } else { text_of_defects(rows, width, colour) };
    if clean.was_tried() {
        let mut verdicts = empty(width, colour);
        fill_clean(&mut verdicts, clean);
        let checks = accusers(empty(width, colour), clean);
        out.push_str(&format!(
            "\n{}\n{}\n{checks}\n\n{}\n",
            verdicts.trim_fmt(),
            made(clean),
            compared(clean)
        ));
    } else {
        out.push_str(&not_made(clean));
    }
    out
}

fn text_of_defects(rows: &[Row], width: usize, colour: bool) -> String {
    let mut table = empty(width, colour);
    table.set_header(["defect", "expected", "caught", "clean twin"]);
    for row in rows {
        let paint = |cell: String, colour_of: Color| match (colour, row.not_here.is_some()) {
            (true, false) => Cell::new(cell).fg(colour_of),
            _ => Cell::new(cell),
        };
        let colour_of_caught = match (row.caught == row.trials, row.first == row.trials) {
            (true, true) => Color::Green,
            (true, false) => Color::Yellow,
            (false, _) => Color::Red,
        };
        table.add_row([
            Cell::new(format!("{}: {}", row.suite, row.defect)),
            Cell::new(&row.expected),
            paint(caught(row), colour_of_caught),
            paint(twin(row), if row.alarms + row.mute == 0 { Color::Green } else { Color::Red }),
        ]);
    }
    let mut out = table.trim_fmt() + "\n";
    let otherwise: Vec<String> = unexpected(rows).collect();
    if !otherwise.is_empty() {
        out.push_str(&format!("\n{}\n", otherwise.join("\n")));
    }
    let mut table = empty(width, colour);
    fill_rates(&mut table, rows);
    out + &format!("\n{}\n{}", table.trim_fmt(), set_aside(disturbed(rows)))
}

/// For a page of documentation; these checks are planted by no defect, whichever are shown.
pub fn markdown(rows: &[Row], unplanted: &[&str], clean: &Clean) -> String {
    let mut sections = Vec::new();
    if !rows.is_empty() {
        sections.push(markdown_of_defects(rows) + &of_no_defect(unplanted));
    }
    if clean.was_tried() {
        let mut verdicts = markdown_table();
        fill_clean(&mut verdicts, clean);
        let checks = accusers(markdown_table(), clean);
        sections.push(format!(
            "## Runs with nothing planted\n\n{verdicts}\n{}\n{checks}\n\n{}\n",
            made(clean),
            compared(clean)
        ));
    } else if clean.left > 0 {
        sections.push(not_made(clean));
    }
    sections.join("\n")
}

fn markdown_of_defects(rows: &[Row]) -> String {
    let mut table = markdown_table();
    table.set_header(["name", "defect", "planted", "expected", "caught", "named first", "false alarms"]);
    let cell = |text: &str| text.replace('|', "\\|");
    for row in rows {
        let of = |part: usize, of: usize| if of == 0 { "—".to_owned() } else { format!("{part} of {of}") };
        let tried = match &row.not_here {
            Some(why) => format!("not here: {}", cell(why)),
            None => of(row.caught, row.trials),
        };
        let (first, alarms) = (of(row.first, row.trials), of(row.alarms, row.clean));
        let cells = [&row.id, &row.defect, &row.planted, &row.expected].map(|text| cell(text));
        table.add_row(cells.into_iter().chain([tried, first, alarms]));
    }
    let mut shares = markdown_table();
    fill_rates(&mut shares, rows);
    let otherwise: String = unexpected(rows).map(|answer| format!("- {}\n", cell(&answer))).collect();
    let otherwise = match otherwise.is_empty() {
        true => "All answers were as expected.\n".to_owned(),
        false => format!("## Unexpected answers\n\n{otherwise}"),
    };
    format!("{shares}\n{}\n{table}\n\n{otherwise}", set_aside(disturbed(rows)))
}

/// The section on the checks that are missing from the table.
fn of_no_defect(checks: &[&str]) -> String {
    match checks {
        [] => String::new(),
        _ => format!(
            "\n## Checks that no defect plants\n\nThe table does not cover these checks; tests check them with recorded evidence: {}.\n",
            checks.join(", ")
        ),
    }
}

fn disturbed(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.disturbed).sum()
}

/// The lines on clean runs that were not made or were repeated; empty if each was made once.
fn made(clean: &Clean) -> String {
    not_made(clean) + &set_aside(clean.disturbed)
}

/// The line on clean runs that were asked for and not made; empty if there are none.
fn not_made(clean: &Clean) -> String {
    match clean.left {
        0 => String::new(),
        left => format!("\nInterrupted: {left} of {} runs were not made.\n", clean.tried() + left),
    }
}

/// The line on runs that were repeated; empty if there are none.
fn set_aside(runs: usize) -> String {
    match runs {
        0 => String::new(),
        1 => "\nOne run was made again: the hypervisor took CPU time away.\n".to_owned(),
        runs => format!(
            "\n{} made again: the hypervisor took CPU time away.\n",
            figure::format::counted(runs, "run")
        ),
    }
}

/// Answers other than the expected one, with the id of the defect.
fn unexpected(rows: &[Row]) -> impl Iterator<Item = String> {
    let tried = rows.iter().filter(|row| row.not_here.is_none());
    let mark =
        |answer: &str| if answer.starts_with(BEHIND) || answer.starts_with(NOT_HERE) { '!' } else { '✗' };
    tried.flat_map(move |row| {
        let line =
            move |answer: &String| format!("{} {}: {}", mark(answer), row.id, plain_to(answer, MAX_ANSWER));
        row.unexpected.iter().map(line)
    })
}

fn markdown_table() -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table
}

fn empty(width: usize, colour: bool) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

fn fill_rates(table: &mut Table, rows: &[Row]) {
    table.set_header(["suite", "defects", "recall", "cause first", "precision", "false alarms"]);
    for Rates { of, defects: (tried, not), recall, first, precision, alarms } in rates(rows) {
        let defects = if not > 0 { format!("{tried}, {not} not here") } else { tried.to_string() };
        table.add_row([of, defects, share(&recall), share(&first), share(&precision), share(&alarms)]);
    }
}

fn fill_clean(table: &mut Table, clean: &Clean) {
    table.set_header(["clean runs of", "figures", "valid", "unverified", "suspect", "invalid"]);
    let suites = clean.suites.iter().map(|(suite, of)| (suite.as_str(), of.clone()));
    let all = (clean.suites.len() > 1).then(|| ("all", clean.total()));
    for (suite, of) in suites.chain(all) {
        let cell = |part: usize| format!("{part} ({:.0} %)", 100.0 * part as f64 / of.figures.max(1) as f64);
        let row = [of.valid, of.unverified, of.suspect, of.invalid].map(cell);
        table.add_row([suite.to_owned(), of.figures.to_string()].into_iter().chain(row));
    }
}

/// Into that table the checks that accused, if any did.
fn accusers(mut table: Table, clean: &Clean) -> String {
    let accusers = clean.accusers();
    if accusers.is_empty() {
        return "No check accused any figure.".to_owned();
    }
    table.set_header(["check", "asked", "warned", "failed", "in its budget", "such as"]);
    for (id, of) in accusers {
        let is_within = match (of.is_within_budget(), of.is_beyond_budget()) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "too few figures",
        };
        let counts = [of.asked, of.warned, of.failed].map(|count| count.to_string());
        let example = plain_to(&of.example, MAX_ANSWER).replace('|', "\\|");
        table.add_row([id.to_owned()].into_iter().chain(counts).chain([is_within.to_owned(), example]));
    }
    table.trim_fmt()
}

fn compared(clean: &Clean) -> String {
    let words: Vec<String> = clean.pairs.words().map(|(word, count)| format!("{count} {word}")).collect();
    let other = |(word, figures): (&String, &BTreeMap<String, usize>)| {
        let named: Vec<String> = figures.iter().map(|(figure, count)| format!("{figure} {count}")).collect();
        format!("\n\nCalled {word}: {}.", named.join(", "))
    };
    let others: String = clean.others.iter().map(other).collect();
    let broken = clean.broken.first().map_or_else(String::new, |first| {
        format!(
            " {} without a record: {}",
            figure::format::counted(clean.broken.len(), "run"),
            plain_to(first, MAX_ANSWER)
        )
    });
    let each = |figure: &String| format!("\n- {}", plain_to(figure, MAX_ANSWER));
    let invalid: String = clean.invalid.iter().map(each).collect();
    let invalid = if invalid.is_empty() { invalid } else { format!("Invalid:\n{invalid}\n\n") };
    format!(
        "{invalid}{} comparisons of a run with the next of the same: {}. Called the same: {}; not called different: {}; not called different where both are valid: {}.{broken}{others}",
        clean.comparisons,
        words.join(", "),
        share(&clean.same()),
        share(&clean.alike()),
        share(&clean.valid_alike()),
    )
}

fn caught(row: &Row) -> String {
    match &row.not_here {
        Some(why) => format!("not here: {}", plain_to(why, 80)),
        None if row.caught < row.trials => format!("✗ {}", times(row.caught, row.trials)),
        None if row.first == row.trials => format!("✓ {}", times(row.caught, row.trials)),
        None if row.trials == 1 => "! behind another cause".to_owned(),
        None => format!("! {}, {} of them first", times(row.caught, row.trials), row.first),
    }
}

fn twin(row: &Row) -> String {
    match (row.clean, row.alarms) {
        _ if row.mute > 0 => "✗ no answer".to_owned(),
        (0, _) => "—".to_owned(),
        (clean, 0) => format!("✓ {}", times(0, clean)),
        (clean, alarms) => format!("✗ accused {}", times(alarms, clean)),
    }
}

/// Nothing where once was all.
fn times(part: usize, of: usize) -> String {
    if of == 1 { String::new() } else { format!("{part} of {of}") }
}

/// `98 % [95, 99]`, of how many.
fn share(share: &Share) -> String {
    match &share.interval {
        Some(Interval { low, high, .. }) => {
            let value = share.part as f64 / share.of as f64;
            format!(
                "{:.0} % [{:.0}, {:.0}], {} of {}",
                100.0 * value,
                100.0 * low,
                100.0 * high,
                share.part,
                share.of
            )
        }
        None => "—".to_owned(),
    }
}
