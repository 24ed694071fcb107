//! Reproducible random numbers.

/// splitmix64 (G. Steele et al. 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// 0 to `end` - 1; `end` > 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True with probability 1 / `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Sorted cut positions in `0..=length`, including both ends.
    pub fn cuts(&mut self, length: usize) -> Vec<usize> {
        let count = self.below(8);
        let mut cuts: Vec<usize> = (0..count).map(|_| self.below(length + 1)).collect();
        cuts.extend([0, length]);
        cuts.sort_unstable();
        cuts
    }
}
