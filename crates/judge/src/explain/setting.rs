//! What a setting changes: CPU time, memory and page faults.

use figure::Figure;
use figure::evidence::{ALLOCATOR, PROGRAM, SETTING};
use suites::settings::{Quantity, Took, trial};

use super::Rule;
use crate::cases::{Case, Faults};
use crate::check::Subject;
use crate::values::{List, Share, Times};

pub(super) const RULE: Rule =
    Rule { name: "setting", says: |subject| effect(subject).or_else(|| source(subject)).map(Case::from) };

/// The effect on a program's starts.
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
