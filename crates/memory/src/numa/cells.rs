//! The figures of the cells: names, axes, conditions. Pure.

use figure::evidence as key;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Convention, Figure, Machine, Reading, Unit};
use lab::placement::Placement;

use super::nodes::{Quantity, Relation};
use super::room::Share;
use crate::chase::LINE;
use crate::conditions;
use crate::kernels::ELEMENT;
use crate::pages::Pages;
use crate::simd::Simd;

pub const BANDWIDTH: &str = "memory.numa.bandwidth";
pub const LATENCY: &str = "memory.numa.latency";

pub struct Cells<'a> {
    pub machine: &'a Machine,
    pub pages: Pages,
    pub simd: Simd,
}

impl Cells<'_> {
    pub fn planned(&self, quantity: Quantity, cpus: u32, memory: u32) -> Figure {
        let relation = Relation::of(self.machine, cpus, memory);
        let memory_title = match relation {
            Relation::MemoryOnly => kind(self.machine, memory),
            other => format!(" ({})", other.title()),
        };
        let place = format!("CPUs of node {cpus}, memory of node {memory}{memory_title}");
        let mut figure = cell(quantity, &format!("{cpus}.{memory}"), &place);
        figure.at = at(format!("node {cpus}"), format!("node {memory}"));
        set_nodes(&mut figure, self.machine, cpus, memory);
        figure
    }

    pub fn measured(
        &self,
        mut figure: Figure,
        quantity: Quantity,
        placement: &Placement,
        share: &Share,
    ) -> Figure {
        let specific = match quantity {
            Quantity::Bandwidth => conditions::of_placement(placement)
                .with(key::KERNEL, "read".to_owned())
                .with(key::STORES, "none".to_owned())
                .with(key::SIMD, self.simd.word().to_owned())
                .with(key::COUNTED_BYTES, ELEMENT as f64)
                .with(key::TRAFFIC_BYTES, ELEMENT as f64),
            Quantity::Latency => conditions::of_first(placement, 1)
                .with(key::KERNEL, "latency".to_owned())
                .with(key::ORDER, "random".to_owned())
                .with(key::STRIDE, LINE as f64),
        };
        figure.conditions.merge(
            specific
                .with(key::ARRAY_BYTES, share.bytes as f64)
                .with(key::ARRAYS_USED, 1.0)
                .with(key::DATA_TOUCHED, share.bytes as f64)
                .with(key::PAGES_ASKED, self.pages.word().to_owned()),
        );
        figure.evidence.put(key::MEMORY_LIMITED_BY, share.limited_by.clone());
        let available = share.available.map(|bytes| bytes as f64);
        let unknown = "the node does not show how much of its memory is free";
        figure.evidence.put_reading(key::MEMORY_AVAILABLE, Reading::or_unknown(available, unknown));
        figure
    }
}

/// The conditions of a figure between two nodes.
pub fn set_nodes(figure: &mut Figure, machine: &Machine, cpus: u32, memory: u32) {
    if let Some(distance) = machine.node_distance(cpus, memory) {
        figure.conditions.set(key::NODE_DISTANCE, f64::from(distance));
    }
    figure.conditions.set(key::NODE_OF_CPUS, f64::from(cpus));
    figure.conditions.set(key::NODE_OF_MEMORY, f64::from(memory));
    figure.conditions.set(key::NODE_RELATION, Relation::of(machine, cpus, memory).word().to_owned());
}

/// What the memory of a node without CPUs is, in brackets: ` (CXL memory)`; nothing for other nodes.
pub fn kind(machine: &Machine, node: u32) -> String {
    let node = machine.node(node).filter(|node| node.is_memory_only());
    node.map_or(String::new(), |node| format!(" ({})", node.memory_title()))
}

/// The figure that says why nothing remote can be measured: there is one node, or none is shown.
pub fn nothing_remote(machine: &Machine, quantity: Quantity) -> Option<Figure> {
    let nodes: Vec<_> = machine.numa.nodes.iter().filter(|node| !node.is_empty()).collect();
    let reason = match (nodes.as_slice(), &machine.numa.unknown) {
        ([], unknown) => unknown.clone().unwrap_or_else(|| "the kernel shows no NUMA node".to_owned()),
        ([only], _) => format!("one NUMA node (node {}): all memory is local", only.node),
        _ => return None,
    };
    let mut figure = cell(quantity, "remote", "memory of another node");
    figure.at = at("any node".to_owned(), "another node".to_owned());
    Some(figure.not_available(reason))
}

fn at(cpu: String, memory: String) -> At {
    let name = |name| Coordinate { value: CoordinateValue::Name(name), unit: None };
    At::from([("cpu".to_owned(), name(cpu)), ("memory".to_owned(), name(memory))])
}

fn cell(quantity: Quantity, suffix: &str, place: &str) -> Figure {
    let (series, title, unit, better) = match quantity {
        Quantity::Bandwidth => (BANDWIDTH, "Read", Unit::GB_PER_S, Better::Higher),
        Quantity::Latency => (LATENCY, "Idle latency", Unit::NANOSECONDS, Better::Lower),
    };
    let mut figure = Figure::planned(
        format!("{series}.{suffix}"),
        crate::SUITE,
        format!("{title}, {place}"),
        unit,
        better,
    );
    figure.series = Some(series.to_owned());
    if quantity == Quantity::Bandwidth {
        figure.convention = Some(Convention::StreamCounted);
    }
    figure
}
