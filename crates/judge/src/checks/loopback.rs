//! What carried the bytes?

use figure::evidence::http::{ANSWERED, INTERFACE, SOFTNET_DROPS, WHAT};
use figure::format::{percent, plain_to};

use crate::check::{Answer, Check, Levels, Subject, never, observed};
use crate::load::of_load;

/// Packets that the host dropped before TCP saw them, for each answer: each waits for a retransmission, 200 ms at least. One in a hundred
/// thousand is beyond the 99.99th percentile.
const DROPPED: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 1e-5 };

/// The interface, and /proc/net/softnet_stat. On lo there is no device and no interrupt: the sender's own call runs the receiver's TCP, so that
/// each side pays for a part of the other. That makes no figure wrong, and it is no figure of a network.
pub const CHECK: Check = Check {
    id: "loopback",
    question: "Which interface carried the bytes, and did it drop none?",
    reads: &[WHAT.name, INTERFACE.name, SOFTNET_DROPS.name, ANSWERED.name],
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
    let told = if drops > 0.0 {
        format!("{carried}; the host dropped {drops} packets, {} of the answers", percent(share))
    } else {
        format!("{carried}; the host dropped no packet")
    };
    DROPPED.answer(
        share,
        told,
        "lengthen the host's queue (as root): sysctl -w net.core.netdev_max_backlog=10000",
    )
}
