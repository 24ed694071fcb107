//! What the study of HTTP servers answers: a sentence for each question, each from rounds measured in turn.

use figure::loads::{Load, Quantity, loads};
use figure::stats::Ratio;
use figure::{Explanation, Figure, Record, Severity, format};

mod goroutines;
mod rates;
mod ways;

use super::finding;
use crate::servers::{Model, model};

/// The sentences, in the order of the questions.
pub(crate) fn servers(record: &Record) -> Vec<Explanation> {
    let all = loads(record);
    let told = [
        rates::promised(&all),
        rates::payers(&all),
        rates::multiplexing(&all),
        goroutines::scheduler(record, &all),
        goroutines::goroutines(&all),
        goroutines::created(&all),
        ways::short(&all),
        ways::pools(&all),
        ways::refusal(&all),
        ways::slo(&all),
    ];
    told.into_iter().flatten().collect()
}

fn note(text: String, figures: &[&Figure]) -> Option<Explanation> {
    Some(finding(Severity::Note, text, figures))
}

/// A ratio with its interval.
fn times(ratio: &Ratio) -> String {
    format!("{:.2}x [{:.2}, {:.2}]", ratio.value, ratio.low, ratio.high)
}

/// The same, or that there is no difference to be seen.
fn compared(ratio: &Ratio) -> String {
    if ratio.same(0.0) { format!("no difference shown ({})", times(ratio)) } else { times(ratio) }
}

fn is_of(load: &Load, goal: &str, kind: Model) -> bool {
    load.goal() == goal && model(&load.server()) == Some(kind)
}

/// Loads of two sorts of servers under the same load, by connections.
fn pairs<'l, 'a>(
    all: &'l [Load<'a>],
    goal: &str,
    one: Model,
    other: Model,
) -> Vec<(&'l Load<'a>, &'l Load<'a>)> {
    let ours = all.iter().filter(|load| is_of(load, goal, one));
    let with = |load: &'l Load<'a>| {
        let theirs = |their: &&Load| is_of(their, goal, other) && their.connections == load.connections;
        Some((load, all.iter().find(theirs)?))
    };
    let mut pairs: Vec<_> = ours.filter_map(with).collect();
    pairs.sort_by(|a, b| a.0.connections.total_cmp(&b.0.connections));
    pairs
}

/// What two loads say of a quantity; with how many connections.
fn ratios<'l, 'a>(
    pairs: &[(&'l Load<'a>, &'l Load<'a>)],
    quantity: Quantity,
) -> Vec<(f64, Ratio, [&'a Figure; 2])> {
    let ratio = |(one, other): &(&'l Load<'a>, &'l Load<'a>)| {
        let figures = [one.sound(quantity)?, other.sound(quantity)?];
        Some((one.connections, one.times(other, quantity)?, figures))
    };
    pairs.iter().filter_map(ratio).collect()
}

/// `1.45x [1.40, 1.52] at 200 connections, …`
fn by_connections(ratios: &[(f64, Ratio, [&Figure; 2])]) -> String {
    let each: Vec<String> =
        ratios.iter().map(|(at, ratio, _)| format!("{} at {at:.0} connections", compared(ratio))).collect();
    format::listed(&each)
}

fn cited<'a>(ratios: &[(f64, Ratio, [&'a Figure; 2])]) -> Vec<&'a Figure> {
    ratios.iter().flat_map(|(.., figures)| *figures).collect()
}

/// The share of the CPU time in these buckets, if it was profiled.
fn share(cpu: &Figure, buckets: &[&str]) -> Option<f64> {
    let own = cpu.parts.iter().filter(|part| buckets.contains(&part.name.as_str()));
    (!cpu.parts.is_empty()).then(|| own.map(|part| part.share).sum())
}
