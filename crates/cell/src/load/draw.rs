//! What the next step is.

use super::choice::{Divisor, Pareto};
use super::order::{CLASSES, Class, Order, Source};
use super::random::Random;
use super::sizes;

/// Where slots and sizes come from. Asked at each step, as [`Heap`](super::heap::Heap) is.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each thread, and never moved while it is used")]
pub enum Draw {
    /// alloc-test: a Pareto choice of slots, and halving classes of sizes up to 2^this.
    AllocTest(Pareto, u32),
    /// Any slot and any size as often as any other: t-test1's way.
    Uniform {
        /// Slots.
        slots: Divisor,
        /// Bytes of the largest block.
        largest: Divisor,
    },
    /// The classes of a histogram, each with slots of its own.
    Classes(Classes),
}

impl Draw {
    /// What an order asks for; `None` for too few slots or sizes, or for no such source.
    pub fn of(order: &Order) -> Option<Draw> {
        let is = |source: Source| order.source == source as u32;
        if is(Source::Pareto) {
            let pareto = Pareto::over(order.slots)?;
            sizes::EXPONENTS.contains(&order.largest).then_some(Draw::AllocTest(pareto, order.largest))
        } else if is(Source::Uniform) {
            let (slots, largest) = (Divisor::new(order.slots)?, Divisor::new(order.largest)?);
            Some(Draw::Uniform { slots, largest })
        } else if is(Source::Classes) {
            Classes::new(order.class.get(..order.classes as usize)?).map(Draw::Classes)
        } else {
            None
        }
    }

    /// The next slot.
    #[inline(always)]
    pub fn slot(&self, random: &mut Random) -> u32 {
        match self {
            Draw::AllocTest(pareto, _) => pareto.next(random),
            Draw::Uniform { slots, .. } => slots.remainder(random.next32()),
            Draw::Classes(classes) => {
                let (which, within) = (random.next32(), random.next32());
                classes.slot(which, within)
            }
        }
    }

    /// The size of a block for a slot.
    #[inline(always)]
    pub fn size(&self, slot: u32, random: &mut Random) -> u32 {
        match self {
            Draw::AllocTest(_, exponent) => sizes::halving(random, *exponent),
            Draw::Uniform { largest, .. } => sizes::uniform(random, *largest),
            Draw::Classes(classes) => classes.size(slot, random.next32()),
        }
    }
}

/// The classes of a histogram.
#[derive(Debug)]
pub struct Classes {
    /// Ascending; behind the last, [`u32::MAX`].
    below: [u32; CLASSES],
    /// The first slot of each; behind the last, [`u32::MAX`].
    first: [u32; CLASSES],
    slots: [Divisor; CLASSES],
    /// Sizes from the first on, so many of them.
    sizes: [(u32, Divisor); CLASSES],
}

impl Classes {
    /// `None` for none, as many as [`CLASSES`] or more, or one without slots or sizes.
    pub fn new(classes: &[Class]) -> Option<Classes> {
        if classes.len() >= CLASSES {
            return None;
        }
        let none = Divisor::default();
        let mut these = Classes {
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
            *these.below.get_mut(index)? = class.below;
            *these.first.get_mut(index)? = first;
            *these.slots.get_mut(index)? = Divisor::new(class.slots)?;
            let many = class.largest.checked_sub(class.smallest)?.checked_add(1)?;
            *these.sizes.get_mut(index)? = (class.smallest, Divisor::new(many)?);
            first = first.checked_add(class.slots)?;
            below = class.below;
        }
        // Any number chooses a class.
        *these.below.get_mut(classes.len().checked_sub(1)?)? = u32::MAX;
        Some(these)
    }

    #[inline(never)]
    fn slot(&self, which: u32, within: u32) -> u32 {
        let class = at_most(&self.below, which.min(u32::MAX - 1));
        let (first, slots) = (self.first.get(class), self.slots.get(class));
        let (first, slots) = (first.copied().unwrap_or(0), slots.copied().unwrap_or_default());
        first.wrapping_add(slots.remainder(within))
    }

    #[inline(never)]
    fn size(&self, slot: u32, within: u32) -> u32 {
        // Of those that begin at or before the slot, the last.
        let class = at_most(&self.first, slot).wrapping_sub(1);
        let (smallest, many) = self.sizes.get(class).copied().unwrap_or_default();
        smallest.wrapping_add(many.remainder(within))
    }
}

/// How many of a sorted list, without its last, are at most the number: seven comparisons for 128.
#[inline(always)]
fn at_most(list: &[u32; CLASSES], number: u32) -> usize {
    let (mut base, mut half) = (0usize, CLASSES / 2);
    while half > 0 {
        let probe = base.wrapping_add(half);
        if list.get(probe.wrapping_sub(1)).is_some_and(|at| *at <= number) {
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
        let mut seen = [0.0f64; 16];
        for _ in 0..100_000 {
            let slot = classes.slot(random.next32(), random.next32());
            let sizes = match slot {
                0..10 => 1..=8,
                10 => 100..=100,
                _ => 9..=16,
            };
            assert!(sizes.contains(&classes.size(slot, random.next32())), "slot {slot}");
            seen[slot as usize] += 1.0;
        }
        for (slots, share) in [(0..10, 0.25), (10..11, 0.25), (11..16, 0.5)] {
            let got = seen[slots].iter().sum::<f64>() / 100_000.0;
            assert!((got - share).abs() < 0.01, "{got} for {share}");
        }
        assert!(Classes::new(&[]).is_none() && Classes::new(&[class(1, 0, 8, 1)]).is_none());
        assert!(Classes::new(&[class(1, 1, 8, 0)]).is_none());
    }
}
