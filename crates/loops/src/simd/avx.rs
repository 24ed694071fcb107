//! AVX2 (32 B) and AVX-512 (64 B): one text, two vector widths.
//!
//! Pointers stand at the arrays' ends and one index counts up to zero, so that a turn has one addition and
//! one branch. A storing turn handles four vectors: eight are 4 % slower with non-temporal stores (Sapphire
//! Rapids, interleaved rounds), two are no faster. Multiply and add are separate instructions, so that
//! results equal the reference's to the last bit; memory is the limit either way.
//!
//! Hardware prefetchers alone do not keep a core's lines under way. What helps depends on how many arrays are
//! read (guests with two CPUs, interleaved rounds):
//!
//! - one: four pages walked side by side, a line of each in turn, as glibc's memcpy does above its
//!   non-temporal threshold. Worth 15 % for read on Sapphire Rapids, and 14 % on Zen 5. Worth 24 % for a
//!   non-temporal copy on Sapphire Rapids; on Zen 5 it costs 9 %, and no other order is faster than the plain one.
//! - two: a software prefetch of each, [`ahead!`] bytes before use. Worth 8 % for a non-temporal triad on Sapphire
//!   Rapids, where four pages are worth 2 %; for copy it is worth half of what pages are. On Zen 5 it costs 1 %.
//!
//! With regular stores neither is worth anything, so those loops stay simple.

use core::arch::asm;
use std::sync::LazyLock;

use super::inner_loop::Loop;
use crate::kernels::{ELEMENT, Operation, Stores};

/// Elements of four pages: what one turn of a paged loop's outer loop handles.
const FOUR_PAGES: usize = 4 * 4096 / ELEMENT as usize;

/// How far before its use a line is prefetched: 2 to 3 KiB are alike, 6 KiB and 0.5 KiB gain half.
macro_rules! ahead {
    () => {
        "3072"
    };
}

// Which vectors one turn handles: each is a register's number and a displacement.

macro_rules! each {
    ($vector:ident, $r:literal, $store:literal, $($k:literal $d:literal),*) => {
        concat!($($vector!($k, $r, $d, $store),)*)
    };
}
macro_rules! four256 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!($vector, $r, $store, "0" "0", "1" "32", "2" "64", "3" "96")
    };
}
macro_rules! eight256 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!(
            $vector, $r, $store,
            "0" "0", "1" "32", "2" "64", "3" "96",
            "4" "128", "5" "160", "6" "192", "7" "224"
        )
    };
}
/// A line of each of four pages, in vectors of 32 B.
macro_rules! pages256 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!(
            $vector, $r, $store,
            "0" "0*4096+0", "1" "0*4096+32", "2" "1*4096+0", "3" "1*4096+32",
            "4" "2*4096+0", "5" "2*4096+32", "6" "3*4096+0", "7" "3*4096+32"
        )
    };
}
macro_rules! four512 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!($vector, $r, $store, "0" "0", "1" "64", "2" "128", "3" "192")
    };
}
macro_rules! eight512 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!(
            $vector, $r, $store,
            "0" "0", "1" "64", "2" "128", "3" "192",
            "4" "256", "5" "320", "6" "384", "7" "448"
        )
    };
}
/// A line of each of four pages, in vectors of 64 B.
macro_rules! pages512 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!($vector, $r, $store, "0" "0*4096", "1" "1*4096", "2" "2*4096", "3" "3*4096")
    };
}
/// Two lines of each of four pages, in vectors of 64 B.
macro_rules! pairs512 {
    ($vector:ident, $r:literal, $store:literal) => {
        each!(
            $vector, $r, $store,
            "0" "0*4096+0", "1" "0*4096+64", "2" "1*4096+0", "3" "1*4096+64",
            "4" "2*4096+0", "5" "2*4096+64", "6" "3*4096+0", "7" "3*4096+64"
        )
    };
}

// What is done with a vector.

