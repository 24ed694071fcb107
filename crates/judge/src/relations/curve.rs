//! The curve of latency against bandwidth under load: its points, its knee, and whether its end is saturated.

use figure::evidence::{DELAY, KERNEL, MIX, THREADS};
use figure::{Figure, Record, Unit};

use super::partner::{Side, ratio, same_threads, side};
use super::traffic::{LINE_BYTES, walked};
use crate::cases::Injection;
use crate::subject::Subject;
use crate::values::{Amount, Cited, Count, Counted, Share, Times};

/// `kernel` of a latency under load, and of the same chase without load.
pub const CHASE: &str = "loaded-latency";
/// The knee is where bandwidth / latency is highest, Kleinrock's *power* ("Power and deterministic rules of thumb
/// for probabilistic problems in computer communications", ICC 1979). An end of the curve this close to the
/// highest has not passed it.
const AT_THE_KNEE: f64 = 0.95;
/// From this share of the theoretical peak on memory is saturated: what explanations call reached.
const OF_PEAK: f64 = 0.70;
/// Injectors that move less than this share of what all CPUs move do not saturate memory.
const OF_ALL: f64 = 0.90;
/// A latency this many times the idle one is that of a queue: in a queue at half of its capacity (M/M/1) the time is
/// twice the service time, and part of what a load takes is no queue.
const QUEUED: f64 = 1.5;

/// One delay: the latency and the bandwidth of the same rounds.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// Spins after each line.
    pub delay: f64,
    /// The latency.
    pub latency: &'a Figure,
    /// The injected bandwidth.
    pub bandwidth: &'a Figure,
}

impl Point<'_> {
    /// ns and GB/s.
    fn values(&self) -> (f64, f64) {
        (self.latency.value.unwrap_or(f64::NAN), self.bandwidth.value.unwrap_or(f64::NAN))
    }

    /// Lines of 64 B that the injectors and the chase have under way together, by Little's law: throughput x latency,
    /// if their lines take as long as the chase's. The chase has one.
    pub fn lines(&self) -> f64 {
        let (latency, bandwidth) = self.values();
        bandwidth * latency / LINE_BYTES + 1.0
    }

    /// Bandwidth for latency.
    fn power(&self) -> f64 {
        let (latency, bandwidth) = self.values();
        bandwidth / latency
    }
}

/// All points of one mix.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// From the longest delay, the least load, to the shortest.
    pub points: Vec<Point<'a>>,
    /// The same chase without load.
    pub idle: Option<&'a Figure>,
}

/// Where the knee is.
#[derive(Clone, Copy, Debug)]
pub enum Knee<'a> {
    /// At this point: more load costs more latency than it brings bandwidth.
    At(Point<'a>),
    /// Beyond the most load that there was.
    Beyond,
}

/// Whether the most load saturates memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Saturation {
    /// It does, by the share of the peak, or of what all CPUs move at a latency so many times the idle one.
    Reached(Injection, Option<Times>),
    /// It does not, by the share of what all CPUs move.
    Short(Injection),
    /// Unknown, and why.
    Unknown(String),
}

/// Whether the figure is a latency under load.
pub fn is_loaded(figure: &Figure) -> bool {
    figure.unit == Unit::NANOSECONDS
        && figure.conditions.get(KERNEL).as_deref() == Some(CHASE)
        && figure.conditions.get(DELAY).is_some()
}

/// The chase without load that stands for a loaded figure.
pub fn idle<'a>(record: &'a Record, of: &Figure) -> Option<&'a Figure> {
    record.figures.iter().find(|other| {
        other.suite == of.suite
            && other.is_usable()
            && other.unit == Unit::NANOSECONDS
            && other.conditions.get(KERNEL).as_deref() == Some(CHASE)
            && other.conditions.get(DELAY).is_none()
    })
}

/// The bandwidth of a latency's rounds.
pub fn companion<'a>(record: &'a Record, latency: &Figure) -> Option<&'a Figure> {
    let fits = |other: &&Figure| {
        other.unit == Unit::GB_PER_S && other.derived_from.as_slice() == std::slice::from_ref(&latency.id)
    };
    record.figures.iter().find(fits).filter(|other| other.is_usable())
}

