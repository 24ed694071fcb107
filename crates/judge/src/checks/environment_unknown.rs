//! Is it known where this ran and what else the machine was doing?

use figure::Unit;
use figure::evidence::COUNTED_BYTES;
use figure::evidence::audit::TOOL;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Subject, always, page};

/// What a text of another tool never holds: so no audited figure is called valid.
pub const CHECK: Check = Check {
    id: "environment-unknown",
    page: page!("environment-unknown"),
    applies: is_audited,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let bandwidth = subject.figure.unit == Unit::GB_PER_S && subject.condition(COUNTED_BYTES).is_some();
    let peak = if bandwidth && subject.machine().memory.peak.value().is_none() {
        "; --dimms shows whether the figure is possible"
    } else {
        ""
    };
    let tool = subject.condition(TOOL).unwrap_or_default();
    let placement = if subject.thread_cpus().is_empty() { "placement, " } else { "" };
    Answer::unknown(format!(
        "{tool}'s text does not show {placement}the load of others, steal and clock{peak}"
    ))
}
