//! Did a CPU quota stop the measuring threads or the server?

use figure::Reading;
use figure::evidence::{CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS, http};

use super::loss::{LOST_TIME, loss};
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::load::server_time;
use crate::values::{Counted, Seconds, Share};

/// cpu.stat of our cgroup and its ancestors: throttled_usec (v2), throttled_time (v1). The kernel adds up the
/// time of every CPU that stood still, so this is CPU time. A server may have a control group of its own: a container with a limit.
pub const CHECK: Check =
    Check { id: "throttled", page: page!("throttled"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let client = of_client(subject);
    of_server(subject).filter(|server| server.outcome > client.outcome).unwrap_or(client)
}

/// Of a server with known control groups; `None` where there is none, or none that was throttled.
fn of_server(subject: &Subject) -> Option<Answer> {
    let throttled =
        subject.figure.sum(http::SERVER_THROTTLED).into_value().filter(|throttled| *throttled > 0.0)?;
    let lost = match server_time(subject) {
        Reading::Value(whole) => throttled / whole,
        Reading::Unknown(reason) => return Some(Answer::unknown(reason)),
    };
    Some(LOST_TIME.answer(lost, case("the server's", throttled, lost, None)))
}

/// Of our own threads.
fn of_client(subject: &Subject) -> Answer {
    let cgroup = &subject.machine().cgroup;
    let throttled = match subject.figure.sum(CGROUP_THROTTLED) {
        Reading::Value(throttled) => throttled,
        // Every group was read and none has a quota: then nothing can have throttled us.
        Reading::Unknown(_)
            if cgroup.unknown.is_none() && !cgroup.levels.is_empty() && cgroup.quota_cpus().is_none() =>
        {
            return Answer::pass(Cpus::NoQuota);
        }
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    let periods = subject.figure.sum(CGROUP_THROTTLED_PERIODS).into_value();
    let lost = loss(subject, throttled);
    LOST_TIME.answer(lost, case("truebench's", throttled, lost, periods))
}

fn case(owner: &'static str, time: f64, share: f64, periods: Option<f64>) -> Cpus {
    let periods = periods.map(|periods| Counted(periods, "period"));
    Cpus::Throttled { owner, time: Seconds(time), share: Share(share), periods }
}