#[rustfmt::skip]
macro_rules! copy {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "vmovupd ", $r, $k, ", [{a} + {i} + ", $d, "]", "\n",
            $store, " [{c} + {i} + ", $d, "], ", $r, $k, "\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! scale {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "vmulpd ", $r, $k, ", ", $r, "15, [{c} + {i} + ", $d, "]", "\n",
            $store, " [{b} + {i} + ", $d, "], ", $r, $k, "\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! add {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "vmovupd ", $r, $k, ", [{a} + {i} + ", $d, "]", "\n",
            "vaddpd ", $r, $k, ", ", $r, $k, ", [{b} + {i} + ", $d, "]", "\n",
            $store, " [{c} + {i} + ", $d, "], ", $r, $k, "\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! triad {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "vmulpd ", $r, $k, ", ", $r, "15, [{c} + {i} + ", $d, "]", "\n",
            "vaddpd ", $r, $k, ", ", $r, $k, ", [{b} + {i} + ", $d, "]", "\n",
            $store, " [{a} + {i} + ", $d, "], ", $r, $k, "\n",
        )
    };
}
#[rustfmt::skip]
macro_rules! add_ahead {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "prefetcht0 [{a} + {i} + ", $d, " + ", ahead!(), "]", "\n",
            "prefetcht0 [{b} + {i} + ", $d, " + ", ahead!(), "]", "\n",
            add!($k, $r, $d, $store),
        )
    };
}
#[rustfmt::skip]
macro_rules! triad_ahead {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "prefetcht0 [{c} + {i} + ", $d, " + ", ahead!(), "]", "\n",
            "prefetcht0 [{b} + {i} + ", $d, " + ", ahead!(), "]", "\n",
            triad!($k, $r, $d, $store),
        )
    };
}
macro_rules! fill {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!($store, " [{b} + {i} + ", $d, "], ", $r, "15\n")
    };
}
#[rustfmt::skip]
macro_rules! update {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!(
            "vmulpd ", $r, $k, ", ", $r, "15, [{a} + {i} + ", $d, "]", "\n",
            $store, " [{a} + {i} + ", $d, "], ", $r, $k, "\n",
        )
    };
}
macro_rules! read {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!("vaddpd ", $r, $k, ", ", $r, $k, ", [{a} + {i} + ", $d, "]\n")
    };
}
macro_rules! spill {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!("vmovupd [{sums} + ", $d, "], ", $r, $k, "\n")
    };
}
macro_rules! clear {
    ($k:literal, $r:literal, $d:literal, $store:literal) => {
        concat!("vxorpd xmm", $k, ", xmm", $k, ", xmm", $k, "\n")
    };
}

/// A loop that stores, vector after vector.
macro_rules! storing {
    ($name:ident, $vector:ident, $r:literal, $turn:ident, $step:literal, $store:literal, $fence:literal) => {
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
                    $turn!($vector, $r, $store),
                    concat!("add {i}, ", $step),
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

/// Whether non-temporal copies walk four pages side by side.
static COPIES_WALK_PAGES: LazyLock<bool> = LazyLock::new(|| {
    raw_cpuid::CpuId::new().get_vendor_info().is_some_and(|vendor| vendor.as_str() == "GenuineIntel")
});

/// A non-temporal loop: in the plain way, or four pages side by side and what is left in the plain way.
macro_rules! paged {
    ($name:ident, $paged:ident, $plain:ident, $vector:ident, $r:literal, $turn:ident) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            let walk = if *COPIES_WALK_PAGES { $paged } else { $plain };
            // SAFETY: the caller's.
            unsafe { walk(a, b, c, elements, scalar) }
        }

        /// # Safety
        /// See [`Loop`].
        unsafe fn $paged(a: *mut f64, b: *mut f64, c: *mut f64, elements: usize, scalar: f64) -> f64 {
            let whole = elements / FOUR_PAGES * FOUR_PAGES;
            if whole > 0 {
                // SAFETY: as in `storing`, for the first `whole` elements: the index advances by a line a
                // turn through the first of four pages, and then over the other three.
                unsafe {
                    asm!(
                        "// {a} {b} {c}",
                        concat!("vbroadcastsd ", $r, "15, xmm15"),
                        "2:",
                        "lea {end}, [{i} + 4096]",
                        ".p2align 5",
                        "3:",
                        $turn!($vector, $r, "vmovntpd"),
                        "add {i}, 64",
                        "cmp {i}, {end}",
                        "jne 3b",
                        "add {i}, 3*4096",
                        "jnz 2b",
                        "sfence",
                        "vzeroupper",
                        a = in(reg) a.add(whole),
                        b = in(reg) b.add(whole),
                        c = in(reg) c.add(whole),
                        i = inout(reg) -((whole as u64 * ELEMENT) as i64) => _,
                        end = out(reg) _,
                        inout("xmm15") scalar => _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                        options(nostack),
                    );
                }
            }
            if elements > whole {
                // SAFETY: the caller's, for the elements that are left: still a multiple of a block.
                unsafe { $plain(a.add(whole), b.add(whole), c.add(whole), elements - whole, scalar) };
            }
            0.0
        }
    };
}

