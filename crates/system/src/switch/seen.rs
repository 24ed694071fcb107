//! What the two tasks saw of themselves, as evidence. Pure.

use figure::evidence::*;
use figure::{Evidence, Reading};
use workload::ping_pong::fields;

use lab::copies::Copy;

/// Writes it; `pinned` are the CPUs of the two, if they have any of their own.
pub fn write(evidence: &mut Evidence, copy: &Copy, pinned: Option<[u32; 2]>) {
    let both = |at: usize| of_both(copy, at).map(|number| number as f64).to_vec();
    evidence.put(HOPS, 2.0 * copy.count as f64);
    evidence.put(HOP_SECONDS, copy.seconds);
    evidence.put(HOP_VOLUNTARY, both(fields::VOLUNTARY));
    evidence.put(HOP_INVOLUNTARY, both(fields::INVOLUNTARY));
    evidence.put(HOP_MOVED, both(fields::MOVED));
    let seconds = |number: u64| number as f64 * 1e-9;
    evidence.put(HOP_CPU, of_both(copy, fields::RAN).map(seconds).to_vec());
    let waited = of_both(copy, fields::WAITED);
    let waited = waited.iter().all(|ns| *ns != u64::MAX).then(|| waited.map(seconds).to_vec());
    let unknown = "/proc/thread-self/schedstat: not there (CONFIG_SCHED_INFO)";
    evidence.put_reading(HOP_RUN_DELAY, Reading::or_unknown(waited, unknown));

    let samples = noted(copy, fields::SAMPLES);
    let together = (samples > 0).then(|| noted(copy, fields::TOGETHER) as f64 / samples as f64);
    let pairs = pairs(copy);
    evidence.put(HOP_SAMPLES, samples as f64);
    evidence.put_reading(
        HOP_TOGETHER,
        Reading::or_unknown(together, "too few round trips: the tasks never looked where they were"),
    );
    let told = pairs.iter().flat_map(|(cpus, count)| [f64::from(cpus.0), f64::from(cpus.1), *count as f64]);
    evidence.put(HOP_PAIRS, told.collect());
    evidence.put(HOP_PAIRS_OTHER, noted(copy, fields::OTHER_PAIRS) as f64);

    if let Some([ping, echo]) = pinned {
        // Each look looks at two tasks. What is not in the table is elsewhere: that has room for six CPUs in all ways.
        let strayed = |cpus: &(u32, u32)| u64::from(cpus.0 != ping) + u64::from(cpus.1 != echo);
        let listed: u64 = pairs.iter().map(|(cpus, count)| strayed(cpus) * count).sum();
        evidence.put(PLACE_STRAYED, (listed + 2 * noted(copy, fields::OTHER_PAIRS)) as f64);
        evidence.put(PLACE_SAMPLES, 2.0 * samples as f64);
        evidence.put(SCHED_MIGRATIONS, both(fields::MOVED).iter().sum());
    }
}

/// CPU seconds of the two tasks: while they hopped if they last, else in all.
pub fn ran(copy: &Copy) -> f64 {
    match copy.cpu {
        (0.0, 0.0) => of_both(copy, fields::RAN).iter().sum::<u64>() as f64 * 1e-9,
        (user, system) => user + system,
    }
}

/// Writes the latencies. Their median, in ns; `None` if there are none.
pub fn wakes(evidence: &mut Evidence, copy: &Copy) -> Option<f64> {
    let counts: Vec<u64> = (0..fields::BUCKETS).map(|at| noted(copy, fields::WAKE_BUCKETS + at)).collect();
    let (count, most) = (noted(copy, fields::WAKES), noted(copy, fields::WAKE_MOST));
    let within = |q| quantile(&counts, q).map(|value| value.min(most as f64));
    let (median, p99) = (within(0.5)?, within(0.99)?);
    evidence.put(WAKE_P99, p99);
    evidence.put(WAKE_MAX, most as f64);
    evidence.put(WAKE_MEAN, noted(copy, fields::WAKE_SUM) as f64 / count.max(1) as f64);
    let filled = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
    evidence.put(WAKE_BUCKETS, filled().map(|(at, _)| fields::bounds(at).0 as f64).collect());
    evidence.put(WAKE_COUNTS, filled().map(|(_, count)| *count as f64).collect());
    Some(median)
}

