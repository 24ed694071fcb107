//! What several tests share.

use std::sync::RwLock;

/// A fork write-protects the pages of the whole process. A test that counts its own faults holds this for
/// reading, one that forks for writing.
pub static FORKING: RwLock<()> = RwLock::new(());
