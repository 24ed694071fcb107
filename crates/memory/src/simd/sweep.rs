//! A linear read, pass after pass within one call, for ladders of sizes.
//!
//! The kernel `read` is for arrays in memory: it walks four pages side by side and sums up at the end of every call, which
//! takes longer than reading 16 KiB. Here a call is many passes, straight on, and the sum is of integers: an addition of
//! one cycle, so that loads alone are the limit, and a result that is known to the last bit whatever the order.

use super::Simd;

/// Bytes that a sweep reads are a multiple of this: one turn of the widest loop.
pub const TURN: usize = 512;

/// Reads `bytes` bytes from `start` on, `passes` times, and returns the sum of all 64-bit words read, modulo 2^64.
///
/// # Safety
/// The bytes are valid for reads and aligned to 64; `bytes` is a multiple of [`TURN`], neither it nor `passes` is 0; the
/// processor has the instruction set.
pub type Sweep = unsafe fn(start: *const u8, bytes: usize, passes: u64) -> u64;

/// The sweep of an instruction set; the portable one for a set of another architecture.
pub fn sweep(simd: Simd) -> Sweep {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Sse2 => x86::sse2,
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => x86::avx2,
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => x86::avx512,
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => neon,
        _ => portable,
    }
}

/// The reference.
///
/// # Safety
/// See [`Sweep`].
unsafe fn portable(start: *const u8, bytes: usize, passes: u64) -> u64 {
    let mut sum = 0u64;
    for _ in 0..passes {
        for word in 0..bytes / size_of::<u64>() {
            // SAFETY: the caller vouches for all words.
            sum = sum.wrapping_add(unsafe { start.cast::<u64>().add(word).read_volatile() });
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::asm;

    /// Eight vectors in a row, each added to a register of its own.
    macro_rules! loads {
        ($op:literal, $r:literal, $($k:literal $at:literal),*) => {
            concat!($($op, " ", $r, $k, ", [{end} + {i} + ", $at, "]\n",)*)
        };
    }
    /// The same with three operands.
    macro_rules! vloads {
        ($r:literal, $($k:literal $at:literal),*) => {
            concat!($("vpaddq ", $r, $k, ", ", $r, $k, ", [{end} + {i} + ", $at, "]\n",)*)
        };
    }
    /// Eight registers to `sums`.
    macro_rules! spills {
        ($op:literal, $r:literal, $($k:literal $at:literal),*) => {
            concat!($($op, " [{sums} + ", $at, "], ", $r, $k, "\n",)*)
        };
    }

    macro_rules! sweep {
        ($name:ident, $loads:expr, $spills:expr, $step:literal, $clear:literal, $end:literal) => {
            /// # Safety
            /// See [`Sweep`](super::Sweep).
            pub(super) unsafe fn $name(start: *const u8, bytes: usize, passes: u64) -> u64 {
                let mut sums = [0u64; 64];
                // SAFETY: reads exactly the bytes that the caller vouches for; `sums` has room for eight vectors of the
                // widest kind; registers are declared.
                unsafe {
                    asm!(
                        $clear,
                        "2:",
                        "mov {i}, {from}",
                        ".p2align 5",
                        "3:",
                        $loads,
                        concat!("add {i}, ", $step),
                        "jnz 3b",
                        "dec {passes}",
                        "jnz 2b",
                        $spills,
                        $end,
                        end = in(reg) start.add(bytes),
                        from = in(reg) -(bytes as i64),
                        i = out(reg) _,
                        passes = inout(reg) passes => _,
                        sums = in(reg) sums.as_mut_ptr(),
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                        // Some clear all registers at once.
                        out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                        out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                        options(nostack),
                    );
                }
                sums.iter().fold(0, |sum, part| sum.wrapping_add(*part))
            }
        };
    }

    sweep!(
        sse2,
        loads!("paddq", "xmm", "0" "0", "1" "16", "2" "32", "3" "48", "4" "64", "5" "80", "6" "96", "7" "112"),
        spills!("movdqu", "xmm", "0" "0", "1" "16", "2" "32", "3" "48", "4" "64", "5" "80", "6" "96", "7" "112"),
        "128",
        "pxor xmm0, xmm0\npxor xmm1, xmm1\npxor xmm2, xmm2\npxor xmm3, xmm3\n\
         pxor xmm4, xmm4\npxor xmm5, xmm5\npxor xmm6, xmm6\npxor xmm7, xmm7",
        ""
    );
    sweep!(
        avx2,
        vloads!("ymm", "0" "0", "1" "32", "2" "64", "3" "96", "4" "128", "5" "160", "6" "192", "7" "224"),
        spills!("vmovdqu", "ymm", "0" "0", "1" "32", "2" "64", "3" "96", "4" "128", "5" "160", "6" "192", "7" "224"),
        "256",
        "vzeroall",
        "vzeroupper"
    );
    sweep!(
        avx512,
        vloads!("zmm", "0" "0", "1" "64", "2" "128", "3" "192", "4" "256", "5" "320", "6" "384", "7" "448"),
        spills!("vmovdqu64", "zmm", "0" "0", "1" "64", "2" "128", "3" "192", "4" "256", "5" "320", "6" "384", "7" "448"),
        "512",
        "vzeroall",
        "vzeroupper"
    );
}

/// # Safety
/// See [`Sweep`].
#[cfg(target_arch = "aarch64")]
unsafe fn neon(start: *const u8, bytes: usize, passes: u64) -> u64 {
    let mut sums = [0u64; 16];
    // SAFETY: reads exactly the bytes that the caller vouches for; `sums` has room for eight vectors; registers are declared.
    unsafe {
        core::arch::asm!(
            "movi v0.2d, #0", "movi v1.2d, #0", "movi v2.2d, #0", "movi v3.2d, #0",
            "movi v4.2d, #0", "movi v5.2d, #0", "movi v6.2d, #0", "movi v7.2d, #0",
            "2:",
            "mov {at}, {start}",
            "3:",
            "ldp q16, q17, [{at}]",
            "ldp q18, q19, [{at}, #32]",
            "ldp q20, q21, [{at}, #64]",
            "ldp q22, q23, [{at}, #96]",
            "add v0.2d, v0.2d, v16.2d", "add v1.2d, v1.2d, v17.2d",
            "add v2.2d, v2.2d, v18.2d", "add v3.2d, v3.2d, v19.2d",
            "add v4.2d, v4.2d, v20.2d", "add v5.2d, v5.2d, v21.2d",
            "add v6.2d, v6.2d, v22.2d", "add v7.2d, v7.2d, v23.2d",
            "add {at}, {at}, #128",
            "cmp {at}, {end}",
            "b.ne 3b",
            "subs {passes}, {passes}, #1",
            "b.ne 2b",
            "stp q0, q1, [{sums}]",
            "stp q2, q3, [{sums}, #32]",
            "stp q4, q5, [{sums}, #64]",
            "stp q6, q7, [{sums}, #96]",
            start = in(reg) start,
            end = in(reg) start.add(bytes),
            at = out(reg) _,
            passes = inout(reg) passes => _,
            sums = in(reg) sums.as_mut_ptr(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            options(nostack),
        );
    }
    sums.iter().fold(0, |sum, part| sum.wrapping_add(*part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_set_sums_every_word_once_a_pass(turns in 1..40usize, passes in 1..5u64, seed in any::<u64>()) {
            let words = turns * TURN / 8;
            let memory: Vec<u64> =
                (0..words as u64 + 8 + 16).map(|i| seed.wrapping_add(i).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let first = memory.as_ptr().align_offset(64);
            let start = memory[first..].as_ptr();
            let once = memory[first..first + words].iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
            for simd in Simd::available() {
                // SAFETY: `words` words from an aligned start on are in `memory`; the set is available.
                let sum = unsafe { sweep(simd)(start.cast(), turns * TURN, passes) };
                prop_assert_eq!(sum, once.wrapping_mul(passes), "{:?}", simd);
            }
        }
    }
}
