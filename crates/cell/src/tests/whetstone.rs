//! Double-Precision Whetstone: H. J. Curnow and B. A. Wichmann's synthetic program (Computer Journal 19/1, 1976) in the eight
//! sections that R. Longbottom's version, and so UnixBench, times one by one.

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, Slot, step};
use crate::test::{Class, Job, Test};
use crate::{Outcome, opaque, sys, timer};

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
    groups: &["oldsystem", "whets"],
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

type Function = unsafe extern "C" fn(f64) -> f64;

/// What the mathematical library gives.
struct Functions {
    sincos: unsafe extern "C" fn(f64, *mut f64, *mut f64),
    cos: Function,
    atan: Function,
    exp: Function,
    log: Function,
}

impl Functions {
    fn load() -> Result<Functions, Cause> {
        let failed = Cause { step: step::LIBRARY, errno: libc::ENOENT, detail: 0 };
        // SAFETY: a library that has no constructors of its own.
        let library = unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err(failed);
        }
        let find = |name: &CStr| {
            // SAFETY: a library that was loaded.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            if found.is_null() { Err(failed) } else { Ok(found) }
        };
        // SAFETY: functions of these names have this type (C17 7.12; sincos: a GNU extension).
        unsafe {
            let function =
                |name| find(name).map(|found| core::mem::transmute::<*mut c_void, Function>(found));
            Ok(Functions {
                sincos: core::mem::transmute::<*mut c_void, _>(find(c"sincos")?),
                cos: function(c"cos")?,
                atan: function(c"atan")?,
                exp: function(c"exp")?,
                log: function(c"log")?,
            })
        }
    }

    fn cos(&self, x: f64) -> f64 {
        // SAFETY: takes any number.
        unsafe { (self.cos)(x) }
    }

    fn atan(&self, x: f64) -> f64 {
        // SAFETY: likewise.
        unsafe { (self.atan)(x) }
    }

    fn exp(&self, x: f64) -> f64 {
        // SAFETY: likewise.
        unsafe { (self.exp)(x) }
    }

    fn log(&self, x: f64) -> f64 {
        // SAFETY: likewise.
        unsafe { (self.log)(x) }
    }

    /// The product of sine and cosine.
    fn sin_times_cos(&self, x: f64) -> f64 {
        let (mut sin, mut cos) = (0.0, 0.0);
        // SAFETY: two places.
        unsafe { (self.sincos)(x, &mut sin, &mut cos) };
        sin * cos
    }
}

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
    job.slot.started.store(sys::now(), Ordering::Relaxed);
    let times = all(passes, &functions);
    report(job.slot, passes, &times);
    right(&times.results, passes, &functions)
}

