//! The eight sections. Each takes a number of passes and gives a known result.

use core::cell::Cell;

use super::constants::{HUNDRED, SECTION_1_REPEATS, T, T1, T2};
use super::functions::Functions;
use crate::opaque;

/// Updates four elements. The order of the additions is one that C compilers choose with -ffast-math.
#[inline(always)]
fn update([a, b, c, d]: [f64; 4], factor: f64, last: f64) -> [f64; 4] {
    let a = ((a - d) + (b + c)) * factor;
    let b = ((a - c) + (b + d)) * factor;
    let c = ((a - b) + (c + d)) * factor;
    let d = ((b + c) + (d - a)) * last;
    [a, b, c, d]
}

pub fn last([.., last]: [f64; 4]) -> f64 {
    last
}

/// Section 1: elements of an array.
#[inline(never)]
pub fn elements(passes: u64, elements: &Cell<[f64; 4]>) -> [f64; 4] {
    let (mut e, mut t) = (elements.get(), T);
    for _ in 0..passes {
        for _ in 0..12 * HUNDRED * SECTION_1_REPEATS {
            e = update(e, t, t);
        }
        t = 1.0 - t;
    }
    elements.set(e);
    e
}

/// Section 2: an array as parameter. The procedure is inlined, as by C compilers.
#[inline(never)]
pub fn parameter(passes: u64, elements: &Cell<[f64; 4]>) -> [f64; 4] {
    let (mut e, mut t) = (elements.get(), T);
    for _ in 0..passes {
        for _ in 0..14 * HUNDRED {
            for _ in 0..6 {
                e = update(e, t, 1.0 / T2);
            }
        }
        t = 1.0 - t;
    }
    elements.set(e);
    e
}

/// Section 3: conditional jumps.
#[inline(never)]
pub fn jumps(passes: u64) -> f64 {
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

/// Section 4: integers. The three never change, and compilers notice: here and in UnixBench it takes no time.
#[inline(never)]
pub fn integers(passes: u64) -> f64 {
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
pub fn trigonometry(passes: u64, functions: &Functions) -> f64 {
    let (mut x, mut y, mut t) = (0.5, 0.5, T);
    for _ in 0..passes {
        for _ in 1..32 * HUNDRED {
            let (product_x, product_y) = (functions.sin_times_cos(x), functions.sin_times_cos(y));
            x = t * functions.atan(T2 * product_x / (functions.cos(x + y) + functions.cos(x - y) - 1.0));
            y = t * functions.atan(T2 * product_y / (functions.cos(x + y) + functions.cos(x - y) - 1.0));
        }
        t = 1.0 - t;
    }
    y
}

/// Section 6: procedure calls, which are inlined.
#[inline(never)]
pub fn procedures(passes: u64) -> f64 {
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
pub fn references(passes: u64) -> f64 {
    let mut e: [f64; 3] = [1.0, 2.0, 3.0];
    for _ in 0..passes {
        for _ in 0..616 * HUNDRED {
            // e1 = e2, e2 = e3, e3 = e1. GCC does it through an integer register. Other compilers would
            // remove it, as the next iteration undoes it.
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
pub fn standard(passes: u64, functions: &Functions) -> f64 {
    let mut x: f64 = 0.75;
    for _ in 0..passes {
        for _ in 0..93 * HUNDRED {
            x = functions.exp(functions.log(x) * (0.5 / T1));
        }
    }
    x
}
