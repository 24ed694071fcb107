//! Where many chains lie in one region. Pure.
//!
//! An element needs one word of its line, so as many chains as a line has words can lie over one another: a
//! ladder up to 2 GiB then takes 2 GiB and not 7. While one chain is walked the others are not, and what they
//! left in caches is displaced before (see `bench`).

const WORD: u64 = size_of::<usize>() as u64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub bytes: u64,
    /// Offset of each chain, in the order in which their sizes were given.
    pub offsets: Vec<u64>,
}

/// Lays chains (multiples of `stride`), the largest first, each in the first layer of words with room.
pub fn layout(sizes: &[u64], stride: u64) -> Layout {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&chain| std::cmp::Reverse(sizes[chain]));
    // Bytes taken of each layer.
    let mut layers: Vec<u64> = Vec::new();
    let words = stride / WORD;
    let mut offsets = vec![0; sizes.len()];
    for chain in order {
        let layer = layers.iter().position(|taken| taken + sizes[chain] <= largest).unwrap_or(layers.len());
        if layer == layers.len() {
            layers.push(0);
        }
        // More layers than words stand behind the others.
        let (storey, word) = (layer as u64 / words, layer as u64 % words);
        offsets[chain] = storey * largest + layers[layer] + word * WORD;
        layers[layer] += sizes[chain];
    }
    Layout { bytes: (layers.len() as u64).div_ceil(words) * largest, offsets }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder_sizes::{Density, GRAIN, sizes, thin};
    use proptest::prelude::*;

    #[test]
    fn usual_ladders_fit_over_one_another() {
        let caches = [48 << 10, 2 << 20, 480 << 20];
        let full = sizes(16 << 10, 2 << 30, &caches, Density::Full);
        assert_eq!(layout(&full, 64).bytes, 2 << 30);
        let two: Vec<u64> = [thin(&full, 1), thin(&full, 2)].concat();
        assert_eq!(layout(&two, 64).bytes, 2 << 30);
    }

    proptest! {
        #[test]
        fn no_two_chains_share_a_word(
            grains in proptest::collection::vec(1..200u64, 1..60), wide in any::<bool>(),
        ) {
            let stride = if wide { 128 } else { 64 };
            let sizes: Vec<u64> = grains.iter().map(|grains| grains * GRAIN).collect();
            let layout = layout(&sizes, stride);
            // Chains of one word are apart as whole ranges.
            let mut taken: Vec<(u64, u64, u64)> = layout
                .offsets
                .iter()
                .zip(&sizes)
                .map(|(offset, size)| (offset % stride, offset / stride * stride, offset / stride * stride + size))
                .collect();
            taken.sort_unstable();
            for pair in taken.windows(2) {
                prop_assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{:?}", pair);
            }
            prop_assert!(taken.iter().all(|(word, _, end)| *end <= layout.bytes && word % 8 == 0));
        }
    }
}
