//! Time against memory: a point for each allocator, and the front of those that are a choice.

use figure::format::{listed, number, plain_to};
use figure::{Record, Unit};
use suites::ranking::{Place, Ranking, rankings};

use super::chart::{Chart, Form, MAX_NAME, Point, Series};
use super::ticks;

/// A chart for each team of which both are known.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    rankings(record).iter().filter_map(chart).collect()
}

fn chart(ranking: &Ranking) -> Option<Chart> {
    let mut series: Vec<Series> = ranking.places.iter().filter_map(series).collect();
    // Whoever is fastest has the same colour in all charts.
    series.sort_by(|a, b| a.label.cmp(&b.label));
    if series.len() < 2 {
        return None;
    }
    let front: Vec<&Place> = ranking.places.iter().filter(|place| place.is_on_front).collect();
    let line: Vec<(f64, f64)> = front.iter().filter_map(|place| at(place)).collect();
    let points = || series.iter().flat_map(|series| series.points.iter().flatten());
    let xs: Vec<f64> = points().map(|point| point.at.0).collect();
    let ys: Vec<f64> = points().map(|point| point.at.1).collect();
    let names: Vec<String> = front.iter().map(|place| plain_to(&place.name, MAX_NAME)).collect();
    let each: Vec<String> = ranking.places.iter().filter_map(told).collect();
    Some(Chart {
        title: format!(
            "Which allocator is fastest, and what memory does it need, {}?",
            ranking.description()
        ),
        description: format!(
            "Left and low is good. {}. No other one is better in time or memory without being worse in the other than: {}.",
            each.join("; "),
            listed(&names)
        ),
        x: ticks::axis(&xs, Some(&Unit::of("ns/pair")), false, true),
        x_title: "malloc and free, the load itself taken off, ns/pair".to_owned(),
        y: ticks::axis(&ys, Some(&Unit::ONE), false, false),
        y_title: "memory, bytes for each byte requested".to_owned(),
        form: Form::Curves,
        series,
        limits: vec![(
            "front: no other one is better in one thing and not worse in the other".to_owned(),
            line,
        )],
        edges: Vec::new(),
        notes: vec!["left and low is good".to_owned(), "bars: 95 % intervals of the medians".to_owned()],
    })
}

/// Where a place stands: time, memory.
fn at(place: &Place) -> Option<(f64, f64)> {
    let finite = |value: &f64| value.is_finite();
    Some((place.pair.value.filter(finite)?, place.overhead?.value.filter(finite)?))
}

fn series(place: &Place) -> Option<Series> {
    let overhead = place.overhead?;
    let ends =
        |figure: &figure::Figure| figure.interval.as_ref().map(|interval| (interval.low, interval.high));
    let name = plain_to(&place.name, MAX_NAME);
    let (time, memory) = at(place)?;
    let point = Point {
        interval: ends(overhead),
        x_interval: ends(place.pair),
        verdict: place.pair.verdict.zip(overhead.verdict).map(|(one, other)| one.max(other)),
        label: name.clone(),
        told: told(place)?,
        ..Point::at(time, memory)
    };
    Some(Series { label: name, points: vec![Some(point)] })
}

fn told(place: &Place) -> Option<String> {
    let (time, memory) = at(place)?;
    Some(format!("{} {} ns and {memory:.2}", plain_to(&place.name, MAX_NAME), number(time)))
}
