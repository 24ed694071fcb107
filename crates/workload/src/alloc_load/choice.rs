//! The choice of the next slot: ranges of slots, each with a probability, uniform within.

use super::random::Random;

/// A divisor with its precomputed inverse (D. Lemire, O. Kaser, N. Kurz: Faster remainder by direct
/// computation, 2019).
#[derive(Clone, Copy, Debug, Default)]
pub struct Divisor {
    number: u32,
    inverse: u64,
}

impl Divisor {
    pub const fn new(number: u32) -> Option<Divisor> {
        match (u64::MAX).checked_div(number as u64) {
            Some(quotient) => Some(Divisor { number, inverse: quotient.wrapping_add(1) }),
            None => None,
        }
    }

    pub const fn number(self) -> u32 {
        self.number
    }

    /// The remainder, exact for all dividends of 32 bits.
    #[inline(always)]
    pub fn remainder(self, dividend: u32) -> u32 {
        let fraction = self.inverse.wrapping_mul(u64::from(dividend));
        (u128::from(fraction).wrapping_mul(u128::from(self.number)) >> 64) as u32
    }
}

/// Probabilities of the seven ranges and, in reverse order, their widths: 80 % of the choices go to 20 % of
/// the slots, and so within each part, six times (binomial, 6 of 0.8).
const SHARES: [f64; 7] = [0.262144, 0.393216, 0.24576, 0.08192, 0.01536, 0.001536, 0.000064];

/// Fewest slots: with fewer a range is empty, and upstream divides by zero.
pub const FEWEST: u32 = 15_625;

#[derive(Clone, Copy, Debug, Default)]
struct Range {
    offset: u32,
    width: Divisor,
}

/// alloc-test's choice: a Pareto distribution, 80/20, folded six times.
#[derive(Clone, Copy, Debug)]
pub struct Pareto {
    /// Random numbers from each limit on choose a later range.
    limits: [u32; 6],
    /// The eighth is never chosen: with it, any three bits are a valid index.
    ranges: [Range; 8],
}

impl Pareto {
    /// `None` for fewer than [`FEWEST`] slots.
    pub fn new(slots: u32) -> Option<Pareto> {
        let whole = f64::from(u32::MAX);
        let mut pareto = Pareto { limits: [0; 6], ranges: [Range::default(); 8] };
        // As upstream computes them: sums of truncated shares, except the last.
        let mut limit = 0u32;
        for (index, share) in SHARES.iter().take(6).enumerate() {
            limit = limit.wrapping_add((whole * share) as u32);
            *pareto.limits.get_mut(index)? =
                if index == 5 { (whole * (1.0 - SHARES[6])) as u32 } else { limit };
        }
        let mut offset = 0u32;
        for (index, share) in SHARES.iter().rev().enumerate() {
            let remaining = slots.checked_sub(offset)?;
            let width = if index == 6 { remaining } else { (f64::from(slots) * share) as u32 };
            *pareto.ranges.get_mut(index)? = Range { offset, width: Divisor::new(width)? };
            offset = offset.wrapping_add(width);
        }
        Some(pareto)
    }

    #[inline(always)]
    pub fn next(&self, random: &mut Random) -> u32 {
        let (range, within) = (random.next32(), random.next32());
        // Six comparisons without a branch that could be mispredicted.
        let mut index = 0usize;
        for limit in self.limits {
            index = index.wrapping_add(usize::from(range >= limit));
        }
        let range = &self.ranges[index & 7];
        range.offset.wrapping_add(range.width.remainder(within))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn remainders_are_exact() {
        for number in [1, 2, 3, 7, 51_539, 8_246_337, u32::MAX] {
            let divisor = Divisor::new(number).unwrap();
            for dividend in [0, 1, number.wrapping_sub(1), number, number.wrapping_add(1), 1 << 31, u32::MAX]
            {
                assert_eq!(divisor.remainder(dividend), dividend % number, "{dividend} % {number}");
            }
        }
        assert!(Divisor::new(0).is_none());
    }

    #[test]
    fn ranges_are_as_wide_as_alloc_test_makes_them() {
        let widths = |slots| Pareto::new(slots).map(|pareto| pareto.ranges.map(|range| range.width.number()));
        let ithare = [2147, 51_539, 515_396, 2_748_779, 8_246_337, 13_194_139, 8_796_095, 0];
        assert_eq!(widths(1 << 25), Some(ithare));
        assert!(widths(FEWEST).is_some() && widths(FEWEST - 1).is_none());
    }
}
