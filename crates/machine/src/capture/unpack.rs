//! Unpacks an untrusted archive.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;

use super::{CaptureError, MAX_BYTES, MAX_FILES};
use crate::tree::MAX_FILE;

/// The largest window of the decompressor. `capture` uses 128 KiB, zstd's highest ordinary level 8 MiB.
const MAX_WINDOW: u64 = 8 << 20;

/// Unpacks `archive` into the new or empty directory `into`, and returns the number of files. `into` is then
/// the root of a [`Tree`](crate::Tree).
///
/// Only regular files with plain relative names are accepted, so nothing is written outside of `into`. The
/// number of entries, their sizes and the total size are limited.
///
/// An error is the first invalid entry. Files that were unpacked before it stay in `into`.
pub fn unpack(archive: &Path, into: &Path) -> Result<usize, CaptureError> {
    let io = |what, path: &Path| {
        let path = path.to_owned();
        move |source| CaptureError::Io { what, path, source }
    };
    let foreign = |reason: String| CaptureError::Foreign { path: archive.to_owned(), reason };

    fs::create_dir_all(into).map_err(io("create", into))?;
    if fs::read_dir(into).map_err(io("read", into))?.next().is_some() {
        let source = io::Error::new(io::ErrorKind::DirectoryNotEmpty, "the directory is not empty");
        return Err(CaptureError::Io { what: "unpack into", path: into.to_owned(), source });
    }
    let file = File::open(archive).map_err(io("read", archive))?;
    let decoder = StreamingDecoder::new_with_max_window_size(BufReader::new(file), MAX_WINDOW)
        .map_err(|error| foreign(error.to_string()))?;
    // Reading beyond the limit is an error, so that a truncated archive does not count as complete.
    let mut tar = tar::Archive::new(Limited { inner: decoder, left: MAX_BYTES });
    let (mut files, mut directories) = (0, 0);
    for entry in tar.entries().map_err(|error| foreign(error.to_string()))? {
        let mut entry = entry.map_err(|error| foreign(error.to_string()))?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let short_name: String = name.chars().take(100).collect();
        if !entry.header().entry_type().is_file() {
            return Err(foreign(format!("'{short_name}' is no regular file")));
        }
        let Some(path) = plain(&name) else {
            return Err(foreign(format!("'{short_name}' is no plain relative path")));
        };
        files += 1;
        directories += missing(into, &path);
        if files + directories > MAX_FILES || entry.size() > MAX_FILE {
            return Err(CaptureError::TooLarge);
        }
        let path = into.join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(io("create", directory))?;
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).open(&path).map_err(io("create", &path))?;
        io::copy(&mut entry, &mut file).map_err(|error| foreign(error.to_string()))?;
    }
    if files == 0 {
        return Err(foreign("it is empty".to_owned()));
    }
    Ok(files)
}

/// Bytes of a path at most: PATH_MAX.
const MAX_PATH: usize = 4096;
/// Parts of a path at most. Captured paths of caches have 8 parts, those of cgroups some more. Each part but
/// the last may be a new directory, which takes as much room as a file.
const MAX_DEPTH: usize = 20;

/// A relative path without `..`, or `None`.
fn plain(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let normal = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_short = name.len() < MAX_PATH && path.components().count() <= MAX_DEPTH;
    (normal && is_short && !name.is_empty() && !name.ends_with('/')).then(|| path.to_owned())
}

/// The number of directories of a file's path that do not exist yet.
fn missing(into: &Path, path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|parent| !into.join(parent).exists()).count()
}

/// A reader that fails after `left` bytes.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(CaptureError::TooLarge));
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn paths_are_relative_and_not_deep() {
        let deep = |parts: usize| vec!["a"; parts].join("/");
        assert!(plain("proc/cpuinfo").is_some() && plain(&deep(MAX_DEPTH)).is_some());
        for not in ["", "/", "/a", "a/", "../a", "a/../b", "./a", &deep(MAX_DEPTH + 1)] {
            assert_eq!(plain(not), None, "{not}");
        }
    }

    #[test]
    fn directories_that_are_new_are_counted() {
        let into = tempfile::tempdir().unwrap();
        let missing = |path: &str| missing(into.path(), Path::new(path));
        assert_eq!((missing("a"), missing("a/b/c")), (0, 2));
        fs::create_dir(into.path().join("a")).unwrap();
        assert_eq!((missing("a/b"), missing("a/b/c")), (0, 1));
    }
}
