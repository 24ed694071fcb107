//! Did the server send exactly one answer to each request?

use figure::evidence::http::{ANSWERED, SURPLUS};
use figure::format;

use crate::check::{Check, Levels, never, observed, page};
use crate::load::of_load;

/// Surplus for each answer. There is never more than one request on a connection, so there must be none; of one in ten thousand the rate
/// counts what was not asked for.
const SURPLUSES: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 1e-4 };

/// Bytes behind the end of an answer.
pub const CHECK: Check = Check {
    id: "pipelining",
    page: page!("pipelining"),
    applies: of_load,
    essential: never,
    rule: |subject| {
        let surplus = observed!(subject.figure.sum(SURPLUS));
        let answered = observed!(subject.figure.sum(ANSWERED)).max(1.0);
        let told = match surplus {
            0.0 => "one answer for each request".to_owned(),
            _ => format!("behind {surplus} of {} answers there were bytes", format::number(answered)),
        };
        SURPLUSES.answer(
            surplus / answered,
            told,
            "look at what the server sends (curl -i --raw): a Content-Length that is too small, or an answer sent twice",
        )
    },
};
