//! Does the cgroup's CPU quota leave room for the threads?

use figure::evidence::{CGROUP_THROTTLED, THREADS};
use figure::{Outcome, format};

use super::loss::{LOST_TIME, loss};
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::load::is_load;

/// CPU bandwidth limits of our cgroup and all its ancestors: cpu.max of v2, cpu.cfs_quota_us of v1
/// (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).
pub const CHECK: Check = Check {
    id: "quota",
    page: page!("quota"),
    applies: |subject| measured(subject) && subject.condition(THREADS).is_some(),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let cgroup = &subject.machine().cgroup;
    // Of a load the server's threads are under the same quota as the client's.
    let threads =
        if is_load(subject) { subject.cpu_count() } else { subject.condition(THREADS).unwrap_or(1.0) };
    let Some((quota, level)) = cgroup.quota_cpus() else {
        return match &cgroup.unknown {
            Some(reason) => Answer::unknown(reason),
            None if cgroup.levels.is_empty() => Answer::unknown("no control groups are shown"),
            None => Answer::pass("no control group that we are in has a CPU quota"),
        };
    };
    let room = format!("CPU quota of {}: {}", level.directory, cpus(quota));
    if threads <= quota {
        return Answer::pass(format!("{room}, threads: {threads}"));
    }
    let raise = match level.version {
        1 => format!("echo -1 > {}/cpu.cfs_quota_us", level.directory),
        _ => format!("echo max > {}/cpu.max", level.directory),
    };
    let fix = match quota.floor() {
        whole if whole >= 1.0 => format!("use --threads {whole}, or raise the quota (as root): {raise}"),
        _ => format!("raise the quota (as root): {raise}"),
    };
    // More threads than the quota will be throttled sooner or later, seen so far or not.
    let (seen, outcome) = match subject.figure.sum(CGROUP_THROTTLED).into_value() {
        None => ("whether it throttled us could not be seen".to_owned(), Outcome::Fail),
        Some(0.0) => ("it has not throttled us yet".to_owned(), Outcome::Warn),
        Some(throttled) => (
            format!(
                "it throttled us for {} (all CPUs together) in {}",
                format::seconds(throttled),
                format::seconds(subject.seconds())
            ),
            LOST_TIME.outcome(loss(subject, throttled)).max(Outcome::Warn),
        ),
    };
    Answer::of(outcome, format!("threads: {threads}. {room}; {seen}"), fix)
}

/// "0.2 CPUs" for the eye.
fn cpus(quota: f64) -> String {
    let rounded = (quota * 100.0).round() / 100.0;
    format!("{rounded} CPU{}", if rounded == 1.0 { "" } else { "s" })
}
