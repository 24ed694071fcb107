//! Walks that read and write in a given mix, one file for each instruction set, and a portable reference.
//!
//! A walk goes over one block of memory in groups of [`PAGES`] pages side by side, a line of each in turn,
//! and differs from the others only in which of the pages it reads and which it writes past the cache. So
//! what two mixes differ by is the mix and not the loop. Many pages at once, because one stream leaves a
//! core's prefetchers idle (see `avx`); twelve, because that divides into all mixes. Against the fewest pages
//! of each (3 + 1, 2 + 1, 1 + 1) twelve gain a tenth, a tenth and a third (Sapphire Rapids guest, 2 MiB
//! pages, interleaved rounds). Twelve pages written and none read are a quarter slower than four, so that
//! writes alone walk four.
//!
//! Each walk exists twice: at full speed, and spaced, with a spin after every line. A spin is a loop of one
//! decrement and one taken branch, which takes a cycle for each turn on the cores that we know of. It reads
//! no memory and depends on none, so that loads under way continue.

use lab::failure::Failure;

use super::Simd;
use crate::kernels::Mix;
pub use turn::{GROUP, PAGE, PAGE_ELEMENTS, PAGES, Turn, Walk};

/// The text of one turn: a line of each page, with what comes after each line. `$read` takes a page's number
/// and the registers that sum its line, as many as its vectors need.
#[rustfmt::skip]
macro_rules! turn {
    (1, 0, $read:ident, $write:ident, $after:expr) => {
        concat!(
            turn!(8 reads, $read, $after), turn!(4 more reads, $read, $after),
        )
    };
    (3, 1, $read:ident, $write:ident, $after:expr) => {
        concat!(
            turn!(8 reads, $read, $after), $read!("8", "0", "1", "2", "3"), $after,
            $write!("9"), $after, $write!("10"), $after, $write!("11"), $after,
        )
    };
    (2, 1, $read:ident, $write:ident, $after:expr) => {
        concat!(
            turn!(8 reads, $read, $after),
            $write!("8"), $after, $write!("9"), $after, $write!("10"), $after, $write!("11"), $after,
        )
    };
    (1, 1, $read:ident, $write:ident, $after:expr) => {
        concat!(
            turn!(6 reads, $read, $after),
            $write!("6"), $after, $write!("7"), $after, $write!("8"), $after,
            $write!("9"), $after, $write!("10"), $after, $write!("11"), $after,
        )
    };
    (0, 1, $read:ident, $write:ident, $after:expr) => {
        concat!($write!("0"), $after, $write!("1"), $after, $write!("2"), $after, $write!("3"), $after)
    };
    (6 reads, $read:ident, $after:expr) => {
        concat!(
            $read!("0", "0", "1", "2", "3"), $after, $read!("1", "4", "5", "6", "7"), $after,
            $read!("2", "0", "1", "2", "3"), $after, $read!("3", "4", "5", "6", "7"), $after,
            $read!("4", "0", "1", "2", "3"), $after, $read!("5", "4", "5", "6", "7"), $after,
        )
    };
    (8 reads, $read:ident, $after:expr) => {
        concat!(
            turn!(6 reads, $read, $after),
            $read!("6", "0", "1", "2", "3"), $after, $read!("7", "4", "5", "6", "7"), $after,
        )
    };
    (4 more reads, $read:ident, $after:expr) => {
        concat!(
            $read!("8", "0", "1", "2", "3"), $after, $read!("9", "4", "5", "6", "7"), $after,
            $read!("10", "0", "1", "2", "3"), $after, $read!("11", "4", "5", "6", "7"), $after,
        )
    };
}

/// Eight copies of what is done with a summing register.
#[rustfmt::skip]
macro_rules! sums {
    ($of:ident) => {
        concat!($of!("0"), $of!("1"), $of!("2"), $of!("3"), $of!("4"), $of!("5"), $of!("6"), $of!("7"))
    };
}

