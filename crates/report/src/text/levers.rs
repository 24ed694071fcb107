//! Levers beside one another: what each does to CPU time, time, memory and faults, and what that amounts to.

use std::ops::RangeInclusive;

use comfy_table::{Attribute, Cell, Color};
use figure::format::plain_to;
use figure::levers::{Arm, Effect, Quantity, Took, trial};
use figure::treatment::Direction;
use figure::{Record, Verdict};

use super::cells;
use super::page::Page;
use crate::grid::Mode;
use crate::mark;

/// The mode whose table this is.
const MODE: &str = "faults.levers";
/// The longest name that is shown.
const MAX_NAME: usize = 20;
/// The longest cause in a row; the whole is told under "Why not valid".
const MAX_CAUSE: usize = 60;

/// A table of what follows from all starts; `false`, and nothing, if the mode is another or has too few rounds.
pub(super) fn table(page: &mut Page, record: &Record, mode: &Mode) -> bool {
    let Some(trial) = trial(record).filter(|_| mode.key == MODE) else { return false };
    page.title(&mode.title());
    let width = page.width();
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.widths.contains(&width)).collect();
    let mut table = cells::empty(page);
    table.set_header(columns.iter().map(|column| cells::head(column.head)));
    for arm in &trial.arms {
        table.add_row(columns.iter().map(|column| (column.cell)(arm, width)));
    }
    cells::lay(&mut table, |at| columns[at].right);
    cells::print(page, &table);
    page.aside(
        "cpu, system, time, memory, faults: start by start for those without a lever, 1 is the same; [ ]: 95 % interval; void: it did not \
         take, or nothing is to be seen of it; ∞: what it keeps has no bound; 2: one of two values from start to start",
    );
    true
}

/// A column: its head, whether its numbers stand to the right, for which widths of the page it is.
struct Column {
    head: &'static str,
    right: bool,
    widths: RangeInclusive<usize>,
    cell: fn(&Arm, usize) -> Cell,
}

/// All widths; those with room for more than the least; those with room for everything.
const ALL: RangeInclusive<usize> = 0..=usize::MAX;
const ROOMY: RangeInclusive<usize> = 76..=usize::MAX;
const WIDE: RangeInclusive<usize> = 120..=usize::MAX;

const COLUMNS: &[Column] = &[
    Column { head: "lever", right: false, widths: ALL, cell: |arm, _| Cell::new(name(arm)) },
    Column { head: "cpu", right: true, widths: ALL, cell: |arm, _| value(arm, Quantity::Cpu) },
    Column { head: "[95 %]", right: true, widths: ALL, cell: |arm, _| interval(arm, Quantity::Cpu) },
    Column { head: "system", right: true, widths: ROOMY, cell: |arm, _| value(arm, Quantity::System) },
    Column { head: "time", right: true, widths: ROOMY, cell: |arm, _| value(arm, Quantity::Wall) },
    Column { head: "[95 %]", right: true, widths: WIDE, cell: |arm, _| interval(arm, Quantity::Wall) },
    Column { head: "memory", right: true, widths: ALL, cell: |arm, _| value(arm, Quantity::Memory) },
    Column { head: "[95 %]", right: true, widths: WIDE, cell: |arm, _| interval(arm, Quantity::Memory) },
    Column { head: "faults", right: true, widths: ROOMY, cell: |arm, _| value(arm, Quantity::Faults) },
    Column { head: "effect", right: false, widths: ALL, cell: effect },
];

/// Its word, and what is odd about it.
fn name(arm: &Arm) -> String {
    let mut name = plain_to(&arm.name, MAX_NAME);
    if !arm.is_bounded {
        name.push_str(" ∞");
    }
    if arm.modes().is_some() {
        name.push_str(" 2");
    }
    name
}

fn value(arm: &Arm, quantity: Quantity) -> Cell {
    Cell::new(arm.ratio(quantity).map_or_else(|| "—".to_owned(), |ratio| number(ratio.value)))
}

fn interval(arm: &Arm, quantity: Quantity) -> Cell {
    let told = |ratio: figure::stats::Ratio| format!("[{}, {}]", number(ratio.low), number(ratio.high));
    Cell::new(arm.ratio(quantity).map_or_else(|| "—".to_owned(), told))
}

/// A ratio: two digits behind the point, three below a tenth.
fn number(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

/// One word, or why there is none.
fn effect(arm: &Arm, width: usize) -> Cell {
    let is_sure = matches!(arm.direction, Some(Direction::Sure(_)));
    let verdict = if is_sure { Some(Verdict::Suspect) } else { arm.figure.verdict };
    let verdict = verdict.map_or("", mark::of);
    if arm.is_disturbed {
        return disturbed(arm, width);
    }
    let told = match (&arm.took, arm.effect) {
        (Took::No(cause) | Took::Unchanged(cause), _) if WIDE.contains(&width) => {
            format!("void: {}", plain_to(cause, MAX_CAUSE))
        }
        (Took::No(_) | Took::Unchanged(_), _) => "void".to_owned(),
        (_, None) => "too few rounds".to_owned(),
        (_, Some(effect)) if is_sure && WIDE.contains(&width) => {
            format!("{}, direction sure", effect.description())
        }
        (_, Some(effect)) => effect.description().to_owned(),
    };
    let cell = Cell::new(format!("{verdict} {told}"));
    match arm.effect {
        Some(Effect::Helps) => cell.fg(Color::DarkGreen).add_attribute(Attribute::Bold),
        Some(Effect::Worse) => cell.fg(Color::DarkRed),
        Some(Effect::Mixed | Effect::Undecided) => cell.fg(Color::DarkYellow),
        Some(Effect::NoBenefit) | None => cell,
    }
}

/// Its verdict, or that it is the base's.
fn disturbed(arm: &Arm, width: usize) -> Cell {
    match arm.figure.verdict {
        Some(Verdict::Invalid) => cells::verdict(arm.figure, width),
        _ => Cell::new(format!("{} base invalid", mark::of(Verdict::Invalid))),
    }
}
