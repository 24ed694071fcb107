//! The system suite: UnixBench's twelve tests, comparable and corrected, and the measurements that explain
//! them. Each [`Mode`](mode::Mode) has its own plan and worker.

mod axes;
pub mod catalogue;
pub mod cores;
pub mod cross;
pub mod histogram;
pub mod index;
pub mod mode;
mod modes;
pub mod noise;
pub mod ratio;
pub mod scaling;
pub mod score;
pub mod surroundings;
pub mod switch;

pub use modes::{MODES, worker};

pub const SUITE: &str = "system";
