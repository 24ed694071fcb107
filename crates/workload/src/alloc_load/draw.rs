//! Draws the slot and the size of the next step.

use super::choice::{Divisor, Pareto};
use super::parameters::{CLASSES, Class, Distribution, Parameters};
use super::random::Random;
use super::sizes;

/// A distribution of slots and sizes. Matched at each step, as [`Heap`](super::heap::Heap) is.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each thread, and never moved while it is used")]
pub enum Draw {
    /// alloc-test: a Pareto distribution of slots, and sizes up to 2^n.
    AllocTest(Pareto, u32),
    /// All slots and all sizes are equally likely, as in t-test1.
    Uniform {
        slots: Divisor,
        /// Bytes of the largest block.
        largest: Divisor,
    },
    /// The classes of a histogram, each with its own slots.
    Classes(Classes),
}

impl Draw {
    /// `None` for too few slots or sizes, or an unknown distribution.
    pub fn new(parameters: &Parameters) -> Option<Draw> {
        let is = |distribution: Distribution| parameters.distribution == distribution as u32;
        if is(Distribution::Pareto) {
            let (pareto, exponent) = (Pareto::new(parameters.slots)?, parameters.largest);
            sizes::EXPONENTS.contains(&exponent).then_some(Draw::AllocTest(pareto, exponent))
        } else if is(Distribution::Uniform) {
            let (slots, largest) = (Divisor::new(parameters.slots)?, Divisor::new(parameters.largest)?);
            Some(Draw::Uniform { slots, largest })
        } else if is(Distribution::Classes) {
            Classes::new(parameters.classes.get(..parameters.class_count as usize)?).map(Draw::Classes)
        } else {
            None
        }
    }

    #[inline(always)]
    pub fn slot(&self, random: &mut Random) -> u32 {
        match self {
            Draw::AllocTest(pareto, _) => pareto.next(random),
            Draw::Uniform { slots, .. } => slots.remainder(random.next32()),
            Draw::Classes(classes) => {
                let (class, within) = (random.next32(), random.next32());
                classes.slot(class, within)
            }
        }
    }

    #[inline(always)]
    pub fn size(&self, slot: u32, random: &mut Random) -> u32 {
        match self {
            Draw::AllocTest(_, exponent) => sizes::halving(random, *exponent),
            Draw::Uniform { largest, .. } => sizes::uniform(random, *largest),
            Draw::Classes(classes) => classes.size(slot, random.next32()),
        }
    }
}

#[derive(Debug)]
pub struct Classes {
    /// Ascending; [`u32::MAX`] after the last class.
    below: [u32; CLASSES],
    /// First slot of each class; [`u32::MAX`] after the last class.
    first: [u32; CLASSES],
    slots: [Divisor; CLASSES],
    /// Smallest size of each class, and number of sizes.
    sizes: [(u32, Divisor); CLASSES],
}

impl Classes {
    /// `None` for no classes, for [`CLASSES`] or more, or for one without slots or sizes.
    pub fn new(classes: &[Class]) -> Option<Classes> {
        if classes.len() >= CLASSES {
            return None;
        }
        let none = Divisor::default();
        let mut result = Classes {
            below: [u32::MAX; CLASSES],
            first: [u32::MAX; CLASSES],
            slots: [none; CLASSES],
            sizes: [(0, none); CLASSES],
        };
        let (mut first, mut below) = (0u32, 0);
        for (index, class) in classes.iter().enumerate() {
            if class.below < below || class.smallest == 0 {
                return None;
            }
            *result.below.get_mut(index)? = class.below;
            *result.first.get_mut(index)? = first;
            *result.slots.get_mut(index)? = Divisor::new(class.slots)?;
            let sizes = class.largest.checked_sub(class.smallest)?.checked_add(1)?;
            *result.sizes.get_mut(index)? = (class.smallest, Divisor::new(sizes)?);
            first = first.checked_add(class.slots)?;
            below = class.below;
        }
        // Every number chooses a class.
        *result.below.get_mut(classes.len().checked_sub(1)?)? = u32::MAX;
        Some(result)
    }

    #[inline(never)]
    fn slot(&self, number: u32, within: u32) -> u32 {
        let class = count_at_most(&self.below, number.min(u32::MAX - 1));
        let (first, slots) = (self.first.get(class), self.slots.get(class));
        let (first, slots) = (first.copied().unwrap_or(0), slots.copied().unwrap_or_default());
        first.wrapping_add(slots.remainder(within))
    }

    #[inline(never)]
    fn size(&self, slot: u32, within: u32) -> u32 {
        // The last class that begins at or before the slot.
        let class = count_at_most(&self.first, slot).wrapping_sub(1);
        let (smallest, sizes) = self.sizes.get(class).copied().unwrap_or_default();
        smallest.wrapping_add(sizes.remainder(within))
    }
}

/// Number of elements of a sorted list, without its last, that are at most `number`: seven comparisons for
/// 128.
#[inline(always)]
fn count_at_most(list: &[u32; CLASSES], number: u32) -> usize {
    let (mut base, mut half) = (0usize, CLASSES / 2);
    while half > 0 {
        let probe = base.wrapping_add(half);
        if list.get(probe.wrapping_sub(1)).is_some_and(|element| *element <= number) {
            base = probe;
        }
        half /= 2;
    }
    base
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn classes_are_chosen_by_their_probability_and_have_slots_of_their_own() {
        let class = |below, smallest, largest, slots| Class { below, smallest, largest, slots };
        let quarter = 1 << 30;
        let classes = Classes::new(&[
            class(quarter, 1, 8, 10),
            class(2 * quarter, 100, 100, 1),
            class(u32::MAX, 9, 16, 5),
        ]);
        let (classes, mut random) = (classes.unwrap(), Random::new(41).unwrap());
        let mut counts = [0.0f64; 16];
        for _ in 0..100_000 {
            let slot = classes.slot(random.next32(), random.next32());
            let sizes = match slot {
                0..10 => 1..=8,
                10 => 100..=100,
                _ => 9..=16,
            };
            assert!(sizes.contains(&classes.size(slot, random.next32())), "slot {slot}");
            counts[slot as usize] += 1.0;
        }
        for (slots, share) in [(0..10, 0.25), (10..11, 0.25), (11..16, 0.5)] {
            let actual = counts[slots].iter().sum::<f64>() / 100_000.0;
            assert!((actual - share).abs() < 0.01, "{actual} for {share}");
        }
        assert!(Classes::new(&[]).is_none() && Classes::new(&[class(1, 0, 8, 1)]).is_none());
        assert!(Classes::new(&[class(1, 1, 8, 0)]).is_none());
    }
}
