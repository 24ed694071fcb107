//! What alignment and distance of arrays are worth, over all points of the sweep.

use std::collections::BTreeMap;

use figure::evidence::{LEVEL, STORES};
use figure::stats::Ratio;
use figure::{Explanation, Record, Severity};

use super::{finding, sound};
use crate::explain::alignment::{Point, SAME};
use crate::relations::partner::{self, REGULAR};

/// The dearest point of one level by misalignment, and by distance.
#[derive(Default)]
struct Dearest<'a> {
    misaligned: Option<(Ratio, Point<'a>)>,
    apart: Option<(Ratio, Point<'a>)>,
}

/// One sentence for the whole sweep; `None` without one.
pub(super) fn alignment(record: &Record) -> Option<Explanation> {
    let figures = &record.figures;
    let mut levels: BTreeMap<String, Dearest> = BTreeMap::new();
    let regular = |point: &Point| point.figure.conditions.get(STORES).as_deref() == Some(REGULAR);
    for point in figures.iter().filter(|figure| sound(figure)).filter_map(Point::of).filter(regular) {
        let Some(level) = point.figure.conditions.get(LEVEL) else { continue };
        let dearest = levels.entry(level).or_default();
        let (worst, reference) = if point.misalignment > 0.0 {
            (&mut dearest.misaligned, point.aligned(figures))
        } else {
            (&mut dearest.apart, point.best(figures))
        };
        let ratio = reference.and_then(|reference| partner::ratio(point.figure, reference.figure).ok());
        if let Some(ratio) =
            ratio.filter(|ratio| worst.as_ref().is_none_or(|(most, _)| ratio.value < most.value))
        {
            *worst = Some((ratio, point));
        }
    }
    let mut cited = Vec::new();
    let mut told = |what: &str, dearest: &Option<(Ratio, Point<'_>)>| match dearest {
        Some((ratio, point)) if !ratio.same(SAME) && ratio.value < 1.0 => {
            cited.push(point.figure.id.clone());
            format!("{what} down to {} ({})", partner::ratio_text(ratio), point.figure.id)
        }
        Some(_) => format!("{what} no effect"),
        None => format!("{what} not measured"),
    };
    let levels: Vec<String> = levels
        .iter()
        .map(|(level, dearest)| {
            let misaligned = told("misaligned vectors", &dearest.misaligned);
            format!(
                "in {level} {misaligned}, the distance of arrays {}",
                told("", &dearest.apart).trim_start()
            )
        })
        .collect();
    if levels.is_empty() {
        return None;
    }
    let mut finding = finding(Severity::Note, format!("Alignment: {}.", levels.join("; ")), &[]);
    finding.figures = cited;
    Some(finding)
}
