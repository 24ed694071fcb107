//! Nodes of one fingerprint that are of two kinds all the same: a figure has two clusters of values.

use std::collections::{BTreeMap, BTreeSet};

use figure::stats::{mad, median};

use crate::group::Cohort;
use crate::part;
use crate::rules::{MIN_CLUSTER, MIN_GROUP, SEPARATES};
use crate::table::Table;

/// Clusters nearer than this to one another need no explanation: 2 %.
const MIN_DISTANCE: f64 = 0.02;
/// Windows between the clusters in which nodes are counted; each is a quarter of the distance wide.
const WINDOWS: usize = 9;
const WINDOW: f64 = 0.25;
/// The emptiest window holds at most this share of what a window at either centre holds, and fewer by so many standard deviations of
/// such counts: a single cluster is densest in the middle.
const VALLEY: f64 = 0.5;
const SURE: f64 = 3.0;
/// Figures whose clusters are those of another figure in this share of the nodes divide the nodes together with it.
const AGREE: f64 = 0.9;
/// Nodes are of two kinds if so many kernels or tests divide them alike. Of few nodes chance divides one figure in twenty.
const MIN_TESTS: usize = 2;
const MIN_TESTS_FEW: usize = 3;
/// Each of two clusters of few nodes has at least so many, and a third of them.
const MIN_FEW: usize = 3;
/// In a group of fewer nodes than this an empty gap shows two clusters too.
const FEW: usize = 64;
/// So many of the clearest figures are tried as the one that others agree with.
const MOST_LEADERS: usize = 20;

/// Two clusters of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clusters {
    /// Between them.
    pub cut: f64,
    /// The medians of the lower and of the upper one.
    pub centres: [f64; 2],
    /// Their distance in units of their own spread.
    pub clearness: f64,
}

/// Two clusters of values, if there are two: with a valley between them, or with an empty gap between few values.
pub(crate) fn clusters(values: &[f64]) -> Option<Clusters> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    with_valley(&sorted).or_else(|| if sorted.len() < FEW { with_gap(&sorted) } else { None })
}

/// Two clusters of few sorted values: the gap between them is wider than either of them.
fn with_gap(sorted: &[f64]) -> Option<Clusters> {
    let count = sorted.len();
    let least = MIN_FEW.max(count.div_ceil(3));
    let gaps = (least..=count.saturating_sub(least)).map(|at| (sorted[at] - sorted[at - 1], at));
    let (gap, at) = gaps.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (lower, upper) = sorted.split_at(at);
    let width = |values: &[f64]| values[values.len() - 1] - values[0];
    let centres = [median(lower)?, median(upper)?];
    let spread = mad(lower)?.max(mad(upper)?).max(1e-4);
    (gap >= MIN_DISTANCE && gap > width(lower).max(width(upper))).then_some(Clusters {
        cut: sorted[at - 1] + gap / 2.0,
        centres,
        clearness: (centres[1] - centres[0]) / spread,
    })
}

fn with_valley(sorted: &[f64]) -> Option<Clusters> {
    let count = sorted.len();
    let least = MIN_GROUP.max((count as f64 * MIN_CLUSTER).ceil() as usize);
    if count < 2 * least {
        return None;
    }
    // Outliers would attract a centre: they count as the nearest of the others.
    let (first, last) = (sorted[count / 20], sorted[count - 1 - count / 20]);
    let clamped: Vec<f64> = sorted.iter().map(|value| value.clamp(first, last)).collect();
    let at = best_cut(&clamped, least)?;
    let centres = [median(&sorted[..at])?, median(&sorted[at..])?];
    let distance = centres[1] - centres[0];
    if distance < MIN_DISTANCE {
        return None;
    }
    let width = distance * WINDOW;
    let within = |middle: f64| {
        let upper = sorted.partition_point(|value| *value < middle + width / 2.0);
        upper - sorted.partition_point(|value| *value < middle - width / 2.0)
    };
    let step = (distance - 2.0 * width) / (WINDOWS - 1) as f64;
    let windows = (0..WINDOWS).map(|window| centres[0] + width + step * window as f64);
    let cut = windows.min_by_key(|middle| within(*middle))?;
    let (valley, peak) = (within(cut) as f64, centres.map(within)[0].min(within(centres[1])) as f64);
    let is_valley = valley <= VALLEY * peak && peak - valley > SURE * (peak + valley).sqrt();
    let lower = sorted.partition_point(|value| *value < cut);
    let is_large = lower >= least && count - lower >= least;
    let spread = mad(&sorted[..lower])?.max(mad(&sorted[lower..])?).max(1e-4);
    (is_valley && is_large).then_some(Clusters { cut, centres, clearness: distance / spread })
}

