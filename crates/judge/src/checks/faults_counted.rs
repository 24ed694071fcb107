//! Were the faults that are priced the faults that were taken?

use figure::evidence::{MAJOR_DUE, MINOR_DUE, PRICE_MAJOR, PRICE_MINOR, PRICE_UNITS};

use crate::cases::FaultCount;
use crate::prelude::*;

/// Faults too many or too few, for each unit that was priced. A page of our own stack or a hinting fault of NUMA balancing among
/// hundreds is less than one in a hundred; at one in twenty the price is that of something else as well.
const ASTRAY: Levels = Levels { warn: 0.01, fail: 0.05 };

/// ru_minflt and ru_majflt of getrusage(2), RUSAGE_THREAD, around every lap.
pub const CHECK: Check = Check::essential(
    page!("faults-counted"),
    |subject| measured(subject) && subject.condition(MINOR_DUE).or(subject.condition(MAJOR_DUE)).is_some(),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let units = observed!(subject.sum(PRICE_UNITS)).max(1.0);
    let (mut astray, mut faults) = (0.0, Vec::new());
    for (kind, due, taken) in [("minor", MINOR_DUE, PRICE_MINOR), ("major", MAJOR_DUE, PRICE_MAJOR)] {
        let Some(due) = subject.condition(due) else { continue };
        let taken = observed!(subject.sum(taken));
        astray += (taken - due * units).abs() / units;
        faults.push(FaultCount { kind, taken: Number(taken), priced: Number(due * units) });
    }
    let (faults, units) = (List(faults), Counted(units, "unit"));
    ASTRAY.answer(astray, Rounds::FaultsCounted { faults, units, off: Share(astray) })
}
