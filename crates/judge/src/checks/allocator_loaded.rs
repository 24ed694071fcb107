//! Did this allocator, and no other, serve the program?

use figure::evidence::{ALLOCATOR, LIBRARY, PROGRAM, PROGRAM_PROCESSES};

use crate::prelude::*;

/// What the dynamic linker bound (ld.so(8), LD_DEBUG=bindings) in a start that was made for it. Where another served, there
/// is no figure.
pub const CHECK: Check = Check::essential(
    page!("allocator-loaded"),
    |subject| {
        measured(subject) && subject.condition(PROGRAM).is_some() && subject.condition(ALLOCATOR).is_some()
    },
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let library = observed!(subject.fact(LIBRARY));
    let processes = Count(observed!(subject.fact(PROGRAM_PROCESSES)));
    Answer::pass(Rounds::AllocatorLoaded { library, processes })
}
