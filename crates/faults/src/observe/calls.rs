//! Figures of the calls for memory: how many a second, and which functions of the program make them.

use std::collections::HashMap;

use figure::evidence::*;
use figure::faults::Call;
use figure::format::plain_to;
use figure::series::Part;
use figure::{Basis, Better, Figure, Interval, Reading, Status, Unit, stats};

use super::owners::divided;
use super::shares::{found, rank};
use crate::trace::Traced;
use crate::trace::book::{Book, Sum};
use crate::trace::symbols::Names;
use crate::{CALLS, SUITE};

/// Callers that are told of each kind, and functions of each.
const MOST: usize = 3;
const FUNCTIONS: usize = 5;
/// A caller with a smaller share of the calls of its kind is not told.
const LEAST: f64 = 0.02;

/// A kind with fewer calls has no figure of its own: nothing follows from so few. It is a part of the whole.
const SOME: f64 = 6.0;

/// Why there are no bytes of calls.
const NO_SIZE: &str = "the size of none of these calls is known";

/// All of them; one that says why, where there are none.
pub fn calls(traced: &Traced, names: &Names) -> Vec<Figure> {
    let book = &traced.collector.book;
    let name = "calls for memory";
    let all = Figure::planned(CALLS, SUITE, name, Unit::PER_S, Better::Lower);
    if let Err(reason) = &traced.calls {
        return vec![all.not_available(format!("calls for memory: {reason}"))];
    }
    if book.seconds() <= 0.0 {
        return vec![all.not_available("calls for memory: it ended before they were counted")];
    }
    let mut all = all;
    let kinds: Vec<(Call, Sum)> = Call::ALL.iter().map(|call| (*call, book.sum(*call))).collect();
    let sum = kinds.iter().fold(Sum::default(), |sum, (_, more)| sum.plus(*more));
    all.parts = kinds
        .iter()
        .filter(|(_, of)| of.calls > 0.0)
        .map(|(call, of)| Part {
            name: call.told().to_owned(),
            value: of.calls / book.seconds(),
            share: of.calls / sum.calls,
        })
        .collect();
    let mut figures = vec![rate(all, book, sum)];
    for (call, of) in kinds.into_iter().filter(|(_, of)| of.calls >= SOME) {
        let id = format!("{CALLS}.{call}");
        let mut figure = Figure::planned(id, SUITE, call.told(), Unit::PER_S, Better::Lower);
        figure.conditions.set(CALL, call.word().to_owned());
        figures.push(rate(figure, book, of));
    }
    let is_told = |figure: &Figure| figures.iter().any(|known| figure.derived_from.contains(&known.id));
    let callers: Vec<Figure> = callers(traced, names).into_iter().filter(is_told).collect();
    figures.extend(callers);
    figures
}

/// Calls a second while they were counted. They are all of them: uncertain is how many others there might have been, and how many of
/// those that found no room were of this kind.
fn rate(mut figure: Figure, book: &Book, sum: Sum) -> Figure {
    let seconds = book.seconds();
    let interval = stats::count_interval(sum.calls).map(|interval| Interval {
        low: interval.low / seconds,
        high: (interval.high + book.lost) / seconds,
        ..interval
    });
    found(&mut figure, sum.calls / seconds, interval);
    let evidence = &mut figure.evidence;
    evidence.put(CALL_COUNT, sum.calls);
    evidence.put(CALL_SIZE_UNKNOWN, sum.unknown_size);
    let bytes = sum.each().map(|_| sum.bytes / seconds);
    evidence.put_reading(CALL_BYTES, Reading::or_unknown(bytes, NO_SIZE));
    evidence.put(CALL_SECONDS, seconds);
    evidence.put(CALL_LOST, book.lost);
    figure
}

/// The functions that make most of the calls of each kind.
fn callers(traced: &Traced, names: &Names) -> Vec<Figure> {
    /// What is told of a caller: kind, program, its own functions, those between.
    type Place<'a> = (Call, u32, Vec<&'a str>);
    struct Seen<'a> {
        sum: Sum,
        samples: f64,
        via: Vec<&'a str>,
        line: Option<&'a str>,
    }
    let collector = &traced.collector;
    let mut places: HashMap<Place, Seen> = HashMap::new();
    let mut sums: HashMap<Call, (f64, f64)> = HashMap::new();
    for (caller, (sum, samples)) in &collector.book.callers {
        let divided = divided(caller, names, collector);
        let told = |functions: &[&'_ crate::trace::symbols::Function]| functions.len().min(FUNCTIONS);
        let own = divided.own[..told(&divided.own)].iter().map(|function| function.name.as_str()).collect();
        let all = sums.entry(caller.call).or_default();
        *all = (all.0 + sum.calls, all.1 + samples);
        let seen = places.entry((caller.call, caller.program, own)).or_insert_with(|| Seen {
            sum: Sum::default(),
            samples: 0.0,
            via: divided.via[..told(&divided.via)].iter().map(|function| function.name.as_str()).collect(),
            line: divided.own.iter().find_map(|function| function.line.as_deref()),
        });
        seen.sum.calls += sum.calls;
        seen.sum.bytes += sum.bytes;
        seen.samples += samples;
    }
    let mut places: Vec<(Place, Seen)> = places.into_iter().collect();
    places.sort_by(|a, b| {
        (a.0.0.cmp(&b.0.0)).then(b.1.sum.calls.total_cmp(&a.1.sum.calls)).then_with(|| a.0.cmp(&b.0))
    });
    let mut figures: Vec<Figure> = Vec::new();
    let mut of_kind = 0;
    for (index, ((call, program, own), seen)) in places.iter().enumerate() {
        of_kind = if index > 0 && places[index - 1].0.0 == *call { of_kind + 1 } else { 0 };
        let (all, samples) = sums.get(call).copied().unwrap_or_default();
        let share = seen.sum.calls / all;
        if of_kind >= MOST || share < LEAST {
            continue;
        }
        let name = if own.is_empty() { "[unknown]".to_owned() } else { own.join(" < ") };
        let id = format!("{SUITE}.caller.{call}.{}", of_kind + 1);
        let mut figure = Figure::planned(id, SUITE, name.clone(), Unit::ONE, Better::Neither);
        (figure.value, figure.interval) = (Some(share), stats::share_interval(share, samples as usize));
        (figure.status, figure.reason) = (Status::Measured, None);
        (figure.basis, figure.derived_from) = (Basis::Observations, vec![format!("{CALLS}.{call}")]);
        (figure.series, figure.at) = (Some(format!("{SUITE}.callers.{call}")), rank(of_kind));
        figure.conditions.set(CALL, call.word().to_owned());
        figure.conditions.set(SITE_CALLS, name);
        figure.conditions.set(CALL_VIA, seen.via.join(" < "));
        if let Some(line) = seen.line {
            figure.conditions.set(SITE_LINE, line.to_owned());
        }
        if let Some(program) = collector.tasks.programs.get(*program as usize) {
            figure.conditions.set(WATCHED, plain_to(&program.name, 60));
        }
        figure.evidence.put_reading(CALL_EACH, Reading::or_unknown(seen.sum.each(), NO_SIZE));
        figure.evidence.put(CALL_SAMPLES, seen.samples);
        figures.push(figure);
    }
    figures
}