/// The value that a share `q` of a histogram does not exceed, linear within its bucket.
pub fn quantile(counts: &[u64], q: f64) -> Option<f64> {
    let all: u64 = counts.iter().sum();
    let due = q * all as f64;
    let mut below = 0.0;
    for (bucket, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (low, next) = fields::bounds(bucket);
        if below + count as f64 >= due {
            return Some(low as f64 + (next - low) as f64 * ((due - below) / count as f64).clamp(0.0, 1.0));
        }
        below += count as f64;
    }
    None
}

/// Pairs of CPUs and how often they were seen, the commonest first.
fn pairs(copy: &Copy) -> Vec<((u32, u32), u64)> {
    let entry = |at: usize| {
        let (pair, count) = (noted(copy, fields::PAIRS + 2 * at), noted(copy, fields::PAIRS + 2 * at + 1));
        (pair != 0).then(|| (fields::cpus(pair), count))
    };
    let mut pairs: Vec<_> = (0..fields::PAIR_ROOM).filter_map(entry).collect();
    pairs.sort_by_key(|(cpus, count)| (std::cmp::Reverse(*count), *cpus));
    pairs
}

/// A number of the two tasks.
fn noted(copy: &Copy, at: usize) -> u64 {
    copy.notes.get(at).copied().unwrap_or(0)
}

/// The same of each.
fn of_both(copy: &Copy, at: usize) -> [u64; 2] {
    [noted(copy, at), noted(copy, at + 1)]
}

#[cfg(test)]
mod unit {
    use super::*;

    fn copy(notes: &[(usize, u64)]) -> Copy {
        let mut all = vec![0; workload::shared::FIELDS];
        notes.iter().for_each(|(at, value)| all[*at] = *value);
        Copy {
            count: 1000,
            seconds: 0.5,
            window: (1, 500_000_001),
            cpu: (0.1, 0.3),
            switches: (0, 0),
            run_delay: None,
            notes: all,
        }
    }

    #[test]
    fn where_the_tasks_were_and_whether_that_is_where_they_belong() {
        let copy = copy(&[
            (fields::SAMPLES, 10),
            (fields::TOGETHER, 4),
            (fields::PAIRS, fields::pair(1, 1)),
            (fields::PAIRS + 1, 4),
            (fields::PAIRS + 2, fields::pair(0, 1)),
            (fields::PAIRS + 3, 6),
            (fields::WAITED + 1, u64::MAX),
        ]);
        let mut evidence = Evidence::default();
        write(&mut evidence, &copy, Some([0, 1]));
        assert_eq!(evidence.get(HOP_TOGETHER), Reading::Value(0.4));
        assert_eq!(evidence.get(HOP_PAIRS), Reading::Value(vec![0.0, 1.0, 6.0, 1.0, 1.0, 4.0]));
        assert_eq!(evidence.get(PLACE_STRAYED), Reading::Value(4.0), "the first task, four times");
        assert_eq!(evidence.get(PLACE_SAMPLES), Reading::Value(20.0));
        assert_eq!(evidence.get(HOPS), Reading::Value(2000.0));
        assert!(evidence.get(HOP_RUN_DELAY).reason().unwrap().contains("schedstat"), "one is not known");
        let mut free = Evidence::default();
        write(&mut free, &copy, None);
        assert!(free.get(PLACE_STRAYED).reason().is_some(), "a free task cannot stray");
    }

    #[test]
    fn latencies_by_their_histogram() {
        let at = |ns| fields::WAKE_BUCKETS + fields::bucket(ns);
        let copy = copy(&[
            (at(2000), 98),
            (at(50_000), 2),
            (fields::WAKES, 100),
            (fields::WAKE_MOST, 51_000),
            (fields::WAKE_SUM, 300_000),
        ]);
        let mut evidence = Evidence::default();
        let median = wakes(&mut evidence, &copy).unwrap();
        assert!((1900.0..2150.0).contains(&median), "{median}");
        assert!((49_000.0..=51_000.0).contains(&evidence.get(WAKE_P99).into_value().unwrap()));
        assert_eq!(evidence.get(WAKE_MAX), Reading::Value(51_000.0));
        assert_eq!(evidence.get(WAKE_MEAN), Reading::Value(3000.0));
        assert_eq!(evidence.get(WAKE_COUNTS), Reading::Value(vec![98.0, 2.0]));
        assert_eq!(wakes(&mut evidence, &self::copy(&[])), None);
    }
}
