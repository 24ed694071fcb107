//! Why a figure is what it is: one or two sentences from the record's own numbers.
//!
//! A rule has a case only where its predicate holds on the record. It cites the figures that it used and names the
//! rival cause that they exclude. Where no rule has a case, the figure is called unexplained, with what was ruled
//! out. Figures that were judged invalid explain nothing and are explained by their first cause alone.

pub(crate) mod alignment;
mod allocators;
pub(crate) mod audited;
mod baseline;
pub(crate) mod by_mix;
mod c2c;
mod cause;
pub(crate) mod cores;
mod http;
pub(crate) mod in_flight;
mod level;
mod loaded;
pub(crate) mod mechanism;
mod mix;
mod noise;
mod numa;
mod one_way;
mod page_walks;
mod peak;
pub(crate) mod prices;
mod programs;
mod repeated;
mod scaling;
mod support;
mod switch;
mod unixbench;
mod walk;
mod write_allocate;

use figure::{Explanation, Figure, Outcome, Record, Severity, Verdict};

use crate::cases::{Case, General};
use crate::check::Subject;
use crate::subject::is_audited;

/// A rule: its name, and the case of a figure, if its predicate holds.
pub type Rule = (&'static str, fn(&Subject) -> Option<Case>);

/// The rules, the most specific first.
pub const RULES: &[Rule] = &[
    ("mechanism", |subject| from(mechanism::mechanism(subject.figure))),
    ("switch-free", |subject| from(switch::free(subject))),
    ("switch-pinned", |subject| from(switch::pinned(subject))),
    ("switch-cost", |subject| from(switch::cost(subject))),
    ("wake-up", |subject| from(switch::wake_up(subject))),
    ("noise-lost", |subject| from(noise::lost(subject))),
    ("noise-short", |subject| from(noise::short(subject))),
    ("noise-longest", |subject| from(noise::longest(subject))),
    ("cores", |subject| from(cores::case(subject))),
    ("c2c", |subject| from(c2c::origin(subject))),
    ("c2c-states", |subject| from(c2c::states(subject))),
    ("misaligned", |subject| from(alignment::misaligned(subject))),
    ("aliased", |subject| from(alignment::aliased(subject))),
    ("allocators-placement", |subject| from(allocators::placement(subject))),
    ("allocators-overhead", |subject| from(allocators::overhead(subject))),
    ("allocators-retained", |subject| from(allocators::retained(subject))),
    ("allocators-kernel", |subject| from(allocators::kernel(subject))),
    ("allocators-load", |subject| from(allocators::load(subject))),
    ("allocators-calls", |subject| from(allocators::calls(subject))),
    ("price", |subject| from(prices::price(subject))),
    ("repeated", |subject| from(repeated::case(subject))),
    ("numa", |subject| from(numa::cell(subject))),
    ("counted", |subject| from(write_allocate::counted(subject))),
    ("scaling", |subject| from(scaling::scaling(subject))),
    ("second-instrument", |subject| from(repeated::second_instrument(subject))),
    ("baseline", |subject| from(baseline::case(subject))),
    ("write-allocate", |subject| from(write_allocate::gap(subject))),
    ("avoided", |subject| from(write_allocate::avoided(subject))),
    ("in-flight", |subject| from(in_flight::case(subject))),
    ("mix", |subject| from(mix::case(subject))),
    ("one-way", |subject| from(one_way::case(subject))),
    ("by-mix", |subject| from(by_mix::case(subject))),
    ("falls-back", |subject| from(loaded::falls_back(subject))),
    ("loaded", |subject| from(loaded::point(subject))),
    ("curve", |subject| from(loaded::curve(subject))),
    ("edge", |subject| from(level::edge(subject))),
    ("level", |subject| from(level::level(subject))),
    ("page-walks", |subject| from(page_walks::case(subject))),
    ("copies", |subject| from(unixbench::copies(subject))),
    ("page-cache", |subject| from(unixbench::page_cache(subject))),
    ("setting", |subject| from(programs::setting(subject))),
    ("program", |subject| from(programs::program(subject))),
    ("walk", |subject| from(walk::step(subject))),
    ("surroundings", |subject| from(unixbench::surroundings(subject))),
    ("http-limit", |subject| from(http::limit(subject))),
    ("http-cost", |subject| from(http::cost(subject))),
    ("http-latency", |subject| from(http::latency(subject))),
    ("http-goroutines", |subject| from(http::goroutines(subject))),
    ("http-memory", |subject| from(http::memory(subject))),
];

fn from<C: Into<Case>>(case: Option<C>) -> Option<Case> {
    case.map(C::into)
}

/// Sentences for one figure, at most: more is not read.
const MOST: usize = 2;
/// What an unexplained figure names as ruled out where the check passed: the usual suspects, in causal order.
const SUSPECTS: &str =
    "array-size numa-placement faults placement-held steal foreign-load run-queue-delay frequency";

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
        return audited::cases(subject);
    }
    let cause = cause::case(subject).map(|cause| ("cause", Case::from(cause)));
    if cause.is_some() && subject.figure.verdict == Some(Verdict::Invalid) {
        return Vec::from_iter(cause);
    }
    // A figure that is computed from a load is as good as the load, whose own explanation names it.
    let is_echo = http::is_computed(subject) && cause::is(subject, "inputs");
    let (echo, mut cases) = if is_echo { (cause, Vec::new()) } else { (None, Vec::from_iter(cause)) };
    let room = MOST - cases.len();
    let explained: Vec<_> =
        RULES.iter().filter_map(|(name, rule)| Some((*name, rule(subject)?))).take(room).collect();
    let peak = peak::case(subject).map(|case| ("peak", Case::from(case)));
    if explained.is_empty() && cases.is_empty() && !peak::is_reached(subject) {
        cases.push(echo.unwrap_or_else(|| ("unexplained", unexplained(subject.figure).into())));
    }
    cases.extend(explained);
    cases.extend(peak);
    cases.truncate(MOST);
    cases
}

fn unexplained(figure: &Figure) -> General {
    let passed = figure.checks.iter().filter(|check| check.outcome == Outcome::Pass);
    let suspects = passed.map(|check| check.id.clone()).filter(|id| SUSPECTS.split(' ').any(|one| one == id));
    General::Unexplained { ruled_out: suspects.collect() }
}
