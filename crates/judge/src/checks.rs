//! One file for each check on one figure, and the list of them.

mod steal;

use crate::check::Check;

/// The checks, in causal order: what causes stands before what it causes.
pub const ALL: &[&Check] = &[&steal::CHECK];
