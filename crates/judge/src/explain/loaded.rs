//! Latency under load: what of it is waiting, how many lines that keeps in flight, where the curve bends and what
//! saturates.

use super::support::*;
use crate::relations::curve::Curve;
use crate::relations::partner::{Side, side};

pub(super) fn point(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
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