/// The cut of sorted values with the smallest sum of squares within both sides (Otsu, IEEE Transactions on Systems, Man and
/// Cybernetics 9, 1979), each of at least so many.
fn best_cut(sorted: &[f64], least: usize) -> Option<usize> {
    let total: f64 = sorted.iter().sum();
    let count = sorted.len() as f64;
    let (mut sum, mut best) = (0.0, None);
    for (at, value) in sorted.iter().enumerate() {
        if at >= least && at <= sorted.len() - least {
            let (lower, upper) = (at as f64, count - at as f64);
            let between = lower * upper * (sum / lower - (total - sum) / upper).powi(2);
            if best.is_none_or(|(most, _)| between > most) {
                best = Some((between, at));
            }
        }
        sum += value;
    }
    best.map(|(_, at)| at)
}

/// A cohort that is of two kinds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Division {
    /// The columns that split the nodes, the clearest first.
    pub columns: Vec<usize>,
    /// By how much the lower cluster of the clearest is below the upper one, as a logarithm.
    pub distance: f64,
    /// The fact that predicts the cluster, with its commonest values in the lower and in the upper one.
    pub fact: Option<[String; 3]>,
}

/// A figure that has two values on nodes of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Modes {
    /// Its column.
    pub column: usize,
    /// How many nodes have the lower value.
    pub lower: usize,
    /// How many have the upper one.
    pub upper: usize,
    /// By how much the lower one is below, as a logarithm.
    pub distance: f64,
}

/// What the clusters of its figures say of a cohort.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Clustered {
    /// That it is of two kinds: why, the lower and the upper nodes.
    pub division: Option<(Division, [Cohort; 2])>,
    /// Figures with two clusters, the clearest first. None of few nodes: chance gives them too often.
    pub modes: Vec<Modes>,
}

/// Looks for clusters in all figures of a cohort. Nodes are of two kinds if several kernels or tests divide them alike, or a fact does: one
/// figure alone may have two values on equal nodes.
pub(crate) fn clustered(table: &Table, cohort: &Cohort) -> Clustered {
    if cohort.rows.len() < MIN_GROUP {
        return Clustered::default();
    }
    let merit = |row: usize, column: usize| table.cell(row, column).merit(table.columns[column].better);
    let of = |column: usize| {
        let values: Vec<f64> = cohort.rows.iter().filter_map(|&row| merit(row, column)).collect();
        Some((column, clusters(&values)?))
    };
    let mut found: Vec<(usize, Clusters)> = (0..table.columns.len()).filter_map(of).collect();
    found.sort_by(|a, b| b.1.clearness.total_cmp(&a.1.clearness));
    let is_upper = |row: usize, (column, clusters): &(usize, Clusters)| {
        merit(row, *column).map(|merit| merit >= clusters.cut)
    };
    let sides: Vec<Vec<Option<bool>>> =
        found.iter().map(|one| cohort.rows.iter().map(|&row| is_upper(row, one)).collect()).collect();
    let modes = found.iter().zip(&sides).map(|((column, clusters), sides)| {
        let count = |side| sides.iter().filter(|one| **one == Some(side)).count();
        let distance = clusters.centres[1] - clusters.centres[0];
        Modes { column: *column, lower: count(false), upper: count(true), distance }
    });
    let modes: Vec<Modes> = modes.collect();
    let is_small = cohort.rows.len() < 2 * MIN_GROUP;
    let division = (0..found.len().min(MOST_LEADERS)).find_map(|leader| {
        let alike = (0..found.len()).filter(|&at| at == leader || is_alike(&sides[leader], &sides[at]));
        let alike: Vec<usize> = alike.collect();
        // Each figure has a vote, the clearest decides between equals: a slow part moves some figures of a node, not all.
        let is_upper = |row: usize| {
            let sides = alike.iter().filter_map(|&at| is_upper(row, &found[at]));
            let votes: i64 = sides.map(|upper| if upper { 1 } else { -1 }).sum();
            if votes == 0 { is_upper(row, &found[leader]).unwrap_or(true) } else { votes > 0 }
        };
        let parts = divided(cohort, is_upper);
        let columns: Vec<usize> = alike.iter().map(|&at| found[at].0).collect();
        let tests: BTreeSet<&str> = columns.iter().map(|&at| part::kernel(&table.columns[at].id)).collect();
        let least = if cohort.rows.len() < FEW { MIN_FEW } else { MIN_GROUP };
        if parts.iter().any(|part| part.rows.len() < least) {
            return None;
        }
        let distance = modes[leader].distance;
        let needed = if is_small { MIN_TESTS_FEW } else { MIN_TESTS };
        let Some(Separation { fact, sides }) = separating(table, &parts) else {
            return (tests.len() >= needed).then_some((Division { columns, distance, fact: None }, parts));
        };
        // The fact decides, not the figures: a slow node of the upper kind has those of the lower.
        let is_upper =
            |row: usize| sides.get(detail(table, row, &fact[0])).copied().unwrap_or_else(|| is_upper(row));
        let parts = divided(cohort, is_upper);
        Some((Division { columns, distance, fact: Some(fact) }, parts))
    });
    Clustered { division, modes: if is_small { Vec::new() } else { modes } }
}

