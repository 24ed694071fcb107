//! SSE2 (16 B).

use core::arch::asm;

use super::turn::{PAGES, Turn};

#[rustfmt::skip]
macro_rules! load {
    ($page:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "addpd xmm", $a, ", [{p} + ", $page, "*4096]\n",
            "addpd xmm", $b, ", [{p} + ", $page, "*4096 + 16]\n",
            "addpd xmm", $c, ", [{p} + ", $page, "*4096 + 32]\n",
            "addpd xmm", $d, ", [{p} + ", $page, "*4096 + 48]\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! store {
    ($page:literal) => {
        concat!(
            "movntpd [{p} + ", $page, "*4096], xmm15\n",
            "movntpd [{p} + ", $page, "*4096 + 16], xmm15\n",
            "movntpd [{p} + ", $page, "*4096 + 32], xmm15\n",
            "movntpd [{p} + ", $page, "*4096 + 48], xmm15\n",
        )
    };
}
macro_rules! clear {
    ($k:literal) => {
        concat!("xorpd xmm", $k, ", xmm", $k, "\n")
    };
}
macro_rules! spill {
    ($k:literal) => {
        concat!("movupd [{sums} + ", $k, "*16], xmm", $k, "\n")
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
                    "unpcklpd xmm15, xmm15",
                    "2:",
                    "lea {end}, [{p} + 4096]",
                    ".p2align 5",
                    "3:",
                    turn!($reads, $writes, load, store, $after),
                    "add {p}, 64",
                    "cmp {p}, {end}",
                    "jne 3b",
                    "add {p}, {others}",
                    "dec {n}",
                    "jnz 2b",
                    "sfence",
                    sums!(spill),
                    p = inout(reg) start => _,
                    n = inout(reg) groups * (PAGES / TURN) => _,
                    end = out(reg) _,
                    others = const (TURN - 1) * 4096,
                    spins = in(reg) spins,
                    left = out(reg) _,
                    sums = in(reg) sums.as_mut_ptr(),
                    inout("xmm15") value => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    options(nostack),
                );
            }
            sums.iter().sum()
        }
    };
}

walks!(walk, "mov {left}, {spins}\n4:\ndec {left}\njnz 4b\n");
