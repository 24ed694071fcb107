//! Which deficits accuse a node: tests of its figures and of its parts, and the share of false accusations that is allowed.

use figure::stats::median;

use crate::null::{Deviations, NullDistribution};
use crate::part::Candidate;
use crate::peers::Peers;
use crate::robust::{Reference, Tail, false_discovery_limit};
use crate::rules::{MIN_VALUES, Rules};
use crate::table::Table;

/// Healthy nodes that may be accused in one run, as an expectation: where most nodes are slow, 1 % of the accused are many.
const MOST_FALSE: f64 = 1.0;

/// What a test is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Subject {
    /// A figure, by its column.
    Figure(usize),
    /// The figures of a part, by its index among the candidates.
    Part(usize),
}

/// A deficit that may accuse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspicion {
    /// The node.
    pub row: usize,
    /// What is low.
    pub subject: Subject,
    /// By how much, as a logarithm below 0.
    pub deviation: f64,
    /// The probability of such a deficit on a healthy node.
    pub probability: f64,
}

/// The tests of all nodes.
pub(crate) struct Tests {
    /// Of each cell by how much it is better than the centre, as a logarithm; NaN where it was not compared.
    pub deviations: Vec<f32>,
    /// How many tests each node had.
    pub counts: Vec<usize>,
    /// Deficits, by node.
    suspicions: Vec<Suspicion>,
    /// Smaller deficits than this logarithm do not count.
    least: f64,
}

/// The accusations of all nodes.
pub(crate) struct Accusations {
    /// By node, the largest deficit first.
    suspicions: Vec<Suspicion>,
    /// The largest probability by which a node is accused, over all its tests.
    pub limit: f64,
}

impl Accusations {
    /// Those of a node, the largest deficit first.
    pub fn of(&self, row: usize) -> &[Suspicion] {
        let first = self.suspicions.partition_point(|one| one.row < row);
        let end = self.suspicions.partition_point(|one| one.row <= row);
        &self.suspicions[first..end]
    }
}

impl Tests {
    /// Tests each node against its peers.
    pub fn of(table: &Table, peers: &[Peers], rules: &Rules) -> Tests {
        let mut tests = Tests::new(table, rules);
        for peers in peers {
            let null = tests.deviate(table, peers);
            tests.figures(table, peers, &null);
            tests.parts(table, peers);
        }
        tests
    }

    fn new(table: &Table, rules: &Rules) -> Tests {
        Tests {
            deviations: vec![f32::NAN; table.cells.len()],
            counts: vec![0; table.rows.len()],
            suspicions: Vec::new(),
            least: (1.0 - rules.delta).ln(),
        }
    }

    /// How the figures of these nodes deviate, for a baseline.
    pub fn null(table: &Table, peers: &Peers) -> NullDistribution {
        Tests::new(table, &Rules::default()).deviate(table, peers)
    }

    /// Writes the deviation of each cell from its centre, and counts how the figures of healthy nodes deviate.
    fn deviate(&mut self, table: &Table, peers: &Peers) -> NullDistribution {
        let mut all = Deviations::default();
        let mut scaled = vec![f64::NAN; table.columns.len()];
        for row in peers.cohort.all() {
            for (column, reference) in peers.references.iter().enumerate() {
                scaled[column] = f64::NAN;
                let Some(reference) = reference else { continue };
                let cell = table.cell(row, column);
                let Some(merit) = cell.merit(table.columns[column].better) else { continue };
                let deviation = merit - reference.centre;
                self.deviations[row * table.columns.len() + column] = deviation as f32;
                // A figure with a long tail of its own is judged by that.
                if reference.tail == Tail::Normal {
                    scaled[column] = -deviation / reference.scale(cell.error());
                }
            }
            all.add(&mut scaled, peers.candidates.iter().map(|one| one.columns.as_slice()));
        }
        all.finish()
    }

    /// Notes figures whose deficits may accuse.
    fn figures(&mut self, table: &Table, peers: &Peers, null: &NullDistribution) {
        for row in peers.cohort.all() {
            for (column, reference) in peers.references.iter().enumerate() {
                let deviation = f64::from(self.deviations[row * table.columns.len() + column]);
                let Some(reference) = reference.as_ref().filter(|_| !deviation.is_nan()) else { continue };
                let error = table.cell(row, column).error();
                let mut probability = reference.probability(deviation, error);
                if probability < 1.0 {
                    let z = -deviation / reference.scale(error);
                    probability = probability.max(null.probability(z)).max(peers.null.probability(z));
                }
                self.note(row, Subject::Figure(column), deviation, probability);
            }
        }
    }

