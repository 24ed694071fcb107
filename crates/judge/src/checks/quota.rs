//! Does the cgroup's CPU quota leave room for the threads?

use figure::evidence::{CGROUP_THROTTLED, THREADS};

use super::levels::LOST_TIME;
use super::loss::loss;
use crate::prelude::*;

/// CPU bandwidth limits of our cgroup and all its ancestors: cpu.max of v2, cpu.cfs_quota_us of v1
/// (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).
pub const CHECK: Check =
    Check::new(page!("quota"), |subject| measured(subject) && subject.condition(THREADS).is_some(), rule);

fn rule(subject: &Subject) -> Answer {
    let cgroup = &subject.machine().cgroup;
    // Of a load the server's threads are under the same quota as the client's.
    let threads =
        if is_load(subject) { subject.cpu_count() } else { subject.condition(THREADS).unwrap_or(1.0) };
    let Some((quota, level)) = cgroup.quota_cpus() else {
        return match &cgroup.unknown {
            Some(reason) => Answer::unknown(reason),
            None if cgroup.levels.is_empty() => Answer::unknown("no control groups are shown"),
            None => Answer::pass(Cpus::NoQuota),
        };
    };
    // A group that is hidden may have a tighter one.
    if let Some(reason) = cgroup.unknown.as_ref().filter(|_| threads <= quota) {
        return Answer::unknown(reason);
    }
    let throttled = subject.sum(CGROUP_THROTTLED).into_value();
    // More threads than the quota will be throttled sooner or later, whether they have been or not.
    let outcome = match throttled {
        _ if threads <= quota => Outcome::Pass,
        None => Outcome::Fail,
        Some(throttled) => LOST_TIME.outcome(loss(subject, throttled)).max(Outcome::Warn),
    };
    let group = level.directory.clone();
    let (all, file) = if level.version == 1 { ("-1", "cpu.cfs_quota_us") } else { ("max", "cpu.max") };
    let raise = format!("echo {all} > {group}/{file}");
    let (threads, quota) = (Counted(threads, "thread"), CpuCount(quota));
    Answer::of(outcome, Cpus::Quota { threads, quota, group, throttled: throttled.map(Seconds), raise })
}
