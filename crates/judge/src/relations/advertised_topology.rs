//! Do measured core-to-core latencies match the advertised topology?

use figure::evidence::PAIR;

use super::core_pairs::{self, Alike, Pairs, median};
use crate::explain::cores::{nanoseconds, summary};
use crate::prelude::*;

/// On the figure of a class, which has the advertised name. The latencies of its pairs are right whatever is advertised.
pub const CHECK: Check = Check::new(page!("advertised-topology"), applies, rule);

/// Computed from pairs.
fn applies(subject: &Subject) -> bool {
    let source = subject.figure.derived_from.first().and_then(|id| subject.record.figure(id));
    subject.condition(PAIR).is_some() && source.is_some_and(core_pairs::is_pair)
}

fn rule(subject: &Subject) -> Answer {
    let class = subject.condition(PAIR).unwrap_or_default();
    let pairs = Pairs::of(subject.record);
    let own = pairs.class(&class);
    if subject.machine().topology.unknown.is_some() {
        return Answer::unknown("the machine shows no topology that could be wrong");
    }
    if let Some(split) = pairs.split(&class) {
        let [near, far] = [split.near, split.far].map(|pairs| Count(pairs.len() as f64));
        return Answer::warn(Arrays::ClassSplit {
            near,
            far,
            medians: [split.near, split.far].map(|pairs| nanoseconds(median(pairs))),
        });
    }
    let is_own = |alike: &Alike| [alike.nearer, alike.farther].iter().any(|side| side[0].class == class);
    if let Some(alike) = pairs.alike().iter().find(|alike| is_own(alike)) {
        let other = if alike.nearer[0].class == class { alike.farther } else { alike.nearer };
        return Answer::warn(Arrays::ClassesAlike(summary(other)));
    }
    if own.is_empty() || !pairs.is_comparable() {
        return Answer::unknown("too few pairs that are not invalid, of CPUs at the same clock, to compare");
    }
    Answer::pass(Arrays::ClassWhole(summary(own)))
}
