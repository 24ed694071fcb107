//! Which machine is best for what: a table of hosts and classes, which of them dominates, and a total only by weights that the
//! user gives.

use std::collections::BTreeSet;

use figure::format::{listed, number};
use schemars::JsonSchema;
use serde::Serialize;

use super::classes::WORDS;
use super::letter;
use super::pair::{Compared, Pair};

/// By how much weights are changed to see whether the order holds.
const CHANGE: [f64; 2] = [0.5, 1.5];
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
    /// The totals by the user's weights, the best first; empty without weights.
    pub totals: Vec<Total>,
    /// Whether the order of the totals survives other weights, in a sentence.
    pub sensitivity: Option<String>,
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

/// A host's total.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Total {
    /// The record's letter.
    pub record: char,
    /// Geometric mean of its classes by weight, against the first record.
    pub value: f64,
    /// The same for the money, against the first record, where both have a price.
    pub per_price: Option<f64>,
}

/// Builds the table. `None` if no figure is comparable in all records.
///
/// # Errors
/// A sentence: a weight of a class that is not in the table.
pub(super) fn select(
    pairs: &[Pair],
    prices: &[Option<f64>],
    weights: &[(String, f64)],
) -> Result<Option<Selection>, String> {
    let classes = classes(pairs);
    let names: Vec<&str> = classes.iter().map(|(class, _)| class.as_str()).collect();
    if let Some((class, _)) = weights.iter().find(|(class, _)| !names.contains(&class.as_str())) {
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(format!(
            "--weights {class}: no such class is compared in all records; there are: {there}"
        ));
    }
    if classes.is_empty() {
        return Ok(None);
    }
    let itself = Cell { mean: 1.0, interval: Some([1.0; 2]), range: [1.0; 2], has_abnormal: false };
    let mut rows = vec![vec![itself; classes.len()]];
    rows.extend(pairs.iter().map(|pair| classes.iter().map(|(_, ids)| cell(pair, ids)).collect()));
    let weights: Vec<f64> = names
        .iter()
        .map(|class| weights.iter().find(|(known, _)| known == class).map_or(0.0, |(_, w)| *w))
        .collect();
    let is_weighted = weights.iter().any(|weight| *weight > 0.0);
    Ok(Some(Selection {
        dominance: dominance(&rows, &names),
        totals: if is_weighted { totals(&rows, &weights, prices) } else { Vec::new() },
        sensitivity: is_weighted.then(|| sensitivity(&rows, &weights, &names)),
        rows,
        classes,
    }))
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

fn total(row: &[Cell], weights: &[f64]) -> f64 {
    let sum: f64 = row.iter().zip(weights).map(|(cell, weight)| weight * cell.mean.ln()).sum();
    (sum / weights.iter().sum::<f64>()).exp()
}

fn totals(rows: &[Vec<Cell>], weights: &[f64], prices: &[Option<f64>]) -> Vec<Total> {
    let mut totals: Vec<Total> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let value = total(row, weights);
            let per_price = prices[at].zip(prices[0]).map(|(own, first)| value * first / own);
            Total { record: letter(at), value, per_price }
        })
        .collect();
    totals.sort_by(|x, y| y.value.total_cmp(&x.value));
    totals
}

/// The records, the best first.
fn order(rows: &[Vec<Cell>], weights: &[f64]) -> String {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|x, y| total(&rows[*y], weights).total_cmp(&total(&rows[*x], weights)));
    order.into_iter().map(letter).collect()
}

/// Whether the order of the totals is the same when each weight is halved, or half as large again.
fn sensitivity(rows: &[Vec<Cell>], weights: &[f64], names: &[&str]) -> String {
    let usual = order(rows, weights);
    let mut changed = Vec::new();
    for (at, name) in names.iter().enumerate().filter(|(at, _)| weights[*at] > 0.0) {
        for change in CHANGE {
            let mut other = weights.to_vec();
            other[at] *= change;
            let now = order(rows, &other);
            if now != usual {
                changed.push(format!("{now} with {name}={}", number(other[at])));
            }
        }
    }
    if changed.is_empty() {
        format!("The order {usual} holds whichever weight is changed by 50 %.")
    } else {
        format!("The order {usual} depends on the weights: {}.", changed.join("; "))
    }
}
