//! The heartbeat: a pinned thread reads the clock in a loop. If more time than a beat has passed, the CPU did
//! other work.

use figure::stats;
use lab::clock::{Clock, Ticks};
use lab::pool::WorkerThread;
use lab::thread_counters::SchedStat;

use super::gaps::{Gaps, Preemption};

/// Beats from which a delay is a gap. A beat takes some tens of ns. This is longer than a cache miss, a page
/// walk or a busy sibling thread can delay it, and shorter than the shortest interrupt. (The threshold of
/// Linux's osnoise tracer is 1 µs, before 6.11 5 µs.)
const GAP_BEATS: f64 = 16.0;
/// Steps of a coarse clock from which a delay is a gap.
const GAP_STEPS: f64 = 4.0;
/// Seconds from which a gap may contain two context switches, which take about 1 µs each. Then the thread
/// reads its scheduler statistics.
const SWITCH: f64 = 2e-6;
/// Seconds that recording a gap may take; it normally takes 1 to 2 µs. A longer delay is a gap itself.
const RECORDING: f64 = 20e-6;
/// Beats from which the undisturbed beat is computed.
const PROBES: usize = 20_000;

#[derive(Clone, Debug)]
pub struct Heartbeat {
    pub gaps: Gaps,
    /// Observed time in ns, without the time for recording gaps.
    pub observed: u64,
    /// Number of windows of 1 ms, and how many were hit.
    pub windows: (u64, u64),
    /// Whether the kernel has run-queue statistics.
    pub has_sched_stat: bool,
}

/// The undisturbed beat on this thread, and the shortest gap, in seconds.
pub fn beat(clock: &Clock) -> (f64, f64) {
    let readings: Vec<Ticks> = (0..PROBES).map(|_| clock.now()).collect();
    let beats: Vec<f64> = readings.windows(2).map(|pair| clock.seconds(pair[0], pair[1])).collect();
    let beat = stats::median(&beats).unwrap_or(0.0);
    (beat, (GAP_BEATS * beat).max(GAP_STEPS * clock.precision().granularity))
}

/// Runs the heartbeat for `seconds`. The loop allocates nothing and makes a system call only after a gap that
/// may contain a context switch. The time for recording gaps is not observed time.
pub fn run(thread: &WorkerThread, seconds: f64, beat: f64, threshold: f64) -> Heartbeat {
    let clock = &*thread.clock;
    let rate = clock.counter_rate().unwrap_or(1e9);
    let ticks = |seconds: f64| (seconds * rate) as Ticks;
    let nanoseconds = |from: Ticks, to: Ticks| (clock.seconds(from, to).max(0.0) * 1e9) as u64;
    let (threshold, switch, span) = (ticks(threshold).max(1), ticks(SWITCH), ticks(seconds));
    let longest_recording = ticks(RECORDING);
    let mut gaps = Gaps::new((beat * 1e9) as u64);
    let mut sched_stat = thread.counters.sched_stat();
    let has_sched_stat = sched_stat.is_some();
    let mut recording: Ticks = 0;
    let begin = clock.now();
    let mut last = begin;
    let end = loop {
        let now = clock.now();
        let step = now.saturating_sub(last);
        if step < threshold {
            last = now;
        } else {
            let mut until = now;
            loop {
                let length = nanoseconds(last, until);
                let has_switch = until.saturating_sub(last) >= switch;
                let preemption = match has_switch {
                    true => preemption(&mut sched_stat, thread.counters.sched_stat(), length),
                    false => Preemption::default(),
                };
                gaps.add(nanoseconds(begin + recording, last), length, preemption);
                thread.sample_cpu();
                let recorded = clock.now();
                last = until;
                until = recorded;
                if until.saturating_sub(last) < longest_recording {
                    recording += until.saturating_sub(last);
                    last = until;
                    break;
                }
            }
        }
        if now.saturating_sub(begin) >= span {
            break now.max(last);
        }
    };
    let observed = nanoseconds(begin + recording, end);
    Heartbeat { windows: gaps.windows(observed), gaps, observed, has_sched_stat }
}

/// The preemption in a gap of `length` ns, from the growth of the scheduler statistics. They are read after
/// the gap, so growth beyond its length happened while the gap was recorded. It is left for the gap that this
/// caused.
fn preemption(before: &mut Option<SchedStat>, now: Option<SchedStat>, length: u64) -> Preemption {
    let (Some(then), Some(now)) = (*before, now) else {
        *before = now;
        return Preemption::default();
    };
    let grown = now.run_delay.saturating_sub(then.run_delay);
    let waited = grown.min(length);
    let left = Some(grown - waited).filter(|left| *left as f64 * 1e-9 >= RECORDING).unwrap_or(0);
    let slices = now.slices - u64::from(left > 0).min(now.slices);
    *before = Some(SchedStat { run_delay: now.run_delay - left, slices });
    Preemption { waited, switched: now.slices > then.slices }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn run_queue_time_belongs_to_its_gap() {
        let stat = |run_delay, slices| Some(SchedStat { run_delay, slices });
        let mut before = stat(1000, 7);
        let mut in_gap = |now, length| preemption(&mut before, now, length);
        assert_eq!(in_gap(stat(1000, 7), 9000), Preemption::default());
        assert_eq!(in_gap(stat(5000, 8), 4100), Preemption { waited: 4000, switched: true });
        assert_eq!(in_gap(stat(5000, 8), 4100), Preemption::default(), "counted once");
        // A tick, and another task for 12 ms while it was recorded.
        assert_eq!(in_gap(stat(12_005_000, 9), 5000), Preemption { waited: 5000, switched: true });
        let expected = Preemption { waited: 11_995_000, switched: true };
        assert_eq!(in_gap(stat(12_005_000, 9), 12_001_000), expected);
        assert_eq!(in_gap(stat(12_005_000, 9), 5000), Preemption::default(), "nothing is left");
        // The difference of two clocks is dropped.
        assert_eq!(in_gap(stat(13_005_300, 10), 1_000_000), Preemption { waited: 1_000_000, switched: true });
        assert_eq!(in_gap(stat(13_005_300, 10), 5000), Preemption::default());
        assert_eq!(in_gap(None, 5000), Preemption::default());
    }

    #[test]
    fn a_gap_is_longer_than_a_beat() {
        let (beat, threshold) = beat(&Clock::monotonic_raw());
        assert!(beat >= 0.0 && threshold > beat && threshold > 0.0, "{beat} {threshold}");
    }
}
