//! The progress line: what it says at any moment.

use std::fmt;
use std::time::Instant;

use figure::format::{number, plain, plain_to, seconds};

/// Characters of the bar.
const BAR: usize = 20;

/// An estimated duration in whole seconds: the estimate is no better.
pub(crate) fn about(estimate: f64) -> String {
    let whole = estimate.ceil();
    if whole < 120.0 { format!("{whole} s") } else { seconds(whole) }
}

/// A part of a run of several.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// `2 of 6`.
    pub(crate) number: String,
    /// When it and all behind it end at the latest; `None` without a bound.
    pub(crate) end: Option<Instant>,
}

/// What is known of a running suite.
#[derive(Debug, Default)]
pub(crate) struct Line {
    part: Option<Part>,
    /// Seconds left of the whole run when it is drawn.
    run_left: Option<f64>,
    suite: String,
    done: f64,
    seconds_left: Option<f64>,
    /// The last round, or what is prepared.
    doing: String,
    /// Observation of the round that ends, in addition to its value.
    observation: Option<String>,
}

impl Line {
    /// At the start of a part of a run.
    pub(crate) fn of_part(part: Option<Part>, title: &str) -> Self {
        Line { part, doing: plain_to(title, 80), ..Line::default() }
    }

    /// At the start of a suite.
    pub(crate) fn of_suite(self, suite: &str) -> Self {
        Line { part: self.part, suite: plain_to(suite, 32), ..Line::default() }
    }

    /// `[2 of 6] ` in a run of several parts.
    pub(crate) fn prefix(&self) -> String {
        self.part.as_ref().map_or_else(String::new, |part| format!("[{}] ", part.number))
    }

    /// It is drawn now.
    pub(crate) fn at(&mut self, now: Instant) {
        let end = self.part.as_ref().and_then(|part| part.end);
        self.run_left = end.map(|end| end.saturating_duration_since(now).as_secs_f64());
    }

    /// Something is prepared.
    pub(crate) fn preparing(&mut self, what: &str) {
        self.doing = plain(what);
    }

    /// What is prepared, as a line of its own.
    pub(crate) fn prepared(&self) -> String {
        match self.suite.is_empty() {
            true => format!("{}{}", self.prefix(), self.doing),
            false => format!("{}{}: {}", self.prefix(), self.suite, self.doing),
        }
    }

    /// A round showed something.
    pub(crate) fn observed(&mut self, text: &str) {
        self.observation = Some(plain_to(text, 160));
    }

    /// A round ended.
    pub(crate) fn measured(
        &mut self,
        figure: &str,
        value: Option<f64>,
        unit: &str,
        used: bool,
        done: f64,
        seconds_left: f64,
    ) {
        self.done = if done.is_finite() { done.clamp(0.0, 1.0) } else { 0.0 };
        self.seconds_left = Some(seconds_left).filter(|left| left.is_finite() && *left >= 0.0);
        let value =
            value.map_or("no value".to_owned(), |value| format!("{} {}", number(value), plain_to(unit, 16)));
        let aside = if used { "" } else { " (disturbed, set aside)" };
        let observation = self.observation.take().map_or(String::new(), |text| format!("; {text}"));
        self.doing = format!("{} {value}{aside}{observation}", plain_to(figure, 48));
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = (self.done * BAR as f64) as usize;
        write!(f, "{}", self.prefix())?;
        write!(f, "{}{} {:>3.0} %", "█".repeat(full), "░".repeat(BAR - full), self.done * 100.0)?;
        match (self.run_left, self.seconds_left) {
            (Some(left), _) => write!(f, "  at most {} left", about(left))?,
            (None, Some(left)) => write!(f, "  {} left", about(left))?,
            (None, None) => {}
        }
        write!(f, "  {}", self.doing)
    }
}
