//! The memory suite. Each way of measuring is a [`Mode`](mode::Mode) with a plan and a worker of its own.
//!
//! What modes share:
//! - [`kernels`] declares what each kernel reads, writes and moves; [`simd`] holds their machine code.
//! - [`region`] maps memory on the pages and the node asked for; [`pages`] tells what was obtained; [`sizes`] decides how
//!   large.
//! - [`chase`] makes and follows chains of pointers, [`track`] knows where a walk must end.
//! - [`mix`] names mixes of reads and writes; [`blocks`] is the memory that their walks go over.
//! - [`rungs`] chooses the sizes of ladders; [`edges`] finds in them where caches end.
//! - [`conditions`] are those of every figure; [`limits`] and [`deadlines`] are what rates and workers are compared with.
//! - [`dose`] decides how much work a round is; [`obtained`] writes what a worker got as evidence.

pub mod alignment;
pub mod bandwidth;
pub mod blocks;
pub mod c2c;
pub mod chase;
pub mod conditions;
pub mod counters;
pub mod cross;
pub mod deadlines;
pub mod dose;
pub mod edges;
pub mod inspect;
pub mod kernels;
pub mod ladder;
pub mod latency;
pub mod limits;
pub mod loaded;
pub mod mix;
pub mod mode;
pub mod numa;
pub mod obtained;
pub mod pages;
pub mod region;
pub mod rungs;
pub mod scaling;
pub mod simd;
pub mod sizes;
pub mod track;

use mode::Mode;

/// The suite's name.
pub const SUITE: &str = "memory";

/// The modes, in the order in which they run and are shown.
pub static MODES: &[&Mode] = &[
    &bandwidth::MODE,
    &mix::MODE,
    &scaling::MODE,
    &ladder::MODE,
    &latency::MODE,
    &loaded::MODE,
    &alignment::MODE,
    &c2c::MODE,
    &numa::MODE,
    &counters::MODE,
    &cross::MODE,
];

/// The mode of this name.
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name)
}
