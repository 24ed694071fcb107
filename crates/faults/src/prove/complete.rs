//! What follows from the starts: the other quantities of each, and its ratios to the starts without a lever. Pure.

use figure::evidence as key;
use figure::levers::{BASE, Quantity, is_rate};
use figure::treatment::Clock;
use figure::{Better, Figure, Status, Unit};

use super::plan::{CPU, at};

/// The series of ratios begin so.
const RATIOS: &str = "faults.levers";

/// Adds them.
pub fn complete(figures: &mut Vec<Figure>) {
    let measured: Vec<&Figure> = figures
        .iter()
        .filter(|figure| figure.status == Status::Measured && figure.series.as_deref() == Some(CPU))
        .collect();
    let base = measured.iter().copied().find(|figure| lever(figure) == BASE);
    let mut added = Vec::new();
    for quantity in Quantity::ALL {
        if quantity != Quantity::Cpu {
            added.extend(measured.iter().filter_map(|figure| aspect(figure, quantity)));
        }
        if let Some(base) = base {
            let others = measured.iter().filter(|figure| lever(figure) != BASE);
            added.extend(others.filter_map(|figure| ratio(figure, base, quantity)));
        }
    }
    figures.extend(added);
}

fn lever(figure: &Figure) -> String {
    figure.conditions.get(key::LEVER).unwrap_or_default()
}

/// What a quantity is called, and its unit.
fn named(quantity: Quantity, is_rate: bool) -> (&'static str, Unit) {
    match (quantity, is_rate) {
        (Quantity::Cpu, false) => ("CPU time", Unit::SECONDS),
        (Quantity::Cpu, true) => ("CPUs kept busy", Unit::of("CPUs")),
        (Quantity::System, false) => ("CPU time in the kernel", Unit::SECONDS),
        (Quantity::System, true) => ("CPUs kept busy in the kernel", Unit::of("CPUs")),
        (Quantity::Wall, _) => ("wall time", Unit::SECONDS),
        (Quantity::Memory, false) => ("peak memory of its largest process", Unit::BYTES),
        (Quantity::Memory, true) => ("memory", Unit::BYTES),
        (Quantity::Faults, false) => ("page faults", Unit::ONE),
        (Quantity::Faults, true) => ("page faults", Unit::PER_S),
    }
}

/// Of a disturbed clock or CPU these know nothing.
fn is_timeless(quantity: Quantity, is_rate: bool) -> bool {
    matches!(quantity, Quantity::Memory | Quantity::Faults) && !is_rate
}

fn aspect(figure: &Figure, quantity: Quantity) -> Option<Figure> {
    let is_rate = is_rate(figure);
    let ((name, unit), lever) = (named(quantity, is_rate), lever(figure));
    let series = format!("faults.prove.{}", quantity.word());
    let id = format!("{series}.{lever}");
    let mut follows = Figure::planned(id, crate::SUITE, format!("{lever}: {name}"), unit, Better::Lower);
    follows.derive(&quantity.values(figure)?, &[figure])?;
    at(&mut follows, &series, &lever);
    if is_timeless(quantity, is_rate) {
        follows.conditions.set(key::TIMELESS, true);
    }
    Some(follows)
}

fn ratio(figure: &Figure, base: &Figure, quantity: Quantity) -> Option<Figure> {
    let is_rate = is_rate(figure);
    let ((name, _), lever) = (named(quantity, is_rate), lever(figure));
    let (own, others) = (quantity.values(figure)?, quantity.values(base)?);
    let ratios: Vec<f64> = own.iter().zip(&others).map(|(own, other)| own / other).collect();
    // Nothing is a multiple of nothing.
    if !ratios.iter().all(|ratio| ratio.is_finite()) {
        return None;
    }
    let series = format!("{RATIOS}.{}", quantity.word());
    let id = format!("{series}.{lever}");
    let name = format!("{lever}: {name}, for that without a lever");
    let mut follows = Figure::planned(id, crate::SUITE, name, Unit::ONE, Better::Lower);
    follows.derive(&ratios, &[figure, base])?;
    at(&mut follows, &series, &lever);
    follows.conditions.set(key::RATIO_BASE, BASE.to_owned());
    follows.conditions.set(key::RATIO_CLOCK, clock(quantity, is_rate).word().to_owned());
    if is_timeless(quantity, is_rate) {
        follows.conditions.set(key::TIMELESS, true);
    }
    Some(follows)
}

/// What a ratio is of. A rate is of time that passes, whatever it counts.
fn clock(quantity: Quantity, is_rate: bool) -> Clock {
    match quantity {
        Quantity::Cpu | Quantity::System if !is_rate => Clock::Cpu,
        _ => Clock::Wall,
    }
}

#[cfg(test)]
mod unit {
    use figure::{Conditions, Evidence, Round};

    use super::*;

    fn started(lever: &str, cpu: f64) -> Figure {
        let id = format!("{CPU}.{lever}");
        let mut figure = Figure::planned(id, crate::SUITE, lever, Unit::SECONDS, Better::Lower);
        at(&mut figure, CPU, lever);
        figure.conditions = Conditions::default().with(key::LEVER, lever.to_owned());
        for round in 1..=7 {
            let mut evidence = Evidence::default();
            evidence.put(key::PROGRAM_WALL, 2.0 * f64::from(round));
            evidence.put(key::COPY_SYSTEM, 0.0);
            evidence.put(key::PROGRAM_PEAK, 1e6);
            evidence.put(key::FAULT_MINOR, 100.0);
            evidence.put(key::FAULT_MAJOR, 1.0);
            figure.rounds.push(Round::new(String::new(), 2.0, vec![cpu * f64::from(round)], evidence));
        }
        figure.summarise();
        figure
    }

    #[test]
    fn quantities_and_ratios_follow_from_the_rounds() {
        let mut void = started("void", 1.0);
        (void.status, void.rounds) = (Status::Failed, Vec::new());
        let mut figures = vec![started(BASE, 1.0), started("both", 0.25), void];
        complete(&mut figures);
        let value = |id: &str| {
            let figure = figures.iter().find(|figure| figure.id == id)?;
            assert!(figure.interval.is_some() && figure.at.contains_key("lever"));
            figure.value
        };
        assert_eq!(value("faults.prove.wall.both"), Some(8.0));
        assert_eq!(value("faults.prove.faults.base"), Some(101.0));
        assert_eq!(
            value("faults.levers.cpu.both"),
            Some(0.25),
            "round by round, whatever they have in common"
        );
        assert_eq!(value("faults.levers.memory.both"), Some(1.0));
        assert_eq!(value("faults.levers.system.both"), None, "nothing is no multiple of nothing");
        assert_eq!(value("faults.levers.cpu.base"), None);
        assert!(
            figures.iter().all(|figure| !figure.id.ends_with("void") || figure.id == "faults.prove.cpu.void")
        );
    }
}
