//! The modes of the suite.

use figure::series::SeriesText;
use lab::mode::AnyMode;
use lab::worker::Body;

use crate::mode::{Options, PlanError};
use crate::{load, trial};

pub static MODES: &[&dyn AnyMode<Options, PlanError>] = &[&load::MODE];

/// What the series of all modes are called.
pub fn series() -> impl Iterator<Item = &'static SeriesText> {
    [load::MODE.series, trial::MODE.series].into_iter().flatten()
}

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    let worker = MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body());
    worker.or((name == trial::MODE.name).then_some(trial::MODE.body()))
}
