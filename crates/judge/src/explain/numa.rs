//! Memory of a node from the CPUs of a node: remote against local, and both against the advertised distance.
//!
//! The firmware's table of distances (ACPI 6.5, section 5.2.17, SLIT) states relative latencies, 10 for local. It is often
//! a guess, so both numbers are printed. A core keeps a fixed number of lines in flight, so that by Little's law its
//! remote bandwidth falls as the latency grows. What it falls beyond that is lost between the nodes, or in memory that
//! is slow for the CPUs next to it too.

use super::by_mix::is_walk;
use super::peak;
use super::support::*;
use crate::relations::traffic::lines_in_flight;

/// Ratios this close are called the same: two latencies with 3 % each.
const SAME: f64 = 0.06;
/// A loss of bandwidth this close to the loss by latency is explained by it.
const EXPLAINED: f64 = 0.12;

pub(super) fn cell(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let (cpus, memory) = nodes(figure)?;
    match (is_latency(figure), figure.conditions.get(NODE_RELATION)?.as_str()) {
        (true, "local") => local_latency(subject, cpus),
        (false, "local") => local_bandwidth(subject, cpus),
        (true, _) => remote_latency(subject, cpus, memory),
        (false, _) => remote_bandwidth(subject, cpus, memory),
    }
}

/// The nodes of a cell of the matrix; other figures of a node's memory have explanations of their own.
fn nodes(figure: &Figure) -> Option<(f64, f64)> {
    if is_walk(figure) {
        return None;
    }
    Some((figure.conditions.get(NODE_OF_CPUS)?, figure.conditions.get(NODE_OF_MEMORY)?))
}

fn is_latency(figure: &Figure) -> bool {
    is(figure, KERNEL, "latency")
}

/// The usable cell of these nodes, a latency or a bandwidth.
fn find<'a>(subject: &Subject<'a>, latency: bool, cpus: f64, memory: f64) -> Option<&'a Figure> {
    others(subject).find(|other| is_latency(other) == latency && nodes(other) == Some((cpus, memory)))
}

/// Against the farthest memory of these CPUs.
fn local_latency(subject: &Subject, cpus: f64) -> Option<Topology> {
    let is_remote = |other: &Figure| nodes(other).is_some_and(|(row, memory)| row == cpus && memory != cpus);
    match highest(others(subject).filter(|other| is_latency(other) && is_remote(other))) {
        None => subject.machine().has_one_memory().then_some(Topology::OnlyNode),
        Some(farthest) => {
            let is_nearer = farthest.value? / subject.figure.value? < 1.0 - SAME;
            Some(Topology::LocalFarther { remote: Cited::of(farthest)? }).filter(|_| is_nearer)
        }
    }
}

/// How many lines each thread keeps in flight.
fn local_bandwidth(subject: &Subject, cpus: f64) -> Option<Topology> {
    let figure = subject.figure;
    let latency = find(subject, true, cpus, cpus).filter(|_| !peak::is_reached(subject))?;
    Some(Topology::LocalLines {
        threads: Counted(figure.conditions.get(THREADS)?, "thread"),
        lines: Count(lines_in_flight(figure, latency.value?)?),
        latency: Cited::of(latency)?,
    })
}

fn remote_latency(subject: &Subject, cpus: f64, memory: f64) -> Option<Topology> {
    let figure = subject.figure;
    let reference = find(subject, true, cpus, cpus)?;
    let (times, local) = (Times(figure.value? / reference.value?), Cited::of(reference)?);
    if times.0 <= 1.0 + SAME {
        return Some(Topology::AsNearAsLocal { times, local, node: Count(memory) });
    }
    let distances = figure.conditions.get(NODE_DISTANCE).zip(reference.conditions.get(NODE_DISTANCE));
    let (far, near) = distances.filter(|(_, near)| *near > 0.0)?;
    Some(Topology::Farther { times, local, advertised: Times(far / near) })
}

fn remote_bandwidth(subject: &Subject, cpus: f64, memory: f64) -> Option<Topology> {
    let reference = find(subject, false, cpus, cpus)?;
    let loss = reference.value? / subject.figure.value?;
    let (ratio, local) = (Times(1.0 / loss), Cited::of(reference)?);
    if loss <= 1.0 + SAME {
        return Some(Topology::AsFastAsLocal { ratio, local });
    }
    let slower = find(subject, true, cpus, memory)?.value? / find(subject, true, cpus, cpus)?.value?;
    let latency = Times(slower);
    if near(loss, slower, EXPLAINED) {
        return Some(Topology::SlowerByLatency { ratio, local, latency });
    }
    if loss < slower {
        return Some(Topology::LimitedByLocal { ratio, local, latency });
    }
    // What the memory gives the CPUs next to it.
    let home = find(subject, false, memory, memory)
        .filter(|home| home.value > reference.value.map(|value| value * (1.0 - SAME)));
    Some(match home.and_then(Cited::of) {
        Some(home) => Topology::LimitedByLink { ratio, local, latency, home },
        None => Topology::LimitedByLinkOrMemory { ratio, local, latency },
    })
}
