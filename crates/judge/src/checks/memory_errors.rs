//! Did the memory correct errors during the measurement?

use figure::evidence::EDAC_CORRECTED;

use crate::prelude::*;

/// Corrected errors a second. Reporting ten costs visible time: each may stop a CPU for milliseconds in firmware (a system
/// management interrupt), so these are some per cent.
const RATE: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 10.0 };

/// edac/mc/mc*/ce_count (Documentation/driver-api/edac.rst).
pub const CHECK: Check = Check::new(page!("memory-errors"), measured, rule);

fn rule(subject: &Subject) -> Answer {
    let corrected = observed!(subject.sum(EDAC_CORRECTED));
    let errors = Counted(corrected, "corrected memory error");
    let seconds = Seconds(subject.seconds());
    Answer::of(RATE.outcome(corrected / seconds.0), Arrays::CorrectedErrors { errors, seconds })
}
