//! The sizes of a ladder. Pure.
//!
//! Sizes double on the whole and stand closer around the sizes at which caches should end, for an edge is as
//! well known as the sizes beside it are close.

use figure::format;

use crate::mode::PlanError;
use crate::sizes::{Room, USABLE_SHARE};

/// Sizes are multiples of this: it holds 16 lines of 64 B, or 8 of 128 B.
pub const GRAIN: u64 = 1 << 10;
/// The smallest size that a ladder may have: four grains, so that a loop over it is one.
pub const SMALLEST: u64 = 4 << 10;
/// Where a ladder begins by default: below the smallest L1 of these days, 32 KiB.
pub const FIRST: u64 = 16 << 10;
/// Around the end of a cache, in sizes of it. Nice ones: of 48 KiB they make 24, 30, 36, 48, 60, 72, 96.
const AROUND: &[f64] = &[0.5, 0.625, 0.75, 1.0, 1.25, 1.5, 2.0];
const AROUND_LEAN: &[f64] = &[0.75, 1.0, 1.5];
/// Two sizes nearer than this factor say the same.
const APART: f64 = 1.15;

/// Seconds that a round of one figure takes, with what is around it.
pub const ROUND: f64 = 0.12;
/// Share of the time that the plan may fill with the least rounds; the rest is for rounds that are repeated.
pub const FILLED: f64 = 0.9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Two an octave, seven around the end of each cache.
    Full,
    /// One in two octaves, three around the end of each cache but the last.
    Lean,
}

