//! Time against memory: a point for each allocator, and the front of those that are a choice.

use figure::format::{listed, number, plain_to};
use figure::{Record, Unit};
use suites::ranking::{Place, Ranking, rankings};

use super::axis::{Axis, Scale};
use super::chart::{Chart, MAX_NAME, Point, Series, finite, interval, points};

/// A chart for each number of threads for which both are known.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    rankings(record).iter().filter_map(chart).collect()
}

fn chart(ranking: &Ranking) -> Option<Chart> {
    let series = ranking.places.iter().filter_map(|place| {
        Some(Series { label: plain_to(&place.name, MAX_NAME), points: vec![Some(point(place)?)] })
    });
    let mut series: Vec<Series> = series.collect();
    // An allocator has the same colour in all charts.
    series.sort_by(|a, b| a.label.cmp(&b.label));
    if series.len() < 2 {
        return None;
    }
    let front: Vec<Point> =
        ranking.places.iter().filter(|place| place.is_on_front).filter_map(point).collect();
    let names: Vec<&str> = front.iter().map(|point| point.label.as_str()).collect();
    let words: Vec<String> = ranking.places.iter().filter_map(|place| Some(point(place)?.words)).collect();
    let [xs, ys] = [|point: &Point| point.at.0, |point: &Point| point.at.1]
        .map(|along| points(&series).map(along).collect::<Vec<f64>>());
    let x_title = "malloc and free, the load itself taken off, ns/pair".to_owned();
    let y_title = "memory, bytes for each byte requested".to_owned();
    Some(Chart {
        title: format!(
            "Which allocator is fastest, and what memory does it need, {}?",
            ranking.description()
        ),
        description: format!(
            "Left and low is good. {}. No other one is better in time or memory without being worse in the other than: {}.",
            words.join("; "),
            listed(&names)
        ),
        x: Axis::over(&xs, Some(&Unit::of("ns/pair")), Scale::Lengths, x_title),
        y: Axis::over(&ys, Some(&Unit::ONE), Scale::Positions, y_title),
        series,
        limits: vec![(
            "front: no other one is better in one thing and not worse in the other".to_owned(),
            front.iter().map(|point| point.at).collect(),
        )],
        notes: vec!["left and low is good".to_owned(), "bars: 95 % intervals of the medians".to_owned()],
        ..Chart::default()
    })
}

/// A place by time and memory.
fn point(place: &Place) -> Option<Point> {
    let overhead = place.overhead?;
    let (time, memory) = (finite(place.pair)?, finite(overhead)?);
    let name = plain_to(&place.name, MAX_NAME);
    Some(Point {
        at: (time, memory),
        interval: interval(overhead),
        x_interval: interval(place.pair),
        verdict: place.pair.verdict.zip(overhead.verdict).map(|(one, other)| one.max(other)),
        words: format!("{name} {} ns and {memory:.2}", number(time)),
        label: name,
        ..Point::default()
    })
}
