//! Double-Precision Whetstone: H. J. Curnow and B. A. Wichmann's synthetic program (Computer Journal 19/1, 1976) in the eight
//! sections that R. Longbottom's version, and so UnixBench, times one by one.

mod check;
mod functions;
mod sections;

use core::cell::Cell;
use core::sync::atomic::Ordering;

use crate::shared::Slot;
use crate::test::{Class, Job, Needs, Test};
use crate::{Outcome, sys, timer};
use check::right;
use functions::Functions;
use sections::*;

/// The test.
pub const TEST: Test = Test {
    name: "whetstone-double",
    title: "Double-Precision Whetstone",
    unit: "MWIPS",
    baseline: 55.0,
    timebase: 0.0,
    scale: 1e6,
    seconds: 10.0,
    is_long: true,
    class: Class::Compute,
    counts: "a million Whetstone instructions",
    groups: &["arithmetic", "whets"],
    needs: Needs::Nothing,
    run,
};

/// Sections.
pub const SECTIONS: usize = 8;
/// Number of the first section's note: nanoseconds that count, of section 1 a tenth of what it took. The others follow.
pub const NOTE_SECTION: usize = 0;
/// Number of the note that holds the passes.
pub const NOTE_PASSES: usize = SECTIONS;

/// Whetstone instructions of a pass, in thousands: a hundred times the classic unit.
const HUNDRED: u64 = 100;
/// Whetstone instructions of a pass.
const INSTRUCTIONS: f64 = 100_000.0 * HUNDRED as f64;
/// How many times more often section 1 runs than it counts: it is short.
const SECTION_1_MORE: u64 = 10;
/// The calibration ends when it has run for this share of the time asked for. (UnixBench: 0.5 of 10 s, in steps of five.)
const CALIBRATION: u64 = 40;

/// The factors: one a little below a half, the other as much above.
const T: f64 = 0.499_999_75;
const T1: f64 = 0.500_000_25;
const T2: f64 = 2.0;

/// What all sections took and computed.
struct Times {
    nanoseconds: [u64; SECTIONS],
    results: [f64; SECTIONS],
}

impl Times {
    /// Nanoseconds that count.
    fn counted(&self) -> f64 {
        let [first, rest @ ..] = &self.nanoseconds;
        *first as f64 / SECTION_1_MORE as f64 + rest.iter().sum::<u64>() as f64
    }

    /// Nanoseconds that passed.
    fn elapsed(&self) -> u64 {
        self.nanoseconds.iter().fold(0, |sum, one| sum.wrapping_add(*one))
    }
}

unsafe fn run(job: &Job) -> Outcome {
    let functions = Functions::load()?;
    let asked = job.milliseconds.saturating_mul(1_000_000);
    let mut passes: u64 = 1;
    let calibrated = loop {
        let times = all(passes, &functions);
        right(&times.results, passes, &functions)?;
        if times.elapsed() > asked / CALIBRATION {
            break times;
        }
        passes = passes.saturating_mul(2);
    };
    let scale = asked as f64 / calibrated.elapsed().max(1) as f64;
    let passes = ((passes as f64 * scale) as u64).max(1);
    timer::ready(job);
    timer::begin(job.slot);
    let times = all(passes, &functions);
    report(job.slot, passes, &times);
    right(&times.results, passes, &functions)
}

/// Writes what was reached: Whetstone instructions a second, and the parts of it.
fn report(slot: &Slot, passes: u64, times: &Times) {
    let seconds = times.counted() * 1e-9;
    timer::COUNT.store((passes as f64 * INSTRUCTIONS / seconds) as u64, Ordering::Relaxed);
    timer::done(slot);
    for (index, nanoseconds) in times.nanoseconds.iter().enumerate() {
        let counts = if index == 0 { nanoseconds / SECTION_1_MORE } else { *nanoseconds };
        if let Some(note) = slot.note(NOTE_SECTION + index) {
            note.store(counts, Ordering::Relaxed);
        }
    }
    if let Some(note) = slot.note(NOTE_PASSES) {
        note.store(passes, Ordering::Relaxed);
    }
}

/// All sections, one after another.
fn all(passes: u64, functions: &Functions) -> Times {
    let mut times = Times { nanoseconds: [0; SECTIONS], results: [0.0; SECTIONS] };
    // Section 2 goes on with what section 1 leaves.
    let e = Cell::new([1.0, -1.0, -1.0, -1.0]);
    let sections: [&dyn Fn() -> f64; SECTIONS] = [
        &|| last(elements(passes, &e)),
        &|| last(parameter(passes, &e)),
        &|| jumps(passes),
        &|| integers(passes),
        &|| trigonometry(passes, functions),
        &|| procedures(passes),
        &|| references(passes),
        &|| standard(passes, functions),
    ];
    for ((section, nanoseconds), result) in
        sections.iter().zip(&mut times.nanoseconds).zip(&mut times.results)
    {
        let before = sys::now();
        *result = section();
        *nanoseconds = sys::now().wrapping_sub(before);
    }
    times
}