/// Sizes from `from` to `to` in multiples of [`GRAIN`], closer around the sizes of `caches`. Ascending.
pub fn sizes(from: u64, to: u64, caches: &[u64], density: Density) -> Vec<u64> {
    let grains = |bytes: f64| (bytes / GRAIN as f64).round().max(1.0) as u64 * GRAIN;
    let (from, to) = (grains(from as f64), grains(to as f64).max(grains(from as f64)));
    let (around, caches): (&[f64], &[u64]) = match density {
        Density::Full => (AROUND, caches),
        Density::Lean => (AROUND_LEAN, &caches[..caches.len().saturating_sub(1)]),
    };
    let mut sizes = vec![from, to];
    // The nearer to a reason, the sooner taken: of two that are too close the later one is dropped.
    let mut add = |bytes: u64| {
        let alone = |size: &u64| (*size as f64 / bytes as f64).ln().abs() > APART.ln();
        if bytes > from && bytes < to && sizes.iter().all(alone) {
            sizes.push(bytes);
        }
    };
    for &cache in caches {
        around.iter().for_each(|times| add(grains(cache as f64 * times)));
    }
    let (octaves, parts): (usize, &[f64]) = match density {
        Density::Full => (1, &[1.0, 1.5]),
        Density::Lean => (2, &[1.0]),
    };
    for power in (FIRST.trailing_zeros() % octaves as u32..u64::BITS - 2).step_by(octaves) {
        parts.iter().for_each(|part| add(grains((1u64 << power) as f64 * part)));
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Fewer of these sizes: the first, the last, and about one in `octaves` octaves between.
pub fn thin(sizes: &[u64], octaves: u32) -> Vec<u64> {
    let mut thinned: Vec<u64> = Vec::new();
    let far = |a: u64, b: u64| b as f64 >= a as f64 * f64::from(octaves).exp2() / APART;
    for (index, &size) in sizes.iter().enumerate() {
        let last = index + 1 == sizes.len();
        if last || thinned.last().is_none_or(|&before| far(before, size)) {
            // The last replaces one that is too near to it, unless that is the first.
            if last && thinned.len() > 1 && thinned.last().is_some_and(|&before| !far(before, size)) {
                thinned.pop();
            }
            thinned.push(size);
        }
    }
    thinned
}

/// First and last size of a ladder, as far as `copies` of the last fit; and what bounds the last one.
pub fn ends(
    asked: Option<(u64, u64)>,
    default: u64,
    copies: u64,
    room: &figure::Reading<Room>,
) -> Result<(u64, u64, String), PlanError> {
    let usable = room.value().map(|room| ((room.bytes as f64 * USABLE_SHARE) as u64, room.bound.as_str()));
    let wrong = |(from, to), text: &str| {
        let sizes = format!("{}..{}", format::bytes(from as f64), format::bytes(to as f64));
        PlanError::Wrong(format!("--sizes {}: {text}", sizes.replace(' ', "")))
    };
    match asked {
        Some(sizes) if sizes.0 < SMALLEST => {
            Err(wrong(sizes, &format!("begin with {} or more", format::bytes(SMALLEST as f64))))
        }
        Some(sizes) => match usable {
            Some((usable, bound)) if sizes.1.saturating_mul(copies) > usable => {
                let most = format::bytes((usable / copies / GRAIN * GRAIN) as f64);
                let times = if copies > 1 {
                    format!("{copies} x the last size is mapped")
                } else {
                    "it is mapped".into()
                };
                Err(wrong(sizes, &format!("{times}, but {bound}; end with {most} or less")))
            }
            _ => Ok((sizes.0, sizes.1, String::new())),
        },
        None => match usable {
            Some((usable, bound)) if default.saturating_mul(copies) > usable => {
                let most = usable / copies / GRAIN * GRAIN;
                if most <= FIRST {
                    return Err(PlanError::Wrong(format!("not enough memory for a ladder: {bound}")));
                }
                Ok((
                    FIRST,
                    most,
                    format!("{copies} x {} does not fit: {bound}", format::bytes(default as f64)),
                ))
            }
            _ => Ok((FIRST, default, String::new())),
        },
    }
}

/// A size in an id: `64K`, `1536K`, `2G`; whole in the largest unit that leaves it so.
pub fn label(bytes: u64) -> String {
    let units = [(1u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::Reading;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;
    const CACHES: &[u64] = &[48 << 10, 2 * MIB, 480 * MIB];

    #[test]
    fn sizes_are_close_around_the_caches() {
        let full = sizes(16 << 10, 2048 * MIB, CACHES, Density::Full);
        for kib in [16, 24, 30, 36, 48, 60, 72, 96, 1024, 1280, 1536, 2048, 2560, 3072, 4096] {
            assert!(full.contains(&(kib << 10)), "{kib} KiB of {full:?}");
        }
        assert!((36..=48).contains(&full.len()), "{}: {full:?}", full.len());
        let lean = sizes(16 << 10, 2048 * MIB, CACHES, Density::Lean);
        assert!(lean.contains(&(48 << 10)) && lean.len() <= 16, "{}: {lean:?}", lean.len());
        let octaves = thin(&full, 1);
        assert!((16..=19).contains(&octaves.len()), "{octaves:?}");
        assert!(octaves.windows(2).all(|pair| pair[1] as f64 >= pair[0] as f64 * 1.8));
        assert_eq!((octaves[0], octaves.last()), (16 << 10, Some(&(2048 * MIB))));
        assert!((5..=6).contains(&thin(&lean, 4).len()), "{:?}", thin(&lean, 4));
        assert_eq!(thin(&[7], 1), [7]);
        assert_eq!(thin(&[1 << 20, (1 << 20) + 1024], 1).len(), 2, "both ends stay");
    }

    #[test]
    fn labels_are_what_people_write() {
        assert_eq!(
            [48 << 10, 1536 << 10, 2 << 30, 96 * MIB, 100].map(label),
            ["48K", "1536K", "2G", "96M", "100"]
        );
    }

    #[test]
    fn memory_bounds_a_ladder() {
        let room =
            |bytes| Reading::Value(Room { bytes, bound: "little is left".to_owned(), is_momentary: true });
        assert_eq!(ends(None, 1 << 30, 2, &room(8 << 30)).unwrap(), (FIRST, 1 << 30, String::new()));
        let (_, last, limit) = ends(None, 1 << 30, 2, &room(1 << 30)).unwrap();
        assert!(last * 2 <= (1 << 30) * 85 / 100 && limit.contains("little is left"));
        let refused = ends(Some((16 << 10, 1 << 30)), 0, 2, &room(1 << 30)).unwrap_err().to_string();
        assert!(
            refused.starts_with("--sizes 16KiB..1GiB: 2 x") && refused.contains("435 MiB or less"),
            "{refused}"
        );
        let refused = ends(Some((64, 1 << 20)), 0, 1, &room(1 << 30)).unwrap_err().to_string();
        assert_eq!(refused, "--sizes 64B..1MiB: begin with 4 KiB or more");
        assert!(ends(None, 1 << 30, 1, &room(1000)).is_err());
        assert_eq!(ends(None, 1 << 30, 1, &Reading::unknown("x")).unwrap().1, 1 << 30);
    }

    proptest! {
        #[test]
        fn sizes_ascend_between_the_ends(
            from in SMALLEST..1u64 << 34, more in 0..1u64 << 36, caches in proptest::collection::vec(1..1u64 << 33, 0..4),
        ) {
            for density in [Density::Full, Density::Lean] {
                let sizes = sizes(from, from + more, &caches, density);
                prop_assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(sizes.iter().all(|size| size.is_multiple_of(GRAIN)));
                prop_assert!(sizes[0].abs_diff(from) <= GRAIN);
                prop_assert!(sizes.last().unwrap().abs_diff(from + more) <= GRAIN);
            }
        }
    }
}
