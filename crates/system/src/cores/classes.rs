//! Summarises the pairs of each advertised class as one figure. Pure.

use figure::evidence::{KERNEL as KERNEL_KEY, PAIR};
use figure::format::counted;
use figure::{Better, Conditions, Figure, Status, Unit, stats};
use lab::pairs::CLASSES;

use super::plan::{KERNEL, SERIES};

/// Adds for each class the median of its pairs. A single pair needs none.
pub fn complete(figures: &mut Vec<Figure>) {
    let mut classes: Vec<(String, Vec<(String, f64)>)> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.conditions.get(KERNEL_KEY).as_deref() == Some(KERNEL))
    {
        let (Some(class), Some(value)) = (figure.conditions.get(PAIR), figure.value) else { continue };
        let pair = (figure.id.clone(), value);
        match classes.iter_mut().find(|(other, _)| *other == class) {
            Some((_, pairs)) => pairs.push(pair),
            None => classes.push((class, vec![pair])),
        }
    }
    let nearness = |class: &str| CLASSES.iter().position(|other| other.word() == class);
    classes.sort_by_key(|(class, _)| nearness(class));
    if classes.iter().map(|(_, pairs)| pairs.len()).sum::<usize>() > 1 {
        figures.extend(classes.into_iter().map(|(class, pairs)| median_figure(&class, pairs)));
    }
}

fn median_figure(class: &str, pairs: Vec<(String, f64)>) -> Figure {
    let values: Vec<f64> = pairs.iter().map(|(_, value)| *value).collect();
    let count = counted(pairs.len(), "pair");
    let name = format!("A line between two CPUs ({class}), one way, median of {count}");
    let id = format!("{SERIES}.{class}");
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.value = stats::median(&values);
    figure.best = values.into_iter().reduce(f64::min);
    figure.status = Status::Measured;
    figure.computed_from(pairs.into_iter().map(|(id, _)| id).collect());
    figure.conditions = Conditions::default().with(PAIR, class.to_owned());
    figure
}

#[cfg(test)]
mod unit {
    use super::*;

    fn pair(id: &str, class: &str, value: Option<f64>) -> Figure {
        let mut figure = Figure::planned(id, "system", id, Unit::NANOSECONDS, Better::Lower);
        figure.conditions.set(KERNEL_KEY, KERNEL.to_owned());
        figure.conditions.set(PAIR, class.to_owned());
        figure.value = value;
        figure
    }

    #[test]
    fn every_class_has_a_figure_where_there_are_several_pairs() {
        let mut figures = vec![
            pair("b", "llc", Some(50.0)),
            pair("a", "smt", Some(10.0)),
            pair("c", "llc", None),
            pair("d", "llc", Some(40.0)),
            pair("e", "llc", Some(48.0)),
        ];
        complete(&mut figures);
        let [smt, llc] = &figures[5..] else { panic!("{} figures", figures.len()) };
        assert_eq!((smt.id.as_str(), smt.value), ("system.cores.smt", Some(10.0)));
        assert_eq!((llc.id.as_str(), llc.value, llc.best), ("system.cores.llc", Some(48.0), Some(40.0)));
        assert_eq!(llc.derived_from, ["b", "d", "e"]);
        assert!(llc.name.contains("3 pairs") && smt.name.ends_with("1 pair"));
        let mut alone = vec![pair("a", "llc", Some(50.0)), pair("b", "llc", None)];
        complete(&mut alone);
        assert_eq!(alone.len(), 2, "one pair needs no median");
    }
}