/// The lower and the upper nodes of a cohort.
fn divided(cohort: &Cohort, is_upper: impl Fn(usize) -> bool) -> [Cohort; 2] {
    [false, true].map(|wanted| {
        let of = |rows: &[usize]| rows.iter().copied().filter(|row| is_upper(*row) == wanted).collect();
        Cohort { kind: cohort.kind, rows: of(&cohort.rows), odd: of(&cohort.odd) }
    })
}

/// What a node's record says of a fact; empty without it.
fn detail<'a>(table: &'a Table, row: usize, name: &str) -> &'a str {
    let fact = table.rows[row].details.iter().find(|fact| fact.name == name);
    fact.map_or("", |fact| &fact.value)
}

/// A fact that differs between two sets of nodes.
struct Separation {
    /// Its name, and its commonest values in the lower and in the upper set.
    fact: [String; 3],
    /// Whether a value is that of the upper set.
    sides: BTreeMap<String, bool>,
}

/// Whether two figures divide the nodes that both have alike.
fn is_alike(one: &[Option<bool>], other: &[Option<bool>]) -> bool {
    let pairs = one.iter().zip(other).filter_map(|(one, other)| Some((*one)? == (*other)?));
    let (all, alike) = pairs.fold((0, 0), |(all, alike), same| (all + 1, alike + usize::from(same)));
    all > 0 && alike as f64 >= AGREE * f64::from(all)
}

/// The fact that differs between two sets of nodes, if it predicts for almost each of them to which it belongs.
fn separating(table: &Table, [lower, upper]: &[Cohort; 2]) -> Option<Separation> {
    let all = lower.rows.len() + upper.rows.len();
    let names = table.rows[*lower.rows.first()?].details.iter().map(|fact| &fact.name);
    let mut best: Option<(usize, Separation)> = None;
    for name in names {
        // How many nodes of both sets have each value.
        let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for (side, cohort) in [lower, upper].into_iter().enumerate() {
            for &row in &cohort.rows {
                counts.entry(detail(table, row, name)).or_default()[side] += 1;
            }
        }
        // Each value predicts the set that has it more often.
        let right: usize = counts.values().map(|[low, high]| low.max(high)).sum();
        // A value of each node alone predicts everything and says nothing, and one that all nodes have says nothing either.
        let is_upper = |[low, high]: &[usize; 2]| high > low;
        let is_telling =
            counts.len() <= all / 4 && counts.values().any(is_upper) && !counts.values().all(is_upper);
        let is_better = best.as_ref().is_none_or(|(most, _)| right > *most);
        if is_telling && is_better && right as f64 >= SEPARATES * all as f64 {
            let commonest = |side: usize| {
                let most = counts.iter().max_by_key(|(_, counts)| counts[side]);
                most.map(|(value, _)| (*value).to_owned()).unwrap_or_default()
            };
            let fact = [name.clone(), commonest(0), commonest(1)];
            let sides =
                counts.iter().map(|(value, counts)| ((*value).to_owned(), is_upper(counts))).collect();
            best = Some((right, Separation { fact, sides }));
        }
    }
    best.map(|(_, separation)| separation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::stats::Random;

    fn mixture(random: &mut Random, count: usize, lower: f64, distance: f64) -> Vec<f64> {
        let mut value = |_| {
            let shift = if random.uniform() < lower { -distance } else { 0.0 };
            0.01 * random.normal() + shift
        };
        (0..count).map(&mut value).collect()
    }

    #[test]
    fn one_cluster_is_one() {
        let mut random = Random::new(5);
        let mut normal = 0;
        for trial in 0..2000 {
            let count = [24, 30, 100, 300][trial % 4];
            let values: Vec<f64> = (0..count).map(|_| 0.03 * random.normal()).collect();
            normal += usize::from(clusters(&values).is_some());
            let waiting: Vec<f64> = (0..count).map(|_| 0.03 * (1.0 - random.uniform()).ln()).collect();
            normal += usize::from(clusters(&waiting).is_some());
        }
        assert!(normal <= 2, "{normal} of 4000");
    }

    #[test]
    fn an_empty_gap_divides_few_values() {
        let values = |low: usize, high: usize| -> Vec<f64> {
            let near = |at: usize| 0.001 * (at % 5) as f64;
            (0..low).map(|at| near(at) - 0.06).chain((0..high).map(near)).collect()
        };
        for (low, high) in [(4, 4), (3, 5), (6, 6), (8, 8), (12, 20)] {
            let found = clusters(&values(low, high)).unwrap();
            assert!((found.centres[1] - found.centres[0] - 0.06).abs() < 0.005, "{low} {high}: {found:?}");
        }
        // Two of eight are outliers.
        assert_eq!(clusters(&values(2, 6)), None);
    }

    #[test]
    fn two_clusters_are_two() {
        let mut random = Random::new(6);
        for share in [0.15, 0.5, 0.6, 0.85] {
            let found = clusters(&mixture(&mut random, 1000, share, 0.07)).unwrap();
            assert!((found.centres[1] - found.centres[0] - 0.07).abs() < 0.004, "{share}: {found:?}");
        }
        // A few per cent are outliers.
        assert_eq!(clusters(&mixture(&mut random, 1000, 0.03, 0.07)), None);
    }
}
