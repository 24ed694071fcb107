//! Did the hypervisor take our CPUs away while we measured?

use figure::evidence::{CPU_STEAL, CPUS};
use figure::{Reading, format};

use crate::check::{Answer, Check, Subject, always, never};

/// A share of stolen CPU time that moves a figure visibly: twice the usual target of a 2 % interval is lost
/// at 2 %.
const WARN_SHARE: f64 = 0.02;
/// At this share the figure is the neighbours', not the machine's.
const FAIL_SHARE: f64 = 0.10;

/// Steal: /proc/stat field 8 of the CPUs in use (proc(5)).
pub const CHECK: Check = Check {
    id: "steal",
    question: "Did the hypervisor take our CPUs away while we measured?",
    reads: &[CPU_STEAL.name],
    page: include_str!("../../../../docs/checks/steal.md"),
    applies: always,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let stolen = match figure.sum(CPU_STEAL) {
        Reading::Value(stolen) => stolen,
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    let cpus = figure.conditions.get(CPUS).map_or(1.0, |cpus| cpus.len().max(1) as f64);
    let share = stolen / (figure.seconds() * cpus).max(f64::MIN_POSITIVE);
    let detail = format!(
        "{} of the CPU time was stolen ({} in {} on {cpus} CPUs)",
        format::percent(share),
        format::seconds(stolen),
        format::seconds(figure.seconds()),
    );
    let fix = "measure on a dedicated or less loaded host; on shared hosts repeat at another time";
    if share >= FAIL_SHARE {
        Answer::fail(detail, fix)
    } else if share >= WARN_SHARE {
        Answer::warn(detail, fix)
    } else if stolen == 0.0 && subject.record.machine.virtualisation.is_guest() {
        Answer::unknown("no steal was reported, but a hypervisor need not report it")
    } else {
        Answer::pass(detail)
    }
}
