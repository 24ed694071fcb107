//! How the twelve tests scale: copies from one to as many as there are CPUs, and twice as many.
//!
//! UnixBench runs one copy and one for each CPU; what lies between, and whether the CPUs were busy at all, it does not tell: on 160
//! CPUs as many copies of its context test keep some 69 % of them busy (its issue #99). Hence twice as many too.

use figure::evidence::{COPIES, TEST};
use figure::{Better, Figure, Machine, Unit};

use crate::index::plan::{Kind, place, planned_as};
use crate::index::{bench, complete};
use crate::mode::{Mode, Options, PlanError, Planned};
use crate::multiple;

/// The mode.
pub const MODE: Mode = Mode {
    name: "copies",
    title: "UnixBench's tests by number of copies",
    seconds: 300.0,
    plan,
    prepare: bench::prepare,
    complete: |figures, _| {
        complete::scores(figures);
        multiples(figures);
    },
};

/// The series of the tests' figures.
const SERIES: &str = "system.copies";
/// The series of what several copies do as a multiple of one.
const MULTIPLES: &str = "system.copies.times";

/// Numbers of copies up to this are measured one by one, beyond it by doubling.
const ONE_BY_ONE: u32 = 4;

fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let kind = Kind { worker: "system.copies", series: Some(SERIES) };
    planned_as(machine, options, kind, &numbers(machine.topology.usable().len() as u32))
}

/// The numbers of copies for so many CPUs, ascending.
fn numbers(cpus: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(2 * ONE_BY_ONE), |number| number.checked_mul(2));
    let mut numbers: Vec<u32> = (1..=ONE_BY_ONE).chain(doubled).take_while(|number| *number < cpus).collect();
    numbers.extend([cpus.max(1), 2 * cpus.max(1)]);
    numbers
}

/// Adds what several copies do as multiples of one, of rounds in pairs.
fn multiples(figures: &mut Vec<Figure>) {
    let of = |figure: &Figure| {
        let here = figure.series.as_deref() == Some(SERIES);
        here.then(|| Some((figure.conditions.get(TEST)?, figure.conditions.get(COPIES)?))).flatten()
    };
    let measured = || figures.iter().filter(|figure| figure.value.is_some());
    let multiple = |figure: &Figure| {
        let (test, copies) = of(figure).filter(|(_, copies)| *copies > 1.0)?;
        let one = measured().find(|other| of(other) == Some((test.clone(), 1.0)))?;
        let name = format!("{} over one", figure.name);
        let id = format!("{MULTIPLES}.{test}.x{copies}");
        let mut multiple = Figure::planned(id, crate::SUITE, name, Unit::ONE, Better::Higher);
        place(&mut multiple, MULTIPLES, &test, copies);
        multiple::set(&mut multiple, figure, one)?;
        Some(multiple)
    };
    let multiples: Vec<Figure> = measured().filter_map(multiple).collect();
    figures.extend(multiples);
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Round;

    /// A point whose rounds gave these.
    fn point(test: &str, copies: f64, values: &[f64]) -> Figure {
        let mut figure =
            Figure::planned(format!("{test}.x{copies}"), "system", test, Unit::LPS, Better::Higher);
        place(&mut figure, SERIES, test, copies);
        figure.conditions.set(TEST, test.to_owned());
        figure.conditions.set(COPIES, copies);
        figure.rounds = values.iter().map(|value| round(*value)).collect();
        figure.summarise();
        figure
    }

    fn round(value: f64) -> Round {
        Round::new(String::new(), 1.0, vec![value], Default::default())
    }

    #[test]
    fn several_copies_are_multiples_of_one_round_by_round() {
        // The machine slows down by half from the third round on; that says nothing of copies.
        let one = point("pipe", 1.0, &[100.0, 100.0, 50.0, 50.0, 50.0, 50.0]);
        let two = point("pipe", 2.0, &[180.0, 180.0, 90.0, 90.0, 90.0, 90.0]);
        let mut figures = vec![one, two, point("spawn", 2.0, &[7.0; 6])];
        multiples(&mut figures);
        assert_eq!(figures.len(), 4, "none of spawn, whose one copy is missing");
        let multiple = &figures[3];
        assert_eq!((multiple.id.as_str(), multiple.value), ("system.copies.times.pipe.x2", Some(1.8)));
        assert_eq!(
            multiple.interval.as_ref().map(|interval| (interval.low, interval.high)),
            Some((1.8, 1.8))
        );
        assert_eq!(multiple.derived_from, ["pipe.x2", "pipe.x1"]);
    }

    #[test]
    fn one_by_one_then_doubled_then_all_and_twice_as_many() {
        assert_eq!(numbers(1), [1, 2]);
        assert_eq!(numbers(2), [1, 2, 4]);
        assert_eq!(numbers(4), [1, 2, 3, 4, 8]);
        assert_eq!(numbers(96), [1, 2, 3, 4, 8, 16, 32, 64, 96, 192]);
    }
}
