//! `memory loaded --mix all`: the curves of all mixes and what each shows. The numbers are those of figure 2 of Mess, roughly.

use figure::evidence::*;
use figure::{Better, Convention, Figure, Limit, Record, Unit};

use super::modes::point;
use super::{empty, name, number, on};

/// Delays with the share of the most bandwidth, and the latency as a multiple of the idle one. The end is a wave: most bandwidth
/// is moved at delay 8.
const SHAPE: &[(f64, f64, f64)] = &[
    (0.0, 0.9, 3.9),
    (2.0, 0.97, 3.5),
    (8.0, 1.0, 2.8),
    (15.0, 0.95, 2.1),
    (50.0, 0.8, 1.5),
    (100.0, 0.55, 1.2),
    (200.0, 0.3, 1.1),
    (400.0, 0.16, 1.05),
    (1000.0, 0.06, 1.02),
    (20_000.0, 0.003, 1.0),
];
const IDLE: f64 = 89.0;
/// The most bandwidth of each mix, and where it saturates.
const MIXES: &[(&str, f64, f64)] = &[
    ("1:0", 116.0, 109.0),
    ("3:1", 108.0, 101.0),
    ("2:1", 104.0, 97.0),
    ("1:1", 98.0, 91.0),
    ("0:1", 71.0, 66.0),
];

/// The record.
pub fn family() -> Record {
    let idle = point("memory.loaded.idle", "latency without load", Unit::NANOSECONDS, IDLE);
    let mut figures = vec![on(idle, "memory.loaded.idle", &[("load", name("none"))])];
    for &(mix, most, onset) in MIXES {
        for &(delay, share, times) in SHAPE {
            let (id, series) = (format!("memory.loaded.{mix}.d{delay}"), format!("memory.loaded.{mix}"));
            let at = [("delay", number(delay, None))];
            let latency = point(&id, "latency under load", Unit::NANOSECONDS, IDLE * times);
            let mut latency = on(latency, &series, &at);
            latency.limit = Some(Limit { value: IDLE, basis: "memory.loaded.idle".into() });
            latency.conditions.set(THREADS, 24.0);
            figures.push(latency);
            let rate = point(&format!("{id}.bandwidth"), "injected", Unit::GB_PER_S, most * share);
            figures.push(on(rate, &format!("{series}.bandwidth"), &at));
        }
        figures.extend([
            property(mix, "all", Unit::GB_PER_S, 1.02 * most),
            property(mix, "highest", Unit::GB_PER_S, most),
            property(mix, "onset", Unit::GB_PER_S, onset),
            property(mix, "saturated", Unit::NANOSECONDS, IDLE * 2.8),
            property(mix, "slope", Unit::of("ns/(GB/s)"), 0.3),
        ]);
    }
    let absent = figures.iter_mut().find(|figure| figure.id == "memory.loaded.0:1.onset").expect("an onset");
    let reason = "a load takes at most 1.91x the idle latency: 23 injectors do not saturate this memory";
    (absent.value, absent.interval, absent.verdict) = (None, None, None);
    absent.checks.clear();
    *absent = absent.clone().not_available(reason);
    Record { figures, ..empty() }
}

/// What the curve of a mix shows.
fn property(mix: &str, word: &str, unit: Unit, value: f64) -> Figure {
    let convention = (unit == Unit::GB_PER_S).then_some(Convention::EstimatedTraffic);
    let figure = point(&format!("memory.loaded.{mix}.{word}"), &format!("{mix}: {word}"), unit, value);
    let mut figure = on(figure, &format!("memory.curves.{word}"), &[("mix", name(mix))]);
    if word != "all" {
        figure.computed_from(vec![format!("memory.loaded.{mix}.d8")]);
        figure.rounds.clear();
    }
    Figure { convention, better: if word == "slope" { Better::Lower } else { figure.better }, ..figure }
}
