//! What else the starts gave: wall time, memory, faults; and the ratio of each allocator's CPU time to the first one's. Pure.

use figure::evidence::{self as key, Key};
use figure::treatment::Clock;
use figure::{Better, Figure, Reading, Round, Status, Unit};

use super::plan::{CPU, at};

/// The series of ratios of CPU time, start by start.
const RATIO: &str = "alloc.try.ratio";

/// A figure that follows from the rounds of the measured one.
struct Aspect {
    series: &'static str,
    name: &'static str,
    unit: fn() -> Unit,
    of: fn(&Round) -> Option<f64>,
    /// Whether it would be the same had the program been slower.
    is_timeless: bool,
}

fn known(round: &Round, key: Key<f64>) -> Option<f64> {
    match round.evidence.get(key) {
        Reading::Value(value) => Some(value),
        Reading::Unknown(_) => None,
    }
}

const ASPECTS: &[Aspect] = &[
    Aspect {
        series: "alloc.try.wall",
        name: "wall time",
        unit: || Unit::SECONDS,
        of: |round| known(round, key::PROGRAM_WALL),
        is_timeless: false,
    },
    Aspect {
        series: "alloc.try.peak",
        name: "peak memory of its largest process",
        unit: || Unit::BYTES,
        of: |round| known(round, key::PROGRAM_PEAK),
        is_timeless: true,
    },
    Aspect {
        series: "alloc.try.faults",
        name: "page faults",
        unit: || Unit::ONE,
        of: |round| Some(known(round, key::FAULT_MINOR)? + known(round, key::FAULT_MAJOR)?),
        is_timeless: true,
    },
];

/// Adds them.
pub fn complete(figures: &mut Vec<Figure>) {
    let mut added = Vec::new();
    for aspect in ASPECTS {
        let measured = figures
            .iter()
            .filter(|figure| figure.status == Status::Measured && figure.series.as_deref() == Some(CPU));
        added.extend(measured.filter_map(|figure| follow(figure, aspect)));
    }
    let is_measured =
        |figure: &&Figure| figure.status == Status::Measured && figure.series.as_deref() == Some(CPU);
    let mut measured = figures.iter().filter(is_measured);
    if let Some(first) = measured.next() {
        added.extend(measured.filter_map(|figure| ratio(figure, first)));
    }
    figures.extend(added);
}

fn ratio(figure: &Figure, first: &Figure) -> Option<Figure> {
    let [allocator, other] = [figure, first].map(|figure| figure.conditions.get(key::ALLOCATOR));
    let (allocator, other) = (allocator?, other?);
    let pairs: Vec<f64> =
        figure.kept_values().iter().zip(first.kept_values()).map(|(own, other)| own / other).collect();
    // Nothing is a multiple of nothing.
    if !pairs.iter().all(|ratio| ratio.is_finite()) {
        return None;
    }
    let name = format!("{allocator}: CPU time, for that with {other}");
    let mut follows =
        Figure::planned(format!("{RATIO}.{allocator}"), crate::SUITE, name, Unit::ONE, Better::Lower);
    follows.derive(&pairs, &[figure, first])?;
    at(&mut follows, RATIO, &allocator);
    follows.conditions.set(key::RATIO_CLOCK, Clock::Cpu.word().to_owned());
    follows.conditions.set(key::RATIO_BASE, other);
    Some(follows)
}

fn follow(figure: &Figure, aspect: &Aspect) -> Option<Figure> {
    let allocator = figure.conditions.get(key::ALLOCATOR)?;
    let values: Vec<f64> = figure.kept().filter_map(aspect.of).collect();
    let mut follows = Figure::planned(
        format!("{}.{allocator}", aspect.series),
        crate::SUITE,
        format!("{allocator}: {}", aspect.name),
        (aspect.unit)(),
        Better::Lower,
    );
    follows.derive(&values, &[figure])?;
    at(&mut follows, aspect.series, &allocator);
    if aspect.is_timeless {
        follows.conditions.set(key::TIMELESS, true);
    }
    Some(follows)
}

#[cfg(test)]
mod unit {
    use figure::{Conditions, Evidence};

    use super::*;

    fn started(allocator: &str) -> Figure {
        let id = format!("{CPU}.{allocator}");
        let mut figure = Figure::planned(id, crate::SUITE, allocator, Unit::SECONDS, Better::Lower);
        at(&mut figure, CPU, allocator);
        figure.conditions = Conditions::default().with(key::ALLOCATOR, allocator.to_owned());
        for round in 0..7 {
            let mut evidence = Evidence::default();
            evidence.put(key::PROGRAM_WALL, 2.0);
            evidence.put(key::PROGRAM_PEAK, 1e6 + f64::from(round));
            evidence.put(key::FAULT_MINOR, 100.0);
            evidence.put(key::FAULT_MAJOR, 1.0);
            figure.rounds.push(Round::new(String::new(), 2.0, vec![1.0], evidence));
        }
        figure.summarise();
        figure
    }

    #[test]
    fn each_is_a_ratio_to_the_first() {
        let mut figures = vec![started("one"), started("two"), started("three")];
        figures[1].rounds.iter_mut().for_each(|round| round.samples = vec![0.5]);
        complete(&mut figures);
        let ratio = |name: &str| figures.iter().find(|figure| figure.id == format!("{RATIO}.{name}"));
        assert!(ratio("one").is_none());
        let two = ratio("two").unwrap();
        assert_eq!((two.value, Clock::of_ratio(two)), (Some(0.5), Some(Clock::Cpu)));
        assert_eq!(two.derived_from, ["alloc.try.cpu.two", "alloc.try.cpu.one"]);
        assert_eq!(ratio("three").unwrap().value, Some(1.0));
    }

    #[test]
    fn wall_peak_and_faults_follow_from_the_rounds() {
        let mut void = started("void");
        (void.status, void.rounds) = (Status::Failed, Vec::new());
        let mut figures = vec![started("one"), void];
        complete(&mut figures);
        assert_eq!(figures.len(), 5, "nothing follows from a void row");
        let value = |id: &str| {
            let figure = figures.iter().find(|figure| figure.id == id).unwrap();
            assert_eq!(figure.derived_from, ["alloc.try.cpu.one"]);
            assert!(figure.interval.is_some() && figure.at.contains_key("allocator"));
            figure.value.unwrap()
        };
        assert_eq!(value("alloc.try.wall.one"), 2.0);
        assert_eq!(value("alloc.try.peak.one"), 1e6 + 3.0);
        assert_eq!(value("alloc.try.faults.one"), 101.0);
    }
}
