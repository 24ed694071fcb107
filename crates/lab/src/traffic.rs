//! Memory traffic as counted by the memory controllers (uncore PMUs).
//!
//! They count the traffic of the whole machine, whatever its source. A [`TrafficReader`] reads all counters
//! at one moment; the difference of two readings is [`Traffic`]. [`distinct`] finds the real channels: an
//! unpopulated channel counts nothing, and a channel that is exposed twice would be summed twice.

mod channels;
mod perf;

use figure::host::{Direction, UncoreChannel};

use crate::failure::{Attempt, Failure};

pub use channels::{Distinct, distinct};
pub use perf::PerfReader;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Events since the counter was opened.
    pub value: u64,
    /// Nanoseconds for which the counter was enabled.
    pub enabled: u64,
    /// Nanoseconds for which it ran: fewer if the kernel multiplexes more counters than the hardware has.
    pub running: u64,
}

/// Readings by channel, then by event.
pub type Counts = Vec<Vec<Count>>;

pub trait TrafficReader {
    /// Reads them now, in the order of the channels and of their events.
    fn read(&mut self) -> Result<Counts, Failure>;
}

/// Bytes of one channel between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    pub read: f64,
    pub write: f64,
    /// Read or written, where one counter counts both.
    pub both: f64,
}

impl Moved {
    pub fn total(&self) -> f64 {
        self.read + self.write + self.both
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Bytes of each channel, extrapolated where a counter was multiplexed.
    pub channels: Vec<Moved>,
    /// Raw event counts by channel, not extrapolated.
    pub counts: Vec<Vec<f64>>,
    /// The smallest share of the time that any counter ran, 0 to 1. 1 without multiplexing.
    pub running: f64,
}

impl Traffic {
    pub fn between(channels: &[UncoreChannel], before: &Counts, after: &Counts) -> Result<Traffic, Failure> {
        let mut traffic = Traffic { channels: Vec::new(), counts: Vec::new(), running: 1.0 };
        for (channel, (before, after)) in channels.iter().zip(before.iter().zip(after)) {
            let (mut moved, mut counts) = (Moved::default(), Vec::new());
            for (event, (before, after)) in channel.events.iter().zip(before.iter().zip(after)) {
                let (count, share) = growth(before, after)
                    .attempt_on("", format_args!("{} of {}", event.name, channel.label()))?;
                let bytes = count / share * event.bytes;
                match event.direction {
                    Direction::Read => moved.read += bytes,
                    Direction::Write => moved.write += bytes,
                    Direction::Both => moved.both += bytes,
                }
                counts.push(count);
                traffic.running = traffic.running.min(share);
            }
            traffic.channels.push(moved);
            traffic.counts.push(counts);
        }
        Ok(traffic)
    }

    pub fn sum(&self, channels: &[usize]) -> Moved {
        let moved = channels.iter().filter_map(|&at| self.channels.get(at));
        moved.fold(Moved::default(), |sum, moved| Moved {
            read: sum.read + moved.read,
            write: sum.write + moved.write,
            both: sum.both + moved.both,
        })
    }
}

/// Events between two readings, and the share of the time that the counter ran.
fn growth(before: &Count, after: &Count) -> Result<(f64, f64), &'static str> {
    let grown = |before: u64, after: u64| after.checked_sub(before).ok_or("the counter ran backwards");
    let count = grown(before.value, after.value)?;
    let enabled = grown(before.enabled, after.enabled)?;
    let running = grown(before.running, after.running)?;
    match (enabled, running) {
        // Two readings within the clock's granularity.
        (0, _) => Ok((count as f64, 1.0)),
        (_, 0) => Err("the counter did not run: someone else holds it (perf, PCM, a watchdog)"),
        _ => Ok((count as f64, (running as f64 / enabled as f64).min(1.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::UncoreEvent;

    fn channel(events: &[(Direction, f64)]) -> UncoreChannel {
        let event = |&(direction, bytes): &(Direction, f64)| UncoreEvent {
            name: format!("{direction:?}"),
            direction,
            config: [0; 3],
            bytes,
        };
        UncoreChannel { name: "imc_0".into(), cpu: 3, pmu: 1, events: events.iter().map(event).collect() }
    }

    fn count(value: u64, enabled: u64, running: u64) -> Count {
        Count { value, enabled, running }
    }

    #[test]
    fn counts_become_bytes_by_direction() {
        let channels = [
            channel(&[(Direction::Read, 64.0), (Direction::Write, 64.0), (Direction::Write, 32.0)]),
            channel(&[(Direction::Both, 64.0)]),
        ];
        let before = vec![vec![count(5, 0, 0); 3], vec![count(7, 0, 0)]];
        let after = vec![vec![count(105, 9, 9), count(25, 9, 9), count(15, 9, 9)], vec![count(8, 9, 9)]];
        let traffic = Traffic::between(&channels, &before, &after).unwrap();
        assert_eq!(traffic.channels[0], Moved { read: 6400.0, write: 1600.0, both: 0.0 });
        assert_eq!(traffic.sum(&[0, 1]).total(), 8064.0);
        assert_eq!(traffic.sum(&[1]).both, 64.0);
        assert_eq!((traffic.running, traffic.counts[0][2]), (1.0, 10.0));
    }

    #[test]
    fn multiplexed_counters_are_extrapolated() {
        let channels = [channel(&[(Direction::Read, 64.0), (Direction::Write, 64.0)])];
        let before = vec![vec![count(0, 100, 100), count(0, 100, 50)]];
        let after = vec![vec![count(10, 200, 200), count(10, 200, 75)]];
        let traffic = Traffic::between(&channels, &before, &after).unwrap();
        assert_eq!(traffic.channels[0], Moved { read: 640.0, write: 2560.0, both: 0.0 });
        assert_eq!(traffic.running, 0.25);
    }

    #[test]
    fn a_counter_that_stopped_or_ran_backwards_is_an_error() {
        let channels = [channel(&[(Direction::Read, 64.0)])];
        let reading = |value, enabled, running| vec![vec![count(value, enabled, running)]];
        let stopped =
            Traffic::between(&channels, &reading(5, 100, 0), &reading(5, 200, 0)).unwrap_err().to_string();
        assert!(
            stopped.contains("Read of imc_0 (CPU 3)") && stopped.contains("someone else holds it"),
            "{stopped}"
        );
        let fell = Traffic::between(&channels, &reading(5, 100, 100), &reading(4, 200, 200))
            .unwrap_err()
            .to_string();
        assert!(fell.contains("ran backwards"), "{fell}");
        assert!(Traffic::between(&channels, &reading(5, 100, 100), &reading(5, 100, 100)).is_ok());
    }
}
