//! Latency under load: what of it is waiting, how many lines that keeps in flight, where the curve bends and what
//! saturates.

use figure::evidence::MIX;
use figure::{Explanation, Figure, Record, Severity};

use super::Rule;
use crate::cases::{Case, KneePlace, Topology};
use crate::check::Subject;
use crate::relations::curve::{Curve, Knee, Saturation, is_loaded};
use crate::relations::partner::{Side, side};
use crate::values::{Amount, Cited, Number, Times};

pub(super) const RULE: Rule = Rule { name: "loaded", says: |subject| point(subject).map(Case::from) };

/// A latency under load against the idle one.
fn point(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let curve = Curve::of(subject.record, figure)?;
    let point = curve.points.iter().find(|point| std::ptr::eq(point.latency, figure))?;
    let (value, unloaded) = (figure.value?, curve.idle?.value?);
    let (idle, load) = (Cited::of(curve.idle?)?, Cited::of(point.bandwidth)?);
    match side(figure, curve.idle?)? {
        Side::Untold => None,
        Side::Same => Some(Topology::NoWaiting { idle, load }),
        Side::Below => Some(Topology::BelowIdle { idle }),
        Side::Above => Some(Topology::Waiting {
            waiting: Amount { value: value - unloaded, unit: figure.unit.clone() },
            times: Times(value / unloaded),
            idle,
            load,
            lines: Number(point.lines()),
        }),
    }
}

/// One finding for each curve.
pub(crate) fn findings(record: &Record) -> Vec<Explanation> {
    let points = || record.figures.iter().filter(|figure| figure.is_usable() && is_loaded(figure));
    let is_first = |figure: &&Figure| {
        points().find(|other| other.series == figure.series).is_some_and(|other| std::ptr::eq(other, *figure))
    };
    points().filter(is_first).filter_map(|figure| curve(record, figure)).collect()
}

fn curve(record: &Record, figure: &Figure) -> Option<Explanation> {
    let curve = Curve::of(record, figure)?;
    let (end, unloaded) = (curve.end()?, curve.idle?);
    let knee = match curve.knee() {
        Some(Knee::At(point)) => {
            KneePlace::At { bandwidth: Cited::of(point.bandwidth)?, latency: Amount::of(point.latency)? }
        }
        Some(Knee::Beyond) => KneePlace::Beyond,
        None => KneePlace::TooFewPoints,
    };
    let mix = figure.conditions.get(MIX).unwrap_or_default();
    let (idle, full, load) = (Amount::of(unloaded)?, Amount::of(end.latency)?, Amount::of(end.bandwidth)?);
    let case = match curve.saturation(record) {
        Saturation::Reached(..) => Topology::LoadSaturates { mix, idle, full, load, knee },
        Saturation::Short(injection) => {
            let reason = injection.to_string();
            Topology::LoadTooLow { mix, idle, full, load, knee, reason }
        }
        Saturation::Unknown(reason) => Topology::SaturationUnknown { mix, idle, full, load, knee, reason },
    };
    let about = [unloaded, end.latency, end.bandwidth].map(|figure| figure.id.clone());
    Some(Case::from(case).explanation("load", Severity::Note, about.to_vec()))
}
