//! Where a hop's results stand among the numbers of its slot.

/// How often both tasks looked where they were.
pub const SAMPLES: usize = 0;
/// How often that was the same CPU.
pub const TOGETHER: usize = 1;
/// Looks that found a pair of CPUs for which there was no room in the table.
pub const OTHER_PAIRS: usize = 2;
/// Times that a look found the task on another CPU than the look before: of the one that begins, then of the other, as in
/// all that follows.
pub const MOVED: usize = 3;
/// Voluntary switches.
pub const VOLUNTARY: usize = 5;
/// Involuntary ones.
pub const INVOLUNTARY: usize = 7;
/// Nanoseconds on a CPU.
pub const RAN: usize = 9;
/// Nanoseconds ready and without a CPU; `u64::MAX` where that is not known.
pub const WAITED: usize = 11;
/// Wake-ups whose latency was taken.
pub const WAKES: usize = 13;
/// Sum of these latencies, in ns.
pub const WAKE_SUM: usize = 14;
/// The longest, in ns.
pub const WAKE_MOST: usize = 15;
/// The table of pairs of CPUs: [`PAIR_ROOM`] entries of two numbers, what [`pair`] makes of the CPUs and how often they were
/// seen.
pub const PAIRS: usize = 16;
/// Pairs that there is room for: 6 CPUs in all combinations.
pub const PAIR_ROOM: usize = 36;
/// The histogram of wake-up latencies: [`BUCKETS`] counts.
pub const WAKE_BUCKETS: usize = PAIRS + 2 * PAIR_ROOM;
/// Buckets of the histogram: up to 134 ms, what is longer falls into the last.
pub const BUCKETS: usize = 384;
/// Log2 of the buckets that an octave is divided into: each is 1/16 of its lowest value wide.
const FINE: u32 = 4;

const _: () = assert!(WAKE_BUCKETS + BUCKETS <= crate::shared::NOTES);

/// Two CPUs as a number that is never 0.
pub const fn pair(ping: u32, echo: u32) -> u64 {
    (((ping as u64) << 32) | echo as u64).wrapping_add(1)
}

/// The CPUs of such a number.
pub const fn cpus(pair: u64) -> (u32, u32) {
    let pair = pair.wrapping_sub(1);
    ((pair >> 32) as u32, pair as u32)
}

/// The bucket of so many nanoseconds.
pub const fn bucket(ns: u64) -> usize {
    let octave = 63 - (ns | 1).leading_zeros();
    if octave < FINE {
        return ns as usize;
    }
    let index = (((octave - FINE) as u64) << FINE).wrapping_add(ns >> (octave - FINE));
    if index < BUCKETS as u64 { index as usize } else { BUCKETS - 1 }
}

/// The lowest value of a bucket, in ns, and the lowest of the next.
pub const fn bounds(bucket: usize) -> (u64, u64) {
    (lowest(bucket as u64), lowest(bucket as u64 + 1))
}

const fn lowest(bucket: u64) -> u64 {
    let octave = bucket >> FINE;
    if octave == 0 {
        return bucket;
    }
    let within = bucket & ((1 << FINE) - 1);
    ((1 << FINE) + within) << (octave - 1)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn buckets_tile_the_line() {
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
    fn pairs_come_back() {
        for known in [(0, 0), (0, 1), (511, 3), (u32::MAX - 1, u32::MAX - 1)] {
            assert_ne!(pair(known.0, known.1), 0);
            assert_eq!(cpus(pair(known.0, known.1)), known);
        }
    }
}
