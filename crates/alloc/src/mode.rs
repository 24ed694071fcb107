//! What the modes of this suite have in common: options, and what can be wrong with them.

use cell::load::touch::Access;
pub use lab::mode::Planned;
use lab::placement::{PlacementError, Places};
use lab::schedule::Rules;

use crate::find::Chosen;
use crate::profile::Profile;

/// One way of measuring allocators. A new one is a file, and a line in [`MODES`](crate::MODES).
pub type Mode = lab::mode::Mode<Options, PlanError>;

/// What the user asked for. A mode takes what concerns it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The allocators that are compared.
    pub allocators: Chosen,
    /// The load, as large as its authors made it or as it was asked for.
    pub profile: Profile,
    /// Whether its size is the user's own: it is not scaled then.
    pub is_sized: bool,
    /// What is done with a block.
    pub access: Access,
    /// Numbers of threads, each a set of figures; empty for one and as many as there are CPUs.
    pub threads: Vec<u32>,
    /// Where threads run; without, each on a core of its own as long as there are cores.
    pub places: Option<Places>,
    /// As upstream does it: threads in lock-step, slots from the allocator.
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

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No placement meets it.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// What a mode has to say about its own options: what, where, what to do.
    #[error("{0}")]
    Wrong(String),
}
