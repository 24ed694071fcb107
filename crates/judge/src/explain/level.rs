//! A point of a ladder: which level of the memory hierarchy it is of, in the processor's own measure.

use figure::evidence::{
    ARRAY_BYTES, CANARY_AFTER, CANARY_BEFORE, EDGE_FROM, EDGE_TO, KERNEL, LATENCY_CYCLES, LEVEL,
    PAGES_HUGE_SHARE, THREADS, WORKING_SET,
};
use figure::{Figure, Unit, format};

use super::{Rule, edge, in_flight, usable};
use crate::cases::Case;
use crate::check::Subject;

/// Kernels whose figures are points of such ladders.
const KERNELS: &[&str] = &["latency", "sweep"];

pub(super) const RULE: Rule = Rule { name: "level", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let kernel = figure.conditions.get(KERNEL)?;
    if !KERNELS.contains(&kernel.as_str()) || !figure.at.contains_key("array") {
        return None;
    }
    let size = size(figure)?;
    let edges = edge::of(subject);
    let shown = format::bytes(size);
    let measure = measure(subject).map_or_else(String::new, |measure| format!(", {measure}"));
    // An edge that is invalid, or was not found, explains nothing, and may be any level's.
    let sure = |index: usize| usable(edges[index]).then_some(edges[index]);
    let within = |figure: &&Figure| {
        let ends = [EDGE_FROM, EDGE_TO].map(|key| figure.evidence.get(key).into_value());
        matches!(ends, [Some(from), Some(to)] if size > from && size < to)
    };
    if let Some(index) = edges.iter().position(within) {
        let edge = sure(index)?;
        return Some(format!(
            "Part of {shown} misses {}, which ends here ({}){measure}.",
            name(edge),
            edge.id
        ));
    }
    let end = |edge: &Figure| edge.value.unwrap_or(f64::INFINITY);
    if let Some(index) = edges.iter().position(|edge| end(edge) >= size) {
        let misses = match index.checked_sub(1) {
            Some(before) => {
                let before = sure(before)?;
                format!(" and misses {} ({})", name(before), before.id)
            }
            None => String::new(),
        };
        let edge = sure(index)?;
        return Some(format!(
            "{shown} fits in {}, which ends at {} ({}){misses}{measure}.",
            name(edge),
            format::bytes(end(edge)),
            edge.id
        ));
    }
    let last = sure(edges.len().checked_sub(1)?)?;
    let walks =
        if figure.unit == Unit::NANOSECONDS { format!("; {}", walks(subject)) } else { String::new() };
    Some(format!(
        "No cache holds {shown}, as the last level ends at {} ({}): it comes from memory{measure}{walks}.",
        format::bytes(end(last)),
        last.id,
    ))
}

/// Whether page walks are ruled out.
fn walks(subject: &Subject) -> String {
    let huge = subject
        .figure
        .evidence
        .get(PAGES_HUGE_SHARE)
        .into_value()
        .is_some_and(|share| share >= in_flight::HUGE);
    if huge && subject.machine().virtualisation.is_guest() {
        "page walks are not ruled out: what is a huge page here may be many small ones of the host".to_owned()
    } else {
        in_flight::pages(subject.figure)
    }
}

/// Bytes that the figure works on.
fn size(figure: &Figure) -> Option<f64> {
    figure.conditions.get(WORKING_SET).or_else(|| figure.conditions.get(ARRAY_BYTES))
}

/// The level that an edge is the end of.
fn name(edge: &Figure) -> String {
    edge.conditions.get(LEVEL).unwrap_or_else(|| "a level that is not advertised".to_owned())
}

/// Cycles of a load, or bytes that each thread reads in a cycle, where the canary's clock is one of cycles.
fn measure(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if figure.unit == Unit::NANOSECONDS {
        let cycles = subject.typical(LATENCY_CYCLES).into_value()?;
        return Some(format!("{} cycles a load", format::number(cycles)));
    }
    let x86 = subject.machine().cpu.architecture.value().is_some_and(|name| name == "x86_64");
    let clock =
        (subject.typical(CANARY_BEFORE).into_value()? + subject.typical(CANARY_AFTER).into_value()?) / 2.0;
    let threads = figure.conditions.get(THREADS).filter(|threads| *threads >= 1.0)?;
    let bytes = figure.value? / threads / clock;
    (x86 && clock > 0.0)
        .then(|| format!("{} B a cycle at {clock:.2} GHz on each thread", format::number(bytes)))
}
