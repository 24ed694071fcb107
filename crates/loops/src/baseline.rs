//! What a compiler and libc make of the same kernels: why one STREAM binary shows a Copy far above its Scale.

use crate::kernels::Operation;
use crate::simd::Loop;
use crate::words;

words! {
    #[derive(Hash)]
    pub enum Origin {
        /// libc's memcpy: what gcc and clang turn STREAM's Copy into without `-ffreestanding`.
        Libc = "libc",
        /// The compiler that built truebench, from a plain loop.
        Compiler = "compiler",
    }
}

pub const BASELINES: &[(Operation, Origin)] = &[
    (Operation::Copy, Origin::Libc),
    (Operation::Copy, Origin::Compiler),
    (Operation::Scale, Origin::Compiler),
    (Operation::Triad, Origin::Compiler),
];

pub fn kernel(operation: Operation, origin: Origin) -> Option<Loop> {
    match (operation, origin) {
        (Operation::Copy, Origin::Libc) => Some(copy_libc),
        (Operation::Copy, Origin::Compiler) => Some(copy),
        (Operation::Scale, Origin::Compiler) => Some(scale),
        (Operation::Triad, Origin::Compiler) => Some(triad),
        _ => None,
    }
}

/// # Safety
/// See [`Loop`].
unsafe fn copy_libc(a: *mut f64, _: *mut f64, c: *mut f64, elements: usize, _: f64) -> f64 {
    // SAFETY: the caller vouches for both arrays, which do not overlap.
    unsafe { libc::memcpy(c.cast(), a.cast(), elements * size_of::<f64>()) };
    0.0
}

/// A loop over slices as parameters: the compiler knows that they do not overlap.
macro_rules! plain_loop {
    ($name:ident, $body:expr) => {
        /// # Safety
        /// See [`Loop`]; the arrays do not overlap.
        unsafe fn $name(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            // SAFETY: the caller vouches for the arrays.
            unsafe {
                let slice = |start: *mut f64| std::slice::from_raw_parts_mut(start, elements);
                $body(slice(a), slice(b), slice(c), scalar);
            }
            0.0
        }
    };
}

plain_loop!(copy, plain_copy);
plain_loop!(scale, plain_scale);
plain_loop!(triad, plain_triad);

#[inline(never)]
#[allow(clippy::manual_memcpy, reason = "what the compiler makes of the plain loop is the question")]
fn plain_copy(a: &mut [f64], _: &mut [f64], c: &mut [f64], _: f64) {
    for (c, a) in c.iter_mut().zip(a) {
        *c = *a;
    }
}

#[inline(never)]
fn plain_scale(_: &mut [f64], b: &mut [f64], c: &mut [f64], scalar: f64) {
    for (b, c) in b.iter_mut().zip(c) {
        *b = scalar * *c;
    }
}

#[inline(never)]
fn plain_triad(a: &mut [f64], b: &mut [f64], c: &mut [f64], scalar: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = *b + scalar * *c;
    }
}
