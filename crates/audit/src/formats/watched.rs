//! Rates of tools that watch a system and print a row for each interval: sar, pidstat, vmstat.

use figure::evidence::audit::{CONTRADICTION, COUNT, LIFETIME, MOMENTS, SUBJECT};
use figure::format::{number, plain_to};
use figure::{Better, Evidence, Figure, Unit};

use crate::text;
use crate::{MAX_SUBJECT, SUITE};

/// Seconds of a day.
const DAY: f64 = 86400.0;
/// The most rows of one rate.
const MOST_ROWS: usize = 5000;
/// From this share on the mean that a tool prints and the mean of its rows are of different rows: intervals differ by less.
const APART: f64 = 0.25;
/// By what share intervals of one report may differ.
const UNEVEN: f64 = 0.25;

/// A rate over the intervals of a report.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// The tool's word in ids.
    pub tool: &'static str,
    /// The rest of the id.
    pub part: String,
    /// Its name for people; untrusted.
    pub name: String,
    /// What was watched; untrusted.
    pub subject: String,
    pub unit: Unit,
    /// For each row the seconds of its interval (0 where the text does not show them), and the rate.
    pub rows: Vec<(f64, f64)>,
    /// What the tool prints as the mean of its rows.
    pub mean: Option<f64>,
    /// Whether all rows of the mean are in the text.
    pub whole: bool,
    /// Whether it is a rate of page faults: what counts them is named.
    pub counts_faults: bool,
    /// Why the rows may be no rate of an interval: they are means since boot.
    pub since_boot: Option<String>,
    /// Why the rate cannot be.
    pub contradiction: Option<String>,
}

impl Watched {
    /// A rate without rows.
    pub fn of(tool: &'static str, part: &str, name: &str, unit: Unit) -> Watched {
        Watched {
            tool,
            part: part.to_owned(),
            name: name.to_owned(),
            subject: String::new(),
            unit,
            rows: Vec::new(),
            mean: None,
            whole: false,
            counts_faults: false,
            since_boot: None,
            contradiction: None,
        }
    }

    /// As a figure; `None` without a number.
    pub fn figure(self) -> Option<Figure> {
        let against = self.contradiction.clone().or_else(|| self.against_mean());
        let rows = if self.rows.is_empty() { vec![(0.0, self.mean?)] } else { self.rows };
        let name = plain_to(&figure::secrets::text(&format!("{} by {}", self.name, self.tool)), MAX_SUBJECT);
        let id = format!("{SUITE}.{}.{}", self.tool, self.part);
        let mut figure = Figure::planned(id, SUITE, name, self.unit, Better::Lower);
        if !self.subject.is_empty() {
            figure.conditions.set(SUBJECT, plain_to(&figure::secrets::text(&self.subject), MAX_SUBJECT));
        }
        figure.conditions.set(MOMENTS, true);
        against.into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
        let counts = self.counts_faults && rows.iter().all(|(seconds, _)| *seconds > 0.0);
        for (seconds, rate) in rows.into_iter().take(MOST_ROWS) {
            let mut evidence = Evidence::default();
            match &self.since_boot {
                Some(why) => evidence.put_unknown(LIFETIME, why.clone()),
                None if counts => {
                    evidence.put(LIFETIME, false);
                    evidence.put(COUNT, (rate * seconds).round());
                }
                None => {}
            }
            figure.rounds.push(text::round(seconds, rate, evidence));
        }
        Some(figure)
    }

    /// Why the printed mean is not one of these rows.
    fn against_mean(&self) -> Option<String> {
        let mean = self.mean.filter(|_| self.whole && !self.rows.is_empty())?;
        let seconds: f64 = self.rows.iter().map(|(seconds, _)| seconds).sum();
        let own = match seconds > 0.0 && self.rows.iter().all(|(seconds, _)| *seconds > 0.0) {
            true => self.rows.iter().map(|(seconds, rate)| seconds * rate).sum::<f64>() / seconds,
            false => self.rows.iter().map(|(_, rate)| rate).sum::<f64>() / self.rows.len() as f64,
        };
        // A number is printed with two decimals, or as a whole one.
        let apart = (mean - own).abs() - 1.0;
        (apart > APART * mean.max(own)).then(|| {
            format!("the mean is printed as {}, and its rows have a mean of {}", number(mean), number(own))
        })
    }
}

/// Halves of the day, as locales write them before or behind the time.
const MORNING: &[&str] = &["AM", "am", "上午", "午前", "오전"];
const AFTERNOON: &[&str] = &["PM", "pm", "下午", "午後", "오후"];

/// The second of the day of a clock: `12:53:20`, `12:53:20 PM`, `下午 12:53:20`, `12時53分20秒`.
pub(super) fn clock(words: &[&str]) -> Option<f64> {
    let time = words.iter().find(|word| is_time(word))?;
    let parts: Vec<f64> = time
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .filter_map(text::number)
        .collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let hours = match (has(MORNING), has(AFTERNOON)) {
        (true, _) => hours % 12.0,
        (_, true) => hours % 12.0 + 12.0,
        _ => hours,
    };
    Some(hours * 3600.0 + minutes * 60.0 + seconds).filter(|second| *second <= DAY)
}

/// Whether a word is a time, and not what stands before means.
pub(super) fn is_time(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Seconds from one clock to the next; 0 where one is not known.
pub(super) fn between(from: Option<f64>, to: Option<f64>) -> f64 {
    match (from, to) {
        (Some(from), Some(to)) if to >= from => to - from,
        (Some(from), Some(to)) if from <= DAY => to + DAY - from,
        _ => 0.0,
    }
}

/// Whether rows with these intervals follow one another without a gap.
pub(super) fn is_even(intervals: &[f64]) -> bool {
    let first = intervals.first().copied().unwrap_or(0.0);
    // A clock of whole seconds may be a second off.
    first > 0.0 && intervals.iter().all(|own| (own - first).abs() <= UNEVEN * first + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_as_locales_write_them() {
        for (words, second) in [
            ("12:53:20", Some(46400.0)),
            ("12:00:08 AM", Some(8.0)),
            ("12:10:05 PM", Some(43805.0)),
            ("01:10:05 PM", Some(47405.0)),
            ("下午 01:10:05", Some(47405.0)),
            ("12時53分20秒", Some(46400.0)),
            ("Average:", None),
            ("1:2", None),
            ("99:99:99", None),
            ("", None),
        ] {
            assert_eq!(clock(&words.split(' ').collect::<Vec<_>>()), second, "{words}");
        }
        assert_eq!((between(Some(86390.0), Some(10.0)), between(None, Some(1.0))), (20.0, 0.0));
    }

    #[test]
    fn a_mean_is_of_its_rows() {
        let of = |mean: f64, rows: &[f64]| Watched {
            rows: rows.iter().map(|rate| (1.0, *rate)).collect(),
            mean: Some(mean),
            whole: true,
            ..Watched::of("sar", "faults", "faults", Unit::PER_S)
        };
        assert_eq!(of(20.0, &[10.0, 30.0]).against_mean(), None);
        assert_eq!(of(0.01, &[0.0, 0.02]).against_mean(), None);
        assert!(of(200.0, &[10.0, 30.0]).against_mean().is_some());
        assert_eq!(Watched { whole: false, ..of(200.0, &[10.0, 30.0]) }.against_mean(), None);
    }
}
