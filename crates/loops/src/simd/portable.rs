//! The reference in plain Rust. Volatile accesses keep the compiler from making something else of it.

use super::inner_loop::Loop;
use crate::kernels::{Operation, Stores};

pub(super) fn kernel(operation: Operation, stores: Stores) -> Option<Loop> {
    if stores == Stores::Nt {
        return None;
    }
    Some(match operation {
        Operation::Copy => copy,
        Operation::Scale => scale,
        Operation::Add => add,
        Operation::Triad => triad,
        Operation::Read => read,
        Operation::Write => write,
        Operation::Update => update,
    })
}

macro_rules! elementwise {
    ($name:ident, $target:ident, |$i:ident, $a:ident, $b:ident, $c:ident, $s:ident| $value:expr) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name($a: *mut f64, $b: *mut f64, $c: *mut f64, elements: usize, $s: f64) -> f64 {
            let _ = ($a, $b, $c, $s);
            for $i in 0..elements {
                // SAFETY: the caller vouches for all elements.
                unsafe { $target.add($i).write_volatile($value) };
            }
            0.0
        }
    };
}

elementwise!(copy, c, |i, a, b, c, s| a.add(i).read_volatile());
elementwise!(scale, b, |i, a, b, c, s| s * c.add(i).read_volatile());
elementwise!(add, c, |i, a, b, c, s| a.add(i).read_volatile() + b.add(i).read_volatile());
elementwise!(triad, a, |i, a, b, c, s| b.add(i).read_volatile() + s * c.add(i).read_volatile());
elementwise!(write, b, |i, a, b, c, s| s);
elementwise!(update, a, |i, a, b, c, s| s * a.add(i).read_volatile());

/// # Safety
/// See [`Loop`].
unsafe fn read(a: *mut f64, _: *mut f64, _: *mut f64, elements: usize, _: f64) -> f64 {
    let mut sums = [0.0; 8];
    for i in 0..elements {
        // SAFETY: the caller vouches for all elements.
        sums[i % 8] += unsafe { a.add(i).read_volatile() };
    }
    sums.iter().sum()
}
