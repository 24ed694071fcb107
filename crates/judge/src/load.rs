//! What the checks of HTTP loads share. Not a check.
//!
//! A load is a figure with rounds of its own: the rate. Latencies, CPU time, memory and the like were computed from its rounds; they
//! are judged by it, and by what concerns only them.

use figure::evidence::Key;
use figure::evidence::http::{
    CARRIER, CLIENT_BUSIEST, CONNECTIONS, FAILURES, GOAL, KEEPS_ALIVE, PACING, SECONDS, SUBJECT, WHAT,
};
use figure::{Figure, Reading, stats};

pub use crate::subject::is_load;
use crate::subject::{Subject, measured};

pub use suites::loads::{
    ASKED, CLOSED, DOUBLED, FULL, HEADROOM, LONGEST, MEDIAN, P99, RATE, REFUSAL, SATURATION, USERS, cpus,
    is_apart, list, server_cpus, server_used,
};

/// `http.subject` of our null responder, which does nothing but answer: what the client reaches with it is the most that it can.
const CEILING: &str = "null";

/// Loads.
pub fn of_load(subject: &Subject) -> bool {
    measured(subject) && is_load(subject)
}

/// Loads of a server, not of our null responder, which is there to show the client's limit.
pub fn of_server(subject: &Subject) -> bool {
    of_load(subject) && !is_ceiling(subject.figure)
}

/// Whether the figure is of our null responder.
pub fn is_ceiling(figure: &Figure) -> bool {
    figure.conditions.get(SUBJECT).as_deref() == Some(CEILING)
}

/// Whether a request is sent as soon as a connection is free.
pub fn is_closed(subject: &Subject) -> bool {
    subject.is(PACING, CLOSED)
}

/// Whether requests are sent at a rate, whatever the server does.
pub fn is_open(subject: &Subject) -> bool {
    subject.condition(PACING).is_some_and(|pacing| pacing != CLOSED && pacing != USERS)
}

/// Whether requests are sent by users that may pause, or come at a rate which is not known.
pub fn is_of_users(subject: &Subject) -> bool {
    subject.is(PACING, USERS)
}

/// Whether the load has one of these goals.
pub fn aims_at(subject: &Subject, goals: &[&str]) -> bool {
    subject.condition(GOAL).is_some_and(|goal| goals.contains(&goal.as_str()))
}

/// The load that a figure was computed from; itself if it is one.
pub fn head<'a>(subject: &Subject<'a>) -> Reading<&'a Figure> {
    if subject.figure.used_rounds().next().is_some() {
        return Reading::Value(subject.figure);
    }
    let source = subject.figure.derived_from.iter().find_map(|id| subject.record.figure(id));
    Reading::or_unknown(source, "the load that it was computed from is not in the record")
}

/// The median over the kept rounds of one of a fact's numbers.
pub fn typical_at(figure: &Figure, key: Key<Vec<f64>>, at: usize) -> Reading<f64> {
    let of_rounds = |rounds: Vec<Vec<f64>>| {
        let values: Option<Vec<f64>> = rounds.iter().map(|round| round.get(at).copied()).collect();
        stats::median(&values?)
    };
    let rounds = figure.over_rounds(key);
    rounds.and_then(|rounds| Reading::or_unknown(of_rounds(rounds), "recorded with too few numbers"))
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

/// CPU seconds that the server's CPUs had in the windows, which is what the server's side watches; never 0.
pub fn server_time(subject: &Subject) -> Reading<f64> {
    let cpus = server_cpus(subject.figure).map(|cpus| cpus.len().max(1) as f64);
    cpus.and(subject.sum(SECONDS)).map(|(cpus, seconds)| cpus * seconds.max(f64::MIN_POSITIVE))
}

/// The rates that were measured by as many connections as the subject, kept or not as its own.
pub fn of_same_connections(subject: Subject<'_>) -> impl Iterator<Item = Subject<'_>> {
    let all = subject.record.figures.iter().map(move |figure| Subject { figure, ..subject });
    all.filter(move |other| {
        other.figure.value.is_some()
            && other.is(WHAT, RATE)
            && other.same(&subject, CONNECTIONS)
            && other.same(&subject, KEEPS_ALIVE)
    })
}

/// The null responder under the same load: so many connections, kept or not, by the same carrier, in a closed loop.
pub fn ceiling<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    let fits = |other: &Subject| is_ceiling(other.figure) && is_closed(other) && other.same(subject, CARRIER);
    of_same_connections(*subject).find(fits).map(|other| other.figure)
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
    let server = server_used(subject.figure).into_value().is_some_and(|used| used.own >= FULL);
    server && subject.typical(CLIENT_BUSIEST).into_value().is_some_and(|busiest| busiest < FULL)
}
