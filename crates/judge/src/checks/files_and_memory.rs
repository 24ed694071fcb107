//! Did the server have enough file descriptors, and its sockets enough kernel memory?

use figure::evidence::http::{ANSWERED, FILES_LIMIT, MEMORY_ABORTS, SERVER_FILES};

use crate::load::of_server;
use crate::prelude::*;

/// Open files as a share of what the server may have. At the limit accept(2) fails and the server waits; a tenth of room is what
/// logs, profiles and connections that are not yet gone need.
const FILES: Levels = Levels { warn: 0.90, fail: 0.99 };
/// Drops by lack of memory, for each answer: each is a request that waits for a retransmission, 200 ms at least (RTO_MIN, tcp(7)), so that
/// one in a thousand is the 99.9th percentile.
const DROPS: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.001 };

/// RLIMIT_NOFILE against /proc/PID/fd; TCPAbortOnMemory and PruneCalled of /proc/net/netstat.
pub const CHECK: Check = Check::new(page!("files-and-memory"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let [drops, answered] = observed!(subject.sums([MEMORY_ABORTS, ANSWERED]));
    if drops > 0.0 {
        return DROPS
            .answer(drops / answered.max(1.0), Loads::SocketMemory { times: Counted(drops, "time") });
    }
    let limit = observed!(subject.fact(FILES_LIMIT)).max(1.0);
    let open = observed!(subject.largest(SERVER_FILES));
    FILES.answer(open / limit, Loads::OpenFiles { open: Count(open), limit: Counted(limit, "file") })
}
