//! What a curve of latency against bandwidth shows as a whole: the quantities of Mess (Esmaili-Dokht et al., MICRO 2024,
//! arXiv 2405.10170, section II-C), as figures of their own. Pure.
//!
//! The unloaded latency is measured (`memory.loaded.idle`); it is the same for all mixes.

use std::ops::Range;

use figure::evidence as key;
use figure::series::CoordinateValue;
use figure::{Better, Conditions, Convention, Figure, Limit, Machine, Status, Unit, stats};

use crate::kernels::ELEMENT;
use crate::limits;
use crate::mix::plan::axis;

/// Saturation begins where a load takes this many times the idle latency, by definition of Mess.
const SATURATED: f64 = 2.0;
/// A slope is that of the points up to this share of the most bandwidth: in a queue at half of its capacity (M/M/1) waiting
/// takes as long as service, and the curve bends from there on.
const UNLOADED: f64 = 0.5;
/// Fewer points have no shape.
const LEAST_POINTS: usize = 3;

/// What the most bandwidth of a curve is compared with where the theoretical peak is not known.
const OF_ALL: &str = "what all threads move in the same mix";
/// What an onset is compared with.
const OF_HIGHEST: &str = "the highest bandwidth of its curve";

/// A property of a curve that becomes a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The most bandwidth.
    Highest,
    /// The bandwidth where saturation begins.
    Onset,
    /// The latency at the most bandwidth, of a memory that saturates.
    Saturated,
    /// What each GB/s adds to the latency before.
    Slope,
}

impl Property {
    pub const ALL: [Property; 4] = [Property::Highest, Property::Onset, Property::Saturated, Property::Slope];

    pub fn word(self) -> &'static str {
        match self {
            Property::Highest => "highest",
            Property::Onset => "onset",
            Property::Saturated => "saturated",
            Property::Slope => "slope",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Property::Highest => "highest bandwidth",
            Property::Onset => "bandwidth where saturation begins",
            Property::Saturated => "latency at the highest bandwidth",
            Property::Slope => "slope of the latency before saturation",
        }
    }

    fn unit(self) -> (Unit, Better) {
        match self {
            Property::Highest | Property::Onset => (Unit::GB_PER_S, Better::Higher),
            Property::Saturated => (Unit::NANOSECONDS, Better::Lower),
            Property::Slope => (Unit::of("ns/(GB/s)"), Better::Lower),
        }
    }
}

/// GB/s and ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub bandwidth: f64,
    pub latency: f64,
}

/// Values of the idle chase and of all points, from the least load to the most: medians, or those of one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// ns.
    pub idle: f64,
    pub points: Vec<Point>,
}

impl Curve {
    /// The point with the most bandwidth, which need not be that with the most load.
    pub fn highest(&self) -> Option<usize> {
        let by_bandwidth =
            |a: &usize, b: &usize| self.points[*a].bandwidth.total_cmp(&self.points[*b].bandwidth);
        (0..self.points.len()).max_by(by_bandwidth)
    }

    /// The first point from which on memory is saturated, and the bandwidth where that begins: between this point and the
    /// one before it, or the idle chase, by the latency.
    pub fn onset(&self) -> Option<(usize, f64)> {
        let latency = SATURATED * self.idle;
        let behind = self.points.iter().position(|point| point.latency >= latency)?;
        let idle = Point { bandwidth: 0.0, latency: self.idle };
        let (from, to) =
            (behind.checked_sub(1).map_or(idle, |before| self.points[before]), self.points[behind]);
        let share = (latency - from.latency) / (to.latency - from.latency);
        Some((behind, from.bandwidth + share * (to.bandwidth - from.bandwidth)))
    }

    /// The points before saturation, if they are enough for a slope: up to half of the most bandwidth.
    pub fn unloaded(&self) -> Option<Range<usize>> {
        let most = UNLOADED * self.points[self.highest()?].bandwidth;
        let end = self.points.iter().position(|point| point.bandwidth > most)?;
        (end + 1 >= LEAST_POINTS).then_some(0..end)
    }

    /// ns for each GB/s: least squares over the idle chase and these points.
    pub fn slope(&self, points: Range<usize>) -> Option<f64> {
        let idle = Point { bandwidth: 0.0, latency: self.idle };
        let all: Vec<Point> = [idle].into_iter().chain(self.points.get(points)?.iter().copied()).collect();
        let mean = |of: fn(&Point) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let (bandwidth, latency) = (mean(|point| point.bandwidth), mean(|point| point.latency));
        let sum = |of: &dyn Fn(&Point) -> f64| all.iter().map(of).sum::<f64>();
        let squares = sum(&|point| (point.bandwidth - bandwidth).powi(2));
        let slope = sum(&|point| (point.bandwidth - bandwidth) * (point.latency - latency)) / squares;
        slope.is_finite().then_some(slope)
    }
}

