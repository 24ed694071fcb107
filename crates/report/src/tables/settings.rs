//! Settings side by side: what each does to CPU time, time, memory and faults, and what that amounts to.

use figure::format::plain_to;
use figure::{Record, Verdict};
use suites::settings::{Arm, EFFECTS, Quantity, Took, trial};
use suites::treatment::Direction;

use super::{Column, Kind, Row, Table};
use crate::grid::Mode;

/// The longest name that is shown.
const MAX_NAME: usize = 20;
/// The longest cause in a row; the whole is under "Why not valid".
const MAX_CAUSE: usize = 60;
/// From these widths on there is room for more than the least, and for everything.
const ROOMY: usize = 76;
const WIDE: usize = 120;

/// What follows from all starts; `None` if the mode is another or has too few rounds.
pub(crate) fn table<'a>(record: &'a Record, mode: &Mode) -> Option<Table<'a>> {
    let trial = trial(record).filter(|_| mode.key == EFFECTS)?;
    let columns = vec![
        Column::words("setting", 0),
        Column { head: "cpu".to_owned(), kind: Kind::Values, least: 0 },
        Column::numbers("[95 %]", 0),
        Column::numbers("system", ROOMY),
        Column::numbers("time", ROOMY),
        Column::numbers("[95 %]", WIDE),
        Column::numbers("memory", 0),
        Column::numbers("[95 %]", WIDE),
        Column::numbers("faults", ROOMY),
        Column::words("effect", 0),
    ];
    let row = |arm: &Arm<'a>| {
        Row::judged(
            [
                name(arm),
                value(arm, Quantity::Cpu),
                interval(arm, Quantity::Cpu),
                value(arm, Quantity::System),
                value(arm, Quantity::Wall),
                interval(arm, Quantity::Wall),
                value(arm, Quantity::Memory),
                interval(arm, Quantity::Memory),
                value(arm, Quantity::Faults),
                effect(arm),
            ],
            arm.figure,
        )
    };
    let legend = "cpu, system, time, memory, faults: start by start, for those without a setting; 1 is the same; [ ]: 95 % interval; void: it did \
                  not take effect, or no effect can be observed; ∞: what it keeps has no bound; 2: one of two values from start to start";
    Some(Table {
        title: mode.title(),
        columns,
        rows: trial.arms.iter().map(row).collect(),
        notes: vec![legend.to_owned()],
        words_from: WIDE,
        ..Table::default()
    })
}

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

fn value(arm: &Arm, quantity: Quantity) -> String {
    arm.ratio(quantity).map_or_else(|| "—".to_owned(), |ratio| number(ratio.value))
}

fn interval(arm: &Arm, quantity: Quantity) -> String {
    let shown = |ratio: figure::stats::Ratio| format!("[{}, {}]", number(ratio.low), number(ratio.high));
    arm.ratio(quantity).map_or_else(|| "—".to_owned(), shown)
}

/// A ratio: two digits behind the point, three below a tenth.
fn number(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

/// One word, or why there is none.
fn effect(arm: &Arm) -> String {
    if arm.is_disturbed {
        let is_own = arm.figure.verdict == Some(Verdict::Invalid);
        return if is_own { "not known".to_owned() } else { "base invalid".to_owned() };
    }
    match (&arm.took, arm.effect) {
        (Took::No(cause) | Took::Unchanged(cause), _) => format!("void: {}", plain_to(cause, MAX_CAUSE)),
        (_, None) => "too few rounds".to_owned(),
        (_, Some(effect)) if matches!(arm.direction, Some(Direction::Sure(_))) => {
            format!("{}, direction sure", effect.description())
        }
        (_, Some(effect)) => effect.description().to_owned(),
    }
}
