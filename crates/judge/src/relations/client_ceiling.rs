//! Can the load client do much more than it did here?
//!
//! A client's CPU time shows that it is not full. Only an experiment shows what it can do: the same load on a server that
//! does nothing but answer.

use crate::check::{Answer, Check, Subject, never, page};
use crate::load::{HEADROOM, ceiling, headroom, is_closed, of_server, only_the_server_is_full};

/// So near to the ceiling a rate is that of the client.
const NONE: f64 = 1.1;

/// The ceiling relation.
pub const CHECK: Check = Check {
    id: "client-ceiling",
    page: page!("client-ceiling"),
    applies: |subject| of_server(subject) && is_closed(subject),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let (Some(ceiling), Some(times)) = (ceiling(subject), headroom(subject)) else {
        return Answer::unknown("the null responder was not measured under this load");
    };
    let told = format!("under the same load {} reaches {times:.2} times this rate", ceiling.id);
    if times >= HEADROOM {
        return Answer::pass(told);
    }
    let fix = "give the client more CPUs and threads (--client-cpus LIST, -t N), or load from another machine (--remote)";
    // The null responder has a limit too: nearness to it proves nothing against a server that is full beside a client that is not.
    match (only_the_server_is_full(subject), times >= NONE) {
        (true, true) => Answer::pass(format!("{told}; the server is at its limit, and the client is not")),
        (true, false) => Answer::warn(format!("{told}, though the client's threads had time to spare"), fix),
        (false, true) => Answer::warn(format!("{told}: the client may bound it"), fix),
        (false, false) => {
            Answer::fail(format!("{told}: the rate is the client's, and a floor for the server's"), fix)
        }
    }
}
