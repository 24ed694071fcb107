//! Reads the counters with perf_event_open(2).

use std::io;

use figure::host::{UncoreChannel, UncoreEvent};
use machine::Tree;
use machine::perf::{PARANOID_ALL_CPUS, refusal};
use perf_event::events::Raw;
use perf_event::{Builder, Counter};
use rustix::io::Errno;

use super::{Count, Counts, TrafficReader};
use crate::failure::{Attempt, Failure};

/// Open counters of some channels. They count from the moment they are opened.
pub struct PerfReader {
    channels: Vec<Vec<Counter>>,
}

impl PerfReader {
    pub fn open(channels: &[UncoreChannel]) -> Result<PerfReader, Failure> {
        let open_channel = |channel: &UncoreChannel| {
            let open =
                |event| open(channel, event).map_err(|error| describe(&error, &event.name, &channel.label()));
            channel.events.iter().map(open).collect()
        };
        Ok(PerfReader { channels: channels.iter().map(open_channel).collect::<Result<_, _>>()? })
    }
}

fn open(channel: &UncoreChannel, event: &UncoreEvent) -> io::Result<Counter> {
    let [config, config1, config2] = event.config;
    let mut builder = Builder::new(Raw::new(config).config1(config1).config2(config2));
    builder.attrs_mut().type_ = channel.pmu;
    let builder = builder.any_pid().one_cpu(channel.cpu as usize);
    // Uncore PMUs cannot attribute events, so they refuse any exclusion (PERF_PMU_CAP_NO_EXCLUDE).
    let mut counter = builder.exclude_kernel(false).exclude_hv(false).build()?;
    counter.enable()?;
    Ok(counter)
}

fn describe(error: &io::Error, event: &str, channel: &str) -> Failure {
    let answer = match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM) => refusal(&Tree::live(), PARANOID_ALL_CPUS),
        Some(Errno::MFILE) => "too many open files: raise ulimit -n".to_owned(),
        Some(Errno::BUSY) => "someone else holds the counter (perf, PCM, a watchdog)".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(format!("{event} of {channel}")).answer(answer)
}

impl TrafficReader for PerfReader {
    fn read(&mut self) -> Result<Counts, Failure> {
        let read = |counter: &mut Counter| {
            let count = counter.read_count_and_time().attempt("a counter cannot be read")?;
            Ok(Count { value: count.count, enabled: count.time_enabled, running: count.time_running })
        };
        self.channels.iter_mut().map(|channel| channel.iter_mut().map(read).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Traffic;
    use figure::host::Direction;

    /// The software PMU (PERF_TYPE_SOFTWARE), which every machine has, counting CPU clock in nanoseconds.
    fn cpu_clock(cpu: u32, config: u64) -> UncoreChannel {
        let event = UncoreEvent {
            name: "cpu-clock".into(),
            direction: Direction::Read,
            config: [config, 0, 0],
            bytes: 1.0,
        };
        UncoreChannel { name: "software".into(), cpu, pmu: 1, events: vec![event] }
    }

    #[test]
    fn counts_for_the_whole_machine_or_says_what_to_do() {
        let cpu = crate::affinity::get().unwrap().first().unwrap();
        let channels = [cpu_clock(cpu, 0), cpu_clock(cpu, 0)];
        match PerfReader::open(&channels) {
            Ok(mut reader) => {
                let before = reader.read().unwrap();
                assert_eq!((before.len(), before[0].len()), (2, 1));
                let sum: u64 =
                    std::hint::black_box((0..20_000_000u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 3)));
                assert!(sum > 0);
                let traffic = Traffic::between(&channels, &before, &reader.read().unwrap()).unwrap();
                assert!(traffic.sum(&[0]).read > 0.0 && traffic.running > 0.99, "{traffic:?}");
            }
            Err(refusal) => {
                let refusal = refusal.to_string();
                assert!(refusal.contains("paranoid") || refusal.contains("cannot"), "{refusal}");
            }
        }
    }

    #[test]
    fn a_missing_pmu_is_named() {
        let cpu = crate::affinity::get().unwrap().first().unwrap();
        let missing = UncoreChannel { pmu: 4711, ..cpu_clock(cpu, 0) };
        let refusal = PerfReader::open(&[missing]).err().expect("there is no PMU of this number").to_string();
        assert!(refusal.contains("cpu-clock of software (CPU ") || refusal.contains("paranoid"), "{refusal}");
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let message =
            |errno: Errno| describe(&io::Error::from(errno), "cas_count_read", "imc_0 (CPU 0)").to_string();
        assert!(message(Errno::MFILE).contains("ulimit -n"));
        assert!(message(Errno::BUSY).starts_with("cas_count_read of imc_0 (CPU 0): someone else"));
        let refused = message(Errno::ACCESS);
        assert!(refused.contains("perf_event_paranoid"), "{refused}");
    }
}
