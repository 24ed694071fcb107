//! Where a level ends: what the ladder does there.

use figure::evidence::{ADVERTISED, EDGE_BEFORE, EDGE_BEHIND, EDGE_FROM, EDGE_OWN, EDGE_TO, LEVEL};
use figure::{Figure, Unit, format};

use super::{Rule, amount};
use crate::check::Subject;

pub(super) const RULE: Rule = Rule { name: "edge", says };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let known = |key| figure.evidence.get(key).into_value();
    let (from, to) = (known(EDGE_FROM)?, known(EDGE_TO)?);
    let (before, behind): (f64, f64) = (known(EDGE_BEFORE)?, known(EDGE_BEHIND)?);
    let source = subject.record.figure(figure.derived_from.first()?)?;
    let (verb, times) = if source.unit == Unit::NANOSECONDS {
        ("rises", behind / before)
    } else {
        ("falls", before / behind)
    };
    let what = if source.unit == Unit::NANOSECONDS { "the latency of a load" } else { "the read bandwidth" };
    let shown = match (figure.conditions.get(LEVEL), figure.conditions.get(ADVERTISED)) {
        (Some(level), Some(size)) if figure.evidence.get(EDGE_OWN).into_value() != Some(false) => {
            format!("; {level} is advertised with {}", format::bytes(size))
        }
        _ => String::new(),
    };
    Some(format!(
        "From {} to {} {what} {verb} from {} to {}, {times:.1}x ({} to {}){shown}.",
        format::bytes(from),
        format::bytes(to),
        amount(before, source),
        amount(behind, source),
        source.id,
        figure.derived_from.last()?,
    ))
}

/// The edges that ladders in this unit show, ascending.
pub(super) fn of<'a>(subject: &Subject<'a>, unit: &Unit) -> Vec<&'a Figure> {
    let of_unit = |figure: &&Figure| {
        super::usable(figure)
            && figure.evidence.get(EDGE_TO).reason().is_none()
            && figure.evidence.get(EDGE_OWN).into_value() != Some(false)
            && figure
                .derived_from
                .first()
                .and_then(|id| subject.record.figure(id))
                .is_some_and(|source| source.unit == *unit)
    };
    let mut edges: Vec<&Figure> = subject.record.figures.iter().filter(of_unit).collect();
    edges.sort_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    edges
}
