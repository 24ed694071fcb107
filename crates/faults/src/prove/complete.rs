//! What follows from the starts: other quantities, and ratios to the starts without a setting. Pure.

use figure::Figure;
use suites::settings::{BASE, Quantity};

use super::plan::AXIS;

pub fn complete(figures: &mut Vec<Figure>) {
    let (base, settings): (Vec<&Figure>, Vec<&Figure>) =
        AXIS.measured(figures).into_iter().partition(|figure| AXIS.variant_of(figure) == BASE);
    let mut added = Vec::new();
    for quantity in Quantity::ALL {
        if quantity != Quantity::Cpu {
            let series = format!("faults.prove.{}", quantity.word());
            let measured = base.iter().chain(&settings);
            added.extend(measured.filter_map(|figure| AXIS.quantity(figure, quantity, &series)));
        }
        if let Some(base) = base.first() {
            let series = format!("faults.settings.{}", quantity.word());
            let ratio = |figure: &&Figure| AXIS.ratio(figure, base, quantity, &series, "without a setting");
            added.extend(settings.iter().filter_map(ratio));
        }
    }
    figures.extend(added);
}

#[cfg(test)]
mod unit {
    use figure::evidence as key;
    use figure::{Better, Conditions, Evidence, Round, Status, Unit};

    use super::*;

    fn started(setting: &str, cpu: f64) -> Figure {
        let mut figure =
            Figure::planned(AXIS.id(setting), crate::SUITE, setting, Unit::SECONDS, Better::Lower);
        AXIS.place(&mut figure, AXIS.cpu, setting);
        figure.conditions = Conditions::default().with(key::SETTING, setting.to_owned());
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
            assert!(figure.interval.is_some() && figure.at.contains_key("setting"));
            figure.value
        };
        assert_eq!(value("faults.prove.wall.both"), Some(8.0));
        assert_eq!(value("faults.prove.faults.base"), Some(101.0));
        assert_eq!(
            value("faults.settings.cpu.both"),
            Some(0.25),
            "round by round, whatever they have in common"
        );
        assert_eq!(value("faults.settings.memory.both"), Some(1.0));
        assert_eq!(value("faults.settings.system.both"), None, "nothing is no multiple of nothing");
        assert_eq!(value("faults.settings.cpu.base"), None);
        assert!(
            figures.iter().all(|figure| !figure.id.ends_with("void") || figure.id == "faults.prove.cpu.void")
        );
    }
}
