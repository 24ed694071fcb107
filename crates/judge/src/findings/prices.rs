//! What faults at a rate amount to here: the study's numbers at this machine's price.

use figure::format::{number, percent, seconds};
use figure::{Explanation, Record, Severity};

use super::finding;
use crate::explain::prices::{in_seconds, of};

/// The rate at which a program is usually called sick.
const RATE: f64 = 10_000.0;
/// The share of a CPU that the study's server spent in the kernel.
const SHARE: f64 = 0.20;

/// The price of minor faults, and of those that need the disk.
pub(super) fn prices(record: &Record) -> Vec<Explanation> {
    minor(record).into_iter().chain(major(record)).collect()
}

fn minor(record: &Record) -> Option<Explanation> {
    let figure = of(record, "minor.write")?;
    let price = in_seconds(figure)?;
    let text = format!(
        "A minor fault takes {} of CPU time here ({}): 10000 a second are {} of one CPU, and {} of a CPU would need {} a second.",
        seconds(price),
        figure.id,
        percent(RATE * price),
        percent(SHARE),
        rounded(SHARE / price)
    );
    Some(finding(Severity::Note, text, &[figure]))
}

fn major(record: &Record) -> Option<Explanation> {
    let (major, minor) = (of(record, "major")?, of(record, "minor.write")?);
    let (one, other) = (in_seconds(major)?, in_seconds(minor)?);
    let mut figures = vec![major, minor];
    let mut text = format!(
        "A page from this disk takes {} ({}), {} minor faults: at random {} a second are all of a thread's time",
        seconds(one),
        major.id,
        number(one / other),
        rounded(1.0 / one)
    );
    if let Some((cold, warm)) = of(record, "scan.cold").zip(of(record, "scan.warm")) {
        let times = in_seconds(cold)? / in_seconds(warm)?;
        text += &format!(
            "; a mapped file read page by page takes {}x as long as from the page cache",
            number(times)
        );
        figures.extend([cold, warm]);
    }
    Some(finding(Severity::Note, text + ".", &figures))
}

/// Two digits: more is not known of what it stands for.
fn rounded(count: f64) -> String {
    let step = 10f64.powf(count.log10().floor() - 1.0);
    format!("{:.0}", (count / step).round() * step)
}

#[cfg(test)]
mod unit {
    use super::rounded;

    #[test]
    fn two_digits_are_told() {
        assert_eq!(
            (rounded(152_671.8), rounded(9_870.0), rounded(123.0)),
            ("150000".into(), "9900".into(), "120".into())
        );
    }
}
