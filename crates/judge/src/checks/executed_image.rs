//! Is the program that forks and executes itself as small and plain as UnixBench's?

use figure::Outcome;
use figure::evidence::{CELL_BYTES, CELL_LIBRARIES, CELL_LINKAGE, TEST_CLASS};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, never, observed, of_copies, page};
use crate::values::{Bytes, Counted};

/// The class of tests that make processes.
const PROCESS: &str = "process";
/// UnixBench's own programs have 18 to 24 kB (6.0.0, gcc 12, x86-64), a release build of ours 51 kB, and these two do as many forks
/// and executions as one another. Ten times UnixBench's is another program.
const LARGE: f64 = 256.0 * 1024.0;

/// The kernel copies page tables in a fork, and maps, links and relocates in an execution: its work grows with the program.
pub const CHECK: Check = Check {
    id: "executed-image",
    page: page!("executed-image"),
    applies: |subject| of_copies(subject) && subject.condition(TEST_CLASS).as_deref() == Some(PROCESS),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let bytes = observed!(evidence.get(CELL_BYTES));
    let linkage = observed!(evidence.get(CELL_LINKAGE));
    let libraries = Counted(observed!(evidence.get(CELL_LIBRARIES)), "shared object");
    let is_other = linkage != "dynamic" || bytes > LARGE;
    let outcome = if is_other { Outcome::Warn } else { Outcome::Pass };
    Answer::of(outcome, Rounds::ExecutedImage { size: Bytes(bytes), linkage, libraries })
}