/// Sums, four pages side by side, then the rest in a row. Eight accumulators hide the additions' latency.
macro_rules! summing {
    ($name:ident, $r:literal, $eight:ident, $step:literal, $pages:ident, $page_step:literal) => {
        /// # Safety
        /// See [`Loop`].
        unsafe fn $name(a: *mut f64, _: *mut f64, _: *mut f64, elements: usize, _: f64) -> f64 {
            let whole = elements / FOUR_PAGES * FOUR_PAGES;
            let mut sums = [0.0f64; 64];
            // SAFETY: both indices run over exactly the elements that the caller vouches for, first `whole`,
            // then the rest; either may be none. `sums` has room for eight vectors of the widest kind.
            unsafe {
                asm!(
                    $eight!(clear, $r, ""),
                    "test {i}, {i}",
                    "jz 4f",
                    "2:",
                    "lea {end}, [{i} + 4096]",
                    ".p2align 5",
                    "3:",
                    $pages!(read, $r, ""),
                    concat!("add {i}, ", $page_step),
                    "cmp {i}, {end}",
                    "jne 3b",
                    "add {i}, 3*4096",
                    "jnz 2b",
                    "4:",
                    "mov {i}, {rest}",
                    "mov {a}, {last}",
                    "test {i}, {i}",
                    "jz 6f",
                    ".p2align 5",
                    "5:",
                    $eight!(read, $r, ""),
                    concat!("add {i}, ", $step),
                    "jnz 5b",
                    "6:",
                    $eight!(spill, $r, ""),
                    "vzeroupper",
                    a = inout(reg) a.add(whole) => _,
                    last = in(reg) a.add(elements),
                    i = inout(reg) -((whole as u64 * ELEMENT) as i64) => _,
                    rest = in(reg) -(((elements - whole) as u64 * ELEMENT) as i64),
                    end = out(reg) _,
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
    ($module:ident, $kernel:ident, $r:literal, $four:ident, $step:literal, $line:ident, $read:ident) => {
        mod $module {
            use super::*;

            storing!(copy, copy, $r, $four, $step, "vmovupd", "");
            storing!(copy_nt_plain, copy, $r, $four, $step, "vmovntpd", "sfence");
            paged!(copy_nt, copy_nt_paged, copy_nt_plain, copy, $r, $line);
            storing!(scale, scale, $r, $four, $step, "vmovupd", "");
            storing!(scale_nt_plain, scale, $r, $four, $step, "vmovntpd", "sfence");
            paged!(scale_nt, scale_nt_paged, scale_nt_plain, scale, $r, $line);
            #[cfg(test)]
            pub(super) const COPIES: [[Loop; 2]; 2] =
                [[copy_nt_paged, copy_nt_plain], [scale_nt_paged, scale_nt_plain]];
            storing!(add, add, $r, $four, $step, "vmovupd", "");
            storing!(add_nt, add_ahead, $r, $four, $step, "vmovntpd", "sfence");
            storing!(triad, triad, $r, $four, $step, "vmovupd", "");
            storing!(triad_nt, triad_ahead, $r, $four, $step, "vmovntpd", "sfence");
            storing!(write, fill, $r, $four, $step, "vmovupd", "");
            storing!(write_nt, fill, $r, $four, $step, "vmovntpd", "sfence");
            storing!(update, update, $r, $four, $step, "vmovupd", "");
            use super::$read as read;

            loops!();
        }
        pub(super) use $module::kernel as $kernel;
    };
}

summing!(read256, "ymm", eight256, "256", pages256, "64");
summing!(read512, "zmm", eight512, "512", pairs512, "128");
width!(avx2, kernel256, "ymm", four256, "128", pages256, read256);
width!(avx512, kernel512, "zmm", four512, "256", pages512, read512);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{ALIGNMENT, BLOCK, Simd};

    /// What a loop leaves in the three arrays.
    fn left_by(walk: Loop, elements: usize) -> Vec<f64> {
        let mut memory = vec![0.0; 3 * elements + BLOCK];
        let aligned = memory.as_ptr().align_offset(ALIGNMENT);
        let arrays = &mut memory[aligned..aligned + 3 * elements];
        arrays.iter_mut().zip(1..).for_each(|(value, index)| *value = f64::from(index));
        let at = arrays.as_mut_ptr();
        // SAFETY: three arrays of so many elements, aligned; the caller looked for the instruction set.
        unsafe { walk(at, at.add(elements), at.add(2 * elements), elements, 3.0) };
        arrays.to_vec()
    }

    #[test]
    fn copies_leave_the_same_in_either_order() {
        for (simd, copies) in [(Simd::Avx2, avx2::COPIES), (Simd::Avx512, avx512::COPIES)] {
            if !Simd::available().contains(&simd) {
                println!("skipped: this processor has no {simd:?}");
                continue;
            }
            for [paged, plain] in copies {
                for blocks in [1, 31, 32, 33, 64, 100] {
                    let elements = blocks * BLOCK;
                    assert_eq!(left_by(paged, elements), left_by(plain, elements), "{simd:?}, {elements}");
                }
            }
        }
    }
}
