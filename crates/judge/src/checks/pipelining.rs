//! Did the server send exactly one answer to each request?

use figure::evidence::http::{ANSWERED, SURPLUS};

use crate::load::of_load;
use crate::prelude::*;

/// Surplus for each answer. There is never more than one request on a connection, so there must be none; of one in ten thousand the rate
/// counts what was not asked for.
const SURPLUSES: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 1e-4 };

/// Bytes behind the end of an answer.
pub const CHECK: Check = Check::new(page!("pipelining"), of_load, rule);

fn rule(subject: &Subject) -> Answer {
    let [surplus, answered] = observed!(subject.sums([SURPLUS, ANSWERED]));
    let answers = Counted(answered.max(1.0), "answer");
    SURPLUSES.answer(surplus / answers.0, Loads::Surplus { surplus: Count(surplus), answers })
}