/// The figures of one curve: latencies, and the bandwidths of their rounds, from the least load to the most.
pub struct Measured<'a> {
    pub mix: String,
    pub idle: Option<&'a Figure>,
    /// What all threads move in this mix.
    pub all: Option<&'a Figure>,
    pub points: Vec<(&'a Figure, &'a Figure)>,
}

/// What a property is, and what it follows from.
struct Found {
    value: f64,
    /// The same in each round; fewer where it does not show in all.
    rounds: Vec<f64>,
    from: Vec<String>,
    points: usize,
}

impl Measured<'_> {
    /// The properties of the curve, each with a value or the reason why it has none.
    pub fn figures(&self, machine: &Machine) -> Vec<Figure> {
        let highest = self.figure(Property::Highest, machine);
        let of_highest = highest.value.map(|value| Limit { value, basis: OF_HIGHEST.to_owned() });
        let rest = [Property::Onset, Property::Saturated, Property::Slope].map(|property| {
            let mut figure = self.figure(property, machine);
            if property == Property::Onset && figure.value.is_some() {
                figure.limit = of_highest.clone();
            }
            figure
        });
        [highest].into_iter().chain(rest).collect()
    }

    fn figure(&self, property: Property, machine: &Machine) -> Figure {
        let id = format!("{}.loaded.{}.{}", crate::SUITE, self.mix, property.word());
        let (unit, better) = property.unit();
        let name = format!("{}: {}", self.mix, property.title());
        let mut figure = Figure::planned(id, crate::SUITE, name, unit, better);
        figure.series = Some(format!("{}.curves.{}", crate::SUITE, property.word()));
        figure.at = axis("mix", CoordinateValue::Name(self.mix.clone()));
        figure.conditions = self.conditions(property);
        if figure.unit == Unit::GB_PER_S {
            figure.convention = Some(Convention::EstimatedTraffic);
        }
        let absent = self.points.iter().find(|(latency, _)| latency.status == Status::NotAvailable);
        if let Some((latency, _)) = absent {
            return figure.not_available(latency.reason.clone().unwrap_or_default());
        }
        let Some(curve) = self.medians().filter(|curve| curve.points.len() == self.points.len()) else {
            figure.reason = Some("not all points of the curve were measured".to_owned());
            return figure;
        };
        match self.found(property, &curve) {
            Err(reason) => figure.not_available(reason),
            Ok(found) => {
                let Found { value, rounds, from, points } = found;
                figure.computed_from(from);
                figure.interval = stats::median_interval(&rounds);
                let median = stats::median(&rounds).filter(|_| figure.interval.is_some());
                (figure.value, figure.status, figure.reason) =
                    (Some(median.unwrap_or(value)), Status::Measured, None);
                figure.evidence.put(key::CURVE_POINTS, points as f64);
                match property {
                    Property::Highest => {
                        let of_all =
                            |all: &Figure| Some(Limit { value: all.value?, basis: OF_ALL.to_owned() });
                        figure.limit = self.all.and_then(of_all);
                        limits::set_peak(&mut figure, machine);
                    }
                    Property::Slope => {
                        figure.evidence.put(key::CURVE_SPAN, curve.points[points - 1].bandwidth)
                    }
                    Property::Saturated => {
                        figure.limit =
                            self.idle.map(|idle| Limit { value: curve.idle, basis: idle.id.clone() });
                    }
                    Property::Onset => {}
                }
                figure
            }
        }
    }

    fn found(&self, property: Property, curve: &Curve) -> Result<Found, String> {
        let too_few = || "the curve has fewer than 3 points".to_owned();
        // Of some rounds alone an interval would be that of other rounds than the value's.
        let each = |points: Range<usize>, of: &dyn Fn(&Curve) -> Option<f64>| -> Vec<f64> {
            self.rounds(points).iter().map(of).collect::<Option<_>>().unwrap_or_default()
        };
        let highest = curve.highest().filter(|_| curve.points.len() >= LEAST_POINTS).ok_or_else(too_few)?;
        let idle = self.idle.map(|idle| idle.id.clone());
        let id = |point: usize| self.points[point].0.id.clone();
        let bandwidth = |point: usize| self.points[point].1.id.clone();
        let onset = || {
            curve.onset().ok_or_else(|| {
                let most = curve.points.iter().map(|point| point.latency).fold(0.0, f64::max);
                let injectors = self.points[0].0.conditions.get(key::THREADS).unwrap_or(1.0) - 1.0;
                format!(
                    "a load takes at most {:.2}x the idle latency: {} not saturate this memory",
                    most / curve.idle,
                    if injectors == 1.0 {
                        "1 injector does".to_owned()
                    } else {
                        format!("{injectors} injectors do")
                    }
                )
            })
        };
        match property {
            Property::Highest => Ok(Found {
                value: curve.points[highest].bandwidth,
                rounds: self.points[highest].1.kept_values(),
                // The latency too: the check of saturation is its.
                from: vec![bandwidth(highest), id(highest)],
                points: curve.points.len(),
            }),
            Property::Onset => {
                let (behind, value) = onset()?;
                let before = behind.checked_sub(1);
                let ends = before.into_iter().chain([behind]);
                let from = idle.into_iter().chain(ends.flat_map(|end| [id(end), bandwidth(end)]));
                let rounds =
                    each(0..curve.points.len(), &|curve| curve.onset().map(|(_, bandwidth)| bandwidth));
                Ok(Found { value, rounds, from: from.collect(), points: curve.points.len() })
            }
            Property::Saturated => {
                onset()?;
                Ok(Found {
                    value: curve.points[highest].latency,
                    rounds: self.points[highest].0.kept_values(),
                    from: vec![id(highest), bandwidth(highest)],
                    points: curve.points.len(),
                })
            }
            Property::Slope => {
                let unloaded = curve.unloaded().ok_or_else(|| {
                    "fewer than 2 points move at most half of the highest bandwidth: measure longer delays".to_owned()
                })?;
                let value = curve.slope(unloaded.clone()).ok_or_else(too_few)?;
                let from = idle.into_iter().chain(unloaded.clone().flat_map(|at| [id(at), bandwidth(at)]));
                let rounds = each(unloaded.clone(), &|curve| curve.slope(0..curve.points.len()));
                Ok(Found { value, rounds, from: from.collect(), points: unloaded.len() })
            }
        }
    }

    /// `None` until the idle latency is known. Points without a value are left out.
    fn medians(&self) -> Option<Curve> {
        let point = |(latency, bandwidth): &(&Figure, &Figure)| {
            Some(Point { bandwidth: bandwidth.value?, latency: latency.value? })
        };
        Some(Curve { idle: self.idle?.value?, points: self.points.iter().filter_map(point).collect() })
    }

    /// Rounds are interleaved: the k-th rounds of these points are a curve of their own.
    fn rounds(&self, points: Range<usize>) -> Vec<Curve> {
        let Some(idle) = self.idle.map(Figure::kept_values) else { return Vec::new() };
        let points: Vec<[Vec<f64>; 2]> = self.points[points]
            .iter()
            .map(|(latency, bandwidth)| [bandwidth, latency].map(|figure| figure.kept_values()))
            .collect();
        let count = points.iter().flatten().map(Vec::len).chain([idle.len()]).min().unwrap_or(0);
        let curve = |round: usize| Curve {
            idle: idle[round],
            points: points
                .iter()
                .map(|[bandwidth, latency]| Point { bandwidth: bandwidth[round], latency: latency[round] })
                .collect(),
        };
        (0..count).map(curve).collect()
    }

    /// Those of the points that are not of a single one, so that nothing takes the figure for a point.
    fn conditions(&self, property: Property) -> Conditions {
        let mut conditions = Conditions::default();
        if let Some((latency, _)) = self.points.first() {
            let from = &latency.conditions;
            for text in [key::PLACES, key::BIND, key::SIMD, key::PAGES_ASKED, key::STORES, key::MIX] {
                from.get(text).into_iter().for_each(|value| conditions.set(text, value));
            }
            from.get(key::THREADS).into_iter().for_each(|value| conditions.set(key::THREADS, value));
            from.get(key::CPUS).into_iter().for_each(|value| conditions.set(key::CPUS, value));
        }
        if property.unit().0 == Unit::GB_PER_S {
            conditions.set(key::COUNTED_BYTES, ELEMENT as f64);
            conditions.set(key::TRAFFIC_BYTES, ELEMENT as f64);
        }
        conditions.with(key::CURVE, property.word().to_owned())
    }
}

#[cfg(test)]
mod tests;
