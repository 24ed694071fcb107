//! What a program's CPU time is made of under an allocator, against the first: its own code, the kernel, page faults.

use figure::evidence::{ALLOCATOR, COPY_SYSTEM, COPY_USER, FAULT_MINOR, PROGRAM};
use figure::{Figure, format};

use super::{Rule, usable};
use crate::cases::Case;
use crate::check::Subject;

/// Of a user's program.
pub(super) const RULE: Rule = Rule { name: "program", says: |subject| says(subject).map(Case::Text) };

/// Seconds that differ by less than this share of the reference's are not told.
const SAME: f64 = 0.01;

fn says(subject: &Subject) -> Option<String> {
    subject.condition(PROGRAM)?;
    let seconds = |subject: &Subject, key| subject.typical(key).into_value();
    let user = seconds(subject, COPY_USER)?;
    let system = seconds(subject, COPY_SYSTEM)?;
    let faults = subject.typical(FAULT_MINOR).into_value()?;
    let is_one = |figure: &&Figure| usable(figure) && figure.conditions.get(PROGRAM).is_some();
    let figure = subject.record.figures.iter().find(is_one)?;
    if std::ptr::eq(figure, subject.figure) {
        return Some(format!(
            "{} of its CPU time is the kernel's, with {faults:.0} page faults.",
            format::percent(system / (user + system).max(f64::MIN_POSITIVE))
        ));
    }
    let reference = Subject { figure, record: subject.record };
    let name = figure.conditions.get(ALLOCATOR)?;
    let by_user = user - seconds(&reference, COPY_USER)?;
    let by_system = system - seconds(&reference, COPY_SYSTEM)?;
    let before = reference.typical(FAULT_MINOR).into_value()?;
    let faults = format!("{faults:.0} page faults against {before:.0}");
    if (by_user.abs() + by_system.abs()) < SAME * figure.value? {
        return Some(format!("As with {name}, in user code and in the kernel; {faults}."));
    }
    let told = |seconds: f64| {
        let way = if seconds < 0.0 { "less" } else { "more" };
        format!("{} {way}", format::seconds(seconds.abs()))
    };
    Some(format!(
        "Against {name}: {} in user code and {} in the kernel, with {faults}.",
        told(by_user),
        told(by_system)
    ))
}
