//! HTTP servers side by side: which is faster and why, what a connection costs, which rate holds a latency.

use figure::Round;
use figure::evidence::http as key;
use figure::format::plain_to;
use suites::loads::{self, Load, Quantity};

use super::support::*;
use crate::cases::http::{Entry, ExtraCost, Part, RatioAt, Ratios, ServerRate};

/// Parts of the CPU time that are named as the difference between two servers, at most.
const MOST_PARTS: usize = 2;
/// A part is named from this share of the whole difference on.
const LEAST_OF_DIFFERENCE: f64 = 0.1;
/// The longest name of a server; names are untrusted.
const MAX_SERVER: usize = 32;

pub(super) fn servers(record: &Record) -> Vec<Explanation> {
    let all = loads::loads(record);
    let mut findings = rates(&all, loads::SATURATION);
    findings.extend(held_rates(&all));
    findings.extend(memory(&all));
    findings.extend(pool(&all));
    findings.extend(rates(&all, loads::SHORT));
    findings
}

fn server(load: &Load) -> String {
    plain_to(&load.server(), MAX_SERVER)
}

fn value(load: &Load, quantity: Quantity) -> Option<f64> {
    load.sound(quantity)?.value
}

/// The loads of a goal with this quantity, by connections, and the largest first.
fn of_goal<'l, 'a>(all: &'l [Load<'a>], goal: &str, quantity: Quantity) -> Vec<&'l Load<'a>> {
    let is_one = |load: &&Load| load.goal() == goal && value(load, quantity).is_some();
    let mut loads: Vec<&Load> = all.iter().filter(is_one).collect();
    let size = |load: &Load| value(load, quantity).unwrap_or_default();
    loads.sort_by(|a, b| a.connections.total_cmp(&b.connections).then(size(b).total_cmp(&size(a))));
    loads
}

/// Each server and the next slower one, by their rates at the fewest connections.
fn rates(all: &[Load], goal: &str) -> Vec<Explanation> {
    let loads = of_goal(all, goal, Quantity::Rate);
    let mut servers: Vec<String> = Vec::new();
    for server in loads.iter().map(|load| load.server()) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    let mut findings = Vec::new();
    for pair in servers.windows(2) {
        let with_other = |load: &&Load| {
            let is_same = |other: &&&Load| other.server() == pair[1] && other.connections == load.connections;
            loads.iter().find(is_same).copied()
        };
        let of_one = loads.iter().filter(|load| load.server() == pair[0]);
        let pairs: Vec<[&Load; 2]> = of_one.filter_map(|load| Some([*load, with_other(load)?])).collect();
        let reversed: Vec<[&Load; 2]> = pairs.iter().map(|[one, other]| [*other, *one]).collect();
        let is_faster = |case: &Http| matches!(case, Http::Faster { .. });
        let cases = [compared(goal, &pairs), compared(goal, &reversed).filter(is_faster)];
        let about: Vec<&Figure> = pairs.iter().flatten().map(|load| load.rate).collect();
        findings.extend(cases.into_iter().flatten().map(|case| note("http-rates", case, &about)));
    }
    findings
}

/// Two servers with each number of connections that both have, round by round: where the first is faster, or that
/// neither is. `None` with too few rounds.
fn compared(goal: &str, pairs: &[[&Load; 2]]) -> Option<Http> {
    let [first, second] = pairs.first()?;
    let (goal, one, other) = (goal.to_owned(), server(first), server(second));
    let (mut ahead, mut at, mut alike, mut is_slower) = (Vec::new(), Vec::new(), Vec::new(), false);
    for [one, other] in pairs {
        let Some(ratio) = one.times(other, Quantity::Rate) else { continue };
        let ratio_at = RatioAt { connections: Count(one.connections), ratio: Range::from(&ratio) };
        match () {
            () if ratio.low > 1.0 => {
                ahead.push([*one, *other]);
                at.push(ratio_at);
            }
            () if ratio.high < 1.0 => is_slower = true,
            () => alike.push(ratio_at),
        }
    }
    match at.is_empty() {
        false => {
            let (at, alike, extra) = (Ratios(at), Ratios(alike), extra_cost(&ahead));
            Some(Http::Faster { goal, faster: one, slower: other, at, alike, extra })
        }
        true if is_slower || alike.is_empty() => None,
        true => Some(Http::NoDifference { goal, one, other, at: Ratios(alike) }),
    }
}

