//! The share of faults that copied a page, by error codes, which are known in moments only. Pure.
//!
//! A moment stands for the time since the one before: each of its codes counts as many times as this is longer than the moment. (Hájek's ratio of
//! two sums; Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992.) All codes alike would count phases with few faults for too
//! much: a moment ends after some thousand.

use figure::stats::ClusterRatio;

/// A shorter moment says little about the time before it, and counts as one of so many nanoseconds.
const SHORTEST: u64 = 1_000_000;
/// Fewest codes that show a share.
const ENOUGH: f64 = 20.0;
/// By so much the moments may miss of what a parent copies, which it does only at times.
const AT_TIMES: f64 = 1.5;

/// Error codes; those of faults that wrote; and of these, those that met a page, so that it was copied.
type Codes = [f64; 3];

#[derive(Clone, Debug, Default)]
pub struct ErrorCodes {
    number: f64,
    /// Those of the moment that has not ended.
    open: Codes,
    /// The faults that those of the ended moments stand for.
    faults: Codes,
    /// Faults for which moments stand, no more than there were.
    known: f64,
    /// Of the faults that codes stand for, those that copied, over the moments with codes.
    copied: ClusterRatio,
}

impl ErrorCodes {
    pub fn add(&mut self, writes: bool, copies: bool) {
        self.number += 1.0;
        for (sum, is_one) in self.open.iter_mut().zip([true, writes, copies]) {
            *sum += f64::from(u8::from(is_one));
        }
    }

    /// Ends a moment; each of its codes stands for `weight` faults. `faults`: those that there were up to now, by samples.
    pub fn end(&mut self, weight: f64, faults: f64) {
        self.known = (self.known + self.open[0] * weight).min(faults);
        let moment = std::mem::take(&mut self.open).map(|codes| codes * weight);
        for (sum, faults) in self.faults.iter_mut().zip(moment) {
            *sum += faults;
        }
        let [all, _, copies] = moment;
        if all > 0.0 {
            self.copied.add(copies, all);
        }
    }

    /// The shares of faults that wrote, and that copied a page, 0 to 1; `None` with too few codes.
    pub fn shares(&self) -> Option<(f64, f64)> {
        let [all, writes, copies] = self.faults;
        (self.number >= ENOUGH && all > 0.0).then(|| (writes / all, copies / all))
    }

    pub fn copies(&self) -> Option<f64> {
        self.shares().map(|(_, copies)| copies)
    }

    /// The standard error of the share of copies among so many faults: that of a ratio of sums over moments, which differ from each other, but
    /// at least that of so many codes; of those whose codes are not known. `None` with too few codes.
    pub fn copies_error(&self, faults: f64) -> Option<f64> {
        let copies = self.copies()?;
        let of_codes = (copies * (1.0 - copies) / self.number).sqrt();
        let unknown = (1.0 - self.number / faults.max(1.0)).max(0.0);
        Some(self.copied.error()?.max(of_codes) * unknown.sqrt())
    }

    /// The most copies, as shares of `faults`: among the faults for which moments stand, and among the others, which may all be copies.
    pub fn most_copies(&self, faults: f64) -> (f64, f64) {
        let Some(copies) = self.copies() else { return (0.0, 1.0) };
        let known = (self.known / faults.max(1.0)).min(1.0);
        (known * (copies * AT_TIMES).min(1.0), 1.0 - known)
    }
}

/// The moments in which error codes are recorded. Times are in nanoseconds.
#[derive(Debug, Default)]
pub struct Moments {
    /// When the open one began.
    begun: Option<u64>,
    /// When the last one ended.
    ended: u64,
    /// Codes of the open one: those that were read, and those that found no room.
    read: f64,
    lost: f64,
}

impl Moments {
    /// None before this time.
    pub fn since(time: u64) -> Moments {
        Moments { ended: time, ..Moments::default() }
    }

    pub fn begin(&mut self, time: u64) {
        (self.begun, self.read, self.lost) = (Some(time), 0.0, 0.0);
    }

    /// Counts codes of whatever process; returns whether a moment is open.
    pub fn count(&mut self, read: f64, lost: f64) -> bool {
        (self.read, self.lost) = (self.read + read, self.lost + lost);
        self.begun.is_some()
    }

    /// Ends one; returns how many faults each of its codes stands for.
    pub fn end(&mut self, time: u64) -> f64 {
        let length = time.saturating_sub(self.begun.take().unwrap_or(time)).max(SHORTEST);
        let all = time.saturating_sub(self.ended).max(length);
        self.ended = time;
        all as f64 / length as f64 * (self.read + self.lost) / self.read.max(1.0)
    }
}

#[cfg(test)]
mod unit {
    use figure::stats::Random;

    use super::*;

    const SECOND: f64 = 1e9;

    /// Phases of a program: seconds, faults a second, and the share of these that copy a page.
    type Phases<'a> = &'a [(f64, f64, f64)];

