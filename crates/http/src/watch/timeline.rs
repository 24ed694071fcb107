//! Columns over time in bounded memory: at most 600 points, each the mean of the same number of snapshots.

use figure::series::{Column, MAX_TIMELINE_POINTS, Timeline};
use figure::{Reading, Unit};

use super::sample::{Kind, Sample};

/// Most columns. A watcher has about 120.
const MAX_COLUMNS: usize = 512;

#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// End and width of each point in seconds.
    ends: Vec<f64>,
    widths: Vec<f64>,
    /// With the first reason of a missing value.
    columns: Vec<(Column, Option<String>)>,
    /// Snapshots per point: 1, 2, 4, …
    stride: usize,
    /// Snapshots in the last point, if incomplete.
    filled: usize,
}

impl Columns {
    pub fn new() -> Columns {
        Columns { stride: 1, ..Columns::default() }
    }

    /// Adds the changes of a snapshot at `end` seconds, `width` seconds after the previous one. Growth of
    /// counters becomes a rate per second.
    pub fn push(&mut self, end: f64, width: f64, changes: &[Sample]) {
        let is_new = self.filled == 0;
        if is_new && self.ends.len() == MAX_TIMELINE_POINTS {
            self.halve();
        }
        let (points, before) =
            (self.ends.len(), if is_new { 0.0 } else { self.widths.last().copied().unwrap_or(0.0) });
        for sample in changes {
            let exists = self.columns.iter().any(|(column, _)| column.name == sample.name);
            if !exists && self.columns.len() < MAX_COLUMNS {
                let (name, unit, values) = (sample.name.to_string(), shown(sample), vec![None; points]);
                self.columns.push((Column { name, unit, values }, None));
            }
        }
        for (column, missing) in &mut self.columns {
            let now = match changes.iter().find(|sample| sample.name == column.name) {
                Some(Sample { value: Reading::Value(value), kind: Kind::Counter, .. }) => Some(value / width),
                Some(Sample { value: Reading::Value(value), kind: Kind::Level, .. }) => Some(*value),
                Some(Sample { value: Reading::Unknown(reason), .. }) => {
                    missing.get_or_insert_with(|| reason.clone());
                    None
                }
                None => None,
            };
            let now = now.filter(|value| value.is_finite());
            match column.values.last_mut() {
                Some(last) if !is_new => *last = mean(*last, before, now, width),
                _ => column.values.push(now),
            }
        }
        if is_new {
            self.ends.push(end);
            self.widths.push(width);
        } else if let (Some(last), Some(sum)) = (self.ends.last_mut(), self.widths.last_mut()) {
            (*last, *sum) = (end, *sum + width);
        }
        self.filled = (self.filled + 1) % self.stride;
    }

    /// Merges pairs of points; from here on a point takes twice as many snapshots.
    fn halve(&mut self) {
        let widths = std::mem::take(&mut self.widths);
        self.ends = self.ends.chunks(2).filter_map(|pair| pair.last().copied()).collect();
        self.widths = widths.chunks(2).map(|pair| pair.iter().sum()).collect();
        for (column, _) in &mut self.columns {
            let pairs = column.values.chunks(2).zip(widths.chunks(2));
            column.values = pairs
                .map(|(values, widths)| match (values, widths) {
                    (&[left, right], &[width, right_width]) => mean(left, width, right, right_width),
                    (values, _) => values.first().copied().flatten(),
                })
                .collect();
        }
        self.stride *= 2;
    }

    pub fn timeline(&self) -> Timeline {
        let columns = self.columns.iter().map(|(column, _)| column.clone()).collect();
        Timeline { seconds: self.ends.clone(), columns }
    }

    /// Columns with a missing value, with the first reason.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.columns.iter().filter_map(|(column, reason)| Some((column.name.as_str(), reason.as_deref()?)))
    }
}

/// Mean weighted by width; `None` if either value is missing.
fn mean(left: Option<f64>, width: f64, right: Option<f64>, right_width: f64) -> Option<f64> {
    let sum = left? * width + right? * right_width;
    Some(sum / (width + right_width)).filter(|mean| mean.is_finite())
}

/// Unit of a column. Seconds per second are CPUs, or a share.
fn shown(sample: &Sample) -> Unit {
    match (sample.kind, sample.unit.symbol()) {
        (Kind::Level, _) => sample.unit.clone(),
        (Kind::Counter, "s") => Unit::ONE,
        (Kind::Counter, "1") => Unit::PER_S,
        (Kind::Counter, symbol) => Unit(format!("{symbol}/s").into()),
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    fn snapshot(count: f64, threads: Reading<f64>) -> [Sample; 2] {
        [
            Sample::counter("switches", Unit::ONE, Reading::Value(count)),
            Sample::level("threads", Unit::ONE, threads),
        ]
    }

    #[test]
    fn counters_become_rates() {
        let mut columns = Columns::new();
        columns.push(2.0, 2.0, &snapshot(10.0, Reading::Value(4.0)));
        columns.push(3.0, 1.0, &[Sample::counter("busy", Unit::SECONDS, Reading::Value(0.5))]);
        let timeline = columns.timeline();
        assert_eq!(timeline.seconds, [2.0, 3.0]);
        let column = |at: usize| (timeline.columns[at].unit.symbol(), timeline.columns[at].values.clone());
        assert_eq!(column(0), ("1/s", vec![Some(5.0), None]));
        assert_eq!(column(1), ("1", vec![Some(4.0), None]));
        assert_eq!(column(2), ("1", vec![None, Some(0.5)]), "it came later");
    }

    #[test]
    fn an_unknown_value_leaves_a_gap_and_a_reason() {
        let mut columns = Columns::new();
        columns.push(1.0, 1.0, &snapshot(1.0, Reading::unknown("gone")));
        assert_eq!(columns.timeline().columns[1].values, [None]);
        assert_eq!(columns.unknown().collect::<Vec<_>>(), [("threads", "gone")]);
    }

    proptest! {
        #[test]
        fn points_are_bounded_and_sums_stay(snapshots in 1usize..3000) {
            let mut columns = Columns::new();
            for at in 0..snapshots {
                columns.push(at as f64 + 1.0, 1.0, &snapshot(at as f64, Reading::Value(3.0)));
            }
            let timeline = columns.timeline();
            prop_assert!(timeline.seconds.len() <= MAX_TIMELINE_POINTS);
            let points = timeline.seconds.len();
            prop_assert!(snapshots <= MAX_TIMELINE_POINTS || points >= MAX_TIMELINE_POINTS / 2);
            prop_assert_eq!(timeline.seconds.last().copied(), Some(snapshots as f64));
            let mut start = 0.0;
            let mut sum = 0.0;
            for (end, rate) in timeline.seconds.iter().zip(&timeline.columns[0].values) {
                sum += rate.unwrap() * (end - start);
                start = *end;
            }
            let exact = (snapshots * (snapshots - 1) / 2) as f64;
            prop_assert!((sum - exact).abs() <= exact * 1e-9, "{} {}", sum, exact);
            prop_assert!(timeline.columns[1].values.iter().all(|value| value.is_some_and(|value| (value - 3.0).abs() < 1e-9)));
        }
    }
}
