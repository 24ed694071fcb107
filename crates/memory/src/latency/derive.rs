//! What follows from measured chains: the edges of caches, and what page walks cost. Pure.

use figure::evidence::{ARRAY_BYTES, BIND, CPUS, ORDER, PLACES, STRIDE, THREADS, WORKING_SET};
use figure::{Better, Conditions, Figure, Machine, Status, Unit, format, stats};

use super::plan::{KERNEL, SERIES, Series};
use crate::edges::figures::{Ladder, size};
use crate::ladder_sizes::label;

/// Adds the edges of caches and, for each size measured on both sorts of pages, what page walks add.
pub fn complete(figures: &mut Vec<Figure>, machine: &Machine) {
    let prefix = format!("{}.{KERNEL}", crate::SUITE);
    let figures_of = |series: &Series| -> Vec<&Figure> {
        let name = format!("{prefix}.{}", series.word);
        figures.iter().filter(|figure| figure.series.as_ref() == Some(&name)).collect()
    };
    let find = |paged: bool, small: bool| {
        SERIES
            .iter()
            .find(|series| series.paged == paged && series.small == small)
            .map_or(Vec::new(), figures_of)
    };
    let (huge, small, paged) = (find(false, false), find(false, true), find(true, true));
    // Huge pages show caches best; without them small ones do.
    let measured = huge.iter().any(|figure| figure.value.is_some());
    let ladder = Ladder {
        prefix: &prefix,
        what: "idle latency",
        points: if measured { huge.clone() } else { small.clone() },
        control: paged.iter().any(|figure| figure.value.is_some()).then_some(paged),
    };
    let mut more = ladder.edges(machine);
    more.extend(small.iter().filter_map(|small| {
        let huge = huge.iter().find(|huge| size(huge) == size(small))?;
        walks(&prefix, small, huge)
    }));
    figures.extend(more);
}

/// What page walks add at one size: small pages less huge ones.
fn walks(prefix: &str, small: &Figure, huge: &Figure) -> Option<Figure> {
    let bytes = size(small)?;
    let value = small.value? - huge.value?;
    let curve = format!("{prefix}.tlb");
    let name = format!("Page walks of a random load, {}", format::bytes(bytes));
    let id = format!("{curve}.{}", label(bytes as u64));
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(curve);
    figure.at = small.at.clone();
    figure.computed_from(vec![small.id.clone(), huge.id.clone()]);
    figure.conditions = shared(small);
    figure.conditions.set(WORKING_SET, bytes);
    (figure.value, figure.status, figure.reason) = (Some(value), Status::Measured, None);
    // Rounds are interleaved: the k-th of one belongs to the k-th of the other.
    let pairs = small.kept_values().into_iter().zip(huge.kept_values());
    let differences: Vec<f64> = pairs.map(|(small, huge)| small - huge).collect();
    figure.interval = stats::median_interval(&differences);
    Some(figure)
}

/// Conditions that both share, but for the size: one of the two may stand for memory and the other not.
fn shared(figure: &Figure) -> Conditions {
    let mut conditions = Conditions::default();
    for key in [THREADS, STRIDE] {
        figure.conditions.get(key).into_iter().for_each(|value| conditions.set(key, value));
    }
    for key in [PLACES, BIND, ORDER] {
        figure.conditions.get(key).into_iter().for_each(|value| conditions.set(key, value));
    }
    figure.conditions.get(CPUS).into_iter().for_each(|value| conditions.set(CPUS, value));
    debug_assert!(conditions.get(ARRAY_BYTES).is_none(), "it works on no array of its own");
    conditions
}
