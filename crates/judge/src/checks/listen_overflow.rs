//! Was there room in the server's listen queue for every connection?

use figure::evidence::http::{
    BACKLOG, CONNECT_LONGEST, CONNECTS, LISTEN_OVERFLOWS, RAMP_LONGEST, RAMP_OVERFLOWS, SOMAXCONN,
    SYN_RETRANSMITS,
};
use figure::{Outcome, format};

use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::of_load;

/// Refused or repeated connection requests, for each connection made. Each waits a second at least for its repetition (RFC 6298, initial
/// RTO), so one in a thousand is the 99.9th percentile.
const LOST: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.001 };
/// Repetitions come after 1 s, 3 s, 7 s. A tenth less, for clocks.
const REPEATED: f64 = 0.9;

/// ListenOverflows, ListenDrops, TCPReqQFullDrop and TCPSynRetrans of /proc/net/netstat, and how long connecting took.
pub const CHECK: Check =
    Check { id: "listen-overflow", page: page!("listen-overflow"), applies: of_load, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let made = observed!(figure.sum(CONNECTS));
    if made == 0.0 {
        return Answer::pass(format!("no connection was made while it was timed{}", before(subject)));
    }
    let refused = observed!(figure.sum(LISTEN_OVERFLOWS));
    let again = observed!(figure.sum(SYN_RETRANSMITS));
    let longest = observed!(figure.largest(CONNECT_LONGEST));
    let late = longest >= REPEATED;
    // Counters are the host's: what is more than our connections is another's.
    let lost = LOST.outcome((refused.max(again) / made).min(1.0));
    let outcome = if late { lost.max(Outcome::Warn) } else { lost };
    let signature =
        if late { ": as long as a connection request that is sent again (1 s, 3 s, 7 s)" } else { "" };
    Answer::of(
        outcome,
        format!(
            "of {} connections {refused} met a full queue, {again} requests were sent again; the longest took {}{signature}{}",
            format::number(made),
            format::seconds(longest),
            queue(subject)
        ),
        "lengthen the queue: the server's own backlog, and (as root) sysctl -w net.core.somaxconn=4096",
    )
}

/// The ramp, which nothing that was timed has seen: each of its connections was answered once before.
fn before(subject: &Subject) -> String {
    let evidence = &subject.figure.evidence;
    let seen = (evidence.get(RAMP_OVERFLOWS).into_value(), evidence.get(RAMP_LONGEST).into_value());
    let (Some(overflows), Some(longest)) = seen else { return String::new() };
    format!(
        "; before, the queue overflowed {overflows} times, and the longest took {}{}",
        format::seconds(longest),
        queue(subject)
    )
}

fn queue(subject: &Subject) -> String {
    let evidence = &subject.figure.evidence;
    match (evidence.get(BACKLOG).into_value(), evidence.get(SOMAXCONN).into_value()) {
        (Some(backlog), Some(most)) => format!(" (queue of {backlog}, the host allows {most})"),
        _ => String::new(),
    }
}
