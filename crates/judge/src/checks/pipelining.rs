//! Did the server send exactly one answer to each request?

use figure::evidence::http::{ANSWERED, SURPLUS};

use crate::cases::Loads;
use crate::check::{Check, Levels, never, observed, page};
use crate::load::of_load;
use crate::values::{Count, Counted};

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
        let (surplus, answers) = (Count(surplus), Counted(answered, "answer"));
        SURPLUSES.answer(surplus.0 / answered, Loads::Surplus { surplus, answers })
    },
};
