//! Which machine is best for what: a table of hosts and classes, and which of them dominates.

use std::collections::BTreeSet;

use figure::format::listed;
use schemars::JsonSchema;
use serde::Serialize;

use crate::classes::WORDS;
use crate::letter;
use crate::pair::{Compared, Pair};

/// Half the width of a 95 % interval in standard errors.
const Z: f64 = 1.959_964;

/// Hosts by classes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Selection {
    /// The classes, and the ids of the figures that each rests on: those that every record has.
    pub classes: Vec<(String, Vec<String>)>,
    /// For each record its cells, in the order of the classes; those of the first are 1.
    pub rows: Vec<Vec<Cell>>,
    /// Who dominates whom, in sentences.
    pub dominance: Vec<String>,
}

/// A host in a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// Geometric mean of the ratios to the first record.
    pub mean: f64,
    /// Its 95 % interval, where all its ratios have one.
    pub interval: Option<[f64; 2]>,
    /// Smallest and largest of the ratios.
    pub range: [f64; 2],
    /// Whether it rests on a test that is out of line.
    pub has_abnormal: bool,
}

/// Builds the table. `None` if no figure is comparable in all records.
pub(super) fn select(pairs: &[Pair]) -> Option<Selection> {
    let classes = classes(pairs);
    if classes.is_empty() {
        return None;
    }
    let names: Vec<&str> = classes.iter().map(|(class, _)| class.as_str()).collect();
    let itself = Cell { mean: 1.0, interval: Some([1.0; 2]), range: [1.0; 2], has_abnormal: false };
    let mut rows = vec![vec![itself; classes.len()]];
    rows.extend(pairs.iter().map(|pair| classes.iter().map(|(_, ids)| cell(pair, ids)).collect()));
    Some(Selection { dominance: dominance(&rows, &names), rows, classes })
}

/// The classes with the ids of the figures that every pair has a ratio of: an identical set for all records.
fn classes(pairs: &[Pair]) -> Vec<(String, Vec<String>)> {
    let with_ratio = |pair: &Pair| -> BTreeSet<String> {
        pair.figures
            .iter()
            .filter(|figure| figure.merit().is_some())
            .map(|figure| figure.id.clone())
            .collect()
    };
    let in_all = pairs.iter().map(with_ratio).reduce(|all, own| all.intersection(&own).cloned().collect());
    let (Some(in_all), Some(first)) = (in_all, pairs.first()) else { return Vec::new() };
    let mut classes: Vec<(String, Vec<String>)> = Vec::new();
    for figure in first.figures.iter().filter(|figure| in_all.contains(&figure.id) && !figure.is_total) {
        match classes.iter_mut().find(|(class, _)| *class == figure.class) {
            Some((_, ids)) => ids.push(figure.id.clone()),
            None => classes.push((figure.class.clone(), vec![figure.id.clone()])),
        }
    }
    let place = |class: &String| WORDS.iter().position(|word| word == class).unwrap_or(WORDS.len());
    classes.sort_by_key(|(class, _)| place(class));
    classes
}

fn cell(pair: &Pair, ids: &[String]) -> Cell {
    let own = |figure: &&Compared| ids.contains(&figure.id);
    let ratios: Vec<_> = pair.figures.iter().filter(own).filter_map(|figure| figure.ratio).collect();
    let many = ratios.len() as f64;
    let mean = ratios.iter().map(|ratio| ratio.value.ln()).sum::<f64>() / many;
    let errors: Option<Vec<f64>> = ratios.iter().map(|ratio| ratio.error).collect();
    // Figures are measured one by one, so that their errors are each its own.
    let error = errors.map(|errors| errors.iter().map(|error| error * error).sum::<f64>().sqrt() / many);
    let values = || ratios.iter().map(|ratio| ratio.value);
    Cell {
        mean: mean.exp(),
        interval: error.map(|error| [(mean - Z * error).exp(), (mean + Z * error).exp()]),
        range: [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)],
        has_abnormal: pair.abnormal.iter().any(|abnormal| ids.contains(&abnormal.id)),
    }
}

/// For each record that is nowhere worse than another one, and somewhere better: a sentence.
fn dominance(rows: &[Vec<Cell>], names: &[&str]) -> Vec<String> {
    let mut told = Vec::new();
    for (x, own) in rows.iter().enumerate() {
        let mut below = Vec::new();
        for (y, others) in rows.iter().enumerate().filter(|(y, _)| *y != x) {
            let pairs = || own.iter().zip(others);
            let better = pairs().filter(|(own, other)| own.mean > other.mean).count();
            if better > 0 && pairs().all(|(own, other)| own.mean >= other.mean) {
                below.push(format!("{} (better in {better} of {})", letter(y), names.len()));
            }
        }
        if !below.is_empty() {
            told.push(format!("{} is nowhere worse than {}.", letter(x), listed(&below)));
        }
    }
    if told.is_empty() {
        let best = names.iter().enumerate().map(|(class, name)| {
            let best =
                rows.iter().enumerate().max_by(|(_, x), (_, y)| x[class].mean.total_cmp(&y[class].mean));
            format!("{name}: {}", letter(best.map_or(0, |(at, _)| at)))
        });
        told.push(format!(
            "None is nowhere worse than another one. Best by class: {}.",
            best.collect::<Vec<_>>().join(", ")
        ));
    }
    told
}
