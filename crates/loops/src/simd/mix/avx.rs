//! AVX2 (32 B) and AVX-512 (64 B): one text, two vector widths.

use core::arch::asm;

#[rustfmt::skip]
macro_rules! read256 {
    ($page:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "vaddpd ymm", $a, ", ymm", $a, ", [{p} + ", $page, "*4096]\n",
            "vaddpd ymm", $b, ", ymm", $b, ", [{p} + ", $page, "*4096 + 32]\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! write256 {
    ($page:literal) => {
        concat!(
            "vmovntpd [{p} + ", $page, "*4096], ymm15\n",
            "vmovntpd [{p} + ", $page, "*4096 + 32], ymm15\n",
        )
    };
}
macro_rules! spill256 {
    ($k:literal) => {
        concat!("vmovupd [{sums} + ", $k, "*32], ymm", $k, "\n")
    };
}
macro_rules! read512 {
    ($page:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!("vaddpd zmm", $a, ", zmm", $a, ", [{p} + ", $page, "*4096]\n")
    };
}
macro_rules! write512 {
    ($page:literal) => {
        concat!("vmovntpd [{p} + ", $page, "*4096], zmm15\n")
    };
}
macro_rules! spill512 {
    ($k:literal) => {
        concat!("vmovupd [{sums} + ", $k, "*64], zmm", $k, "\n")
    };
}
macro_rules! clear {
    ($k:literal) => {
        concat!("vxorpd xmm", $k, ", xmm", $k, ", xmm", $k, "\n")
    };
}

/// All walks of one vector width, in a module of its own.
macro_rules! width {
    ($module:ident, $table:ident, $r:literal, $read:ident, $write:ident, $spill:ident) => {
        mod $module {
            use super::*;
            use crate::simd::mix::{PAGES, Turn};

            macro_rules! walk {
                        ($name:ident, $reads:tt, $writes:tt, $after:expr) => {
                            /// # Safety
                            /// See [`Walk`](crate::simd::mix::Walk).
                            unsafe fn $name(start: *mut f64, groups: usize, value: f64, spins: u64) -> f64 {
                                const TURN: usize = match Turn::of(crate::kernels::Mix::Ratio($reads, $writes)) {
                                    Some(turn) => turn.pages,
                                    None => panic!("no such mix"),
                                };
                                let mut sums = [0.0f64; 64];
                                if groups == 0 {
                                    return 0.0;
                                }
                                // SAFETY: the pointer runs over exactly `groups` groups that the caller
                                // vouches for: a line a turn through the first page of each turn, and then
                                // over its others. `sums` has room for eight vectors; vector registers are
                                // declared; the upper halves are cleared.
                                unsafe {
                                    asm!(
                                        // Not every walk spins.
                                        "// {spins} {left}",
                                        sums!(clear),
                                        concat!("vbroadcastsd ", $r, "15, xmm15"),
                                        "2:",
                                        "lea {end}, [{p} + 4096]",
                                        ".p2align 5",
                                        "3:",
                                        turn!($reads, $writes, $read, $write, $after),
                                        "add {p}, 64",
                                        "cmp {p}, {end}",
                                        "jne 3b",
                                        "add {p}, {others}",
                                        "dec {n}",
                                        "jnz 2b",
                                        "sfence",
                                        sums!($spill),
                                        "vzeroupper",
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
        }
        pub(super) use $module::walk as $table;
    };
}

width!(avx2, walk256, "ymm", read256, write256, spill256);
width!(avx512, walk512, "zmm", read512, write512, spill512);
