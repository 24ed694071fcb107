//! Figures of the edges that a measured ladder shows. Pure.

use figure::evidence::{
    ADVERTISED, CPUS, EDGE_BEFORE, EDGE_BEHIND, EDGE_FROM, EDGE_OWN, EDGE_TO, KERNEL, LEVEL, PAGES_ASKED,
    ROLE,
};
use figure::series::CoordinateValue;
use figure::{Better, Figure, Machine, Status, Unit, format, stats};

use super::{Edge, Level, Point, advertised, edges, matched};
use crate::ladder_sizes::label;

#[derive(Clone, Debug)]
pub struct Ladder<'a> {
    /// What the ids of its edges begin with: `memory.latency`.
    pub prefix: &'a str,
    pub what: &'a str,
    pub points: Vec<&'a Figure>,
    /// Another ladder of the same memory without page walks: a rise that it does not show is not a cache's.
    pub control: Option<Vec<&'a Figure>>,
}

/// With fewer points than this a run ended before it had a ladder.
const LEAST_POINTS: usize = 4;
/// The control must rise by this factor for an edge that no cache explains to be one.
const CONTROL_RISE: f64 = 1.3;
/// … between points that are this factor below and above the edge.
const CONTROL_APART: f64 = 1.5;
/// An edge that no advertised cache explains must be this high: lower ones may be the memory's own (pages of
/// its rows, page tables that no longer fit).
const UNADVERTISED_RISE: f64 = 1.5;

impl Ladder<'_> {
    /// A figure for the end of each advertised level and for each other edge; none if few points have values.
    pub fn edges(&self, machine: &Machine) -> Vec<Figure> {
        let medians = points(&self.points, |figure| figure.value);
        if medians.len() < LEAST_POINTS {
            return Vec::new();
        }
        let sizes = || medians.iter().map(|point| point.bytes);
        let (smallest, largest) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        let cpus = self.points.iter().find_map(|figure| figure.conditions.get(CPUS)).unwrap_or_default();
        let cpus: Vec<u32> = cpus.into_iter().map(|cpu| cpu as u32).collect();
        let advertised = advertised(machine, &cpus);
        let match_levels = |points: &[Point]| matched(&edges(points), &advertised, largest);
        let (levels, left) = match_levels(&medians);
        // Rounds are interleaved: the k-th rounds of all points are a ladder of their own.
        let rounds = self
            .points
            .iter()
            .filter(|figure| figure.value.is_some())
            .map(|figure| figure.used_rounds().count());
        let each: Vec<Vec<Level>> = (0..rounds.min().unwrap_or(0))
            .map(|round| {
                match_levels(&points(&self.points, |figure| figure.kept_values().get(round).copied())).0
            })
            .collect();
        let mut figures: Vec<Figure> = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let name = format!("L{}", level.level);
            let mut figure = self.figure(&name, format!("End of {name} by {}", self.what));
            figure.conditions.set(LEVEL, name.clone());
            figure.conditions.set(ADVERTISED, level.advertised);
            let Some(edge) = level.edge else {
                figures.push(figure.not_available(unseen(level, self.what, smallest, largest)));
                continue;
            };
            figure.evidence.put(EDGE_OWN, level.has_edge);
            let ends: Option<Vec<f64>> = each.iter().map(|levels| Some(levels[index].edge?.bytes)).collect();
            figure.interval = ends.and_then(|ends| stats::median_interval(&ends));
            figures.push(self.measured(figure, &edge));
        }
        for edge in left.iter().filter(|edge| self.is_a_cache(edge)) {
            let name = label(edge.to as u64);
            let name = format!("End of a level that is not advertised, by {}, below {name}", self.what);
            let figure = self.figure(&label(edge.to as u64), name);
            figures.push(self.measured(figure, edge));
        }
        figures
    }

    fn figure(&self, end: &str, name: String) -> Figure {
        let id = format!("{}.edge.{end}", self.prefix);
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::BYTES, Better::Neither);
        let conditions = self.points.first().map(|point| &point.conditions);
        if let Some(cpus) = conditions.and_then(|conditions| conditions.get(CPUS)) {
            figure.conditions.set(CPUS, cpus);
        }
        for key in [KERNEL, PAGES_ASKED] {
            if let Some(value) = conditions.and_then(|conditions| conditions.get(key)) {
                figure.conditions.set(key, value);
            }
        }
        figure.conditions.set(ROLE, "edge".to_owned());
        figure
    }

    fn measured(&self, mut figure: Figure, edge: &Edge) -> Figure {
        // The plateaus' ends: what is between them has two values by nature.
        let beside =
            |point: &&&Figure| size(point).is_some_and(|bytes| bytes == edge.from || bytes == edge.to);
        let mut sources: Vec<&&Figure> =
            self.points.iter().filter(|point| point.value.is_some()).filter(beside).collect();
        sources.sort_by(|a, b| size(a).unwrap_or(0.0).total_cmp(&size(b).unwrap_or(0.0)));
        let unit = sources.first().map_or(Unit::ONE, |source| source.unit.clone());
        figure.computed_from(sources.iter().map(|source| source.id.clone()).collect());
        (figure.value, figure.status, figure.reason) = (Some(edge.bytes), Status::Measured, None);
        let evidence = &mut figure.evidence;
        evidence.put(EDGE_FROM, edge.from);
        evidence.put(EDGE_TO, edge.to);
        evidence.put(EDGE_BEFORE, value_of(edge.below, &unit));
        evidence.put(EDGE_BEHIND, value_of(edge.above, &unit));
        figure
    }

    /// Whether an edge that no advertised cache explains is a cache's: high enough, and in the control too.
    fn is_a_cache(&self, edge: &Edge) -> bool {
        let Some(control) = &self.control else { return edge.rise() >= UNADVERTISED_RISE };
        let control = points(control, |figure| figure.value);
        let median = |inside: &dyn Fn(f64) -> bool| {
            stats::median(
                &control.iter().filter(|point| inside(point.bytes)).map(|p| p.cost).collect::<Vec<_>>(),
            )
        };
        let before = median(&|bytes| bytes <= edge.bytes / CONTROL_APART && bytes >= edge.bytes / 16.0);
        let behind = median(&|bytes| bytes >= edge.bytes * CONTROL_APART && bytes <= edge.bytes * 16.0);
        let rises = before.zip(behind).is_some_and(|(before, behind)| behind >= before * CONTROL_RISE);
        edge.rise() >= UNADVERTISED_RISE && rises
    }
}

