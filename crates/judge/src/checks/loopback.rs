//! Which interface carried the traffic, and were packets lost?

use figure::evidence::http::{
    ANSWERED, CONNECTIONS, INTERFACE, RETRANSMITS, SECONDS, SOFTNET_DROPS, SYN_RETRANSMITS,
};
use figure::format::plain_to;

use super::levels::LOST_TIME;
use crate::cases::Interface;
use crate::load::{is_closed, of_load};
use crate::prelude::*;

/// Packets that the host dropped before TCP saw them, for each answer of a load at a rate: each waits for a retransmission. One in 2000 is half
/// of what lies beyond the 99.9th percentile.
const DROPS: Levels = Levels { warn: 1e-5, fail: 5e-4 };
/// Segments that the host sent again, for each answer, and how many there must be. The kernel does not count by connection: a few can be those of
/// another program's connection, and they never do more than warn.
const RETRANSMISSIONS: Levels = Levels { warn: 1e-3, fail: f64::INFINITY };
const SEVERAL: f64 = 5.0;
/// Seconds that a dropped packet waits at least: TCP_RTO_MIN of Linux.
const RETRANSMISSION_TIME: f64 = 0.2;

/// The interface, /proc/net/softnet_stat, and RetransSegs of /proc/net/snmp. On lo there is no device and no interrupt: the sender's own call runs the receiver's TCP, so that
/// each side pays for a part of the other. That makes no figure wrong, and it is no figure of a network.
pub const CHECK: Check = Check::new(page!("loopback"), of_load, rule);

fn rule(subject: &Subject) -> Answer {
    let Some(interface) = subject.condition(INTERFACE) else {
        return Answer::unknown("the interface is not in the record");
    };
    let interface = Interface(plain_to(&interface, 40));
    let [drops, answered] = observed!(subject.sums([SOFTNET_DROPS, ANSWERED]));
    let answered = answered.max(1.0);
    let share = drops / answered;
    let sum = |key| subject.sum(key).into_value().unwrap_or(0.0);
    // What was lost on the way shows in what had to be sent again; requests for connections another check asks about.
    let again = (sum(RETRANSMITS) - sum(SYN_RETRANSMITS)).max(0.0);
    if drops == 0.0 && again >= SEVERAL {
        let (segments, share) = (Counted(again, "segment"), again / answered);
        return RETRANSMISSIONS.answer(share, Loads::SentAgain { interface, segments, share: Share(share) });
    }
    let (packets, lost) = (Counted(drops, "packet"), Share(share));
    let dropped = |idle| Loads::PacketsDropped { interface, drops: packets, share: lost, idle };
    if drops == 0.0 || !is_closed(subject) {
        return DROPS.answer(share, dropped(None));
    }
    // A closed loop waits with the connection: what counts is the time for which connections were idle.
    let Some(connections) = subject.condition(CONNECTIONS) else {
        return Answer::unknown("connections: not recorded");
    };
    let all = connections * observed!(subject.sum(SECONDS));
    let idle = drops * RETRANSMISSION_TIME / all.max(f64::MIN_POSITIVE);
    LOST_TIME.answer(idle, dropped(Some(Share(idle))))
}
