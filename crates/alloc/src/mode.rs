//! Options and errors that the modes of this suite share.

use lab::failure::Failure;
pub use lab::mode::Planned;
use lab::placement::{PlacementError, Places};
use lab::schedule::Rules;
use workload::alloc_load::Access;

use crate::find::Selection;
use crate::profile::Profile;

/// A mode of the suite. A new one is a file, and a line in [`MODES`](crate::MODES).
pub type Mode<S> = lab::mode::Mode<Options, PlanError, S>;

#[derive(Clone, Debug)]
pub struct Options {
    pub allocators: Selection,
    /// The load, in its original size or in the size that the user gave.
    pub profile: Profile,
    /// Whether the user gave the size, so that it is not scaled.
    pub is_sized: bool,
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
    pub rules: Rules,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Wrong options of a mode, with advice.
    #[error(transparent)]
    Wrong(#[from] Failure),
    #[error("the plan cannot be written for its worker: {0}")]
    Setup(#[from] serde_json::Error),
}
