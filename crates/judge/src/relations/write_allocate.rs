//! Is the gain from non-temporal stores within the bounds of write-allocate?
//!
//! A gain between none (the processor avoids the write-allocate, or its non-temporal stores are slow) and what the
//! saved reads allow is a property of the machine: the explanation covers it. Outside these bounds, one of the two
//! figures is disturbed.

use super::partner;
use super::traffic::StorePair;
use crate::prelude::*;

/// Measurement and mix blur the bounds by this much: a mix of reads and writes is worth up to 10 % (study 1: 2:1
/// against 1:1 is 203 against 188 GB/s).
const TOLERANCE: f64 = 0.10;
/// Whole lines cost at worst three transfers, like a regular store (Xeon 7500), and come out a quarter too low.
/// Only lines written in parts, eight 8-byte writes for one of 64, halve a bandwidth.
const WORST_GAIN: f64 = 0.5;
/// Below this gain non-temporal stores bring nothing.
pub(crate) const NO_GAIN: f64 = 1.05;

/// Regular against non-temporal stores.
pub const CHECK: Check =
    Check::new(page!("write-allocate"), |subject| StorePair::of(subject).is_some(), rule);

fn rule(subject: &Subject) -> Answer {
    let Some(pair) = StorePair::of(subject) else { return Answer::unknown("not measured with both stores") };
    let Some(bytes) = pair.traffic_ratio() else { return Answer::unknown("traffic not declared") };
    let gain = observed!(partner::paired(pair.nt, pair.regular));
    // What the saved reads allow when reads under way are the limit; no bound where none is left.
    let most = pair.read_ratio().map(|reads| reads.max(bytes));
    let is_beyond = most.is_some_and(|most| gain.low > most * (1.0 + TOLERANCE));
    let is_outside = gain.high < WORST_GAIN || is_beyond;
    let (nt, gain) = (pair.nt.into(), RatioTo::new(&gain, pair.regular));
    let case = Arrays::StoreGain { nt, gain, predicted: Times(bytes), most: most.map(Times) };
    Answer::warn_if(is_outside, case)
}
