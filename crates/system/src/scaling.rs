//! Scaling of the twelve tests: from one copy to one per CPU, and two per CPU.
//!
//! UnixBench runs one copy, and one per CPU. It reports neither numbers in between nor whether the CPUs were
//! busy: on 160 CPUs, 160 copies of its context test keep about 69 % of them busy (its issue #99). So two
//! copies per CPU are measured, too.

use crate::axes::AXES;
use figure::evidence::{COPIES, TEST};
use figure::series::SeriesText;
use figure::{Better, Figure, Machine, Unit};

use crate::index::plan::{ModeInfo, Setup, plan_passes, set_coordinates};
use crate::index::{bench, complete};
use crate::mode::{Mode, Options, PlanError, Planned};
use crate::ratio;

pub const MODE: Mode<Setup> = Mode {
    name: "copies",
    title: "UnixBench's tests by number of copies",
    series: &[SeriesText {
        key: "system.copies",
        title: "UnixBench's tests by number of copies",
        question: "How do UnixBench's tests grow with the number of copies?",
        axes: AXES,
        words: &[("times", "as a multiple of one copy")],
        ..SeriesText::EMPTY
    }],
    seconds: 300.0,
    plan,
    prepare: bench::prepare,
    complete: |figures, _| {
        complete::scores(figures);
        add_relative(figures);
    },
};

const SERIES: &str = "system.copies";
/// The series of the rates of several copies relative to one.
const RELATIVE: &str = "system.copies.times";

/// Numbers of copies up to this are measured one by one, beyond it by doubling.
const ONE_BY_ONE: u32 = 4;

fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let mode = ModeInfo { worker: "system.copies", series: Some(SERIES) };
    plan_passes(machine, options, mode, &numbers(machine.topology.usable().len() as u32))
}

/// The numbers of copies for this number of CPUs, ascending.
fn numbers(cpus: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(2 * ONE_BY_ONE), |number| number.checked_mul(2));
    let mut numbers: Vec<u32> = (1..=ONE_BY_ONE).chain(doubled).take_while(|number| *number < cpus).collect();
    numbers.extend([cpus.max(1), 2 * cpus.max(1)]);
    numbers
}

/// Adds the rates of several copies relative to one, by pairs of rounds.
fn add_relative(figures: &mut Vec<Figure>) {
    let test_and_copies = |figure: &Figure| {
        let is_in_series = figure.series.as_deref() == Some(SERIES);
        is_in_series.then(|| Some((figure.conditions.get(TEST)?, figure.conditions.get(COPIES)?))).flatten()
    };
    let measured = || figures.iter().filter(|figure| figure.value.is_some());
    let relative = |figure: &Figure| {
        let (test, copies) = test_and_copies(figure).filter(|(_, copies)| *copies > 1.0)?;
        let one = measured().find(|other| test_and_copies(other) == Some((test.clone(), 1.0)))?;
        let name = format!("{} over one", figure.name);
        let id = format!("{RELATIVE}.{test}.x{copies}");
        let mut relative = Figure::planned(id, crate::SUITE, name, Unit::ONE, Better::Higher);
        set_coordinates(&mut relative, RELATIVE, &test, copies);
        ratio::set_median_ratio(&mut relative, figure, one)?;
        Some(relative)
    };
    let added: Vec<Figure> = measured().filter_map(relative).collect();
    figures.extend(added);
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Round;

    /// A point with these values of rounds.
    fn point(test: &str, copies: f64, values: &[f64]) -> Figure {
        let mut figure =
            Figure::planned(format!("{test}.x{copies}"), "system", test, Unit::LPS, Better::Higher);
        set_coordinates(&mut figure, SERIES, test, copies);
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
    fn rates_are_relative_to_one_copy_round_by_round() {
        // The machine is half as fast from the third round on. The relative rate does not change.
        let one = point("pipe", 1.0, &[100.0, 100.0, 50.0, 50.0, 50.0, 50.0]);
        let two = point("pipe", 2.0, &[180.0, 180.0, 90.0, 90.0, 90.0, 90.0]);
        let mut figures = vec![one, two, point("spawn", 2.0, &[7.0; 6])];
        add_relative(&mut figures);
        assert_eq!(figures.len(), 4, "spawn has no figure with one copy");
        let relative = &figures[3];
        assert_eq!((relative.id.as_str(), relative.value), ("system.copies.times.pipe.x2", Some(1.8)));
        assert_eq!(
            relative.interval.as_ref().map(|interval| (interval.low, interval.high)),
            Some((1.8, 1.8))
        );
        assert_eq!(relative.derived_from, ["pipe.x2", "pipe.x1"]);
    }

    #[test]
    fn one_by_one_then_doubled_then_all_and_twice_as_many() {
        assert_eq!(numbers(1), [1, 2]);
        assert_eq!(numbers(2), [1, 2, 4]);
        assert_eq!(numbers(4), [1, 2, 3, 4, 8]);
        assert_eq!(numbers(96), [1, 2, 3, 4, 8, 16, 32, 64, 96, 192]);
    }
}
