//! What a lever changes: CPU time, what is asked of the kernel, faults, and what it costs.

use figure::Figure;
use figure::evidence::{ALLOCATOR, LEVER, PROGRAM};
use figure::levers::{Arm, Quantity, Took, trial};

use super::Rule;
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::ratio_text;

/// Of a program with a lever.
pub(super) const RULE: Rule = Rule { name: "lever", says: |subject| says(subject).map(Case::Text) };
/// Of what was computed from its starts.
pub(super) const FOLLOWS: Rule =
    Rule { name: "lever-follows", says: |subject| follows(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let trial = trial(subject.record)?;
    let arm = trial.arms.iter().find(|arm| std::ptr::eq(arm.figure, subject.figure))?;
    told(arm)
}

fn told(arm: &Arm) -> Option<String> {
    let cpu = ratio_text(&arm.ratio(Quantity::Cpu)?);
    let beside = |quantity: Quantity, what: &str| {
        arm.ratio(quantity).map_or_else(String::new, |ratio| format!(", {:.3}x {what}", ratio.value))
    };
    let memory = beside(Quantity::Memory, "the memory");
    let faults = beside(Quantity::Faults, "the page faults");
    Some(match (&arm.took, arm.effect) {
        (Took::No(cause) | Took::Unchanged(cause), _) => format!("Void: {cause}."),
        (Took::Yes(changed), Some(effect)) => {
            format!("{}: {cpu} the CPU time{memory}{faults} ({changed}).", capital(effect.description()))
        }
        (Took::Unknown(_), Some(effect)) => {
            format!("{}: {cpu} the CPU time{memory}{faults}.", capital(effect.description()))
        }
        (_, None) => return None,
    })
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn follows(subject: &Subject) -> Option<String> {
    let of = |id: &String| subject.record.figure(id);
    let sources: Vec<&Figure> = subject.figure.derived_from.iter().filter_map(of).collect();
    let is_start = |figure: &&Figure| {
        let conditions = &figure.conditions;
        conditions.get(PROGRAM).is_some()
            && (conditions.get(LEVER).is_some() || conditions.get(ALLOCATOR).is_some())
    };
    sources.first().filter(|first| is_start(first))?;
    Some(match sources.get(1).map(|base| base.conditions.get(ALLOCATOR)) {
        Some(Some(allocator)) => format!("Start by start, for those with {allocator}."),
        Some(None) => "Start by start, for those without a lever.".to_owned(),
        None => "Of the same starts as the CPU time.".to_owned(),
    })
}