fn unseen(level: &Level, what: &str, smallest: f64, largest: f64) -> String {
    let size = format::bytes(level.advertised);
    if let Some(behind) = level.blends {
        return format!(
            "{what} does not distinguish it from L{behind}: nothing changes near the {size} that are advertised"
        );
    }
    let sizes = format!("from {} to {}", format::bytes(smallest), format::bytes(largest));
    if largest < level.advertised * super::NEAR {
        format!("the sizes {sizes} do not go well beyond the {size} that are advertised")
    } else if smallest > level.advertised {
        format!("the sizes {sizes} begin above the {size} that are advertised")
    } else {
        format!("no plateau ends in the sizes {sizes}; {size} are advertised")
    }
}

pub fn size(figure: &Figure) -> Option<f64> {
    match figure.at.get("array")?.value {
        CoordinateValue::Number(bytes) => Some(bytes),
        CoordinateValue::Name(_) => None,
    }
}

fn points(figures: &[&Figure], value: impl Fn(&Figure) -> Option<f64>) -> Vec<Point> {
    let point =
        |figure: &&Figure| Some(Point { bytes: size(figure)?, cost: value_of(value(figure)?, &figure.unit) });
    figures.iter().filter_map(point).collect()
}

/// A cost from a value, and back: a bandwidth is the reciprocal of one.
fn value_of(cost: f64, unit: &Unit) -> f64 {
    if *unit == Unit::GB_PER_S { 1.0 / cost } else { cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::Round;
    use figure::host::{Cache, CacheKind};
    use figure::series::Coordinate;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    fn machine(sizes: &[u64]) -> Machine {
        let mut machine = Machine::default();
        for (index, size) in sizes.iter().enumerate() {
            machine.caches.instances.push(Cache {
                level: index as u32 + 1,
                kind: CacheKind::Unified,
                size: *size,
                line: Some(64),
                ways: None,
                cpus: "0".parse().unwrap(),
            });
        }
        machine
    }

    /// A measured ladder of powers of two from 16 KiB to 256 MiB, of 6 rounds.
    fn ladder(unit: Unit, value: impl Fn(f64) -> f64) -> Vec<Figure> {
        (0..=14)
            .map(|power| {
                let bytes = 16.0 * KIB * f64::from(power).exp2();
                let id = format!("x.{}", label(bytes as u64));
                let mut figure = Figure::planned(id, "memory", "x", unit.clone(), Better::Lower);
                let at = Coordinate { value: CoordinateValue::Number(bytes), unit: Some(Unit::BYTES) };
                figure.at.insert("array".into(), at);
                figure.conditions.set(CPUS, vec![0.0]);
                figure.conditions.set(PAGES_ASKED, "thp".into());
                figure.rounds = (0..6)
                    .map(|round| {
                        Round::new(
                            String::new(),
                            0.1,
                            vec![value(bytes) * (1.0 + 0.001 * f64::from(round))],
                            Default::default(),
                        )
                    })
                    .collect();
                figure.summarise();
                figure
            })
            .collect()
    }

    fn latency(bytes: f64) -> f64 {
        match bytes {
            bytes if bytes <= 32.0 * KIB => 1.5,
            bytes if bytes <= 1.0 * MIB => 5.0,
            bytes if bytes <= 16.0 * MIB => 30.0,
            _ => 100.0,
        }
    }

    fn edges_of(points: &[Figure], control: Option<&[Figure]>, caches: &[u64]) -> Vec<Figure> {
        let refs = |figures: &[Figure]| -> Vec<Figure> { figures.to_vec() };
        let (points, control) = (refs(points), control.map(refs));
        let control = control.as_ref().map(|control| control.iter().collect());
        let ladder = Ladder { prefix: "memory.x", what: "x", points: points.iter().collect(), control };
        ladder.edges(&machine(caches))
    }

    #[test]
    fn edges_become_figures_that_name_their_sources() {
        let points = ladder(Unit::NANOSECONDS, latency);
        let figures = edges_of(&points, None, &[32 << 10, 1 << 20, 16 << 20]);
        assert_eq!(figures.len(), 3);
        let l2 = &figures[1];
        assert_eq!(
            (l2.id.as_str(), l2.unit.clone(), l2.status),
            ("memory.x.edge.L2", Unit::BYTES, Status::Measured)
        );
        assert_eq!(l2.derived_from, ["x.1M", "x.2M"]);
        assert_eq!(l2.conditions.get(ADVERTISED), Some(MIB));
        assert!(l2.value.unwrap() > MIB && l2.value.unwrap() < 2.0 * MIB);
        assert_eq!(l2.evidence.get(EDGE_BEHIND).into_value().unwrap().round(), 30.0);
        assert_eq!(l2.evidence.get(EDGE_OWN).into_value(), Some(true));
        assert_eq!(l2.interval.as_ref().unwrap().rounds, 6);
    }

    #[test]
    fn a_bandwidth_ladder_falls_where_a_latency_ladder_rises() {
        let (times, rates) =
            (ladder(Unit::NANOSECONDS, latency), ladder(Unit::GB_PER_S, |b| 64.0 / latency(b)));
        let caches = [32 << 10, 1 << 20, 16 << 20];
        let values = |points: &[Figure]| -> Vec<f64> {
            edges_of(points, None, &caches).iter().map(|figure| figure.value.unwrap()).collect()
        };
        for (a, b) in values(&times).iter().zip(values(&rates)) {
            assert!((a / b - 1.0).abs() < 0.01);
        }
        let l1 = &edges_of(&rates, None, &caches)[0];
        let [before, behind] =
            [EDGE_BEFORE, EDGE_BEHIND].map(|key| l1.evidence.get(key).into_value().unwrap());
        assert!((before / (64.0 / 1.5) - 1.0).abs() < 0.01 && (behind / 12.8 - 1.0).abs() < 0.01);
    }

    #[test]
    fn what_the_ladder_does_not_reach_is_not_available() {
        let points: Vec<Figure> =
            ladder(Unit::NANOSECONDS, latency).into_iter().filter(|f| size(f).unwrap() <= MIB).collect();
        let figures = edges_of(&points, None, &[32 << 10, 1 << 20, 16 << 20]);
        let statuses: Vec<Status> = figures.iter().map(|figure| figure.status).collect();
        assert_eq!(statuses, [Status::Measured, Status::NotAvailable, Status::NotAvailable]);
        assert!(figures[1].reason.as_ref().unwrap().contains("do not go well beyond the 1 MiB"));
        assert!(edges_of(&[], None, &[32 << 10]).is_empty(), "nothing was measured");
    }

    #[test]
    fn an_unadvertised_level_must_show_in_the_control() {
        let points = ladder(Unit::NANOSECONDS, latency);
        let caches = [32 << 10, 1 << 20];
        assert_eq!(edges_of(&points, Some(&points), &caches).len(), 3);
        let extra = &edges_of(&points, None, &caches)[2];
        assert_eq!((extra.id.as_str(), extra.conditions.get(LEVEL)), ("memory.x.edge.32M", None));
        let flat = ladder(Unit::NANOSECONDS, |bytes| latency(bytes).min(30.0));
        assert_eq!(edges_of(&points, Some(&flat), &caches).len(), 2, "page walks");
    }
}
