//! Did the client have enough local ports?

use figure::evidence::http::{CONNECTIONS, FAILED, KEEPS_ALIVE, PORTS, SOURCES, TIME_WAIT, UNCONNECTED};

use crate::load::{failed, of_load};
use crate::prelude::*;

/// Ports in use as a share of those that there are. Before Linux 6.8 connect(2) tries ports of one parity only until half of them are
/// taken, and slows down sharply from there (Cloudflare, "connect() - why are you so slow?", 2024-02-08). That none is left shows in failures.
const USED: Levels = Levels { warn: 0.50, fail: f64::INFINITY };

/// ip_local_port_range for each source address, against the connections and what is left of closed ones.
pub const CHECK: Check = Check::new(page!("ports"), of_load, rule);

fn rule(subject: &Subject) -> Answer {
    let refused = |key| failed(subject.figure, key, &["no port"]);
    let without = observed!(refused(FAILED)) + observed!(refused(UNCONNECTED));
    if without > 0.0 {
        return Answer::fail(Loads::NoPort { times: Counted(without, "time") });
    }
    let [ports, sources] = observed!(subject.facts([PORTS, SOURCES]));
    let ports = ports * sources;
    let connections = subject.condition(CONNECTIONS).unwrap_or(1.0);
    // Kept connections need theirs alone; others leave one behind in TIME_WAIT for 60 s.
    let waiting = match subject.condition(KEEPS_ALIVE) {
        Some(false) => Some(observed!(subject.largest(TIME_WAIT))),
        _ => None,
    };
    let used = (connections + waiting.unwrap_or(0.0)) / ports.max(1.0);
    let (connections, waiting) = (Counted(connections, "connection"), waiting.map(Count));
    USED.answer(used, Loads::Ports { connections, waiting, ports: Counted(ports, "port") })
}
