//! The limits that mixes are compared with. Pure.

use std::collections::BTreeSet;

use figure::evidence::{NODE_OF_MEMORY, NODE_RELATION};
use figure::{Figure, Machine};

use crate::limits::{set_highest_traffic, set_highest_traffic_to};
use crate::numa::limits::{peak_of_all, state};

/// Memory of a node without CPUs: what HMAT says of this mix. Else the peak of the modules. Else the highest traffic of the run
/// to the same memory.
pub fn set(figures: &mut [Figure], machine: &Machine) {
    let is_bound = |figure: &Figure| figure.conditions.get(NODE_OF_MEMORY).is_some();
    let nodes: BTreeSet<u32> =
        figures.iter().filter_map(|figure| Some(figure.conditions.get(NODE_OF_MEMORY)? as u32)).collect();
    for figure in figures.iter_mut().filter(|figure| is_bound(figure) && figure.value.is_some()) {
        let stated = state(figure, machine);
        let is_local = figure.conditions.get(NODE_RELATION).as_deref() == Some("local");
        figure.limit = stated.or_else(|| peak_of_all(figure, machine).filter(|_| is_local));
    }
    for node in nodes {
        set_highest_traffic_to(figures, node);
    }
    set_highest_traffic(figures);
}
