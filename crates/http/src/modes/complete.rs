//! Derives figures from the rounds of a load: latencies, cost of a request, cost of a connection. Pure.

use figure::evidence::http as key;
use figure::series::Part;
use figure::{Basis, Better, Figure, Limit, Reading, Status, Unit};
use suites::loads::{ASKED, CLOSED, Quantity, is_ceiling, profiled};

use crate::bench::{ALL_LATENCIES, all_latencies};
use crate::profile::buckets;

pub fn complete(figures: &mut Vec<Figure>) {
    let (carriers, heads): (Vec<Figure>, Vec<Figure>) =
        figures.drain(..).partition(|figure| figure.id.ends_with(ALL_LATENCIES));
    let ceiling =
        |figure: &Figure| Some((figure.conditions.get(key::CONNECTIONS), figure.value?, figure.id.clone()));
    let ceilings: Vec<_> = heads.iter().filter(|figure| is_ceiling(figure)).filter_map(ceiling).collect();
    for mut head in heads {
        let is_ceiling = is_ceiling(&head);
        let carrier = carriers.iter().find(|carrier| carrier.id == all_latencies(&head.id));
        head.timeline = carrier.and_then(|carrier| carrier.timeline.clone());
        let connections = head.conditions.get(key::CONNECTIONS);
        let ceiling = ceilings.iter().find(|(at, ..)| *at == connections).filter(|_| !is_ceiling);
        if let Some((_, value, id)) = ceiling {
            head.limit = Some(Limit { value: *value, basis: id.clone() });
        }
        let has_derived = head.status == Status::Measured && !is_ceiling;
        let mut derived = if has_derived { all_derived(&head) } else { Vec::new() };
        if let (Some(carrier), Some(median)) = (carrier, derived.first_mut()) {
            median.distribution = carrier.distribution.clone();
        }
        figures.push(head);
        figures.append(&mut derived);
    }
}

/// All figures derived from one; the median latency is the first.
fn all_derived(head: &Figure) -> Vec<Figure> {
    let is_useful = |quantity: &Quantity| !is_misleading(head, *quantity);
    let mut figures: Vec<Figure> =
        Quantity::COMPUTED.into_iter().filter(is_useful).map(|quantity| derived(head, quantity)).collect();
    figures.retain(|figure| figure.value.is_some() || figure.reason.is_some());
    figures
}

/// High quantiles of a closed loop lack the requests that a stalled server prevented, and the study has open
/// loads for them. For a server of the user they are shown, with a warning.
fn is_misleading(head: &Figure, quantity: Quantity) -> bool {
    let conditions = &head.conditions;
    let is_closed = conditions.get(key::PACING).as_deref() == Some(CLOSED);
    let is_user_server = conditions.get(key::GOAL).as_deref() == Some(ASKED);
    matches!(quantity, Quantity::P99 | Quantity::P999) && is_closed && !is_user_server
}

/// Title, unit, word of `http.what`, and the quantile if it is one.
fn description(quantity: Quantity) -> (&'static str, Unit, &'static str, Option<f64>) {
    match quantity {
        Quantity::Rate => ("rate", Unit::REQ_PER_S, "rate", None),
        Quantity::P50 => ("median latency", Unit::of("ms"), "latency", Some(0.5)),
        Quantity::P99 => ("p99 latency", Unit::of("ms"), "latency", Some(0.99)),
        Quantity::P999 => ("p99.9 latency", Unit::of("ms"), "latency", Some(0.999)),
        Quantity::Cpu => ("server CPU a request", Unit::of("µs"), "cpu", None),
        Quantity::Memory => ("memory of a connection", Unit::BYTES, "memory", None),
        Quantity::Goroutines => ("goroutines", Unit::of("goroutines"), "goroutines", None),
        Quantity::Runnable => ("p99 of a goroutine's wait for a CPU", Unit::of("ms"), "run-queue", None),
    }
}

/// A derived figure, or the reason why it has no value.
fn derived(head: &Figure, quantity: Quantity) -> Figure {
    let (title, unit, what, quantile) = description(quantity);
    let (id, name) = (format!("{}.{}", head.id, quantity.word()), format!("{}: {title}", head.name));
    let mut figure = Figure::planned(id, crate::SUITE, name, unit, Better::Lower);
    figure.conditions = head.conditions.clone();
    figure.conditions.set(key::WHAT, what.to_owned());
    if let Some(quantile) = quantile {
        figure.conditions.set(key::QUANTILE, quantile);
    }
    figure.series = head.series.as_ref().map(|series| format!("{series}.{}", quantity.word()));
    figure.at = head.at.clone();
    if quantity == Quantity::Goroutines {
        figure.better = Better::Neither;
    }
    match quantity.values(head) {
        Reading::Value(values) => {
            figure.derive(&values, &[head]);
            if quantity == Quantity::Goroutines {
                figure.basis = Basis::Count;
            }
        }
        Reading::Unknown(reason) => (figure.status, figure.reason) = (Status::NotAvailable, Some(reason)),
    }
    if let Some(cpu) = figure.value.filter(|_| quantity == Quantity::Cpu) {
        figure.parts = parts(head, cpu);
    }
    figure
}

/// The server's CPU time per request, divided by the mean shares of the profiled rounds.
fn parts(head: &Figure, cpu: f64) -> Vec<Part> {
    let (shares, _) = profiled(head, key::PROFILE_SHARES).unwrap_or_default();
    let part = |(name, share): (&'static str, f64)| Part { name: name.to_owned(), value: share * cpu, share };
    buckets::names().into_iter().zip(shares).map(part).filter(|part| part.share > 0.0).collect()
}
