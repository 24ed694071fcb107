//! Which part explains the deficits of a node.

use crate::accuse::{Subject, Suspicion, mean};
use crate::part::{self, Part, Weighted};
use crate::peers::Peers;
use crate::table::Table;

/// The part whose common deficit explains a node best, or the figure that does alone; and the deficit, as a share. `None` for a node
/// without suspicions.
pub(crate) fn attribute(
    table: &Table,
    peers: &Peers,
    row: usize,
    suspicions: &[Suspicion],
    deviations: &[f32],
) -> Option<(Part, f64)> {
    if suspicions.is_empty() {
        return None;
    }
    let weighted = |column: usize| {
        let error = table.cell(row, column).error();
        Weighted {
            deviation: f64::from(deviations[column]),
            scale: peers.references[column].map_or(f64::NAN, |reference| reference.scale(error)),
            vote: peers.votes[column],
        }
    };
    let figures = suspicions.iter().filter_map(|one| match one.subject {
        Subject::Figure(column) => {
            let part = Part::Figure { id: table.columns[column].id.clone() };
            Some((part::gain(std::iter::once(weighted(column))), part, one.deviation))
        }
        Subject::Part(_) => None,
    });
    let parts = peers.candidates.iter().filter_map(|one| {
        let gain = part::gain(one.columns.iter().map(|&column| weighted(column)));
        Some((gain, one.part.clone(), mean(one, deviations)?))
    });
    // Of equally good explanations the last is taken: a part rather than a figure.
    let best = figures.chain(parts).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, part, deviation)| (part, -deviation.exp_m1()))
}
