//! Does Little's law hold?

use figure::evidence::audit::TOOL;
use figure::evidence::http::{LITTLE, PACING, WHAT};
use figure::format::percent;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, always, observed};
use crate::load::{RATE, is_closed, of_load};

/// By how much rate times mean latency misses the connections. Of 59 servers on a public board 56 are within 5 % at 512 connections, and
/// only 37 at 4096: there a good part of the connections did nothing. A quarter is a figure of another number of connections.
const MISSED: Levels = Levels { warn: 0.05, fail: 0.25 };

/// L = X R (Little, Operations Research 9, 1961): in a closed loop without pauses as many requests are under way as there are connections.
pub const CHECK: Check = Check {
    id: "littles-law",
    question: "Do rate, latency and connections fit one another?",
    reads: &[WHAT.name, PACING.name, LITTLE.name, TOOL.name],
    page: include_str!("../../../../docs/checks/littles-law.md"),
    applies: |subject| of_load(subject) && is_closed(subject),
    essential: always,
    rule: |subject| {
        let busy = observed!(subject.typical(LITTLE));
        let what =
            if busy < 1.0 { "idle, or latencies are missing" } else { "beyond what a closed loop can have" };
        let told = format!("rate times mean latency is {} of the connections", percent(busy));
        let missed = (busy - 1.0).abs();
        let told = if missed < MISSED.warn { told } else { format!("{told}: the rest is {what}") };
        // A rate is a count over a time. What other tools print beside it as the mean may be of other requests.
        if is_audited(subject) && busy > 1.0 && subject.condition(WHAT).as_deref() == Some(RATE) {
            return Answer::pass(format!(
                "{told}: that speaks against the mean latency, not against the rate"
            ));
        }
        MISSED.answer(
            missed,
            told,
            "see connections-served and errors-as-work; read the figure as one of so many connections as were busy",
        )
    },
};
