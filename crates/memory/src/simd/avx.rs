//! AVX2 (32 B) and AVX-512 (64 B): one text, two vector widths.
//!
//! Each turn of a storing loop handles four vectors: eight are 4 % slower with non-temporal stores (Sapphire
//! Rapids, interleaved rounds), two are no faster. The summing loop handles eight. Pointers stand at the arrays' ends and one index counts up to
//! zero, so that a turn has one addition and one branch. Multiply and add are separate instructions, so that
//! results equal the reference's to the last bit; memory is the limit either way.

use core::arch::asm;

use super::Loop;
use crate::kernels::{ELEMENT, Operation, Stores};

/// Eight copies of a vector's instructions, `$k` being the number of the vector.
macro_rules! eight {
    ($vector:ident, $r:literal, $w:literal, $store:literal) => {
        concat!(
            $vector!("0", $r, $w, $store),
            $vector!("1", $r, $w, $store),
            $vector!("2", $r, $w, $store),
            $vector!("3", $r, $w, $store),
            $vector!("4", $r, $w, $store),
            $vector!("5", $r, $w, $store),
            $vector!("6", $r, $w, $store),
            $vector!("7", $r, $w, $store),
        )
    };
}

/// Four of them.
macro_rules! four {
    ($vector:ident, $r:literal, $w:literal, $store:literal) => {
        concat!(
            $vector!("0", $r, $w, $store),
            $vector!("1", $r, $w, $store),
            $vector!("2", $r, $w, $store),
            $vector!("3", $r, $w, $store),
        )
    };
}

macro_rules! copy {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!(
            "vmovupd ",
            $r,
            $k,
            ", [{a} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            $store,
            " [{c} + {i} + ",
            $k,
            "*",
            $w,
            "], ",
            $r,
            $k,
            "\n",
        )
    };
}
macro_rules! scale {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!(
            "vmulpd ",
            $r,
            $k,
            ", ",
            $r,
            "15, [{c} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            $store,
            " [{b} + {i} + ",
            $k,
            "*",
            $w,
            "], ",
            $r,
            $k,
            "\n",
        )
    };
}
macro_rules! add {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!(
            "vmovupd ",
            $r,
            $k,
            ", [{a} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            "vaddpd ",
            $r,
            $k,
            ", ",
            $r,
            $k,
            ", [{b} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            $store,
            " [{c} + {i} + ",
            $k,
            "*",
            $w,
            "], ",
            $r,
            $k,
            "\n",
        )
    };
}
macro_rules! triad {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!(
            "vmulpd ",
            $r,
            $k,
            ", ",
            $r,
            "15, [{c} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            "vaddpd ",
            $r,
            $k,
            ", ",
            $r,
            $k,
            ", [{b} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            $store,
            " [{a} + {i} + ",
            $k,
            "*",
            $w,
            "], ",
            $r,
            $k,
            "\n",
        )
    };
}
macro_rules! write {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!($store, " [{b} + {i} + ", $k, "*", $w, "], ", $r, "15\n")
    };
}
macro_rules! update {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!(
            "vmulpd ",
            $r,
            $k,
            ", ",
            $r,
            "15, [{a} + {i} + ",
            $k,
            "*",
            $w,
            "]\n",
            $store,
            " [{a} + {i} + ",
            $k,
            "*",
            $w,
            "], ",
            $r,
            $k,
            "\n",
        )
    };
}
macro_rules! read {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!("vaddpd ", $r, $k, ", ", $r, $k, ", [{a} + {i} + ", $k, "*", $w, "]\n")
    };
}
macro_rules! spill {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!("vmovupd [{sums} + ", $k, "*", $w, "], ", $r, $k, "\n")
    };
}
macro_rules! clear {
    ($k:literal, $r:literal, $w:literal, $store:literal) => {
        concat!("vxorpd xmm", $k, ", xmm", $k, ", xmm", $k, "\n")
    };
}

/// A loop that stores: `$fence` is empty for regular stores.
macro_rules! storing {
    ($name:ident, $vector:ident, $r:literal, $w:literal, $store:literal, $fence:literal) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            // SAFETY: the index runs over exactly `elements` elements of the arrays that the caller vouches
            // for; vector registers are declared; the upper halves are cleared for SSE code that follows.
            unsafe {
                asm!(
                    // A kernel need not use all three arrays; the template must name them.
                    "// {a} {b} {c}",
                    concat!("vbroadcastsd ", $r, "15, xmm15"),
                    ".p2align 5",
                    "2:",
                    four!($vector, $r, $w, $store),
                    concat!("add {i}, 4*", $w),
                    "jnz 2b",
                    $fence,
                    "vzeroupper",
                    a = in(reg) a.add(elements),
                    b = in(reg) b.add(elements),
                    c = in(reg) c.add(elements),
                    i = inout(reg) -((elements as u64 * ELEMENT) as i64) => _,
                    inout("xmm15") scalar => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    options(nostack),
                );
            }
            0.0
        }
    };
}

/// The loop that sums: eight accumulators hide the latency of the additions.
macro_rules! summing {
    ($name:ident, $r:literal, $w:literal) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, _: *mut f64, _: *mut f64, elements: usize, _: f64) -> f64 {
            let mut sums = [0.0f64; 64];
            // SAFETY: as above; `sums` has room for eight vectors of the widest kind.
            unsafe {
                asm!(
                    eight!(clear, $r, $w, ""),
                    ".p2align 5",
                    "2:",
                    eight!(read, $r, $w, ""),
                    concat!("add {i}, 8*", $w),
                    "jnz 2b",
                    eight!(spill, $r, $w, ""),
                    "vzeroupper",
                    a = in(reg) a.add(elements),
                    i = inout(reg) -((elements as u64 * ELEMENT) as i64) => _,
                    sums = in(reg) sums.as_mut_ptr(),
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    options(nostack),
                );
            }
            sums.iter().sum()
        }
    };
}

/// All loops of one vector width, in a module of its own.
macro_rules! width {
    ($module:ident, $kernel:ident, $r:literal, $w:literal) => {
        mod $module {
            use super::*;

            storing!(copy, copy, $r, $w, "vmovupd", "");
            storing!(copy_nt, copy, $r, $w, "vmovntpd", "sfence");
            storing!(scale, scale, $r, $w, "vmovupd", "");
            storing!(scale_nt, scale, $r, $w, "vmovntpd", "sfence");
            storing!(add, add, $r, $w, "vmovupd", "");
            storing!(add_nt, add, $r, $w, "vmovntpd", "sfence");
            storing!(triad, triad, $r, $w, "vmovupd", "");
            storing!(triad_nt, triad, $r, $w, "vmovntpd", "sfence");
            storing!(write, write, $r, $w, "vmovupd", "");
            storing!(write_nt, write, $r, $w, "vmovntpd", "sfence");
            storing!(update, update, $r, $w, "vmovupd", "");
            summing!(read, $r, $w);

            loops!();
        }
        pub(super) use $module::kernel as $kernel;
    };
}

width!(avx2, kernel256, "ymm", "32");
width!(avx512, kernel512, "zmm", "64");
