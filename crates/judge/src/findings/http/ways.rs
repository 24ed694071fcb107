//! Where a pool should pay, and the ways out of a goroutine for each connection: pools of several sizes, limits, lower rates.

use figure::evidence::http as key;
use figure::loads::{self, Load, Quantity};
use figure::{Explanation, Figure, Round, format, stats};

use super::{is_of, note, pairs, times};
use crate::servers::Model;

/// Does the pool pay where each request has a connection of its own?
pub(super) fn short(all: &[Load]) -> Option<Explanation> {
    let pairs = pairs(all, loads::SHORT, Model::Pooled, Model::PerRequest);
    let (pooled, plain) = pairs.first()?;
    let (rate, cpu) = (pooled.times(plain, Quantity::Rate)?, pooled.times(plain, Quantity::Cpu));
    let answer = match () {
        () if rate.low > 1.0 => "the pool pays",
        () if rate.high < 1.0 => "the pool does not pay",
        () => "whether the pool pays is not shown",
    };
    let cpu = cpu.map_or_else(String::new, |ratio| format!(", at {} the CPU time", times(&ratio)));
    let text = format!(
        "With a connection for each request {answer}: {} answers {} the requests of {}{cpu}.",
        pooled.server(),
        times(&rate),
        plain.server()
    );
    note(text, &[pooled.rate, plain.rate])
}

/// Workers of a pool: which number is best, and what too few do.
pub(super) fn pools(all: &[Load]) -> Option<Explanation> {
    let of = |load: &&Load| load.goal() == loads::POOL && load.sound(Quantity::Rate).is_some();
    let swept: Vec<(f64, &Load)> =
        all.iter().filter(of).filter_map(|load| Some((load.rate.conditions.get(key::POOL)?, load))).collect();
    let value = |load: &Load| load.rate.value.unwrap_or(0.0);
    let best = swept.iter().max_by(|a, b| value(a.1).total_cmp(&value(b.1)))?;
    if swept.len() < 2 {
        return None;
    }
    let each: Vec<String> =
        swept.iter().map(|(workers, load)| format!("{workers:.0}: {:.0}", value(load))).collect();
    let is_as_good = |load: &Load| best.1.times(load, Quantity::Rate).is_none_or(|ratio| ratio.low <= 1.0);
    let alike: Vec<String> = swept
        .iter()
        .filter(|(workers, load)| *workers != best.0 && is_as_good(load))
        .map(|(workers, _)| format!("{workers:.0}"))
        .collect();
    let alike = if alike.is_empty() {
        String::new()
    } else {
        format!(", not to be told from {}", format::listed(&alike))
    };
    let inline = all.iter().find(|load| {
        is_of(load, loads::SATURATION, Model::Multiplexed) && load.connections == best.1.connections
    });
    let inline =
        inline.and_then(|load| best.1.times(load, Quantity::Rate)).map_or_else(String::new, |ratio| {
            format!("; it does {} what the event loops do without a pool", times(&ratio))
        });
    let figures: Vec<&Figure> = swept.iter().map(|(_, load)| load.rate).collect();
    let text = format!(
        "A pool of workers behind the event loops is best with {:.0}{alike}{inline} (workers: requests/s; {}).",
        best.0,
        each.join(", ")
    );
    note(text, &figures)
}

/// What becomes of connections beyond a server's limit.
pub(super) fn refusal(all: &[Load]) -> Option<Explanation> {
    let load = all.iter().find(|load| load.goal() == loads::REFUSAL && load.rate.value.is_some())?;
    let limit = load.rate.conditions.get(key::CONCURRENCY)?;
    let established = load.rate.evidence.get(key::ESTABLISHED).into_value()?;
    let sum = |fact| crate::load::sums(load.rate, fact).into_value().unwrap_or_default().iter().sum::<f64>();
    let (failed, unconnected) = (sum(key::FAILED), sum(key::UNCONNECTED));
    let refused_before = load.rate.evidence.get(key::RAMP_FAILURES).into_value().unwrap_or_default();
    let before: f64 = refused_before.iter().sum();
    let answer = if (established <= limit && before > 0.0) || failed + unconnected > 0.0 {
        format!("a limit of {limit:.0} is no way out: what is beyond it is refused, not served later")
    } else {
        format!("a limit of {limit:.0} refused nothing")
    };
    let text = format!(
        "{} with {:.0} connections: {answer} ({established:.0} were served once, {before:.0} attempts failed before the windows; within \
         them {failed:.0} requests and {unconnected:.0} connections).",
        load.server(),
        load.connections
    );
    note(text, &[load.rate])
}

/// The largest rates that hold a latency, with the range of the rounds; and where none held, what was tried.
pub(super) fn slo(all: &[Load]) -> Option<Explanation> {
    let searched: Vec<&Load> = all.iter().filter(|load| load.goal() == loads::SLO).collect();
    let is_told = |load: &&&Load| load.sound(Quantity::Rate).is_some() || !missed(load).is_empty();
    let told: Vec<&Load> = searched.iter().filter(is_told).copied().collect();
    let condition = told.first()?.rate.conditions.get(key::SLO)?;
    let mut numbers: Vec<f64> = told.iter().map(|load| load.connections).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let each = numbers.iter().map(|connections| {
        let own = told.iter().filter(|load| load.connections == *connections);
        let servers: Vec<String> = own.map(|load| held(load, &condition)).collect();
        format!("with {connections:.0} connections {}", servers.join(", "))
    });
    let each: Vec<String> = each.collect();
    let figures: Vec<&Figure> = told.iter().map(|load| load.rate).collect();
    note(format!("The largest rates, in requests/s, that hold {condition}: {}.", each.join("; ")), &figures)
}

/// Rounds in which no rate held.
fn missed<'a>(load: &Load<'a>) -> Vec<&'a Round> {
    let is_missed = |round: &&Round| round.value().is_none() && !loads::tries(&round.evidence).is_empty();
    load.rate.rounds.iter().filter(is_missed).collect()
}

/// What a server holds: the value with its interval, or with the range of its rounds where they are too few for one.
fn held(load: &Load, condition: &str) -> String {
    let (rate, missed) = (load.rate, missed(load));
    let Some(value) = rate.value else {
        let last = missed.last().map(|round| loads::summary(&loads::tries(&round.evidence), condition));
        return format!("{} none ({})", load.server(), last.unwrap_or_default());
    };
    let rounds = rate.kept_values();
    let spread = match (&rate.interval, stats::range(&rounds)) {
        (Some(interval), _) => format!(" [{:.0}, {:.0}]", interval.low, interval.high),
        (None, Some((low, high))) if rounds.len() > 1 => {
            format!(" ({} rounds: {low:.0} to {high:.0})", rounds.len())
        }
        _ => " (1 round)".to_owned(),
    };
    let none = match missed.len() {
        0 => String::new(),
        1 => " (in 1 more round none)".to_owned(),
        many => format!(" (in {many} more rounds none)"),
    };
    format!("{} {value:.0}{spread}{none}", load.server())
}
