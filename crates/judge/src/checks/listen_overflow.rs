//! Was there room in the server's listen queue for every connection?

use figure::evidence::http::{
    BACKLOG, CONNECT_LONGEST, CONNECTS, LISTEN_OVERFLOWS, RAMP_LONGEST, RAMP_OVERFLOWS, SOMAXCONN,
    SYN_RETRANSMITS,
};

use crate::cases::Queue;
use crate::load::of_load;
use crate::prelude::*;

/// Refused or repeated connection requests, for each connection made. Each waits a second at least for its repetition (RFC 6298, initial
/// RTO), so one in a thousand is the 99.9th percentile.
const LOST: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.001 };
/// Repetitions come after 1 s, 3 s, 7 s. A tenth less, for clocks.
const REPEATED: f64 = 0.9;

/// ListenOverflows, ListenDrops, TCPReqQFullDrop and TCPSynRetrans of /proc/net/netstat, and how long connecting took.
pub const CHECK: Check = Check::new(page!("listen-overflow"), of_load, rule);

fn rule(subject: &Subject) -> Answer {
    let made = observed!(subject.sum(CONNECTS));
    let queue = subject.facts([BACKLOG, SOMAXCONN]).into_value();
    let queue = queue.map(|queue| queue.map(Count)).map(|[backlog, somaxconn]| Queue { backlog, somaxconn });
    if made == 0.0 {
        // The ramp is before all that is timed: each of its connections was answered once.
        let overflows = subject.fact(RAMP_OVERFLOWS).into_value().map(|count| Counted(count, "overflow"));
        let longest = subject.fact(RAMP_LONGEST).into_value().map(Seconds);
        return Answer::pass(Loads::KeptConnections { overflows, longest, queue });
    }
    let [refused, again] = observed!(subject.sums([LISTEN_OVERFLOWS, SYN_RETRANSMITS]));
    let longest = observed!(subject.largest(CONNECT_LONGEST));
    // Counters are the host's: what is more than our connections is another's.
    let lost = LOST.outcome((refused.max(again) / made).min(1.0));
    let outcome = if longest >= REPEATED { lost.max(Outcome::Warn) } else { lost };
    let (made, longest) = (Counted(made, "connection"), Seconds(longest));
    let (refused, again) = (Count(refused), Count(again));
    Answer::of(outcome, Loads::Connects { made, refused, again, longest, queue })
}
