//! Packs the captured files of a tree into an archive.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use figure::Reading;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::files::{FILES, GROUP_FILES, Keep};
use super::{CaptureError, MAX_BYTES, MAX_FILES, Summary};
use crate::describe::{tiers, uncore};
use crate::{Overrides, Tree, describe};

/// Bytes of a tar header and the largest padding.
const TAR_OVERHEAD: u64 = 1024;

/// Saves the machine of `tree` in the archive `out` (`.tar.zst`).
pub fn capture(tree: &Tree, out: &Path) -> Result<Summary, CaptureError> {
    let failed = |source| CaptureError::Io { what: "write", path: out.to_owned(), source };
    let mut archive = tar::Builder::new(Vec::new());
    let mut summary = Summary::default();
    let mut archive_bytes = 0;
    for (path, keep) in wanted(tree) {
        // The reported size of a file in /sys is always a page, so the content is read first.
        let content = match keep {
            Keep::Presence => Reading::Value(Vec::new()),
            Keep::All => tree.bytes(&path),
            Keep::Link => Reading::or_unknown(tree.link(&path).map(String::into_bytes), "no link"),
            Keep::Part(part) => tree.bytes(&path).map(|content| part(&content)),
        };
        let content = match content {
            Reading::Value(content) => content,
            Reading::Unknown(reason) => {
                summary.unreadable.push(reason);
                continue;
            }
        };
        summary.files += 1;
        summary.bytes += content.len() as u64;
        archive_bytes += content.len() as u64 + TAR_OVERHEAD;
        if summary.files > MAX_FILES || archive_bytes > MAX_BYTES {
            return Err(CaptureError::TooLarge);
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, &path, content.as_slice()).map_err(failed)?;
    }
    if summary.files == 0 {
        return Err(CaptureError::Empty(tree.root().to_owned()));
    }
    // The compressor panics if a reader or writer fails. Memory cannot fail.
    let plain = archive.into_inner().map_err(failed)?;
    let packed = compress_to_vec(plain.as_slice(), CompressionLevel::Fastest);
    summary.archive_bytes = packed.len() as u64;
    fs::write(out, packed).map_err(failed)?;
    Ok(summary)
}

/// Every path to capture, once. Directories that match a pattern are skipped, unless only presence matters.
fn wanted(tree: &Tree) -> Vec<(String, Keep)> {
    let listed =
        FILES.iter().flat_map(|pattern| pattern.expand(tree).into_iter().map(|path| (path, pattern.keep)));
    let mut wanted: Vec<(String, Keep)> = listed.collect();
    wanted.extend(uncore::files(tree).into_iter().map(|path| (path, Keep::All)));
    wanted.extend(tiers::files(tree).into_iter().map(|path| (path, Keep::Presence)));
    // The description names the directories of this process's control groups.
    for level in describe(tree, &Overrides::default()).cgroup.levels {
        let path = |name| format!("{}/{name}", level.directory.trim_start_matches('/'));
        wanted.extend(GROUP_FILES.iter().map(|name| (path(name), Keep::All)));
    }
    let mut paths = BTreeSet::new();
    wanted.retain(|(path, keep)| {
        let exists = matches!(keep, Keep::Presence | Keep::Link) || tree.path(path).is_file();
        exists && paths.insert(path.clone())
    });
    wanted
}
