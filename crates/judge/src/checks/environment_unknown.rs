//! Is it known where this ran and what else the machine was doing?

use figure::evidence::COUNTED_BYTES;
use figure::evidence::audit::TOOL;

use crate::prelude::*;

/// What a text of another tool never holds: so no audited figure is called valid.
pub const CHECK: Check = Check::essential(page!("environment-unknown"), is_audited, rule).audited();

fn rule(subject: &Subject) -> Answer {
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