    /// Tests the means of the figures of each part, as if each were a figure: noise averages out, and a small deficit of all of them shows.
    /// More than half of the figures must be low: a few do not make a part slow.
    fn parts(&mut self, table: &Table, peers: &Peers) {
        let columns = table.columns.len();
        for (at, candidate) in peers.candidates.iter().enumerate() {
            let of = |tests: &Tests, row: usize| {
                let own = &tests.deviations[row * columns..(row + 1) * columns];
                Some((trimmed_mean(candidate, own)?, upper_median(candidate, own)?))
            };
            let known = peers.cohort.rows.iter().filter_map(|&row| of(self, row));
            let (mut means, medians): (Vec<f64>, Vec<f64>) = known.unzip();
            if means.len() < MIN_VALUES {
                continue;
            }
            let Some(mut reference) = Reference::of(&mut means) else { continue };
            let Some(mut usual) = median(&medians) else { continue };
            if candidate.columns.iter().any(|&column| peers.has_baseline[column]) {
                (reference.centre, usual) = (0.0, 0.0);
            }
            for row in peers.cohort.all() {
                let Some((mean, median)) = of(self, row) else { continue };
                let deviation = mean - reference.centre;
                let is_shared = median - usual < self.least;
                let probability = if is_shared { reference.probability(deviation, 0.0) } else { 1.0 };
                self.note(row, Subject::Part(at), deviation, probability);
            }
        }
    }

    /// Counts a test, and keeps it if it may accuse. Smaller deficits than delta are left out here, not after the selection: else many
    /// harmless ones would let false ones through.
    fn note(&mut self, row: usize, subject: Subject, deviation: f64, probability: f64) {
        self.counts[row] += 1;
        if probability < 1.0 && deviation < self.least {
            self.suspicions.push(Suspicion { row, subject, deviation, probability });
        }
    }

    /// The accusations. Two steps, so that of all *nodes* that are accused few are so by mistake: by test a node with hundreds of low figures
    /// would pay for false ones elsewhere. A node's probability is Simes' over its tests (Biometrika 73, 1986); Benjamini and Hochberg's
    /// procedure chooses nodes; within them it chooses tests, at the level that Benjamini and Bogomolov (Journal of the Royal Statistical
    /// Society B 76, 2014) give for selected families. Also the deviations and counts.
    pub fn accuse(self, rules: &Rules) -> (Accusations, Vec<f32>, Vec<usize>) {
        let Tests { deviations, counts, mut suspicions, .. } = self;
        suspicions.sort_by(|a, b| a.row.cmp(&b.row).then(a.probability.total_cmp(&b.probability)));
        let judged = counts.iter().filter(|count| **count > 0).count().max(1);
        let nodes = || suspicions.chunk_by(|a, b| a.row == b.row);
        let mut combined: Vec<f64> = nodes().map(|own| simes(own, counts[own[0].row])).collect();
        let limit = false_discovery_limit(&mut combined, judged, rules.false_discoveries);
        let accused = combined.iter().filter(|probability| **probability <= limit).count();
        let level = (rules.false_discoveries * accused as f64).min(MOST_FALSE) / judged as f64;
        let mut kept = Vec::new();
        for own in nodes() {
            let mut probabilities: Vec<f64> = own.iter().map(|one| one.probability).collect();
            let limit = false_discovery_limit(&mut probabilities, counts[own[0].row], level);
            kept.extend(own.iter().filter(|one| one.probability <= limit).copied());
        }
        kept.sort_by(|a, b| a.row.cmp(&b.row).then(a.deviation.total_cmp(&b.deviation)));
        (Accusations { suspicions: kept, limit: level }, deviations, counts)
    }
}

/// Simes' probability of the tests of a node: the smallest first.
fn simes(own: &[Suspicion], tests: usize) -> f64 {
    let ranked = own.iter().enumerate().map(|(at, one)| one.probability * tests as f64 / (at + 1) as f64);
    ranked.fold(1.0, f64::min)
}

/// The mean deviation of a node's figures of one part, if half of them were compared.
pub(crate) fn mean(candidate: &Candidate, deviations: &[f32]) -> Option<f64> {
    let Summed { sum, count, .. } = summed(candidate, deviations);
    (2 * count >= candidate.columns.len() && count > 0).then(|| sum / count as f64)
}

