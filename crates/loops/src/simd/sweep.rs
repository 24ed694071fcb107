//! A linear read, pass after pass within one call, for ladders of sizes.
//!
//! The kernel `read` is for arrays in memory: it walks four pages side by side and sums up at the end of
//! every call, which takes longer than reading 16 KiB. Here a call is many passes, straight on. Every pass
//! loads all lines, and sums every other one, the even and the odd ones in turn: a core that can load two
//! vectors a cycle cannot add two as well (AVX-512 on Sapphire Rapids: 83 B a cycle from L1 with an addition
//! for each load, 120 with one for every other). The sum is of integers, so that it is known to the last bit
//! whatever the order.

use super::Simd;

/// Bytes of a line, as far as sums are concerned, on any machine.
pub const LINE: usize = 64;
/// Bytes that a sweep reads are a multiple of this: one turn of the widest loop.
pub const TURN: usize = 512;

/// Reads `bytes` bytes from `start` on, `passes` times, and returns the sum, modulo 2^64, of all 64-bit words
/// in even lines in the first, third, … pass and in odd lines in the others; with `odd` the other way round.
///
/// # Safety
/// The bytes are valid for reads and aligned to 64; `bytes` is a multiple of [`TURN`], neither it nor
/// `passes` is 0; the processor has the instruction set.
pub type Sweep = unsafe fn(start: *const u8, bytes: usize, passes: u64, odd: bool) -> u64;

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
unsafe fn portable(start: *const u8, bytes: usize, passes: u64, odd: bool) -> u64 {
    let mut sum = 0u64;
    for pass in 0..passes {
        let parity = (pass + u64::from(odd)) % 2;
        for word in 0..bytes / size_of::<u64>() {
            // SAFETY: the caller vouches for all words.
            let value = unsafe { start.cast::<u64>().add(word).read_volatile() };
            let counts = (word * size_of::<u64>() / LINE) as u64 % 2 == parity;
            sum = sum.wrapping_add(if counts { value } else { 0 });
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::asm;

    /// Vectors that are added, each to the register of its number.
    macro_rules! add {
        ("paddq", $r:literal, $($k:literal $at:literal),*) => {
            concat!($("paddq ", $r, $k, ", [{end} + {i} + ", $at, "]\n",)*)
        };
        ("vpaddq", $r:literal, $($k:literal $at:literal),*) => {
            concat!($("vpaddq ", $r, $k, ", ", $r, $k, ", [{end} + {i} + ", $at, "]\n",)*)
        };
    }
    /// Vectors that are loaded only.
    macro_rules! load {
        ($op:literal, $r:literal, $($k:literal $at:literal),*) => {
            concat!($($op, " ", $r, $k, ", [{end} + {i} + ", $at, "]\n",)*)
        };
    }
    /// Registers to `sums`.
    macro_rules! spill {
        ($op:literal, $r:literal, $($k:literal $at:literal),*) => {
            concat!($($op, " [{sums} + ", $at, "], ", $r, $k, "\n",)*)
        };
    }

    /// Arguments: sums of even and of odd lines, bytes of a turn, how to clear, where sums go, the end.
    macro_rules! sweep {
        ($name:ident, $even:expr, $odd:expr, $step:literal, $clear:literal, $spill:expr, $end:literal) => {
            /// # Safety
            /// See [`Sweep`](super::Sweep).
            pub(super) unsafe fn $name(start: *const u8, bytes: usize, passes: u64, odd: bool) -> u64 {
                let mut sums = [0u64; 32];
                // SAFETY: reads exactly the bytes that the caller vouches for; `sums` has room for four
                // vectors of the widest kind; registers are declared.
                unsafe {
                    asm!(
                        $clear,
                        "test {odd:e}, {odd:e}",
                        "jnz 4f",
                        "2:",
                        "mov {i}, {from}",
                        ".p2align 5",
                        "3:",
                        $even,
                        concat!("add {i}, ", $step),
                        "jnz 3b",
                        "dec {passes}",
                        "jz 6f",
                        "4:",
                        "mov {i}, {from}",
                        ".p2align 5",
                        "5:",
                        $odd,
                        concat!("add {i}, ", $step),
                        "jnz 5b",
                        "dec {passes}",
                        "jnz 2b",
                        "6:",
                        $spill,
                        $end,
                        end = in(reg) start.add(bytes),
                        from = in(reg) -(bytes as i64),
                        odd = in(reg) u32::from(odd),
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

    // A line is four vectors of 16 B.
    sweep!(
        sse2,
        concat!(
            add!("paddq", "xmm", "0" "0", "1" "16", "2" "32", "3" "48"),
            load!("movdqa", "xmm", "4" "64", "5" "80", "6" "96", "7" "112")
        ),
        concat!(
            load!("movdqa", "xmm", "4" "0", "5" "16", "6" "32", "7" "48"),
            add!("paddq", "xmm", "0" "64", "1" "80", "2" "96", "3" "112")
        ),
        "128",
        "pxor xmm0, xmm0\npxor xmm1, xmm1\npxor xmm2, xmm2\npxor xmm3, xmm3",
        spill!("movdqu", "xmm", "0" "0", "1" "16", "2" "32", "3" "48"),
        ""
    );
    // Two of 32 B.
    sweep!(
        avx2,
        concat!(
            add!("vpaddq", "ymm", "0" "0", "1" "32"),
            load!("vmovdqa", "ymm", "4" "64", "5" "96"),
            add!("vpaddq", "ymm", "2" "128", "3" "160"),
            load!("vmovdqa", "ymm", "6" "192", "7" "224")
        ),
        concat!(
            load!("vmovdqa", "ymm", "4" "0", "5" "32"),
            add!("vpaddq", "ymm", "0" "64", "1" "96"),
            load!("vmovdqa", "ymm", "6" "128", "7" "160"),
            add!("vpaddq", "ymm", "2" "192", "3" "224")
        ),
        "256",
        "vzeroall",
        spill!("vmovdqu", "ymm", "0" "0", "1" "32", "2" "64", "3" "96"),
        "vzeroupper"
    );
    // One of 64 B.
    sweep!(
        avx512,
        concat!(
            add!("vpaddq", "zmm", "0" "0"),
            load!("vmovdqa64", "zmm", "4" "64"),
            add!("vpaddq", "zmm", "1" "128"),
            load!("vmovdqa64", "zmm", "5" "192"),
            add!("vpaddq", "zmm", "2" "256"),
            load!("vmovdqa64", "zmm", "6" "320"),
            add!("vpaddq", "zmm", "3" "384"),
            load!("vmovdqa64", "zmm", "7" "448")
        ),
        concat!(
            load!("vmovdqa64", "zmm", "4" "0"),
            add!("vpaddq", "zmm", "0" "64"),
            load!("vmovdqa64", "zmm", "5" "128"),
            add!("vpaddq", "zmm", "1" "192"),
            load!("vmovdqa64", "zmm", "6" "256"),
            add!("vpaddq", "zmm", "2" "320"),
            load!("vmovdqa64", "zmm", "7" "384"),
            add!("vpaddq", "zmm", "3" "448")
        ),
        "512",
        "vzeroall",
        spill!("vmovdqu64", "zmm", "0" "0", "1" "64", "2" "128", "3" "192"),
        "vzeroupper"
    );
}

/// # Safety
/// See [`Sweep`].
#[cfg(target_arch = "aarch64")]
unsafe fn neon(start: *const u8, bytes: usize, passes: u64, odd: bool) -> u64 {
    let mut sums = [0u64; 8];
    // SAFETY: reads exactly the bytes that the caller vouches for; `sums` has room for four vectors;
    // registers are declared.
    unsafe {
        core::arch::asm!(
            "movi v0.2d, #0",
            "movi v1.2d, #0",
            "movi v2.2d, #0",
            "movi v3.2d, #0",
            "cbnz {odd:w}, 4f",
            "2:",
            "mov {at}, {start}",
            "3:",
            "ldp q16, q17, [{at}]",
            "ldp q18, q19, [{at}, #32]",
            "ldp q20, q21, [{at}, #64]",
            "ldp q22, q23, [{at}, #96]",
            "add v0.2d, v0.2d, v16.2d",
            "add v1.2d, v1.2d, v17.2d",
            "add v2.2d, v2.2d, v18.2d",
            "add v3.2d, v3.2d, v19.2d",
            "add {at}, {at}, #128",
            "cmp {at}, {end}",
            "b.ne 3b",
            "subs {passes}, {passes}, #1",
            "b.eq 6f",
            "4:",
            "mov {at}, {start}",
            "5:",
            "ldp q16, q17, [{at}]",
            "ldp q18, q19, [{at}, #32]",
            "ldp q20, q21, [{at}, #64]",
            "ldp q22, q23, [{at}, #96]",
            "add v0.2d, v0.2d, v20.2d",
            "add v1.2d, v1.2d, v21.2d",
            "add v2.2d, v2.2d, v22.2d",
            "add v3.2d, v3.2d, v23.2d",
            "add {at}, {at}, #128",
            "cmp {at}, {end}",
            "b.ne 5b",
            "subs {passes}, {passes}, #1",
            "b.ne 2b",
            "6:",
            "stp q0, q1, [{sums}]",
            "stp q2, q3, [{sums}, #32]",
            start = in(reg) start,
            end = in(reg) start.add(bytes),
            odd = in(reg) u32::from(odd),
            at = out(reg) _,
            passes = inout(reg) passes => _,
            sums = in(reg) sums.as_mut_ptr(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
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

    /// Sum of the words in even lines, and in odd ones.
    fn halves(words: &[u64]) -> [u64; 2] {
        let mut sums = [0u64; 2];
        for (index, word) in words.iter().enumerate() {
            let sum = &mut sums[index / 8 % 2];
            *sum = sum.wrapping_add(*word);
        }
        sums
    }

    proptest! {
        #[test]
        fn every_set_sums_even_and_odd_lines_in_turn(
            turns in 1..40usize, passes in 1..6u64, odd in any::<bool>(), seed in any::<u64>(),
        ) {
            let words = turns * TURN / 8;
            let memory: Vec<u64> =
                (0..words as u64 + 16).map(|i| seed.wrapping_add(i).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let first = memory.as_ptr().align_offset(64);
            let start = memory[first..].as_ptr();
            let [even_lines, odd_lines] = halves(&memory[first..first + words]);
            let (one, other) = if odd { (odd_lines, even_lines) } else { (even_lines, odd_lines) };
            let wanted = one.wrapping_mul(passes.div_ceil(2)).wrapping_add(other.wrapping_mul(passes / 2));
            for simd in Simd::available() {
                // SAFETY: `words` words from an aligned start on are in `memory`; the set is available.
                let sum = unsafe { sweep(simd)(start.cast(), turns * TURN, passes, odd) };
                prop_assert_eq!(sum, wanted, "{:?}", simd);
            }
        }
    }
}
