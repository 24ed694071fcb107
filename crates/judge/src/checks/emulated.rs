//! Did a real processor run the code, not an emulator?

use crate::prelude::*;

/// An emulator translates instructions: what costs little on a processor (a change of address space, a barrier) may cost a
/// hundred times as much as its neighbours, so that even ratios mean nothing. What the kernel decides is as real as elsewhere.
pub const CHECK: Check = Check::new(
    page!("emulated"),
    |subject| measured(subject) && subject.machine().virtualisation.is_emulated(),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let sign = subject.machine().virtualisation.evidence.first().cloned();
    Answer::warn(Rounds::Emulated { sign })
}
