//! Finds phantom and duplicate memory channels.
//!
//! likwid summed memory channels that have no slot (RRZE-HPC/likwid #262). A channel that counts nothing
//! under memory load is such a phantom. Two that repeatedly count the same are one that is exposed twice.

/// Counts by which two readings of the same counter may differ: they are sequential, and a quiet machine
/// transfers a line now and then. Two real channels that share a load differ by some hundred in 0.1 s.
const SKEW: f64 = 2.0;
/// Counts below which two channels cannot be compared: both may be idle.
const COMPARABLE: f64 = 10_000.0;

/// Channels by kind, as indices into the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinct {
    pub channels: Vec<usize>,
    /// Channels that never counted.
    pub silent: Vec<usize>,
    /// Duplicates: the channel, and the channel that it duplicates.
    pub twins: Vec<(usize, usize)>,
}

/// Compares channels by their counts in several intervals under load. Counts are by interval, channel, event.
pub fn distinct(intervals: &[Vec<Vec<f64>>]) -> Distinct {
    let mut result = Distinct::default();
    let channels = intervals.iter().map(Vec::len).min().unwrap_or(0);
    let counts = |channel: usize| intervals.iter().flat_map(move |counts| counts[channel].iter().copied());
    for channel in 0..channels {
        let total: f64 = counts(channel).sum();
        if total == 0.0 {
            result.silent.push(channel);
            continue;
        }
        let same = |&other: &usize| {
            counts(other).count() == counts(channel).count()
                && counts(other).zip(counts(channel)).all(|(a, b)| (a - b).abs() <= SKEW)
        };
        match result.channels.iter().copied().find(same).filter(|_| total >= COMPARABLE) {
            Some(other) => result.twins.push((channel, other)),
            None => result.channels.push(channel),
        }
    }
    result
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
        let result = distinct(&intervals(&[REAL, NONE, OTHER, REAL, NONE, skewed]));
        assert_eq!(result.channels, [0, 2]);
        assert_eq!(result.silent, [1, 4]);
        assert_eq!(result.twins, [(3, 0), (5, 0)]);
    }

    #[test]
    fn one_equal_interval_is_chance() {
        let mut once = OTHER;
        once[2] = REAL[2];
        assert_eq!(distinct(&intervals(&[REAL, once])).channels, [0, 1]);
        let mut reads = REAL;
        reads.iter_mut().for_each(|(_, writes)| *writes += 100.0);
        assert_eq!(distinct(&intervals(&[REAL, reads])).channels, [0, 1], "equal reads, other writes");
    }

    #[test]
    fn idle_channels_are_not_duplicates() {
        let idle = [(3.0, 1.0), (2.0, 0.0), (4.0, 1.0)];
        assert_eq!(distinct(&intervals(&[REAL, idle, idle])).channels, [0, 1, 2]);
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
            let result = distinct(&intervals(&channels));
            let mut all: Vec<usize> = result.channels.iter().chain(&result.silent).copied().collect();
            all.extend(result.twins.iter().map(|(twin, _)| *twin));
            all.sort_unstable();
            prop_assert_eq!(all, (0..channels.len()).collect::<Vec<_>>());
            let is_sound =
                |(twin, other): &(usize, usize)| twin > other && result.channels.contains(other);
            prop_assert!(result.twins.iter().all(is_sound));
        }
    }
}
