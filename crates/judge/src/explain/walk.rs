//! What a step of a walk through the heap did: to the heap's end, to mappings, to what is in memory.

use figure::format::{bytes, plain_to};
use figure::walk::{Step, arms};

use super::Rule;
use crate::cases::Case;
use crate::check::Subject;

/// Of each step.
pub(super) const RULE: Rule = Rule { name: "walk", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let arms = arms(subject.record);
    let (arm, at) = arms.iter().find_map(|arm| {
        let at = arm.steps.iter().position(|step| std::ptr::eq(step.figure, subject.figure))?;
        Some((arm, at))
    })?;
    let step = &arm.steps[at];
    let before = at.checked_sub(1).and_then(|before| arm.steps.get(before));
    let mut done = Vec::new();
    match step.end - before.map_or(0.0, |before| before.end) {
        up if up > 0.0 => done.push(format!("moves the heap's end up by {}", bytes(up))),
        down if down < 0.0 => done.push(format!("moves the heap's end down by {}", bytes(-down))),
        _ => {}
    }
    match step.mapped - before.map_or(0.0, |before| before.mapped) {
        more if more > 0.0 => done.push(format!("maps {}", bytes(more))),
        less if less < 0.0 => done.push(format!("unmaps {}", bytes(-less))),
        _ => {}
    }
    if done.is_empty() {
        done.push("moves neither the heap's end nor a mapping".to_owned());
    }
    Some(format!("{} {}: {}.", plain_to(step.name, 40), done.join(" and "), pages(step, before)?))
}

/// What became of pages in memory.
fn pages(step: &Step, before: Option<&Step>) -> Option<String> {
    let change = step.figure.value? - before.map_or(Some(0.0), |before| before.figure.value)?;
    let faults = format!("{:.0} page fault{}", step.faults, if step.faults == 1.0 { "" } else { "s" });
    Some(match change {
        more if more > 0.0 => format!("{} more in memory, by {faults}", bytes(more)),
        less if less < 0.0 => format!("{} fewer in memory", bytes(-less)),
        _ => format!("as much in memory as before, with {faults}"),
    })
}
