//! What a file copy measures.

use figure::evidence::{FS_TYPE, PSI_IO, TEST, TEST_CLASS};

use super::Rule;
use crate::cases::{Case, System};
use crate::check::Subject;
use crate::values::Share;

/// The class of tests that copy files.
const FILES: &str = "files";
/// Below this share of the time no task waited for a device.
const NO_WAIT: f64 = 0.01;
/// File systems that have no device (tmpfs(5)).
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs"];

pub(super) const RULE: Rule = Rule { name: "page-cache", says };

fn says(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    figure.conditions.get(TEST)?;
    figure.conditions.get(TEST_CLASS).filter(|class| class == FILES)?;
    let file_system = figure.evidence.get(FS_TYPE).into_value();
    if let Some(file_system) = file_system.filter(|kind| IN_MEMORY.contains(&kind.as_str())) {
        return Some(System::FilesInMemory { file_system }.into());
    }
    let waited = figure.sum(PSI_IO).into_value().map(|seconds| seconds / subject.seconds());
    Some(Case::from(match waited {
        Some(share) if share < NO_WAIT => System::FilesInPageCache { waited: Share(share) },
        Some(share) => System::FilesWaitForDevice { waited: Share(share) },
        None => System::FilesPerhapsWait,
    }))
}
