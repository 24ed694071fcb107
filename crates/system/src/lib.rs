//! The system suite: UnixBench's twelve tests, comparable and corrected, and the measurements that explain
//! them. Each [`Mode`](mode::Mode) has its own plan and worker.

mod axes;
pub mod catalogue;
pub mod cores;
pub mod cross;
pub mod histogram;
pub mod index;
pub mod mode;
pub mod noise;
pub mod ratio;
pub mod scaling;
pub mod score;
pub mod surroundings;
pub mod switch;

use lab::mode::AnyMode;
use lab::worker::Body;
use mode::{Options, PlanError};

pub const SUITE: &str = "system";

/// The modes, in the order in which they run and are reported.
pub static MODES: &[&dyn AnyMode<Options, PlanError>] =
    &[&index::MODE, &switch::MODE, &cores::MODE, &noise::MODE, &scaling::MODE, &cross::MODE];

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body())
}
