//! Instructions and cycles of a thread, by hardware counters (perf_event_open(2)).
//!
//! A thread that spins at a barrier executes many cheap instructions, a thread that waits for memory few:
//! 0.24 and 0.13 per cycle in study 1 (step 9). Guests often have no hardware counters, and
//! perf_event_paranoid may forbid them. Then the reading is unknown, with the reason.

use std::cell::RefCell;
use std::fmt::Debug;
use std::io;

use figure::Reading;
use machine::Tree;
use machine::perf::{PARANOID_OWN_PROCESSES, refusal};
use perf_event::events::Hardware;
use perf_event::{Builder, Counter, Group};

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

/// The counters of one thread.
pub trait Pmu: Debug {
    /// Reads the counters of the calling thread, which must have opened them.
    ///
    /// # Errors
    /// The system's error.
    fn read(&mut self) -> io::Result<Counts>;
}

/// The kernel's counters for the thread that opened them.
struct Perf {
    group: Group,
    instructions: Counter,
    cycles: Counter,
}

impl Debug for Perf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Perf")
    }
}

impl Perf {
    fn of_this_thread() -> io::Result<Perf> {
        let mut group = Group::new()?;
        // The builder excludes kernel and hypervisor by default, as perf_event_paranoid=2 requires.
        let cycles = group.add(&Builder::new(Hardware::CPU_CYCLES))?;
        let instructions = group.add(&Builder::new(Hardware::INSTRUCTIONS))?;
        group.enable()?;
        Ok(Perf { group, instructions, cycles })
    }
}

impl Pmu for Perf {
    fn read(&mut self) -> io::Result<Counts> {
        let counts = self.group.read()?;
        let running = counts.time_running().map_or(0, |time| time.as_nanos() as u64);
        Ok(Counts { instructions: counts[&self.instructions], cycles: counts[&self.cycles], running })
    }
}

/// A thread's counters, or why it has none.
#[derive(Debug)]
pub struct Meter(Result<RefCell<Box<dyn Pmu>>, String>);

impl Meter {
    /// Opens the counters of the calling thread.
    pub fn of_this_thread() -> Meter {
        Meter::with(Perf::of_this_thread().map(|perf| Box::new(perf) as Box<dyn Pmu>))
    }

    fn with(opened: io::Result<Box<dyn Pmu>>) -> Meter {
        Meter(opened.map(RefCell::new).map_err(|error| reason(&error)))
    }

    /// Reads the counters; call it on the thread that opened them.
    pub fn read(&self) -> Reading<Counts> {
        match &self.0 {
            Ok(pmu) => match pmu.borrow_mut().read() {
                Ok(counts) => Reading::Value(counts),
                Err(error) => Reading::Unknown(reason(&error)),
            },
            Err(reason) => Reading::unknown(reason),
        }
    }
}

/// The growth since an earlier reading.
pub fn since(now: &Reading<Counts>, earlier: &Reading<Counts>) -> Reading<Counts> {
    match (now, earlier) {
        (Reading::Value(now), Reading::Value(then)) => {
            let grown =
                now.instructions.checked_sub(then.instructions).zip(now.cycles.checked_sub(then.cycles));
            let running = now.running.saturating_sub(then.running);
            let counts = grown.map(|(instructions, cycles)| Counts { instructions, cycles, running });
            Reading::or_unknown(counts, "a hardware counter ran backwards")
        }
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::unknown(reason),
    }
}

/// Instructions per cycle. Both counters are in one group, so the ratio holds even if they ran for a small
/// part of the time. Unknown if they never ran.
pub fn instructions_per_cycle(counts: &Reading<Counts>) -> Reading<f64> {
    match counts {
        Reading::Value(counts) if counts.running > 0 && counts.cycles > 0 => {
            Reading::Value(counts.instructions as f64 / counts.cycles as f64)
        }
        Reading::Value(_) => Reading::unknown("the hardware counters were never scheduled: others hold them"),
        Reading::Unknown(reason) => Reading::unknown(reason),
    }
}

/// Why there are no counters, for the user.
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

    /// Returns prepared readings in order.
    #[derive(Debug)]
    struct ScriptedPmu(Vec<io::Result<Counts>>);

    impl Pmu for ScriptedPmu {
        fn read(&mut self) -> io::Result<Counts> {
            self.0.remove(0)
        }
    }

    fn between(readings: Vec<io::Result<Counts>>) -> Reading<f64> {
        let meter = Meter::with(Ok(Box::new(ScriptedPmu(readings))));
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
