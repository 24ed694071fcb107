//! What is known of groups and figures, over all their nodes.

use figure::format::{counted, listed, percent};
use figure::stats::median;

use crate::answer::{Figure, Finding, Group};
use crate::fingerprint::Difference;
use crate::peers::Peers;
use crate::robust::Tail;
use crate::rules::{ERROR_OF_DELTA, MIN_GROUP, Rules};
use crate::table::{State, Table};
use crate::verdict::natural;

/// The longest list of ids in a sentence.
const MAX_LISTED: usize = 3;
/// A shift of a group against the baseline that is reported, if it is also larger than delta: in this share of its figures.
const SHIFTED: f64 = 0.1;

/// How the figures of a group are distributed. `accused` counts the nodes that each accuses; `limit` is the probability by which a node
/// would be accused if it were the only one, with one low figure.
pub(crate) fn figures(
    table: &Table,
    peers: &Peers,
    rules: &Rules,
    deviations: &[f32],
    accused: &[usize],
    limit: f64,
) -> Vec<Figure> {
    let columns = table.columns.len();
    let of = |column: usize| {
        let reference = peers.references[column]?;
        let head = &table.columns[column];
        let mut own = Vec::with_capacity(peers.cohort.rows.len());
        let (mut errors, mut rounds) = (Vec::new(), Vec::new());
        for row in peers.cohort.all() {
            let deviation = f64::from(deviations[row * columns + column]);
            if deviation.is_finite() {
                let cell = table.cell(row, column);
                own.push(deviation);
                errors.push(cell.error());
                rounds.push(f64::from(cell.rounds));
            }
        }
        own.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| {
            own.get((q * own.len().saturating_sub(1) as f64).round() as usize).map_or(0.0, |one| one.exp_m1())
        };
        let error = median(&errors)?;
        // The part of the spread that is not the figures' own noise.
        let between = (reference.spread.powi(2) - error.powi(2)).max(0.0).sqrt();
        let target = between.max(ERROR_OF_DELTA * rules.delta);
        let can_rank = error <= target;
        let rounds = median(&rounds).unwrap_or(0.0);
        let needed = (rounds * (error / target).powi(2)).ceil();
        Some(Figure {
            id: head.id.clone(),
            unit: head.unit.clone(),
            group: peers.letter.clone(),
            nodes: own.len(),
            centre: natural(reference.centre, head.better),
            spread: reference.spread,
            error,
            is_skewed: reference.tail != Tail::Normal,
            can_rank,
            rounds_needed: (!can_rank && rounds > 0.0 && needed < 1e6).then_some(needed as u32),
            shift: peers.has_baseline[column].then(|| median(&own).unwrap_or(0.0).exp_m1()),
            accused: accused[column],
            finds: reference.finds(limit, error).map(|deficit| deficit.max(rules.delta)),
            quantiles: [0.1, 0.25, 0.5, 0.75, 0.9].map(at),
        })
    };
    (0..columns).filter_map(of).collect()
}

/// That a group as a whole is worse than the baseline.
pub(crate) fn shifted(peers: &Peers, figures: &[Figure], rules: &Rules) -> Option<Finding> {
    let compared: Vec<(&Figure, f64)> =
        figures.iter().filter_map(|figure| Some((figure, figure.shift?))).collect();
    let mut worse: Vec<(&Figure, f64)> =
        compared.iter().copied().filter(|(_, shift)| *shift < -rules.delta).collect();
    if worse.is_empty() || (worse.len() as f64) < SHIFTED * compared.len() as f64 {
        return None;
    }
    worse.sort_by(|a, b| a.1.total_cmp(&b.1));
    let some =
        worse.iter().take(MAX_LISTED).map(|(figure, shift)| format!("{} {}", figure.id, percent(*shift)));
    Some(Finding {
        claim: format!("Group {} as a whole is slower than the baseline", peers.letter),
        evidence: format!(
            "the median node is more than {} worse in {} of {}: {}",
            percent(rules.delta),
            worse.len(),
            counted(compared.len(), "figure"),
            listed(&some.collect::<Vec<_>>())
        ),
    })
}

/// That figures can be used on less than half of a group's nodes, so that they judge none.
pub(crate) fn unusable(table: &Table, peers: &Peers) -> Option<Finding> {
    if peers.cohort.rows.len() < MIN_GROUP {
        return None;
    }
    let mut worst: Option<(usize, usize)> = None;
    let mut count = 0;
    for column in (0..table.columns.len()).filter(|&column| !peers.is_usual[column]) {
        let is_lost =
            |row: &usize| matches!(table.cell(*row, column).state, State::Disturbed | State::Doubtful);
        let lost = peers.cohort.rows.iter().filter(|row| is_lost(row)).count();
        if 2 * lost >= peers.cohort.rows.len() {
            count += 1;
            if worst.is_none_or(|(most, _)| lost > most) {
                worst = Some((lost, column));
            }
        }
    }
    let (lost, column) = worst?;
    let row = peers
        .cohort
        .rows
        .iter()
        .find(|row| matches!(table.cell(**row, column).state, State::Disturbed | State::Doubtful))?;
    let verb = if count == 1 { "is" } else { "are" };
    Some(Finding {
        claim: format!(
            "Group {}: {} {verb} suspect or invalid on most nodes",
            peers.letter,
            counted(count, "figure")
        ),
        evidence: format!(
            "{} on {lost} of {}: {}; such figures judge no node",
            table.columns[column].id,
            counted(peers.cohort.rows.len(), "node"),
            table.reason(table.cell(*row, column))
        ),
    })
}

/// The groups, each with what makes it differ from the first.
pub(crate) fn groups(table: &Table, peers: &[Peers]) -> Vec<Group> {
    let first = peers.first().map(|peers| &table.kinds[peers.cohort.kind].fingerprint);
    let group = |peers: &Peers| {
        let own = &table.kinds[peers.cohort.kind].fingerprint;
        let mut differs = first.map_or_else(Vec::new, |first| own.differs(first));
        let kinds = first.into_iter().flat_map(|first| own.kind.iter().zip(&first.kind));
        differs.extend(kinds.filter(|(own, others)| own != others).map(|(own, others)| Difference {
            about: own.name.clone(),
            own: own.value.clone(),
            others: others.value.clone(),
        }));
        Group {
            letter: peers.letter.clone(),
            nodes: peers.cohort.rows.len(),
            odd: peers.cohort.odd.len(),
            reference: peers.comparison,
            kind: own.kind.clone(),
            differs,
            variant: peers.variant.clone(),
        }
    };
    peers.iter().map(group).collect()
}
