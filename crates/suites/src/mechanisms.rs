//! Which mechanisms of a watched program's page faults are worth a finding and a setting. Pure.

use figure::Figure;
use figure::evidence::{
    FAULT_HUGE, FAULT_HUGE_SHARE, FAULT_TOTAL, GAIN_HUGE, MECHANISM, PROGRAM_CPU, PROGRAM_SYSTEM,
    SETTING_ABOUT, WATCHED,
};
use serde::Serialize;

use crate::faults::Mechanism;

/// Next to nothing is to be gained where faults cost less than this share of the CPU time at most.
const NOTHING: f64 = 0.05;
/// By so much faults may cost more than in a loop: caches are cold after a pause, and memory is given back. The most that was measured is
/// 3.2 times, by medians (docs/methods/faults.md, The answer).
pub const DEARER: f64 = 3.5;
/// Seconds between two ticks of the kernel's clock, by which it divides CPU time into user and system, where it ticks most slowly.
const TICK: f64 = 0.01;
/// Mechanisms and blocks with a smaller share of the faults are left to the table.
pub const LEAST: f64 = 0.1;
/// … and so are those, but for the largest, whose interval begins below this: they may be next to nothing.
const SURE: f64 = 0.05;

/// The figures of the mechanisms that are worth a finding, the largest share first.
pub fn notable(figures: &[Figure]) -> Vec<&Figure> {
    let is_mechanism = |figure: &&Figure| {
        let conditions = &figure.conditions;
        figure.series.is_none() && conditions.get(MECHANISM).is_some() && conditions.get(WATCHED).is_some()
    };
    let share = |figure: &Figure| figure.value.unwrap_or(0.0);
    let mut notable: Vec<&Figure> =
        figures.iter().filter(is_mechanism).filter(|figure| share(figure) >= LEAST).collect();
    notable.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let is_sure = |figure: &Figure| figure.interval.as_ref().is_none_or(|interval| interval.low >= SURE);
    let mut rank = 0..;
    notable.retain(|figure| rank.next() == Some(0) || is_sure(figure));
    notable
}

/// What all faults of a watched program cost, as shares of its CPU time, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// By the prices in a loop.
    pub estimate: f64,
    /// At most: all that was spent in the kernel, or the dearest faults.
    pub most: f64,
    /// Whether that is the price of the dearest.
    pub is_by_price: bool,
    /// Of the faults, those that each brought a huge page.
    huge: f64,
    /// Of the estimate, what these cost.
    by_huge: f64,
}

impl Cost {
    /// By the figure of the estimate; `None` without it.
    pub fn of(figures: &[Figure]) -> Option<Cost> {
        let figure = figures.iter().find(|figure| figure.id == "faults.gain")?;
        let estimate = figure.value?;
        let of = |key| figure.evidence.get(key).into_value();
        let kernel = of(PROGRAM_SYSTEM).zip(of(PROGRAM_CPU)).filter(|(_, cpu)| *cpu > 0.0);
        let kernel = kernel.map_or(1.0, |(system, cpu)| (at_most_in_kernel(system) / cpu).min(1.0));
        // A huge page costs more than a hundred small ones: where they are unknown, prices bound nothing.
        let huge = of(FAULT_HUGE);
        let dearest = huge.map(|_| DEARER * estimate).filter(|dearest| *dearest <= kernel);
        let share = huge.zip(of(FAULT_TOTAL)).map_or(0.0, |(huge, all)| (huge / all.max(1.0)).min(1.0));
        let by_huge = of(GAIN_HUGE).unwrap_or(0.0);
        let most = dearest.unwrap_or(kernel).max(estimate);
        Some(Cost { estimate, most, is_by_price: dearest.is_some(), huge: share, by_huge })
    }

    /// Whether next to nothing is to be gained.
    pub fn is_little(self) -> bool {
        self.most < NOTHING
    }

    /// The share of the cost that a mechanism may cause, at most, 0 to 1; `None` without a value. Huge pages count for the mechanism of
    /// the small ones in the same memory, too.
    fn share(self, figure: &Figure) -> Option<f64> {
        let share = figure.interval.as_ref().map(|interval| interval.high).or(figure.value)?;
        let is_huge =
            figure.conditions.get(MECHANISM).is_some_and(|word| word == Mechanism::HugePages.word());
        let of_small = if is_huge { 0.0 } else { (share / (1.0 - self.huge).max(1e-9)).min(1.0) };
        let of_huge = figure.evidence.get(FAULT_HUGE_SHARE).into_value().unwrap_or(share);
        Some(of_small * (1.0 - self.by_huge) + of_huge * self.by_huge)
    }
}

/// Seconds of CPU time in the kernel at most, of so many by its ticks: two standard errors more (Poisson).
pub fn at_most_in_kernel(system: f64) -> f64 {
    let ticks = system / TICK;
    (ticks + 2.0 * (ticks + 1.0).sqrt()) * TICK
}

/// Whether stopping a mechanism may save CPU time that matters: its share of what all faults cost. So it may where that is not known.
pub fn is_worth(figure: &Figure, cost: Option<Cost>) -> bool {
    cost.and_then(|cost| Some((cost, cost.share(figure)?)))
        .is_none_or(|(cost, share)| cost.most * share >= NOTHING)
}

/// Those of the notable mechanisms that may be the one of most faults: the largest, and each whose interval meets its own.
/// Shares of one whole differ by as much as both intervals are wide together, as what one gains the other loses.
pub fn leading<'a>(notable: &[&'a Figure]) -> Vec<&'a Figure> {
    let Some((first, others)) = notable.split_first() else { return Vec::new() };
    let low = first.interval.as_ref().map(|interval| interval.low);
    let reaches = |figure: &&&Figure| {
        figure.interval.as_ref().zip(low).is_some_and(|(interval, low)| interval.high >= low)
    };
    std::iter::once(first).chain(others.iter().filter(reaches)).copied().collect()
}

