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
pub(crate) mod fault;
mod http;
mod in_flight;
mod level;
mod lever;
pub(crate) mod loaded;
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
mod surroundings;
mod switch;
mod walk;
mod write_allocate;

use figure::{Explanation, Figure, Outcome, Record, Severity, Verdict, format};

use crate::audited::is_audited;
use crate::cases::{Case, General};
use crate::check::Subject;
use crate::relations::traffic::{StorePair, traffic};
use crate::values::Amount;

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
    &fault::RULE,
    &switch::FREE,
    &switch::PINNED,
    &switch::COST,
    &switch::WAYS,
    &switch::WAKES,
    &noise::LOST,
    &noise::SHORT,
    &noise::LONGEST,
    &cores::PAIRS,
    &cores::CLASSES,
    &c2c::RULE,
    &c2c::STATES,
    &alignment::MISALIGNED,
    &alignment::ALIASED,
    &allocators::PAIR,
    &allocators::PLACES,
    &allocators::OVERHEAD,
    &allocators::RETAINS,
    &allocators::IN_KERNEL,
    &allocators::STEADY,
    &allocators::CALLS,
    &prices::PARTS,
    &prices::CROWD,
    &prices::FILES,
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
    &by_mix::TRIAD,
    &loaded::RULE,
    &loaded::SHAPE,
    &edge::RULE,
    &level::RULE,
    &page_walks::RULE,
    &copies::RULE,
    &page_cache::RULE,
    &lever::RULE,
    &lever::FOLLOWS,
    &program::RULE,
    &walk::RULE,
    &surroundings::RULE,
    &http::RATE_BOUND,
    &http::COST,
    &http::LITTLES_LAW,
    &http::GOROUTINES,
    &http::MEMORY,
    &http::WAITS,
    &http::OPEN,
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

/// Whether another figure's number may be used to explain.
fn usable(figure: &Figure) -> bool {
    figure.is_usable()
}

/// [`crate::relations::partner::find`], among usable figures.
fn partner<'a>(subject: &Subject<'a>, kernel: &str, stores: &str, role: Option<&str>) -> Option<&'a Figure> {
    crate::relations::partner::find(subject, kernel, stores, role).filter(|figure| usable(figure))
}

/// The figure's pair of stores, if both halves are usable.
fn pair<'a>(subject: &Subject<'a>) -> Option<StorePair<'a>> {
    StorePair::of(subject).filter(|pair| usable(pair.regular) && usable(pair.nt))
}

/// `value` in the figure's unit: `37.1 GB/s`.
fn amount(value: f64, figure: &Figure) -> String {
    format!("{} {}", format::number(value), figure.unit)
}

/// The figure's value with its unit.
fn value(figure: &Figure) -> String {
    figure.value.map_or_else(|| "no value".to_owned(), |value| amount(value, figure))
}

/// The figure's declared traffic with its unit.
fn moved(figure: &Figure) -> String {
    traffic(figure).map_or_else(|| "unknown traffic".to_owned(), |traffic| amount(traffic, figure))
}

/// The figure's declared traffic in its unit.
fn traffic_amount(figure: &Figure) -> Option<Amount> {
    traffic(figure).map(|value| Amount { value, unit: figure.unit.clone() })
}

/// Whether `a` and `b` differ by at most `tolerance` of `b`.
fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a / b - 1.0).abs() <= tolerance
}
