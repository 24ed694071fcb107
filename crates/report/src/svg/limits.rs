//! What values are held against, as lines of a chart.

use figure::Unit;
use figure::format::plain_to;

use crate::digits::with_unit;
use crate::grid::Grid;

/// A limit further above the values than this factor would press them flat; it is named, not drawn.
const FARTHEST_LIMIT: f64 = 2.5;

/// A limit's text, and its line.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// Limits as lines, each basis once; and in words those that are too far away to be drawn.
pub(super) fn limits(grids: &[&Grid], is_bars: bool, rows: &[usize], xs: &[f64]) -> (Vec<Line>, Vec<String>) {
    let mut lines: Vec<(Line, &Unit)> = Vec::new();
    let is_companion = grids.iter().any(|grid| grid.is_companion);
    let points = grids.iter().flat_map(|grid| {
        grid.values().flat_map(|column| grid.rows.iter().zip(column.cells.iter().copied()).enumerate())
    });
    let mut largest: f64 = 0.0;
    for (number, (row, figure)) in points {
        let Some(figure) = figure.filter(|figure| figure.value.is_some()) else { continue };
        largest = largest.max(figure.value.unwrap_or_default());
        let Some(limit) = figure.limit.as_ref().filter(|limit| limit.value.is_finite()) else { continue };
        let basis = plain_to(&limit.basis, 100);
        let place = if is_bars {
            rows.iter().position(|shown| *shown == number).unwrap_or_default() as f64
        } else {
            row.number.unwrap_or_default()
        };
        let at = (place, limit.value);
        match lines.iter_mut().find(|((known, _), _)| *known == basis) {
            Some(((_, line), _)) if !line.contains(&at) => line.push(at),
            Some(_) => {}
            None => lines.push(((basis, vec![at]), &figure.unit)),
        }
    }
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for ((basis, mut line), unit) in lines {
        let (low, high) = line.iter().fold((f64::MAX, f64::MIN), |(l, h), at| (l.min(at.1), h.max(at.1)));
        let value = if low == high {
            with_unit(high, unit)
        } else {
            format!("{} to {}", with_unit(low, unit), with_unit(high, unit))
        };
        let text = format!("limit {value}: {basis}");
        if high > FARTHEST_LIMIT * largest || low <= 0.0 {
            far.push(format!("{text} (not drawn)"));
            continue;
        }
        if is_bars {
            // A piece over each bar that it is the limit of.
            let pieces = line.iter().flat_map(|(row, limit)| [(*limit, *row), (*limit, row + 1.0)]);
            near.push((text, pieces.collect()));
            continue;
        }
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        if low == high || is_companion {
            let ends = xs.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            line = vec![(ends.0, high), (ends.1, high)];
        }
        near.push((text, line));
    }
    (near, far)
}
