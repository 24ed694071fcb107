//! What the checks of HTTP loads share. Not a check.
//!
//! A load is a figure with rounds of its own: the rate. Latencies, CPU time, memory and the like were computed from its rounds; they
//! are judged by it, and by what concerns only them.

use figure::evidence::http::{
    CARRIER, CLIENT_BUSIEST, CONNECTIONS, FAILURES, KEEPS_ALIVE, PACING, SECONDS, SUBJECT, WHAT,
};
use figure::evidence::{Key, http};
use figure::{CpuList, Figure, Reading, stats};
use suites::loads;

use crate::check::{Subject, measured};

/// `http.subject` of our null responder, which does nothing but answer: what the client reaches with it is the most that it can.
const CEILING: &str = "null";
pub use suites::loads::{
    ASKED, CLOSED, DOUBLED, FULL, HEADROOM, LONGEST, MEDIAN, P99, RATE, REFUSAL, SATURATION, Used, list,
};

/// For [`Check::applies`](crate::check::Check::applies): loads.
pub fn of_load(subject: &Subject) -> bool {
    measured(subject) && is_load(subject)
}

/// For [`Check::applies`](crate::check::Check::applies): loads of a server, not of our null responder, which
/// is there to show the client's limit.
pub fn of_server(subject: &Subject) -> bool {
    of_load(subject) && !is_ceiling(subject.figure)
}

/// Whether the figure is of an HTTP load at all, measured or computed.
pub fn is_load(subject: &Subject) -> bool {
    subject.condition(WHAT).is_some()
}

/// Whether the figure is of our null responder.
pub fn is_ceiling(figure: &Figure) -> bool {
    figure.conditions.get(SUBJECT).as_deref() == Some(CEILING)
}

/// Whether a request is sent as soon as a connection is free.
pub fn is_closed(subject: &Subject) -> bool {
    subject.condition(PACING).as_deref() == Some(CLOSED)
}

/// Whether requests are sent at a rate, whatever the server does.
pub fn is_open(subject: &Subject) -> bool {
    subject.condition(PACING).is_some_and(|pacing| pacing != CLOSED)
}

/// Whether the load has one of these goals.
pub fn aims_at(subject: &Subject, goals: &[&str]) -> bool {
    subject.condition(http::GOAL).is_some_and(|goal| goals.contains(&goal.as_str()))
}

/// The load that a figure was computed from; itself if it is one.
pub fn head<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    if subject.figure.kept().next().is_some() {
        return Some(subject.figure);
    }
    subject.figure.derived_from.iter().find_map(|id| subject.record.figure(id))
}

/// The median over the kept rounds of one of a fact's numbers.
pub fn typical_at(figure: &Figure, key: Key<Vec<f64>>, at: usize) -> Reading<f64> {
    let of_rounds = |rounds: Vec<Vec<f64>>| {
        let values: Option<Vec<f64>> = rounds.iter().map(|round| round.get(at).copied()).collect();
        stats::median(&values?)
    };
    match figure.over_rounds(key) {
        Reading::Value(rounds) => Reading::or_unknown(of_rounds(rounds), "recorded with too few numbers"),
        Reading::Unknown(reason) => Reading::Unknown(reason),
    }
}

/// The sums over the kept rounds of each of a fact's numbers.
pub fn sums(figure: &Figure, key: Key<Vec<f64>>) -> Reading<Vec<f64>> {
    figure.over_rounds(key).map(|rounds| {
        let longest = rounds.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest).map(|at| rounds.iter().filter_map(|round| round.get(at)).sum()).collect()
    })
}

/// Requests or attempts of the kept rounds that failed in one of these ways.
pub fn failed(figure: &Figure, key: Key<Vec<f64>>, ways: &[&str]) -> Reading<f64> {
    let of_ways = |counts: Vec<f64>| {
        FAILURES.iter().zip(counts).filter(|(way, _)| ways.contains(way)).map(|(_, count)| count).sum()
    };
    sums(figure, key).map(of_ways)
}

/// All of them; the first reason if one is unknown.
pub fn together<T, const N: usize>(readings: [Reading<T>; N]) -> Reading<[T; N]> {
    let mut values = Vec::with_capacity(N);
    for reading in readings {
        match reading {
            Reading::Value(value) => values.push(value),
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        }
    }
    Reading::or_unknown(values.try_into().ok(), "not all were read")
}

/// [`loads::cpus`] of a load.
pub fn cpus(subject: &Subject) -> CpuList {
    loads::cpus(subject.figure)
}

/// [`loads::server_cpus`] of a load.
pub fn server_cpus(subject: &Subject) -> Reading<CpuList> {
    loads::server_cpus(subject.figure)
}

/// CPU seconds that the server's CPUs had in the windows, which is what the server's side watches; never 0.
pub fn server_time(subject: &Subject) -> Reading<f64> {
    let cpus = server_cpus(subject).map(|cpus| cpus.len().max(1) as f64);
    cpus.and(subject.figure.sum(SECONDS)).map(|(cpus, seconds)| cpus * seconds.max(f64::MIN_POSITIVE))
}

/// [`loads::is_apart`] of a load.
pub fn is_apart(subject: &Subject) -> bool {
    loads::is_apart(subject.figure)
}

/// [`loads::server_used`] of a load.
pub fn server_used(subject: &Subject) -> Reading<Used> {
    loads::server_used(subject.figure)
}

/// The null responder under the same load: so many connections, kept or not, by the same carrier, in a closed loop.
pub fn ceiling<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    let of = &subject.figure.conditions;
    subject.record.figures.iter().find(|other| {
        let theirs = &other.conditions;
        is_ceiling(other)
            && other.value.is_some()
            && theirs.get(WHAT).as_deref() == Some(RATE)
            && theirs.get(PACING).as_deref() == Some(CLOSED)
            && theirs.get(CONNECTIONS) == of.get(CONNECTIONS)
            && theirs.get(KEEPS_ALIVE) == of.get(KEEPS_ALIVE)
            && theirs.get(CARRIER) == of.get(CARRIER)
    })
}

/// How many times the figure's rate the client reaches with the null responder; `None` where that was not
/// measured.
pub fn headroom(subject: &Subject) -> Option<f64> {
    let ratio = ceiling(subject)?.value? / subject.figure.value?;
    Some(ratio).filter(|ratio| ratio.is_finite())
}

/// Whether the server is at its limit while the client is not, by their CPU time: then it is the server that
/// bounds the rate, and the ceiling need not be far.
pub fn only_the_server_is_full(subject: &Subject) -> bool {
    let server = server_used(subject).into_value().is_some_and(|used| used.own >= FULL);
    server && subject.typical(CLIENT_BUSIEST).into_value().is_some_and(|busiest| busiest < FULL)
}
