//! The limits of bandwidths: the memory's theoretical peak, else the highest traffic of the run. Pure.

use figure::evidence as key;
use figure::{Figure, Limit, Machine, Reading, Status, Unit};

pub fn peak(figure: &Figure, machine: &Machine) -> Option<Limit> {
    match &machine.memory.peak {
        Reading::Value(peak) => Some(limit(figure, peak.bytes_per_s / 1e9, &peak.basis)),
        Reading::Unknown(_) => None,
    }
}

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
/// Figures of memory that is bound to a node have limits of their own.
pub fn set_highest_traffic(figures: &mut [Figure]) {
    let is_unbound = |figure: &Figure| figure.conditions.get(key::NODE_OF_MEMORY).is_none();
    set_highest(
        figures,
        is_unbound,
        "the highest traffic of this run",
        "the theoretical peak is not known: --dimms",
    );
}

/// The same among the figures of one node's memory.
pub fn set_highest_traffic_to(figures: &mut [Figure], node: u32) {
    let is_of_node = |figure: &Figure| figure.conditions.get(key::NODE_OF_MEMORY) == Some(f64::from(node));
    let what = format!("the highest traffic to node {node} in this run");
    set_highest(figures, is_of_node, &what, "nothing states what its memory can do");
}

fn set_highest(figures: &mut [Figure], belongs: impl Fn(&Figure) -> bool, what: &str, why: &str) {
    let is_certain = |figure: &&Figure| {
        let role = figure.conditions.get(key::ROLE);
        traffic_factor(figure) == 1.0 && role.as_deref() != Some("baseline")
    };
    let measured = figures
        .iter()
        .filter(|figure| belongs(figure) && figure.unit == Unit::GB_PER_S)
        .filter(is_certain)
        .filter_map(|figure| Some((figure.value?, figure.id.clone())));
    let Some((highest, id)) = measured.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let basis = format!("{what} ({id}); {why}");
    let is_open = |figure: &&mut Figure| {
        figure.value.is_some() && figure.limit.is_none() && figure.unit == Unit::GB_PER_S
    };
    for figure in figures.iter_mut().filter(|figure| belongs(figure)).filter(is_open) {
        figure.limit = Some(limit(figure, highest, &basis));
    }
}

/// A limit on traffic, in GB/s, in the figure's own convention: what write-allocate moves is not counted.
fn limit(figure: &Figure, traffic: f64, basis: &str) -> Limit {
    Limit { value: traffic / traffic_factor(figure), basis: basis.to_owned() }
}

/// Bytes that certainly move for each byte counted. A baseline may avoid the write-allocate.
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

#[cfg(test)]
mod tests {
    use super::*;
    use figure::Better;
    use figure::host::Peak;

    /// A figure of 24 B counted for each element, of which so many move.
    fn figure(id: &str, traffic: f64, value: Option<f64>) -> Figure {
        let mut figure = Figure::planned(id, crate::SUITE, id, Unit::GB_PER_S, Better::Higher);
        figure.conditions.set(key::COUNTED_BYTES, 24.0);
        figure.conditions.set(key::TRAFFIC_BYTES, traffic);
        figure.value = value;
        figure
    }

    fn values(figures: &[Figure]) -> Vec<Option<f64>> {
        figures.iter().map(|figure| figure.limit.as_ref().map(|limit| limit.value)).collect()
    }

    #[test]
    fn a_peak_is_of_traffic_and_a_limit_of_what_is_counted() {
        let mut machine = Machine::default();
        let mut triad = figure("triad", 32.0, None);
        set_peak(&mut triad, &machine);
        assert_eq!(triad.limit, None);
        machine.memory.peak = Reading::Value(Peak {
            channels: 4,
            mt_per_s: 3000,
            bytes_per_s: 96e9,
            basis: "4 x DDR4-3000".to_owned(),
        });
        set_peak(&mut triad, &machine);
        assert_eq!(values(&[triad]), [Some(72.0)]);
        let mut absent = figure("absent", 24.0, None).not_available("no memory");
        set_peak(&mut absent, &machine);
        assert_eq!(absent.limit, None);
    }

    #[test]
    fn without_a_peak_the_highest_certain_traffic_is_the_limit() {
        let mut baseline = figure("baseline", 24.0, Some(90.0));
        baseline.conditions.set(key::ROLE, "baseline".to_owned());
        let regular = figure("regular", 32.0, Some(60.0));
        let mut figures =
            vec![figure("nt", 24.0, Some(70.0)), baseline, regular, figure("not measured", 24.0, None)];
        set_highest_traffic(&mut figures);
        assert_eq!(values(&figures), [Some(70.0), Some(70.0), Some(52.5), None]);
        assert!(figures[0].limit.as_ref().unwrap().basis.contains("(nt)"));
    }
}
