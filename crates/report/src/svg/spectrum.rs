//! Distributions as spectra: for each share of the observations the value that it does not exceed, from the median to
//! the slowest. Both axes are logarithmic, so that one in a hundred and one in ten thousand have as much room (as
//! HdrHistogram plots them).

use figure::format::plain_to;
use figure::series::{Coordinate, Distribution};
use figure::{Figure, Record};

use super::axis::{Axis, Scale};
use super::chart::{Chart, MAX_NAME, Point, Series, points, value_in_words};
use crate::digits::with_unit;
use crate::{groups, names, outline};

/// Shares that are marked, as one in so many that is slower, and what the field calls them.
const MARKED: [(f64, &str); 5] =
    [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1000.0, "99.9 %"), (10_000.0, "99.99 %")];
/// Axes of things that are compared.
const COMPARED: [&str; 2] = ["server", "placement"];
/// The most curves of a chart.
const MOST: usize = 6;
/// Points of a curve for each factor of ten.
const PER_DECADE: f64 = 12.0;

/// Charts of the distributions that differ in what is compared only.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let distributions = record.figures.iter().filter_map(|figure| {
        let distribution = figure.distribution.as_ref().filter(|distribution| is_sound(distribution))?;
        let series = figure.series.as_deref().unwrap_or(&figure.id);
        Some(((series, places(record, figure), &figure.unit), (figure, distribution)))
    });
    let groups = groups::in_order(distributions);
    groups.iter().flat_map(|(_, group)| group.chunks(MOST)).map(|group| chart(record, group)).collect()
}

/// The place of a figure on the axes that are not compared.
fn places(record: &Record, figure: &Figure) -> Vec<String> {
    let info = names::info(record, names::mode_of_figure(figure));
    let others = figure.at.iter().filter(|(axis, _)| !COMPARED.contains(&axis.as_str()));
    let place = |(axis, place): (&String, &Coordinate)| {
        format!("{} {}", outline::coordinate(place), names::Axis::of(info, &[axis]).head)
    };
    others.map(place).collect()
}

/// Whether its numbers can be drawn: buckets ascend, above zero, with as many observations as it has.
fn is_sound(distribution: &Distribution) -> bool {
    let buckets = &distribution.buckets;
    let ascends = buckets.windows(2).all(|pair| pair[0].high <= pair[1].high);
    let finite = buckets.iter().all(|bucket| bucket.high.is_finite() && bucket.high > 0.0);
    let sum = buckets.iter().try_fold(0_u64, |sum, bucket| sum.checked_add(bucket.count));
    distribution.count > 0 && ascends && finite && sum == Some(distribution.count)
}

fn chart(record: &Record, group: &[(&Figure, &Distribution)]) -> Chart {
    let (first, _) = group[0];
    let series: Vec<Series> =
        group.iter().map(|(figure, distribution)| curve(figure, distribution)).collect();
    let values: Vec<f64> = points(&series).map(|point| point.at.1).collect();
    let most = points(&series).map(|point| point.at.0).fold(2.0, f64::max);
    let place = places(record, first).join(", ");
    let place = if place.is_empty() { plain_to(names::mode_of_figure(first), 60) } else { place };
    let words: Vec<String> =
        group.iter().map(|(figure, distribution)| in_words(figure, distribution)).collect();
    let quantity = names::quantity(&first.unit);
    let x_title = "share of the observations that were as fast".to_owned();
    Chart {
        title: format!("How slow are the slowest, {place}?"),
        description: format!(
            "Line chart. Across: the {x_title}. Upwards: {quantity}, logarithmic. {}.",
            words.join(". ")
        ),
        x: Axis {
            title: x_title,
            low: 1.8,
            high: most * 1.2,
            is_logarithmic: true,
            ticks: marked(most).map(|(one_in, label)| (one_in, label.to_owned())).collect(),
        },
        y: Axis::over(&values, Some(&first.unit), Scale::Logarithmic, quantity),
        series,
        notes: vec!["both axes logarithmic; the right end is the slowest observation".to_owned()],
        ..Chart::default()
    }
}

/// The marked shares that so many observations have.
fn marked(count: f64) -> impl Iterator<Item = (f64, &'static str)> {
    MARKED.into_iter().filter(move |(one_in, _)| *one_in <= count)
}

fn curve(figure: &Figure, distribution: &Distribution) -> Series {
    let name = match COMPARED.iter().find_map(|axis| figure.at.get(*axis)) {
        Some(place) => plain_to(&outline::coordinate(place), MAX_NAME),
        None => plain_to(&figure.name, MAX_NAME),
    };
    let count = distribution.count as f64;
    let steps = ((count / 2.0).max(1.0).log10() * PER_DECADE).ceil().max(0.0) as u32;
    let bare = (0..=steps).map(|step| (2.0 * 10f64.powf(f64::from(step) / PER_DECADE), None));
    let bare = bare.filter(|(one_in, _)| *one_in <= count);
    let mut places: Vec<(f64, Option<&str>)> =
        bare.chain(marked(count).map(|(one_in, label)| (one_in, Some(label)))).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = places.into_iter().map(|(one_in, label)| {
        let value = value_within(distribution, one_in);
        let words = label.map_or_else(String::new, |label| {
            format!("{name}: {label} within {}", with_unit(value, &figure.unit))
        });
        let is_bare = label.is_none();
        Some(Point { at: (one_in, value), words, is_bare, verdict: figure.verdict, ..Point::default() })
    });
    Series { points: points.collect(), label: name.clone() }
}

/// The upper end of the bucket in which all but one in so many of the observations are reached.
fn value_within(distribution: &Distribution, one_in: f64) -> f64 {
    let wanted = ((1.0 - 1.0 / one_in) * distribution.count as f64).ceil() as u64;
    let ends = distribution.buckets.iter().scan(0, |sum, bucket| {
        *sum += bucket.count;
        Some((*sum, bucket.high))
    });
    ends.clone().find(|(sum, _)| *sum >= wanted).or_else(|| ends.last()).map_or(0.0, |(_, high)| high)
}

fn in_words(figure: &Figure, distribution: &Distribution) -> String {
    let values = marked(distribution.count as f64).map(|(one_in, label)| {
        format!("{label} {}", with_unit(value_within(distribution, one_in), &figure.unit))
    });
    let values: Vec<String> = values.collect();
    format!("{} {}: {}", plain_to(&figure.name, 60), value_in_words(figure), values.join(", "))
}
