//! Figures of the calls for memory: how many per second, and which functions of the program make them.

use std::collections::HashMap;

use figure::evidence::*;
use figure::format::plain_to;
use figure::series::Part;
use figure::{Better, Figure, Interval, Reading, Unit, stats};
use suites::faults::Call;

use super::owners::call_path;
use super::shares::{rank, set_observed};
use crate::trace::Traced;
use crate::trace::call_counts::{CallCounts, Sum};
use crate::trace::symbols::{Function, Names};
use crate::{CALLS, SUITE};

/// Callers of each kind that are reported, and functions of each.
const MOST: usize = 3;
const FUNCTIONS: usize = 5;
/// A caller with a smaller share of the calls of its kind is not reported.
const LEAST: f64 = 0.02;

/// A kind with fewer calls has no figure of its own: so few show nothing. It is a part of the whole.
const SOME: f64 = 6.0;

const NO_SIZE: &str = "the size of none of these calls is known";

/// The figures of all calls; one with the reason if there are none.
pub fn calls(traced: &Traced, names: &Names) -> Vec<Figure> {
    let counts = &traced.collector.call_counts;
    let name = "calls for memory";
    let all = Figure::planned(CALLS, SUITE, name, Unit::PER_S, Better::Lower);
    if let Err(reason) = &traced.calls {
        return vec![all.not_available(format!("calls for memory: {reason}"))];
    }
    if counts.seconds() <= 0.0 {
        return vec![all.not_available("calls for memory: it ended before they were counted")];
    }
    let mut all = all;
    let kinds: Vec<(Call, Sum)> = Call::ALL.iter().map(|call| (*call, counts.sum(*call))).collect();
    let sum = kinds.iter().fold(Sum::default(), |sum, (_, more)| sum.plus(*more));
    all.parts = kinds
        .iter()
        .filter(|(_, part)| part.calls > 0.0)
        .map(|(call, part)| Part {
            name: call.description().to_owned(),
            value: part.calls / counts.seconds(),
            share: part.calls / sum.calls,
        })
        .collect();
    let mut figures = vec![rate(all, counts, sum)];
    for (call, sum) in kinds.into_iter().filter(|(_, sum)| sum.calls >= SOME) {
        let id = format!("{CALLS}.{call}");
        let mut figure = Figure::planned(id, SUITE, call.description(), Unit::PER_S, Better::Lower);
        figure.conditions.set(CALL, call.word().to_owned());
        figures.push(rate(figure, counts, sum));
    }
    let has_kind = |caller: &Figure| figures.iter().any(|kind| caller.derived_from.contains(&kind.id));
    let callers: Vec<Figure> = callers(traced, names).into_iter().filter(has_kind).collect();
    figures.extend(callers);
    figures
}

/// Calls per second while they were counted. Every call was counted: the interval covers how many there are
/// in another such time, and how many of the lost records were of this kind.
fn rate(mut figure: Figure, counts: &CallCounts, sum: Sum) -> Figure {
    let seconds = counts.seconds();
    let interval = stats::count_interval(sum.calls).map(|interval| Interval {
        low: interval.low / seconds,
        high: (interval.high + counts.lost) / seconds,
        ..interval
    });
    set_observed(&mut figure, sum.calls / seconds, interval);
    let evidence = &mut figure.evidence;
    evidence.put(CALL_COUNT, sum.calls);
    evidence.put(CALL_SIZE_UNKNOWN, sum.unknown_size);
    let bytes = sum.mean_bytes().map(|_| sum.bytes / seconds);
    evidence.put_reading(CALL_BYTES, Reading::or_unknown(bytes, NO_SIZE));
    evidence.put(CALL_SECONDS, seconds);
    evidence.put(CALL_LOST, counts.lost);
    figure
}

fn callers(traced: &Traced, names: &Names) -> Vec<Figure> {
    /// A caller: kind of call, program, functions of the program.
    type Place<'a> = (Call, u32, Vec<&'a str>);
    struct CallerSum<'a> {
        sum: Sum,
        samples: f64,
        via: Vec<&'a str>,
        line: Option<&'a str>,
    }
    let collector = &traced.collector;
    let mut places: HashMap<Place, CallerSum> = HashMap::new();
    let mut sums: HashMap<Call, (f64, f64)> = HashMap::new();
    for (caller, (sum, samples)) in &collector.call_counts.callers {
        let call_path = call_path(caller, names, collector);
        let program_functions = first_names(&call_path.program);
        let all = sums.entry(caller.call).or_default();
        *all = (all.0 + sum.calls, all.1 + samples);
        let key = (caller.call, caller.program, program_functions);
        let place = places.entry(key).or_insert_with(|| CallerSum {
            sum: Sum::default(),
            samples: 0.0,
            via: first_names(&call_path.via),
            line: call_path.program.iter().find_map(|function| function.line.as_deref()),
        });
        place.sum.calls += sum.calls;
        place.sum.bytes += sum.bytes;
        place.samples += samples;
    }
    let mut places: Vec<(Place, CallerSum)> = places.into_iter().collect();
    places.sort_by(|a, b| {
        (a.0.0.cmp(&b.0.0)).then(b.1.sum.calls.total_cmp(&a.1.sum.calls)).then_with(|| a.0.cmp(&b.0))
    });
    let mut figures: Vec<Figure> = Vec::new();
    let mut rank_in_kind = 0;
    for (index, ((call, program, functions), caller)) in places.iter().enumerate() {
        rank_in_kind = if index > 0 && places[index - 1].0.0 == *call { rank_in_kind + 1 } else { 0 };
        let (all, samples) = sums.get(call).copied().unwrap_or_default();
        let share = caller.sum.calls / all;
        if rank_in_kind >= MOST || share < LEAST {
            continue;
        }
        let name = if functions.is_empty() { "[unknown]".to_owned() } else { functions.join(" < ") };
        let id = format!("{SUITE}.caller.{call}.{}", rank_in_kind + 1);
        let mut figure = Figure::planned(id, SUITE, name.clone(), Unit::ONE, Better::Neither);
        set_observed(&mut figure, share, stats::share_interval(share, samples as usize));
        figure.derived_from = vec![format!("{CALLS}.{call}")];
        (figure.series, figure.at) = (Some(format!("{SUITE}.callers.{call}")), rank(rank_in_kind));
        figure.conditions.set(CALL, call.word().to_owned());
        figure.conditions.set(SITE_CALLS, name);
        figure.conditions.set(CALL_VIA, caller.via.join(" < "));
        if let Some(line) = caller.line {
            figure.conditions.set(SITE_LINE, line.to_owned());
        }
        if let Some(program) = collector.tasks.programs.get(*program as usize) {
            figure.conditions.set(WATCHED, plain_to(&program.name, 60));
        }
        figure.evidence.put_reading(CALL_EACH, Reading::or_unknown(caller.sum.mean_bytes(), NO_SIZE));
        figure.evidence.put(CALL_SAMPLES, caller.samples);
        figures.push(figure);
    }
    figures
}

fn first_names<'a>(functions: &[&'a Function]) -> Vec<&'a str> {
    functions.iter().take(FUNCTIONS).map(|function| function.name.as_str()).collect()
}
