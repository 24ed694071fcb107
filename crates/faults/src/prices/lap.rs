//! One lap: so many units, touched or called, timed on one thread.

use std::io;
use std::iter::Sum;

use crate::clocks::ThreadUsage;
use crate::mapping::Mapping;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lap {
    pub units: f64,
    pub used: ThreadUsage,
    /// What the same touches took when all pages were present.
    pub again: ThreadUsage,
}

impl Lap {
    /// A lap of calls, or of touches that cost little compared with their faults.
    pub fn new(units: usize, used: ThreadUsage) -> Lap {
        Lap { units: units as f64, used, again: ThreadUsage::default() }
    }

    /// CPU time of a unit, in nanoseconds.
    pub fn cpu(&self) -> f64 {
        (self.used.cpu - self.again.cpu) / self.units
    }

    /// Wall time of a unit, in nanoseconds.
    pub fn wall(&self) -> f64 {
        (self.used.wall - self.again.wall) / self.units
    }
}

impl Sum for Lap {
    fn sum<I: Iterator<Item = Lap>>(laps: I) -> Lap {
        laps.fold(Lap::default(), |all, lap| Lap {
            units: all.units + lap.units,
            used: all.used.and(&lap.used),
            again: all.again.and(&lap.again),
        })
    }
}

#[inline]
pub fn timed<T>(body: impl FnOnce() -> T) -> (T, ThreadUsage) {
    let before = ThreadUsage::before();
    let result = body();
    (result, before.since())
}

/// A lap of calls that may fail.
#[inline]
pub fn timed_calls(units: usize, body: impl FnOnce() -> io::Result<()>) -> io::Result<Lap> {
    let (result, used) = timed(body);
    result.map(|()| Lap::new(units, used))
}

/// Touches every `step`th page of a mapping, and then again to measure a touch without a fault.
#[inline]
pub fn touched(region: &Mapping, step: usize, touch: impl Fn(&Mapping, usize)) -> Lap {
    let all = || (0..region.pages()).step_by(step).for_each(|page| touch(region, page));
    let ((), used) = timed(all);
    let ((), again) = timed(all);
    Lap { again, ..Lap::new(region.pages().div_ceil(step), used) }
}

pub fn fill(region: &Mapping) {
    (0..region.pages()).for_each(|page| region.write(page));
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::testing::FORKING;

    #[test]
    fn laps_add_up_and_the_cost_of_a_touch_is_subtracted() {
        let used = |ns: f64| ThreadUsage { cpu: ns, wall: 2.0 * ns, minor: 10.0, major: 1.0 };
        let lap = Lap { units: 10.0, used: used(5000.0), again: used(1000.0) };
        assert_eq!((lap.cpu(), lap.wall()), (400.0, 800.0));
        let all: Lap = [lap, Lap::new(10, used(2000.0))].into_iter().sum();
        assert_eq!((all.units, all.used.minor, all.cpu()), (20.0, 20.0, 300.0));
    }

    #[test]
    fn every_first_touch_is_a_fault() {
        let _no_fork = FORKING.read();
        let region = Mapping::anonymous(1 << 20).unwrap();
        let lap = touched(&region, 1, Mapping::write);
        assert_eq!(lap.units, region.pages() as f64);
        // Code that runs for the first time may fault: not more than a few of 256 pages.
        let few = |faults: f64| (0.0..8.0).contains(&faults);
        assert!(few(lap.used.minor - lap.units) && few(lap.again.minor), "{lap:?}");
        // Pages that are already present.
        assert!(few(touched(&region, 1, Mapping::write).used.minor));
    }
}
