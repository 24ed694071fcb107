//! Was the measured code compiled with optimisation?

use figure::evidence::SIMD;

use crate::prelude::*;

/// Kernels whose machine code is the compiler's choice. Those written in assembly are the same in any build.
const COMPILED: [&str; 2] = ["compiler", "portable"];

/// The build of truebench, for figures whose speed depends on it.
pub const CHECK: Check = Check::new(
    page!("debug-build"),
    |subject| {
        measured(subject) && subject.condition(SIMD).is_some_and(|simd| COMPILED.contains(&simd.as_str()))
    },
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let build = subject.record.tool.build.clone();
    if build.is_empty() {
        return Answer::unknown("the record does not name its build");
    }
    Answer::fail_if(build.starts_with("debug"), Rounds::Build { build })
}
