//! Double-Precision Whetstone: H. J. Curnow and B. A. Wichmann's synthetic program (Computer Journal 19/1,
//! 1976) in the eight sections that R. Longbottom's version, and so UnixBench, times one by one.

mod check;
mod constants;
mod functions;
mod sections;

use core::cell::Cell;
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::shared::Slot;
use crate::unixbench::{Class, Test};
use crate::{Outcome, sys, timer};
use check::verify;
pub use constants::SECTIONS;
use constants::{HUNDRED, SECTION_1_REPEATS};
use functions::Functions;
use sections::*;

pub const TEST: Test = Test {
    name: "whetstone-double",
    title: "Double-Precision Whetstone",
    unit: "MWIPS",
    baseline: 55.0,
    timebase: 0.0,
    scale: 1e6,
    class: Class::Compute,
    counts: "a million Whetstone instructions",
    groups: &["arithmetic", "whets"],
    run,
    ..Test::LONG
};

/// Field of the first section; the others follow: counted nanoseconds. Of section 1 a tenth is counted.
pub const FIELD_SECTION: usize = 0;
pub const FIELD_PASSES: usize = SECTIONS;

/// Whetstone instructions of a pass.
const INSTRUCTIONS: f64 = 100_000.0 * HUNDRED as f64;
/// The calibration ends once a pass takes more than 1/40 of the requested time. (UnixBench: 0.5 s of 10 s, in
/// steps of five.)
const CALIBRATION: u64 = 40;

struct Sections {
    nanoseconds: [u64; SECTIONS],
    results: [f64; SECTIONS],
}

impl Sections {
    fn counted(&self) -> f64 {
        let [first, rest @ ..] = &self.nanoseconds;
        *first as f64 / SECTION_1_REPEATS as f64 + rest.iter().sum::<u64>() as f64
    }

    fn elapsed(&self) -> u64 {
        self.nanoseconds.iter().fold(0, |sum, one| sum.wrapping_add(*one))
    }
}

unsafe fn run(job: &Job) -> Outcome {
    let functions = Functions::load()?;
    let requested = job.milliseconds.saturating_mul(1_000_000);
    let mut passes: u64 = 1;
    let calibrated = loop {
        let sections = run_sections(passes, &functions);
        verify(&sections.results, passes, &functions)?;
        if sections.elapsed() > requested / CALIBRATION {
            break sections;
        }
        passes = passes.saturating_mul(2);
    };
    let scale = requested as f64 / calibrated.elapsed().max(1) as f64;
    let passes = ((passes as f64 * scale) as u64).max(1);
    timer::wait_for_start(job);
    timer::begin(job.slot);
    let sections = run_sections(passes, &functions);
    write_result(job.slot, passes, &sections);
    verify(&sections.results, passes, &functions)
}

/// Writes Whetstone instructions per second, and the time of each section.
fn write_result(slot: &Slot, passes: u64, sections: &Sections) {
    let seconds = sections.counted() * 1e-9;
    timer::COUNT.store((passes as f64 * INSTRUCTIONS / seconds) as u64, Ordering::Relaxed);
    timer::done(slot);
    for (index, nanoseconds) in sections.nanoseconds.iter().enumerate() {
        let counted = if index == 0 { nanoseconds / SECTION_1_REPEATS } else { *nanoseconds };
        slot.set(FIELD_SECTION + index, counted);
    }
    slot.set(FIELD_PASSES, passes);
}

fn run_sections(passes: u64, functions: &Functions) -> Sections {
    let mut sections = Sections { nanoseconds: [0; SECTIONS], results: [0.0; SECTIONS] };
    // Section 2 continues with the elements of section 1.
    let e = Cell::new([1.0, -1.0, -1.0, -1.0]);
    let bodies: [&dyn Fn() -> f64; SECTIONS] = [
        &|| last(elements(passes, &e)),
        &|| last(parameter(passes, &e)),
        &|| jumps(passes),
        &|| integers(passes),
        &|| trigonometry(passes, functions),
        &|| procedures(passes),
        &|| references(passes),
        &|| standard(passes, functions),
    ];
    for ((body, nanoseconds), result) in
        bodies.iter().zip(&mut sections.nanoseconds).zip(&mut sections.results)
    {
        let before = sys::now();
        *result = body();
        *nanoseconds = sys::now().wrapping_sub(before);
    }
    sections
}
