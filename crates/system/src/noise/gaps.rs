//! Sums the gaps of one heartbeat while it runs. Pure. Adding a gap allocates nothing.

/// Nanoseconds from which a gap without a context switch is too long for an interrupt. Handlers take
/// microseconds, and long soft interrupts are moved to a kernel thread. (The osnoise tracer distinguishes the
/// sources by tracing, Documentation/trace/osnoise-tracer.rst; this module distinguishes them by length.)
pub const BRIEF: u64 = 100_000;
/// Nanoseconds of a window, as long as a short sample of a benchmark. (A fixed time quantum, as in FTQ.)
pub const WINDOW: u64 = 1_000_000;
/// Nanoseconds lost from which a window counts as hit: 1 %.
pub const HIT: u64 = WINDOW / 100;

/// Log2 of the buckets per octave.
const FINE: u32 = 2;
/// Number of buckets: up to 2^36 ns (69 s). The last one also holds longer gaps.
pub const BUCKETS: usize = 36 << FINE;

/// Preemption of the heartbeat in a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preemption {
    /// Nanoseconds that the heartbeat spent on the run queue.
    pub waited: u64,
    /// Whether another task ran on the CPU.
    pub switched: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    pub count: u64,
    /// Nanoseconds lost in them.
    pub lost: u64,
}

/// The gaps of one heartbeat. All times are in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// One undisturbed beat, which is part of every gap.
    beat: u64,
    pub count: u64,
    /// Time lost in them: their length minus one beat each.
    pub lost: u64,
    pub longest: u64,
    pub longest_waited: u64,
    /// Gaps in which another task ran on the CPU.
    pub switched: u64,
    /// Run-queue time in all gaps, at most the time lost in them.
    pub waited: u64,
    /// Gaps without a context switch that are shorter than [`BRIEF`].
    pub brief: Bucket,
    pub buckets: Box<[Bucket; BUCKETS]>,
    /// The window in which the latest gap ended, and the time lost in it.
    window: (u64, u64),
    /// Hit windows before that one.
    hit: u64,
}

impl Gaps {
    /// No gaps of a heartbeat with this undisturbed beat.
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

    /// Adds a gap that began `start` ns after the beginning and lasted `length` ns. Gaps must be added in
    /// order.
    pub fn add(&mut self, start: u64, length: u64, preemption: Preemption) {
        let lost = length.saturating_sub(self.beat);
        let waited = preemption.waited.min(lost);
        self.count += 1;
        self.lost += lost;
        self.waited += waited;
        self.switched += u64::from(preemption.switched);
        if length > self.longest {
            (self.longest, self.longest_waited) = (length, waited);
        }
        let bucket = &mut self.buckets[bucket(length)];
        let is_brief = is_brief(length, preemption);
        for bucket in [bucket, &mut self.brief].into_iter().take(1 + usize::from(is_brief)) {
            bucket.count += 1;
            bucket.lost += lost;
        }
        self.add_to_windows(start, start + lost);
    }

    /// Adds the lost time from `from` to `to` to its windows.
    fn add_to_windows(&mut self, from: u64, to: u64) {
        let (first, last) = (from / WINDOW, to / WINDOW);
        if first > self.window.0 {
            self.close(first);
        }
        if last == self.window.0 {
            self.window.1 += to - from;
        } else {
            self.window.1 += (self.window.0 + 1) * WINDOW - from.min((self.window.0 + 1) * WINDOW);
            // Windows in between are lost completely.
            let between = last - self.window.0 - 1;
            self.close(last);
            self.hit += between;
            self.window.1 = to - last * WINDOW;
        }
    }

    /// Ends the current window. `next` is the next window with lost time.
    fn close(&mut self, next: u64) {
        self.hit += u64::from(self.window.1 >= HIT);
        self.window = (next, 0);
    }

    /// The number of complete windows in `length` ns, and how many were hit.
    pub fn windows(&self, length: u64) -> (u64, u64) {
        let count = length / WINDOW;
        let last = u64::from(self.window.0 < count && self.window.1 >= HIT);
        (count, (self.hit + last).min(count))
    }
}

/// Whether an interrupt may have caused a gap.
fn is_brief(length: u64, preemption: Preemption) -> bool {
    length < BRIEF && !preemption.switched
}

/// The bucket of a gap of `ns`.
pub fn bucket(ns: u64) -> usize {
    let octave = (ns | 1).ilog2();
    if octave < FINE {
        return ns as usize;
    }
    let index = (u64::from(octave - FINE) << FINE) + (ns >> (octave - FINE));
    (index as usize).min(BUCKETS - 1)
}

/// The shortest gap of a bucket, and of the next bucket, in ns.
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

    const PREEMPTED: Preemption = Preemption { waited: 4_000_000, switched: true };

    #[test]
    fn a_tick_and_a_time_slice() {
        let mut gaps = Gaps::new(30);
        gaps.add(500_000, 5_030, Preemption::default());
        gaps.add(2_900_000, 4_001_030, PREEMPTED);
        gaps.add(8_000_000, 300_030, Preemption::default());
        assert_eq!((gaps.count, gaps.lost, gaps.switched), (3, 4_306_000, 1));
        assert_eq!((gaps.waited, gaps.longest, gaps.longest_waited), (4_000_000, 4_001_030, 4_000_000));
        assert_eq!(gaps.brief, Bucket { count: 1, lost: 5_000 }, "the third is too long for an interrupt");
        // Window 0 loses only 5 us. Windows 2 to 6 and 8 are hit.
        assert_eq!(gaps.windows(10_000_000), (10, 6));
        assert_eq!(gaps.windows(8_500_000), (8, 5), "the last window is not complete");
    }

    #[test]
    fn many_short_gaps_hit_a_window_together() {
        let mut gaps = Gaps::new(0);
        (0..9).for_each(|gap| gaps.add(gap * 100_000, 1_000, Preemption::default()));
        assert_eq!(gaps.windows(2_000_000), (2, 0));
        gaps.add(950_000, 1_000, Preemption::default());
        assert_eq!(gaps.windows(2_000_000), (2, 1));
    }

    #[test]
    fn run_queue_time_is_limited_to_the_gap() {
        let mut gaps = Gaps::new(20);
        gaps.add(0, 1_020, Preemption { waited: 9_999_999, switched: true });
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
                gaps.add(now, length, Preemption { waited: if switched { waited } else { 0 }, switched });
                now += length;
            }
            prop_assert!(gaps.waited + gaps.brief.lost <= gaps.lost && gaps.lost <= now);
            prop_assert!(gaps.switched + gaps.brief.count <= gaps.count);
            prop_assert_eq!(gaps.buckets.iter().map(|bucket| bucket.lost).sum::<u64>(), gaps.lost);
            prop_assert_eq!(gaps.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), gaps.count);
            let (all, hit) = gaps.windows(now);
            prop_assert!(hit <= all);
            // Each window that was not hit lost less than HIT. The rest is in hit windows, or in the last.
            prop_assert!(gaps.lost <= (hit + 1) * WINDOW + (all - hit) * HIT);
        }
    }
}
