//! Which tests are out of line: the ratio of a pair of machines is nearly the same for tests that exercise the same thing.
//!
//! Three rules, in this order, each test named once. *Decomposition*: a test that is made of others takes on both machines what
//! they take; what is left for it alone changes from machine to machine as its parts do. *Placement*: two tasks that the
//! scheduler places are as fast as when they are pinned to the places that there are. *Residuals*: within a class, or among all
//! tests where a class is too small, ln ratio less its median, compared with their spread.
//!
//! A low ratio alone is no finding: in study 2 Execl and Whetstone are as low as context switching, and contradict nothing.

use figure::stats::{mad, median, range};
use figure::{format, format::plain_to};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cause::cause;
use crate::classes::{self, MADE, Made};
use crate::compared::Compared;
use crate::gate::Side;

/// A test differs from what its parts predict if it is this many times as fast or slow (study 2's Xeon against its Atom: 1.7).
/// Two runs on one machine in use differ by less.
const AGAINST_PARTS: f64 = 1.25;
/// … and if its own work, beyond that of its parts, is this many times as fast or slow (there: 2.1): less lies within what two machines
/// differ in. The same for a test without further work, and for tasks that are free against the pinned ones.
const CONTRADICTION: f64 = 1.5;
/// Robust z beyond which a value is an outlier (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993).
const OUTLIER: f64 = 3.5;
/// A residual below this is not worth a word, however narrow the spread.
const WORTH: f64 = 0.10;
/// The least spread that is believed: with identical ratios the median deviation is 0.
const LEAST_SPREAD: f64 = 0.005;
/// The median absolute deviation of a normal distribution is its standard deviation by this.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Fewer tests than this have no spread to compare with.
const LEAST_TESTS: usize = 6;
/// Fewer others than this do not decide which of several tests is out of line.
const LEAST_OTHERS: usize = 3;

/// A test that is out of line.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Abnormal {
    /// The figure's id.
    pub id: String,
    /// Its name for people; untrusted.
    pub name: String,
    /// Its class.
    pub class: String,
    /// How many times as good it is in the other record.
    pub ratio: f64,
    /// How many times as good it would be, were it in line.
    pub expected: f64,
    /// By which rule.
    pub rule: Rule,
    /// The evidence, with numbers.
    pub seen: String,
    /// The likely cause.
    pub cause: String,
    /// Causes that are ruled out: the same in both records.
    pub ruled_out: Vec<String>,
    /// Causes that the records do not have.
    pub not_recorded: Vec<String>,
}

/// The rule by which a test is out of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Against its component tests.
    Decomposition,
    /// Against the same with pinned tasks.
    Placement,
    /// Against the other tests.
    Residual,
}

/// A figure that has a ratio, in both records.
struct Entry<'a> {
    a: Side<'a>,
    b: Side<'a>,
    figure: &'a Compared,
    /// ln of the ratio.
    log: f64,
    /// Its interval; the ratio itself where there is none.
    span: [f64; 2],
    error: f64,
    /// Seconds, or another unit of time, that one operation takes on each side.
    costs: [f64; 2],
}

impl<'a> Entry<'a> {
    fn of(a: Side<'a>, b: Side<'a>, figure: &'a Compared) -> Option<Entry<'a>> {
        let ratio = figure.merit().filter(|ratio| ratio.value.is_finite() && ratio.value > 0.0)?;
        let log = ratio.value.ln();
        let cost = |side: Side| Some(1.0 / classes::rate(side.figure, side.figure.value?));
        Some(Entry {
            a,
            b,
            figure,
            log,
            span: [ratio.low, ratio.high].map(|end| end.map_or(log, f64::ln)),
            error: ratio.error.unwrap_or(0.0),
            costs: [cost(a)?, cost(b)?],
        })
    }

    /// The shortest way from the interval to `to`, with its sign; 0 within it.
    fn distance(&self, to: f64) -> f64 {
        let [low, high] = self.span;
        (low - to).max(0.0) + (high - to).min(0.0)
    }

    /// The name of UnixBench's test that it is, if it is one.
    fn test(&self) -> Option<&'static str> {
        classes::test(self.a.figure)
    }

