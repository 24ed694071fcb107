//! What follows from the measured prices: a huge page by the small page, what others add to a call, a cold file against a warm one. Pure.

use figure::evidence as key;
use figure::{Better, Figure, Unit, stats};

use super::catalogue::{COLD, CROWDS, HUGE, PAGE, WARM, WRITE, alone};
use super::plan::{name, named};
use crate::SUITE;

/// Adds them, each behind those of its series.
pub fn complete(figures: &mut Vec<Figure>) {
    let mut added: Vec<Figure> = huge_by_page(figures).into_iter().collect();
    added.extend(cold_by_warm(figures));
    added.extend(CROWDS.iter().filter(|crowd| crowd.is_one).flat_map(|crowd| extra(figures, crowd.word)));
    figures.append(&mut added);
}

fn find<'a>(figures: &'a [Figure], word: &str) -> Option<&'a Figure> {
    let id = named(word);
    figures.iter().find(|figure| figure.id == id)
}

/// A figure that follows from another one, under its conditions.
fn following(of: &Figure, id: String, called: &str, unit: Unit) -> Figure {
    let mut figure = Figure::planned(id, SUITE, called, unit, Better::Lower);
    figure.conditions = of.conditions.clone();
    (figure.status, figure.reason) = (of.status, of.reason.clone());
    figure
}

/// What a huge page costs for each page of the base size in it.
fn huge_by_page(figures: &[Figure]) -> Option<Figure> {
    let (huge, small) = (find(figures, HUGE)?, find(figures, WRITE)?);
    let row = "first write, by huge page";
    let mut figure = following(huge, named("huge.by_page"), row, Unit::NANOSECONDS);
    figure.series = Some(named(PAGE));
    figure.at.insert(PAGE.to_owned(), name(row));
    let pages = huge.conditions.get(key::PRICE_BYTES)? / small.conditions.get(key::PRICE_BYTES)?;
    let scale = alone(HUGE)?.scale().0;
    let values: Vec<f64> = huge.kept_values().iter().map(|value| value * scale / pages).collect();
    figure.derive(&values, &[huge]);
    Some(figure)
}

/// How many times longer a file takes page by page when it is on disk.
fn cold_by_warm(figures: &[Figure]) -> Option<Figure> {
    let (cold, warm) = (find(figures, COLD)?, find(figures, WARM)?);
    let mut figure = following(
        cold,
        named("scan.ratio"),
        "A mapped file read from disk, against the page cache",
        Unit::ONE,
    );
    let ratios: Vec<f64> = cold.kept_values().iter().zip(warm.kept_values()).map(|(a, b)| a / b).collect();
    figure.derive(&ratios, &[cold, warm]);
    Some(figure)
}

/// What other threads that run add to a call, by their number.
fn extra(figures: &[Figure], word: &str) -> Vec<Figure> {
    let series = named(word);
    let points = || figures.iter().filter(|figure| figure.series.as_deref() == Some(&series));
    let others = |figure: &Figure| figure.conditions.get(key::PRICE_OTHERS);
    let Some(alone) = points().find(|figure| others(figure) == Some(0.0)) else { return Vec::new() };
    points()
        .filter(|figure| others(figure) > Some(0.0))
        .map(|with| {
            let id = with.id.replacen(&series, &format!("{series}.extra"), 1);
            let called = format!("{}: more than with none", with.name);
            let mut figure = following(with, id, &called, Unit::NANOSECONDS);
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
        let mut figure = Figure::planned(named(id), SUITE, id, Unit::NANOSECONDS, Better::Lower);
        let round = |value: &f64| Round::new(String::new(), 0.1, vec![*value], Default::default());
        figure.rounds = values.iter().map(round).collect();
        figure.summarise();
        figure
    }

    #[test]
    fn what_lacks_one_of_two_is_missing_like_it() {
        let mut warm = measured(WARM, &[]);
        (warm.status, warm.reason) = (Status::Interrupted, Some("the time was spent".to_owned()));
        let mut figures = vec![measured(COLD, &[900.0; 6]), warm];
        complete(&mut figures);
        let ratio = find(&figures, "scan.ratio").unwrap();
        assert_eq!((ratio.value, ratio.status), (None, Status::Interrupted));
        assert_eq!(ratio.reason.as_deref(), Some("the time was spent"));
    }

    #[test]
    fn what_follows_follows() {
        let mut huge = measured(HUGE, &[512.0; 6]);
        huge.conditions.set(key::PRICE_BYTES, 2097152.0);
        let mut small = measured(WRITE, &[1400.0; 6]);
        small.conditions.set(key::PRICE_BYTES, 4096.0);
        let mut figures = vec![huge, small, measured(COLD, &[900.0; 6]), measured(WARM, &[100.0; 6])];
        for (others, value) in [(0.0, 300.0), (1.0, 2300.0)] {
            let mut figure = measured(&format!("madvise.with{others}"), &[value; 6]);
            figure.series = Some(named("madvise"));
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
    fn what_is_not_available_leaves_its_reason() {
        let cold = measured(COLD, &[]).not_available("on tmpfs");
        let mut figures = vec![cold, measured(WARM, &[1.0])];
        complete(&mut figures);
        let ratio = find(&figures, "scan.ratio").unwrap();
        assert_eq!((ratio.status, ratio.reason.as_deref()), (Status::NotAvailable, Some("on tmpfs")));
    }
}
