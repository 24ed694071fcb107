//! Runs of the same thing become rounds of one figure.

use std::collections::HashMap;

use figure::evidence::audit::{COMMAND, CONTRADICTION, DEPTH, SUBJECT, TOOL};
use figure::evidence::http::{CONNECTIONS, KEEPS_ALIVE, QUANTILE};
use figure::evidence::{ARRAY_BYTES, COPIES, THREADS};
use figure::{Basis, Conditions, Figure, Reading};

/// Figures of the same id under the same conditions become one, with a round for each run; those under others get a number behind the
/// tool's name. Quantiles become figures that follow from the load that stands before them.
pub fn merge(runs: Vec<Figure>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    // Conditions of the runs of one tool, in the order in which they appeared: their number is the run's.
    let mut setups: HashMap<String, HashMap<String, usize>> = HashMap::new();
    for mut figure in runs {
        let tool = figure.id.split('.').nth(1).unwrap_or_default().to_owned();
        let of_tool = setups.entry(tool.clone()).or_default();
        let next = of_tool.len() + 1;
        let number = *of_tool.entry(format!("{:?}", setup(&figure))).or_insert(next);
        if number > 1 {
            figure.id = figure.id.replacen(&tool, &format!("{tool}-{number}"), 1);
            figure.name = format!("{} ({number})", figure.name);
            figure.derived_from = figure
                .derived_from
                .iter()
                .map(|id| id.replacen(&tool, &format!("{tool}-{number}"), 1))
                .collect();
        }
        let alike = places.entry(figure.id.clone()).or_default();
        match alike.iter().find(|at| figures[**at].conditions == figure.conditions) {
            Some(at) => {
                figures[*at].rounds.append(&mut figure.rounds);
                if let Reading::Value(why) = figure.evidence.get(CONTRADICTION) {
                    figures[*at].evidence.put(CONTRADICTION, why);
                }
            }
            None => {
                alike.push(figures.len());
                figures.push(figure);
            }
        }
    }
    figures.into_iter().map(whole).collect()
}

/// The conditions that a run's figures have in common.
fn setup(figure: &Figure) -> Conditions {
    let mut common = Conditions::default();
    let own = &figure.conditions;
    for key in [TOOL, SUBJECT, COMMAND] {
        own.get(key).into_iter().for_each(|value| common.set(key, value));
    }
    for key in [THREADS, ARRAY_BYTES, COPIES, CONNECTIONS, DEPTH] {
        own.get(key).into_iter().for_each(|value| common.set(key, value));
    }
    own.get(KEEPS_ALIVE).into_iter().for_each(|keeps| common.set(KEEPS_ALIVE, keeps));
    common
}

/// Value and interval from the rounds.
fn whole(mut figure: Figure) -> Figure {
    figure.summarise();
    if figure.conditions.get(QUANTILE).is_some() && !figure.derived_from.is_empty() {
        figure.rounds.clear();
        figure.basis = Basis::Computed;
    }
    figure
}
