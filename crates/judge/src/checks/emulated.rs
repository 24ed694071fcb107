//! Did a real processor run the code, not an emulator?

use crate::check::{Answer, Check, Subject, measured, never, page};

/// An emulator translates instructions: what costs little on a processor (a change of address space, a barrier) may cost a
/// hundred times as much as its neighbours, so that even ratios mean nothing. What the kernel decides is as real as elsewhere.
pub const CHECK: Check = Check {
    id: "emulated",
    page: page!("emulated"),
    applies: |subject| measured(subject) && subject.machine().virtualisation.is_emulated(),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let signs = subject.machine().virtualisation.evidence.first();
    let sign = signs.map_or_else(String::new, |sign| format!(", by {sign}"));
    Answer::warn(
        format!("the processor is emulated (QEMU's TCG{sign})"),
        "run the guest under KVM (-accel kvm), and read no rate, time or bandwidth until then",
    )
}