    /// The codes of moments of at most 50 ms and 2000 faults, a second apart; and the true share. Rings have room for so many codes.
    fn watched(phases: Phases, random: &mut Random, room: u64) -> (ErrorCodes, f64) {
        let (mut codes, mut moments) = (ErrorCodes::default(), Moments::since(0));
        let (mut time, mut truth, mut next) = (0.0, (0.0, 0.0), 0.02);
        for (seconds, rate, copies) in phases {
            let end = time + seconds;
            truth = (truth.0 + seconds * rate, truth.1 + seconds * rate * copies);
            while next < end {
                let length = (2000.0 / rate).min(0.05).min(end - next);
                moments.begin((next * SECOND) as u64);
                let faults = (length * rate) as u64;
                for _ in 0..faults.min(room) {
                    let copies = random.uniform() < *copies;
                    codes.add(copies, copies);
                }
                moments.count(faults.min(room) as f64, faults.saturating_sub(room) as f64);
                codes.end(moments.end(((next + length) * SECOND) as u64), 0.0);
                next += length + 0.5 + random.uniform();
            }
            time = end;
        }
        (codes, truth.1 / truth.0)
    }

    /// The mean over many runs.
    fn mean(phases: Phases, room: u64) -> (f64, f64) {
        let mut random = Random::new(1);
        let runs: Vec<_> = (0..100).map(|_| watched(phases, &mut random, room)).collect();
        let sum: f64 = runs.iter().filter_map(|run| run.0.copies()).sum();
        (sum / runs.len() as f64, runs[0].1)
    }

    #[test]
    fn a_moment_stands_for_the_time_since_the_one_before() {
        let saves = [(1.0, 500_000.0, 1.0), (9.0, 50_000.0, 0.0)].repeat(10);
        let ends = [(5.0, 500_000.0, 0.02), (0.05, 20_000.0, 1.0)];
        let steady = [(10.0, 300.0, 0.3)];
        // Of the first phase's codes, three of four find no room.
        let fast = [(1.0, 500_000.0, 1.0), (9.0, 5_000.0, 0.0)].repeat(10);
        for (phases, room) in [(&saves[..], 4000), (&fast, 500), (&ends, 4000), (&steady, 4000)] {
            let (share, truth) = mean(phases, room);
            assert!((share - truth).abs() < 0.07, "{phases:?}: {share}, in truth {truth}");
        }
    }

    #[test]
    fn the_error_is_that_of_the_moments() {
        let mut random = Random::new(1);
        let phases: Vec<_> = (0..100).map(|at| (0.37, 1000.0, if at % 3 == 0 { 0.9 } else { 0.3 })).collect();
        let mut is_within = || {
            let (codes, truth) = watched(&phases, &mut random, 4000);
            let (share, off) = (codes.copies().unwrap(), codes.copies_error(1e6).unwrap());
            let of_codes = (share * (1.0 - share) / codes.number).sqrt();
            assert!(off > 2.0 * of_codes && off < 0.1, "{off}, by the codes alone {of_codes}");
            (share - truth).abs() < 2.0 * off
        };
        let within = (0..100).filter(|_| is_within()).count();
        assert!((88..100).contains(&within), "{within}");
    }

    #[test]
    fn the_end_of_a_program_says_little_about_what_came_before() {
        let mut codes = ErrorCodes::default();
        let mut moments = Moments::since(0);
        for (begin, length, number, copies) in
            [(100, 4, 2000, false), (1100, 4, 2000, false), (2100, 10, 300, true)]
        {
            moments.begin(begin * 1_000_000);
            (0..number).for_each(|_| codes.add(copies, copies));
            moments.count(f64::from(number), 0.0);
            codes.end(moments.end((begin + length) * 1_000_000), 0.0);
        }
        let share = codes.copies().unwrap();
        assert!((0.03..0.06).contains(&share), "{share}; of all codes alike {}", 300.0 / 4300.0);
    }

    #[test]
    fn what_no_moment_stands_for_may_have_copied() {
        let moment = |weight: f64, faults: f64| {
            let mut codes = ErrorCodes::default();
            (0..100).for_each(|code| codes.add(true, code < 10));
            codes.end(weight, faults);
            codes
        };
        let most = |codes: &ErrorCodes, faults: f64| {
            let (known, others) = codes.most_copies(faults);
            [known, others].map(|share| (share * 1000.0).round() / 1000.0)
        };
        let codes = moment(20.0, 2000.0);
        assert_eq!([2000.0, 8000.0].map(|faults| most(&codes, faults)), [[0.15, 0.0], [0.038, 0.75]]);
        assert_eq!(most(&moment(90.0, 2000.0), 8000.0), [0.038, 0.75], "it stands for no later ones");
        assert_eq!(most(&ErrorCodes::default(), 9000.0), [0.0, 1.0]);
    }

    #[test]
    fn codes_of_all_faults_are_a_count() {
        let mut codes = ErrorCodes::default();
        for copies in [10, 90] {
            (0..100).for_each(|code| codes.add(true, code < copies));
            codes.end(1.0, 1000.0);
        }
        let error = |faults: f64| codes.copies_error(faults).unwrap();
        assert_eq!(error(200.0), 0.0);
        assert!((error(400.0) / error(1e12) - 0.5_f64.sqrt()).abs() < 1e-6 && error(1e12) > 0.1);
    }

    #[test]
    fn few_codes_show_nothing() {
        let of = |number: u32| {
            let mut codes = ErrorCodes::default();
            (0..number).for_each(|code| codes.add(code % 2 == 0, code % 4 == 0));
            codes.end(1.0, 0.0);
            codes.shares()
        };
        assert_eq!([of(19), of(20)], [None, Some((0.5, 0.25))]);
    }
}
