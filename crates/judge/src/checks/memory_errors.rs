//! Did the memory correct errors during the measurement?

use figure::evidence::EDAC_CORRECTED;
use figure::format;

use crate::check::{Answer, Check, Subject, measured, never, observed, page};

/// Corrected errors a second from which on reporting them costs visible time: each may stop a CPU for
/// milliseconds in firmware (a system management interrupt), so ten are some per cent.
const STORM: f64 = 10.0;

/// edac/mc/mc*/ce_count (Documentation/driver-api/edac.rst).
pub const CHECK: Check =
    Check { id: "memory-errors", page: page!("memory-errors"), applies: measured, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let corrected = observed!(subject.figure.sum(EDAC_CORRECTED));
    if corrected <= 0.0 {
        return Answer::pass("no corrected memory error");
    }
    let detail = format!("{corrected} corrected memory errors in {}", format::seconds(subject.seconds()));
    let fix =
        "find the module: grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_ce_count; reseat or replace it";
    if corrected / subject.seconds() >= STORM { Answer::fail(detail, fix) } else { Answer::warn(detail, fix) }
}
