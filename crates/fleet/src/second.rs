//! What a second measurement of the slow nodes says, and nodes without a record.

use std::collections::HashSet;

use figure::format::counted;

use crate::answer::{Answer, Finding, Missing};
use crate::check::Check;
use figure::stats::Random;

/// The nodes of a second measurement, in random order: the slow ones, and as many others, or all that there are.
pub fn second_stage(slow: Vec<String>, mut others: Vec<String>, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    shuffle(&mut others, &mut random);
    let controls = slow.len();
    let mut nodes: Vec<String> = slow.into_iter().chain(others.into_iter().take(controls)).collect();
    shuffle(&mut nodes, &mut random);
    nodes
}

/// Fisher and Yates, as Knuth has it (The Art of Computer Programming, 3.4.2, algorithm P).
fn shuffle(names: &mut [String], random: &mut Random) {
    for last in (1..names.len()).rev() {
        names.swap(last, random.index(last + 1));
    }
}

impl Check {
    /// Adds nodes that were to be measured and have no record. Those that have one are left out.
    pub fn add_missing(&mut self, missing: Vec<Missing>) {
        let known: HashSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        self.missing.extend(missing.into_iter().filter(|one| !known.contains(one.node.as_str())));
    }

    /// Notes of each slow node whether a second measurement found it slow as well. `second` has the slow nodes and controls, compared with
    /// the first measurement of all.
    ///
    /// A control that is slow the second time says that something else changed between the two.
    pub fn confirm(&mut self, second: &Check) {
        let answer = |name: &str| second.nodes.iter().find(|node| node.name == name).map(|node| node.answer);
        let (mut controls, mut slow) = (0, Vec::new());
        for node in &second.nodes {
            let was_slow = self.nodes.iter().any(|one| one.name == node.name && one.answer == Answer::Slow);
            if was_slow || !matches!(node.answer, Answer::Slow | Answer::Healthy) {
                continue;
            }
            controls += 1;
            if node.answer == Answer::Slow {
                slow.push(node.name.as_str());
            }
        }
        for node in self.nodes.iter_mut().filter(|node| node.answer == Answer::Slow) {
            node.confirmed = match answer(&node.name) {
                Some(Answer::Slow) => Some(true),
                Some(Answer::Healthy) => Some(false),
                _ => None,
            };
        }
        if !slow.is_empty() {
            self.findings.push(Finding {
                claim: format!("{} of {} were slow when measured again", slow.len(), counted(controls, "control")),
                evidence: format!(
                    "{}: something besides the nodes changed between the two measurements; what it confirms is uncertain",
                    slow.iter().take(3).copied().collect::<Vec<_>>().join(", ")
                ),
            });
        }
    }
}
