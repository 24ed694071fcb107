//! Did a CPU quota stop the measuring threads or the server?

use figure::evidence::{CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS, http};
use figure::{Reading, format};

use super::loss::{LOST_TIME, loss};
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::load::server_time;

/// cpu.stat of our cgroup and its ancestors: throttled_usec (v2), throttled_time (v1). The kernel adds up the
/// time of every CPU that stood still, so this is CPU time. A server may have a control group of its own: a container with a limit.
pub const CHECK: Check =
    Check { id: "throttled", page: page!("throttled"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let own = ours(subject);
    the_servers(subject).filter(|server| server.outcome > own.outcome).unwrap_or(own)
}

/// Of a server whose control groups were seen; `None` where there is none, or none that was throttled.
fn the_servers(subject: &Subject) -> Option<Answer> {
    let throttled =
        subject.figure.sum(http::SERVER_THROTTLED).into_value().filter(|throttled| *throttled > 0.0)?;
    let lost = match server_time(subject) {
        Reading::Value(whole) => throttled / whole,
        Reading::Unknown(reason) => return Some(Answer::unknown(reason)),
    };
    Some(LOST_TIME.answer(
        lost,
        format!(
            "the server's control group was throttled for {}: {} of the time, and the figure is its quota's",
            format::seconds(throttled),
            format::percent(lost)
        ),
        "raise the server's CPU quota, or read the figure as one of that quota",
    ))
}

fn ours(subject: &Subject) -> Answer {
    let cgroup = &subject.machine().cgroup;
    let throttled = match subject.figure.sum(CGROUP_THROTTLED) {
        Reading::Value(throttled) => throttled,
        // Every group was seen and none has a quota: then nothing can have throttled us.
        Reading::Unknown(_)
            if cgroup.unknown.is_none() && !cgroup.levels.is_empty() && cgroup.quota_cpus().is_none() =>
        {
            return Answer::pass("no control group that we are in has a CPU quota");
        }
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    let periods = match subject.figure.sum(CGROUP_THROTTLED_PERIODS).into_value() {
        Some(periods) => format!(" (in {periods} periods)"),
        None => String::new(),
    };
    let lost = loss(subject, throttled);
    LOST_TIME.answer(
        lost,
        format!(
            "throttled for {}{periods}: {} of the time",
            format::seconds(throttled),
            format::percent(lost)
        ),
        "raise the CPU quota, or use no more threads than it has CPUs; repeating does not help",
    )
}
