//! The modes of the suite.

use lab::mode::AnyMode;
use lab::worker::Body;

use crate::mode::{Options, PlanError};
use crate::{cores, cross, index, noise, scaling, switch};

/// The modes, in the order in which they run and are reported.
pub static MODES: &[&dyn AnyMode<Options, PlanError>] =
    &[&index::MODE, &switch::MODE, &cores::MODE, &noise::MODE, &scaling::MODE, &cross::MODE];

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body())
}
