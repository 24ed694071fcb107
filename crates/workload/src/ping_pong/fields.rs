//! Fields of the slot. Two tasks write to them: where a field has two values, the ping task's is first and
//! the echo task's follows.

/// Samples of the CPUs that the two tasks ran on.
pub const SAMPLES: usize = 0;
/// Samples with both tasks on the same CPU.
pub const TOGETHER: usize = 1;
/// Samples with a pair of CPUs that did not fit in the table.
pub const OTHER_PAIRS: usize = 2;
/// Samples with the task on another CPU than in the sample before. Two values.
pub const MOVED: usize = 3;
/// Voluntary context switches. Two values.
pub const VOLUNTARY: usize = 5;
/// Involuntary context switches. Two values.
pub const INVOLUNTARY: usize = 7;
/// Nanoseconds of CPU time. Two values.
pub const RAN: usize = 9;
/// Nanoseconds on a run queue; `u64::MAX` if unknown. Two values.
pub const WAITED: usize = 11;
pub const WAKES: usize = 13;
/// Sum of their latencies, in ns.
pub const WAKE_SUM: usize = 14;
/// The longest latency, in ns.
pub const WAKE_MOST: usize = 15;
/// The table of pairs of CPUs: [`PAIR_ROOM`] entries of two numbers, [`pair`] of the CPUs and the count of
/// samples.
pub const PAIRS: usize = 16;
/// Entries of the table: 6 CPUs in all combinations.
pub const PAIR_ROOM: usize = 36;
/// The histogram of wake-up latencies: [`BUCKETS`] counts.
pub const WAKE_BUCKETS: usize = PAIRS + 2 * PAIR_ROOM;
/// Buckets of the histogram: up to 134 ms; the last holds all longer latencies.
pub const BUCKETS: usize = 384;
/// Log2 of the buckets per octave: each bucket is 1/16 of its lowest value wide.
const OCTAVE_BITS: u32 = 4;

const _: () = assert!(WAKE_BUCKETS + BUCKETS <= crate::shared::FIELDS);

/// Encodes two CPUs as a number that is never 0.
pub const fn pair(ping: u32, echo: u32) -> u64 {
    (((ping as u64) << 32) | echo as u64).wrapping_add(1)
}

/// Decodes [`pair`].
pub const fn cpus(pair: u64) -> (u32, u32) {
    let pair = pair.wrapping_sub(1);
    ((pair >> 32) as u32, pair as u32)
}

pub const fn bucket(ns: u64) -> usize {
    let octave = 63 - (ns | 1).leading_zeros();
    if octave < OCTAVE_BITS {
        return ns as usize;
    }
    let index = (((octave - OCTAVE_BITS) as u64) << OCTAVE_BITS).wrapping_add(ns >> (octave - OCTAVE_BITS));
    if index < BUCKETS as u64 { index as usize } else { BUCKETS - 1 }
}

/// The lowest value of a bucket and of the next, in ns.
pub const fn bounds(bucket: usize) -> (u64, u64) {
    (lowest(bucket as u64), lowest(bucket as u64 + 1))
}

const fn lowest(bucket: u64) -> u64 {
    let octave = bucket >> OCTAVE_BITS;
    if octave == 0 {
        return bucket;
    }
    let within = bucket & ((1 << OCTAVE_BITS) - 1);
    ((1 << OCTAVE_BITS) + within) << (octave - 1)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn buckets_leave_no_gap() {
        for bucket in 0..BUCKETS - 1 {
            let (low, next) = bounds(bucket);
            assert!(low < next);
            assert_eq!((super::bucket(low), super::bucket(next - 1)), (bucket, bucket));
            assert_eq!(super::bucket(next), bucket + 1);
            assert!((next - low) as f64 <= 1.0 + low as f64 / 16.0, "{bucket}: {low} to {next}");
        }
        assert_eq!(super::bucket(u64::MAX), BUCKETS - 1);
        assert!(bounds(BUCKETS - 1).0 > 100_000_000);
    }

    #[test]
    fn pairs_are_decoded() {
        for (ping, echo) in [(0, 0), (0, 1), (511, 3), (u32::MAX - 1, u32::MAX - 1)] {
            assert_ne!(pair(ping, echo), 0);
            assert_eq!(cpus(pair(ping, echo)), (ping, echo));
        }
    }
}
