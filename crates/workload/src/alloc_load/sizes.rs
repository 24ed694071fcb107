//! The size of the next block.

use super::choice::Divisor;
use super::random::Random;

/// Exponents of the largest block: 8 B to 2 GiB.
pub const EXPONENTS: core::ops::RangeInclusive<u32> = 3..=31;

/// alloc-test's sizes, up to `2^exponent`: half of all blocks have 5 to 8 bytes. Each further class is twice
/// as large and half as frequent. Within a class all sizes are equally likely. Each class adds about 3 bytes
/// to the mean.
#[inline(always)]
pub fn halving(random: &mut Random, exponent: u32) -> u32 {
    let number = random.next64();
    let bits = exponent.wrapping_sub(3);
    let class = ((number as u32) & 1u32.wrapping_shl(bits).wrapping_sub(1)).wrapping_add(1).trailing_zeros();
    let smallest = 1u32.wrapping_shl(class.wrapping_add(2));
    let within = (number.wrapping_shr(bits) as u32) & smallest.wrapping_sub(1);
    within.wrapping_add(1).wrapping_add(smallest)
}

/// Sizes from 1 byte to the largest, all equally likely.
#[inline(always)]
pub fn uniform(random: &mut Random, largest: Divisor) -> u32 {
    largest.remainder(random.next32()).wrapping_add(1)
}

#[cfg(test)]
mod unit {
    use super::*;

    fn sizes(exponent: u32) -> impl Iterator<Item = u32> {
        let mut random = Random::new(41).unwrap();
        std::iter::repeat_with(move || halving(&mut random, exponent))
    }

    #[test]
    fn means_are_those_of_alloc_test() {
        // Exact: class k is (2^(k+2), 2^(k+3)], half as frequent as the one before; the last two are equally
        // frequent.
        for (exponent, mean) in [(16, 45.5), (10, 27.5)] {
            let draws = 1 << 22;
            let actual = sizes(exponent).take(draws).map(f64::from).sum::<f64>() / draws as f64;
            assert!((actual / mean - 1.0).abs() < 0.02, "2^{exponent}: {actual}");
            assert!(sizes(exponent).take(draws).all(|size| (5..=1 << exponent).contains(&size)));
        }
    }

    #[test]
    fn classes_are_as_frequent_as_they_should_be() {
        // Chi-square over the fourteen classes of 2^16: 99.9 % of samples lie below 34.5 at 13 degrees of
        // freedom.
        let draws = 1 << 20;
        let mut counts = [0.0f64; 14];
        for size in sizes(16).take(draws) {
            counts[(size - 1).ilog2() as usize - 2] += 1.0;
        }
        let expected = |class: usize| draws as f64 * 0.5f64.powi((class as i32 + 1).min(13));
        let chi: f64 = counts.iter().enumerate().map(|(k, n)| (n - expected(k)).powi(2) / expected(k)).sum();
        assert!(chi < 34.5, "{chi}: {counts:?}");
    }

    #[test]
    fn uniform_sizes_reach_both_ends() {
        let (mut random, largest) = (Random::new(41).unwrap(), Divisor::new(3).unwrap());
        let drawn: std::collections::BTreeSet<u32> =
            std::iter::repeat_with(|| uniform(&mut random, largest)).take(100).collect();
        assert_eq!(drawn, [1, 2, 3].into());
    }
}
