//! What memory on other nodes costs.

use figure::evidence::{KERNEL, NODE_OF_CPUS, NODE_OF_MEMORY};
use figure::{Explanation, Figure, Record, Severity};

use super::{finding, sound};

/// A cell and how many times worse it is than the local one of its row.
struct Remote<'a> {
    cell: &'a Figure,
    local: &'a Figure,
    times: f64,
}

/// The farthest memory by latency and the narrowest by bandwidth, each against the local memory of the same CPUs.
pub(super) fn remote(record: &Record) -> Option<Explanation> {
    let (latency, bandwidth) = (worst(record, true), worst(record, false));
    let cost = |what: &str, remote: &Remote, times: f64| {
        format!("{what} {times:.2}x of local ({} against {})", remote.cell.id, remote.local.id)
    };
    let mut parts = Vec::new();
    parts.extend(latency.as_ref().map(|remote| cost("latency up to", remote, remote.times)));
    parts.extend(bandwidth.as_ref().map(|remote| cost("bandwidth down to", remote, 1.0 / remote.times)));
    let figures: Vec<&Figure> =
        [latency, bandwidth].into_iter().flatten().flat_map(|remote| [remote.cell, remote.local]).collect();
    (!parts.is_empty()).then(|| {
        let text = format!("Memory of another node: {}.", parts.join(", "));
        finding(Severity::Note, text, &figures)
    })
}

fn worst(record: &Record, latency: bool) -> Option<Remote<'_>> {
    let of = |figure: &Figure| (figure.conditions.get(NODE_OF_CPUS), figure.conditions.get(NODE_OF_MEMORY));
    let cells = || {
        record.figures.iter().filter(move |figure| {
            let is_latency = figure.conditions.get(KERNEL).as_deref() == Some("latency");
            sound(figure) && of(figure).1.is_some() && is_latency == latency
        })
    };
    cells()
        .filter(|cell| of(cell).0 != of(cell).1)
        .filter_map(|cell| {
            let local = cells().find(|local| of(local) == (of(cell).0, of(cell).0))?;
            let ratio = cell.value? / local.value?;
            let times = if latency { ratio } else { 1.0 / ratio };
            times.is_finite().then_some(Remote { cell, local, times })
        })
        .max_by(|a, b| a.times.total_cmp(&b.times))
}
