//! What the tests share.

use tempfile::TempDir;

/// A directory for a tree, in memory where that can be: the largest trees have 30 000 files.
pub fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
