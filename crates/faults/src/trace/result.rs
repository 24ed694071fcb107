//! What a trace gives.

use std::collections::BTreeSet;

use lab::failure::Failure;

use super::collect::Collector;
use super::totals::Totals;

pub struct Traced {
    pub collector: Collector,
    pub totals: Totals,
    /// Names of programs that could not be traced, as they have rights that this process lacks; untrusted.
    pub unseen: BTreeSet<String>,
    /// Why calls for memory were not counted, if so.
    pub calls: Result<(), Failure>,
}
