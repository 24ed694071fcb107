//! Does each cache have the size that the system reports?

use figure::evidence::{ADVERTISED, EDGE_FROM, EDGE_OWN, EDGE_TO, LEVEL};

use crate::prelude::*;

/// An end may be this factor off the advertised size: half of a cache is what a busy sibling leaves, and a victim cache
/// adds to the level before it. Twice off is another cache than the one that is shown.
const OFF: f64 = 2.0;

/// Where a ladder of sizes shows that a level ends, against the size that the system shows (sysfs, CPUID). Guests are shown
/// the host's caches, whole, hidden, or made up.
pub const CHECK: Check =
    Check::new(page!("advertised-cache"), |subject| subject.fact(EDGE_TO).reason().is_none(), rule);

fn rule(subject: &Subject) -> Answer {
    let [from, to] = observed!(subject.facts([EDGE_FROM, EDGE_TO])).map(Bytes);
    let (Some(level), Some(size)) = (subject.condition(LEVEL), subject.condition(ADVERTISED)) else {
        return Answer::warn(Arrays::CacheHidden { from, to });
    };
    let is_guest = subject.machine().virtualisation.is_guest();
    let (share, size) = (subject.figure.value.unwrap_or(f64::NAN) / size, Bytes(size));
    if subject.fact(EDGE_OWN).into_value() == Some(false) {
        return Answer::warn(Arrays::CacheMissing { level, size, from, to, is_guest });
    }
    let is_guest = is_guest && share < 1.0 / OFF;
    let case = Arrays::CacheEnd { level, size, from, to, share: Share(share), is_guest };
    Answer::warn_if(!(1.0 / OFF..=OFF).contains(&share), case)
}
