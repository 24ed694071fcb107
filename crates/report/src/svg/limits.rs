//! Limits as lines of a chart.

use figure::Unit;
use figure::format::plain_to;

use super::chart::{Form, Line, Series, points};
use crate::digits::with_unit;
use crate::grid::Grid;
use crate::groups;

/// A limit further above the values than this factor would press them flat; it is named, not drawn.
const FARTHEST_LIMIT: f64 = 2.5;

/// Limits as lines, each basis once; and in words those that are too far away to be drawn.
pub(super) fn limits(series: &[Series], grid: &Grid, form: Form) -> (Vec<Line>, Vec<String>) {
    let is_bars = form == Form::Bars;
    let unit = grid.columns.first().and_then(|column| column.unit).cloned().unwrap_or(Unit::ONE);
    let values = points(series).map(|point| if is_bars { point.at.0 } else { point.at.1 });
    let largest = values.fold(0.0, f64::max);
    let xs = points(series).map(|point| point.at.0);
    let (first, last) = xs.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
    let limits = points(series).filter_map(|point| {
        let limit = point.limit.as_ref().filter(|limit| limit.value.is_finite())?;
        let place = if is_bars { point.at.1.floor() } else { point.at.0 };
        Some((plain_to(&limit.basis, 100), (place, limit.value)))
    });
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (basis, mut line) in groups::in_order(limits) {
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        line.dedup();
        let (low, high) = line.iter().fold((f64::MAX, f64::MIN), |(l, h), at| (l.min(at.1), h.max(at.1)));
        let value = if low == high {
            with_unit(high, &unit)
        } else {
            format!("{} to {}", with_unit(low, &unit), with_unit(high, &unit))
        };
        let text = format!("limit {value}: {basis}");
        if high > FARTHEST_LIMIT * largest || low <= 0.0 {
            far.push(format!("{text} (not drawn)"));
        } else if is_bars {
            // A piece over each bar that it is the limit of.
            let pieces = line.iter().flat_map(|(row, limit)| [(*limit, *row), (*limit, row + 1.0)]);
            near.push((text, pieces.collect()));
        } else if low == high || grid.is_companion {
            near.push((text, vec![(first, high), (last, high)]));
        } else {
            near.push((text, line));
        }
    }
    (near, far)
}
