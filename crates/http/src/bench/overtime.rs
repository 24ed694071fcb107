//! Adds the client's columns to a timeline. Pure.

use figure::Unit;
use figure::series::{Column, Timeline};

use crate::record::Histogram;
use crate::record::interval::{Intervals, LENGTH, Slot};

const SLOT: f64 = LENGTH as f64 * 1e-9;

/// Adds answers and failures per second, and the latency of the answers (median and p99, ms). A point gets
/// the values of the whole slots that it covers. The window lasted `seconds`.
pub fn add(timeline: &mut Timeline, intervals: &Intervals, seconds: f64) {
    let slots = intervals.slots();
    let mut begin = 0.0;
    let mut columns: [Vec<Option<f64>>; 4] = Default::default();
    for end in &timeline.seconds {
        let first = (begin / SLOT + 0.5).floor().min(slots.len().saturating_sub(1) as f64) as usize;
        let behind = ((end / SLOT + 0.5).floor() as usize).clamp(first + 1, slots.len().max(first + 1));
        let point = values(slots.get(first..behind).unwrap_or_default(), first, seconds);
        for (column, value) in columns.iter_mut().zip(point) {
            column.push(value);
        }
        begin = *end;
    }
    let names = [
        ("load.answers", Unit::PER_S),
        ("load.failures", Unit::PER_S),
        ("load.p50", Unit::of("ms")),
        ("load.p99", Unit::of("ms")),
    ];
    let column = |((name, unit), values): ((&str, Unit), _)| Column { name: name.to_owned(), unit, values };
    timeline.columns.splice(0..0, names.into_iter().zip(columns).map(column));
}

/// The values of consecutive slots, the first of which has index `first`.
fn values(slots: &[Slot], first: usize, seconds: f64) -> [Option<f64>; 4] {
    let width = (seconds - first as f64 * SLOT).min(slots.len() as f64 * SLOT);
    if slots.is_empty() || width <= 0.0 {
        return [None; 4];
    }
    let mut latency = Histogram::coarse();
    for slot in slots {
        latency.merge(&slot.latency);
    }
    let a_second = |count: fn(&Slot) -> u64| Some(slots.iter().map(count).sum::<u64>() as f64 / width);
    let quantile = |q: f64| latency.quantile(q).map(|nanoseconds| nanoseconds as f64 * 1e-6);
    [a_second(|slot| slot.answered), a_second(|slot| slot.failed), quantile(0.5), quantile(0.99)]
}

#[cfg(test)]
mod unit {
    use super::*;

    const MS: u64 = 1_000_000;

    fn load() -> Intervals {
        let mut intervals = Intervals::default();
        for at in 0..300 {
            intervals.answer(at * 10 * MS, if at < 200 { MS } else { 50 * MS });
        }
        intervals.failure(2500 * MS);
        intervals
    }

    fn columns(ends: &[f64], intervals: &Intervals, seconds: f64) -> Vec<Vec<Option<f64>>> {
        let mut timeline = Timeline { seconds: ends.to_vec(), columns: Vec::new() };
        add(&mut timeline, intervals, seconds);
        timeline.columns.into_iter().map(|column| column.values).collect()
    }

    #[test]
    fn a_point_has_the_values_of_its_second() {
        let values = columns(&[1.001, 2.002, 3.003], &load(), 3.0);
        assert_eq!(values[0], [Some(100.0), Some(100.0), Some(100.0)]);
        assert_eq!(values[1], [Some(0.0), Some(0.0), Some(1.0)]);
        assert!((values[2][1].unwrap() - 1.0).abs() < 0.1, "{values:?}");
        assert!((values[3][2].unwrap() - 50.0).abs() < 5.0, "{values:?}");
    }

    #[test]
    fn points_of_other_lengths() {
        // Two points of half a second share a slot; one of two seconds has two.
        assert_eq!(columns(&[0.5, 1.0], &load(), 3.0)[0], [Some(100.0), Some(100.0)]);
        assert_eq!(columns(&[2.0, 3.0], &load(), 3.0)[0], [Some(100.0), Some(100.0)]);
        // The last slot is shorter than a second, and the last point is after its end.
        assert_eq!(columns(&[1.0, 2.0, 2.6], &load(), 2.5)[0][2], Some(200.0), "100 answers in 0.5 s");
        assert_eq!(columns(&[0.3], &Intervals::default(), 0.3)[0], [None]);
    }
}
