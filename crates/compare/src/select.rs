//! Which machine is best for what: a table of hosts and classes, and which of them dominates.

use std::collections::HashSet;

use figure::format::listed;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::classes::WORDS;
use crate::compared::{Compared, Ratio};
use crate::pair::Pair;
use crate::rules::letter;

/// Half the width of a 95 % interval in standard errors.
const Z: f64 = 1.959_964;

/// Hosts by classes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Selection {
    /// The classes, and the ids of the figures that each rests on: those that every record has.
    pub classes: Vec<(String, Vec<String>)>,
    /// For each record its cells, in the order of the classes; those of the first are 1.
    pub rows: Vec<Vec<Cell>>,
    /// Which record dominates which, in sentences.
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
    let with_ratio = |pair: &Pair| -> HashSet<String> {
        let figures = pair.figures.iter().filter(|figure| figure.merit().is_some());
        figures.map(|figure| figure.id.clone()).collect()
    };
    let with_ratio: Vec<HashSet<String>> = pairs.iter().map(with_ratio).collect();
    let is_in_all =
        |figure: &&Compared| !figure.is_total && with_ratio.iter().all(|ids| ids.contains(&figure.id));
    let mut classes: IndexMap<String, Vec<String>> = IndexMap::new();
    for figure in pairs.iter().take(1).flat_map(|pair| &pair.figures).filter(is_in_all) {
        classes.entry(figure.class.clone()).or_default().push(figure.id.clone());
    }
    classes.sort_by_cached_key(|class, _| WORDS.iter().position(|word| word == class).unwrap_or(WORDS.len()));
    classes.into_iter().collect()
}

fn cell(pair: &Pair, ids: &[String]) -> Cell {
    let is_meant = |figure: &&Compared| ids.contains(&figure.id);
    let ratios: Vec<Ratio> = pair.figures.iter().filter(is_meant).filter_map(|figure| figure.ratio).collect();
    let count = ratios.len() as f64;
    let mean = ratios.iter().map(|ratio| ratio.value.ln()).sum::<f64>() / count;
    // Figures are measured one by one, so that their errors are each its own.
    let squares: Option<f64> = ratios.iter().map(|ratio| ratio.error.map(|error| error * error)).sum();
    let error = squares.map(|squares| squares.sqrt() / count);
    let values = || ratios.iter().map(|ratio| ratio.value);
    Cell {
        mean: mean.exp(),
        interval: error.map(|error| [-Z, Z].map(|z| (mean + z * error).exp())),
        range: [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)],
        has_abnormal: pair.abnormal.iter().any(|abnormal| ids.contains(&abnormal.id)),
    }
}

/// For each record that is nowhere worse than another one, and somewhere better: a sentence.
fn dominance(rows: &[Vec<Cell>], names: &[&str]) -> Vec<String> {
    let sentence = |x: usize| {
        let below: Vec<String> = (0..rows.len())
            .filter_map(|y| {
                let pairs = || rows[x].iter().zip(&rows[y]);
                let better = pairs().filter(|(x, y)| x.mean > y.mean).count();
                let is_above = better > 0 && pairs().all(|(x, y)| x.mean >= y.mean);
                is_above.then(|| format!("{} (better in {better} of {})", letter(y), names.len()))
            })
            .collect();
        (!below.is_empty()).then(|| format!("{} is nowhere worse than {}.", letter(x), listed(&below)))
    };
    let sentences: Vec<String> = (0..rows.len()).filter_map(sentence).collect();
    if !sentences.is_empty() {
        return sentences;
    }
    let best = names.iter().enumerate().map(|(class, name)| {
        let mean = |at: &usize| rows[*at][class].mean;
        let best = (0..rows.len()).max_by(|x, y| mean(x).total_cmp(&mean(y)));
        format!("{name}: {}", letter(best.unwrap_or(0)))
    });
    let best = best.collect::<Vec<_>>().join(", ");
    vec![format!("None is nowhere worse than another one. Best by class: {best}.")]
}
