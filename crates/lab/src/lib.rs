//! Controlled conditions: CPUs, clock, evidence, order and number of rounds, and processes of a measurement.
//!
//! A [`session`] drives a [`worker`] process through the [`schedule`]. A [`guardian`] in between kills all
//! descendants of the worker. A [`warden`] cleans up if truebench itself is killed. In the worker,
//! [`measure`](mod@measure) runs a round on the pinned threads of a [`pool`] and writes the evidence;
//! [`program`], [`copies`] and [`start`] run other programs under the same conditions.

pub mod barrier;
pub mod canary;
pub mod child;
pub mod clock;
pub mod copies;
pub mod core_kind;
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
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod thread_counters;
pub mod timed;
pub mod traffic;
pub mod trial;
pub mod trust;
pub mod warden;
pub mod worker;

pub use machine::affinity;

/// The current time in RFC 3339, UTC, with milliseconds.
pub fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
