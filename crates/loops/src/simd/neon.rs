//! NEON (16 B vectors, loaded and stored in pairs) for aarch64. STNP is the non-temporal store: a hint that a
//! core may ignore (Arm ARM, C3.2.4), in which case the two kinds of figures agree, and say so.

use core::arch::asm;

use super::inner_loop::Loop;
use crate::kernels::{Operation, Stores};

/// Four copies of a pair's instructions: registers of the first and second operand, displacement.
macro_rules! four {
    ($pair:ident, $store:literal) => {
        concat!(
            $pair!("0", "1", "16", "17", "0", $store),
            $pair!("2", "3", "18", "19", "32", $store),
            $pair!("4", "5", "20", "21", "64", $store),
            $pair!("6", "7", "22", "23", "96", $store),
        )
    };
}

// Instructions of a pair of registers, or of one.

macro_rules! load {
    ($array:literal, $x:literal, $y:literal, $d:literal) => {
        concat!("ldp q", $x, ", q", $y, ", [{", $array, "}, #", $d, "]\n")
    };
}
macro_rules! store {
    ($store:literal, $array:literal, $x:literal, $y:literal, $d:literal) => {
        concat!($store, " q", $x, ", q", $y, ", [{", $array, "}, #", $d, "]\n")
    };
}
macro_rules! multiply {
    ($x:literal) => {
        concat!("fmul v", $x, ".2d, v", $x, ".2d, v31.2d\n")
    };
}
macro_rules! sum {
    ($x:literal, $u:literal) => {
        concat!("fadd v", $x, ".2d, v", $x, ".2d, v", $u, ".2d\n")
    };
}

// What is done with a pair of vectors.

macro_rules! copy {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(load!("a", $x, $y, $d), store!($store, "c", $x, $y, $d))
    };
}
macro_rules! scale {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(load!("c", $x, $y, $d), multiply!($x), multiply!($y), store!($store, "b", $x, $y, $d))
    };
}
macro_rules! add {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(
            load!("a", $x, $y, $d),
            load!("b", $u, $v, $d),
            sum!($x, $u),
            sum!($y, $v),
            store!($store, "c", $x, $y, $d)
        )
    };
}
macro_rules! triad {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(
            load!("c", $x, $y, $d),
            load!("b", $u, $v, $d),
            multiply!($x),
            multiply!($y),
            sum!($x, $u),
            sum!($y, $v),
            store!($store, "a", $x, $y, $d)
        )
    };
}
macro_rules! write {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        store!($store, "b", "31", "31", $d)
    };
}
macro_rules! update {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(load!("a", $x, $y, $d), multiply!($x), multiply!($y), store!($store, "a", $x, $y, $d))
    };
}
macro_rules! read {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!(load!("a", $u, $v, $d), sum!($x, $u), sum!($y, $v))
    };
}
macro_rules! clear {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        concat!("movi v", $x, ".2d, #0\n", "movi v", $y, ".2d, #0\n")
    };
}
macro_rules! spill {
    ($x:literal, $y:literal, $u:literal, $v:literal, $d:literal, $store:literal) => {
        store!("stp", "sums", $x, $y, $d)
    };
}

/// A loop that stores: `$fence` is empty for regular stores.
macro_rules! storing {
    ($name:ident, $pair:ident, $store:literal, $fence:literal) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            // SAFETY: the pointers run over exactly `elements` elements, 16 a turn, of the arrays that the
            // caller vouches for; vector registers are declared.
            unsafe {
                asm!(
                    // A kernel need not use all three arrays; the template must name them.
                    "// {a} {b} {c}",
                    "dup v31.2d, v31.d[0]",
                    ".p2align 5",
                    "2:",
                    four!($pair, $store),
                    "add {a}, {a}, #128",
                    "add {b}, {b}, #128",
                    "add {c}, {c}, #128",
                    "subs {n}, {n}, #16",
                    "b.ne 2b",
                    $fence,
                    a = inout(reg) a => _,
                    b = inout(reg) b => _,
                    c = inout(reg) c => _,
                    n = inout(reg) elements => _,
                    inout("v31") scalar => _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                    out("v16") _, out("v17") _, out("v18") _, out("v19") _,
                    out("v20") _, out("v21") _, out("v22") _, out("v23") _,
                    options(nostack),
                );
            }
            0.0
        }
    };
}

storing!(copy, copy, "stp", "");
storing!(copy_nt, copy, "stnp", "dmb ishst");
storing!(scale, scale, "stp", "");
storing!(scale_nt, scale, "stnp", "dmb ishst");
storing!(add, add, "stp", "");
storing!(add_nt, add, "stnp", "dmb ishst");
storing!(triad, triad, "stp", "");
storing!(triad_nt, triad, "stnp", "dmb ishst");
storing!(write, write, "stp", "");
storing!(write_nt, write, "stnp", "dmb ishst");
storing!(update, update, "stp", "");

/// # Safety
/// See [`Loop`].
unsafe fn read(a: *mut f64, _: *mut f64, _: *mut f64, elements: usize, _: f64) -> f64 {
    let mut sums = [0.0f64; 16];
    // SAFETY: as above; `sums` has room for eight vectors.
    unsafe {
        asm!(
            four!(clear, ""),
            ".p2align 5",
            "2:",
            four!(read, ""),
            "add {a}, {a}, #128",
            "subs {n}, {n}, #16",
            "b.ne 2b",
            four!(spill, ""),
            a = inout(reg) a => _,
            n = inout(reg) elements => _,
            sums = in(reg) sums.as_mut_ptr(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            options(nostack),
        );
    }
    sums.iter().sum()
}

loops!();
