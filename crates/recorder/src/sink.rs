//! Where allocations are recorded: counters of all blocks ([`live_blocks`]), or events of large blocks
//! ([`large_blocks`]). The shared memory says which.

use shm::sys;

use crate::large_blocks::{self, LargeBlocks};
use crate::live_blocks::{self, LiveBlocks};

#[derive(Clone, Copy, Debug)]
pub enum Sink {
    All(LiveBlocks),
    Large(LargeBlocks),
}

/// A block that a realloc may end.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum Removed {
    All(live_blocks::Removed),
    Large(large_blocks::Removed),
}

impl Sink {
    /// The time before an allocation, if events are recorded; else 0.
    #[inline]
    pub fn start_time(&self) -> u64 {
        match self {
            Sink::All(_) => 0,
            Sink::Large(_) => sys::now(),
        }
    }

    /// Records an allocation of a size that [concerns](crate::attach::concerns) the sink.
    #[inline]
    pub fn allocated(&self, address: usize, size: usize, begun: u64, is_resized: bool) {
        match self {
            Sink::All(blocks) => blocks.allocated(address, size, is_resized),
            Sink::Large(blocks) => blocks.allocated(address, size, begun),
        }
    }

    /// Records a free. Called before the free: afterwards another thread may get the address.
    #[inline]
    pub fn freed(&self, address: usize) {
        match self {
            Sink::All(blocks) => blocks.freed(address),
            Sink::Large(blocks) => blocks.freed(address),
        }
    }

    /// Before a realloc: removes the block, and records nothing yet.
    #[inline]
    pub fn remove(&self, address: usize) -> Removed {
        match self {
            Sink::All(blocks) => Removed::All(blocks.remove(address)),
            Sink::Large(blocks) => Removed::Large(blocks.remove(address)),
        }
    }

    /// After a realloc: records the removed block as freed.
    #[inline]
    pub fn confirm(&self, removed: Removed) {
        match (self, removed) {
            (Sink::All(blocks), Removed::All(removed)) => blocks.confirm(removed),
            (Sink::Large(blocks), Removed::Large(removed)) => blocks.confirm(removed),
            _ => {}
        }
    }

    /// After a realloc that failed: inserts the block again.
    pub fn restore(&self, removed: Removed) {
        match (self, removed) {
            (Sink::All(blocks), Removed::All(removed)) => blocks.restore(removed),
            (Sink::Large(blocks), Removed::Large(removed)) => blocks.restore(removed),
            _ => {}
        }
    }
}
