//! Was the measured code compiled with optimisation?

use figure::Outcome;
use figure::evidence::SIMD;

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, measured, never, page};

/// Kernels whose machine code is the compiler's choice. Those written in assembly are the same in any build.
const COMPILED: [&str; 2] = ["compiler", "portable"];

/// The build of truebench, for figures whose speed depends on it.
pub const CHECK: Check = Check {
    id: "debug-build",
    page: page!("debug-build"),
    applies: |subject| {
        measured(subject) && subject.condition(SIMD).is_some_and(|simd| COMPILED.contains(&simd.as_str()))
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let build = subject.record.tool.build.clone();
    if build.is_empty() {
        return Answer::unknown("the record does not name its build");
    }
    let outcome = if build.starts_with("debug") { Outcome::Fail } else { Outcome::Pass };
    Answer::of(outcome, Rounds::Build { build })
}
