//! Controlled conditions: where threads run, on which clock, with what seen around them, in which order,
//! how often, and in which process.
//!
//! - [`placement`] decides which CPUs a thread may use; [`affinity`] sets that and reads it back; [`pairs`] classes
//!   pairs of CPUs by what they share.
//! - [`pool`] keeps pinned threads and starts them at a barrier; [`measure`](mod@measure) runs one round on
//!   them and writes the evidence: the [`canary`] before and after, every thread's own counters, the
//!   machine's. The [`pmu`] tells what a thread's cycles were spent on, where there is one.
//! - [`schedule`] interleaves rounds over figures and decides when there are enough. Pure.
//! - [`program`] runs a program that is not ours under the same conditions; [`copies`] runs `truebench-workload`, several at the
//!   same time; [`ours`] finds it.
//! - [`start`] is one start of a program of the user's, from the cell, and what the kernel says that it used; [`tree`] looks at it while it
//!   runs; [`preload`] proves that a library serves it, [`image`] tells what its file says.
//! - [`mode`] is what every suite's modes are: a plan, a worker, what follows from the figures.
//! - [`mount`] is the file system on which a directory lies; [`proc`](mod@proc) reads files of /proc in which names
//!   stand, [`maps`] what a process has mapped.
//! - [`others`] notes which other processes used CPU time while rounds ran.
//! - [`session`] drives a [`worker`] process through the schedule; a [`guardian`] stands between the two, so
//!   that nothing outlives the run. A [`warden`] does the rest where truebench itself is killed: by the run's [`mark`] on its processes, and
//!   by the names of its [`scratch`]. [`child`] starts children that end with their parent.
//! - [`trust`] decides which files are run, preloaded or taken up: those that other users cannot change.
//! - [`traffic`] reads what the memory controllers count, and tells which of their channels really are different.

pub mod affinity;
pub mod barrier;
pub mod canary;
pub mod child;
pub mod clock;
pub mod copies;
pub mod ended;
pub mod events;
pub mod guardian;
pub mod image;
pub mod interrupt;
pub mod maps;
pub mod mark;
pub mod measure;
pub mod mode;
pub mod mount;
pub mod others;
pub mod ours;
pub mod pairs;
pub mod placement;
pub mod pmu;
pub mod pool;
pub mod preload;
pub mod proc;
pub mod program;
pub mod schedule;
pub mod scratch;
pub mod session;
pub mod start;
pub mod thread_counters;
pub mod traffic;
pub mod tree;
pub mod trust;
pub mod warden;
pub mod worker;

/// RFC 3339 in UTC with milliseconds, now.
pub fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
