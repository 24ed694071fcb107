//! Did a CPU quota stop the measuring threads or the server?

use figure::evidence::{CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS, http};

use super::levels::LOST_TIME;
use super::loss::loss;
use crate::load::server_time;
use crate::prelude::*;

/// cpu.stat of our cgroup and its ancestors: throttled_usec (v2), throttled_time (v1). The kernel adds up the
/// time of every CPU that stood still, so this is CPU time. A server may have a control group of its own: a container with a limit.
pub const CHECK: Check = Check::new(page!("throttled"), measured, rule);

fn rule(subject: &Subject) -> Answer {
    let client = of_client(subject);
    of_server(subject).filter(|server| server.outcome > client.outcome).unwrap_or(client)
}

/// Of a server with known control groups; `None` where there is none, or none that was throttled.
fn of_server(subject: &Subject) -> Option<Answer> {
    let throttled = subject.sum(http::SERVER_THROTTLED).into_value().filter(|time| *time > 0.0)?;
    Some(match server_time(subject).map(|whole| throttled / whole) {
        Reading::Value(lost) => LOST_TIME.answer(lost, case("the server's", throttled, lost, None)),
        Reading::Unknown(reason) => Answer::unknown(reason),
    })
}

/// Of our own threads.
fn of_client(subject: &Subject) -> Answer {
    let throttled = match subject.sum(CGROUP_THROTTLED) {
        Reading::Value(throttled) => throttled,
        Reading::Unknown(_) if subject.is_unlimited(subject.machine().cgroup.quota_cpus()) => {
            return Answer::pass(Cpus::NoQuota);
        }
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    let periods = subject.sum(CGROUP_THROTTLED_PERIODS).into_value();
    let lost = loss(subject, throttled);
    LOST_TIME.answer(lost, case("truebench's", throttled, lost, periods))
}

fn case(owner: &'static str, time: f64, share: f64, periods: Option<f64>) -> Cpus {
    let periods = periods.map(|periods| Counted(periods, "period"));
    Cpus::Throttled { owner, time: Seconds(time), share: Share(share), periods }
}
