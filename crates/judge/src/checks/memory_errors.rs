//! Did the memory correct errors during the measurement?

use figure::Outcome;
use figure::evidence::EDAC_CORRECTED;

use crate::cases::Arrays;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};
use crate::values::{Counted, Seconds};

/// Corrected errors a second from which on reporting them costs visible time: each may stop a CPU for
/// milliseconds in firmware (a system management interrupt), so ten are some per cent.
const STORM: f64 = 10.0;

/// edac/mc/mc*/ce_count (Documentation/driver-api/edac.rst).
pub const CHECK: Check =
    Check { id: "memory-errors", page: page!("memory-errors"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let corrected = observed!(subject.figure.sum(EDAC_CORRECTED));
    let seconds = subject.seconds();
    let outcome = match corrected {
        none if none <= 0.0 => Outcome::Pass,
        storm if storm / seconds >= STORM => Outcome::Fail,
        _ => Outcome::Warn,
    };
    let errors = Counted(corrected, "corrected memory error");
    Answer::of(outcome, Arrays::CorrectedErrors { errors, seconds: Seconds(seconds) })
}