/// The mechanism to name as the cause; `None` while several may be the one of most faults.
pub fn decided<'a>(leading: &[&'a Figure]) -> Option<&'a Figure> {
    leading.first().copied().filter(|_| leading.len() == 1)
}

/// The mechanism to act on: all that may be the one of most faults ask for the same.
pub fn advisable<'a>(leading: &[&'a Figure]) -> Option<&'a Figure> {
    let about = |figure: &Figure| figure.conditions.get(SETTING_ABOUT);
    let first = *leading.first()?;
    leading.iter().all(|figure| about(figure) == about(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::{Better, Interval, Unit};

    fn share(value: f64, low: f64, high: f64, about: &str) -> Figure {
        let interval = Interval { low, high, level: 0.95, method: "wilson".to_owned(), rounds: 100 };
        let mut figure = Figure::planned("faults.mechanism", "faults", "share", Unit::ONE, Better::Neither);
        figure.conditions.set(SETTING_ABOUT, about.to_owned());
        Figure { interval: Some(interval), value: Some(value), ..figure }
    }

    #[test]
    fn a_cause_is_named_if_no_other_may_be_larger() {
        let count = |figures: &[Figure]| {
            let all: Vec<&Figure> = figures.iter().collect();
            let leading = leading(&all);
            (leading.len(), decided(&leading).is_some(), advisable(&leading).is_some())
        };
        let first = || share(0.33, 0.19, 0.48, "a");
        assert_eq!(count(&[]), (0, false, false));
        assert_eq!(count(&[first()]), (1, true, true));
        assert_eq!(count(&[first(), share(0.15, 0.12, 0.18, "b")]), (1, true, true));
        assert_eq!(count(&[first(), share(0.21, 0.11, 0.32, "b")]), (2, false, false));
        assert_eq!(count(&[first(), share(0.21, 0.11, 0.32, "a")]), (2, false, true));
        let unknown = Figure { interval: None, ..first() };
        assert_eq!(count(&[unknown, share(0.21, 0.11, 0.32, "b")]), (1, true, true));
    }
    #[test]
    fn a_setting_is_worth_what_its_mechanism_may_cost() {
        let is_worth = |high: f64, most: Option<f64>| {
            let cost = most.map(|most| Cost {
                estimate: most / 2.0,
                most,
                is_by_price: true,
                huge: 0.0,
                by_huge: 0.0,
            });
            is_worth(&share(0.15, 0.1, high, "a"), cost)
        };
        assert!(is_worth(0.25, None), "the cost is not known");
        assert!(is_worth(0.25, Some(0.25)));
        assert!(!is_worth(0.25, Some(0.15)));
        assert!(is_worth(0.9, Some(0.15)), "it may be nearly all");
    }

    fn answer(estimate: f64, (system, cpu): (f64, f64), huge: Option<(f64, f64)>) -> Cost {
        let mut figure = Figure::planned("faults.gain", "faults", "cost", Unit::ONE, Better::Neither);
        figure.value = Some(estimate);
        figure.evidence.put(PROGRAM_SYSTEM, system);
        figure.evidence.put(PROGRAM_CPU, cpu);
        figure.evidence.put(FAULT_TOTAL, 1000.0);
        if let Some((huge, by_huge)) = huge {
            figure.evidence.put(FAULT_HUGE, huge);
            figure.evidence.put(GAIN_HUGE, by_huge);
        }
        Cost::of(&[figure]).unwrap()
    }

    #[test]
    fn faults_cost_at_most_what_was_spent_in_the_kernel() {
        let most = |estimate: f64, system: f64, cpu: f64| {
            let cost = answer(estimate, (system, cpu), Some((0.0, 0.0)));
            ((cost.most * 1e3).round() / 1e3, cost.is_by_price, cost.is_little())
        };
        assert_eq!(most(0.018, 2.5, 6.0), (0.063, true, false));
        assert_eq!(most(0.01, 2.5, 6.0), (0.035, true, true));
        assert_eq!(most(0.018, 0.1, 6.0), (0.028, false, true), "10 ticks, and 7 by their error");
        assert_eq!(most(0.2, 0.6, 6.0), (0.2, false, false), "an estimate above the kernel's time stands");
        assert_eq!(most(0.018, 0.02, 0.1), (0.063, true, false), "a few ticks show nothing");
        let unknown = answer(0.001, (2.5, 6.0), None);
        assert!(!unknown.is_by_price && !unknown.is_little(), "a few may be of huge pages");
        assert_eq!(Cost::of(&[]), None);
    }

    #[test]
    fn huge_pages_count_for_what_brings_small_ones_to_the_same_memory() {
        // Of 1000 faults 50 are of huge pages, and cost nine tenths.
        let cost = answer(0.1, (3.0, 6.0), Some((50.0, 0.9)));
        let of = |mechanism: Mechanism, share: f64, huge: f64| {
            let mut figure = Figure { interval: None, ..self::share(share, 0.0, 1.0, "a") };
            figure.conditions.set(MECHANISM, mechanism.word().to_owned());
            figure.evidence.put(FAULT_HUGE_SHARE, huge);
            (cost.share(&figure).unwrap() * 1e3).round() / 1e3
        };
        assert_eq!(of(Mechanism::MapChurn, 0.95, 1.0), 1.0);
        assert_eq!(of(Mechanism::MapChurn, 0.95, 0.0), 0.1);
        assert_eq!(of(Mechanism::HugePages, 0.05, 1.0), 0.9);
    }
}
