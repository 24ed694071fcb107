//! The limits that bandwidths are compared with: the memory's theoretical peak, else the highest traffic of
//! the run. Pure.

use figure::evidence as key;
use figure::{Figure, Limit, Machine, Reading, Status};

/// The memory's theoretical peak, in the figure's own convention.
pub fn peak(figure: &Figure, machine: &Machine) -> Option<Limit> {
    match &machine.memory.peak {
        Reading::Value(peak) => Some(limit(figure, peak.bytes_per_s / 1e9, &peak.basis)),
        Reading::Unknown(_) => None,
    }
}

/// Sets the theoretical peak as a figure's limit, where both are available.
pub fn set_peak(figure: &mut Figure, machine: &Machine) {
    if figure.status != Status::NotAvailable
        && let Some(peak) = peak(figure, machine)
    {
        figure.limit = Some(peak);
    }
}

/// Where the theoretical peak is not known: the highest traffic that any figure of this run certainly moved,
/// in each figure's own convention. Regular stores that miss do not count, for a processor may avoid the
/// write-allocate, nor does code that truebench did not generate.
pub fn set_highest_traffic(figures: &mut [Figure]) {
    let is_certain = |figure: &&Figure| {
        let role = figure.conditions.get(key::ROLE);
        traffic_factor(figure) == 1.0 && role.as_deref() != Some("baseline")
    };
    let measured =
        figures.iter().filter(is_certain).filter_map(|figure| Some((figure.value?, figure.id.clone())));
    let Some((highest, id)) = measured.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let basis = format!("the highest traffic of this run ({id}); the theoretical peak is not known: --dimms");
    for figure in figures.iter_mut().filter(|figure| figure.value.is_some() && figure.limit.is_none()) {
        figure.limit = Some(limit(figure, highest, &basis));
    }
}

/// A limit on traffic, in GB/s, in the figure's own convention: what write-allocate moves is not counted.
fn limit(figure: &Figure, traffic: f64, basis: &str) -> Limit {
    Limit { value: traffic / traffic_factor(figure), basis: basis.to_owned() }
}

/// Bytes that certainly move for each byte counted. Whether a baseline's code avoids the write-allocate is
/// not known.
fn traffic_factor(figure: &Figure) -> f64 {
    if figure.conditions.get(key::ROLE).as_deref() == Some("baseline") {
        return 1.0;
    }
    let bytes = |key| figure.conditions.get(key);
    match (bytes(key::TRAFFIC_BYTES), bytes(key::COUNTED_BYTES)) {
        (Some(traffic), Some(counted)) if counted > 0.0 => traffic / counted,
        _ => 1.0,
    }
}
