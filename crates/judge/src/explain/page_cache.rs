//! What a file copy measures.

use figure::evidence::{FS_TYPE, PSI_IO, TEST, TEST_CLASS};
use figure::format;

use super::Rule;
use crate::cases::Case;
use crate::check::Subject;

/// The class of tests that copy files.
const FILES: &str = "files";
/// Below this share of the time nobody waited for a device.
const NO_WAIT: f64 = 0.01;

/// File systems that have no device (tmpfs(5)).
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs"];

pub(super) const RULE: Rule = Rule { name: "page-cache", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    figure.conditions.get(TEST)?;
    figure.conditions.get(TEST_CLASS).filter(|class| class == FILES)?;
    let kind = figure.evidence.get(FS_TYPE).into_value().filter(|kind| IN_MEMORY.contains(&kind.as_str()));
    if let Some(kind) = kind {
        return Some(format!(
            "A copy within memory: the files are on a {kind}, which has no device and no pages to write back. With --dir on a disk's file \
             system its code is measured too."
        ));
    }
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
