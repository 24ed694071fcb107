//! What alignment and distance of arrays cost, over all points of the sweep.

use std::collections::BTreeMap;

use figure::evidence::{LEVEL, STORES};
use figure::stats::Ratio;
use figure::{Explanation, Record, Severity};

use crate::cases::{Case, LevelEffect, Memory};
use crate::explain::alignment::{Point, SAME};
use crate::relations::partner::{self, REGULAR};
use crate::values::{List, Times};

/// The lowest ratio of each level, with its point.
type Lowest<'a> = BTreeMap<String, (Ratio, Point<'a>)>;

/// One for the whole sweep; `None` without one.
pub(super) fn alignment(record: &Record) -> Option<Explanation> {
    let figures = &record.figures;
    let (mut misaligned, mut distance) = (Lowest::new(), Lowest::new());
    let is_regular = |point: &Point| point.figure.conditions.get(STORES).as_deref() == Some(REGULAR);
    for point in figures.iter().filter(|figure| figure.is_usable()).filter_map(Point::of).filter(is_regular) {
        let Some(level) = point.figure.conditions.get(LEVEL) else { continue };
        let (lowest, reference) = match point.misalignment > 0.0 {
            true => (&mut misaligned, point.aligned(figures)),
            false => (&mut distance, point.best(figures)),
        };
        let Some(Ok(ratio)) = reference.map(|reference| partner::ratio(point.figure, reference.figure))
        else {
            continue;
        };
        if lowest.get(&level).is_none_or(|(other, _)| ratio.value < other.value) {
            lowest.insert(level, (ratio, point));
        }
    }
    if misaligned.is_empty() && distance.is_empty() {
        return None;
    }
    let case = Memory::Alignment { misaligned: effects(misaligned), distance: effects(distance) };
    Some(Case::from(case).explanation("alignment", Severity::Note, Vec::new()))
}

fn effects(lowest: Lowest) -> List<LevelEffect> {
    let effect = |(level, (ratio, point)): (String, (Ratio, Point))| {
        let ratio = Some(ratio).filter(|ratio| !ratio.same(SAME) && ratio.value < 1.0);
        let figure = ratio.map(|_| point.figure.id.clone());
        LevelEffect { level, figure, ratio: ratio.map(|ratio| Times(ratio.value)) }
    };
    List(lowest.into_iter().map(effect).collect())
}
