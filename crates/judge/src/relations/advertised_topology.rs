//! Do measured core-to-core latencies match the advertised topology?

use figure::evidence::PAIR;

use super::core_pairs::{self, Alike, Pairs};
use crate::check::{Answer, Check, Subject, never, page};
use crate::explain::cores;

/// On the figure of a class, which bears the advertised name. The latencies of its pairs are right whatever is advertised.
pub const CHECK: Check =
    Check { id: "advertised-topology", page: page!("advertised-topology"), applies, essential: never, rule };

/// Computed from pairs.
fn applies(subject: &Subject) -> bool {
    let source = subject.figure.derived_from.first().and_then(|id| subject.record.figure(id));
    subject.condition(PAIR).is_some() && source.is_some_and(core_pairs::is_pair)
}

const FIX: &str = "in a guest: have the host's topology passed on, and its CPUs pinned (libvirt: host-passthrough, topology, \
    cache mode passthrough; QEMU: -smp with its sockets, cores and threads); else choose CPUs by what is measured";

fn rule(subject: &Subject) -> Answer {
    let class = subject.condition(PAIR).unwrap_or_default();
    let pairs = Pairs::of(subject.record);
    let own = pairs.class(&class);
    if subject.machine().topology.unknown.is_some() {
        return Answer::unknown("the machine shows no topology that could be wrong");
    }
    if let Some(split) = pairs.split(&class) {
        return Answer::warn(cores::groups(&split), FIX);
    }
    let is_own = |alike: &Alike| [alike.nearer, alike.farther].iter().any(|side| side[0].class == class);
    if let Some(alike) = pairs.alike().iter().find(|alike| is_own(alike)) {
        let other = if alike.nearer[0].class == class { alike.farther } else { alike.nearer };
        return Answer::warn(format!("{} are as near", cores::counted(other)), FIX);
    }
    if own.is_empty() || !pairs.is_telling() {
        return Answer::unknown("too few pairs that are not invalid, of CPUs at the same clock, to compare");
    }
    Answer::pass(format!("{} are one thing, and nothing advertised apart is as near", cores::counted(own)))
}
