//! What bounds a load, and what its latencies, costs and goroutines are made of.

use figure::evidence::http as key;
use figure::{Figure, format};

use super::{Rule, near, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::load::{
    FULL, MEDIAN, P99, RATE, ceiling, headroom, is_ceiling, is_closed, is_load, server_used, typical_at,
};

/// Rate times CPU time of a request may differ from the CPUs by this share: windows and books do not end together.
const ACCOUNTED: f64 = 0.15;
/// How far a closed loop's mean latency may be from connections over rate.
const LITTLE: f64 = 0.10;

/// From the sending less than this share of a latency: requests waited to be sent.
const WAITED: f64 = 0.9;

/// A rate: who is at his limit, and how far the client could go.
pub(super) const RATE_BOUND: Rule =
    Rule { name: "http-rate-bound", says: |subject| bound(subject).map(Case::Text) };
/// CPU time of a request: kernel's share and the largest bucket.
pub(super) const COST: Rule = Rule { name: "http-cost", says: |subject| cost(subject).map(Case::Text) };
/// Latency of a closed loop.
pub(super) const LITTLES_LAW: Rule =
    Rule { name: "http-littles-law", says: |subject| little(subject).map(Case::Text) };
/// Goroutines beside connections.
pub(super) const GOROUTINES: Rule =
    Rule { name: "http-goroutines", says: |subject| goroutines(subject).map(Case::Text) };
/// Memory beside connections.
pub(super) const MEMORY: Rule = Rule { name: "http-memory", says: |subject| memory(subject).map(Case::Text) };

/// Waits of goroutines for a CPU.
pub(super) const WAITS: Rule = Rule { name: "http-waits", says: |subject| waits(subject).map(Case::Text) };
/// Latency at a rate, from the intended start and from the sending.
pub(super) const OPEN: Rule = Rule { name: "http-open", says: |subject| open(subject).map(Case::Text) };

/// Whether a figure was computed from a load.
pub(super) fn is_computed(subject: &Subject) -> bool {
    is_load(subject) && !subject.figure.derived_from.is_empty()
}

fn what(subject: &Subject) -> Option<String> {
    subject.condition(key::WHAT).filter(|_| is_load(subject))
}

/// The load that a figure was computed from, if it means what it says.
fn source<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    let id = subject.figure.derived_from.first()?;
    subject.record.figure(id).filter(|head| usable(head))
}

fn bound(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == RATE)?;
    if is_ceiling(subject.figure) {
        return None;
    }
    if !is_closed(subject) {
        let asked = subject.typical(key::RATE_ASKED).into_value()?;
        let used = server_used(subject).into_value()?;
        return Some(format!(
            "{} requests/s were asked for; the server used {} of its CPUs' time for them.",
            format::number(asked),
            format::percent(used.own)
        ));
    }
    let rate = subject.figure.value?;
    let used = server_used(subject).into_value()?;
    let cpu = subject.record.figure(&format!("{}.cpu", subject.figure.id)).filter(|cpu| usable(cpu));
    let above = headroom(subject).zip(ceiling(subject)).map_or_else(String::new, |(times, ceiling)| {
        format!(" The client could do {times:.2} times as much ({}).", ceiling.id)
    });
    let told = cpu.and_then(|cpu| Some((cpu, cpu.value?)));
    if used.with_network >= FULL {
        let made = told.filter(|(_, cost)| near(rate * cost * 1e-6, used.cpus, ACCOUNTED)).map_or_else(
            || format!("{} of the time of its CPUs is used", format::percent(used.own)),
            |(cpu, _)| format!("{} a request ({}) fill {:.0} of its CPUs", value(cpu), cpu.id, used.cpus),
        );
        return Some(format!("The server is at its limit: {made}.{above}"));
    }
    Some(format!(
        "The server is not at its limit: it used {} of its CPUs' time, so that something else bounds the rate.{above}",
        format::percent(used.own)
    ))
}

fn cost(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "cpu")?;
    let head = source(subject)?;
    let (user, system) = head.sum(key::SERVER_USER).and(head.sum(key::SERVER_SYSTEM)).into_value()?;
    let kernel = system / (user + system);
    let largest = subject.figure.parts.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let largest = largest.map_or_else(String::new, |part| {
        format!(
            "; most of it for {} ({} us, {})",
            part.name,
            format::number(part.value),
            format::percent(part.share)
        )
    });
    let lo = head.conditions.get(key::INTERFACE).as_deref() == Some("lo");
    let lo = if lo && kernel >= 0.5 { " Over lo that holds the client's receiving as well." } else { "" };
    kernel.is_finite().then(|| format!("{} of it is in the kernel{largest}.{lo}", format::percent(kernel)))
}

fn little(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "latency")?;
    let head = source(subject).filter(|_| subject.condition(key::QUANTILE) == Some(0.5))?;
    if !is_closed(subject) || head.conditions.get(key::GOAL).as_deref() == Some("refusal") {
        return None;
    }
    let (connections, rate) = (subject.condition(key::CONNECTIONS)?, head.value?);
    let mean = crate::check::Subject { figure: head, record: subject.record }
        .typical(key::LATENCY_MEAN)
        .into_value()?;
    let law = connections / rate;
    near(mean, law, LITTLE).then(|| {
        format!(
            "By construction: {connections:.0} connections that wait for {} ({}) are answered after {} on average (Little's law), \
             whatever the server is.",
            value(head),
            head.id,
            format::seconds(law)
        )
    })
}

fn open(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "latency" && !is_closed(subject))?;
    let head = source(subject)?;
    let place = match subject.condition(key::QUANTILE)? {
        0.5 => MEDIAN,
        0.99 => P99,
        _ => return None,
    };
    let sent = typical_at(head, key::UNCORRECTED, place).into_value()? * 1e3;
    let all = subject.figure.value?;
    Some(match sent < all * WAITED {
        true => format!(
            "From the sending it is {} ms: requests waited to be sent, and a closed loop would not show it.",
            format::number(sent)
        ),
        false => "From the sending it is the same: nothing waited to be sent.".to_owned(),
    })
}

fn waits(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "run-queue")?;
    let head = source(subject)?;
    let threads = head.evidence.get(key::GOMAXPROCS).into_value()?;
    let median = typical_at(head, key::GO_RUNNABLE, MEDIAN).into_value()?;
    let noun = if threads == 1.0 { "thread" } else { "threads" };
    Some(format!(
        "Goroutines that are ready wait for {threads:.0} {noun} of Go, half of them less than {}.",
        format::seconds(median)
    ))
}

fn goroutines(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "goroutines")?;
    let (count, connections) = (subject.figure.value?, subject.condition(key::CONNECTIONS)?);
    let each = count / connections;
    Some(match () {
        () if each >= 1.5 => format!("{each:.1} goroutines for each of {connections:.0} connections."),
        () if each >= 0.9 => format!("One goroutine for each of {connections:.0} connections."),
        () => format!("Fewer than connections ({connections:.0}): they share goroutines."),
    })
}

fn memory(subject: &Subject) -> Option<String> {
    what(subject).filter(|what| what == "memory")?;
    let head = source(subject)?;
    let growth = figure::loads::memory_of(head).into_value()?;
    let connections = head.evidence.get(key::ESTABLISHED).into_value()?;
    let kind = match growth.is_proportional {
        true => "PSS: pages that its processes share count once",
        false => "RSS: pages that its processes share count for each",
    };
    Some(format!(
        "What all processes of the server have under load beyond the {} before the first connection ({kind}), over {connections:.0} \
         connections; the kernel's sockets are not in it.",
        format::bytes(growth.before)
    ))
}
