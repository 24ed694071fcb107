//! The random numbers of alloc-test, bit for bit.

/// A xorshift generator with a multiplied output (after A. Gerstmann), as in alloc-test since July 2018.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// `None` for a seed of 0, which gives only zeros. Upstream still uses that seed, so it frees and
    /// allocates one block of 5 bytes (its issue #7).
    pub const fn new(seed: u64) -> Option<Random> {
        if seed == 0 { None } else { Some(Random(seed)) }
    }

    /// The generator of one of several threads. The first uses the seed itself, each other thread its own
    /// stream. Upstream uses the same stream for all.
    pub const fn of_thread(seed: u64, thread: u64) -> Option<Random> {
        if thread == 0 {
            return Random::new(seed);
        }
        // SplitMix64: similar seeds give independent streams.
        let mut z = seed.wrapping_add(thread.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        Random::new(if z == 0 { 1 } else { z })
    }

    #[inline(always)]
    pub fn next32(&mut self) -> u32 {
        let number = self.0.wrapping_mul(0xd989_bcac_c137_dcd5);
        self.0 ^= self.0 >> 11;
        self.0 ^= self.0 << 31;
        self.0 ^= self.0 >> 18;
        (number >> 32) as u32
    }

    /// Two numbers, the first in the upper half.
    #[inline(always)]
    pub fn next64(&mut self) -> u64 {
        let high = u64::from(self.next32()) << 32;
        high.wrapping_add(u64::from(self.next32()))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn numbers_are_those_of_alloc_test() {
        // Printed by its C++ code (mimalloc-bench 568e13d, allocator_tester.h).
        let mut random = Random::new(41).unwrap();
        let numbers: Vec<u32> = (0..4).map(|_| random.next32()).collect();
        assert_eq!(numbers, [3_608_098_730, 922_600_695, 80_054_809, 3_295_596_224]);
        assert_eq!(Random::new(0), None);
    }

    #[test]
    fn threads_have_streams_of_their_own() {
        let first = |thread| Random::of_thread(41, thread).unwrap();
        assert_eq!(first(0), Random::new(41).unwrap());
        let states: std::collections::BTreeSet<u64> = (0..1000).map(|thread| first(thread).0).collect();
        assert_eq!(states.len(), 1000);
    }
}
