//! Which interface carried the traffic, and were packets lost?

use figure::Reading;
use figure::evidence::http::{
    ANSWERED, CONNECTIONS, INTERFACE, RETRANSMITS, SECONDS, SOFTNET_DROPS, SYN_RETRANSMITS,
};
use figure::format::{number, percent, plain_to};

use super::loss::LOST_TIME;
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::{is_closed, of_load};

/// Packets that the host dropped before TCP saw them, for each answer of a load at a rate: each waits for a retransmission. One in 2000 is half
/// of what lies beyond the 99.9th percentile.
const DROPPED: Levels = Levels { warn: 1e-5, fail: 5e-4 };
/// Segments that the host sent again, for each answer, and how many there must be. Whose they were the kernel does not count: a few can be those of
/// another program's connection, and they never do more than warn.
const SENT_AGAIN: Levels = Levels { warn: 1e-3, fail: f64::INFINITY };
const SEVERAL: f64 = 5.0;
/// Seconds that a dropped packet waits at least: TCP_RTO_MIN of Linux.
const RETRANSMITTED: f64 = 0.2;

/// The interface, /proc/net/softnet_stat, and RetransSegs of /proc/net/snmp. On lo there is no device and no interrupt: the sender's own call runs the receiver's TCP, so that
/// each side pays for a part of the other. That makes no figure wrong, and it is no figure of a network.
pub const CHECK: Check =
    Check { id: "loopback", page: page!("loopback"), applies: of_load, essential: never, rule };

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
    let answered = observed!(subject.figure.sum(ANSWERED)).max(1.0);
    let share = drops / answered;
    if drops == 0.0 {
        return lost_elsewhere(subject, answered, &carried);
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

/// What was lost on the way shows in what had to be sent again; requests for connections another check asks about.
fn lost_elsewhere(subject: &Subject, answered: f64, carried: &str) -> Answer {
    let sum = |key| subject.figure.sum(key).into_value().unwrap_or(0.0);
    let again = (sum(RETRANSMITS) - sum(SYN_RETRANSMITS)).max(0.0);
    if again < SEVERAL {
        return Answer::pass(format!("{carried}; the host dropped no packet"));
    }
    let told = format!(
        "{carried}; the host dropped no packet, and sent {} segments again, {} of the answers",
        number(again),
        percent(again / answered)
    );
    let fix = "look for where packets are lost (ss -ti, ip -s link, tc -s qdisc), or for who else sends much";
    SENT_AGAIN.answer(again / answered, told, fix)
}
