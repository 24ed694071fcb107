//! Was there room in the server's listen queue for every connection?

use figure::Outcome;
use figure::evidence::http::{
    BACKLOG, CONNECT_LONGEST, CONNECTS, LISTEN_OVERFLOWS, RAMP_LONGEST, RAMP_OVERFLOWS, SOMAXCONN,
    SYN_RETRANSMITS,
};

use crate::cases::{Loads, Queue};
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::of_load;
use crate::values::{Count, Counted, Seconds};

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
        // The ramp is before all that is timed: each of its connections was answered once.
        let evidence = &figure.evidence;
        return Answer::pass(Loads::KeptConnections {
            overflows: evidence.get(RAMP_OVERFLOWS).into_value().map(|count| Counted(count, "overflow")),
            longest: evidence.get(RAMP_LONGEST).into_value().map(Seconds),
            queue: queue(subject),
        });
    }
    let refused = observed!(figure.sum(LISTEN_OVERFLOWS));
    let again = observed!(figure.sum(SYN_RETRANSMITS));
    let longest = observed!(figure.largest(CONNECT_LONGEST));
    // Counters are the host's: what is more than our connections is another's.
    let lost = LOST.outcome((refused.max(again) / made).min(1.0));
    let outcome = if longest >= REPEATED { lost.max(Outcome::Warn) } else { lost };
    Answer::of(
        outcome,
        Loads::Connects {
            made: Counted(made, "connection"),
            refused: Count(refused),
            again: Count(again),
            longest: Seconds(longest),
            queue: queue(subject),
        },
    )
}

fn queue(subject: &Subject) -> Option<Queue> {
    let evidence = &subject.figure.evidence;
    let (backlog, somaxconn) = (evidence.get(BACKLOG).into_value()?, evidence.get(SOMAXCONN).into_value()?);
    Some(Queue { backlog: Count(backlog), somaxconn: Count(somaxconn) })
}
