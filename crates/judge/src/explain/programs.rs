//! A program of the user's: what a setting changes (CPU time, memory, page faults), and what its CPU time is made of under an
//! allocator, against the first: its own code, the kernel, page faults.

use suites::settings::{Quantity, Took, trial};

use super::support::*;

/// Seconds that differ by less than this share of the reference's are the same.
const SAME: f64 = 0.01;

pub(super) fn setting(subject: &Subject) -> Option<Faults> {
    effect(subject).or_else(|| source(subject))
}

fn effect(subject: &Subject) -> Option<Faults> {
    let trial = trial(subject.record)?;
    let arm = trial.arms.iter().find(|arm| std::ptr::eq(arm.figure, subject.figure))?;
    Some(Faults::SettingEffect {
        effect: arm.effect?.description(),
        cpu: (&arm.ratio(Quantity::Cpu)?).into(),
        memory: arm.ratio(Quantity::Memory).map(|ratio| Times(ratio.value)),
        faults: arm.ratio(Quantity::Faults).map(|ratio| Share(ratio.value)),
        changed: if let Took::Yes(changed) = &arm.took { Some(changed.clone()) } else { None },
    })
}

/// Of a figure that was computed from starts of a program: which.
fn source(subject: &Subject) -> Option<Faults> {
    let find = |id: &String| subject.record.figure(id);
    let sources: Vec<&Figure> = subject.figure.derived_from.iter().filter_map(find).collect();
    let conditions = &sources.first()?.conditions;
    let is_variant = conditions.get(SETTING).is_some() || conditions.get(ALLOCATOR).is_some();
    conditions.get(PROGRAM).filter(|_| is_variant)?;
    Some(Faults::StartByStart { sources: List(sources.into_iter().map(Into::into).collect()) })
}

pub(super) fn program(subject: &Subject) -> Option<Alloc> {
    subject.condition(PROGRAM)?;
    let [user, system, faults] = times(subject)?;
    let is_program = |figure: &&Figure| figure.is_usable() && figure.conditions.get(PROGRAM).is_some();
    let figure = subject.record.figures.iter().find(is_program)?;
    let faults = Counted(faults, "page fault");
    if std::ptr::eq(figure, subject.figure) {
        let share = Share(system / (user + system).max(f64::MIN_POSITIVE));
        return Some(Alloc::ProgramKernelTime { share, faults });
    }
    let first = figure.conditions.get(ALLOCATOR)?;
    let [first_user, first_system, first_faults] = times(&Subject { figure, record: subject.record })?;
    let (user, system) = (user - first_user, system - first_system);
    if user.abs() + system.abs() < SAME * figure.value? {
        return Some(Alloc::ProgramAlike { first });
    }
    let (user, system, first_faults) = (Seconds(user), Seconds(system), Count(first_faults));
    Some(Alloc::ProgramDiffers { first, user, system, faults, first_faults })
}

/// Seconds in user code and in the kernel, and page faults, of a typical start.
fn times(subject: &Subject) -> Option<[f64; 3]> {
    let typical = |key| subject.typical(key).into_value();
    Some([typical(COPY_USER)?, typical(COPY_SYSTEM)?, typical(FAULT_MINOR)?])
}
