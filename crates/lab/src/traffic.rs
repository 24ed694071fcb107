//! What memory moves, by the memory controllers' own counters (uncore PMUs).
//!
//! They count for the whole machine, whoever causes the traffic. A [`TrafficReader`] reads them all at one moment;
//! the difference of two readings is [`Traffic`]. [`distinct`] tells which channels are real: a channel that is
//! shown and not populated counts nothing, and one that is shown twice would be summed twice.

mod channels;
mod perf;

use figure::host::{Direction, UncoreChannel};

pub use channels::{Distinct, distinct};
pub use perf::PerfReader;

/// One counter at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Events counted since it was opened.
    pub value: u64,
    /// Nanoseconds that it was to count.
    pub enabled: u64,
    /// Nanoseconds that it did: fewer where more counters are asked for than there are (multiplexing).
    pub running: u64,
}

/// All counters at one moment: of each channel, of each of its events.
pub type Counts = Vec<Vec<Count>>;

/// Reads the counters of some channels.
pub trait TrafficReader {
    /// Reads them now, in the order of the channels and of their events.
    ///
    /// # Errors
    /// What could not be read, and what the system answered.
    fn read(&mut self) -> Result<Counts, String>;
}

/// Bytes of one channel between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Read from memory.
    pub read: f64,
    /// Written to memory.
    pub write: f64,
    /// Either way, where the counter does not tell.
    pub both: f64,
}

impl Moved {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.read + self.write + self.both
    }
}

impl std::ops::Add for Moved {
    type Output = Moved;

    fn add(self, other: Moved) -> Moved {
        Moved { read: self.read + other.read, write: self.write + other.write, both: self.both + other.both }
    }
}

/// What went on between two readings.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Bytes of each channel, scaled up where a counter did not run all the time.
    pub channels: Vec<Moved>,
    /// Counts of each channel's events as they were read, unscaled.
    pub counts: Vec<Vec<f64>>,
    /// The least share of the time that any counter ran: 1 without multiplexing.
    pub running: f64,
}

impl Traffic {
    /// Compares two readings.
    ///
    /// # Errors
    /// When a counter ran backwards, or not at all.
    pub fn between(channels: &[UncoreChannel], before: &Counts, after: &Counts) -> Result<Traffic, String> {
        let mut traffic = Traffic { channels: Vec::new(), counts: Vec::new(), running: 1.0 };
        for (channel, (before, after)) in channels.iter().zip(before.iter().zip(after)) {
            let (mut moved, mut counts) = (Moved::default(), Vec::new());
            for (event, (before, after)) in channel.events.iter().zip(before.iter().zip(after)) {
                let (count, share) = growth(before, after)
                    .map_err(|problem| format!("{} of {}: {problem}", event.name, channel.label()))?;
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

    /// Bytes of these channels together.
    pub fn sum(&self, channels: &[usize]) -> Moved {
        channels.iter().filter_map(|&at| self.channels.get(at).copied()).fold(Moved::default(), |a, b| a + b)
    }
}

/// Events between two readings, and the share of the time that the counter ran.
fn growth(before: &Count, after: &Count) -> Result<(f64, f64), &'static str> {
    let part = |of: fn(&Count) -> u64| of(after).checked_sub(of(before)).ok_or("the counter ran backwards");
    let (count, enabled, running) =
        (part(|count| count.value)?, part(|count| count.enabled)?, part(|count| count.running)?);
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
    fn what_did_not_run_all_the_time_is_scaled_and_said() {
        let channels = [channel(&[(Direction::Read, 64.0), (Direction::Write, 64.0)])];
        let before = vec![vec![count(0, 100, 100), count(0, 100, 50)]];
        let after = vec![vec![count(10, 200, 200), count(10, 200, 75)]];
        let traffic = Traffic::between(&channels, &before, &after).unwrap();
        assert_eq!(traffic.channels[0], Moved { read: 640.0, write: 2560.0, both: 0.0 });
        assert_eq!(traffic.running, 0.25);
    }

    #[test]
    fn a_counter_that_stood_or_ran_backwards_is_an_error() {
        let channels = [channel(&[(Direction::Read, 64.0)])];
        let at = |value, enabled, running| vec![vec![count(value, enabled, running)]];
        let stood = Traffic::between(&channels, &at(5, 100, 0), &at(5, 200, 0)).unwrap_err();
        assert!(
            stood.contains("Read of imc_0 (CPU 3)") && stood.contains("someone else holds it"),
            "{stood}"
        );
        let back = Traffic::between(&channels, &at(5, 100, 100), &at(4, 200, 200)).unwrap_err();
        assert!(back.contains("ran backwards"), "{back}");
        assert!(Traffic::between(&channels, &at(5, 100, 100), &at(5, 100, 100)).is_ok());
    }
}
