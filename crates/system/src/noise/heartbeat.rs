//! The heartbeat: a pinned thread reads the clock in a loop. Where more time has gone by than a beat takes, the CPU did
//! something else.

use figure::stats;
use lab::clock::{Clock, Ticks};
use lab::pool::Seat;
use lab::thread_counters::Turns;

use super::gaps::{Away, Gaps};

/// So many beats make a gap: above what a cache miss, a page walk or a busy sibling thread can do to a beat of some tens of
/// nanoseconds, below what the shortest interrupt takes. (Linux's osnoise tracer calls noise what exceeds 1 us, before 6.11
/// 5 us.)
const BEATS: f64 = 16.0;
/// A gap is longer than so many steps of the clock, where that is coarse.
const GRAINS: f64 = 4.0;
/// From this length on, in seconds, a gap may hold a switch to another task and back: each takes about a microsecond. The
/// thread then asks the scheduler.
const SWITCH: f64 = 2e-6;
/// Noting a gap takes a microsecond or two; where it took longer than this, in seconds, that is a gap itself.
const NOTING: f64 = 20e-6;
/// Beats by which the undisturbed beat is found.
const PROBES: usize = 20_000;

/// What one heartbeat noticed.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Its gaps.
    pub gaps: Gaps,
    /// How long it was listened to, in ns, without the time of noting gaps.
    pub observed: u64,
    /// Windows of 1 ms, and how many of them were hit.
    pub windows: (u64, u64),
    /// Whether the scheduler tells how long a thread waits.
    pub tells: bool,
}

/// The undisturbed beat on this thread, and from what length on there is a gap, both in seconds.
pub fn beat(clock: &Clock) -> (f64, f64) {
    let readings: Vec<Ticks> = (0..PROBES).map(|_| clock.now()).collect();
    let beats: Vec<f64> = readings.windows(2).map(|pair| clock.seconds(pair[0], pair[1])).collect();
    let beat = stats::median(&beats).unwrap_or(0.0);
    (beat, (BEATS * beat).max(GRAINS * clock.precision().granularity))
}

/// Listens for so many seconds. All that it needs is there before; within there is a system call only after a gap in which
/// the CPU may have been given away, and the time of noting a gap counts for nothing.
pub fn listen(seat: &Seat, seconds: f64, beat: f64, threshold: f64) -> Heard {
    let clock = &*seat.clock;
    let rate = clock.counter_rate().unwrap_or(1e9);
    let ticks = |seconds: f64| (seconds * rate) as Ticks;
    let nanoseconds = |from: Ticks, to: Ticks| (clock.seconds(from, to).max(0.0) * 1e9) as u64;
    let (threshold, switch, span) = (ticks(threshold).max(1), ticks(SWITCH), ticks(seconds));
    let interrupted = ticks(NOTING);
    let mut gaps = Gaps::new((beat * 1e9) as u64);
    let mut turns = seat.counters.turns();
    let tells = turns.is_some();
    let mut noting: Ticks = 0;
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
                // A switch leaves a gap that is longer than this; so a shorter one holds none.
                let is_short = until.saturating_sub(last) < switch;
                let away =
                    if is_short { Away::default() } else { away(&mut turns, seat.counters.turns(), length) };
                gaps.add(nanoseconds(begin + noting, last), length, away);
                seat.glance();
                let noted = clock.now();
                last = until;
                until = noted;
                if until.saturating_sub(last) < interrupted {
                    noting += until.saturating_sub(last);
                    last = until;
                    break;
                }
            }
        }
        if now.saturating_sub(begin) >= span {
            break now.max(last);
        }
    };
    let observed = nanoseconds(begin + noting, end);
    Heard { windows: gaps.windows(observed), gaps, observed, tells }
}

/// What the scheduler did in a gap of `length` ns, since it was asked last. It was asked after the gap: what it tells beyond
/// the gap's length came while that was noted, and is left for the gap that this made.
fn away(before: &mut Option<Turns>, now: Option<Turns>, length: u64) -> Away {
    let (Some(told), Some(now)) = (*before, now) else {
        *before = now;
        return Away::default();
    };
    let grown = now.waited.saturating_sub(told.waited);
    let waited = grown.min(length);
    let left = Some(grown - waited).filter(|left| *left as f64 * 1e-9 >= NOTING).unwrap_or(0);
    let slices = now.slices - u64::from(left > 0).min(now.slices);
    *before = Some(Turns { waited: now.waited - left, slices });
    Away { waited, switched: now.slices > told.slices }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_the_scheduler_tells_is_of_the_gap_alone() {
        let turns = |waited, slices| Some(Turns { waited, slices });
        let mut before = turns(1000, 7);
        let mut away = |now, length| away(&mut before, now, length);
        assert_eq!(away(turns(1000, 7), 9000), Away::default());
        assert_eq!(away(turns(5000, 8), 4100), Away { waited: 4000, switched: true });
        assert_eq!(away(turns(5000, 8), 4100), Away::default(), "told once");
        // A tick, and while it was noted another task for 12 ms.
        assert_eq!(away(turns(12_005_000, 9), 5000), Away { waited: 5000, switched: true });
        assert_eq!(away(turns(12_005_000, 9), 12_001_000), Away { waited: 11_995_000, switched: true });
        assert_eq!(away(turns(12_005_000, 9), 5000), Away::default(), "nothing is left");
        // What two clocks differ by is not left for anybody.
        assert_eq!(away(turns(13_005_300, 10), 1_000_000), Away { waited: 1_000_000, switched: true });
        assert_eq!(away(turns(13_005_300, 10), 5000), Away::default());
        assert_eq!(away(None, 5000), Away::default());
    }

    #[test]
    fn a_gap_is_longer_than_a_beat() {
        let (beat, threshold) = beat(&Clock::monotonic_raw());
        assert!(beat >= 0.0 && threshold > beat && threshold > 0.0, "{beat} {threshold}");
    }
}
