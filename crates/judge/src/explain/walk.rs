//! What a step of a walk through the heap did: to the heap's end, to mappings, to what is in memory.

use figure::format::plain_to;
use suites::walk::arms;

use super::support::*;
use crate::cases::faults::Change;

pub(super) fn step(subject: &Subject) -> Option<Faults> {
    let arms = arms(&subject.record.figures);
    let (arm, at) = arms.iter().find_map(|arm| {
        let at = arm.steps.iter().position(|step| std::ptr::eq(step.figure, subject.figure))?;
        Some((arm, at))
    })?;
    let now = &arm.steps[at];
    let before = at.checked_sub(1).and_then(|before| arm.steps.get(before));
    let heap = Change(now.end - before.map_or(0.0, |before| before.end));
    let mappings = Change(now.mapped - before.map_or(0.0, |before| before.mapped));
    let resident = Change(now.figure.value? - before.map_or(Some(0.0), |before| before.figure.value)?);
    let (step, faults) = (plain_to(now.name, 40), Counted(now.faults, "page fault"));
    Some(Faults::Step { step, heap, mappings, resident, faults })
}
