//! Does each cache have the size that the system reports?

use figure::Outcome;
use figure::evidence::{ADVERTISED, EDGE_FROM, EDGE_OWN, EDGE_TO, LEVEL};

use crate::cases::Arrays;
use crate::check::{Answer, Check, Subject, never, observed, page};
use crate::values::{Bytes, Share};

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
    let end = subject.figure.value.unwrap_or(f64::NAN);
    let evidence = &subject.figure.evidence;
    let (from, to) = (Bytes(observed!(evidence.get(EDGE_FROM))), Bytes(observed!(evidence.get(EDGE_TO))));
    let (Some(level), Some(size)) = (subject.condition(LEVEL), subject.condition(ADVERTISED)) else {
        return Answer::warn(Arrays::CacheHidden { from, to });
    };
    let is_guest = subject.machine().virtualisation.is_guest();
    let share = end / size;
    let size = Bytes(size);
    if evidence.get(EDGE_OWN).into_value() == Some(false) {
        return Answer::warn(Arrays::CacheMissing { level, size, from, to, is_guest });
    }
    let outcome = if (1.0 / OFF..=OFF).contains(&share) { Outcome::Pass } else { Outcome::Warn };
    let (is_guest, share) = (is_guest && share < 1.0 / OFF, Share(share));
    Answer::of(outcome, Arrays::CacheEnd { level, size, from, to, share, is_guest })
}
