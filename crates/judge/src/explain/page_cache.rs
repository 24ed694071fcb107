//! What a file copy measures.

use figure::evidence::{PSI_IO, TEST, TEST_CLASS};
use figure::format;

use super::Rule;
use crate::check::Subject;

/// The class of tests that copy files.
const FILES: &str = "files";
/// Below this share of the time nobody waited for a device.
const NO_WAIT: f64 = 0.01;

pub(super) const RULE: Rule = Rule { name: "page-cache", says };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    figure.conditions.get(TEST)?;
    figure.conditions.get(TEST_CLASS).filter(|class| class == FILES)?;
    let waited = figure.sum(PSI_IO).into_value().map(|seconds| seconds / subject.seconds());
    let claim = "A copy within the page cache, not to a device: files of 0.5 to 8 MB, never synced";
    Some(match waited {
        Some(share) if share < NO_WAIT => {
            format!(
                "{claim}; a device is ruled out, as no task waited for one ({} of the time).",
                format::percent(share)
            )
        }
        Some(share) => {
            format!("{claim}; yet some task waited for a device {} of the time.", format::percent(share))
        }
        None => format!("{claim}; whether a task waited for a device could not be observed."),
    })
}
