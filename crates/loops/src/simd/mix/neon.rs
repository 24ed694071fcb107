//! NEON (16 B vectors, loaded and stored in pairs) for aarch64. STNP is a hint that a core may ignore (Arm
//! ARM, C3.2.4): then a mix that writes also reads what it writes, and its bandwidth says so.

use core::arch::asm;

use super::turn::{PAGES, Turn};

#[rustfmt::skip]
macro_rules! load {
    ($page:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "add {at}, {p}, #", $page, ", lsl #12\n",
            "ldp q16, q17, [{at}]\n",
            "ldp q18, q19, [{at}, #32]\n",
            "fadd v", $a, ".2d, v", $a, ".2d, v16.2d\n",
            "fadd v", $b, ".2d, v", $b, ".2d, v17.2d\n",
            "fadd v", $c, ".2d, v", $c, ".2d, v18.2d\n",
            "fadd v", $d, ".2d, v", $d, ".2d, v19.2d\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! store {
    ($page:literal) => {
        concat!(
            "add {at}, {p}, #", $page, ", lsl #12\n",
            "stnp q31, q31, [{at}]\n",
            "stnp q31, q31, [{at}, #32]\n",
        )
    };
}
macro_rules! clear {
    ($k:literal) => {
        concat!("movi v", $k, ".2d, #0\n")
    };
}
macro_rules! spill {
    ($k:literal) => {
        concat!("str q", $k, ", [{sums}, #", $k, "*16]\n")
    };
}

macro_rules! walk {
    ($name:ident, $reads:tt, $writes:tt, $after:expr) => {
        /// # Safety
        /// See [`Walk`](super::Walk).
        unsafe fn $name(start: *mut f64, groups: usize, value: f64, spins: u64) -> f64 {
            const TURN: usize = match Turn::of(crate::kernels::Mix::Ratio($reads, $writes)) {
                Some(turn) => turn.pages,
                None => panic!("no such mix"),
            };
            let mut sums = [0.0f64; 16];
            if groups == 0 {
                return 0.0;
            }
            // SAFETY: the pointer runs over exactly `groups` groups that the caller vouches for: a line a
            // turn through the first page of each turn, and then over its others. `sums` has room for eight
            // vectors; vector registers are declared.
            unsafe {
                asm!(
                    // Not every walk spins.
                    "// {spins} {left}",
                    sums!(clear),
                    "dup v31.2d, v31.d[0]",
                    "2:",
                    "add {end}, {p}, #1, lsl #12",
                    ".p2align 5",
                    "3:",
                    turn!($reads, $writes, load, store, $after),
                    "add {p}, {p}, #64",
                    "cmp {p}, {end}",
                    "b.ne 3b",
                    "add {p}, {p}, #{others}, lsl #12",
                    "subs {n}, {n}, #1",
                    "b.ne 2b",
                    "dmb ishst",
                    sums!(spill),
                    p = inout(reg) start => _,
                    n = inout(reg) groups * (PAGES / TURN) => _,
                    at = out(reg) _,
                    end = out(reg) _,
                    others = const TURN - 1,
                    spins = in(reg) spins,
                    left = out(reg) _,
                    sums = in(reg) sums.as_mut_ptr(),
                    inout("v31") value => _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                    out("v16") _, out("v17") _, out("v18") _, out("v19") _,
                    options(nostack),
                );
            }
            sums.iter().sum()
        }
    };
}

walks!(walk, "mov {left}, {spins}\n4:\nsubs {left}, {left}, #1\nb.ne 4b\n");
