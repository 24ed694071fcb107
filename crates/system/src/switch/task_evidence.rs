//! Converts what the two tasks recorded into evidence. Pure.

use figure::evidence::*;
use figure::series::Bucket;
use figure::{Evidence, Reading};
use lab::copies::Copy;
use workload::ping_pong::fields;

use crate::histogram::quantile;

/// Writes the evidence of a pass. `pinned` are the CPUs of the two tasks, if they are pinned.
pub fn write(evidence: &mut Evidence, copy: &Copy, pinned: Option<[u32; 2]>) {
    let both = |index: usize| notes_of_both(copy, index).map(|number| number as f64).to_vec();
    evidence.put(HOPS, 2.0 * copy.count as f64);
    evidence.put(HOP_SECONDS, copy.seconds);
    evidence.put(HOP_VOLUNTARY, both(fields::VOLUNTARY));
    evidence.put(HOP_INVOLUNTARY, both(fields::INVOLUNTARY));
    evidence.put(HOP_MOVED, both(fields::MOVED));
    let seconds = |number: u64| number as f64 * 1e-9;
    evidence.put(HOP_CPU, notes_of_both(copy, fields::RAN).map(seconds).to_vec());
    let waited = notes_of_both(copy, fields::WAITED);
    let waited = waited.iter().all(|ns| *ns != u64::MAX).then(|| waited.map(seconds).to_vec());
    let unknown = "/proc/thread-self/schedstat: not there (CONFIG_SCHED_INFO)";
    evidence.put_reading(HOP_RUN_DELAY, Reading::or_unknown(waited, unknown));

    let samples = note_of(copy, fields::SAMPLES);
    let together = (samples > 0).then(|| note_of(copy, fields::TOGETHER) as f64 / samples as f64);
    let pairs = pairs(copy);
    evidence.put(HOP_SAMPLES, samples as f64);
    evidence.put_reading(
        HOP_TOGETHER,
        Reading::or_unknown(together, "too few round trips: the tasks sampled no CPU"),
    );
    let flat = pairs.iter().flat_map(|(cpus, count)| [f64::from(cpus.0), f64::from(cpus.1), *count as f64]);
    evidence.put(HOP_PAIRS, flat.collect());
    evidence.put(HOP_PAIRS_OTHER, note_of(copy, fields::OTHER_PAIRS) as f64);

    if let Some([ping, echo]) = pinned {
        // Each sample covers two tasks. A pair that is not in the table is off place, because the table has
        // room for all pairs of six CPUs.
        let off_place = |cpus: &(u32, u32)| u64::from(cpus.0 != ping) + u64::from(cpus.1 != echo);
        let listed: u64 = pairs.iter().map(|(cpus, count)| off_place(cpus) * count).sum();
        evidence.put(PLACE_STRAYED, (listed + 2 * note_of(copy, fields::OTHER_PAIRS)) as f64);
        evidence.put(PLACE_SAMPLES, 2.0 * samples as f64);
        evidence.put(SCHED_MIGRATIONS, both(fields::MOVED).iter().sum());
    }
}

/// CPU seconds of the two tasks: during the pass for persistent tasks, else in total.
pub fn cpu_seconds(copy: &Copy) -> f64 {
    match copy.cpu {
        (0.0, 0.0) => notes_of_both(copy, fields::RAN).iter().sum::<u64>() as f64 * 1e-9,
        (user, system) => user + system,
    }
}

/// Writes the wake-up latencies. Returns their median in ns; `None` if there are none.
pub fn write_latencies(evidence: &mut Evidence, copy: &Copy) -> Option<f64> {
    let bucket = |bucket: usize| {
        let count = note_of(copy, fields::WAKE_BUCKETS + bucket);
        let (low, next) = fields::bounds(bucket);
        (count > 0).then_some(Bucket { low: low as f64, high: next as f64, count })
    };
    let buckets: Vec<Bucket> = (0..fields::BUCKETS).filter_map(bucket).collect();
    let (count, most) = (note_of(copy, fields::WAKES), note_of(copy, fields::WAKE_MOST));
    let limited = |q| quantile(&buckets, q).map(|value| value.min(most as f64));
    let (median, p99) = (limited(0.5)?, limited(0.99)?);
    evidence.put(WAKE_P99, p99);
    evidence.put(WAKE_MAX, most as f64);
    evidence.put(WAKE_MEAN, note_of(copy, fields::WAKE_SUM) as f64 / count.max(1) as f64);
    evidence.put(WAKE_BUCKETS, buckets.iter().map(|bucket| bucket.low).collect());
    evidence.put(WAKE_COUNTS, buckets.iter().map(|bucket| bucket.count as f64).collect());
    Some(median)
}

/// Pairs of CPUs on which the tasks were sampled, with counts, most frequent first.
fn pairs(copy: &Copy) -> Vec<((u32, u32), u64)> {
    let entry = |index: usize| {
        let (pair, count) =
            (note_of(copy, fields::PAIRS + 2 * index), note_of(copy, fields::PAIRS + 2 * index + 1));
        (pair != 0).then(|| (fields::cpus(pair), count))
    };
    let mut pairs: Vec<_> = (0..fields::PAIR_ROOM).filter_map(entry).collect();
    pairs.sort_by_key(|(cpus, count)| (std::cmp::Reverse(*count), *cpus));
    pairs
}

fn note_of(copy: &Copy, index: usize) -> u64 {
    copy.notes.get(index).copied().unwrap_or(0)
}

fn notes_of_both(copy: &Copy, index: usize) -> [u64; 2] {
    [note_of(copy, index), note_of(copy, index + 1)]
}

#[cfg(test)]
mod unit {
    use super::*;

    fn copy(notes: &[(usize, u64)]) -> Copy {
        let mut all = vec![0; workload::shared::FIELDS];
        notes.iter().for_each(|(index, value)| all[*index] = *value);
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
    fn cpus_of_the_tasks_and_samples_off_place() {
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
        assert!(evidence.get(HOP_RUN_DELAY).reason().unwrap().contains("schedstat"), "one is unknown");
        let mut free = Evidence::default();
        write(&mut free, &copy, None);
        assert!(free.get(PLACE_STRAYED).reason().is_some(), "a free task has no place");
    }

    #[test]
    fn latencies_by_their_histogram() {
        let bucket = |ns| fields::WAKE_BUCKETS + fields::bucket(ns);
        let copy = copy(&[
            (bucket(2000), 98),
            (bucket(50_000), 2),
            (fields::WAKES, 100),
            (fields::WAKE_MOST, 51_000),
            (fields::WAKE_SUM, 300_000),
        ]);
        let mut evidence = Evidence::default();
        let median = write_latencies(&mut evidence, &copy).unwrap();
        assert!((1900.0..2150.0).contains(&median), "{median}");
        assert!((49_000.0..=51_000.0).contains(&evidence.get(WAKE_P99).into_value().unwrap()));
        assert_eq!(evidence.get(WAKE_MAX), Reading::Value(51_000.0));
        assert_eq!(evidence.get(WAKE_MEAN), Reading::Value(3000.0));
        assert_eq!(evidence.get(WAKE_COUNTS), Reading::Value(vec![98.0, 2.0]));
        assert_eq!(write_latencies(&mut evidence, &self::copy(&[])), None);
    }
}
