//! What a trace gives.

use std::collections::BTreeSet;

use super::collect::Collector;
use super::totals::Totals;

/// What a trace gave.
pub struct Traced {
    /// The collected events.
    pub collector: Collector,
    /// What is known only at the end.
    pub totals: Totals,
    /// Names of programs that could not be traced, as they have rights that this process lacks; untrusted.
    pub unseen: BTreeSet<String>,
    /// Why it ended early.
    pub trouble: Option<String>,
    /// Why calls for memory were not counted, if so.
    pub calls: Result<(), String>,
    /// Why faults did not report the page that they met, if so.
    pub codes: Result<(), String>,
}
