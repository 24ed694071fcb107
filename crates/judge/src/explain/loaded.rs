//! Latency under load: what of it is waiting, how many lines that keeps under way, where the curve bends and what
//! saturates.

use figure::evidence::{DELAY, KERNEL, MIX, PAGES_HUGE_SHARE, THREADS};
use figure::{Figure, Record, Unit, format};

use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::curve::{CHASE, Curve, Knee, Point, Saturation, idle, is_loaded, latency_of};
use crate::relations::partner::{Side, UNTOLD, side};
use crate::relations::traffic::walked;

/// What a point of the curve is.
pub(super) const RULE: Rule = Rule { name: "loaded", says: |subject| says(subject).map(Case::Text) };
/// What the curve is, told at its knee and at its end.
pub(super) const SHAPE: Rule = Rule { name: "loaded-shape", says: |subject| shape(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if let Some(latency) = latency_of(subject.record, figure) {
        return injected(subject, latency);
    }
    if is_loaded(figure) {
        return loaded(subject);
    }
    let unloaded =
        figure.unit == Unit::NANOSECONDS && figure.conditions.get(KERNEL).as_deref() == Some(CHASE);
    unloaded.then(|| {
        let pages = match figure.evidence.get(PAGES_HUGE_SHARE).into_value() {
            Some(share) => format!("{} of its memory is in huge pages", format::percent(share)),
            None => "the size of its pages is not known".to_owned(),
        };
        format!("One load at a time, each waiting for the one before, at random over the chain; {pages}.")
    })
}

/// A latency under load against the idle one.
fn loaded(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let curve = Curve::of(subject.record, figure)?;
    let point = curve.points.iter().find(|point| std::ptr::eq(point.latency, figure))?;
    let load = format!("{} injected ({})", value(point.bandwidth), point.bandwidth.id);
    let lines = format!(
        "by Little's law {} lines of 64 B are under way at {} and this latency",
        format::number(point.lines()),
        value(point.bandwidth)
    );
    let Some(idle) = idle(subject.record, figure) else {
        return Some(format!("With {load}; {lines}."));
    };
    let waiting = figure.value? - idle.value?;
    let ratio = figure.value? / idle.value?;
    let cited = format!("{}: {}", idle.id, value(idle));
    Some(match side(figure, idle)? {
        Side::Same => format!("As without load ({cited}): nothing waits for the {load}."),
        Side::Below => {
            format!("Below the idle latency ({cited}), which was disturbed or met other clocks.")
        }
        Side::Above => format!(
            "{ratio:.2}x the idle latency ({cited}): {} ns of it are waiting, with {load}; {lines}.",
            format::number(waiting),
        ),
        Side::Untold => format!("{ratio:.2}x the idle latency ({cited}), with {load}; {UNTOLD}."),
    })
}

/// The bandwidth of a point against what all CPUs move.
fn injected(subject: &Subject, latency: &Figure) -> Option<String> {
    let figure = subject.figure;
    let injectors = figure.conditions.get(THREADS)? - 1.0;
    let threads = if injectors == 1.0 { "1 thread".to_owned() } else { format!("{injectors} threads") };
    let name = figure.conditions.get(MIX)?;
    let of = match walked(&Subject { figure: latency, record: subject.record }, &name) {
        Some(all) => format!(
            "; {} of what all CPUs move ({}: {})",
            format::percent(figure.value? / all.value?),
            all.id,
            value(all)
        ),
        None => String::new(),
    };
    let spins = match figure.conditions.get(DELAY)? {
        0.0 => "at full speed".to_owned(),
        delay => format!("with {delay} spins after each line"),
    };
    Some(format!("Injected by {threads} {spins}, in the rounds of {} ({}){of}.", latency.id, value(latency)))
}

fn shape(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let curve = Curve::of(subject.record, figure)?;
    let knee = curve.knee();
    if let Some(Knee::At(point)) = knee
        && std::ptr::eq(point.latency, figure)
    {
        return Some(
            "The knee: bandwidth for latency is highest here, more load costs more than it brings."
                .to_owned(),
        );
    }
    let end = curve.end().filter(|end| std::ptr::eq(end.latency, figure))?;
    let beyond = match knee {
        Some(Knee::At(point)) => format!("the knee was at {}", place(&point)),
        Some(Knee::Beyond) => "the knee is beyond".to_owned(),
        None => "too few points to show a knee".to_owned(),
    };
    Some(match curve.saturation(subject.record) {
        Saturation::Reached(seen) => format!("Memory saturates: {seen}; {beyond}."),
        Saturation::Short(seen) => format!(
            "Not saturated, as too few CPUs are left to inject: {seen}; the latency at full load is not seen here, \
             and {beyond}."
        ),
        Saturation::Unknown(reason) => {
            format!("Whether memory saturates at {} is not known: {reason}; {beyond}.", place(&end))
        }
    })
}

/// A point for people.
fn place(point: &Point) -> String {
    format!("{} and {} (delay {})", value(point.bandwidth), value(point.latency), point.delay)
}

/// Each curve in a sentence.
pub(crate) fn findings(record: &Record) -> Vec<(String, Vec<&Figure>)> {
    let mut told: Vec<&Option<String>> = Vec::new();
    let mut findings = Vec::new();
    for figure in record.figures.iter().filter(|figure| usable(figure) && is_loaded(figure)) {
        if told.contains(&&figure.series) {
            continue;
        }
        told.push(&figure.series);
        let Some(curve) = Curve::of(record, figure) else { continue };
        let (Some(end), Some(idle)) = (curve.end(), curve.idle) else { continue };
        let knee = match curve.knee() {
            Some(Knee::At(point)) => format!("; its knee is at {}", place(&point)),
            Some(Knee::Beyond) => "; its knee is beyond".to_owned(),
            None => String::new(),
        };
        let saturation = match curve.saturation(record) {
            Saturation::Reached(_) => "memory saturates".to_owned(),
            Saturation::Short(seen) => format!("too few CPUs are left to saturate memory: {seen}"),
            Saturation::Unknown(reason) => format!("whether memory saturates is not known: {reason}"),
        };
        let text = format!(
            "Latency under load, {}: {} idle, {} with {} injected{knee}; {saturation}.",
            figure.conditions.get(MIX).unwrap_or_default(),
            value(idle),
            value(end.latency),
            value(end.bandwidth),
        );
        findings.push((text, vec![idle, end.latency, end.bandwidth]));
    }
    findings
}