    /// How many copies of its test it is of.
    fn copies(&self) -> f64 {
        classes::copies(self.a.figure)
    }

    fn is(&self, other: &Entry) -> bool {
        self.figure.id == other.figure.id
    }

    fn abnormal(&self, expected: f64, rule: Rule, seen: String) -> Abnormal {
        let (cause, ruled_out, not_recorded) = cause(&self.a, &self.b, &self.figure.class);
        Abnormal {
            id: self.figure.id.clone(),
            name: self.figure.name.clone(),
            class: self.figure.class.clone(),
            ratio: self.log.exp(),
            expected: expected.exp(),
            rule,
            seen,
            cause,
            ruled_out,
            not_recorded,
        }
    }
}

/// The tests that are out of line.
pub(super) fn abnormal(sides: &[[Side; 2]], figures: &[Compared]) -> Vec<Abnormal> {
    let entries: Vec<Entry> =
        sides.iter().zip(figures).filter_map(|([a, b], figure)| Entry::of(*a, *b, figure)).collect();
    let rules = [decomposed(&entries), placed(&entries), residuals(&entries)];
    let mut by_id = IndexMap::new();
    for abnormal in rules.into_iter().flatten() {
        by_id.entry(abnormal.id.clone()).or_insert(abnormal);
    }
    by_id.into_values().collect()
}

fn times(log: f64) -> String {
    format!("{}x", format::number(log.exp()))
}

fn quoted(entry: &Entry) -> String {
    plain_to(&entry.figure.name, 60)
}

/// Tests that are not what their parts predict.
fn decomposed(entries: &[Entry]) -> Vec<Abnormal> {
    // Several copies of a test are placed, and disturb one another, in their own way.
    let alone = |name: &str| entries.iter().find(|entry| entry.test() == Some(name) && entry.copies() == 1.0);
    let abnormal = |made: &Made| {
        let part = |(part, weight): &(&str, f64)| Some((alone(part)?, *weight));
        let parts: Option<Vec<(&Entry, f64)>> = made.parts.iter().map(part).collect();
        contradiction(entries, made, alone(made.test)?, &parts?)
    };
    MADE.iter().filter_map(abnormal).collect()
}

/// A test against its parts; all other tests decide which of them is out of line.
fn contradiction(entries: &[Entry], made: &Made, test: &Entry, parts: &[(&Entry, f64)]) -> Option<Abnormal> {
    let of_parts =
        [0, 1].map(|side| parts.iter().map(|(part, weight)| weight * part.costs[side]).sum::<f64>());
    let expected = (of_parts[0] / of_parts[1]).ln();
    let off = test.distance(expected).abs();
    let names: Vec<String> = parts.iter().map(|(part, _)| quoted(part)).collect();
    let (a, b) = (test.a.letter, test.b.letter);
    let from = format!("its parts ({}) are {} as fast in {b}", names.join(", "), times(expected));
    let seen = match made.rest {
        None if off < CONTRADICTION.ln() => return None,
        None => format!("{from}, which predicts the same of it: it is {}", times(test.log)),
        Some((what, many)) => {
            let rest = [0, 1].map(|side| test.costs[side] - of_parts[side]);
            let is_in_line = rest.iter().all(|rest| *rest > 0.0)
                && ((rest[0] / rest[1]).ln() - expected).abs() < CONTRADICTION.ln();
            // One that is below its parts on both machines does not do them.
            if rest.iter().all(|rest| *rest <= 0.0) || off < AGAINST_PARTS.ln() || is_in_line {
                return None;
            }
            let each = |rest: f64, none: &str| match rest > 0.0 {
                true => format::seconds(rest / many),
                false => none.to_owned(),
            };
            let left = rest.map(|rest| each(rest, "nothing"));
            let usual = each(rest[0] / expected.exp(), "as much");
            format!(
                "{from}; what they leave for {what} is {} in {a} and {} in {b}, where {usual} was to be expected",
                left[0], left[1]
            )
        }
    };
    let involved: Vec<&Entry> = parts.iter().map(|(part, _)| *part).chain([test]).collect();
    let others = tests_like(entries, test).filter(|other| !involved.iter().any(|entry| entry.is(other)));
    let others: Vec<f64> = others.map(|other| other.log).collect();
    let middle = median(&others).filter(|_| others.len() >= LEAST_OTHERS);
    let farthest = middle.and_then(|middle| {
        let distance = |entry: &Entry| (entry.log - middle).abs();
        Some((involved.into_iter().max_by(|x, y| distance(x).total_cmp(&distance(y)))?, middle))
    });
    Some(match farthest.filter(|(culprit, _)| !culprit.is(test)) {
        None => test.abnormal(expected, Rule::Decomposition, seen),
        Some((culprit, middle)) => {
            let seen = format!(
                "{} is made of it and contradicts it: {}, against {} of this one; the other tests have {}",
                quoted(test),
                times(test.log),
                times(culprit.log),
                times(middle)
            );
            culprit.abnormal(middle, Rule::Decomposition, seen)
        }
    })
}

