//! Packs the captured files of a tree into an archive.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use figure::Reading;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::files::{FILES, GROUP_FILES, Keep, expand};
use super::{CaptureError, MAX_BYTES, MAX_FILES, Summary};
use crate::describe::uncore;
use crate::{Overrides, Tree, describe};

/// Bytes of a tar header and the largest padding.
const TAR_OVERHEAD: u64 = 1024;

/// Saves the machine of `tree` in the archive `out` (`.tar.zst`).
///
/// # Errors
/// `out` cannot be written, or the tree contains no machine or too many files.
pub fn capture(tree: &Tree, out: &Path) -> Result<Summary, CaptureError> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut summary = Summary::default();
    let mut archive_bytes = 0;
    for (path, keep) in wanted(tree) {
        let content = match keep {
            Keep::Presence => Vec::new(),
            // The reported size of a file in /sys is always a page, so the content is read first.
            Keep::All | Keep::Part(_) => match tree.bytes(&path) {
                Reading::Value(content) => content,
                Reading::Unknown(reason) => {
                    summary.unreadable.push(reason);
                    continue;
                }
            },
        };
        let content = if let Keep::Part(part) = keep { part(&content) } else { content };
        summary.files += 1;
        summary.bytes += content.len() as u64;
        archive_bytes += content.len() as u64 + TAR_OVERHEAD;
        if summary.files > MAX_FILES || archive_bytes > MAX_BYTES {
            return Err(CaptureError::TooLarge);
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let failed = |source| CaptureError::Io { what: "write", path: out.to_owned(), source };
        archive.append_data(&mut header, &path, content.as_slice()).map_err(failed)?;
    }
    if summary.files == 0 {
        return Err(CaptureError::Empty(tree.root().to_owned()));
    }
    // The compressor panics if a reader or writer fails. Memory cannot fail.
    let plain = archive.into_inner().map_err(|source| CaptureError::Io {
        what: "write",
        path: out.to_owned(),
        source,
    })?;
    let packed = compress_to_vec(plain.as_slice(), CompressionLevel::Fastest);
    summary.archive_bytes = packed.len() as u64;
    let written = File::create(out).and_then(|file| {
        let mut file = BufWriter::new(file);
        file.write_all(&packed)?;
        file.flush()
    });
    match written {
        Ok(()) => Ok(summary),
        Err(source) => Err(CaptureError::Io { what: "write", path: out.to_owned(), source }),
    }
}

/// Every path to capture, once. Directories that match a pattern are skipped, unless only presence matters.
fn wanted(tree: &Tree) -> Vec<(String, Keep)> {
    let mut paths = BTreeSet::new();
    let mut wanted = Vec::new();
    for pattern in FILES {
        for path in expand(tree, pattern.path) {
            let file = matches!(pattern.keep, Keep::Presence) || tree.path(&path).is_file();
            if file && paths.insert(path.clone()) {
                wanted.push((path, pattern.keep));
            }
        }
    }
    for path in uncore::files(tree) {
        if tree.path(&path).is_file() && paths.insert(path.clone()) {
            wanted.push((path, Keep::All));
        }
    }
    // The description names the directories of this process's control groups.
    for level in describe(tree, &Overrides::default()).cgroup.levels {
        for name in GROUP_FILES {
            let path = format!("{}/{name}", level.directory.trim_start_matches('/'));
            if tree.path(&path).is_file() && paths.insert(path.clone()) {
                wanted.push((path, Keep::All));
            }
        }
    }
    wanted
}
