//! Which tests are out of line: the ratio of a pair of machines is nearly the same for tests that exercise the same thing.
//!
//! Three rules, in this order, each test named once. *Decomposition*: a test that is made of others takes on both machines what
//! they take; what is left for it alone changes from machine to machine as its parts do. *Placement*: two tasks that the
//! scheduler places are as fast as when they are pinned to the places that there are. *Residuals*: within a class, or among all
//! tests where a class is too small, ln ratio less its median, held against their spread.
//!
//! A low ratio alone accuses nobody: in study 2 Execl and Whetstone are as low as context switching, and contradict nothing.

use figure::stats::{mad, median};
use figure::{format, format::plain_to};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cause::cause;
use crate::classes::{self, MADE, Made};
use crate::gate::Side;
use crate::pair::Compared;

/// A test differs from what its parts predict if it is this many times as fast or slow (study 2's Xeon against its Atom: 1.7).
/// Two runs on one machine in use differ by less.
const AGAINST_PARTS: f64 = 1.25;
/// … and what it does besides its parts by this factor (there: 2.1): less is what two machines differ in anyhow. The same for a
/// test that does nothing besides, and for tasks that are free against the pinned ones.
const CONTRADICTION: f64 = 1.5;
/// Robust z beyond which a value is an outlier (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993).
const OUTLIER: f64 = 3.5;
/// A residual below this is not worth a word, however narrow the spread.
const WORTH: f64 = 0.10;
/// The least spread that is believed: with identical ratios the median deviation is 0.
const LEAST_SPREAD: f64 = 0.005;
/// The median absolute deviation of a normal distribution is its standard deviation by this.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Fewer tests than this have no spread to be held against.
const LEAST_TESTS: usize = 6;
/// Fewer others than this do not tell which of several tests is out of line.
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
    /// What was seen, with numbers.
    pub seen: String,
    /// The likely cause.
    pub cause: String,
    /// Causes that are ruled out: the same in both records.
    pub ruled_out: Vec<String>,
    /// Causes of which the records do not tell.
    pub not_recorded: Vec<String>,
}

/// How a test was found to be out of line.
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
}

impl Entry<'_> {
    /// The shortest way from the interval to `to`, with its sign; 0 within it.
    fn distance(&self, to: f64) -> f64 {
        let [low, high] = self.span;
        if low > to {
            low - to
        } else if high < to {
            high - to
        } else {
            0.0
        }
    }

    /// Seconds, or another unit of time, that one operation takes on each side.
    fn costs(&self) -> Option<[f64; 2]> {
        let of = |side: &Side| Some(1.0 / classes::rate(side.figure, side.figure.value?));
        Some([of(&self.a)?, of(&self.b)?])
    }
}

/// The tests that are out of line.
pub(super) fn abnormal(sides: &[[Side; 2]], figures: &[Compared]) -> Vec<Abnormal> {
    let entries: Vec<Entry> = sides
        .iter()
        .zip(figures)
        .filter_map(|([a, b], figure)| {
            let ratio = figure.merit().filter(|ratio| ratio.value.is_finite() && ratio.value > 0.0)?;
            let log = ratio.value.ln();
            let span = [ratio.low, ratio.high].map(|end| end.map_or(log, f64::ln));
            Some(Entry { a: *a, b: *b, figure, log, span, error: ratio.error.unwrap_or(0.0) })
        })
        .collect();
    let mut found: Vec<Abnormal> = Vec::new();
    let rules = [decomposed(&entries), placed(&entries), residuals(&entries)];
    for abnormal in rules.into_iter().flatten() {
        if !found.iter().any(|known| known.id == abnormal.id) {
            found.push(abnormal);
        }
    }
    found
}

fn told(entry: &Entry, expected: f64, rule: Rule, seen: String) -> Abnormal {
    let (cause, ruled_out, not_recorded) = cause(&entry.a, &entry.b, &entry.figure.class);
    Abnormal {
        id: entry.figure.id.clone(),
        name: entry.figure.name.clone(),
        class: entry.figure.class.clone(),
        ratio: entry.log.exp(),
        expected: expected.exp(),
        rule,
        seen,
        cause,
        ruled_out,
        not_recorded,
    }
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
    let alone = |name: &str| {
        entries.iter().find(|entry| {
            let figure = entry.a.figure;
            classes::test(figure) == Some(name) && classes::copies(figure) == 1.0
        })
    };
    let of = |made: &Made| {
        let test = alone(made.test)?;
        let parts: Option<Vec<(&Entry, f64)>> =
            made.parts.iter().map(|(part, weight)| Some((alone(part)?, *weight))).collect();
        contradiction(entries, made, test, &parts?)
    };
    MADE.iter().filter_map(of).collect()
}

