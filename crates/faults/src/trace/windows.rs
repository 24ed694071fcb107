//! When minor faults are counted: always, or in windows at random times, where counting each would cost the program percents.
//! A window stands for itself and for the pause before it. Pure.

use std::time::{Duration, Instant};

use figure::stats::Random;

use super::time::varied;

/// A window is at least so long: a few samples.
const WINDOW: Duration = Duration::from_millis(1);
/// And so many times as long as it takes to turn the events: of many CPUs, one after the other.
const TURNS: u32 = 20;
/// But no longer, if another task has the watcher's CPU meanwhile.
const LONGEST: Duration = Duration::from_millis(20);
/// The weight of a window without samples, in samples: it counts where there is no other.
const NO_SAMPLE: f64 = 1e-3;

#[derive(Debug)]
pub struct Windows {
    /// One part in so many of the time is in windows; 1: always.
    pub every: u64,
    /// When the window that is open was opened.
    opened: Option<Instant>,
    /// The end of the window before.
    ended: Instant,
    next: Instant,
    length: Duration,
    /// Samples in windows, and those that they stand for, since they were last asked for.
    samples: f64,
    stood_for: f64,
    random: Random,
}

impl Windows {
    /// Always on.
    pub fn new(now: Instant) -> Windows {
        Windows {
            every: 1,
            opened: None,
            ended: now,
            next: now,
            length: WINDOW,
            samples: 0.0,
            stood_for: 0.0,
            random: Random::new(3),
        }
    }

    /// Windows of one part in so many of the time from now on. None may be open. If there were windows before, the next one stands
    /// for the time since the last.
    pub fn set(&mut self, every: u64, now: Instant) {
        if self.every == 1 {
            self.ended = now;
        }
        self.every = every;
        self.next = now + self.pause();
    }

    fn pause(&mut self) -> Duration {
        varied(self.length * (self.every - 1) as u32, &mut self.random)
    }

    pub fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// When to open or to close one.
    pub fn next(&self) -> Option<Instant> {
        (self.every > 1).then_some(self.next)
    }

    /// Opens one; to turn the events took so long.
    pub fn open(&mut self, now: Instant, took: Duration) {
        self.length = (took * TURNS).clamp(WINDOW, LONGEST);
        (self.opened, self.next) = (Some(now), now + self.length);
    }

    /// Closes the open one; returns how much time it stands for, in parts of its length.
    pub fn close(&mut self, now: Instant) -> Option<f64> {
        let on = now.saturating_duration_since(self.opened.take()?).max(Duration::from_micros(1));
        let all = now.saturating_duration_since(self.ended).max(on);
        self.ended = now;
        self.next = now + self.pause();
        Some(all.as_secs_f64() / on.as_secs_f64())
    }

    /// Notes how many samples there were in a window that has been closed.
    pub fn sampled(&mut self, samples: f64, stands_for: f64) {
        let weight = samples + NO_SAMPLE;
        (self.samples, self.stood_for) = (self.samples + weight, self.stood_for + weight * stands_for);
    }

    /// How much the faults in windows since the last question stand for, as their samples do; 1 if there was no window.
    pub fn stand_for(&mut self) -> f64 {
        let (samples, stood_for) = (std::mem::take(&mut self.samples), std::mem::take(&mut self.stood_for));
        if samples > 0.0 { stood_for / samples } else { 1.0 }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const STEP: Duration = Duration::from_micros(50);

    /// Faults of so many steps, and those that windows stand for. A step is on time, or late where `late` says so.
    fn seen(every: u64, steps: u32, faults: impl Fn(u32) -> f64, late: impl Fn(u32) -> bool) -> (f64, f64) {
        let begin = Instant::now();
        let mut windows = Windows::new(begin);
        windows.set(every, begin);
        let (mut all, mut seen, mut counted, mut in_window) = (0.0, 0.0, 0.0, 0.0);
        for step in 0..steps {
            let now = begin + STEP * step;
            if windows.next().is_some_and(|next| now >= next) && !late(step) {
                match windows.close(now) {
                    Some(stands_for) => {
                        let faults = std::mem::take(&mut in_window);
                        (seen, counted) = (seen + faults * stands_for, counted + faults);
                        windows.sampled(faults, stands_for);
                    }
                    None => windows.open(now, Duration::ZERO),
                }
            }
            all += faults(step);
            in_window += if windows.is_open() { faults(step) } else { 0.0 };
        }
        let by_count = counted * windows.stand_for();
        assert!((by_count / seen - 1.0).abs() < 0.01, "{by_count} by the count, {seen} by samples");
        (all, seen)
    }

    #[test]
    fn windows_stand_for_all_faults_of_programs_that_work_in_phases() {
        let steady = |_: u32| 15.0;
        // Phases of 7.5 ms, of 2 s, and of 1 ms in each 4.
        let phases = |length: u32, busy: u32| move |step: u32| if step % length < busy { 40.0 } else { 1.0 };
        let in_time = |_: u32| false;
        // The watcher's CPU is taken for 3 ms now and then.
        let late = |step: u32| step % 1000 < 60;
        for every in [2, 4, 16] {
            for (all, seen) in [
                seen(every, 1_000_000, steady, in_time),
                seen(every, 1_000_000, steady, late),
                seen(every, 1_000_000, phases(150, 40), in_time),
                seen(every, 1_000_000, phases(40_000, 20_000), in_time),
                seen(every, 1_000_000, phases(80, 20), in_time),
                seen(every, 1_000_000, phases(80, 20), late),
            ] {
                assert!((seen / all - 1.0).abs() < 0.12, "{seen} of {all}, one in {every}");
            }
        }
    }

    #[test]
    fn windows_are_long_beside_what_turning_the_events_of_many_cpus_takes() {
        let now = Instant::now();
        let mut windows = Windows::new(now);
        windows.set(4, now);
        windows.open(now, Duration::from_micros(800));
        assert_eq!(windows.next(), Some(now + Duration::from_millis(16)));
        let closed = now + Duration::from_millis(16);
        assert_eq!(windows.close(closed), Some(1.0));
        let pause = windows.next().unwrap() - closed;
        assert!((24..=72).contains(&pause.as_millis()), "three times as long on average: {pause:?}");
    }

    #[test]
    fn windows_without_samples_count_where_there_is_no_other() {
        let mut windows = Windows::new(Instant::now());
        windows.sampled(0.0, 4.0);
        assert_eq!((windows.stand_for(), windows.stand_for()), (4.0, 1.0));
        windows.sampled(0.0, 4.0);
        windows.sampled(5.0, 2.0);
        assert!((windows.stand_for() - 2.0).abs() < 0.01);
    }

    #[test]
    fn without_windows_all_time_is_counted() {
        let now = Instant::now();
        let mut windows = Windows::new(now);
        assert_eq!((windows.next(), windows.close(now), windows.stand_for()), (None, None, 1.0));
    }
}
