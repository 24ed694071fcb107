//! Several copies of a test against one.

use figure::evidence::{COPIES, TEST, TEST_CLASS};
use figure::{Figure, format};

use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::{SWITCHING, Subject};
use crate::relations::partner::{Side, UNTOLD, side_scaled};

pub(super) const RULE: Rule = Rule { name: "copies", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let copies = figure.conditions.get(COPIES).filter(|copies| *copies > 1.0)?;
    let test = figure.conditions.get(TEST)?;
    let one = subject.record.figures.iter().find(|other| is_one(other, figure, &test))?;
    let times = figure.value? / one.value?;
    let each = format::percent(times / copies);
    let seen = format!("{times:.2}x of one copy ({}: {})", one.id, value(one));
    let cpus = subject.machine().topology.allowed.len() as f64;
    let switching = figure.conditions.get(TEST_CLASS).as_deref() == Some(SWITCHING);
    Some(match side_scaled(figure, one, 1.0 / copies)? {
        Side::Untold => format!("{copies} copies do {seen}; {UNTOLD}, each of them or one alone."),
        _ if copies > cpus => {
            let plural = if cpus == 1.0 { "" } else { "s" };
            format!(
                "{copies} copies on {cpus} CPU{plural} do {seen}: they take turns, and each does {each} of what one does alone."
            )
        }
        Side::Same => {
            format!("{copies} copies do {seen}, each as much as one alone: what they share is not the limit.")
        }
        Side::Below => format!(
            "{copies} copies do {seen}, each {each} of what one does alone: caches, clock, hypervisor and the kernel's own \
             locks are shared, and which of them it is this figure does not tell."
        ),
        Side::Above if switching => format!(
            "{copies} copies do {seen}, each {each} of what one does alone: with every CPU busy a woken task finds no idle one, \
             stays where its waker is, and needs no wake-up across CPUs. That is placement, not speed."
        ),
        Side::Above => format!(
            "{copies} copies do {seen}, each {each} of what one does alone: one copy was held up, by idle CPUs that it had to \
             wake or by a disturbance."
        ),
    })
}

/// The one copy of the same test, of the same mode.
fn is_one(other: &Figure, figure: &Figure, test: &str) -> bool {
    usable(other)
        && other.series == figure.series
        && other.conditions.get(COPIES) == Some(1.0)
        && other.conditions.get(TEST).as_deref() == Some(test)
}
