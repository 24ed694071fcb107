//! Lines of `perf stat`: an event, its count, and what perf derives from it.

use crate::text::{Printed, number, number_between};

/// Units that may stand between a count and its event.
const UNITS: &[&str] = &["msec", "nsec", "ns", "usec", "sec", "Bytes", "KiB", "MiB", "GiB", "Joules", "C"];

/// One line of events.
pub struct Event<'a> {
    /// As perf prints it: `cycles:u`, `cpu_core/cycles/`.
    pub name: &'a str,
    /// What it is counted in, where that is no number of events.
    pub unit: &'a str,
    /// Its count, or perf's word for why there is none.
    pub count: Result<Printed, &'a str>,
    /// Seconds that it was counted, where they are printed.
    pub seconds: Option<f64>,
    /// What perf derives from it, and what it calls that.
    pub metric: Option<(Printed, String)>,
    /// Share of the time in which it was counted, where that is printed.
    pub share: Option<f64>,
    /// Error of the mean over several runs, where that is printed.
    pub error: Option<f64>,
}

impl Event<'_> {
    /// The event without what says where it was counted: `cycles` of `cpu_core/cycles/` and `cycles:u`.
    pub fn plain(&self) -> &str {
        let name = self.name.trim_end_matches('/');
        let name = name.rsplit('/').next().unwrap_or(name);
        name.split(':').next().unwrap_or(name)
    }

    /// The name of another event that was counted in the same place.
    pub fn beside(&self, other: &str) -> String {
        self.name.replacen(self.plain(), other, 1)
    }

    /// Its count, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.count.ok().map(|count| count.value)
    }
}

/// A line of text: count, unit, event, `#` what is derived, share of the time that it was counted.
pub fn text(line: &str) -> Option<Event<'_>> {
    let (counts, notes) = line.split_once('#').unwrap_or((line, line));
    let (count, rest) = match counts.strip_prefix('<') {
        Some(rest) => {
            let (why, rest) = rest.split_once('>')?;
            (Err(why), rest)
        }
        None => {
            let (token, rest) = counts.split_once(char::is_whitespace)?;
            (Ok(Printed::of(token)?), rest)
        }
    };
    let mut words = rest.split_whitespace();
    let (mut unit, mut name) = ("", words.next()?);
    if UNITS.contains(&name) {
        (unit, name) = (name, words.next()?);
    }
    // Times and prose begin with a number as well.
    let is_event = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(name, "seconds" | "+-");
    let next = words.next();
    let is_alone = next.is_none_or(|word| word.starts_with(['(', '[']));
    if let Some(own) = next.and_then(|word| UNITS.iter().find(|unit| word == format!("({unit})"))) {
        unit = own;
    }
    if !is_event || !is_alone {
        return None;
    }
    let metric = line.contains('#').then(|| {
        let own = notes.split(['(', '[']).next().unwrap_or_default().trim();
        let (token, name) = own.split_once(char::is_whitespace).unwrap_or((own, ""));
        Some((Printed::of(token.trim_end_matches('%'))?, metric_name(token, name)))
    });
    Some(Event {
        name,
        unit,
        count,
        seconds: None,
        metric: metric.flatten(),
        share: share(notes),
        error: error(notes),
    })
}

/// What perf calls a derived number; its percent sign may stand at the number.
fn metric_name(token: &str, name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if token.ends_with('%') { format!("% {name}").trim_end().to_owned() } else { name }
}

/// The share of the time in parentheses or brackets: `(83.40%)`, `[83.43%]`.
pub fn share(notes: &str) -> Option<f64> {
    notes.split(['(', '[']).skip(1).find_map(|part| {
        let digits = part.split([')', ']']).next()?.trim().strip_suffix('%')?;
        number_between(digits, 0.0, 100.0).map(|percent| percent / 100.0)
    })
}

/// The error of the mean: `( +-  2.58% )`.
pub fn error(notes: &str) -> Option<f64> {
    let digits = notes.rsplit_once("( +-")?.1.split('%').next()?;
    number_between(digits.trim(), 0.0, 1e6).map(|percent| percent / 100.0)
}

/// A line of `perf stat -x,`: count, unit, event, nanoseconds, percent, and what is derived.
pub fn csv(line: &str) -> Option<Event<'_>> {
    let fields: Vec<&str> = line.splitn(9, ',').map(str::trim).collect();
    let [count, unit, name, time, percent, ..] = fields[..] else { return None };
    let is_event = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(char::is_whitespace);
    let is_unit = unit.is_empty() || UNITS.contains(&unit);
    let is_time = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let percent = number_between(percent, 0.0, 100.0)?;
    let count = match count {
        "<not counted>" => Err("not counted"),
        "<not supported>" => Err("not supported"),
        _ => Ok(Printed::of(count)?),
    };
    let metric = fields.get(5).and_then(|metric| Printed::of(metric));
    let metric = metric.zip(fields.get(6)).map(|(metric, name)| (metric, metric_name("", name)));
    (is_event && is_unit && is_time && number(time).is_some()).then_some(Event {
        name,
        unit,
        count,
        seconds: number(time).map(|nanoseconds| nanoseconds / 1e9),
        metric,
        share: Some(percent / 100.0),
        error: None,
    })
}
