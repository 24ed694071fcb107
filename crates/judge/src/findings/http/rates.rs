//! Who is faster, who pays for what, and whether multiplexing helps.

use figure::loads::{self, Load, Quantity};
use figure::{Explanation, Figure, format};

use super::{by_connections, cited, note, pairs, ratios, share, times};
use crate::servers::Model;

/// What fasthttp's readme promised when the study was made (until e9640b4, 2025-09-10).
const PROMISED: f64 = 10.0;
/// Buckets that are named as those that make a difference, at most.
const MOST_BUCKETS: usize = 3;
/// A bucket makes a difference from this share of the whole difference on.
const LEAST_OF_DIFFERENCE: f64 = 0.1;
/// Buckets of the kernel's work on the wire: the same bytes for all servers.
const WIRE: [&str; 2] = ["read", "write"];

/// Is the pooled server ten times as fast as that with a goroutine for each request, and could it be?
pub(super) fn promised(all: &[Load]) -> Option<Explanation> {
    let pairs = pairs(all, loads::SATURATION, Model::Pooled, Model::PerRequest);
    let (pooled, plain) = pairs.first()?;
    let (fast, slow) = (pooled.server(), plain.server());
    let ratios = ratios(&pairs, Quantity::Rate);
    if ratios.is_empty() {
        let figures: Vec<&Figure> = pairs.iter().flat_map(|(one, other)| [one.rate, other.rate]).collect();
        let text = format!(
            "Whether {fast} is ten times as fast as {slow} cannot be told from this record: there are too few rounds of both, or one \
             is not valid."
        );
        return note(text, &figures);
    }
    let most = ratios.iter().map(|(_, ratio, _)| ratio.high).fold(0.0, f64::max);
    let least = ratios.iter().map(|(_, ratio, _)| ratio.low).fold(f64::INFINITY, f64::min);
    let answer = match () {
        () if most < PROMISED => format!("{fast} is not ten times as fast as {slow}"),
        () if least > PROMISED => format!("{fast} is more than ten times as fast as {slow}"),
        () => format!("Whether {fast} is ten times as fast as {slow} cannot be told"),
    };
    let mut figures = cited(&ratios);
    // Reading and writing take what they take, whoever serves.
    let bound = pairs.iter().find_map(|(_, plain)| {
        let cpu = plain.sound(Quantity::Cpu)?;
        Some((plain.connections, share(cpu, &WIRE).filter(|wire| *wire > 0.0)?, cpu))
    });
    let bound = bound.map_or_else(String::new, |(at, wire, cpu)| {
        figures.push(cpu);
        format!(
            " More than {:.1}x could not come of other code in the server: with {at:.0} connections {} of the CPU time of {slow} is \
             reading and writing, which stay (Amdahl).",
            1.0 / wire,
            format::percent(wire)
        )
    });
    note(format!("{answer}: {}.{bound}", by_connections(&ratios)), &figures)
}

/// Which buckets make the difference between the two, in us a request.
pub(super) fn payers(all: &[Load]) -> Option<Explanation> {
    let pairs = pairs(all, loads::SATURATION, Model::PerRequest, Model::Pooled);
    let of = |load: &Load, quantity| load.sound(quantity).map(|figure: &Figure| figure.parts.is_empty());
    let both = |(one, other): &&(&Load, &Load)| {
        [one, other].iter().all(|load| of(load, Quantity::Cpu) == Some(false))
    };
    let (plain, pooled) = pairs.iter().find(both)?;
    let (cpu, less) = (plain.sound(Quantity::Cpu)?, pooled.sound(Quantity::Cpu)?);
    let difference = cpu.value? - less.value?;
    let of = |figure: &Figure, name: &str| {
        figure.parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.value)
    };
    let mut more: Vec<(&str, f64)> =
        cpu.parts.iter().map(|part| (part.name.as_str(), part.value - of(less, &part.name))).collect();
    more.retain(|(_, more)| *more >= LEAST_OF_DIFFERENCE * difference.abs());
    more.sort_by(|a, b| b.1.total_cmp(&a.1));
    more.truncate(MOST_BUCKETS);
    let named: Vec<String> = more.iter().map(|(name, more)| format!("{name} ({more:.1} us)")).collect();
    if difference <= 0.0 || named.is_empty() {
        return None;
    }
    let text = format!(
        "With {:.0} connections a request costs {} {} us more of the server's CPU than {} ({}): most of it for {}.",
        plain.connections,
        plain.server(),
        format::number(difference),
        pooled.server(),
        cost(plain, pooled),
        format::listed(&named)
    );
    note(text, &[cpu, less])
}

/// The costs of a request as a ratio; as they are, with too few rounds for an interval.
fn cost(one: &Load, other: &Load) -> String {
    match one.times(other, Quantity::Cpu) {
        Some(ratio) => times(&ratio),
        None => {
            let value =
                |load: &Load| load.sound(Quantity::Cpu).and_then(|figure| figure.value).unwrap_or(0.0);
            format!(
                "{} and {} us; too few rounds for an interval",
                format::number(value(one)),
                format::number(value(other))
            )
        }
    }
}

/// Does multiplexing help, at how many connections: rate, memory, waits for a CPU.
pub(super) fn multiplexing(all: &[Load]) -> Option<Explanation> {
    let pairs = pairs(all, loads::SATURATION, Model::Multiplexed, Model::Pooled);
    let (one, other) = pairs.first()?;
    let rates = ratios(&pairs, Quantity::Rate);
    let helped: Vec<String> =
        rates.iter().filter(|(_, ratio, _)| ratio.low > 1.0).map(|(at, ..)| format!("{at:.0}")).collect();
    let hurt = rates.iter().any(|(_, ratio, _)| ratio.high < 1.0);
    let head = match (helped.is_empty(), hurt) {
        _ if rates.is_empty() => "the rounds do not tell about the rate".to_owned(),
        (false, _) => format!("it raises the rate with {} connections", format::listed(&helped)),
        (true, true) => "it lowers the rate".to_owned(),
        (true, false) => "no difference of rates is shown".to_owned(),
    };
    let mut figures = cited(&rates);
    let mut parts = Vec::new();
    for (called, quantity) in [
        ("rate", Quantity::Rate),
        ("memory of a connection", Quantity::Memory),
        ("p99 of a goroutine's wait for a CPU", Quantity::Runnable),
    ] {
        let ratios = ratios(&pairs, quantity);
        if !ratios.is_empty() {
            figures.extend(cited(&ratios));
            parts.push(format!("{called} {}", by_connections(&ratios)));
        }
    }
    if parts.is_empty() {
        return None;
    }
    figures.dedup_by_key(|figure| &figure.id);
    let text = format!(
        "Multiplexing ({} beside {}): {head}. {}.",
        one.server(),
        other.server(),
        capital(&parts.join("; "))
    );
    note(text, &figures)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