/// The tests that a test is one of: UnixBench's, by as many copies.
fn tests_like<'a>(entries: &'a [Entry<'a>], test: &'a Entry) -> impl Iterator<Item = &'a Entry<'a>> {
    let is_like = |entry: &&Entry| {
        entry.test().is_some()
            && entry.copies() == test.copies()
            && entry.a.figure.series == test.a.figure.series
    };
    entries.iter().filter(is_like)
}

/// Free tasks that are neither as fast as any pinned ones nor between two of them.
fn placed(entries: &[Entry]) -> Vec<Abnormal> {
    let abnormal = |entry: &Entry| {
        let way = classes::free_way(entry.a.figure)?;
        let is_pinned = |other: &&Entry| {
            classes::pinned_way(other.a.figure).as_ref() == Some(&way)
                && other.figure.unit == entry.figure.unit
        };
        let logs: Vec<f64> = entries.iter().filter(is_pinned).map(|other| other.log).collect();
        let (low, high) = range(&logs)?;
        let (below, above) = (entry.distance(low).min(0.0), entry.distance(high).max(0.0));
        if below.abs().max(above) < CONTRADICTION.ln() {
            return None;
        }
        let pinned = if low == high { times(low) } else { format!("{} to {}", times(low), times(high)) };
        let (b, free) = (entry.b.letter, times(entry.log));
        let seen =
            format!("with its two tasks pinned it is {pinned} as fast in {b}; left to the scheduler {free}");
        Some(entry.abnormal((low + high) / 2.0, Rule::Placement, seen))
    };
    entries.iter().filter_map(abnormal).collect()
}

/// Tests that are far from the others of their class, or from all tests where the class is too small.
fn residuals(entries: &[Entry]) -> Vec<Abnormal> {
    let is_headline =
        |entry: &&Entry| entry.a.figure.series.is_none() && entry.a.figure.derived_from.is_empty();
    let abnormal = |entry: &Entry| {
        let is_of_class = |other: &&Entry| {
            other.figure.suite == entry.figure.suite
                && other.figure.class == entry.figure.class
                && other.copies() == entry.copies()
        };
        let of_class: Vec<&Entry> = entries.iter().filter(is_headline).filter(is_of_class).collect();
        if of_class.len() >= LEAST_TESTS {
            return residual(entry, &of_class, &format!("the class {}", entry.figure.class));
        }
        entry.test()?;
        residual(entry, &tests_like(entries, entry).collect::<Vec<_>>(), "all tests")
    };
    entries.iter().filter(is_headline).filter_map(abnormal).collect()
}

fn residual(entry: &Entry, among: &[&Entry], group: &str) -> Option<Abnormal> {
    if among.len() < LEAST_TESTS {
        return None;
    }
    let logs: Vec<f64> = among.iter().map(|other| other.log).collect();
    let middle = median(&logs)?;
    let spread = (mad(&logs)? * MAD_TO_SIGMA).max(entry.error).max(LEAST_SPREAD);
    let off = (entry.log - middle).abs();
    if off / spread <= OUTLIER || off <= (1.0 + WORTH).ln() {
        return None;
    }
    let seen = format!(
        "it is {} as fast in {}, where the median of {group} is {} ({} standard deviations of their spread away)",
        times(entry.log),
        entry.b.letter,
        times(middle),
        format::number(off / spread)
    );
    Some(entry.abnormal(middle, Rule::Residual, seen))
}
