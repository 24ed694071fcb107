//! What a compiler and libc make of the same kernels: why one STREAM binary shows a Copy far above its Scale.

use serde::{Deserialize, Serialize};

use crate::kernels::Operation;
use crate::simd::Loop;

/// Who wrote the machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// libc's memcpy: what gcc and clang turn STREAM's Copy into unless told `-ffreestanding`.
    Libc,
    /// The compiler that built truebench, from a plain loop.
    Compiler,
}

impl Origin {
    /// The word in ids and conditions.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Libc => "libc",
            Origin::Compiler => "compiler",
        }
    }
}

/// The baselines that are measured.
pub const BASELINES: &[(Operation, Origin)] = &[
    (Operation::Copy, Origin::Libc),
    (Operation::Copy, Origin::Compiler),
    (Operation::Scale, Origin::Compiler),
    (Operation::Triad, Origin::Compiler),
];

/// The code of a baseline; `None` for a pair that is not in [`BASELINES`].
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

/// Three arrays as slices, so that the compiler knows what it would know in any program.
///
/// # Safety
/// See [`Loop`]; the arrays do not overlap.
unsafe fn slices<'a>(
    a: *mut f64,
    b: *mut f64,
    c: *mut f64,
    elements: usize,
) -> (&'a mut [f64], &'a mut [f64], &'a mut [f64]) {
    // SAFETY: as above.
    unsafe {
        (
            std::slice::from_raw_parts_mut(a, elements),
            std::slice::from_raw_parts_mut(b, elements),
            std::slice::from_raw_parts_mut(c, elements),
        )
    }
}

/// # Safety
/// See [`Loop`].
#[inline(never)]
unsafe fn copy(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, _: f64) -> f64 {
    // SAFETY: the caller's.
    let (a, _, c) = unsafe { slices(a, b, c, elements) };
    #[allow(clippy::manual_memcpy, reason = "what the compiler makes of the plain loop is the question")]
    for i in 0..elements {
        c[i] = a[i];
    }
    0.0
}

/// # Safety
/// See [`Loop`].
#[inline(never)]
unsafe fn scale(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
    // SAFETY: the caller's.
    let (_, b, c) = unsafe { slices(a, b, c, elements) };
    for (b, c) in b.iter_mut().zip(c) {
        *b = scalar * *c;
    }
    0.0
}

/// # Safety
/// See [`Loop`].
#[inline(never)]
unsafe fn triad(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
    // SAFETY: the caller's.
    let (a, b, c) = unsafe { slices(a, b, c, elements) };
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = *b + scalar * *c;
    }
    0.0
}
