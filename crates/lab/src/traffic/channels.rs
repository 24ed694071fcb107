//! Which channels are really different.
//!
//! likwid summed memory channels that no slot belongs to (RRZE-HPC/likwid #262). A channel that counts nothing while
//! memory is under load is such a phantom. One that counts exactly what another counts, time and again, is the same
//! one shown twice.

/// Counts by which two readings of one and the same counter may differ: they are read one after the other, and a
/// quiet machine moves a line now and then in between. Two real channels that share the load differ by the chance of
/// which of them other traffic falls on, some hundred lines in a tenth of a second.
const SKEW: f64 = 2.0;
/// Counts below which nothing can be told of two channels: both may simply be idle.
const TELLING: f64 = 10_000.0;

/// The channels, by their place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinct {
    /// Those to be summed.
    pub kept: Vec<usize>,
    /// Those that never counted.
    pub silent: Vec<usize>,
    /// Those that count what another one counts: itself, and the other.
    pub twins: Vec<(usize, usize)>,
}

/// Tells channels apart by what they counted in several intervals under load: of each interval, of each channel,
/// of each of its events.
pub fn distinct(intervals: &[Vec<Vec<f64>>]) -> Distinct {
    let mut found = Distinct::default();
    let channels = intervals.iter().map(Vec::len).min().unwrap_or(0);
    let of = |channel: usize| intervals.iter().flat_map(move |counts| counts[channel].iter().copied());
    for channel in 0..channels {
        let all: f64 = of(channel).sum();
        if all == 0.0 {
            found.silent.push(channel);
            continue;
        }
        let same = |&other: &usize| {
            of(other).count() == of(channel).count()
                && of(other).zip(of(channel)).all(|(a, b)| (a - b).abs() <= SKEW)
        };
        match found.kept.iter().copied().find(same).filter(|_| all >= TELLING) {
            Some(other) => found.twins.push((channel, other)),
            None => found.kept.push(channel),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads and writes of a channel in three intervals.
    fn intervals(channels: &[[(f64, f64); 3]]) -> Vec<Vec<Vec<f64>>> {
        (0..3).map(|at| channels.iter().map(|counts| vec![counts[at].0, counts[at].1]).collect()).collect()
    }

    const REAL: [(f64, f64); 3] = [(90_000.0, 30_000.0), (91_230.0, 30_411.0), (89_870.0, 29_950.0)];
    const OTHER: [(f64, f64); 3] = [(90_212.0, 30_087.0), (91_001.0, 30_398.0), (90_114.0, 30_003.0)];
    const NONE: [(f64, f64); 3] = [(0.0, 0.0); 3];

    #[test]
    fn phantoms_and_doubles_are_not_summed() {
        let mut skewed = REAL;
        skewed[1].0 += 1.0;
        let found = distinct(&intervals(&[REAL, NONE, OTHER, REAL, NONE, skewed]));
        assert_eq!(found.kept, [0, 2]);
        assert_eq!(found.silent, [1, 4]);
        assert_eq!(found.twins, [(3, 0), (5, 0)]);
    }

    #[test]
    fn once_equal_is_chance() {
        let mut once = OTHER;
        once[2] = REAL[2];
        assert_eq!(distinct(&intervals(&[REAL, once])).kept, [0, 1]);
        let mut reads = REAL;
        reads.iter_mut().for_each(|(_, writes)| *writes += 100.0);
        assert_eq!(distinct(&intervals(&[REAL, reads])).kept, [0, 1], "equal reads, other writes");
    }

    #[test]
    fn of_idle_channels_nothing_is_told() {
        let idle = [(3.0, 1.0), (2.0, 0.0), (4.0, 1.0)];
        assert_eq!(distinct(&intervals(&[REAL, idle, idle])).kept, [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn every_channel_is_somewhere_once(
            counts in proptest::collection::vec(proptest::collection::vec(0u32..40_000, 6), 1..12),
            copies in proptest::collection::vec(0usize..12, 0..4),
        ) {
            let mut channels: Vec<[(f64, f64); 3]> = counts
                .iter()
                .map(|c| [0, 2, 4].map(|at| (f64::from(c[at]), f64::from(c[at + 1]))))
                .collect();
            channels.extend(copies.iter().filter_map(|&at| channels.get(at).copied()).collect::<Vec<_>>());
            let found = distinct(&intervals(&channels));
            let mut all: Vec<usize> = found.kept.iter().chain(&found.silent).copied().collect();
            all.extend(found.twins.iter().map(|(twin, _)| *twin));
            all.sort_unstable();
            prop_assert_eq!(all, (0..channels.len()).collect::<Vec<_>>());
            prop_assert!(found.twins.iter().all(|(twin, other)| twin > other && found.kept.contains(other)));
        }
    }
}