/// Where a request costs the slower server more CPU time, at the fewest connections with profiles of both.
fn extra_cost(pairs: &[[&Load; 2]]) -> Option<ExtraCost> {
    fn profiled<'a>(load: &Load<'a>) -> Option<&'a Figure> {
        load.sound(Quantity::Cpu).filter(|cpu| !cpu.parts.is_empty())
    }
    let (load, fast, slow) =
        pairs.iter().find_map(|[fast, slow]| Some((slow, profiled(fast)?, profiled(slow)?)))?;
    let extra = slow.value? - fast.value?;
    let of_fast =
        |name: &str| fast.parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.value);
    let mut parts: Vec<(&str, f64)> =
        slow.parts.iter().map(|part| (part.name.as_str(), part.value - of_fast(&part.name))).collect();
    parts.retain(|(_, more)| *more >= LEAST_OF_DIFFERENCE * extra.abs());
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts.truncate(MOST_PARTS);
    // Figures have µs.
    let seconds = |micros: f64| Seconds(micros * 1e-6);
    let part = |(name, more): (&str, f64)| Part { part: name.to_owned(), time: seconds(more) };
    (extra > 0.0 && !parts.is_empty()).then(|| ExtraCost {
        figure: slow.id.clone(),
        server: server(load),
        cost: seconds(slow.value.unwrap_or_default()),
        extra: seconds(extra),
        parts: parts.into_iter().map(part).collect(),
    })
}

/// Memory of a connection, with the most connections for which several servers have it.
fn memory(all: &[Load]) -> Option<Explanation> {
    let loads = of_goal(all, loads::SATURATION, Quantity::Memory);
    let servers = loads.chunk_by(|a, b| a.connections == b.connections).rfind(|servers| servers.len() > 1)?;
    let (most, least) = (servers.first()?, servers.last()?);
    let ratio = most.times(least, Quantity::Memory).filter(|ratio| !ratio.same(0.0))?;
    let entry = |load: &&Load| {
        let figure = load.sound(Quantity::Memory)?;
        Some(Entry { figure: figure.id.clone(), name: server(load), value: Bytes(figure.value?) })
    };
    let case = Http::ConnectionMemory {
        servers: servers.iter().rev().filter_map(entry).collect(),
        connections: Counted(least.connections, "connection"),
        ratio: Range::from(&ratio),
    };
    Some(note("http-connection-memory", case, &[]))
}

/// The largest rates that hold a latency, for each number of connections.
fn held_rates(all: &[Load]) -> Vec<Explanation> {
    let held = |servers: &[&Load]| {
        let best = servers.first()?;
        let case = Http::HeldRate {
            server: server(best),
            condition: best.rate.conditions.get(key::SLO)?,
            rate: Number(best.rate.value?),
            connections: Counted(best.connections, "connection"),
            servers: servers.iter().filter_map(|load| server_rate(load)).collect(),
        };
        Some(note("http-held-rate", case, &[]))
    };
    let loads = of_goal(all, loads::SLO, Quantity::Rate);
    loads.chunk_by(|a, b| a.connections == b.connections).filter_map(held).collect()
}

fn server_rate(load: &Load) -> Option<ServerRate> {
    let values = load.rate.kept_values();
    let (low, high) = stats::range(&values)?;
    let is_missed = |round: &&Round| round.value().is_none() && !loads::tries(&round.evidence).is_empty();
    Some(ServerRate {
        figure: load.rate.id.clone(),
        server: server(load),
        rate: Number(load.rate.value?),
        low: Number(low),
        high: Number(high),
        rounds: Counted(values.len() as f64, "round"),
        missed: Count(load.rate.rounds.iter().filter(is_missed).count() as f64),
    })
}

/// The best number of workers of a pool, and those that do not differ from it.
fn pool(all: &[Load]) -> Option<Explanation> {
    let loads = of_goal(all, loads::POOL, Quantity::Rate);
    let pools: Vec<(f64, &Load)> =
        loads.iter().filter_map(|load| Some((load.rate.conditions.get(key::POOL)?, *load))).collect();
    let (_, best) = pools.first().filter(|_| pools.len() > 1)?;
    let is_best = |load: &Load| best.times(load, Quantity::Rate).is_none_or(|ratio| ratio.low <= 1.0);
    let workers = pools.iter().filter(|(_, load)| is_best(load)).map(|(workers, _)| Count(*workers));
    let entry = |(workers, load): &(f64, &Load)| {
        let name = Counted(*workers, "worker").to_string();
        Some(Entry { figure: load.rate.id.clone(), name, value: Number(load.rate.value?) })
    };
    let case = Http::BestPool {
        server: server(best),
        workers: workers.collect(),
        connections: Counted(best.connections, "connection"),
        rates: pools.iter().filter_map(entry).collect(),
    };
    Some(note("http-pool", case, &[]))
}
