//! The modes of the suite.

use figure::series::SeriesText;
use lab::worker::Body;

use crate::{observe, prices, prove, walk};

/// What the series of all modes are called.
pub fn series() -> impl Iterator<Item = &'static SeriesText> {
    [prices::MODE.series, prove::MODE.series, walk::MODE.series].into_iter().flatten()
}

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    match name {
        observe::NAME => Some(&observe::PREPARE),
        "prices" => Some(&prices::MODE.prepare),
        "walk" => Some(&walk::MODE.prepare),
        "prove" => Some(&prove::MODE.prepare),
        _ => None,
    }
}
