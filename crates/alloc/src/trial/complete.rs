//! What else the starts gave: wall time, memory, faults; and the ratio of each allocator's CPU time to the
//! first one's. Pure.

use figure::Figure;
use suites::settings::Quantity;

use super::plan::AXIS;

/// The series of ratios of CPU time, start by start.
const RATIO: &str = "alloc.try.ratio";

const QUANTITIES: [(Quantity, &str); 3] = [
    (Quantity::Wall, "alloc.try.wall"),
    (Quantity::Memory, "alloc.try.peak"),
    (Quantity::Faults, "alloc.try.faults"),
];

pub fn complete(figures: &mut Vec<Figure>) {
    let measured = AXIS.measured(figures);
    let mut added = Vec::new();
    for (quantity, series) in QUANTITIES {
        added.extend(measured.iter().filter_map(|figure| AXIS.quantity(figure, quantity, series)));
    }
    if let Some((first, others)) = measured.split_first() {
        let base_label = format!("with {}", AXIS.variant_of(first));
        let ratios =
            others.iter().filter_map(|figure| AXIS.ratio(figure, first, Quantity::Cpu, RATIO, &base_label));
        added.extend(ratios);
    }
    figures.extend(added);
}

#[cfg(test)]
mod unit {
    use figure::evidence as key;
    use figure::{Better, Conditions, Evidence, Round, Status, Unit};
    use suites::treatment::Clock;

    use super::*;

    fn started(allocator: &str) -> Figure {
        let mut figure =
            Figure::planned(AXIS.id(allocator), crate::SUITE, allocator, Unit::SECONDS, Better::Lower);
        AXIS.place(&mut figure, AXIS.cpu, allocator);
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
