//! Did this allocator, and no other, serve the program?

use figure::evidence::{ALLOCATOR, LIBRARY, PROGRAM, PROGRAM_PROCESSES};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, always, measured, observed, page};
use crate::values::Count;

/// What the dynamic linker bound (ld.so(8), LD_DEBUG=bindings) in a start that was made for it. Where another served, there
/// is no figure.
pub const CHECK: Check = Check {
    id: "allocator-loaded",
    page: page!("allocator-loaded"),
    applies: |subject| {
        measured(subject) && subject.condition(PROGRAM).is_some() && subject.condition(ALLOCATOR).is_some()
    },
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let library = observed!(evidence.get(LIBRARY));
    let processes = Count(observed!(evidence.get(PROGRAM_PROCESSES)));
    Answer::pass(Rounds::AllocatorLoaded { library, processes })
}
