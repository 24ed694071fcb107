//! Why a figure is what it is: one or two sentences from the record's own numbers.
//!
//! A rule speaks only when its predicate holds on the record. It cites the figures that it used and names the
//! rival cause that they exclude. Where no rule speaks, the figure is called unexplained, with what was ruled
//! out. Figures that were judged invalid explain nothing and are explained by their first cause alone.

pub(crate) mod alignment;
mod allocators;
pub(crate) mod audited;
mod avoided;
mod baseline;
pub(crate) mod by_mix;
mod c2c;
mod cause;
mod copies;
pub(crate) mod cores;
mod counted;
mod edge;
mod http;
pub(crate) mod in_flight;
mod level;
pub(crate) mod loaded;
pub(crate) mod mechanism;
mod mix;
mod noise;
mod numa;
mod one_way;
mod page_cache;
mod page_walks;
mod peak;
pub(crate) mod prices;
mod program;
mod repeated;
mod scaling;
mod second_instrument;
mod setting;
mod surroundings;
mod switch;
mod walk;
mod write_allocate;

use figure::{Explanation, Figure, Outcome, Record, Severity, Verdict};

use crate::audited::is_audited;
use crate::cases::{Case, General};
use crate::check::Subject;
use crate::relations::partner::{is_headline, same_arrays, same_setting};
use crate::relations::traffic::{StorePair, per_counted, traffic};
use crate::values::{Amount, Cited};

/// A rule: one case of a figure, if its predicate holds.
#[derive(Debug)]
pub struct Rule {
    /// Its name: its file's, and what distinguishes it from others there.
    pub name: &'static str,
    /// The rule: pure.
    pub says: fn(&Subject) -> Option<Case>,
}

/// The rules, the most specific first.
pub const RULES: &[&Rule] = &[
    &mechanism::RULE,
    &switch::FREE,
    &switch::PINNED,
    &switch::COST,
    &switch::WAKE_UP,
    &noise::LOST,
    &noise::SHORT,
    &noise::LONGEST,
    &cores::RULE,
    &c2c::RULE,
    &c2c::STATES,
    &alignment::MISALIGNED,
    &alignment::ALIASED,
    &allocators::PLACEMENT,
    &allocators::OVERHEAD,
    &allocators::RETAINS,
    &allocators::KERNEL,
    &allocators::LOAD,
    &allocators::CALLS,
    &prices::RULE,
    &repeated::RULE,
    &numa::RULE,
    &counted::RULE,
    &scaling::RULE,
    &second_instrument::RULE,
    &baseline::RULE,
    &write_allocate::RULE,
    &avoided::RULE,
    &in_flight::RULE,
    &mix::RULE,
    &one_way::RULE,
    &by_mix::RULE,
    &loaded::RULE,
    &edge::RULE,
    &level::RULE,
    &page_walks::RULE,
    &copies::RULE,
    &page_cache::RULE,
    &setting::RULE,
    &program::RULE,
    &walk::RULE,
    &surroundings::RULE,
    &http::LIMIT,
    &http::COST,
    &http::LATENCY,
    &http::GOROUTINES,
    &http::MEMORY,
];

/// Sentences for one figure, at most: more is not read.
const MOST: usize = 2;
/// What an unexplained figure names as ruled out where the check passed: the usual suspects, in causal order.
const SUSPECTS: &[&str] = &[
    "array-size",
    "numa-placement",
    "faults",
    "placement-held",
    "steal",
    "foreign-load",
    "run-queue-delay",
    "frequency",
];

/// Writes the explanations of every measured figure of a judged record.
pub(crate) fn explain(record: &mut Record) {
    let all: Vec<_> = record.figures.iter().map(|figure| explanations(&Subject { figure, record })).collect();
    for (figure, explanations) in record.figures.iter_mut().zip(all) {
        figure.explanations = explanations;
    }
}

