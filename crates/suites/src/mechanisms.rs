//! Which mechanisms of a watched program's page faults are worth a finding and a setting. Pure.

use figure::Figure;
use figure::evidence::{MECHANISM, SETTING_ABOUT, WATCHED};

/// Below this share of the CPU time nothing is to be gained.
pub const NOTHING: f64 = 0.02;
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

/// The share of CPU time that all faults of a watched program cost, 0 to 1.
pub fn gain(figures: &[Figure]) -> Option<f64> {
    figures.iter().find(|figure| figure.id == "faults.gain")?.value
}

/// Whether stopping a mechanism may save CPU time that matters: its share of what all faults cost, `gain`, 0 to 1. So it may where
/// that is not known.
pub fn is_worth(figure: &Figure, gain: Option<f64>) -> bool {
    let share = figure.interval.as_ref().map(|interval| interval.high).or(figure.value);
    gain.zip(share).is_none_or(|(gain, share)| gain * share >= NOTHING)
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
        let is_worth = |high: f64, gain: Option<f64>| is_worth(&share(0.15, 0.1, high, "a"), gain);
        assert!(is_worth(0.25, None), "the cost is not known");
        assert!(is_worth(0.25, Some(0.1)));
        assert!(!is_worth(0.25, Some(0.03)));
        assert!(is_worth(0.9, Some(0.03)), "it may be nearly all");
    }
}
