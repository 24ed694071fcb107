//! The gaps of one heartbeat, summed up while it beats. Pure; adding a gap allocates nothing.

/// From this length on a gap without a switch is longer than interrupts are, in ns. Handlers take microseconds; what they
/// leave to soft interrupts is handed to a kernel thread when it lasts (Documentation/trace/osnoise-tracer.rst tells the
/// sources of noise apart by tracing; this tells them apart by length).
pub const BRIEF: u64 = 100_000;
/// Length of the windows that the time is cut into, in ns: a short sample of a benchmark. (A fixed time quantum, as in FTQ.)
pub const WINDOW: u64 = 1_000_000;
/// A window that lost this much, in ns, was hit: 1 % of it.
pub const HIT: u64 = WINDOW / 100;

/// Log2 of the buckets that an octave is divided into.
const FINE: u32 = 2;
/// Buckets: up to 2^36 ns (69 s); what is longer falls into the last.
pub const BUCKETS: usize = 36 << FINE;

/// What the scheduler did with the CPU in a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Away {
    /// Nanoseconds that the heartbeat waited for its CPU.
    pub waited: u64,
    /// Whether another task had the CPU.
    pub switched: bool,
}

/// A bucket of the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Gaps.
    pub count: u64,
    /// Nanoseconds lost in them.
    pub lost: u64,
}

/// What was lost, in ns, and in how many gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// One beat: what a gap would have been without its cause.
    beat: u64,
    /// Gaps.
    pub count: u64,
    /// Time lost in them: their length less one beat each.
    pub lost: u64,
    /// The longest.
    pub longest: u64,
    /// How much of it the heartbeat waited for its CPU.
    pub longest_waited: u64,
    /// Gaps in which another task had the CPU.
    pub switched: u64,
    /// Time of all gaps in which the heartbeat waited for its CPU; never more than was lost in them.
    pub waited: u64,
    /// Gaps without a switch that are shorter than [`BRIEF`], and the time lost in them.
    pub brief: Bucket,
    /// Gaps by length.
    pub buckets: Box<[Bucket; BUCKETS]>,
    /// The window that the latest gap ended in, and what it has lost.
    window: (u64, u64),
    /// Windows before that one that were hit.
    hit: u64,
}

impl Gaps {
    /// None yet, of a heartbeat whose beat takes so many ns.
    pub fn new(beat: u64) -> Self {
        Gaps {
            beat,
            count: 0,
            lost: 0,
            longest: 0,
            longest_waited: 0,
            switched: 0,
            waited: 0,
            brief: Bucket::default(),
            buckets: Box::new([Bucket::default(); BUCKETS]),
            window: (0, 0),
            hit: 0,
        }
    }

    /// Adds a gap that began `at` so many ns after the beginning and lasted `length` ns; later gaps begin later.
    pub fn add(&mut self, at: u64, length: u64, away: Away) {
        let lost = length.saturating_sub(self.beat);
        let waited = away.waited.min(lost);
        self.count += 1;
        self.lost += lost;
        self.waited += waited;
        self.switched += u64::from(away.switched);
        if length > self.longest {
            (self.longest, self.longest_waited) = (length, waited);
        }
        let bucket = &mut self.buckets[bucket(length)];
        for of in [bucket, &mut self.brief].into_iter().take(1 + usize::from(is_brief(length, away))) {
            of.count += 1;
            of.lost += lost;
        }
        self.lose(at, at + lost);
    }

    /// Takes the time from `from` to `to` off the windows that it lies in.
    fn lose(&mut self, from: u64, to: u64) {
        let (first, last) = (from / WINDOW, to / WINDOW);
        if first > self.window.0 {
            self.close(first);
        }
        if last == self.window.0 {
            self.window.1 += to - from;
        } else {
            self.window.1 += (self.window.0 + 1) * WINDOW - from.min((self.window.0 + 1) * WINDOW);
            // Windows in between are lost as a whole.
            let between = last - self.window.0 - 1;
            self.close(last);
            self.hit += between;
            self.window.1 = to - last * WINDOW;
        }
    }

    /// Ends the current window; the next that loses something is `next`.
    fn close(&mut self, next: u64) {
        self.hit += u64::from(self.window.1 >= HIT);
        self.window = (next, 0);
    }

