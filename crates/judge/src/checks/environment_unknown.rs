//! Is it known where this ran and what else the machine was doing?

use figure::evidence::COUNTED_BYTES;
use figure::evidence::audit::TOOL;

use crate::prelude::*;

/// What a text of another tool never holds. It limits what the figure says, about that run alone, and not whether it is right.
/// Operations of a kind that differs with the version, the compiler and the C library are compared with nothing else: there it decides.
pub const CHECK: Check =
    Check::new(page!("environment-unknown"), is_audited, rule).essential_where(of_bogo).audited();

/// stress-ng's unit, of which its manual says that it is not to be compared between versions.
fn of_bogo(subject: &Subject) -> bool {
    is_audited(subject) && subject.figure.unit == Unit::of("bogo ops/s")
}

fn rule(subject: &Subject) -> Answer {
    if of_bogo(subject) {
        return Answer::unknown(
            "bogo operations compare only with the same stress-ng, compiler and C library, which the text does not show",
        );
    }
    let is_bandwidth = subject.figure.unit == Unit::GB_PER_S && subject.condition(COUNTED_BYTES).is_some();
    let peak = match subject.machine().memory.peak {
        Reading::Unknown(_) if is_bandwidth => "; --dimms shows whether the figure is possible",
        _ => "",
    };
    let tool = subject.condition(TOOL).unwrap_or_default();
    let placement = if subject.thread_cpus().is_empty() { "placement, " } else { "" };
    Answer::unknown(format!(
        "{tool}'s text does not show {placement}the load of others, steal and clock{peak}"
    ))
}
