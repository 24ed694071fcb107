//! Can the load client do much more than it did here?
//!
//! A client's CPU time shows that it is not full. Only an experiment shows what it can do: the same load on a server that
//! does nothing but answer.

use crate::load::{HEADROOM, ceiling, headroom, is_closed, of_server, only_the_server_is_full};
use crate::prelude::*;

/// So near to the ceiling a rate is that of the client.
const NONE: f64 = 1.1;

pub const CHECK: Check =
    Check::new(page!("client-ceiling"), |subject| of_server(subject) && is_closed(subject), rule);

fn rule(subject: &Subject) -> Answer {
    let (Some(ceiling), Some(times)) = (ceiling(subject), headroom(subject)) else {
        return Answer::unknown("the null responder was not measured under this load");
    };
    // The null responder has a limit too: nearness to it proves nothing against a server that is full while the client is not.
    let is_server_full = times < HEADROOM && only_the_server_is_full(subject);
    let outcome = match (times, is_server_full) {
        (HEADROOM.., _) | (NONE.., true) => Outcome::Pass,
        (NONE.., false) | (_, true) => Outcome::Warn,
        (_, false) => Outcome::Fail,
    };
    Answer::of(outcome, Loads::Ceiling { ceiling: ceiling.into(), times: Times(times), is_server_full })
}