/// The same of two at least; of more without the lowest, which may be an outlier.
fn trimmed_mean(candidate: &Candidate, deviations: &[f32]) -> Option<f64> {
    match summed(candidate, deviations) {
        Summed { count, .. } if 2 * count < candidate.columns.len() || count < 2 => None,
        Summed { sum, count: 2, .. } => Some(sum / 2.0),
        Summed { sum, count, lowest } => Some((sum - lowest) / (count - 1) as f64),
    }
}

/// More than half of a node's figures of one part deviate by this or less.
fn upper_median(candidate: &Candidate, deviations: &[f32]) -> Option<f64> {
    let mut known: Vec<f64> = known(candidate, deviations).collect();
    let half = known.len() / 2;
    (half < known.len()).then(|| *known.select_nth_unstable_by(half, f64::total_cmp).1)
}

/// Deviations of figures that were compared.
struct Summed {
    sum: f64,
    count: usize,
    lowest: f64,
}

fn summed(candidate: &Candidate, deviations: &[f32]) -> Summed {
    let nothing = Summed { sum: 0.0, count: 0, lowest: f64::INFINITY };
    known(candidate, deviations).fold(nothing, |Summed { sum, count, lowest }, one| Summed {
        sum: sum + one,
        count: count + 1,
        lowest: lowest.min(one),
    })
}

fn known(candidate: &Candidate, deviations: &[f32]) -> impl Iterator<Item = f64> {
    let of = candidate.columns.iter().map(|&column| f64::from(deviations[column]));
    of.filter(|one| one.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;

    fn tests(suspicions: Vec<Suspicion>, counts: Vec<usize>) -> Tests {
        Tests { deviations: Vec::new(), counts, suspicions, least: -0.03 }
    }

    fn suspicion(row: usize, column: usize, probability: f64) -> Suspicion {
        Suspicion { row, subject: Subject::Figure(column), deviation: -0.1, probability }
    }

    #[test]
    fn a_node_with_many_low_figures_pays_for_no_false_one_elsewhere() {
        let mut suspicions: Vec<Suspicion> = (0..100).map(|column| suspicion(0, column, 1e-9)).collect();
        // By test this one would pass: 1 % of 101 accusations.
        suspicions.push(suspicion(5, 3, 2e-4));
        let (accusations, ..) = tests(suspicions, vec![300; 10]).accuse(&Rules::default());
        assert_eq!(accusations.of(0).len(), 100);
        assert!(accusations.of(5).is_empty());
        assert!((accusations.limit - 0.001).abs() < 1e-12);
    }

    /// Of 1000 nodes 900 are slow: 1 % of these are nine, and one is allowed.
    #[test]
    fn many_slow_nodes_let_no_more_than_one_false_one_through() {
        let slow = |row| suspicion(row, 0, 1e-12);
        let suspicions = (0..900).map(slow).chain([suspicion(950, 0, 0.9e-3), suspicion(951, 0, 1.1e-3)]);
        let (accusations, ..) = tests(suspicions.collect(), vec![1; 1000]).accuse(&Rules::default());
        assert_eq!([899, 950, 951].map(|row| accusations.of(row).len()), [1, 1, 0]);
    }

    #[test]
    fn smaller_deficits_than_delta_do_not_count() {
        let mut tests = tests(Vec::new(), vec![0; 8]);
        tests.note(0, Subject::Figure(0), -0.02, 1e-12);
        tests.note(1, Subject::Figure(0), -0.04, 1e-12);
        let (accusations, ..) = tests.accuse(&Rules::default());
        assert_eq!((accusations.of(0).len(), accusations.of(1).len()), (0, 1));
    }

    #[test]
    fn a_few_figures_do_not_make_a_part_slow() {
        let candidate = Candidate { part: Part::Memory, columns: vec![0, 2, 3] };
        assert_eq!(trimmed_mean(&candidate, &[-0.5, -0.5, 0.25, 0.75]), Some(0.5));
        assert_eq!(trimmed_mean(&candidate, &[-0.5, -0.5, 0.25, f32::NAN]), Some(-0.125));
        assert_eq!(trimmed_mean(&candidate, &[-0.5, -0.5, f32::NAN, f32::NAN]), None);
        assert_eq!(upper_median(&candidate, &[-0.5, -0.5, 0.25, 0.75]), Some(0.25));
        assert_eq!(upper_median(&candidate, &[-0.5, -0.5, 0.25, f32::NAN]), Some(0.25));
        assert_eq!(mean(&candidate, &[-0.5, -0.5, 0.0, f32::NAN]), Some(-0.25));
    }
}
