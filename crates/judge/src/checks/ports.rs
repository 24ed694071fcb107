//! Did the client have enough local ports?

use figure::evidence::http::{
    CONNECT_LONGEST, CONNECTIONS, FAILED, KEEPS_ALIVE, PORTS, SOURCES, TIME_WAIT, UNCONNECTED,
};

use crate::load::{failed, of_load};
use crate::prelude::*;

/// Ports in use as a share of those that there are. Before Linux 6.8 connect(2) tries ports of one parity only until half of them are
/// taken, and slows down sharply from there (Cloudflare, "connect() - why are you so slow?", 2024-02-08). That none is left shows in failures.
const USED: Levels = Levels { warn: 0.50, fail: f64::INFINITY };

/// Seconds that making a connection takes where ports are short: what it sent first was dropped, and is sent again after a second.
const WAITED: f64 = 1.0;

/// ip_local_port_range for each source address, against the connections and what is left of closed ones.
pub const CHECK: Check =
    Check::new(page!("ports"), |subject| of_load(subject) && is_shown(subject), rule).audited();

/// Whether a text shows enough: connections that got no port, or how many were made, and that one had to wait. Of a server that closes
/// first the client keeps no port.
fn is_shown(subject: &Subject) -> bool {
    let waited = subject.largest(CONNECT_LONGEST).into_value().is_some_and(|longest| longest >= WAITED);
    !is_audited(subject)
        || waited && prints(subject, TIME_WAIT)
        || without_port(subject).value().is_some_and(|none| *none > 0.0)
}

/// Connections that got no port.
fn without_port(subject: &Subject) -> Reading<f64> {
    let refused = |key| failed(subject.figure, key, &["no port"]);
    refused(FAILED).and_then(|requests| refused(UNCONNECTED).map(|attempts| requests + attempts))
}

fn rule(subject: &Subject) -> Answer {
    let without = observed!(without_port(subject));
    if without > 0.0 {
        return Answer::fail(Loads::NoPort { times: Counted(without, "time") });
    }
    let [ports, sources] = observed!(subject.facts([PORTS, SOURCES]));
    let ports = ports * sources;
    let connections = subject.condition(CONNECTIONS).unwrap_or(1.0);
    // Kept connections need theirs alone; others leave one behind in TIME_WAIT for 60 s. Of another tool only those that were not kept count.
    let leaves = subject.condition(KEEPS_ALIVE) == Some(false) || is_audited(subject);
    let waiting = if leaves { Some(observed!(subject.largest(TIME_WAIT))) } else { None };
    let used = (connections + waiting.unwrap_or(0.0)) / ports.max(1.0);
    let (connections, waiting) = (Counted(connections, "connection"), waiting.map(Count));
    USED.answer(used, Loads::Ports { connections, waiting, ports: Counted(ports, "port") })
}
