//! The engines.

use crate::engine::Kind;
use crate::{kubernetes, local, slurm, ssh};

/// The engines. A new one is a file and a line here.
pub const ENGINES: &[Kind] = &[slurm::KIND, ssh::KIND, local::KIND, kubernetes::KIND];

/// An engine by its word.
pub fn engine(name: &str) -> Option<&'static Kind> {
    ENGINES.iter().find(|kind| kind.name == name)
}
