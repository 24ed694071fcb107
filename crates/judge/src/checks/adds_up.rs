//! Do the printed numbers fit one another?

use figure::evidence::audit::{RECOMPUTED, ROUNDING, TOOL};
use figure::format::{number, percent};

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, measured, never, observed};

/// By what share a figure may differ from itself, computed again from other numbers of the same text, beyond what rounding explains. Tools
/// round times and rates at different places; 5 % is no rounding, and at a quarter one of the numbers is of something else.
const APART: Levels = Levels { warn: 0.05, fail: 0.25 };

/// The figure against the same from counts and times.
pub const CHECK: Check = Check {
    id: "adds-up",
    question: "Do the numbers of the text fit one another?",
    reads: &[TOOL.name, RECOMPUTED.name, ROUNDING.name],
    page: include_str!("../../../../docs/checks/adds-up.md"),
    applies: |subject| {
        is_audited(subject) && measured(subject) && subject.figure.over_rounds(RECOMPUTED).value().is_some()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let again = observed!(subject.typical(RECOMPUTED));
    let rounding = subject.typical(ROUNDING).into_value().unwrap_or(0.0);
    let value = subject.figure.value.unwrap_or(0.0);
    if again == value {
        return Answer::pass("its counts and times give the same");
    }
    let apart = ((again - value).abs() / again.abs().max(value.abs()) - rounding).max(0.0);
    let unit = &subject.figure.unit;
    APART.answer(
        apart,
        format!(
            "{} {unit} are printed; its own counts and times give {} {unit}, {} apart beyond rounding",
            number(value),
            number(again),
            percent(apart)
        ),
        "use the tool's own text, whole and of one run; if it is, one of these numbers is of something else",
    )
}
