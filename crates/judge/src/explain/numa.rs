//! A node's memory as the CPUs of a node see it: remote against local, and both against the advertised distance.
//!
//! The firmware's table of distances (ACPI 6.5, section 5.2.17, SLIT) states relative latencies, 10 for local. It is often
//! a guess; here both numbers stand side by side. A core keeps a fixed number of lines under way, so that by Little's law
//! its remote bandwidth falls as the latency grows; what it falls beyond that is lost between the nodes, or in memory
//! that is slow for its own CPUs too.

use figure::Figure;
use figure::evidence::{KERNEL, NODE_DISTANCE, NODE_OF_CPUS, NODE_OF_MEMORY, NODE_RELATION, THREADS};

use super::{Rule, near, peak, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::traffic::lines_in_flight;

/// Ratios this close are called the same: two latencies with 3 % each.
const SAME: f64 = 0.06;
/// A measured ratio this close to the advertised one confirms it.
const ADVERTISED: f64 = 0.15;
/// A loss of bandwidth this close to the loss by latency is explained by it.
const EXPLAINED: f64 = 0.12;

pub(super) const RULE: Rule = Rule { name: "numa", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let (cpus, memory) = nodes(figure)?;
    match (is_latency(figure), relation(figure)?.as_str()) {
        (true, "local") => local_latency(subject, cpus),
        (false, "local") => local_bandwidth(subject, cpus),
        (true, _) => remote_latency(subject, cpus, memory),
        (false, _) => remote_bandwidth(subject, cpus, memory),
    }
}

fn nodes(figure: &Figure) -> Option<(f64, f64)> {
    Some((figure.conditions.get(NODE_OF_CPUS)?, figure.conditions.get(NODE_OF_MEMORY)?))
}

fn relation(figure: &Figure) -> Option<String> {
    figure.conditions.get(NODE_RELATION)
}

fn is_latency(figure: &Figure) -> bool {
    figure.conditions.get(KERNEL).as_deref() == Some("latency")
}

/// The usable cell of these nodes, of the subject's sort or the other.
fn cell<'a>(subject: &Subject<'a>, latency: bool, cpus: f64, memory: f64) -> Option<&'a Figure> {
    let mut figures = subject.record.figures.iter();
    figures
        .find(|other| usable(other) && is_latency(other) == latency && nodes(other) == Some((cpus, memory)))
}

/// How the memory stands to the CPUs, for people.
fn stands(figure: &Figure) -> &'static str {
    match relation(figure).as_deref() {
        Some("same-package") => "on another node of the same package",
        Some("other-package") => "in another package",
        Some("memory-only") => "on a node without CPUs",
        _ => "on another node",
    }
}

/// The farthest memory that a row was measured with.
fn local_latency(subject: &Subject, cpus: f64) -> Option<String> {
    let own = subject.figure.value?;
    let others = subject.record.figures.iter().filter(|other| {
        usable(other)
            && is_latency(other)
            && nodes(other).is_some_and(|(row, memory)| row == cpus && memory != cpus)
    });
    let farthest = others.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    let Some(farthest) = farthest else {
        return (subject.machine().numa.nodes.len() == 1).then(|| {
            "The only NUMA node: all memory is local, and there is none to compare with.".to_owned()
        });
    };
    let times = farthest.value? / own;
    Some(if times < 1.0 - SAME {
        format!(
            "Farther than memory {} ({}, {}): local memory should be the nearest; a hypervisor may show nodes that are \
             not the host's.",
            stands(farthest),
            value(farthest),
            farthest.id
        )
    } else {
        format!(
            "The row's own memory, that the others are held against: the farthest, {}, takes {times:.2}x as long ({}).",
            stands(farthest),
            farthest.id
        )
    })
}

/// How many lines each thread keeps under way.
fn local_bandwidth(subject: &Subject, cpus: f64) -> Option<String> {
    let figure = subject.figure;
    if peak::is_reached(subject) {
        return None;
    }
    let latency = cell(subject, true, cpus, cpus)?;
    let lines = lines_in_flight(figure, latency.value?)?;
    let threads = figure.conditions.get(THREADS)?;
    Some(format!(
        "With {lines:.0} lines of 64 B under way in each of {threads} thread{} at the idle latency ({}, {}); its pages lie on \
         the node, so that no other has a part in it.",
        if threads == 1.0 { "" } else { "s" },
        value(latency),
        latency.id
    ))
}

fn remote_latency(subject: &Subject, cpus: f64, memory: f64) -> Option<String> {
    let figure = subject.figure;
    let local = cell(subject, true, cpus, cpus)?;
    let times = figure.value? / local.value?;
    let seen = format!("{times:.2}x the local latency ({}, {})", value(local), local.id);
    if times <= 1.0 + SAME {
        return Some(format!(
            "Memory {} is no farther than local memory: {seen}. Its pages lie on node {memory}, so that misplacement is \
             ruled out; the nodes may share one memory, as a guest's may on one node of its host.",
            stands(figure)
        ));
    }
    let advertised = figure.conditions.get(NODE_DISTANCE).zip(local.conditions.get(NODE_DISTANCE));
    let advertised = match advertised.filter(|(_, near)| *near > 0.0) {
        Some((far, near)) => {
            let ratio = far / near;
            let word = if super::near(times, ratio, ADVERTISED) {
                "confirms"
            } else if times < ratio {
                "is below"
            } else {
                "exceeds"
            };
            format!(
                "that {word} the {ratio:.2}x that the firmware advertises (distance {far} against {near})"
            )
        }
        None => "the firmware advertises no distance".to_owned(),
    };
    Some(format!("Memory {}: {seen}; {advertised}.", stands(figure)))
}

fn remote_bandwidth(subject: &Subject, cpus: f64, memory: f64) -> Option<String> {
    let figure = subject.figure;
    let local = cell(subject, false, cpus, cpus)?;
    let loss = local.value? / figure.value?;
    let seen = format!(
        "Memory {} gives {:.2}x the local bandwidth ({}, {})",
        stands(figure),
        1.0 / loss,
        value(local),
        local.id
    );
    if loss <= 1.0 + SAME {
        let why =
            if loss < 1.0 - SAME { "it is the faster memory" } else { "what lies between is not the limit" };
        return Some(format!("{seen}: {why}."));
    }
    let latencies = cell(subject, true, cpus, memory).zip(cell(subject, true, cpus, cpus));
    let Some(slower) = latencies.and_then(|(far, near)| Some(far.value? / near.value?)) else {
        return Some(format!("{seen}; whether by its latency is not known, for that was not measured."));
    };
    if near(loss, slower, EXPLAINED) {
        return Some(format!(
            "{seen}, as its latency of {slower:.2}x lets expect of cores that keep a fixed number of lines under way; the \
             link between the nodes is ruled out."
        ));
    }
    if loss < slower {
        return Some(format!(
            "{seen}, less of a loss than its latency of {slower:.2}x: with local memory the memory is the limit, not the \
             lines that the cores keep under way."
        ));
    }
    // The memory by itself: as the CPUs next to it see it.
    let there = cell(subject, false, memory, memory);
    let limit = match there.filter(|there| there.value > local.value.map(|v| v * (1.0 - SAME))) {
        Some(there) => format!(
            "the link between the nodes is the limit, as the memory itself gives its own CPUs {} ({})",
            value(there),
            there.id
        ),
        None => "the link or that memory is the limit".to_owned(),
    };
    Some(format!("{seen}, more of a loss than its latency of {slower:.2}x explains: {limit}."))
}
