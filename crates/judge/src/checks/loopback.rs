//! Which interface carried the traffic, and were packets lost?

use figure::Reading;
use figure::evidence::http::{
    ANSWERED, CONNECTIONS, INTERFACE, RETRANSMITS, SECONDS, SOFTNET_DROPS, SYN_RETRANSMITS,
};
use figure::format::plain_to;

use super::loss::LOST_TIME;
use crate::cases::{Interface, Loads};
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::{is_closed, of_load};
use crate::values::{Counted, Share};

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
    let interface = Interface(plain_to(&interface, 40));
    let drops = observed!(subject.figure.sum(SOFTNET_DROPS));
    let answered = observed!(subject.figure.sum(ANSWERED)).max(1.0);
    let share = drops / answered;
    let sum = |key| subject.figure.sum(key).into_value().unwrap_or(0.0);
    // What was lost on the way shows in what had to be sent again; requests for connections another check asks about.
    let again = (sum(RETRANSMITS) - sum(SYN_RETRANSMITS)).max(0.0);
    if drops == 0.0 && again >= SEVERAL {
        let (segments, share) = (Counted(again, "segment"), again / answered);
        return SENT_AGAIN.answer(share, Loads::SentAgain { interface, segments, share: Share(share) });
    }
    let dropped = |idle| Loads::PacketsDropped {
        interface,
        drops: Counted(drops, "packet"),
        share: Share(share),
        idle,
    };
    if drops == 0.0 || !is_closed(subject) {
        return DROPPED.answer(share, dropped(None));
    }
    // A closed loop waits with the connection: what counts is the time for which connections were idle.
    let connections =
        observed!(Reading::or_unknown(subject.condition(CONNECTIONS), "connections: not recorded"));
    let all = connections * observed!(subject.figure.sum(SECONDS));
    let idle = drops * RETRANSMITTED / all.max(f64::MIN_POSITIVE);
    LOST_TIME.answer(idle, dropped(Some(Share(idle))))
}
