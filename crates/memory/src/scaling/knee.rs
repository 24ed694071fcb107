//! The knee of a curve: the fewest threads that reach what there is. Pure.

use figure::evidence::{CPUS, THREADS};
use figure::{Better, CpuList, Figure, Machine, Status, Unit, format};
use lab::placement::Placement;

use super::bindings::Cores;
use crate::limits;

/// Share of the best that is enough: a flat curve still varies by some per cent.
const REACHED: f64 = 0.95;

pub fn complete(figures: &mut Vec<Figure>, machine: &Machine) {
    limits::set_highest_traffic(figures);
    let cores = Cores::among(machine, &machine.topology.permitted());
    let mut curves: Vec<String> = Vec::new();
    for series in figures.iter().filter_map(|figure| figure.series.clone()) {
        if !curves.contains(&series) {
            curves.push(series);
        }
    }
    let knees: Vec<Figure> = curves.iter().filter_map(|series| knee(figures, series, &cores)).collect();
    figures.extend(knees);
}

/// The knee of a curve from one thread on; points where cores are shared unequally are left out.
fn knee(figures: &[Figure], series: &str, cores: &Cores) -> Option<Figure> {
    let even = |figure: &&Figure| {
        let cpus = figure.conditions.get(CPUS).unwrap_or_default();
        let threads = cpus.into_iter().map(|cpu| CpuList::from_iter([cpu as u32])).collect();
        !cores.uneven(&Placement { places: "threads", bind: "close", threads })
    };
    let mut points: Vec<(usize, f64, &str)> = figures
        .iter()
        .filter(|figure| figure.series.as_deref() == Some(series))
        .filter(even)
        .filter_map(|figure| {
            let threads = figure.conditions.get(THREADS)?;
            Some((threads as usize, figure.value?, figure.id.as_str()))
        })
        .collect();
    points.sort_unstable_by_key(|(threads, ..)| *threads);
    if points.len() < 2 || points[0].0 != 1 {
        return None;
    }
    let (_, best, best_id) = *points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let at = points.iter().position(|(_, value, _)| *value >= best * REACHED)?;
    let name = format!("fewest threads that reach {} of the best", format::percent(REACHED));
    let mut figure = Figure::planned(
        format!("{series}.knee"),
        crate::SUITE,
        format!("{series}: {name}"),
        Unit::of("threads"),
        Better::Neither,
    );
    figure.value = Some(points[at].0 as f64);
    (figure.status, figure.reason) = (Status::Measured, None);
    // It hangs on the best, on the point that it is at, and on the one before, which did not reach it.
    let before = at.checked_sub(1).map(|before| points[before].2);
    let mut sources: Vec<String> = Vec::new();
    for id in [Some(points[at].2), before, Some(best_id)].into_iter().flatten() {
        if !sources.iter().any(|source| source == id) {
            sources.push(id.to_owned());
        }
    }
    figure.computed_from(sources);
    Some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::LogicalCpu;

    fn machine(count: u32) -> Machine {
        let mut machine = Machine::default();
        for cpu in 0..count {
            machine.topology.cpus.push(LogicalCpu { cpu, core: cpu, ..LogicalCpu::default() });
            machine.topology.online.insert(cpu);
            machine.topology.allowed.insert(cpu);
        }
        machine
    }

    /// A curve of these values for 1, 2, … threads, one a CPU and round again past the last.
    fn curve(cpus: u32, values: &[f64]) -> Vec<Figure> {
        let figure = |(index, value): (usize, &f64)| {
            let id = format!("memory.scaling.cores.{}", index + 1);
            let mut figure = Figure::planned(id, "memory", "triad", Unit::GB_PER_S, Better::Higher);
            figure.series = Some("memory.scaling.cores".to_owned());
            figure.conditions.set(THREADS, (index + 1) as f64);
            let threads = 0..=index as u32;
            figure.conditions.set(CPUS, threads.map(|thread| f64::from(thread % cpus)).collect());
            (figure.value, figure.status) = (Some(*value), Status::Measured);
            figure
        };
        values.iter().enumerate().map(figure).collect()
    }

    fn knee_of(cpus: u32, values: &[f64]) -> Option<Figure> {
        let mut figures = curve(cpus, values);
        complete(&mut figures, &machine(cpus));
        figures.into_iter().find(|figure| figure.id == "memory.scaling.cores.knee")
    }

    #[test]
    fn the_first_that_reaches_95_per_cent() {
        let knee = knee_of(4, &[10.0, 19.0, 29.0, 30.0]).unwrap();
        assert_eq!(knee.value, Some(3.0));
        let points = ["memory.scaling.cores.3", "memory.scaling.cores.2", "memory.scaling.cores.4"];
        assert_eq!(knee.derived_from, points);
        assert_eq!((knee.unit.symbol(), knee.limit), ("threads", None));
        assert_eq!(knee_of(4, &[10.0, 10.1, 10.2, 10.3]).unwrap().value, Some(1.0));
    }

    #[test]
    fn a_point_of_unequal_shares_is_not_the_best() {
        let knee = knee_of(2, &[10.0, 15.0, 99.0]).unwrap();
        assert_eq!(knee.value, Some(2.0));
        assert!(!knee.derived_from.contains(&"memory.scaling.cores.3".to_owned()));
    }

    #[test]
    fn one_point_is_no_curve() {
        assert!(knee_of(1, &[10.0]).is_none());
    }
}
