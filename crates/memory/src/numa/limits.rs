//! The limits that cells are compared with. Pure.

use figure::evidence::{NODE_OF_CPUS, NODE_RELATION};
use figure::{Figure, Limit, Machine, Unit};

use super::nodes::Relation;
use crate::limits;

/// Sets limits. A remote cell: what the same CPUs reach with their own memory, all else equal; but not where
/// the memory is of another sort (memory-only nodes: HBM beside DDR has more bandwidth than local memory). A
/// local bandwidth: the theoretical peak, where it is known; it is that of all nodes together, since no table
/// says which module belongs to which node.
pub fn set(figures: &mut [Figure], machine: &Machine) {
    let limits: Vec<Option<Limit>> = figures
        .iter()
        .map(|figure| match figure.conditions.get(NODE_RELATION).as_deref() {
            _ if figure.value.is_none() => None,
            Some("local") => peak(figure, machine),
            Some("same-package" | "other-package") => local_of(figure, figures),
            _ => None,
        })
        .collect();
    for (figure, limit) in figures.iter_mut().zip(limits) {
        figure.limit = limit;
    }
}

fn local_of(figure: &Figure, figures: &[Figure]) -> Option<Limit> {
    let local = figures.iter().find(|other| {
        other.series == figure.series
            && other.conditions.get(NODE_OF_CPUS) == figure.conditions.get(NODE_OF_CPUS)
            && other.conditions.get(NODE_RELATION).as_deref() == Some(Relation::Local.word())
    })?;
    Some(Limit { value: local.value?, basis: local.id.clone() })
}

fn peak(figure: &Figure, machine: &Machine) -> Option<Limit> {
    let peak = limits::peak(figure, machine).filter(|_| figure.unit == Unit::GB_PER_S)?;
    let together = if machine.numa.nodes.len() > 1 { ", all nodes together" } else { "" };
    Some(Limit { basis: format!("{}{together}", peak.basis), ..peak })
}
