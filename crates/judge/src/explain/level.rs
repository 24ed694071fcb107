//! Where a level of a ladder ends, and of which level of the memory hierarchy a point is, in the processor's own measure.

use super::in_flight::HUGE;
use super::support::*;

const EDGE: &str = "edge";
const KERNELS: &[&str] = &["latency", "sweep"];

pub(super) fn edge(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let fact = |key| figure.evidence.get(key).into_value();
    let (from, to) = (Bytes(fact(EDGE_FROM)?), Bytes(fact(EDGE_TO)?));
    let (first, last) = (figure.derived_from.first()?, figure.derived_from.last()?);
    let unit = &subject.record.figure(first)?.unit;
    let cited =
        |id: &String, value| Cited { figure: id.clone(), amount: Amount { value, unit: unit.clone() } };
    let (before, behind) = (cited(first, fact(EDGE_BEFORE)?), cited(last, fact(EDGE_BEHIND)?));
    let advertised = figure.conditions.get(ADVERTISED).filter(|_| has_plateau(figure)).map(Bytes);
    Some(Topology::LevelEnds { from, to, before, behind, advertised })
}

/// Whether the level that ends there has a plateau of its own.
fn has_plateau(edge: &Figure) -> bool {
    edge.evidence.get(EDGE_OWN).into_value() != Some(false)
}

/// The edges of the ladder that a figure is a point of, of levels that have a plateau, ascending; those without a value
/// last.
fn edges<'a>(subject: &Subject<'a>) -> Vec<&'a Figure> {
    let same_ladder =
        |other: &&Figure| is(other, ROLE, EDGE) && same(other, subject.figure, KERNEL) && has_plateau(other);
    let mut edges: Vec<&Figure> = subject.record.figures.iter().filter(same_ladder).collect();
    edges.sort_by(|a, b| end(a).total_cmp(&end(b)));
    edges
}

/// Where the level ends, in bytes.
fn end(edge: &Figure) -> f64 {
    edge.value.unwrap_or(f64::INFINITY)
}

pub(super) fn level(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let kernel = figure.conditions.get(KERNEL)?;
    if !KERNELS.contains(&kernel.as_str()) || !figure.at.contains_key("array") {
        return None;
    }
    // Bytes that the figure works on.
    let bytes = figure.conditions.get(WORKING_SET).or_else(|| figure.conditions.get(ARRAY_BYTES))?;
    let (size, measure) = (Bytes(bytes), measure(subject));
    let edges = edges(subject);
    // An edge that is invalid, or was not found, explains nothing, and may be any level's.
    let sure = |index: usize| Some(edges[index]).filter(|edge| edge.is_usable());
    let within = |figure: &&Figure| {
        let ends = [EDGE_FROM, EDGE_TO].map(|key| figure.evidence.get(key).into_value());
        matches!(ends, [Some(from), Some(to)] if bytes > from && bytes < to)
    };
    if let Some(index) = edges.iter().position(within) {
        let edge = sure(index)?;
        return Some(Topology::MissesInPart { size, level: name(edge), edge: edge.into(), measure });
    }
    if let Some(index) = edges.iter().position(|edge| end(edge) >= bytes) {
        if let Some(nearer) = index.checked_sub(1) {
            sure(nearer)?;
        }
        let edge = sure(index)?;
        let (level, end) = (name(edge), Bytes(end(edge)));
        return Some(Topology::FitsLevel { size, level, end, edge: edge.into(), measure });
    }
    let last = sure(edges.len().checked_sub(1)?)?;
    let huge = figure.evidence.get(PAGES_HUGE_SHARE).into_value();
    let walks = huge.filter(|_| figure.unit == Unit::NANOSECONDS).map(|huge| match huge >= HUGE {
        true if subject.machine().virtualisation.is_guest() => Walks::OfHost(Share(huge)),
        true => Walks::RuledOut(Share(huge)),
        false => Walks::Possible(Share(huge)),
    });
    Some(Topology::FromMemory { size, end: Bytes(end(last)), edge: last.into(), measure, walks })
}

fn name(edge: &Figure) -> String {
    edge.conditions.get(LEVEL).unwrap_or_else(|| "a level that is not advertised".to_owned())
}

/// Cycles of a load, or bytes that each thread reads in a cycle, where the canary's clock is one of cycles.
fn measure(subject: &Subject) -> Option<Measure> {
    let figure = subject.figure;
    if figure.unit == Unit::NANOSECONDS {
        return Some(Measure::Load { cycles: Number(subject.typical(LATENCY_CYCLES).into_value()?) });
    }
    let x86 = subject.machine().cpu.architecture.value().is_some_and(|name| name == "x86_64");
    let clock =
        (subject.typical(CANARY_BEFORE).into_value()? + subject.typical(CANARY_AFTER).into_value()?) / 2.0;
    let threads = figure.conditions.get(THREADS).filter(|threads| *threads >= 1.0)?;
    let bytes = Number(figure.value? / threads / clock);
    (x86 && clock > 0.0).then_some(Measure::Sweep { bytes, gigahertz: Number(clock) })
}
