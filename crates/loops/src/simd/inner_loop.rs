//! What an inner loop is.

/// Elements that a call works on are a multiple of this: 512 B, one turn of the widest loop.
pub const BLOCK: usize = 64;

/// Alignment in bytes that non-temporal stores need: the widest vector.
pub const ALIGNMENT: usize = 64;

/// An inner loop: arrays a, b, c, the number of elements, the scalar. Returns the sum for `read`, else 0.
///
/// # Safety
/// The pointers that the operation uses must be valid for `elements` elements, aligned to [`ALIGNMENT`] if
/// the loop stores non-temporally; `elements` must be a multiple of [`BLOCK`]; the processor must have the
/// instruction set.
pub type Loop = unsafe fn(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64;
