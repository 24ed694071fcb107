//! What carried the bytes?

use figure::Reading;
use figure::evidence::http::{ANSWERED, CONNECTIONS, INTERFACE, PACING, SECONDS, SOFTNET_DROPS, WHAT};
use figure::format::{percent, plain_to};

use super::loss::LOST_TIME;
use crate::check::{Answer, Check, Levels, Subject, never, observed};
use crate::load::{is_closed, of_load};

/// Packets that the host dropped before TCP saw them, for each answer of a load at a rate: each waits for a retransmission. One in 2000 is half
/// of what lies beyond the 99.9th percentile.
const DROPPED: Levels = Levels { warn: 1e-5, fail: 5e-4 };
/// Seconds that a dropped packet waits at least: TCP_RTO_MIN of Linux.
const RETRANSMITTED: f64 = 0.2;

/// The interface, and /proc/net/softnet_stat. On lo there is no device and no interrupt: the sender's own call runs the receiver's TCP, so that
/// each side pays for a part of the other. That makes no figure wrong, and it is no figure of a network.
pub const CHECK: Check = Check {
    id: "loopback",
    question: "Which interface carried the bytes, and did it drop none?",
    reads: &[
        WHAT.name,
        PACING.name,
        CONNECTIONS.name,
        SECONDS.name,
        INTERFACE.name,
        SOFTNET_DROPS.name,
        ANSWERED.name,
    ],
    page: include_str!("../../../../docs/checks/loopback.md"),
    applies: of_load,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let Some(interface) = subject.condition(INTERFACE) else {
        return Answer::unknown("the interface is not in the record");
    };
    let carried = match interface.as_str() {
        "lo" => "over lo, which is no network: each side's kernel does a part of the other's work".to_owned(),
        name if name.starts_with("veth") => {
            format!("over {}, a pair within this machine: no device, no interrupt of one", plain_to(name, 40))
        }
        name => format!("over {}", plain_to(name, 40)),
    };
    let drops = observed!(subject.figure.sum(SOFTNET_DROPS));
    let share = drops / observed!(subject.figure.sum(ANSWERED)).max(1.0);
    if drops == 0.0 {
        return Answer::pass(format!("{carried}; the host dropped no packet"));
    }
    let told = format!("{carried}; the host dropped {drops} packets, {} of the answers", percent(share));
    let fix = "lengthen the host's queue (as root): sysctl -w net.core.netdev_max_backlog=10000";
    if !is_closed(subject) {
        return DROPPED.answer(share, told, fix);
    }
    // A closed loop waits with the connection: what counts is the time for which connections were idle.
    let connections =
        observed!(Reading::or_unknown(subject.condition(CONNECTIONS), "connections: not recorded"));
    let all = connections * observed!(subject.figure.sum(SECONDS));
    let idle = drops * RETRANSMITTED / all.max(f64::MIN_POSITIVE);
    LOST_TIME.answer(
        idle,
        format!("{told}, for which connections waited {} of their time at least", percent(idle)),
        fix,
    )
}
