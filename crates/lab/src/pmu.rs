//! Instructions and cycles of a thread, by hardware counters (perf_event_open(2)).
//!
//! A thread that spins at a barrier executes many cheap instructions, a thread that waits for memory few:
//! 0.24 and 0.13 per cycle in study 1 (step 9). Guests often have no hardware counters, and
//! perf_event_paranoid may forbid them. Then the reading is unknown, with the reason.

use std::cell::RefCell;
use std::io;

use figure::Reading;
use machine::Tree;
use machine::perf::{PARANOID_OWN_PROCESSES, refusal};
use perf_event::events::Hardware;
use perf_event::{Builder, Group};

/// A reading of the counters, or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions retired in user mode.
    pub instructions: u64,
    /// Unhalted core cycles in user mode.
    pub cycles: u64,
    /// Nanoseconds for which both counters ran. The kernel may multiplex them with others.
    pub running: u64,
}

/// Reads the counters of the thread that opened them, on that thread.
type ReadFn = Box<dyn FnMut() -> io::Result<Counts>>;

/// A thread's counters, or why it has none.
pub struct Meter(Result<RefCell<ReadFn>, String>);

impl Meter {
    pub fn of_this_thread() -> Meter {
        Meter::with(open())
    }

    fn with(opened: io::Result<ReadFn>) -> Meter {
        Meter(opened.map(RefCell::new).map_err(|error| reason(&error)))
    }

    pub fn read(&self) -> Reading<Counts> {
        match &self.0 {
            Ok(read) => {
                (read.borrow_mut())().map_or_else(|error| Reading::Unknown(reason(&error)), Reading::Value)
            }
            Err(reason) => Reading::unknown(reason),
        }
    }
}

fn open() -> io::Result<ReadFn> {
    let mut group = Group::new()?;
    // The builder excludes kernel and hypervisor by default, as perf_event_paranoid=2 requires.
    let cycles = group.add(&Builder::new(Hardware::CPU_CYCLES))?;
    let instructions = group.add(&Builder::new(Hardware::INSTRUCTIONS))?;
    group.enable()?;
    Ok(Box::new(move || {
        let counts = group.read()?;
        let running = counts.time_running().map_or(0, |time| time.as_nanos() as u64);
        Ok(Counts { instructions: counts[&instructions], cycles: counts[&cycles], running })
    }))
}

pub fn since(now: &Reading<Counts>, earlier: &Reading<Counts>) -> Reading<Counts> {
    now.clone().and(earlier.clone()).and_then(|(now, then)| {
        let grown = now.instructions.checked_sub(then.instructions).zip(now.cycles.checked_sub(then.cycles));
        let running = now.running.saturating_sub(then.running);
        let counts = grown.map(|(instructions, cycles)| Counts { instructions, cycles, running });
        Reading::or_unknown(counts, "a hardware counter ran backwards")
    })
}

/// Instructions per cycle. Both counters are in one group, so the ratio holds even if they ran for a small
/// part of the time. Unknown if they never ran.
pub fn instructions_per_cycle(counts: &Reading<Counts>) -> Reading<f64> {
    counts.clone().and_then(|counts| {
        let has_run = counts.running > 0 && counts.cycles > 0;
        let ratio = has_run.then(|| counts.instructions as f64 / counts.cycles as f64);
        Reading::or_unknown(ratio, "the hardware counters were never scheduled: others hold them")
    })
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "no hardware counters here (perf_event_open), as in most guests".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            format!("hardware counters are forbidden: {}", refusal(&Tree::live(), PARANOID_OWN_PROCESSES))
        }
        Some(libc::ENOSYS) => "this kernel has no perf_event_open".to_owned(),
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(readings: Vec<io::Result<Counts>>) -> Reading<f64> {
        let mut readings = readings.into_iter();
        let meter = Meter::with(Ok(Box::new(move || readings.next().expect("two readings"))));
        let before = meter.read();
        instructions_per_cycle(&since(&meter.read(), &before))
    }

    fn counts(instructions: u64, cycles: u64, running: u64) -> io::Result<Counts> {
        Ok(Counts { instructions, cycles, running })
    }

    #[test]
    fn the_ratio_of_the_study_is_computed() {
        assert_eq!(between(vec![counts(10, 100, 5), counts(34, 200, 9)]), Reading::Value(0.24));
        assert_eq!(between(vec![counts(0, 0, 0), counts(13, 100, 9)]), Reading::Value(0.13));
    }

    #[test]
    fn counters_that_did_not_count_are_unknown_not_zero() {
        let reason = |readings| between(readings).reason().map(str::to_owned).unwrap();
        assert!(reason(vec![counts(1, 1, 5), counts(1, 1, 5)]).contains("never scheduled"));
        assert!(reason(vec![counts(9, 9, 5), counts(1, 10, 6)]).contains("backwards"));
        let failed = || Err(io::Error::from_raw_os_error(libc::EBADF));
        assert!(reason(vec![counts(1, 1, 1), failed()]).contains("perf_event_open"));
        let absent = Meter::with(Err(io::Error::from_raw_os_error(libc::ENOENT)));
        assert!(absent.read().reason().unwrap().contains("no hardware counters here"));
        let forbidden = Meter::with(Err(io::Error::from_raw_os_error(libc::EACCES)));
        assert!(forbidden.read().reason().unwrap().contains("perf_event_paranoid"));
    }

    #[test]
    fn counters_of_this_thread_count_or_have_a_reason() {
        let meter = Meter::of_this_thread();
        let before = meter.read();
        let sum: u64 = std::hint::black_box((0..1_000_000u64).collect::<Vec<_>>()).iter().sum();
        assert!(sum > 0);
        match instructions_per_cycle(&since(&meter.read(), &before)) {
            Reading::Value(ipc) => assert!(ipc > 0.01 && ipc < 20.0, "{ipc}"),
            Reading::Unknown(reason) => assert!(!reason.is_empty()),
        }
    }
}
