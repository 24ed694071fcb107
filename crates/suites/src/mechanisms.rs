//! Which mechanisms of a watched program's page faults are worth a finding and a setting. Pure.

use figure::Figure;
use figure::evidence::{MECHANISM, PROGRAM_CPU, PROGRAM_SYSTEM, SETTING_ABOUT, WATCHED};
use serde::Serialize;

/// Next to nothing is to be gained where faults cost less than this share of the CPU time at most.
const NOTHING: f64 = 0.05;
/// By so much faults may cost more than in a loop: caches are cold after a pause, and memory is given back. The most that was measured is
/// 3.2 times (docs/methods/faults.md, The answer).
pub const DEARER: f64 = 3.5;
/// Seconds of CPU time from which on clock ticks resolve the kernel's share of it: some dozens of ticks.
pub const RESOLVED: f64 = 0.2;
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
}

impl Cost {
    /// By the figure of the estimate; `None` without it.
    pub fn of(figures: &[Figure]) -> Option<Cost> {
        let figure = figures.iter().find(|figure| figure.id == "faults.gain")?;
        let estimate = figure.value?;
        let seconds = |key| figure.evidence.get(key).into_value();
        let times = seconds(PROGRAM_SYSTEM).zip(seconds(PROGRAM_CPU)).filter(|(_, cpu)| *cpu >= RESOLVED);
        let kernel = times.map_or(1.0, |(system, cpu)| system / cpu);
        Some(Cost { estimate, most: (DEARER * estimate).min(kernel).max(estimate) })
    }

    /// Whether next to nothing is to be gained.
    pub fn is_little(self) -> bool {
        self.most < NOTHING
    }
}

/// Whether stopping a mechanism may save CPU time that matters: its share of what all faults cost. So it may where that is not known.
pub fn is_worth(figure: &Figure, cost: Option<Cost>) -> bool {
    let share = figure.interval.as_ref().map(|interval| interval.high).or(figure.value);
    cost.zip(share).is_none_or(|(cost, share)| cost.most * share >= NOTHING)
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
            let cost = most.map(|most| Cost { estimate: most / 2.0, most });
            is_worth(&share(0.15, 0.1, high, "a"), cost)
        };
        assert!(is_worth(0.25, None), "the cost is not known");
        assert!(is_worth(0.25, Some(0.25)));
        assert!(!is_worth(0.25, Some(0.15)));
        assert!(is_worth(0.9, Some(0.15)), "it may be nearly all");
    }

    #[test]
    fn faults_cost_at_most_what_was_spent_in_the_kernel() {
        let cost = |estimate: f64, system: f64, cpu: f64| {
            let mut figure = Figure::planned("faults.gain", "faults", "cost", Unit::ONE, Better::Neither);
            figure.value = Some(estimate);
            figure.evidence.put(PROGRAM_SYSTEM, system);
            figure.evidence.put(PROGRAM_CPU, cpu);
            Cost::of(&[figure]).unwrap()
        };
        assert_eq!(cost(0.018, 2.5, 6.0), Cost { estimate: 0.018, most: 0.063 });
        assert!(!cost(0.018, 2.5, 6.0).is_little() && cost(0.018, 0.2, 6.0).is_little());
        assert!(cost(0.01, 2.5, 6.0).is_little());
        assert_eq!(cost(0.2, 0.6, 6.0).most, 0.2, "an estimate above the kernel's time stands");
        assert!((cost(0.2, 0.02, 0.1).most - 0.7).abs() < 1e-9, "a few ticks show nothing");
        assert_eq!(Cost::of(&[]), None);
    }
}