/// Why the figure of a judged record is what it is; nothing without a value.
pub fn explanations(subject: &Subject) -> Vec<Explanation> {
    if subject.figure.value.is_none() {
        return Vec::new();
    }
    let about =
        |(rule, case): (&str, Case)| case.explanation(rule, Severity::Note, vec![subject.figure.id.clone()]);
    cases(subject).into_iter().map(about).collect()
}

/// The cases with the names of their rules, at most [`MOST`].
fn cases<'a>(subject: &Subject) -> Vec<(&'a str, Case)> {
    // Other figures of the record, conditions and rounds are not of one run there, and nothing else is known.
    if is_audited(subject) {
        return audited::says(subject);
    }
    let cause = cause::says(subject).map(|cause| ("cause", Case::from(cause)));
    if cause.is_some() && subject.figure.verdict == Some(Verdict::Invalid) {
        return Vec::from_iter(cause);
    }
    // A figure that is computed from a load is as good as the load, whose own explanation says so.
    let is_echo = http::is_computed(subject) && cause::is(subject, "inputs");
    let (echo, mut cases) = if is_echo { (cause, Vec::new()) } else { (None, Vec::from_iter(cause)) };
    let room = MOST - cases.len();
    let explained: Vec<_> =
        RULES.iter().filter_map(|rule| Some((rule.name, (rule.says)(subject)?))).take(room).collect();
    let peak = peak::says(subject).map(|case| ("peak", case));
    if explained.is_empty() && cases.is_empty() && !peak::is_reached(subject) {
        cases.push(echo.unwrap_or_else(|| ("unexplained", unexplained(subject.figure).into())));
    }
    cases.extend(explained);
    cases.extend(peak);
    cases.truncate(MOST);
    cases
}

/// What is left to say when no rule holds.
fn unexplained(figure: &Figure) -> General {
    let passed = figure.checks.iter().filter(|check| check.outcome == Outcome::Pass);
    let suspects = passed.map(|check| check.id.clone()).filter(|id| SUSPECTS.contains(&id.as_str()));
    General::Unexplained { ruled_out: suspects.collect() }
}

/// [`crate::relations::partner::find`], among usable figures.
fn partner<'a>(subject: &Subject<'a>, kernel: &str, stores: &str, role: Option<&str>) -> Option<&'a Figure> {
    crate::relations::partner::find(subject, kernel, stores, role).filter(|figure| figure.is_usable())
}

/// The figure's pair of stores, if both halves are usable.
fn pair<'a>(subject: &Subject<'a>) -> Option<StorePair<'a>> {
    StorePair::of(subject).filter(|pair| pair.regular.is_usable() && pair.nt.is_usable())
}

/// The figure's declared traffic in its unit.
fn traffic_amount(figure: &Figure) -> Option<Amount> {
    traffic(figure).map(|value| Amount { value, unit: figure.unit.clone() })
}

/// The figure with its declared traffic.
fn cited_traffic(figure: &Figure) -> Option<Cited> {
    Some(Cited { figure: figure.id.clone(), amount: traffic_amount(figure)? })
}

/// The other headline under the same conditions with the most traffic among those that `fit`.
fn most_traffic<'a>(subject: &Subject<'a>, fit: impl Fn(&Figure) -> bool) -> Option<&'a Figure> {
    subject
        .record
        .figures
        .iter()
        .filter(|other| other.is_usable() && is_headline(other) && !std::ptr::eq(*other, subject.figure))
        .filter(|other| same_setting(other, subject.figure) && same_arrays(other, subject.figure))
        .filter(|other| fit(other))
        .max_by(|a, b| traffic(a).unwrap_or(0.0).total_cmp(&traffic(b).unwrap_or(0.0)))
}

/// Whether the figure's traffic is what it counts, not an estimate.
fn is_certain(figure: &Figure) -> bool {
    per_counted(figure) == Some(1.0)
}

/// Whether `a` and `b` differ by at most `tolerance` of `b`.
fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a / b - 1.0).abs() <= tolerance
}
