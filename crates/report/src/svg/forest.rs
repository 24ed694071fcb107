//! Ratios with their intervals, one below the other: how far from 1, and how surely (a forest plot).

use std::io;

use compare::{Compared, Pair, Standing};
use figure::format::percent;

use super::axis::Axis;
use super::chart::{Chart, Form, MAX_NAME, Point, Series};
use super::{Picture, picture};
use crate::document::comparison as words;

/// The most rows of a chart: what a page of paper has room for.
const MOST_ROWS: usize = 40;
/// Standings, each at the place of its colour; colours without one are too like another.
const SERIES: [Option<Standing>; 6] = [
    Some(Standing::Inconclusive),
    Some(Standing::Faster),
    Some(Standing::Slower),
    None,
    None,
    Some(Standing::Same),
];

/// Charts of figures that have a ratio, as many as they need.
pub(crate) fn charts(pair: &Pair, title: &str, figures: &[&Compared], band: f64) -> io::Result<Vec<Picture>> {
    let number = figures.len().div_ceil(MOST_ROWS);
    let parts = figures.chunks(MOST_ROWS).enumerate();
    let charts = parts.map(|(at, part)| {
        let title = if number > 1 { format!("{title} ({} of {number})", at + 1) } else { title.to_owned() };
        picture(&chart(pair, title, part, band))
    });
    charts.collect()
}

fn chart(pair: &Pair, title: String, figures: &[&Compared], band: f64) -> Chart {
    let rows = figures.len() as f64;
    let names: Vec<String> = figures.iter().map(|figure| words::label(pair, figure, MAX_NAME)).collect();
    let series = SERIES.into_iter().map(|standing| Series {
        label: standing.map_or("", Standing::word).to_owned(),
        points: figures.iter().enumerate().map(|(row, figure)| point(pair, figure, row, standing?)).collect(),
    });
    let edges = [1.0 / (1.0 + band), 1.0 + band];
    // An interval that is much wider than the values runs out of the picture, or all of them would lie together.
    let values: Vec<f64> =
        figures.iter().filter_map(|figure| Some(figure.ratio?.value)).chain(edges).collect();
    let (least, most) = values.iter().fold((1.0_f64, 1.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    let ends = figures.iter().filter_map(|figure| figure.ratio).flat_map(|ratio| [ratio.low, ratio.high]);
    let near = ends.flatten().filter(|end| (least / 2.0..=most * 2.0).contains(end));
    let xs: Vec<f64> = near.chain(values.iter().copied()).collect();
    let ratios: Vec<String> = figures.iter().filter_map(|figure| in_words(pair, figure)).collect();
    Chart {
        title,
        description: format!(
            "Ratios with their 95 % intervals; above 1 {} is better. {}.",
            pair.b,
            ratios.join("; ")
        ),
        x: Axis::of_ratios(&xs, format!("ratio: above 1, {} is better", pair.b)),
        y: Axis::of_names(names.iter(), MAX_NAME, String::new()).reversed(),
        form: Form::Intervals,
        series: series.collect(),
        limits: vec![(
            format!("within ±{}: the same", percent(band)),
            edges.map(|edge| [(edge, 0.0), (edge, rows)]).concat(),
        )],
        edges: vec![(String::new(), 1.0)],
        notes: vec!["lines: 95 % intervals, where wider than the mark".to_owned()],
        ..Chart::default()
    }
}

fn point(pair: &Pair, figure: &Compared, row: usize, standing: Standing) -> Option<Point> {
    let ratio = figure.ratio.filter(|_| figure.standing == standing)?;
    let [a, b] = figure.verdicts;
    Some(Point {
        at: (ratio.value, row as f64 + 0.5),
        x_interval: ratio.low.zip(ratio.high),
        // A ratio is worth no more than either of its two figures.
        verdict: a.zip(b).map(|(a, b)| a.max(b)),
        words: in_words(pair, figure)?,
        ..Point::default()
    })
}

/// `Pipe Throughput: 1.234 [1.221, 1.243], faster`.
fn in_words(pair: &Pair, figure: &Compared) -> Option<String> {
    let ratio = figure.ratio?;
    let interval = words::interval(&ratio).map_or_else(String::new, |interval| format!(" {interval}"));
    let name = words::label(pair, figure, 60);
    Some(format!("{name}: {}{interval}, {}", words::ratio(ratio.value), words::verdict(figure)))
}
