//! Is the program that forks and executes itself as small and plain as UnixBench's?

use figure::evidence::{CELL_BYTES, CELL_LIBRARIES, CELL_LINKAGE, TEST_CLASS};
use figure::format;

use crate::check::{Answer, Check, Subject, never, observed, of_copies, page};

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
    let libraries = observed!(evidence.get(CELL_LIBRARIES));
    let plural = if libraries == 1.0 { "y" } else { "ies" };
    let seen = format!("{}, {linkage}, with {libraries} librar{plural}", format::bytes(bytes));
    if linkage != "dynamic" {
        Answer::warn(
            format!("{seen}: without a dynamic linker an execution is much cheaper than in UnixBench"),
            "build truebench-workload for a libc that is linked dynamically (a gnu target), as UnixBench is",
        )
    } else if bytes > LARGE {
        Answer::warn(
            format!("{seen}: UnixBench's programs have some 20 kB, and a larger one takes longer to map"),
            "use a release build: cargo build --release",
        )
    } else {
        Answer::pass(seen)
    }
}
