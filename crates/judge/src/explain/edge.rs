//! Where a level ends: what the ladder does there.

use figure::Figure;
use figure::evidence::{ADVERTISED, EDGE_BEFORE, EDGE_BEHIND, EDGE_FROM, EDGE_OWN, EDGE_TO, KERNEL, ROLE};

use super::Rule;
use crate::cases::{Case, Topology};
use crate::check::Subject;
use crate::values::{Amount, Bytes, Cited};

/// `role` of the figure of an edge.
const EDGE: &str = "edge";

pub(super) const RULE: Rule = Rule { name: "edge", says };

fn says(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    let known = |key| figure.evidence.get(key).into_value();
    let (from, to) = (Bytes(known(EDGE_FROM)?), Bytes(known(EDGE_TO)?));
    let (first, last) = (figure.derived_from.first()?, figure.derived_from.last()?);
    let unit = &subject.record.figure(first)?.unit;
    let cited =
        |id: &String, value| Cited { figure: id.clone(), amount: Amount { value, unit: unit.clone() } };
    let (before, behind) = (cited(first, known(EDGE_BEFORE)?), cited(last, known(EDGE_BEHIND)?));
    let advertised = figure.conditions.get(ADVERTISED).filter(|_| has_plateau(figure)).map(Bytes);
    Some(Topology::LevelEnds { from, to, before, behind, advertised }.into())
}

/// Whether the level that ends there has a plateau of its own.
fn has_plateau(edge: &Figure) -> bool {
    edge.evidence.get(EDGE_OWN).into_value() != Some(false)
}

/// The edges of the ladder that a figure is a point of, of levels that have a plateau, ascending; those without a value
/// last.
pub(super) fn edges<'a>(subject: &Subject<'a>) -> Vec<&'a Figure> {
    let kernel = subject.figure.conditions.get(KERNEL);
    let same_ladder = |figure: &&Figure| {
        figure.conditions.get(ROLE).as_deref() == Some(EDGE)
            && figure.conditions.get(KERNEL) == kernel
            && has_plateau(figure)
    };
    let mut edges: Vec<&Figure> = subject.record.figures.iter().filter(same_ladder).collect();
    edges.sort_by(|a, b| end(a).total_cmp(&end(b)));
    edges
}

/// Where the level ends, in bytes.
pub(super) fn end(edge: &Figure) -> f64 {
    edge.value.unwrap_or(f64::INFINITY)
}
