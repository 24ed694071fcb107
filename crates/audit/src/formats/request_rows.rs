//! Tables with a row for each request, as hey and oha write them in CSV: the load and its latencies follow from the rows.

use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, half_digit, number};

/// Where a table has what matters, by the number of the column.
pub(super) struct Columns {
    /// Seconds from the beginning of the run to that of the request.
    pub start: usize,
    /// Seconds that the request took.
    pub duration: usize,
    pub status: usize,
    /// How many columns there are.
    pub all: usize,
}

/// Quantiles of the latency that are taken from the rows.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// The concurrency is taken from the rows where a request lasts so many times what rounding may move its ends.
const MOVES: f64 = 10.0;
/// Fewer rows are no table.
pub(super) const LEAST_ROWS: usize = 3;
/// Statuses of HTTP.
const STATUSES: std::ops::Range<f64> = 100.0..600.0;

struct Row {
    start: f64,
    duration: f64,
    status: f64,
}

impl Columns {
    /// The numbers of a row of this table.
    fn row(&self, line: &str) -> Option<Row> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != self.all {
            return None;
        }
        let at = |column: usize| number(fields.get(column)?);
        let status = at(self.status).filter(|status| STATUSES.contains(status) && status.fract() == 0.0)?;
        Some(Row { start: at(self.start)?, duration: at(self.duration)?, status })
    }

    /// Whether a line is such a row.
    pub(super) fn is_row(&self, line: &str) -> bool {
        self.row(line).is_some()
    }

    /// The load that the rows of a run show, without what only the command shows.
    ///
    /// # Errors
    /// There is no row, or they are all of the same moment.
    pub(super) fn load(&self, run: &Run) -> Result<Load, String> {
        let rows: Vec<Row> = run.lines.iter().filter_map(|line| self.row(line)).collect();
        let count = rows.len() as f64;
        let begin = rows.iter().map(|row| row.start).fold(f64::INFINITY, f64::min);
        let end = rows.iter().map(|row| row.start + row.duration).fold(0.0, f64::max);
        let seconds = end - begin;
        if rows.is_empty() || seconds.is_nan() || seconds <= 0.0 {
            return Err("has no rows that show how long the run lasted".to_owned());
        }
        let digits = run.lines.iter().find(|line| self.is_row(line));
        let off = digits
            .and_then(|line| line.split(',').nth(self.duration))
            .map_or(0.0, |field| half_digit(field.trim()));
        let mut latencies: Vec<f64> = rows.iter().map(|row| row.duration).collect();
        latencies.sort_by(f64::total_cmp);
        let mean = latencies.iter().sum::<f64>() / count;
        let at = |quantile: f64| {
            let rank = (quantile * count).ceil().max(1.0) as usize - 1;
            latencies.get(rank).map(|value| (quantile, Printed { value: *value, off }))
        };
        let bound = |value: Option<&f64>| value.map(|value| Printed { value: *value, off });
        let refused = rows.iter().filter(|row| !(200.0..400.0).contains(&row.status)).count() as f64;
        let most = (mean >= MOVES * off).then(|| most_at_once(&rows, off));
        Ok(Load {
            rate: Some(Printed { value: count / seconds, off: 0.0 }),
            seconds: Some(Printed { value: seconds, off: 2.0 * off }),
            failed: vec![("status", refused)],
            recorded: Some(count),
            latency: Statistics {
                least: bound(latencies.first()),
                // Roundings cancel one another.
                mean: Some(Printed { value: mean, off: off / count.sqrt() }),
                most: bound(latencies.last()),
                deviation: None,
                quantiles: QUANTILES.iter().filter_map(|quantile| at(*quantile)).collect(),
            },
            connections: most,
            connections_from: most
                .map_or(String::new(), |_| "from the rows: the most requests at once".to_owned()),
            ..Load::default()
        })
    }
}

/// The most requests that were under way at the same time.
fn most_at_once(rows: &[Row], off: f64) -> f64 {
    // Start and end are off by half a digit each: a request that follows another does not overlap it.
    let ends = rows.iter().map(|row| (row.start + row.duration - 3.0 * off, -1.0));
    let mut moments: Vec<(f64, f64)> = rows.iter().map(|row| (row.start, 1.0)).chain(ends).collect();
    moments.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let (mut now, mut most) = (0.0_f64, 0.0_f64);
    for (_, change) in moments {
        now += change;
        most = most.max(now);
    }
    most
}
