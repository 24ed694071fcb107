//! Figures that follow from the measured prices: a huge page per small page, what other threads add to a
//! call, a cold file against a warm one. Pure.

use figure::evidence as key;
use figure::{Better, Figure, Unit, stats};

use super::catalogue::{COLD, HUGE, PAGE, THREADED, WARM, WRITE, single};
use super::plan::{coordinate, series_id};
use crate::SUITE;

pub fn complete(figures: &mut Vec<Figure>) {
    let mut added: Vec<Figure> = huge_by_page(figures).into_iter().collect();
    added.extend(cold_by_warm(figures));
    added.extend(THREADED.iter().filter(|price| price.is_one).flat_map(|price| extra(figures, price.word)));
    figures.append(&mut added);
}

fn find<'a>(figures: &'a [Figure], word: &str) -> Option<&'a Figure> {
    let id = series_id(word);
    figures.iter().find(|figure| figure.id == id)
}

/// A figure that follows from another one, with its conditions.
fn following(source: &Figure, id: String, name: &str, unit: Unit) -> Figure {
    let mut figure = Figure::planned(id, SUITE, name, unit, Better::Lower);
    figure.conditions = source.conditions.clone();
    (figure.status, figure.reason) = (source.status, source.reason.clone());
    figure
}

/// The price of a huge page for each page of the base size in it.
fn huge_by_page(figures: &[Figure]) -> Option<Figure> {
    let (huge, small) = (find(figures, HUGE)?, find(figures, WRITE)?);
    let row = "first write, by huge page";
    let mut figure = following(huge, series_id("huge.by_page"), row, Unit::NANOSECONDS);
    figure.series = Some(series_id(PAGE));
    figure.at.insert(PAGE.to_owned(), coordinate(row));
    let pages = huge.conditions.get(key::PRICE_BYTES)? / small.conditions.get(key::PRICE_BYTES)?;
    let scale = single(HUGE)?.scale().0;
    let values: Vec<f64> = huge.kept_values().iter().map(|value| value * scale / pages).collect();
    figure.derive(&values, &[huge]);
    Some(figure)
}

/// How many times longer a file takes page by page when it is on disk.
fn cold_by_warm(figures: &[Figure]) -> Option<Figure> {
    let (cold, warm) = (find(figures, COLD)?, find(figures, WARM)?);
    let mut figure = following(
        cold,
        series_id("scan.ratio"),
        "A mapped file read from disk, against the page cache",
        Unit::ONE,
    );
    let ratios: Vec<f64> = cold.kept_values().iter().zip(warm.kept_values()).map(|(a, b)| a / b).collect();
    figure.derive(&ratios, &[cold, warm]);
    Some(figure)
}

/// What other running threads add to a call, by their number.
fn extra(figures: &[Figure], word: &str) -> Vec<Figure> {
    let series = series_id(word);
    let points = || figures.iter().filter(|figure| figure.series.as_deref() == Some(&series));
    let others = |figure: &Figure| figure.conditions.get(key::PRICE_OTHERS);
    let Some(alone) = points().find(|figure| others(figure) == Some(0.0)) else { return Vec::new() };
    points()
        .filter(|figure| others(figure) > Some(0.0))
        .map(|with| {
            let id = with.id.replacen(&series, &format!("{series}.extra"), 1);
            let name = format!("{}: more than with none", with.name);
            let mut figure = following(with, id, &name, Unit::NANOSECONDS);
            (figure.series, figure.at) = (Some(format!("{series}.extra")), with.at.clone());
            let more = stats::differences(&with.kept_values(), &alone.kept_values());
            figure.derive(&more, &[with, alone]);
            figure
        })
        .collect()
}

#[cfg(test)]
mod unit {
    use figure::{Round, Status};

    use super::*;

    fn measured(id: &str, values: &[f64]) -> Figure {
        let mut figure = Figure::planned(series_id(id), SUITE, id, Unit::NANOSECONDS, Better::Lower);
        let round = |value: &f64| Round::new(String::new(), 0.1, vec![*value], Default::default());
        figure.rounds = values.iter().map(round).collect();
        figure.summarise();
        figure
    }

    #[test]
    fn a_ratio_without_one_side_has_its_status() {
        let mut warm = measured(WARM, &[]);
        (warm.status, warm.reason) = (Status::Interrupted, Some("the time was spent".to_owned()));
        let mut figures = vec![measured(COLD, &[900.0; 6]), warm];
        complete(&mut figures);
        let ratio = find(&figures, "scan.ratio").unwrap();
        assert_eq!((ratio.value, ratio.status), (None, Status::Interrupted));
        assert_eq!(ratio.reason.as_deref(), Some("the time was spent"));
    }

    #[test]
    fn derived_figures_have_their_values() {
        let mut huge = measured(HUGE, &[512.0; 6]);
        huge.conditions.set(key::PRICE_BYTES, 2097152.0);
        let mut small = measured(WRITE, &[1400.0; 6]);
        small.conditions.set(key::PRICE_BYTES, 4096.0);
        let mut figures = vec![huge, small, measured(COLD, &[900.0; 6]), measured(WARM, &[100.0; 6])];
        for (others, value) in [(0.0, 300.0), (1.0, 2300.0)] {
            let mut figure = measured(&format!("madvise.with{others}"), &[value; 6]);
            figure.series = Some(series_id("madvise"));
            figure.conditions.set(key::PRICE_OTHERS, others);
            figures.push(figure);
        }
        complete(&mut figures);
        let value = |word: &str| find(&figures, word).unwrap_or_else(|| panic!("{word}")).value;
        assert_eq!(value("huge.by_page"), Some(1000.0));
        assert_eq!(value("scan.ratio"), Some(9.0));
        assert_eq!(value("madvise.extra.with1"), Some(2000.0));
        assert!(find(&figures, "madvise.extra.with0").is_none());
    }

    #[test]
    fn an_unavailable_figure_passes_on_its_reason() {
        let cold = measured(COLD, &[]).not_available("on tmpfs");
        let mut figures = vec![cold, measured(WARM, &[1.0])];
        complete(&mut figures);
        let ratio = find(&figures, "scan.ratio").unwrap();
        assert_eq!((ratio.status, ratio.reason.as_deref()), (Status::NotAvailable, Some("on tmpfs")));
    }
}
