//! What a program's CPU time is made of under an allocator, against the first: its own code, the kernel, page faults.

use figure::Figure;
use figure::evidence::{ALLOCATOR, COPY_SYSTEM, COPY_USER, FAULT_MINOR, PROGRAM};

use super::Rule;
use crate::cases::{Alloc, Case};
use crate::check::Subject;
use crate::values::{Count, Counted, Seconds, Share};

pub(super) const RULE: Rule = Rule { name: "program", says };

/// Seconds that differ by less than this share of the reference's are the same.
const SAME: f64 = 0.01;

fn says(subject: &Subject) -> Option<Case> {
    subject.condition(PROGRAM)?;
    let [user, system, faults] = times(subject)?;
    let is_program = |figure: &&Figure| figure.is_usable() && figure.conditions.get(PROGRAM).is_some();
    let figure = subject.record.figures.iter().find(is_program)?;
    let faults = Counted(faults, "page fault");
    if std::ptr::eq(figure, subject.figure) {
        let share = Share(system / (user + system).max(f64::MIN_POSITIVE));
        return Some(Alloc::ProgramKernelTime { share, faults }.into());
    }
    let first = figure.conditions.get(ALLOCATOR)?;
    let [first_user, first_system, first_faults] = times(&Subject { figure, record: subject.record })?;
    let (user, system) = (user - first_user, system - first_system);
    if user.abs() + system.abs() < SAME * figure.value? {
        return Some(Alloc::ProgramAlike { first }.into());
    }
    let (user, system, first_faults) = (Seconds(user), Seconds(system), Count(first_faults));
    Some(Alloc::ProgramDiffers { first, user, system, faults, first_faults }.into())
}

/// Seconds in user code and in the kernel, and page faults, of a typical start.
fn times(subject: &Subject) -> Option<[f64; 3]> {
    let typical = |key| subject.typical(key).into_value();
    Some([typical(COPY_USER)?, typical(COPY_SYSTEM)?, typical(FAULT_MINOR)?])
}
