//! The order of rounds, and when there are enough. Pure.
//!
//! Rounds are interleaved over the figures: a cycle visits once every figure that needs a round. Every other
//! cycle runs in reverse. So a disturbance or a drift affects all figures alike, and no figure always follows
//! the same one (see the issues of nanobench and hyperfine on interleaving).
//!
//! When every figure has its least rounds, the time that is left goes to figures, and to controls only when these are decided.
//! A figure that is quoted as a difference from another is decided when the difference is, however well it is known itself.

use figure::stats;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Rounds that every figure gets, if the time allows.
    pub least: usize,
    pub most: usize,
    /// Half-width of the 95 % interval, as a share of the value, at which a figure is finished.
    pub target: f64,
    /// Seconds for the whole suite.
    pub max_time: f64,
    /// Disturbed rounds that may be repeated, for each figure.
    pub repeats: usize,
}

/// The target of a difference, for 1 of a figure: it is a part of two figures, and less precise than either.
const DIFFERENCE: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Target,
    Rounds,
    Time,
    /// It failed, or its worker did.
    Failed,
}

impl Stop {
    pub fn word(self) -> &'static str {
        match self {
            Stop::Target => "target",
            Stop::Rounds => "rounds",
            Stop::Time => "time",
            Stop::Failed => "failed",
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Progress {
    values: Vec<f64>,
    repeated: usize,
    /// Seconds of the latest round. The first round takes longer.
    latest: f64,
    /// An exact number of rounds that overrides the rules.
    exact_rounds: Option<usize>,
    /// Whether it is there for others to be compared with.
    is_control: bool,
    /// The figure that is subtracted from it, round by round.
    baseline: Option<usize>,
    stopped: Option<Stop>,
}

#[derive(Clone, Debug)]
pub struct Schedule {
    rules: Rules,
    figures: Vec<Progress>,
    cycle: usize,
    /// Figures still to visit in this cycle; the next one is last.
    pending: Vec<usize>,
}

impl Schedule {
    pub fn new(rules: Rules, figures: usize) -> Self {
        Schedule { rules, figures: vec![Progress::default(); figures], cycle: 0, pending: Vec::new() }
    }

    /// The figure to measure next, `elapsed` seconds into the suite. `None` when all is done or the time is
    /// over. A round starts only if it would end in time, by the duration of the figure's latest round.
    pub fn next(&mut self, elapsed: f64) -> Option<usize> {
        loop {
            while let Some(index) = self.pending.pop() {
                let figure = &mut self.figures[index];
                if figure.stopped.is_some() {
                    continue;
                }
                if elapsed + figure.latest > self.rules.max_time {
                    figure.stopped = Some(Stop::Time);
                    continue;
                }
                return Some(index);
            }
            self.pending = self.undecided();
            if self.pending.is_empty() {
                return None;
            }
            // Popped from the end, so even cycles run forward.
            if self.cycle.is_multiple_of(2) {
                self.pending.reverse();
            }
            self.cycle += 1;
        }
    }

    /// Figures that need a round. Once all have their least rounds, controls wait for the others.
    fn undecided(&self) -> Vec<usize> {
        let open: Vec<usize> =
            (0..self.figures.len()).filter(|&at| self.figures[at].stopped.is_none()).collect();
        let has_least = |at: &usize| self.figures[*at].values.len() >= self.rules.least;
        let first: Vec<usize> = open.iter().copied().filter(|at| !self.figures[*at].is_control).collect();
        if first.is_empty() || !open.iter().all(has_least) { open } else { first }
    }

    /// Marks a figure that is there for others to be compared with.
    pub fn set_control(&mut self, index: usize) {
        self.figures[index].is_control = true;
    }

    /// Subtracts a baseline from a figure, round by round: neither is decided before the difference is.
    pub fn set_baseline(&mut self, index: usize, baseline: usize) {
        self.figures[index].baseline = Some(baseline);
    }

    /// The current cycle, from 1. In each cycle all figures that need a round get one.
    pub fn cycle(&self) -> usize {
        self.cycle
    }

    /// Whether a disturbed round of this figure may be repeated, `elapsed` seconds into the suite. Counts the
    /// repetition. `false` when the time is over: a disturbed round is better than none.
    pub fn may_repeat(&mut self, index: usize, elapsed: f64) -> bool {
        let figure = &mut self.figures[index];
        let may = figure.repeated < self.rules.repeats && elapsed + figure.latest <= self.rules.max_time;
        if may {
            figure.repeated += 1;
            // The repetition comes next, so that pairs of figures stay close in time.
            self.pending.push(index);
        }
        may
    }

    pub fn add_value(&mut self, index: usize, value: f64) {
        let (rules, figure) = (self.rules, &mut self.figures[index]);
        figure.values.push(value);
        let rounds = figure.values.len();
        if let Some(exact) = figure.exact_rounds {
            figure.stopped = (rounds >= exact).then_some(Stop::Rounds);
            return;
        }
        if rounds < rules.least {
            return;
        }
        if rounds >= rules.most {
            figure.stopped = Some(Stop::Rounds);
        }
        if self.is_decided(index) {
            self.figures[index].stopped = Some(Stop::Target);
        }
    }

    fn is_decided(&self, index: usize) -> bool {
        let figure = &self.figures[index];
        let is_needed = self.figures.iter().any(|one| one.baseline == Some(index) && one.stopped.is_none());
        let baseline = figure.baseline.map(|baseline| &self.figures[baseline].values);
        let is_precise = baseline.is_none_or(|baseline| {
            let differences = stats::differences(&figure.values, baseline);
            differences.len() >= self.rules.least && is_within(&differences, DIFFERENCE * self.rules.target)
        });
        !is_needed && is_precise && is_within(&figure.values, self.rules.target)
    }

    pub fn exactly(&mut self, index: usize, rounds: usize) {
        self.figures[index].exact_rounds = Some(rounds);
    }

    /// Adds the seconds of a round, whether it counts or not.
    pub fn add_duration(&mut self, index: usize, seconds: f64) {
        self.figures[index].latest = seconds;
    }

    pub fn expire(&mut self) {
        for figure in self.figures.iter_mut().filter(|figure| figure.stopped.is_none()) {
            figure.stopped = Some(Stop::Time);
        }
    }

    pub fn fail(&mut self, index: usize) {
        self.figures[index].stopped = Some(Stop::Failed);
    }

    /// Why a figure gets no further rounds; `None` while it may.
    pub fn stopped(&self, index: usize) -> Option<Stop> {
        self.figures[index].stopped
    }

    /// The share of the least work that is done, 0 to 1, and the seconds left by the rounds so far.
    pub fn progress(&self, elapsed: f64) -> (f64, f64) {
        let least = |figure: &Progress| figure.exact_rounds.unwrap_or(self.rules.least).max(1);
        let whole = self.figures.iter().map(least).sum::<usize>() as f64;
        let (mut done, mut seconds) = (0.0, 0.0);
        for figure in &self.figures {
            let least = least(figure);
            let rounds = if figure.stopped.is_some() { least } else { figure.values.len().min(least) };
            done += rounds as f64;
            seconds += figure.latest * (least - rounds) as f64;
        }
        // After the least rounds only the time limit is known.
        let left = if done >= whole { self.rules.max_time - elapsed } else { seconds };
        (if whole > 0.0 { done / whole } else { 1.0 }, left.max(0.0).min(self.rules.max_time))
    }
}

/// Whether the interval of the median has this half-width at most, for 1 of the median.
fn is_within(values: &[f64], target: f64) -> bool {
    let interval = stats::median_interval(values).zip(stats::median(values));
    interval.is_some_and(|(interval, median)| interval.relative_half_width(median) <= target)
}

impl Rules {
    pub fn exactly(rounds: usize, max_time: f64) -> Rules {
        Rules { least: rounds, most: rounds, target: 0.0, max_time, repeats: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: Rules = Rules { least: 6, most: 20, target: 0.02, max_time: 100.0, repeats: 2 };

    /// Runs a schedule over figures with rounds that take 0.1 s and give `value(figure, round)`.
    fn order(rules: Rules, figures: usize, value: impl Fn(usize, usize) -> f64) -> (Vec<usize>, Schedule) {
        let mut schedule = Schedule::new(rules, figures);
        let (mut order, mut rounds) = (Vec::new(), vec![0; figures]);
        while let Some(index) = schedule.next(order.len() as f64 * 0.1) {
            schedule.add_duration(index, 0.1);
            schedule.add_value(index, value(index, rounds[index]));
            rounds[index] += 1;
            order.push(index);
        }
        (order, schedule)
    }

    #[test]
    fn cycles_run_forward_and_back() {
        let (order, schedule) = order(RULES, 3, |_, _| 1.0);
        assert_eq!(order[..9], [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!(order.len(), 18, "six rounds each, then the target is met");
        assert_eq!(schedule.stopped(0), Some(Stop::Target));
    }

    #[test]
    fn a_noisy_figure_gets_more_rounds_and_then_no_more() {
        let (order, schedule) = order(RULES, 2, |figure, round| match (figure, round % 2) {
            (1, 1) => 2.0,
            _ => 1.0,
        });
        assert_eq!(order.iter().filter(|&&index| index == 0).count(), 6);
        assert_eq!(order.iter().filter(|&&index| index == 1).count(), 20);
        assert_eq!(schedule.stopped(1), Some(Stop::Rounds));
    }

    #[test]
    fn time_that_is_left_goes_to_figures_and_then_to_controls() {
        let mut schedule = Schedule::new(RULES, 2);
        schedule.set_control(1);
        let mut order = Vec::new();
        while let Some(index) = schedule.next(0.0) {
            schedule.add_value(index, if order.len() % 4 < 2 { 1.0 } else { 2.0 });
            order.push(index);
        }
        let controls = |rounds: &[usize]| rounds.iter().filter(|&&index| index == 1).count();
        assert_eq!((controls(&order[..12]), controls(&order[12..26]), controls(&order[26..])), (6, 0, 14));
    }

    /// A baseline of 60 and a figure of 75, both known to 1 %: their difference is known to 7 %.
    #[test]
    fn a_difference_decides_both_figures() {
        let noisy = |figure: usize, round: usize| match figure {
            0 => 60.0 + 0.6 * (round % 2) as f64,
            1 => 75.0 - 1.4 * (round % 2) as f64,
            _ => 200.0,
        };
        let rounds = |compared: &[usize]| {
            let mut schedule = Schedule::new(RULES, 3);
            compared.iter().for_each(|index| schedule.set_baseline(*index, 0));
            let mut rounds = [0; 3];
            while let Some(index) = schedule.next(0.0) {
                schedule.add_value(index, noisy(index, rounds[index]));
                rounds[index] += 1;
            }
            rounds
        };
        assert_eq!(rounds(&[]), [6, 6, 6]);
        assert_eq!(rounds(&[1, 2])[..2], [20, 20]);
        // One more where the baseline comes after it in the cycle.
        let [baseline, _, figure] = rounds(&[2]);
        assert!(baseline <= 8 && figure <= 7, "{baseline} and {figure}");
    }

    #[test]
    fn a_figure_may_have_a_number_of_its_own() {
        let mut schedule = Schedule::new(Rules::exactly(10, 100.0), 2);
        schedule.exactly(1, 3);
        let mut rounds = [0, 0];
        while let Some(index) = schedule.next(0.0) {
            schedule.add_value(index, 1.0);
            rounds[index] += 1;
        }
        assert_eq!(rounds, [10, 3]);
        assert_eq!(schedule.progress(0.0).0, 1.0);
    }

    #[test]
    fn the_time_limit_is_observed() {
        let (order, schedule) = order(Rules { max_time: 0.75, ..RULES }, 2, |_, _| 1.0);
        assert_eq!(order.len(), 7);
        assert_eq!(schedule.stopped(1), Some(Stop::Time));
    }

    #[test]
    fn a_disturbed_round_is_repeated_at_once_and_not_for_ever() {
        let mut schedule = Schedule::new(RULES, 2);
        assert_eq!(schedule.next(0.0), Some(0));
        assert!(schedule.may_repeat(0, 0.0));
        assert_eq!(schedule.next(0.0), Some(0));
        assert!(schedule.may_repeat(0, 0.0));
        assert_eq!(schedule.next(0.0), Some(0));
        assert!(!schedule.may_repeat(0, 0.0));
        assert_eq!(schedule.next(0.0), Some(1));
        assert!(!schedule.may_repeat(1, RULES.max_time + 1.0), "no time is left for it");
    }

    #[test]
    fn a_failed_figure_leaves_the_others() {
        let mut schedule = Schedule::new(RULES, 2);
        schedule.fail(0);
        assert_eq!(schedule.next(0.0), Some(1));
        assert_eq!(schedule.stopped(0), Some(Stop::Failed));
    }

    proptest! {
        #[test]
        fn it_always_ends(figures in 0..8usize, least in 0..9usize, extra in 0..9usize, noise in 0.0..0.5f64) {
            let rules = Rules { least, most: least + extra, ..RULES };
            let (order, _) = order(rules, figures, |_, round| 1.0 + noise * (round % 3) as f64);
            prop_assert!(order.len() <= figures * (least + extra).max(1));
        }
    }
}
