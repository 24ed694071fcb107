//! The share of faults that copied a page, by error codes, which are known in moments only. Pure.
//!
//! A moment ends after some thousand faults. All codes together would count phases with few faults for too much, so the share in a moment is that
//! of the faults since the one before.

/// Nanoseconds without a code after which the next one is of another moment.
const APART: u64 = 200_000_000;
/// Fewest codes that show a share.
const ENOUGH: f64 = 20.0;

#[derive(Clone, Debug, Default)]
pub struct ErrorCodes {
    /// All of them, and those by which a fault wrote to a present page, so that it was copied.
    pub all: (f64, f64),
    /// The same of the current moment.
    moment: (f64, f64),
    /// When the last one came, in nanoseconds, and after how many faults.
    last: (u64, f64),
    /// Faults up to the moment before, and those of them that copied a page.
    before: (f64, f64),
}

impl ErrorCodes {
    /// Adds one, after so many faults.
    pub fn add(&mut self, copies: bool, time: u64, faults: f64) {
        if time > self.last.0.saturating_add(APART) {
            self.end_moment(self.last.1);
        }
        self.last = (time, faults);
        for sum in [&mut self.all, &mut self.moment] {
            *sum = (sum.0 + 1.0, sum.1 + f64::from(u8::from(copies)));
        }
    }

    fn end_moment(&mut self, faults: f64) {
        let ((codes, copies), (before, copied)) = (std::mem::take(&mut self.moment), self.before);
        if codes > 0.0 && faults > before {
            self.before = (faults, copied + (faults - before) * copies / codes);
        }
    }

    /// The share, 0 to 1, of so many faults; `None` with too few codes.
    pub fn share(&self, faults: f64) -> Option<f64> {
        let mut ended = self.clone();
        ended.end_moment(faults);
        let (all, copied) = if ended.before.0 > 0.0 { ended.before } else { self.all };
        (self.all.0 >= ENOUGH).then(|| copied / all)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_moment_speaks_for_the_faults_since_the_one_before() {
        // A server that copies pages in one second of ten, and then takes ten times as many faults.
        let (mut codes, mut faults) = (ErrorCodes::default(), 0.0);
        for second in 0..100 {
            let copies = second % 10 == 0;
            faults += if copies { 500_000.0 } else { 50_000.0 };
            (0..2000).for_each(|code| codes.add(copies, second * SECOND + code, faults));
        }
        let (share, truth) = (codes.share(faults).unwrap(), 5.0 / 9.5);
        assert!((share - truth).abs() < 0.1, "{share}, in truth {truth}");
        assert_eq!(codes.all.1 / codes.all.0, 0.1, "of all codes");
    }

    #[test]
    fn few_codes_show_nothing() {
        let of = |codes: u64, faults| {
            let mut all = ErrorCodes::default();
            (0..codes).for_each(|code| all.add(code % 4 == 0, code, 0.0));
            all.share(faults)
        };
        assert_eq!([of(19, 1e6), of(20, 1e6), of(20, 0.0)], [None, Some(0.25), Some(0.25)]);
    }
}
