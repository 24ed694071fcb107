//! The price of a minor fault on this machine, now: for whoever holds a program's faults against its CPU time.
//!
//! The mode `prices` measures this and much more with all its evidence; here is what takes a moment.

use std::io;
use std::time::Instant;

use figure::Interval;
use figure::stats;

use crate::clocks::Used;
use crate::mapping::Mapping;

/// Rounds at least: 6 are needed for an interval, and one more bears an outlier.
const LEAST: usize = 7;
/// Rounds at most.
const MOST: usize = 31;
/// Seconds after which no further round is begun.
const TIME: f64 = 0.12;
/// Pages of a round. Each is zeroed: with 4 KiB that makes 8 MiB.
const PAGES: usize = 2048;
/// Bytes of a round at most, where pages are large.
const MOST_BYTES: usize = 32 << 20;
/// Faults may differ from the pages by this share: a page of the stack, a hinting fault of NUMA balancing.
const STRAY: f64 = 0.01;

/// What a minor fault costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Minor {
    /// Nanoseconds of CPU time, in user code and in the kernel, for each fault: one value a round, at least 7.
    pub rounds: Vec<f64>,
    /// Bytes of a page: each fault zeroes as many.
    pub page: usize,
}

impl Minor {
    /// The median of the rounds, in nanoseconds.
    pub fn median(&self) -> f64 {
        stats::median(&self.rounds).unwrap_or(f64::NAN)
    }

    /// The 95 % interval of the median.
    pub fn interval(&self) -> Option<Interval> {
        stats::median_interval(&self.rounds)
    }
}

/// Prices a first write to a page of anonymous memory, on the calling thread, within about 150 ms. A round touches fresh pages
/// of the base size, touches them again, and takes what the second time took off the first.
///
/// # Errors
/// Memory cannot be had; or the faults that were taken are not those that are priced.
pub fn minor() -> io::Result<Minor> {
    let page = crate::mapping::page_size();
    let bytes = (PAGES * page).min(MOST_BYTES);
    let mut rounds = Vec::with_capacity(MOST);
    let begun = Instant::now();
    // The first round brings code and page tables in, and does not count.
    round(bytes)?;
    while rounds.len() < LEAST || (rounds.len() < MOST && begun.elapsed().as_secs_f64() < TIME) {
        rounds.push(round(bytes)?);
    }
    Ok(Minor { rounds, page })
}

fn round(bytes: usize) -> io::Result<f64> {
    let region = Mapping::anonymous(bytes)?;
    let touch = || {
        let before = Used::before();
        (0..region.pages()).for_each(|page| region.write(page));
        before.since()
    };
    let (first, again) = (touch(), touch());
    let pages = region.pages() as f64;
    let taken = first.minor + first.major;
    if (taken / pages - 1.0).abs() > STRAY {
        return Err(io::Error::other(format!(
            "{pages} pages were touched for the first time and {taken} faults were taken: not a price of a fault"
        )));
    }
    Ok((first.cpu - again.cpu) / pages)
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::prices::child::FORKING;

    #[test]
    fn a_fault_costs_more_than_a_touch_and_less_than_a_disk() {
        let _nobody_forks = FORKING.read();
        let begun = Instant::now();
        let price = minor().unwrap();
        assert!(price.rounds.len() >= LEAST && price.page.is_power_of_two());
        // An emulator takes some tens of microseconds.
        assert!(price.median() > 50.0 && price.median() < 1e6, "{price:?}");
        let interval = price.interval().unwrap();
        assert!(interval.low <= price.median() && price.median() <= interval.high);
        assert!(begun.elapsed().as_secs_f64() < 5.0, "{:?}", begun.elapsed());
    }

    #[test]
    fn pages_that_are_there_are_no_faults() {
        let _nobody_forks = FORKING.read();
        let region = Mapping::anonymous(1 << 20).unwrap();
        (0..region.pages()).for_each(|page| region.write(page));
        let before = Used::before();
        (0..region.pages()).for_each(|page| region.write(page));
        // Code that runs for the first time may fault: not more than a few of 256 pages.
        assert!(before.since().minor < 8.0);
    }
}
