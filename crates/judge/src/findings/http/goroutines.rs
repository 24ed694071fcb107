//! Goroutines: how many there are, how many are made, and what their scheduler costs.

use figure::evidence::http as key;
use figure::loads::{self, Load, Quantity};
use figure::{Explanation, Figure, Record, format};

use super::{is_of, note, share};
use crate::servers::{Model, model};

/// With fewer CPUs Go's scheduler has nobody to wait for but itself.
const SCHEDULER_CPUS: usize = 4;
/// Buckets of Go's scheduler, which should grow with connections.
const SCHEDULER: [&str; 3] = ["netpoll", "scheduler", "park and wake"];
/// From this share of the connections on there is a goroutine for each.
const ONE_EACH: f64 = 0.9;

/// Does Go's scheduler take the CPU as connections grow? With few CPUs that is not to be seen.
pub(super) fn scheduler(record: &Record, all: &[Load]) -> Option<Explanation> {
    let own: Vec<&Load> = all.iter().filter(|load| is_of(load, loads::SATURATION, Model::Pooled)).collect();
    let told = own.iter().filter_map(|load| {
        let cpu = load.sound(Quantity::Cpu)?;
        let (_, samples) = load.profiled(key::PROFILE_SHARES)?;
        Some((load.connections, share(cpu, &SCHEDULER)?, samples, cpu))
    });
    let mut shares: Vec<(f64, f64, f64, &Figure)> = told.collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, last) = (shares.first()?, shares.last()?);
    if first.0 == last.0 {
        return None;
    }
    let error = |of: &(f64, f64, f64, &Figure)| loads::sampling_error(of.1, of.2);
    // Two standard deviations of the difference.
    let grown = last.1 - first.1 > 2.0 * (error(first).powi(2) + error(last).powi(2)).sqrt();
    let numbers = format!(
        "{} of the server's CPU time with {:.0} connections, {} with {:.0}",
        format::percent(first.1),
        first.0,
        format::percent(last.1),
        last.0
    );
    let cpus = own.first().map_or(0, |load| cpus(record, load));
    let text = match (grown, cpus < SCHEDULER_CPUS) {
        (true, _) => format!(
            "Go's scheduler and netpoll take more with more connections ({}): {numbers}.",
            own[0].server()
        ),
        (false, true) => format!(
            "Whether Go's scheduler takes the CPU as connections grow is not observable here: the server has {cpus} {}. Seen ({}): {numbers}.",
            if cpus == 1 { "CPU" } else { "CPUs" },
            own[0].server()
        ),
        (false, false) => format!(
            "Go's scheduler and netpoll do not take more with more connections, as far as the profiles tell ({}): {numbers}.",
            own[0].server()
        ),
    };
    note(text, &[first.3, last.3])
}

/// CPUs that a server may use; all of the machine where nothing is said, which of a remote server its agent tells.
fn cpus(record: &Record, load: &Load) -> usize {
    let given = load.rate.conditions.get(key::SERVER_CPUS).unwrap_or_default();
    let allowed = load.rate.over_rounds(key::SERVER_ALLOWED).into_value().unwrap_or_default();
    match (given.len(), allowed.first()) {
        (0, Some(allowed)) => allowed.len(),
        (0, None) => record.machine.topology.usable().len(),
        (given, _) => given,
    }
}

/// Goroutines for each connection, saturated and mostly idle: does a pool degenerate to a goroutine for each connection?
pub(super) fn goroutines(all: &[Load]) -> Option<Explanation> {
    let mut figures = Vec::new();
    let mut told = Vec::new();
    let mut degenerate = Vec::new();
    for (goal, called) in [(loads::SATURATION, "saturated"), (loads::DUTY, "mostly idle")] {
        let mut each = Vec::new();
        let most = |load: &&Load| {
            let same = all.iter().filter(|other| other.server() == load.server() && other.goal() == goal);
            let sound = same.filter(|other| other.sound(Quantity::Goroutines).is_some());
            sound.map(|other| other.connections).fold(0.0, f64::max) == load.connections
        };
        for load in
            all.iter().filter(|load| load.goal() == goal && model(&load.server()).is_some()).filter(most)
        {
            let Some(figure) = load.sound(Quantity::Goroutines) else { continue };
            let Some(count) = figure.value.filter(|_| load.connections > 0.0) else { continue };
            let ratio = count / load.connections;
            each.push(format!("{} {count:.0} for {:.0} connections", load.server(), load.connections));
            figures.push(figure);
            if is_of(load, goal, Model::Pooled) && ratio >= ONE_EACH {
                degenerate.push(called);
            }
        }
        if !each.is_empty() {
            told.push(format!("{called}: {}", each.join(", ")));
        }
    }
    if told.is_empty() {
        return None;
    }
    let pooled = all.iter().find(|load| model(&load.server()) == Some(Model::Pooled)).map(Load::server);
    let moral = match (pooled, degenerate.is_empty()) {
        (Some(pooled), false) => format!(
            " The pool of {pooled} degenerates to a goroutine for each connection ({}): a worker keeps its connection until that closes.",
            format::listed(&degenerate)
        ),
        (Some(pooled), true) => format!(" The pool of {pooled} has fewer goroutines than connections."),
        (None, _) => String::new(),
    };
    note(format!("Goroutines, {}.{moral}", told.join("; ")), &figures)
}

/// Goroutines made for each request.
pub(super) fn created(all: &[Load]) -> Option<Explanation> {
    let saturated: Vec<&Load> = all.iter().filter(|load| load.goal() == loads::SATURATION).collect();
    let fewest = saturated.iter().map(|load| load.connections).reduce(f64::min)?;
    let few = saturated.iter().filter(|load| load.connections == fewest);
    let told = few.filter_map(|load| {
        let value = figure::stats::median(&load.rate.over_rounds(key::GOROUTINES_CREATED).into_value()?)?;
        Some((load.server(), value, load.sound(Quantity::Rate)?, model(&load.server())?))
    });
    let told: Vec<(String, f64, &Figure, Model)> = told.collect();
    let (server, most, ..) = told.iter().find(|(.., kind)| *kind == Model::PerRequest)?;
    let each: Vec<String> = told.iter().map(|(server, value, ..)| format!("{server} {value:.2}")).collect();
    let moral = if *most >= 0.5 {
        format!("{server} makes one to watch for the peer's going while it answers")
    } else {
        format!("that {server} makes one for each request is not seen")
    };
    let figures: Vec<&Figure> = told.iter().map(|(_, _, figure, _)| *figure).collect();
    note(format!("Goroutines made for each request: {}: {moral}.", each.join(", ")), &figures)
}
