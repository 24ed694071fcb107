//! What figures between NUMA nodes show together.

use super::support::*;
use crate::explain::by_mix::is_walk;

/// What a figure may be better than HMAT says before the statement is called wrong: it is in whole MiB/s and ns, of a table that
/// rounds.
const STATED: f64 = 1.1;

/// The farthest memory by latency and the narrowest by bandwidth, each against the local memory of the same CPUs.
pub(super) fn remote(record: &Record) -> Option<Explanation> {
    let (latency, bandwidth) = (worst(record, true)?, worst(record, false)?);
    let case = Topology::RemoteMemory { latency, bandwidth };
    Some(note("numa-remote", case, &[]))
}

fn worst(record: &Record, latency: bool) -> Option<RemoteCell> {
    let nodes =
        |figure: &Figure| (figure.conditions.get(NODE_OF_CPUS), figure.conditions.get(NODE_OF_MEMORY));
    let cells = || {
        record.figures.iter().filter(move |figure| {
            let is_latency = figure.conditions.get(KERNEL).as_deref() == Some("latency");
            figure.is_usable() && nodes(figure).1.is_some() && is_latency == latency && !is_walk(figure)
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

/// Memory without CPUs that does clearly better than the firmware states: then that is no limit. The worst statement.
pub(super) fn stated(record: &Record) -> Option<Explanation> {
    let better = |figure: &Figure| {
        let measured = figure.value?;
        let is_latency = figure.unit == Unit::NANOSECONDS;
        let stated = match is_latency {
            true => fact(figure, HMAT_LATENCY)?,
            false => fact(figure, HMAT_BANDWIDTH)? / 1e9,
        };
        let times = measured / stated;
        let by = if is_latency { 1.0 / times } else { times };
        (by.is_finite() && by > STATED).then_some((by, times, stated))
    };
    let figures = record.figures.iter().filter(|figure| figure.is_usable());
    let all = figures.filter_map(|figure| Some((figure, better(figure)?)));
    let (figure, (_, times, stated)) = all.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let case = Topology::BetterThanStated {
        stated: Amount::like(figure, stated),
        node: Count(figure.conditions.get(NODE_OF_MEMORY)?),
        measured: Cited::of(figure)?,
        times: Times(times),
    };
    Some(note("hmat", case, &[figure]))
}
