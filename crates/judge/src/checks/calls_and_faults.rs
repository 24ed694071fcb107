//! Did the program's calls give back as many pages as a mechanism is said to have faulted in again?

use figure::evidence::{FAULT_RETURNED, FAULT_RETURNED_OFF};

use crate::prelude::*;

/// By how much the pages may be too few beyond their error, as a share of the faults. At half of them another mechanism is as likely.
const MISSING: Levels = Levels { warn: 0.0, fail: 0.5 };

/// Pages of the calls against faults, in the moments in which calls were counted.
pub const CHECK: Check = Check::essential(
    page!("calls-and-faults"),
    |subject| subject.figure.evidence.iter().any(|(name, _)| name == FAULT_RETURNED.name),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let [returned, off] = observed!(subject.facts([FAULT_RETURNED, FAULT_RETURNED_OFF]));
    let missing = 1.0 - returned * (1.0 + off);
    MISSING.answer(missing, Arrays::CallsAndFaults { returned: Share(returned), off: Share(off) })
}
