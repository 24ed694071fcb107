//! Checks that compare a figure with other figures of its record.

use crate::check::Check;

/// The relations, in causal order.
pub const ALL: &[&Check] = &[];
