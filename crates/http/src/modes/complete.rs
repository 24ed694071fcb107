//! What follows from the rounds of a load: latencies, what a request costs the server, what a connection costs it. Pure.

use figure::evidence::http as key;
use figure::evidence::{FactType, Key, ROLE};
use figure::series::Part;
use figure::{Better, Figure, Limit, Reading, Status, Unit};

use crate::bench::all_latencies;
use crate::client::facts::QUANTILES;
use crate::profile::buckets;

/// Quantiles that are figures, with the last part of their ids; by their place in the evidence.
const LATENCIES: [(usize, &str, &str); 3] =
    [(0, "p50", "median latency"), (2, "p99", "p99 latency"), (3, "p999", "p99.9 latency")];

/// Adds them, each behind the figure that it follows from; and the ceiling as the limit of each.
pub fn complete(figures: &mut Vec<Figure>) {
    let carriers: Vec<Figure> = {
        let (carriers, rest) = figures.drain(..).partition(|figure| figure.id.ends_with(".latencies"));
        *figures = rest;
        carriers
    };
    let ceilings: Vec<(Option<f64>, f64, String)> = figures
        .iter()
        .filter(|figure| figure.conditions.get(ROLE).as_deref() == Some("ceiling"))
        .filter_map(|figure| {
            Some((figure.conditions.get(key::CONNECTIONS), figure.value?, figure.id.clone()))
        })
        .collect();
    let mut all = Vec::new();
    for mut head in figures.drain(..) {
        let is_ceiling = head.conditions.get(ROLE).is_some();
        let carrier = carriers.iter().find(|carrier| carrier.id == all_latencies(&head.id));
        head.timeline = carrier.and_then(|carrier| carrier.timeline.clone());
        let connections = head.conditions.get(key::CONNECTIONS);
        let ceiling = ceilings.iter().find(|(of, ..)| *of == connections).filter(|_| !is_ceiling);
        if let Some((_, value, id)) = ceiling {
            head.limit = Some(Limit { value: *value, basis: id.clone() });
        }
        let mut following = if head.status == Status::Measured { follow(&head) } else { Vec::new() };
        if let (Some(carrier), Some(median)) = (carrier, following.first_mut()) {
            median.distribution = carrier.distribution.clone();
        }
        if is_ceiling {
            following.truncate(0);
        }
        all.push(head);
        all.append(&mut following);
    }
    *figures = all;
}

/// All that follows from one figure's rounds; the median latency is the first.
fn follow(head: &Figure) -> Vec<Figure> {
    let mut all = Vec::new();
    for (place, word, called) in LATENCIES {
        let mut figure = following(head, word, called, Unit::of("ms"), "latency");
        figure.conditions.set(key::QUANTILE, QUANTILES[place]);
        let values = each(head, key::LATENCY, |latency| latency.get(place).map(|seconds| seconds * 1e3));
        settle(&mut figure, head, values);
        all.push(figure);
    }
    all.push(cpu(head));
    let mut memory = following(head, "memory", "memory of a connection", Unit::BYTES, "memory");
    let before = head.evidence.get(key::RESIDENT_BEFORE);
    let connections = head.evidence.get(key::ESTABLISHED);
    let values = match before.and(connections) {
        Reading::Value((before, connections)) => {
            each(head, key::SERVER_RESIDENT, |resident| Some((resident - before) / connections.max(1.0)))
        }
        Reading::Unknown(reason) => Reading::Unknown(reason),
    };
    settle(&mut memory, head, values);
    all.push(memory);
    let mut goroutines = following(head, "goroutines", "goroutines", Unit::ONE, "goroutines");
    goroutines.better = Better::Neither;
    settle(&mut goroutines, head, each(head, key::GOROUTINES, Some));
    all.push(goroutines);
    let called = "p99 of a goroutine's wait for a CPU";
    let mut runnable = following(head, "runnable", called, Unit::of("ms"), "run-queue");
    settle(
        &mut runnable,
        head,
        each(head, key::GO_RUNNABLE, |waits| waits.get(1).map(|seconds| seconds * 1e3)),
    );
    all.push(runnable);
    all.retain(|figure| figure.value.is_some() || figure.reason.is_some());
    all
}

/// CPU time of the server for each answer, split up where it was profiled.
fn cpu(head: &Figure) -> Figure {
    let mut figure = following(head, "cpu", "server CPU a request", Unit::of("us"), "cpu");
    let used = head.over_rounds(key::SERVER_USER).and(head.over_rounds(key::SERVER_SYSTEM));
    let values = used.and(head.over_rounds(key::ANSWERED)).map(|((user, system), answered)| {
        let each = user.iter().zip(system).zip(answered);
        each.map(|((user, system), answered)| (user + system) / answered.max(1.0) * 1e6).collect()
    });
    settle(&mut figure, head, values);
    if let Some(cpu) = figure.value {
        figure.parts = parts(head, cpu);
    }
    figure
}

/// The mean shares of the profiled rounds, spread over what a request costs.
fn parts(head: &Figure, cpu: f64) -> Vec<Part> {
    let profiled = head.kept().filter_map(|round| round.evidence.get(key::PROFILE_SHARES).into_value());
    let profiles: Vec<Vec<f64>> = profiled.collect();
    let mean = |at: usize| {
        let shares: Vec<f64> = profiles.iter().filter_map(|shares| shares.get(at).copied()).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let part = |(at, name): (usize, &'static str)| {
        let share = mean(at)?;
        Some(Part { name: name.to_owned(), value: share * cpu, share })
    };
    buckets::names().into_iter().enumerate().filter_map(part).filter(|part| part.share > 0.0).collect()
}

/// A figure that follows from another one, under its conditions.
fn following(head: &Figure, word: &str, called: &str, unit: Unit, what: &str) -> Figure {
    let name = format!("{}: {called}", head.name);
    let mut figure = Figure::planned(format!("{}.{word}", head.id), crate::SUITE, name, unit, Better::Lower);
    figure.conditions = head.conditions.clone();
    figure.conditions.set(key::WHAT, what.to_owned());
    figure.series = head.series.as_ref().map(|series| format!("{series}.{word}"));
    figure.at = head.at.clone();
    figure
}

/// A value of each kept round.
fn each<T: FactType>(head: &Figure, fact: Key<T>, of: impl Fn(T) -> Option<f64>) -> Reading<Vec<f64>> {
    match head.over_rounds(fact) {
        Reading::Value(values) => {
            Reading::or_unknown(values.into_iter().map(of).collect(), "a round lacks it")
        }
        Reading::Unknown(reason) => Reading::Unknown(reason),
    }
}

/// Gives it its values, or the reason why there are none.
fn settle(figure: &mut Figure, head: &Figure, values: Reading<Vec<f64>>) {
    match values {
        Reading::Value(values) => {
            figure.derive(&values, &[head]);
        }
        Reading::Unknown(reason) => (figure.status, figure.reason) = (Status::NotAvailable, Some(reason)),
    }
}
