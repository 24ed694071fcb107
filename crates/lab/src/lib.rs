//! Controlled conditions: CPUs, clock, evidence, order and number of rounds, and processes of a measurement.
//!
//! - [`placement`] assigns CPUs to threads; [`affinity`] sets and reads affinity masks; [`pairs`] classifies
//!   pairs of CPUs by what they share.
//! - [`pool`] holds pinned threads and starts them at a [`barrier`]; [`measure`](mod@measure) runs one round
//!   on them and writes the evidence: the [`canary`] before and after, the [`thread_counters`] with those of
//!   the [`pmu`], and the counters of the machine. [`clock`] times the round.
//! - [`schedule`] interleaves rounds over figures and decides when there are enough. Pure.
//! - [`program`] runs another program under the same conditions; [`copies`] runs several `truebench-workload`;
//!   [`install`] finds it.
//! - [`start`] is one start of a user's program with the resources that it used; [`process_tree`] reads its processes
//!   while it runs; [`preload`] proves that a library serves it; [`image`] reads its file; [`exit_status`]
//!   describes its exit.
//! - [`trial`] runs a user's program under variants, interleaved, each with a proof that it took effect.
//! - [`mode`] describes a mode of a suite: plan, worker, derived figures.
//! - [`mount`] is the file system of a directory; [`proc`](mod@proc) reads files of /proc that contain names;
//!   [`maps`] reads the mappings of a process.
//! - [`others`] records which other processes used CPU time during rounds.
//! - [`session`] drives a [`worker`] process through the schedule and sends [`events`]. A [`guardian`] in
//!   between kills all descendants of the worker. A [`warden`] cleans up if truebench itself is killed:
//!   processes by the run's id ([`run_id`]), files by the names of its [`scratch`]. [`child`] starts children
//!   that end with their parent.
//! - [`trust`] decides which files are run, preloaded or read back: those that other users cannot change.
//! - [`traffic`] reads the counters of the memory controllers and finds their real channels.

pub mod affinity;
pub mod barrier;
pub mod canary;
pub mod child;
pub mod clock;
pub mod copies;
pub mod events;
pub mod exit_status;
pub mod failure;
pub mod guardian;
pub mod image;
pub mod install;
pub mod interrupt;
pub mod maps;
pub mod measure;
pub mod mode;
pub mod mount;
pub mod others;
pub mod pairs;
pub mod placement;
pub mod pmu;
pub mod pool;
pub mod preload;
pub mod proc;
pub mod process_tree;
pub mod program;
pub mod run_id;
pub mod schedule;
pub mod scratch;
pub mod session;
pub mod start;
pub mod thread_counters;
pub mod traffic;
pub mod trial;
pub mod trust;
pub mod warden;
pub mod worker;

/// The current time in RFC 3339, UTC, with milliseconds.
pub fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
