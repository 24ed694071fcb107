//! Did the server have enough file descriptors, and its sockets enough kernel memory?

use figure::evidence::http::{ANSWERED, FILES_LIMIT, MEMORY_ABORTS, SERVER_FILES};

use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::of_server;
use crate::values::{Count, Counted};

/// Open files as a share of what the server may have. At the limit accept(2) fails and the server waits; a tenth of room is what
/// logs, profiles and connections that are not yet gone need.
const FILES: Levels = Levels { warn: 0.90, fail: 0.99 };
/// Drops by lack of memory, for each answer: each is a request that waits for a retransmission, 200 ms at least (RTO_MIN, tcp(7)), so that
/// one in a thousand is the 99.9th percentile.
const DROPS: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.001 };

/// RLIMIT_NOFILE against /proc/PID/fd; TCPAbortOnMemory and PruneCalled of /proc/net/netstat.
pub const CHECK: Check = Check {
    id: "files-and-memory",
    page: page!("files-and-memory"),
    applies: of_server,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let drops = observed!(figure.sum(MEMORY_ABORTS));
    let answered = observed!(figure.sum(ANSWERED)).max(1.0);
    if drops > 0.0 {
        return DROPS.answer(drops / answered, Loads::SocketMemory { times: Counted(drops, "time") });
    }
    let limit = observed!(figure.evidence.get(FILES_LIMIT)).max(1.0);
    let open = observed!(figure.largest(SERVER_FILES));
    FILES.answer(open / limit, Loads::OpenFiles { open: Count(open), limit: Counted(limit, "file") })
}