/// A test against its parts; which of them is out of line is told by all others.
fn contradiction(entries: &[Entry], made: &Made, test: &Entry, parts: &[(&Entry, f64)]) -> Option<Abnormal> {
    let [a, b] = test.costs()?;
    let mut of_parts = [0.0; 2];
    for (part, weight) in parts {
        let costs = part.costs()?;
        of_parts.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += weight * cost);
    }
    let expected = (of_parts[0] / of_parts[1]).ln();
    let off = test.distance(expected);
    let names: Vec<String> = parts.iter().map(|(part, _)| quoted(part)).collect();
    let from =
        format!("its parts ({}) are {} as fast in {}", names.join(", "), times(expected), test.b.letter);
    let seen = match made.rest {
        None if off.abs() >= CONTRADICTION.ln() => {
            format!("{from}, which predicts the same of it: it is {}", times(test.log))
        }
        None => return None,
        Some((what, many)) => {
            let own = [a - of_parts[0], b - of_parts[1]];
            // One that is below its parts on both machines does not do them.
            if own.iter().all(|own| *own <= 0.0) || off.abs() < AGAINST_PARTS.ln() {
                return None;
            }
            let is_known = own.iter().all(|own| *own > 0.0);
            if is_known && ((own[0] / own[1]).ln() - expected).abs() < CONTRADICTION.ln() {
                return None;
            }
            let each = own.map(|own| match own > 0.0 {
                true => format::seconds(own / many),
                false => "nothing".to_owned(),
            });
            format!(
                "{from}; what they leave for {what} is {} in {} and {} in {}, where {} was to be expected",
                each[0],
                test.a.letter,
                each[1],
                test.b.letter,
                if own[0] > 0.0 {
                    format::seconds(own[0] / many / expected.exp())
                } else {
                    "as much".to_owned()
                }
            )
        }
    };
    let involved: Vec<&Entry> = parts.iter().map(|(part, _)| *part).chain([test]).collect();
    let others: Vec<f64> = tests_like(entries, test)
        .filter(|other| !involved.iter().any(|entry| entry.figure.id == other.figure.id))
        .map(|other| other.log)
        .collect();
    let middle = median(&others).filter(|_| others.len() >= LEAST_OTHERS);
    let culprit = match middle {
        None => test,
        Some(middle) => {
            let far = |entry: &Entry| (entry.log - middle).abs();
            involved.into_iter().max_by(|x, y| far(x).total_cmp(&far(y))).unwrap_or(test)
        }
    };
    Some(if culprit.figure.id == test.figure.id {
        told(test, expected, Rule::Decomposition, seen)
    } else {
        let middle = middle.unwrap_or(expected);
        let seen = format!(
            "{} is made of it and contradicts it: {}, against {} of this one; the other tests have {}",
            quoted(test),
            times(test.log),
            times(culprit.log),
            times(middle)
        );
        told(culprit, middle, Rule::Decomposition, seen)
    })
}

/// The tests that a test is one of: UnixBench's, by as many copies.
fn tests_like<'a>(entries: &'a [Entry<'a>], test: &'a Entry) -> impl Iterator<Item = &'a Entry<'a>> {
    let copies = classes::copies(test.a.figure);
    entries.iter().filter(move |entry| {
        let figure = entry.a.figure;
        classes::test(figure).is_some()
            && classes::copies(figure) == copies
            && figure.series == test.a.figure.series
    })
}

/// Free tasks that are neither as fast as any pinned ones nor between two of them.
fn placed(entries: &[Entry]) -> Vec<Abnormal> {
    let free = entries.iter().filter_map(|entry| Some((entry, classes::free_way(entry.a.figure)?)));
    free.filter_map(|(entry, way)| {
        let is_pinned = |other: &&Entry| {
            classes::pinned_way(other.a.figure).as_ref() == Some(&way)
                && other.a.figure.unit == entry.a.figure.unit
        };
        let logs: Vec<f64> = entries.iter().filter(is_pinned).map(|other| other.log).collect();
        let (low, high) = figure::stats::range(&logs)?;
        let (below, above) = (entry.distance(low).min(0.0), entry.distance(high).max(0.0));
        if below.abs().max(above) < CONTRADICTION.ln() {
            return None;
        }
        let pinned = if low == high { times(low) } else { format!("{} to {}", times(low), times(high)) };
        let seen = format!(
            "with its two tasks pinned it is {pinned} as fast in {}; left to the scheduler {}",
            entry.b.letter,
            times(entry.log)
        );
        Some(told(entry, (low + high) / 2.0, Rule::Placement, seen))
    })
    .collect()
}

/// Tests that are far from the others of their class, or from all tests where the class is too small.
fn residuals(entries: &[Entry]) -> Vec<Abnormal> {
    let headline = |entry: &&Entry| entry.a.figure.series.is_none() && entry.a.figure.derived_from.is_empty();
    let mut found = Vec::new();
    for entry in entries.iter().filter(headline) {
        let same = |other: &&Entry| {
            other.figure.suite == entry.figure.suite
                && classes::copies(other.a.figure) == classes::copies(entry.a.figure)
        };
        let of_class: Vec<&Entry> = entries
            .iter()
            .filter(headline)
            .filter(same)
            .filter(|other| other.figure.class == entry.figure.class)
            .collect();
        let (among, group) = if of_class.len() >= LEAST_TESTS {
            (of_class, format!("the class {}", entry.figure.class))
        } else if classes::test(entry.a.figure).is_some() {
            (tests_like(entries, entry).collect(), "all tests".to_owned())
        } else {
            continue;
        };
        found.extend(residual(entry, &among, &group));
    }
    found
}

fn residual(entry: &Entry, among: &[&Entry], group: &str) -> Option<Abnormal> {
    if among.len() < LEAST_TESTS {
        return None;
    }
    let logs: Vec<f64> = among.iter().map(|other| other.log).collect();
    let middle = median(&logs)?;
    let spread = (mad(&logs)? * MAD_TO_SIGMA).max(entry.error).max(LEAST_SPREAD);
    let off = entry.log - middle;
    let z = off / spread;
    if z.abs() <= OUTLIER || off.abs() <= (1.0 + WORTH).ln() {
        return None;
    }
    let seen = format!(
        "it is {} as fast in {}, where the median of {group} is {} ({} standard deviations of their spread away)",
        times(entry.log),
        entry.b.letter,
        times(middle),
        format::number(z.abs())
    );
    Some(told(entry, middle, Rule::Residual, seen))
}
