//! Where a level ends: what the ladder does there.

use figure::evidence::{
    ADVERTISED, EDGE_BEFORE, EDGE_BEHIND, EDGE_FROM, EDGE_OWN, EDGE_TO, KERNEL, LEVEL, ROLE,
};
use figure::{Figure, Unit, format};

use super::{Rule, amount};
use crate::cases::Case;
use crate::check::Subject;

/// `role` of the figure of an edge.
const EDGE: &str = "edge";

pub(super) const RULE: Rule = Rule { name: "edge", says: |subject| says(subject).map(Case::Text) };

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

/// The edges of the ladder that a figure is a point of, of levels that have a plateau of their own, ascending; those without
/// a value last.
pub(super) fn of<'a>(subject: &Subject<'a>) -> Vec<&'a Figure> {
    let kernel = subject.figure.conditions.get(KERNEL);
    let same_ladder = |figure: &&Figure| {
        figure.conditions.get(ROLE).as_deref() == Some(EDGE)
            && figure.conditions.get(KERNEL) == kernel
            && figure.evidence.get(EDGE_OWN).into_value() != Some(false)
    };
    let mut edges: Vec<&Figure> = subject.record.figures.iter().filter(same_ladder).collect();
    let end = |edge: &Figure| edge.value.unwrap_or(f64::INFINITY);
    edges.sort_by(|a, b| end(a).total_cmp(&end(b)));
    edges
}
