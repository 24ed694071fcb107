//! Options and errors that the modes of this suite share.

pub use lab::mode::Planned;
use lab::placement::{PlacementError, Places};
use lab::schedule::Rules;
use workload::alloc_load::Access;

use crate::find::Chosen;
use crate::profile::Profile;

/// A mode of the suite. A new one is a file, and a line in [`MODES`](crate::MODES).
pub type Mode<S> = lab::mode::Mode<Options, PlanError, S>;

/// The options of the user. A mode takes those that concern it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The allocators to compare.
    pub allocators: Chosen,
    /// The load, in its original size or in the size that the user gave.
    pub profile: Profile,
    /// Whether the user gave the size, so that it is not scaled.
    pub is_sized: bool,
    /// What is done with a block.
    pub access: Access,
    /// Numbers of threads, each a set of figures. Empty for one and the number of CPUs.
    pub threads: Vec<u32>,
    /// Where threads run. `None`: each on its own core, as long as there are cores.
    pub places: Option<Places>,
    /// Whether the load behaves as upstream's: threads draw the same numbers, and the allocator allocates the
    /// slots.
    pub is_compat: bool,
    /// Share of the blocks that another thread frees.
    pub remote: f64,
    /// Whether processes of one thread each are compared with threads.
    pub processes: bool,
    /// Whether threads on SMT siblings are compared with threads on cores of their own.
    pub siblings: bool,
    /// When there are enough rounds.
    pub rules: Rules,
}

/// Options that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No placement meets the request.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Wrong options of a mode, with advice.
    #[error("{0}")]
    Wrong(String),
    #[error("the plan cannot be written for its worker: {0}")]
    Setup(#[from] serde_json::Error),
}
