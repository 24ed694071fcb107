//! The modes of the suite.

use lab::worker::Body;

use crate::mode::AnyMode;
use crate::{alignment, bandwidth, c2c, counters, cross, ladder, latency, loaded, mix, numa, scaling};

/// The modes, in the order in which they run and are shown.
pub static MODES: &[&AnyMode] = &[
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

/// The worker of the mode of this name.
pub fn worker(name: &str) -> Option<&'static dyn Body> {
    MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body())
}
