//! Was the measured code compiled with optimisation?

use figure::evidence::SIMD;
use figure::evidence::audit::TOOL_BUILD;

use crate::prelude::*;

/// Kernels whose machine code is the compiler's choice. Those written in assembly are the same in any build.
const COMPILED: [&str; 2] = ["compiler", "portable"];

/// The build of truebench, for figures whose speed depends on it; or that of another tool's library, where it prints it.
pub const CHECK: Check = Check::new(
    page!("debug-build"),
    |subject| match is_audited(subject) {
        true => build(subject).is_some(),
        false => {
            measured(subject) && subject.condition(SIMD).is_some_and(|simd| COMPILED.contains(&simd.as_str()))
        }
    },
    rule,
)
.audited();

/// How the library of another tool was built.
fn build(subject: &Subject) -> Option<String> {
    subject.fact(TOOL_BUILD).into_value()
}

fn rule(subject: &Subject) -> Answer {
    if is_audited(subject) {
        let build = observed!(subject.fact(TOOL_BUILD));
        return Answer::warn_if(build.eq_ignore_ascii_case("debug"), Texts::LibraryBuild { build });
    }
    let build = subject.record.tool.build.clone();
    if build.is_empty() {
        return Answer::unknown("the record does not name its build");
    }
    Answer::fail_if(build.starts_with("debug"), Rounds::Build { build })
}
