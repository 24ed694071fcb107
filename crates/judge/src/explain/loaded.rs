//! Latency under load: what of it is waiting, how many lines that keeps in flight, which points fall back in bandwidth,
//! and what a curve shows as a whole.

use figure::Outcome;

use super::support::*;
use crate::relations::curve::{Curve, Point};
use crate::relations::partner::{Side, side};

pub(super) fn point(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    if figure.unit == Unit::GB_PER_S {
        return injected(subject);
    }
    let curve = Curve::of(subject.record, figure)?;
    let point = curve.points.iter().find(|point| std::ptr::eq(point.latency, figure))?;
    let (value, unloaded) = (figure.value?, curve.idle?.value?);
    let (idle, load) = (Cited::of(curve.idle?)?, Cited::of(point.bandwidth)?);
    match side(figure, curve.idle?)? {
        Side::Inconclusive => None,
        Side::Same => Some(Topology::NoWaiting { idle, load }),
        Side::Below => Some(Topology::BelowIdle { idle }),
        Side::Above => Some(Topology::Waiting {
            waiting: Amount::like(figure, value - unloaded),
            times: Times(value / unloaded),
            idle,
            load,
            lines: Number(point.lines()),
        }),
    }
}

/// The bandwidth of a point, by the most of its curve.
fn injected(subject: &Subject) -> Option<Topology> {
    let latency = latency_of(subject)?;
    let highest = Curve::of(subject.record, latency)?.highest()?.bandwidth;
    Some(Topology::Injected {
        injectors: Counted(latency.conditions.get(THREADS)? - 1.0, "injector"),
        delay: Count(latency.conditions.get(DELAY)?),
        share: Share(subject.figure.value? / highest.value?),
        highest: Name::from(highest),
    })
}

/// The latency of a bandwidth under load.
fn latency_of<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    match subject.figure.derived_from.as_slice() {
        [latency] => subject.record.figure(latency),
        _ => None,
    }
}

/// A bandwidth under load that is below one under less load. That it is memory's doing shows in the latency, which then does not
/// fall; the rival is a slower clock, or time that the injectors lost.
pub(super) fn falls_back(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let latency = latency_of(subject)?;
    let best = Curve::of(subject.record, latency)?.fallen_from(figure)?;
    let below = Share(1.0 - figure.value? / best.bandwidth.value?);
    let (cited, delay) = (Cited::of(best.bandwidth)?, Count(best.delay));
    let disturbed = [latency, figure].into_iter().find_map(disturbance);
    let doubt = match (disturbed, clock(latency).zip(clock(best.latency))) {
        (Some(check), _) => Doubt::Disturbed { check },
        _ if side(latency, best.latency) == Some(Side::Below) => {
            Doubt::LatencyFell { from: Amount::of(best.latency)?, to: Amount::of(latency)? }
        }
        (None, None) => Doubt::ClockUnknown,
        (None, Some((to, from))) if to < from * (1.0 - SAME_CLOCK) => {
            Doubt::ClockFell { from: Number(from), to: Number(to) }
        }
        (None, Some((clock, _))) => {
            let (latency, clock) = (Amount::of(latency)?, Number(clock));
            return Some(Topology::FallsBack { below, best: cited, delay, latency, clock });
        }
    };
    Some(Topology::PerhapsFallsBack { below, best: cited, delay, doubt })
}

/// What disturbed a figure's rounds. That few CPUs inject is no disturbance.
fn disturbance(figure: &Figure) -> Option<String> {
    let causes = figure.checks.iter().filter(|check| check.outcome >= Outcome::Warn);
    causes.map(|check| check.root().to_owned()).find(|check| check != "saturation")
}

/// A property of a whole curve.
pub(super) fn curve(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let property = figure.conditions.get(CURVE)?;
    let points = Counted(figure.evidence.get(CURVE_POINTS).into_value()?, "point");
    let mut sources = figure.derived_from.iter().filter_map(|id| subject.record.figure(id));
    let curve = sources.find_map(|one| Curve::of(subject.record, one))?;
    let (idle, highest) = (Cited::of(curve.idle?)?, curve.highest()?);
    Some(match property.as_str() {
        "highest" => {
            let falls =
                |point: &&Point| curve.fallen_from(point.bandwidth).is_some() && point.delay < highest.delay;
            let lower = curve.points.iter().filter(falls).count() as f64;
            let lower = (lower > 0.0).then_some(Counted(lower, "point"));
            Topology::CurveHighest { points, delay: Count(highest.delay), lower }
        }
        "onset" => {
            let share = Share(figure.value? / highest.bandwidth.value?);
            Topology::CurveOnset { share, idle, highest: Cited::of(highest.bandwidth)? }
        }
        "saturated" => {
            let times = Times(figure.value? / idle.amount.value);
            Topology::CurveSaturated { times, idle, highest: Cited::of(highest.bandwidth)? }
        }
        "slope" => {
            let span = figure.evidence.get(CURVE_SPAN).into_value()?;
            let adds = Amount { value: figure.value? * span, unit: Unit::NANOSECONDS };
            let span = Amount { value: span, unit: Unit::GB_PER_S };
            match figure.interval.as_ref().map_or(adds.value, |interval| interval.low) <= 0.0 {
                true => Topology::CurveFlat { span, idle, points },
                false => Topology::CurveSlope { span, adds, idle, points },
            }
        }
        _ => return None,
    })
}
