//! SSE2 (16 B): for x86-64 processors without AVX2, and to show what vector width matters.

use core::arch::asm;

use super::inner_loop::Loop;
use crate::kernels::{ELEMENT, Operation, Stores};

/// Eight copies of a vector's instructions, `$k` being the number of the vector.
macro_rules! eight {
    ($vector:ident, $store:literal) => {
        concat!(
            $vector!("0", $store),
            $vector!("1", $store),
            $vector!("2", $store),
            $vector!("3", $store),
            $vector!("4", $store),
            $vector!("5", $store),
            $vector!("6", $store),
            $vector!("7", $store),
        )
    };
}

/// Four of them, as many as the wider sets' storing loops handle.
macro_rules! four {
    ($vector:ident, $store:literal) => {
        concat!($vector!("0", $store), $vector!("1", $store), $vector!("2", $store), $vector!("3", $store))
    };
}

// Instructions of a vector, or of one and an array.

macro_rules! load {
    ($register:literal, $array:literal, $k:literal) => {
        concat!("movupd xmm", $register, ", [{", $array, "} + {i} + ", $k, "*16]\n")
    };
}
macro_rules! store {
    ($store:literal, $array:literal, $k:literal, $register:literal) => {
        concat!($store, " [{", $array, "} + {i} + ", $k, "*16], xmm", $register, "\n")
    };
}
macro_rules! multiply {
    ($k:literal) => {
        concat!("mulpd xmm", $k, ", xmm15\n")
    };
}
/// Adds a vector of an array, by way of a register: `addpd` would need it aligned.
macro_rules! sum {
    ($k:literal, $array:literal) => {
        concat!(load!("14", $array, $k), "addpd xmm", $k, ", xmm14\n")
    };
}

// What is done with a vector.

macro_rules! copy {
    ($k:literal, $store:literal) => {
        concat!(load!($k, "a", $k), store!($store, "c", $k, $k))
    };
}
macro_rules! scale {
    ($k:literal, $store:literal) => {
        concat!(load!($k, "c", $k), multiply!($k), store!($store, "b", $k, $k))
    };
}
macro_rules! add {
    ($k:literal, $store:literal) => {
        concat!(load!($k, "a", $k), sum!($k, "b"), store!($store, "c", $k, $k))
    };
}
macro_rules! triad {
    ($k:literal, $store:literal) => {
        concat!(load!($k, "c", $k), multiply!($k), sum!($k, "b"), store!($store, "a", $k, $k))
    };
}
macro_rules! write {
    ($k:literal, $store:literal) => {
        store!($store, "b", $k, "15")
    };
}
macro_rules! update {
    ($k:literal, $store:literal) => {
        concat!(load!($k, "a", $k), multiply!($k), store!($store, "a", $k, $k))
    };
}
macro_rules! read {
    ($k:literal, $store:literal) => {
        sum!($k, "a")
    };
}
macro_rules! clear {
    ($k:literal, $store:literal) => {
        concat!("xorpd xmm", $k, ", xmm", $k, "\n")
    };
}
macro_rules! spill {
    ($k:literal, $store:literal) => {
        concat!("movupd [{sums} + ", $k, "*16], xmm", $k, "\n")
    };
}

macro_rules! storing {
    ($name:ident, $vector:ident, $store:literal, $fence:literal) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            // SAFETY: the index runs over exactly `elements` elements of the arrays that the caller vouches
            // for; vector registers are declared.
            unsafe {
                asm!(
                    // A kernel need not use all three arrays; the template must name them.
                    "// {a} {b} {c}",
                    "unpcklpd xmm15, xmm15",
                    ".p2align 5",
                    "2:",
                    four!($vector, $store),
                    "add {i}, 64",
                    "jnz 2b",
                    $fence,
                    a = in(reg) a.add(elements),
                    b = in(reg) b.add(elements),
                    c = in(reg) c.add(elements),
                    i = inout(reg) -((elements as u64 * ELEMENT) as i64) => _,
                    inout("xmm15") scalar => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm14") _,
                    options(nostack),
                );
            }
            0.0
        }
    };
}

storing!(copy, copy, "movupd", "");
storing!(copy_nt, copy, "movntpd", "sfence");
storing!(scale, scale, "movupd", "");
storing!(scale_nt, scale, "movntpd", "sfence");
storing!(add, add, "movupd", "");
storing!(add_nt, add, "movntpd", "sfence");
storing!(triad, triad, "movupd", "");
storing!(triad_nt, triad, "movntpd", "sfence");
storing!(write, write, "movupd", "");
storing!(write_nt, write, "movntpd", "sfence");
storing!(update, update, "movupd", "");

/// # Safety
/// See [`Loop`].
unsafe fn read(a: *mut f64, _: *mut f64, _: *mut f64, elements: usize, _: f64) -> f64 {
    let mut sums = [0.0f64; 16];
    // SAFETY: as above; `sums` has room for eight vectors.
    unsafe {
        asm!(
            eight!(clear, ""),
            ".p2align 5",
            "2:",
            eight!(read, ""),
            "add {i}, 128",
            "jnz 2b",
            eight!(spill, ""),
            a = in(reg) a.add(elements),
            i = inout(reg) -((elements as u64 * ELEMENT) as i64) => _,
            sums = in(reg) sums.as_mut_ptr(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm14") _,
            options(nostack),
        );
    }
    sums.iter().sum()
}

loops!();
