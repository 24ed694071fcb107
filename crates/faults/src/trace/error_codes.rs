//! The share of faults that copied a page, by error codes, which are known in moments only. Pure.
//!
//! A moment ends after some thousand faults. All codes together would count phases with few faults for too much, so the share in a moment is that
//! of the faults since the one before. A moment with few codes may be of one phase alone: its share is shrunk to that of all codes (James and
//! Stein, Estimation with quadratic loss, 1961).

/// Nanoseconds without a code after which the next one is of another moment.
const APART: u64 = 200_000_000;
/// Fewest codes that show a share.
const ENOUGH: f64 = 20.0;
/// With so many codes the share of a moment counts as much as that of all codes. A whole moment has ten times as many.
const HALF: f64 = 200.0;

/// Error codes, and those by which a fault wrote to a present page, so that it was copied.
type Codes = (f64, f64);

#[derive(Clone, Debug, Default)]
pub struct ErrorCodes {
    pub all: Codes,
    /// Those of each moment, and the number of faults at its end.
    moments: Vec<(Codes, f64)>,
    /// When the last one came, in nanoseconds.
    last: u64,
}

impl ErrorCodes {
    /// Adds one, after so many faults.
    pub fn add(&mut self, copies: bool, time: u64, faults: f64) {
        if time > self.last.saturating_add(APART) || self.moments.is_empty() {
            self.moments.push(((0.0, 0.0), faults));
        }
        self.last = time;
        let Some((moment, end)) = self.moments.last_mut() else { return };
        *end = faults;
        for sum in [&mut self.all, moment] {
            *sum = (sum.0 + 1.0, sum.1 + f64::from(u8::from(copies)));
        }
    }

    /// The share, 0 to 1, of so many faults; `None` with too few codes.
    pub fn share(&self, faults: f64) -> Option<f64> {
        let all = self.all.1 / self.all.0;
        let share = |(codes, copies): Codes| (copies + HALF * all) / (codes + HALF);
        let (mut before, mut copied) = (0.0, 0.0);
        for (index, (codes, end)) in self.moments.iter().enumerate() {
            // What came after the last moment is as what came before.
            let end = if index + 1 == self.moments.len() { faults } else { *end };
            copied += (end - before).max(0.0) * share(*codes);
            before = end.max(before);
        }
        (self.all.0 >= ENOUGH).then(|| if before > 0.0 { (copied / before).min(1.0) } else { all })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Moments, one each second: faults since the one before, codes, and the share of these that copied a page.
    fn share(moments: impl Iterator<Item = (f64, u64, f64)>) -> (ErrorCodes, f64) {
        let (mut codes, mut faults) = (ErrorCodes::default(), 0.0);
        for (second, (new, number, copies)) in (1..).zip(moments) {
            faults += new;
            let is_copy = |code: u64| (code as f64) < number as f64 * copies;
            (0..number).for_each(|code| codes.add(is_copy(code), second * SECOND + code, faults));
        }
        let share = codes.share(faults).unwrap();
        (codes, share)
    }

    #[test]
    fn a_moment_speaks_for_the_faults_since_the_one_before() {
        // A server that copies pages in one second of ten, and then takes ten times as many faults.
        let phases =
            (0..100).map(|second| if second % 10 == 0 { (5e5, 2000, 1.0) } else { (5e4, 2000, 0.0) });
        let (codes, share) = share(phases);
        assert_eq!(codes.all.1 / codes.all.0, 0.1, "of all codes");
        assert!((share - 5.0 / 9.5).abs() < 0.1, "{share}, in truth {}", 5.0 / 9.5);
    }

    #[test]
    fn a_moment_with_few_codes_says_little() {
        let moments = [(1e5, 2000, 0.01), (1e5, 30, 1.0), (1e5, 2000, 0.01)];
        let (_, share) = share(moments.into_iter());
        assert!((0.02..0.12).contains(&share), "{share}");
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
