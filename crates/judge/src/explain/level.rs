//! A point of a ladder: which level of the memory hierarchy it is of, in the processor's own measure.

use figure::evidence::{
    ARRAY_BYTES, CANARY_AFTER, CANARY_BEFORE, EDGE_FROM, EDGE_TO, KERNEL, LATENCY_CYCLES, LEVEL,
    PAGES_HUGE_SHARE, THREADS, WORKING_SET,
};
use figure::{Figure, Unit};

use super::Rule;
use super::edge::{edges, end};
use super::in_flight::HUGE;
use crate::cases::{Case, Measure, Topology, Walks};
use crate::check::Subject;
use crate::values::{Bytes, Number, Share};

/// Kernels whose figures are points of such ladders.
const KERNELS: &[&str] = &["latency", "sweep"];

pub(super) const RULE: Rule = Rule { name: "level", says: |subject| level(subject).map(Case::from) };

fn level(subject: &Subject) -> Option<Topology> {
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

/// The level that an edge is the end of.
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
