//! What faults at a rate amount to here: the study's numbers at this machine's price.

use figure::{Explanation, Record, Severity};

use super::faults::explanation;
use crate::cases::Faults;
use crate::explain::prices::{find, in_seconds, ratio};
use crate::values::{Count, Number, Seconds, Share};

/// The rate at which a program is usually called sick; the wording names it, too.
const RATE: f64 = 10_000.0;
/// The share of a CPU that the study's server spent in the kernel; the wording names it, too.
const SHARE: f64 = 0.20;

/// The price of minor faults, and of those that need the disk.
pub(super) fn prices(record: &Record) -> Vec<Explanation> {
    minor(record).into_iter().chain(major(record)).collect()
}

fn minor(record: &Record) -> Option<Explanation> {
    let figure = find(record, "minor.write")?;
    let price = in_seconds(figure)?;
    let (share, rate) = (Share(RATE * price), rounded(SHARE / price));
    let case = Faults::MinorFaultPrice { price: Seconds(price), share, rate };
    Some(explanation("prices", case, Severity::Note, &[figure]))
}

fn major(record: &Record) -> Option<Explanation> {
    let (major, minor) = (find(record, "major")?, find(record, "minor.write")?);
    let price = in_seconds(major)?;
    let scans = find(record, "scan.cold").zip(find(record, "scan.warm"));
    let case = Faults::DiskPagePrice {
        price: Seconds(price),
        minor: Number(ratio(major, minor)?.0),
        rate: rounded(1.0 / price),
        scan: scans.and_then(|(cold, warm)| ratio(cold, warm)),
    };
    let scans = scans.map_or_else(Vec::new, |(cold, warm)| vec![cold, warm]);
    Some(explanation("prices", case, Severity::Note, &[vec![major, minor], scans].concat()))
}

/// Two digits: the price is known no better.
fn rounded(count: f64) -> Count {
    let step = 10f64.powf(count.log10().floor() - 1.0);
    Count((count / step).round() * step)
}