fn highest<'a>(points: &[Point<'a>]) -> Option<Point<'a>> {
    points.iter().copied().max_by(|a, b| a.values().1.total_cmp(&b.values().1))
}

impl<'a> Curve<'a> {
    /// The curve that a latency under load is a point of.
    pub fn of(record: &'a Record, latency: &Figure) -> Option<Curve<'a>> {
        if !is_loaded(latency) {
            return None;
        }
        let on_it = |other: &&Figure| {
            is_loaded(other)
                && other.is_usable()
                && other.series == latency.series
                && same_threads(other, latency)
        };
        let point = |latency: &'a Figure| {
            let delay = latency.conditions.get(DELAY)?;
            Some(Point { delay, latency, bandwidth: companion(record, latency)? })
        };
        let mut points: Vec<Point> = record.figures.iter().filter(on_it).filter_map(point).collect();
        points.sort_by(|a, b| b.delay.total_cmp(&a.delay));
        (!points.is_empty()).then(|| Curve { points, idle: idle(record, latency) })
    }

    /// The most load.
    pub fn end(&self) -> Option<Point<'a>> {
        self.points.last().copied()
    }

    /// The point with the most bandwidth.
    pub fn highest(&self) -> Option<Point<'a>> {
        highest(&self.points)
    }

    /// For a point that moves clearly less than one under less load, in their rounds: that of them with the most.
    pub fn fallen_from(&self, bandwidth: &Figure) -> Option<Point<'a>> {
        let at = self.points.iter().position(|point| std::ptr::eq(point.bandwidth, bandwidth))?;
        let best = highest(&self.points[..at])?;
        ratio(bandwidth, best.bandwidth).ok()?;
        (side(bandwidth, best.bandwidth)? == Side::Below).then_some(best)
    }

    /// Where it bends; `None` for a curve of less than three points.
    pub fn knee(&self) -> Option<Knee<'a>> {
        let end = self.end().filter(|_| self.points.len() >= 3)?;
        let knee = *self.points.iter().max_by(|a, b| a.power().total_cmp(&b.power()))?;
        Some(if end.power() >= knee.power() * AT_THE_KNEE { Knee::Beyond } else { Knee::At(knee) })
    }

    /// Whether its end saturates memory. What all CPUs move together can only show that it does not: of many CPUs
    /// all but one move nearly as much in any case. That it does shows in the queue.
    pub fn saturation(&self, record: &'a Record) -> Saturation {
        let Some(end) = self.end() else { return Saturation::Unknown("nothing was measured".to_owned()) };
        let (latency, bandwidth) = end.values();
        let injectors = end.latency.conditions.get(THREADS).unwrap_or(1.0) - 1.0;
        let injection = |share, all| Injection {
            injectors: Counted(injectors, "injector"),
            delay: Count(end.delay),
            moved: Amount { value: bandwidth, unit: Unit::GB_PER_S },
            share: Share(share),
            all,
        };
        let of_peak = record.machine.memory.peak.value().map(|peak| bandwidth * 1e9 / peak.bytes_per_s);
        if let Some(share) = of_peak.filter(|share| *share >= OF_PEAK) {
            return Saturation::Reached(injection(share, None), None);
        }
        let name = end.latency.conditions.get(MIX).unwrap_or_default();
        let Some(all) = walked(&Subject { figure: end.latency, record }, &name) else {
            return Saturation::Unknown("no sound figure shows what all CPUs move together".to_owned());
        };
        let share = bandwidth / all.value.unwrap_or(f64::NAN);
        let injection = injection(share, Cited::of(all));
        if share < OF_ALL {
            return Saturation::Short(injection);
        }
        let Some(idle) = self.idle.and_then(|idle| idle.value) else {
            return Saturation::Unknown(format!("{injection}; the idle latency is unknown"));
        };
        let times = Times(latency / idle);
        match latency >= idle * QUEUED {
            true => Saturation::Reached(injection, Some(times)),
            false => {
                Saturation::Unknown(format!("{injection}; latency {times} the idle one: nothing queues"))
            }
        }
    }
}