    /// Of the whole windows within `length` ns: how many there are, and how many were hit.
    pub fn windows(&self, length: u64) -> (u64, u64) {
        let all = length / WINDOW;
        let last = u64::from(self.window.0 < all && self.window.1 >= HIT);
        (all, (self.hit + last).min(all))
    }
}

/// Whether a gap may be an interrupt's.
fn is_brief(length: u64, away: Away) -> bool {
    length < BRIEF && !away.switched
}

/// The bucket of so many ns.
pub fn bucket(ns: u64) -> usize {
    let octave = (ns | 1).ilog2();
    if octave < FINE {
        return ns as usize;
    }
    let index = (u64::from(octave - FINE) << FINE) + (ns >> (octave - FINE));
    (index as usize).min(BUCKETS - 1)
}

/// The shortest gap of a bucket, in ns, and the shortest of the next.
pub fn bounds(bucket: usize) -> (u64, u64) {
    (lowest(bucket as u64), lowest(bucket as u64 + 1))
}

fn lowest(bucket: u64) -> u64 {
    let octave = bucket >> FINE;
    match octave {
        0 => bucket,
        octave => ((1 << FINE) + (bucket & ((1 << FINE) - 1))) << (octave - 1),
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    const AWAY: Away = Away { waited: 4_000_000, switched: true };

    #[test]
    fn a_tick_and_a_time_slice() {
        let mut gaps = Gaps::new(30);
        gaps.add(500_000, 5_030, Away::default());
        gaps.add(2_900_000, 4_001_030, AWAY);
        gaps.add(8_000_000, 300_030, Away::default());
        assert_eq!((gaps.count, gaps.lost, gaps.switched), (3, 4_306_000, 1));
        assert_eq!((gaps.waited, gaps.longest, gaps.longest_waited), (4_000_000, 4_001_030, 4_000_000));
        assert_eq!(gaps.brief, Bucket { count: 1, lost: 5_000 }, "the third is too long for an interrupt");
        // 5 us of window 0 are no hit; windows 2 to 6 are, and window 8.
        assert_eq!(gaps.windows(10_000_000), (10, 6));
        assert_eq!(gaps.windows(8_500_000), (8, 5), "the last window was not over");
    }

    #[test]
    fn many_short_gaps_hit_a_window_together() {
        let mut gaps = Gaps::new(0);
        (0..9).for_each(|gap| gaps.add(gap * 100_000, 1_000, Away::default()));
        assert_eq!(gaps.windows(2_000_000), (2, 0));
        gaps.add(950_000, 1_000, Away::default());
        assert_eq!(gaps.windows(2_000_000), (2, 1));
    }

    #[test]
    fn more_waiting_than_gap_is_no_more_than_the_gap() {
        let mut gaps = Gaps::new(20);
        gaps.add(0, 1_020, Away { waited: 9_999_999, switched: true });
        assert_eq!((gaps.waited, gaps.longest_waited), (1_000, 1_000));
    }

    #[test]
    fn buckets_tile_the_line() {
        for at in 0..BUCKETS - 1 {
            let (low, next) = bounds(at);
            assert_eq!((bucket(low), bucket(next - 1), bucket(next)), (at, at, at + 1));
            assert!((next - low) as f64 <= 1.0 + low as f64 / 4.0, "{at}: {low} to {next}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn the_parts_never_exceed_the_whole(
            beats in proptest::collection::vec((1u64..5_000_000, 100u64..9_000_000, 0u64..9_000_000, any::<bool>()), 0..200)
        ) {
            let mut gaps = Gaps::new(25);
            let mut now = 0;
            for (quiet, length, waited, switched) in beats {
                now += quiet;
                gaps.add(now, length, Away { waited: if switched { waited } else { 0 }, switched });
                now += length;
            }
            prop_assert!(gaps.waited + gaps.brief.lost <= gaps.lost && gaps.lost <= now);
            prop_assert!(gaps.switched + gaps.brief.count <= gaps.count);
            prop_assert_eq!(gaps.buckets.iter().map(|bucket| bucket.lost).sum::<u64>(), gaps.lost);
            prop_assert_eq!(gaps.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), gaps.count);
            let (all, hit) = gaps.windows(now);
            prop_assert!(hit <= all);
            // Each window that was not hit lost less than HIT; so much at least lies in those that were, or in the last.
            prop_assert!(gaps.lost <= (hit + 1) * WINDOW + (all - hit) * HIT);
        }
    }
}
