//! Runs of the same thing become rounds of one figure.

use figure::evidence::http::QUANTILE;
use figure::{Conditions, Figure};

/// Figures of the same id under the same conditions become one, with a round for each run; those under others get a number behind the
/// tool's name. Quantiles become figures that follow from the load that stands before them.
pub fn merge(runs: Vec<Figure>) -> Vec<Figure> {
    let mut figures: Vec<(String, Figure)> = Vec::new();
    // Conditions of the runs of one tool, in the order in which they appeared: their number is the run's.
    let mut setups: Vec<(String, Conditions)> = Vec::new();
    for mut figure in runs {
        let tool = figure.id.split('.').nth(1).unwrap_or_default().to_owned();
        let setup = (tool.clone(), setup(&figure));
        let number = match setups.iter().position(|known| *known == setup) {
            Some(at) => at,
            None => {
                setups.push(setup);
                setups.len() - 1
            }
        };
        let number = setups[..=number].iter().filter(|(name, _)| *name == tool).count();
        if number > 1 {
            figure.id = figure.id.replacen(&tool, &format!("{tool}-{number}"), 1);
            figure.name = format!("{} ({number})", figure.name);
            figure.derived_from = figure
                .derived_from
                .iter()
                .map(|id| id.replacen(&tool, &format!("{tool}-{number}"), 1))
                .collect();
        }
        match figures.iter_mut().find(|(id, known)| *id == figure.id && known.conditions == figure.conditions)
        {
            Some((_, known)) => known.rounds.append(&mut figure.rounds),
            None => figures.push((figure.id.clone(), figure)),
        }
    }
    figures.into_iter().map(|(_, figure)| whole(figure)).collect()
}

/// The conditions that a run's figures have in common.
fn setup(figure: &Figure) -> Conditions {
    use figure::evidence::audit::{SUBJECT, TOOL};
    use figure::evidence::http::CONNECTIONS;
    use figure::evidence::{ARRAY_BYTES, COPIES, THREADS};
    let mut common = Conditions::default();
    let own = &figure.conditions;
    for key in [TOOL, SUBJECT] {
        own.get(key).into_iter().for_each(|value| common.set(key, value));
    }
    for key in [THREADS, ARRAY_BYTES, COPIES, CONNECTIONS] {
        own.get(key).into_iter().for_each(|value| common.set(key, value));
    }
    common
}

/// Value and interval from the rounds.
fn whole(mut figure: Figure) -> Figure {
    figure.summarise();
    if figure.conditions.get(QUANTILE).is_some() && !figure.derived_from.is_empty() {
        figure.rounds.clear();
    }
    figure
}
