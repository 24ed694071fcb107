//! `perf stat -I`: the same events at moments. Each moment is a round.

use std::collections::HashMap;

use figure::Figure;
use figure::evidence::audit::MOMENTS;

use super::event::Event;
use super::figures::{Times, of_events};
use super::rows::is_intervals;
use crate::command::Setting;
use crate::run::Run;
use crate::text::Printed;

/// The first interval is no longer than so many times the next one; else lines before it are lost.
const LIKE_THE_NEXT: f64 = 1.5;
/// An interval is a whole one from this share of the longest on.
const WHOLE: f64 = 0.8;

/// The figures of all intervals: a round for each.
pub fn of_intervals(
    run: &Run,
    events: Vec<Event>,
    unjudged: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Vec<Figure> {
    let mut moments: Vec<(f64, Vec<Event>)> = Vec::new();
    for event in events {
        // A summary behind the intervals has no moment.
        let Some(at) = event.at else { continue };
        match moments.last_mut().filter(|(last, _)| *last == at) {
            Some((_, events)) => events.push(event),
            None => moments.push((at, vec![event])),
        }
    }
    let ends: Vec<f64> = moments.iter().map(|(at, _)| *at).collect();
    let longest = (0..ends.len()).filter_map(|index| length(run, &ends, index)).fold(0.0, f64::max);
    let mut figures: Vec<Figure> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut uncounted = 0;
    for (index, (_, events)) in moments.into_iter().enumerate() {
        let length = length(run, &ends, index);
        // An interval of unknown length, between others that are known.
        if length.is_none() && ends.len() > 1 {
            continue;
        }
        let elapsed = length.map(|value| Printed { value, off: 0.5e-9 });
        let is_whole = match ends.len() {
            1 => is_asked(run, length.unwrap_or(0.0)),
            _ => length.is_some_and(|length| length > WHOLE * longest),
        };
        let times = Times { elapsed, used: None, error: None, is_interval: true, is_whole };
        for mut figure in of_events(events, &times, unjudged).0 {
            figure.conditions.set(MOMENTS, true);
            let is_counted = !figure.rounds.is_empty();
            let Some(own) = places.get(&figure.id).and_then(|at| figures.get_mut(*at)) else {
                places.insert(figure.id.clone(), figures.len());
                figures.push(figure);
                continue;
            };
            if is_counted && own.rounds.is_empty() {
                *own = figure;
            } else if is_counted && own.unit == figure.unit {
                own.rounds.append(&mut figure.rounds);
            } else if !own.rounds.is_empty() {
                uncounted += 1;
            }
        }
    }
    if uncounted > 0 {
        notes.push(format!("{uncounted} rows of intervals without a count, or of a shorter one"));
    }
    figures
}

/// Seconds of an interval; `None` where lines before it are lost.
fn length(run: &Run, ends: &[f64], index: usize) -> Option<f64> {
    let end = *ends.get(index)?;
    if let Some(before) = index.checked_sub(1).and_then(|before| ends.get(before)) {
        // Less than a hundredth of another is of another run.
        let typical = ends.get(1).zip(ends.first()).map_or(end, |(second, first)| second - first);
        return Some(end - before).filter(|length| *length > typical.abs() / 100.0);
    }
    let is_first = run.lines.first().is_some_and(|line| is_intervals(line))
        || ends.get(1).is_some_and(|next| end <= LIKE_THE_NEXT * (next - end));
    (is_asked(run, end) || is_first).then_some(end).filter(|length| *length > 0.0)
}

/// Whether an interval is as long as the command asks for, in milliseconds, to a tenth of it.
fn is_asked(run: &Run, length: f64) -> bool {
    let asked = run.command.map(|command| command.setting(&["-I", "--interval-print"]));
    matches!(asked, Some(Setting::Is(asked)) if (length - asked / 1e3).abs() < asked / 1e4)
}
