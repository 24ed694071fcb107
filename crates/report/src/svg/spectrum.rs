//! Distributions as spectra: for each share of the observations the value that it does not exceed, from the median to
//! the slowest. Both axes are logarithmic, so that one in a hundred and one in ten thousand have as much room (as
//! HdrHistogram plots them).

use figure::format::plain_to;
use figure::series::{Coordinate, Distribution};
use figure::{Figure, Record, Unit};

use super::axis::Axis;
use super::chart::{Chart, Form, MAX_NAME, Point, Series, told};
use super::ticks;
use crate::digits::with_unit;
use crate::{names, outline};

/// Shares that are marked, as one in so many that is slower, and what the field calls them.
const MARKED: [(f64, &str); 5] =
    [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1000.0, "99.9 %"), (10_000.0, "99.99 %")];
/// Axes of things that are compared.
const COMPARED: [&str; 2] = ["server", "placement"];
/// The most curves of a chart.
const MOST: usize = 6;
/// Points of a curve for each factor of ten.
const PER_DECADE: f64 = 12.0;

/// A chart for each group of distributions that differ in what is compared only.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let mut groups: Vec<(String, Vec<(&Figure, &Distribution)>)> = Vec::new();
    for figure in &record.figures {
        let Some(distribution) = figure.distribution.as_ref().filter(|d| is_sound(d)) else { continue };
        let series = figure.series.as_deref().unwrap_or(&figure.id);
        let places: Vec<String> = places(record, figure);
        let key = format!("{series} {} {}", places.join(" "), figure.unit);
        match groups.iter_mut().find(|(known, members)| *known == key && members.len() < MOST) {
            Some((_, members)) => members.push((figure, distribution)),
            None => groups.push((key, vec![(figure, distribution)])),
        }
    }
    groups.into_iter().filter_map(|(_, members)| chart(record, &members)).collect()
}

/// Where a figure stands on the axes that are not compared.
fn places(record: &Record, figure: &Figure) -> Vec<String> {
    let info = names::info(record, names::mode_of_figure(figure));
    let others = figure.at.iter().filter(|(axis, _)| !COMPARED.contains(&axis.as_str()));
    let place = |(axis, place): (&String, &Coordinate)| {
        format!("{} {}", outline::coordinate(place), names::Axis::of(info, &[axis]).head)
    };
    others.map(place).collect()
}

/// Whether its numbers can be drawn: buckets ascend, above zero, with as many observations as it says.
fn is_sound(distribution: &Distribution) -> bool {
    let buckets = &distribution.buckets;
    let ascends = buckets.windows(2).all(|pair| pair[0].high <= pair[1].high);
    let finite = buckets.iter().all(|bucket| bucket.high.is_finite() && bucket.high > 0.0);
    let sum = buckets.iter().try_fold(0_u64, |sum, bucket| sum.checked_add(bucket.count));
    distribution.count > 0 && ascends && finite && sum == Some(distribution.count)
}

fn chart(record: &Record, members: &[(&Figure, &Distribution)]) -> Option<Chart> {
    let (first, _) = members.first()?;
    let series: Vec<Series> = members.iter().map(|(figure, of)| curve(figure, of)).collect();
    let points = || series.iter().flat_map(|series| series.points.iter().flatten());
    let values: Vec<f64> = points().map(|point| point.at.1).collect();
    let most = points().map(|point| point.at.0).fold(2.0, f64::max);
    let ticks = MARKED.iter().filter(|(one_in, _)| *one_in <= most);
    let ticks = ticks.map(|(one_in, label)| (*one_in, (*label).to_owned())).collect();
    let place = places(record, first).join(", ");
    let place = if place.is_empty() { plain_to(names::mode_of_figure(first), 60) } else { place };
    let each: Vec<String> = members.iter().map(|(figure, of)| in_words(figure, of)).collect();
    Some(Chart {
        title: format!("How slow are the slowest, {place}?"),
        description: format!(
            "Line chart. Across: the share of the observations that were as fast. Upwards: {}, logarithmic. {}.",
            names::quantity(&first.unit),
            each.join(". ")
        ),
        x: Axis { low: 1.8, high: most * 1.2, is_logarithmic: true, ticks },
        x_title: "share of the observations that were as fast".to_owned(),
        y: ticks::axis(&values, Some(&first.unit), true, false),
        y_title: names::quantity(&first.unit),
        form: Form::Curves,
        series,
        limits: Vec::new(),
        edges: Vec::new(),
        notes: vec!["both axes logarithmic; the right end is the slowest observation".to_owned()],
    })
}

fn curve(figure: &Figure, distribution: &Distribution) -> Series {
    let name = match COMPARED.iter().find_map(|axis| figure.at.get(*axis)) {
        Some(place) => plain_to(&outline::coordinate(place), MAX_NAME),
        None => plain_to(&figure.name, MAX_NAME),
    };
    let count = distribution.count as f64;
    let steps = ((count / 2.0).max(1.0).log10() * PER_DECADE).ceil().max(0.0) as u32;
    let bare = (0..=steps).map(|step| (2.0 * 10f64.powf(f64::from(step) / PER_DECADE), None));
    let marked = MARKED.iter().map(|(one_in, label)| (*one_in, Some(*label)));
    let mut places: Vec<(f64, Option<&str>)> = bare.chain(marked).filter(|(n, _)| *n <= count).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = places.into_iter().map(|(one_in, label)| {
        let value = quantile(distribution, 1.0 - 1.0 / one_in);
        let words = label.map_or_else(String::new, |label| {
            format!("{name}: {label} within {}", with_unit(value, &figure.unit))
        });
        Some(Point {
            told: words,
            is_bare: label.is_none(),
            verdict: figure.verdict,
            ..Point::at(one_in, value)
        })
    });
    Series { points: points.collect(), label: name.clone() }
}

/// The upper end of the bucket in which a share of the observations is reached.
fn quantile(distribution: &Distribution, q: f64) -> f64 {
    let wanted = (q * distribution.count as f64).ceil() as u64;
    let mut seen = 0;
    for bucket in &distribution.buckets {
        seen += bucket.count;
        if seen >= wanted {
            return bucket.high;
        }
    }
    distribution.buckets.last().map_or(0.0, |bucket| bucket.high)
}

fn in_words(figure: &Figure, distribution: &Distribution) -> String {
    let unit: &Unit = &figure.unit;
    let marked = MARKED.iter().filter(|(one_in, _)| *one_in <= distribution.count as f64);
    let each: Vec<String> = marked
        .map(|(one_in, label)| {
            format!("{label} {}", with_unit(quantile(distribution, 1.0 - 1.0 / one_in), unit))
        })
        .collect();
    format!("{} {}: {}", plain_to(&figure.name, 60), told(figure), each.join(", "))
}
