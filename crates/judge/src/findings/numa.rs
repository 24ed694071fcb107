//! What memory on other nodes costs.

use figure::evidence::{KERNEL, NODE_OF_CPUS, NODE_OF_MEMORY};
use figure::{Explanation, Figure, Record, Severity};

use crate::cases::{Case, RemoteCell, Topology};
use crate::values::{Name, Times};

/// The farthest memory by latency and the narrowest by bandwidth, each against the local memory of the same CPUs.
pub(super) fn remote(record: &Record) -> Option<Explanation> {
    let (latency, bandwidth) = (worst(record, true)?, worst(record, false)?);
    let case = Topology::RemoteMemory { latency, bandwidth };
    Some(Case::from(case).explanation("numa-remote", Severity::Note, Vec::new()))
}

fn worst(record: &Record, latency: bool) -> Option<RemoteCell> {
    let nodes =
        |figure: &Figure| (figure.conditions.get(NODE_OF_CPUS), figure.conditions.get(NODE_OF_MEMORY));
    let cells = || {
        record.figures.iter().filter(move |figure| {
            let is_latency = figure.conditions.get(KERNEL).as_deref() == Some("latency");
            figure.is_usable() && nodes(figure).1.is_some() && is_latency == latency
        })
    };
    let ratio = |cell: &Figure| {
        let (cpus, memory) = nodes(cell);
        let local = cells().find(|local| nodes(local) == (cpus, cpus)).filter(|_| cpus != memory)?;
        let ratio = Times(cell.value? / local.value?);
        ratio.0.is_finite().then(|| RemoteCell { ratio, cell: Name::from(cell), local: Name::from(local) })
    };
    let worse = |a: &RemoteCell, b: &RemoteCell| a.ratio.0.total_cmp(&b.ratio.0);
    match latency {
        true => cells().filter_map(ratio).max_by(worse),
        false => cells().filter_map(ratio).min_by(worse),
    }
}
