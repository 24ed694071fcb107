//! Do the latencies include the slowest requests?

use figure::evidence::http::{ANSWERED_LATE, CENSORED_AGE, IN_FLIGHT, RECORDED, TIMEOUT, UNSENT};

use crate::load::of_load;
use crate::prelude::*;

/// Requests of the window without an answer when waiting was given up: of them only an age is known, and they are the slowest. One in
/// ten thousand is beyond the 99.9th percentile; of one in a hundred the 99th is not known.
const CENSORED: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// What was in flight, or due and not sent, at the end.
pub const CHECK: Check = Check::essential(page!("survivorship-bias"), of_load, rule);

fn rule(subject: &Subject) -> Answer {
    let [recorded, in_flight, unsent] = observed!(subject.sums([RECORDED, IN_FLIGHT, UNSENT]));
    let censored = in_flight + unsent;
    let share = if censored > 0.0 { censored / (censored + recorded) } else { 0.0 };
    let oldest = subject.largest(CENSORED_AGE).into_value().filter(|_| censored > 0.0);
    let case = Loads::Unanswered {
        in_flight: Counted(in_flight, "request"),
        unsent: Count(unsent),
        share: Share(share),
        oldest: oldest.map(Seconds),
        timeout: subject.condition(TIMEOUT).filter(|_| censored > 0.0).map(Seconds),
        late: subject.sum(ANSWERED_LATE).into_value().map(Count),
    };
    CENSORED.answer(share, case)
}
