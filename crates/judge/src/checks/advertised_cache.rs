//! Does each cache have the size that the system reports?

use figure::evidence::{ADVERTISED, EDGE_FROM, EDGE_OWN, EDGE_TO, LEVEL};
use figure::format;

use crate::check::{Answer, Check, Subject, never, observed, page};

/// An end may be this factor off the advertised size: half of a cache is what a busy sibling leaves, and a victim cache
/// holds what is in the level before besides. Twice off is another cache than the one that is shown.
const OFF: f64 = 2.0;

/// Where a ladder of sizes shows that a level ends, against the size that the system shows (sysfs, CPUID). Guests are shown
/// the host's caches, whole, hidden, or made up.
pub const CHECK: Check = Check {
    id: "advertised-cache",
    page: page!("advertised-cache"),
    applies: |subject| subject.figure.evidence.get(EDGE_TO).reason().is_none(),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let seen = subject.figure.value.unwrap_or(f64::NAN);
    let (from, to) =
        (observed!(subject.figure.evidence.get(EDGE_FROM)), observed!(subject.figure.evidence.get(EDGE_TO)));
    let between = format!("between {} and {}", format::bytes(from), format::bytes(to));
    let (Some(level), Some(size)) = (subject.condition(LEVEL), subject.condition(ADVERTISED)) else {
        return Answer::warn(
            format!("a level ends {between}, and the system shows no cache of such a size"),
            "take it for a cache that is hidden from this system: choose arrays of 4 x that size, by --array-size",
        );
    };
    let advertised = format::bytes(size);
    let own = subject.figure.evidence.get(EDGE_OWN).into_value().unwrap_or(true);
    if !own {
        return Answer::warn(
            format!(
                "{level} is advertised with {advertised} and is not there: nothing ends near that size, and what is \
                 behind the level before it, which ends {between}, is memory{}",
                guest(subject)
            ),
            FIX,
        );
    }
    let share = seen / size;
    let detail = format!(
        "{level} is advertised with {advertised} and ends {between}: at {} of it",
        format::percent(share)
    );
    if (1.0 / OFF..=OFF).contains(&share) {
        Answer::pass(detail)
    } else if share < 1.0 {
        Answer::warn(format!("{detail}, well before{}", guest(subject)), FIX)
    } else {
        Answer::warn(
            format!("{detail}, well beyond"),
            "take the larger size for the cache: choose arrays of 4 x that size, by --array-size",
        )
    }
}

const FIX: &str = "do not count on that cache: what is said to fit into it is read from memory; arrays of 4 x its \
    advertised size are larger than they need be";

/// Whose it may be.
fn guest(subject: &Subject) -> &'static str {
    if subject.machine().virtualisation.is_guest() {
        "; a guest is shown its host's cache, and has the part of it that its neighbours leave or its host grants"
    } else {
        ""
    }
}
