//! What a program's page faults cost, why it takes them, and what may be done.

use figure::evidence::*;
use figure::faults::Mechanism;
use figure::{Explanation, Figure, Record, Severity, format};

use super::{calls, finding};

/// Below this share of the CPU time nothing is to be gained.
const NOTHING: f64 = 0.02;
/// Seconds of CPU time from which on the clock's ticks tell the kernel's share of it: some dozens of ticks.
const TOLD_APART: f64 = 0.2;
/// Mechanisms with a smaller share are not told.
const LEAST: f64 = 0.1;

/// All that is to be said of a program that was watched, the answer first.
pub(super) fn watched(record: &Record) -> Vec<Explanation> {
    let of = |id: &str| record.figure(id).filter(|figure| figure.value.is_some());
    let Some(gain) = of("faults.gain") else { return Vec::new() };
    let mut all: Vec<Explanation> = answer(gain, of("faults.prices.minor.write")).into_iter().collect();
    let is_mechanism = |figure: &&Figure| {
        figure.conditions.get(WATCHED).is_some() && figure.series.is_none() && mechanism(figure).is_some()
    };
    let mechanisms = record.figures.iter().filter(is_mechanism);
    let mechanisms: Vec<&Figure> =
        mechanisms.filter(|figure| figure.value.is_some_and(|share| share >= LEAST)).collect();
    for figure in &mechanisms {
        all.push(cause(figure));
        all.extend(calls::told(record, figure));
    }
    all.extend(super::blocks::blocks(record));
    // What was tried is told by what came of it.
    let is_tried = figure::levers::trial(record).is_some();
    if !is_tried && gain.value.is_some_and(|value| value >= NOTHING) {
        all.extend(mechanisms.first().and_then(|figure| lever(figure)));
    }
    all
}

/// What may be done about a mechanism, and how to find out whether it helps.
fn lever(figure: &Figure) -> Option<Explanation> {
    let of = |key| figure.conditions.get(key).filter(|text: &String| !text.is_empty());
    let (about, price) = (of(LEVER_ABOUT)?, of(LEVER_PRICE)?);
    let how = match of(LEVER_ENVIRONMENT) {
        Some(set) => format!("{set} for one run; whether it helps: truebench faults --prove -- COMMAND"),
        None => format!("in the program: {}", of(LEVER_CODE)?),
    };
    Some(finding(Severity::Note, format!("What may help: {about}; {how}. It costs: {price}."), &[figure]))
}

fn mechanism(figure: &Figure) -> Option<Mechanism> {
    Mechanism::of(&figure.conditions.get(MECHANISM)?)
}

/// What the faults cost, and the most that could be gained, first of all: a rate alone says nothing.
///
/// The price is that of a loop. After a pause, with the kernel's code and data no longer in the caches, a fault takes several
/// times as long; and calls that give memory back come on top. So the bound is all that was spent in the kernel.
fn answer(gain: &Figure, price: Option<&Figure>) -> Option<Explanation> {
    let value = gain.value?;
    let fact = |key| gain.evidence.get(key).into_value();
    let (faults, cpu) = (fact(FAULT_TOTAL)?, fact(PROGRAM_CPU)?);
    let price = price?.value?;
    let sum = format!(
        "{} minor faults at {} each, the price of one in a loop here, of {}",
        format::number(faults),
        format::seconds(price * 1e-9),
        format::seconds(cpu)
    );
    let (text, severity) = if value < NOTHING {
        (
            format!(
                "Next to nothing to gain: page faults cost about {} of the program's CPU time ({sum}).",
                format::percent(value)
            ),
            Severity::Note,
        )
    } else {
        let mut text =
            format!("Page faults cost about {} of the program's CPU time: {sum}.", format::percent(value));
        let bound = fact(PROGRAM_SYSTEM).map(|system| system / cpu);
        if let Some(bound) = bound.filter(|bound| cpu >= TOLD_APART && *bound > value) {
            text += &format!(
                " At most {} could be gained, all that it spends in the kernel: after a pause a fault costs more, and calls \
                 that give memory back come on top.",
                format::percent(bound)
            );
        }
        (text, Severity::Warning)
    };
    Some(finding(severity, text, &[gain]))
}

/// A mechanism with its evidence.
fn cause(figure: &Figure) -> Explanation {
    let share = format::percent(figure.value.unwrap_or(0.0));
    let evidence =
        crate::explain::fault::evidence(figure).map_or_else(String::new, |text| format!(" {text}"));
    let text = format!("{share} of the faults: {}.{evidence}", format::plain(&figure.name));
    finding(Severity::Note, text, &[figure])
}