/// Writes what was reached: Whetstone instructions a second, and the parts of it.
fn report(slot: &Slot, passes: u64, times: &Times) {
    let seconds = times.counted() * 1e-9;
    timer::done(slot, (passes as f64 * INSTRUCTIONS / seconds) as u64);
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

/// One turn over four elements. The order of the additions is one that a C compiler chooses where it may (-ffast-math).
#[inline(always)]
fn turn([a, b, c, d]: [f64; 4], factor: f64, last: f64) -> [f64; 4] {
    let a = ((a - d) + (b + c)) * factor;
    let b = ((a - c) + (b + d)) * factor;
    let c = ((a - b) + (c + d)) * factor;
    let d = ((b + c) + (d - a)) * last;
    [a, b, c, d]
}

/// The last of four elements.
fn last([.., last]: [f64; 4]) -> f64 {
    last
}

/// Section 1: elements of an array.
#[inline(never)]
fn elements(passes: u64, elements: &Cell<[f64; 4]>) -> [f64; 4] {
    let (mut e, mut t) = (elements.get(), T);
    for _ in 0..passes {
        for _ in 0..12 * HUNDRED * SECTION_1_MORE {
            e = turn(e, t, t);
        }
        t = 1.0 - t;
    }
    elements.set(e);
    e
}

/// Section 2: an array as parameter. The procedure is inlined, as C compilers do.
#[inline(never)]
fn parameter(passes: u64, elements: &Cell<[f64; 4]>) -> [f64; 4] {
    let (mut e, mut t) = (elements.get(), T);
    for _ in 0..passes {
        for _ in 0..14 * HUNDRED {
            for _ in 0..6 {
                e = turn(e, t, 1.0 / T2);
            }
        }
        t = 1.0 - t;
    }
    elements.set(e);
    e
}

/// Section 3: conditional jumps.
#[inline(never)]
fn jumps(passes: u64) -> f64 {
    let mut j = 1;
    for _ in 0..passes {
        for _ in 0..345 * HUNDRED {
            j = if opaque::int(j) == 1 { 2 } else { 3 };
            j = if j > 2 { 0 } else { 1 };
            j = if j < 1 { 1 } else { 0 };
        }
    }
    f64::from(j)
}

/// Section 4: integers. The three never change, and compilers find out: in UnixBench's program as here it takes no time.
#[inline(never)]
fn integers(passes: u64) -> f64 {
    let (mut j, mut k, mut l): (i64, i64, i64) = (1, 2, 3);
    let mut e = [0.0; 2];
    for _ in 0..passes {
        for _ in 0..210 * HUNDRED {
            j = j.wrapping_mul(k.wrapping_sub(j)).wrapping_mul(l.wrapping_sub(k));
            k = l.wrapping_mul(k).wrapping_sub(l.wrapping_sub(j).wrapping_mul(k));
            l = l.wrapping_sub(k).wrapping_mul(k.wrapping_add(j));
            if let Some(element) = e.get_mut(l.wrapping_sub(2) as usize) {
                *element = j.wrapping_add(k).wrapping_add(l) as f64;
            }
            if let Some(element) = e.get_mut(k.wrapping_sub(2) as usize) {
                *element = j.wrapping_mul(k).wrapping_mul(l) as f64;
            }
        }
    }
    e.iter().sum()
}

/// Section 5: trigonometric functions.
#[inline(never)]
fn trigonometry(passes: u64, functions: &Functions) -> f64 {
    let (mut x, mut y, mut t) = (0.5, 0.5, T);
    for _ in 0..passes {
        for _ in 1..32 * HUNDRED {
            let (of_x, of_y) = (functions.sin_times_cos(x), functions.sin_times_cos(y));
            x = t * functions.atan(T2 * of_x / (functions.cos(x + y) + functions.cos(x - y) - 1.0));
            y = t * functions.atan(T2 * of_y / (functions.cos(x + y) + functions.cos(x - y) - 1.0));
        }
        t = 1.0 - t;
    }
    y
}

/// Section 6: procedure calls, which are inlined.
#[inline(never)]
fn procedures(passes: u64) -> f64 {
    let (mut y, mut z) = (1.0, 1.0);
    for _ in 0..passes {
        for _ in 0..899 * HUNDRED {
            let x = T * (y + z);
            y = T1 * (x + z);
            z = (x + y) * (1.0 / T2);
        }
    }
    z
}

/// Section 7: assignments of elements.
#[inline(never)]
fn references(passes: u64) -> f64 {
    let mut e: [f64; 3] = [1.0, 2.0, 3.0];
    for _ in 0..passes {
        for _ in 0..616 * HUNDRED {
            // The first becomes the second, the second the third, the third the first: two change places. GCC does it by way
            // of an integer register, and others would leave it out, as it is undone in the next turn.
            let [_, b, c] = e;
            let a = opaque::float(b);
            e = [a, c, a];
        }
    }
    let [.., last] = e;
    last
}

/// Section 8: standard functions.
#[inline(never)]
fn standard(passes: u64, functions: &Functions) -> f64 {
    let mut x: f64 = 0.75;
    for _ in 0..passes {
        for _ in 0..93 * HUNDRED {
            x = functions.exp(functions.log(x) * (0.5 / T1));
        }
    }
    x
}

/// What the sections give after one pass: known answers, which UnixBench prints (of its first calibration) and does not
/// look at.
const KNOWN: [f64; SECTIONS] = [
    -1.123_982_556_673_919,
    -1.121_870_798_892_844,
    1.0,
    12.0,
    0.499_029_372_815_183,
    0.999_999_878_908_028,
    3.0,
    0.751_001_630_184_442,
];
/// … and sections 1, 2 and 5 after an even number of passes, when the last factor was the other one.
const EVEN: [f64; SECTIONS] =
    [-1.133_333_3, -1.133_333_3, 1.0, 12.0, 0.5, 0.999_999_878_908_028, 3.0, 0.751_001_630_184_442];
/// How far a result of one pass may be from the known one: libraries and orders of operations differ in the last digits.
const ONE_PASS: f64 = 1e-11;
/// How far one of many passes may be: sections 1, 2 and 5 drift by some 4e-9 in a pass.
const MANY_PASSES: f64 = 0.01;
/// By how much section 6's number falls in a pass, as a share of it.
const FALL_6: f64 = 9.98e-9;

/// Sees that every section computed what it had to; the cause's detail is the number of the section.
fn right(results: &[f64; SECTIONS], passes: u64, functions: &Functions) -> Outcome {
    let is_one = passes == 1;
    let known = if passes.is_multiple_of(2) { &EVEN } else { &KNOWN };
    // Sections 6 and 8 go on from pass to pass, by laws that are known.
    let more = (passes.max(1) - 1) as f64;
    let turns = (93 * HUNDRED) as f64;
    let standard = functions.log(0.75) * functions.exp((more + 1.0) * turns * functions.log(0.5 / T1));
    for (section, (result, known)) in (1u64..).zip(results.iter().zip(known)) {
        let (known, far) = match section {
            _ if is_one => (*known, ONE_PASS),
            6 => (*known * functions.exp(-FALL_6 * more), MANY_PASSES),
            8 => (functions.exp(standard), 1e-6),
            _ => (*known, MANY_PASSES),
        };
        // Not a number is not near.
        if !((*result - known).abs() <= far) {
            return Err(Cause::wrong(step::VALUES, section));
        }
    }
    Ok(())
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::harness::in_a_child;

    #[test]
    fn the_sections_give_what_is_known_of_them() {
        let functions = Functions::load().unwrap();
        let one = all(1, &functions).results;
        for (section, (result, known)) in one.iter().zip(KNOWN).enumerate() {
            assert!((result - known).abs() < 1e-11, "section {}: {result} {known}", section + 1);
        }
        // Computed by another program, in another order of operations.
        let twenty_one = [
            (-1.123_982_516_790_67, 0),
            (-1.121_870_748_713_937, 1),
            (0.499_029_368_431_155, 4),
            (0.999_999_679_283_079, 5),
            (0.770_344_125_846_866, 7),
        ];
        let results = all(21, &functions).results;
        for (known, index) in twenty_one {
            assert!((results[index] - known).abs() < 1e-10, "section {}: {}", index + 1, results[index]);
        }
        assert_eq!((results[2], results[3], results[6]), (1.0, 12.0, 3.0));
    }

    #[test]
    fn a_wrong_result_is_caught_whatever_the_passes() {
        let functions = Functions::load().unwrap();
        for passes in [1, 2, 15] {
            let results = all(passes, &functions).results;
            assert_eq!(right(&results, passes, &functions), Ok(()), "{passes} passes");
            for section in 0..SECTIONS {
                let mut results = results;
                results[section] *= 1.05;
                let caught = Err(Cause::wrong(step::VALUES, section as u64 + 1));
                assert_eq!(right(&results, passes, &functions), caught, "{passes} passes");
                results[section] = f64::NAN;
                assert_eq!(right(&results, passes, &functions), caught, "{passes} passes");
            }
        }
    }

    #[test]
    fn what_is_reported_is_the_sum_of_the_sections() {
        let (code, slot) = in_a_child(&TEST, 100, || {});
        assert_eq!((code, slot.failed.load(Ordering::Relaxed)), (0, 0));
        let note = |index: usize| slot.notes[index].load(Ordering::Relaxed);
        let (passes, times) = (note(NOTE_PASSES), (0..SECTIONS).map(note).sum::<u64>());
        let mwips = slot.count.load(Ordering::Relaxed) as f64 / TEST.scale;
        let expected = passes as f64 * 100.0 / (10.0 * times as f64 * 1e-9);
        assert!(passes > 0 && (mwips / expected - 1.0).abs() < 1e-3, "{mwips} {expected}");
        let window = slot.ended.load(Ordering::Relaxed) - slot.started.load(Ordering::Relaxed);
        let elapsed = times + (SECTION_1_MORE - 1) * note(NOTE_SECTION);
        assert!(elapsed <= window, "the sections are within the window: {elapsed} {window}");
    }
}
