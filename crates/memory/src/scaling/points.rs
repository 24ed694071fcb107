//! Which numbers of threads are measured. Pure.

use super::bindings::{Binding, Cores};

/// Up to here every number of threads: curves bend among the first few.
const EVERY: usize = 16;
/// Seconds of a round of a figure in all: a tenth for the round, the rest for threads and counters.
const ROUND: f64 = 0.15;
/// Share of the time for the least rounds; first touch, untimed passes and repeated rounds take the rest.
const PLANNED: f64 = 0.7;

pub fn budget(max_time: f64, rounds: usize) -> usize {
    (max_time * PLANNED / (rounds.max(1) as f64 * ROUND)) as usize
}

/// The numbers of threads of a curve, ascending: all up to [`EVERY`], then halves and doubles; around the
/// number of cores and of CPUs each; never above `most`, and `most` itself. No more than `budget`, but the
/// ends of the curve and what lies around the number of cores always.
///
/// Packed threads fill whole cores, since each half-filled one would be the uneven case that the other
/// bindings show just past the number of cores. That case is there even where no CPU is left for it: one
/// thread more than CPUs.
pub fn counts(binding: Binding, cores: &Cores, most: Option<usize>, budget: usize) -> Vec<usize> {
    let (n, all) = (cores.count(), cores.cpus());
    let end = most.unwrap_or(all.max(n + 1));
    let mut wanted: Vec<usize> = match binding {
        Binding::Packed => whole_cores(cores),
        Binding::Cores | Binding::Threads => {
            let around = [1, end.min(all), n, n + 1, n.saturating_sub(1), all.saturating_sub(1)];
            let doubles = (0..).map(|power| 1usize << power).take_while(|count| *count < n);
            let halves = (1..).map(|power| 3usize << (power - 1)).take_while(|count| *count < n);
            let between = n + (all - n) / 2;
            let beyond = n + 1..=most.map_or(n, |most| most.min(EVERY));
            around
                .into_iter()
                .chain(doubles)
                .chain([between])
                .chain(halves)
                .chain(1..=n.min(EVERY))
                .chain(beyond)
                .chain([end])
                .collect()
        }
    };
    wanted.retain(|count| (1..=end).contains(count));
    let mut counts: Vec<usize> = Vec::new();
    // In the order of their worth: what comes first stays.
    const ALWAYS: usize = 6;
    for (worth, count) in wanted.into_iter().enumerate() {
        let room = counts.len() < budget || worth < ALWAYS || Some(count) == most;
        if room && !counts.contains(&count) {
            counts.push(count);
        }
    }
    counts.sort_unstable();
    counts
}

/// One thread, then all of so many cores, the most telling numbers first.
fn whole_cores(cores: &Cores) -> Vec<usize> {
    let filled: Vec<usize> = cores
        .0
        .iter()
        .scan(0, |sum, core| {
            *sum += core.len();
            Some(*sum)
        })
        .collect();
    let n = filled.len();
    let at = |count: usize| filled.get(count.wrapping_sub(1)).copied();
    let powers = (0..).map(|power| 1usize << power).take_while(|count| *count < n);
    let steps = powers.chain((1..).map(|power| 3usize << (power - 1)).take_while(|count| *count < n));
    let tell = [n, 1, n / 2, n.saturating_sub(1)].into_iter().chain(steps).chain(1..=EVERY.min(n));
    std::iter::once(1).chain(tell.filter_map(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn server(count: u32, smt: u32) -> Cores {
        Cores((0..count).map(|c| (0..smt).map(|t| c + t * count).collect()).collect())
    }

    #[test]
    fn two_cpus_without_smt_have_three_points() {
        assert_eq!(counts(Binding::Cores, &server(2, 1), None, 100), [1, 2, 3]);
        assert_eq!(counts(Binding::Cores, &server(1, 1), None, 100), [1, 2]);
    }

    #[test]
    fn the_studys_machine_is_measured_around_48_and_96() {
        let all = counts(Binding::Threads, &server(48, 2), None, 100);
        let ends = [24, 32, 47, 48, 49, 72, 95, 96];
        assert_eq!(all, (1..=16).chain(ends).collect::<Vec<_>>());
        let quick = counts(Binding::Cores, &server(48, 2), None, 8);
        assert_eq!(quick, [1, 2, 4, 47, 48, 49, 95, 96][..].to_vec());
        assert_eq!(counts(Binding::Cores, &server(48, 2), None, 0), [1, 47, 48, 49, 95, 96]);
    }

    #[test]
    fn packed_threads_fill_whole_cores() {
        assert_eq!(counts(Binding::Packed, &server(4, 2), None, 100), [1, 2, 4, 6, 8]);
        let large = counts(Binding::Packed, &server(48, 2), None, 100);
        assert!(large.iter().all(|count| *count == 1 || count % 2 == 0), "{large:?}");
        assert!([1, 2, 48, 94, 96].iter().all(|count| large.contains(count)), "{large:?}");
    }

    #[test]
    fn threads_asked_for_end_the_curve() {
        assert_eq!(counts(Binding::Cores, &server(8, 2), Some(5), 100), [1, 2, 3, 4, 5]);
        assert_eq!(counts(Binding::Cores, &server(2, 1), Some(5), 100), [1, 2, 3, 4, 5]);
        assert_eq!(counts(Binding::Cores, &server(2, 1), Some(40), 100).last(), Some(&40));
    }

    proptest! {
        #[test]
        fn curves_are_ascending_within_the_budget_and_hold_their_ends(
            count in 1..800u32, smt in 1..5u32, room in 0..60usize,
        ) {
            let cores = server(count, smt);
            for binding in [Binding::Cores, Binding::Threads, Binding::Packed] {
                let points = counts(binding, &cores, None, room);
                prop_assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(points.len() <= room.max(6));
                prop_assert!(points[0] == 1 && points.contains(&cores.cpus()));
                if binding != Binding::Packed {
                    prop_assert!(points.contains(&cores.count()) && points.contains(&(cores.count() + 1)));
                }
            }
        }
    }
}
