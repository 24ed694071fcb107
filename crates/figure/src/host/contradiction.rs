//! Sources of a machine that contradict one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two sources describe the same part of a machine, and differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contradiction {
    /// The part: `packages`, `L3 caches`, `NUMA nodes`.
    pub about: String,
    /// What each source shows.
    pub sources: String,
    /// The source that is believed.
    pub believed: String,
}