/// All walks of an instruction set and their table. `$walk` takes name, mix, and what follows each line.
macro_rules! walks {
    ($walk:ident, $spin:expr) => {
        $walk!(read, 1, 0, "");
        $walk!(read3_write1, 3, 1, "");
        $walk!(read2_write1, 2, 1, "");
        $walk!(read1_write1, 1, 1, "");
        $walk!(write, 0, 1, "");
        $walk!(read_spaced, 1, 0, $spin);
        $walk!(read3_write1_spaced, 3, 1, $spin);
        $walk!(read2_write1_spaced, 2, 1, $spin);
        $walk!(read1_write1_spaced, 1, 1, $spin);
        $walk!(write_spaced, 0, 1, $spin);

        pub(in crate::simd) fn walk(
            mix: crate::kernels::Mix,
            spaced: bool,
        ) -> Option<crate::simd::mix::Walk> {
            Some(match (mix, spaced) {
                (crate::kernels::Mix::Ratio(1, 0), false) => read,
                (crate::kernels::Mix::Ratio(3, 1), false) => read3_write1,
                (crate::kernels::Mix::Ratio(2, 1), false) => read2_write1,
                (crate::kernels::Mix::Ratio(1, 1), false) => read1_write1,
                (crate::kernels::Mix::Ratio(0, 1), false) => write,
                (crate::kernels::Mix::Ratio(1, 0), true) => read_spaced,
                (crate::kernels::Mix::Ratio(3, 1), true) => read3_write1_spaced,
                (crate::kernels::Mix::Ratio(2, 1), true) => read2_write1_spaced,
                (crate::kernels::Mix::Ratio(1, 1), true) => read1_write1_spaced,
                (crate::kernels::Mix::Ratio(0, 1), true) => write_spaced,
                _ => return None,
            })
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod turn;

impl Simd {
    /// The walk of a mix, or that there is none.
    pub fn required_walk(self, mix: Mix, spaced: bool) -> Result<Walk, Failure> {
        let missing = || Failure::new(format!("no {} code for {mix}", self.word()));
        self.walk(mix, spaced).ok_or_else(missing)
    }

    /// The walk of a mix, at full speed or spaced; `None` if this set has none: the portable one has no
    /// non-temporal stores, and a regular store would also read the line.
    pub fn walk(self, mix: Mix, spaced: bool) -> Option<Walk> {
        match self {
            Simd::Portable => portable::walk(mix).filter(|_| mix == Mix::Ratio(1, 0)),
            #[cfg(target_arch = "x86_64")]
            Simd::Sse2 => sse2::walk(mix, spaced),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => avx::walk256(mix, spaced),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => avx::walk512(mix, spaced),
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => neon::walk(mix, spaced),
            #[allow(unreachable_patterns, reason = "sets of other architectures")]
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::MIXES;
    use crate::pages::Pages;
    use crate::region::Region;
    use proptest::prelude::*;

    /// Groups of memory with a guard page at either end, filled by a seed.
    struct Block {
        region: Region,
        groups: usize,
    }

    impl Block {
        fn new(groups: usize, seed: u64) -> Block {
            let block = Block {
                region: Region::map((groups * PAGES + 2) * PAGE, Pages::Small, None).unwrap(),
                groups,
            };
            let mut state = seed | 1;
            for element in block.all() {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *element = (state >> 11) as f64 / (1u64 << 53) as f64 + 0.5;
            }
            block
        }

        #[allow(clippy::mut_from_ref, reason = "the region is this test's alone")]
        fn all(&self) -> &mut [f64] {
            let elements = (self.groups * PAGES + 2) * PAGE_ELEMENTS;
            // SAFETY: inside the region, which no other code has.
            unsafe { std::slice::from_raw_parts_mut(self.region.start().cast(), elements) }
        }

        fn walk(&self, walk: Walk, value: f64, spins: u64) -> (f64, Vec<f64>) {
            let start = self.region.start().wrapping_add(PAGE).cast();
            // SAFETY: the groups lie in the region, between the guard pages.
            let sum = unsafe { walk(start, self.groups, value, spins) };
            (sum, self.all().to_vec())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_set_agrees_with_the_reference(groups in 0..4usize, seed in any::<u64>(), spins in 1..9u64) {
            for set in Simd::available().into_iter().filter(|set| *set != Simd::Portable) {
                for mix in MIXES.iter().copied().filter(|mix| Turn::of(*mix).is_some()) {
                    let reference = portable::walk(mix).unwrap();
                    let (wanted_sum, wanted) = Block::new(groups, seed).walk(reference, 7.0, 0);
                    for spaced in [false, true] {
                        let walk = set.walk(mix, spaced).unwrap();
                        let (sum, found) = Block::new(groups, seed).walk(walk, 7.0, spins);
                        prop_assert!(found == wanted, "{:?} {} {}", set, mix, spaced);
                        prop_assert!((sum - wanted_sum).abs() <= 1e-12 * wanted_sum, "{:?} {}", set, mix);
                    }
                }
            }
        }
    }

    #[test]
    fn every_mix_is_what_it_says() {
        for mix in MIXES.iter().copied() {
            let Some(turn) = Turn::of(mix) else {
                assert_eq!(mix, Mix::TriadLike);
                continue;
            };
            let written = (0..PAGES).filter(|page| turn.writes(*page)).count();
            let Mix::Ratio(reads, writes) = mix else { unreachable!() };
            assert_eq!((PAGES - written) * usize::from(writes), written * usize::from(reads), "{mix}");
            assert_eq!(PAGES % turn.pages, 0);
        }
    }

    #[test]
    fn spaced_walks_take_their_time() {
        let block = Block::new(1, 3);
        let walk = Simd::widest().walk(Mix::Ratio(1, 0), true).unwrap();
        let time = |spins| {
            let begun = std::time::Instant::now();
            block.walk(walk, 0.0, spins);
            begun.elapsed().as_secs_f64()
        };
        let shortest = |spins| (0..5).map(|_| time(spins)).fold(f64::INFINITY, f64::min);
        // 768 lines; ten thousand turns of a loop take microseconds on anything.
        assert!(shortest(10_000) > 4.0 * shortest(100));
    }

    #[test]
    fn the_portable_set_only_reads() {
        assert!(Simd::Portable.walk(Mix::Ratio(1, 0), true).is_some());
        assert!(Simd::Portable.walk(Mix::Ratio(2, 1), false).is_none());
        assert!(Simd::widest().walk(Mix::TriadLike, false).is_none());
    }
}
