//! Which mechanisms of a watched program's page faults are worth a finding and a setting. Pure.

use figure::Figure;
use figure::evidence::{MECHANISM, WATCHED};

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
