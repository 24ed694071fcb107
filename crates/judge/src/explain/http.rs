//! What bounds a load, and what its latencies, CPU time and memory are made of.

use figure::evidence::http as key;
use suites::loads::{self, Bound};

use super::support::*;
use crate::cases::http::Part;
use crate::load::{MEDIAN, P99, ceiling, is_closed, is_load, server_used, typical_at};

/// How far a closed loop's mean latency may be from connections over rate.
const LITTLE: f64 = 0.10;
/// From the sending less than this share of a latency: requests waited to be sent.
const WAITED: f64 = 0.9;

pub(super) fn is_computed(subject: &Subject) -> bool {
    is_load(subject) && !subject.figure.derived_from.is_empty()
}

/// The load that a figure was computed from, if it is this quantity of it and the load is usable.
fn load_of<'a>(subject: &Subject<'a>, quantity: &str) -> Option<&'a Figure> {
    subject.condition(key::WHAT).filter(|what| what == quantity)?;
    let id = subject.figure.derived_from.first()?;
    subject.record.figure(id).filter(|load| load.is_usable())
}

pub(super) fn limit(subject: &Subject) -> Option<Http> {
    let load = loads::loads(subject.record).into_iter().find(|load| load.rate.id == subject.figure.id)?;
    let used = server_used(subject.figure).into_value()?;
    let (cpus, busy, own) = (Counted(used.cpus, "CPU"), Share(used.with_network), Share(used.own));
    let ceiling = ceiling(subject).and_then(Cited::of);
    Some(match load.bound() {
        bound if bound == Bound::Rate || load.goal() == loads::SLO => {
            Http::AtRate { rate: Number(subject.typical(key::RATE_ASKED).into_value()?), used: own }
        }
        Bound::Server => {
            let interrupts = Share(used.with_network - used.own);
            Http::ServerLimit { cpus, busy, own, interrupts, ceiling }
        }
        Bound::Client => Http::ClientLimit { used: own, ceiling },
        Bound::Both => Http::BothLimits { cpus, busy, ceiling },
        Bound::Rate | Bound::Unknown => Http::NoLimitKnown { used: own, ceiling },
    })
}

pub(super) fn cost(subject: &Subject) -> Option<Http> {
    let load = load_of(subject, "cpu")?;
    let (user, system) = load.sum(key::SERVER_USER).and(load.sum(key::SERVER_SYSTEM)).into_value()?;
    let kernel = system / (user + system);
    let largest = subject.figure.parts.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let largest = largest.map(|part| Part { part: part.name.clone(), time: Seconds(part.value * 1e-6) });
    let loopback = is(load, key::INTERFACE, "lo") && kernel >= 0.5;
    kernel.is_finite().then_some(Http::Cost { kernel: Share(kernel), largest, loopback })
}

pub(super) fn latency(subject: &Subject) -> Option<Http> {
    let load = load_of(subject, "latency")?;
    let quantile = subject.condition(key::QUANTILE)?;
    match is_closed(subject) {
        true => closed(subject, load).filter(|_| quantile == 0.5),
        false => at_rate(subject, load, quantile),
    }
}

/// Of a closed loop, in which the mean follows from connections and rate.
fn closed(subject: &Subject, load: &Figure) -> Option<Http> {
    if is(load, key::GOAL, loads::REFUSAL) {
        return None;
    }
    let (connections, rate) = (subject.condition(key::CONNECTIONS)?, Amount::of(load)?);
    let mean = Subject { figure: load, record: subject.record }.typical(key::LATENCY_MEAN).into_value()?;
    let law = connections / rate.value;
    near(mean, law, LITTLE).then_some(Http::LittlesLaw {
        connections: Counted(connections, "connection"),
        rate,
        mean: Seconds(law),
    })
}

/// At a rate, from when a request was due and from its sending.
fn at_rate(subject: &Subject, load: &Figure, quantile: f64) -> Option<Http> {
    let place = match quantile {
        0.5 => MEDIAN,
        0.99 => P99,
        _ => return None,
    };
    let sent = typical_at(load, key::UNCORRECTED, place).into_value()?;
    let has_waited = sent * 1e3 < subject.figure.value? * WAITED;
    let sent = Seconds(sent);
    Some(if has_waited { Http::LatencyWithWaits { sent } } else { Http::LatencyWithoutWaits { sent } })
}

pub(super) fn goroutines(subject: &Subject) -> Option<Http> {
    load_of(subject, "goroutines")?;
    Some(Http::Goroutines {
        goroutines: Counted(subject.figure.value?, "goroutine"),
        connections: Counted(subject.condition(key::CONNECTIONS)?, "connection"),
    })
}

pub(super) fn memory(subject: &Subject) -> Option<Http> {
    let load = load_of(subject, "memory")?;
    let growth = loads::memory_of(load).into_value()?;
    let connections = load.evidence.get(key::ESTABLISHED).into_value()?;
    Some(Http::Memory {
        connections: Counted(connections, "connection"),
        grown: Bytes(subject.figure.value? * connections),
        before: Bytes(growth.before),
        proportional: growth.is_proportional,
    })
}
