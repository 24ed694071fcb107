//! The figures of a trial: CPU time of each variant, other quantities, and ratios to another variant. Pure.

use figure::evidence::{self as key, Key};
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, Figure, Status, Unit};
use suites::settings::{Quantity, is_rate};
use suites::treatment::Clock;

use crate::start::Program;

/// The class of figures that run a program unknown to truebench.
const CLASS: &str = "program";

/// What the variants of a trial are compared on.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub suite: &'static str,
    /// The series of CPU time, which is measured: it depends least on other load.
    pub cpu: &'static str,
    pub name: &'static str,
    pub variant: Key<String>,
}

impl Axis {
    pub fn id(&self, variant: &str) -> String {
        format!("{}.{variant}", self.cpu)
    }

    /// A variant's measured figure, before its first round. `until_rate` is the time in seconds that the
    /// program gets if it does not end by itself.
    pub fn planned(
        &self,
        variant: &str,
        program: &Program,
        until_rate: Option<f64>,
        conditions: Conditions,
    ) -> Figure {
        let (quantity, unit) = label(Quantity::Cpu, until_rate.is_some());
        let name = format!("{variant}: {quantity}");
        let mut figure = Figure::planned(self.id(variant), self.suite, name, unit, Better::Lower);
        self.place(&mut figure, self.cpu, variant);
        figure.conditions = conditions
            .with(self.variant, variant.to_owned())
            .with(key::PROGRAM, program.name())
            .with(key::TEST_CLASS, CLASS.to_owned());
        if let Some(time) = until_rate {
            figure.conditions.set(key::RATE_TIME, time);
        }
        figure
    }

    /// Makes a figure a point of a comparison of variants.
    pub fn place(&self, figure: &mut Figure, series: &str, variant: &str) {
        figure.series = Some(series.to_owned());
        let value = CoordinateValue::Name(variant.to_owned());
        figure.at.insert(self.name.to_owned(), Coordinate { value, unit: None });
    }

    pub fn measured<'a>(&self, figures: &'a [Figure]) -> Vec<&'a Figure> {
        let is_measured = |figure: &&Figure| {
            figure.status == Status::Measured && figure.series.as_deref() == Some(self.cpu)
        };
        figures.iter().filter(is_measured).collect()
    }

    pub fn variant_of(&self, figure: &Figure) -> String {
        figure.conditions.get(self.variant).unwrap_or_default()
    }

    /// Another quantity of the rounds of a measured figure.
    pub fn quantity(&self, figure: &Figure, quantity: Quantity, series: &str) -> Option<Figure> {
        let (label, unit) = label(quantity, is_rate(figure));
        self.derived(figure, quantity, series, (label, unit), &quantity.values(figure)?, &[figure])
    }

    /// Round by round. `base_label` follows "for that" in its name.
    pub fn ratio(
        &self,
        figure: &Figure,
        base: &Figure,
        quantity: Quantity,
        series: &str,
        base_label: &str,
    ) -> Option<Figure> {
        let (values, base_values) = (quantity.values(figure)?, quantity.values(base)?);
        let ratios: Vec<f64> = values.iter().zip(&base_values).map(|(value, base)| value / base).collect();
        // A base of 0 gives no ratio.
        if !ratios.iter().all(|ratio| ratio.is_finite()) {
            return None;
        }
        let is_rate = is_rate(figure);
        let label = format!("{}, for that {base_label}", label(quantity, is_rate).0);
        let sources = [figure, base];
        let mut derived = self.derived(figure, quantity, series, (&label, Unit::ONE), &ratios, &sources)?;
        derived.conditions.set(key::RATIO_BASE, self.variant_of(base));
        derived.conditions.set(key::RATIO_CLOCK, clock(quantity, is_rate).word().to_owned());
        Some(derived)
    }

    fn derived(
        &self,
        figure: &Figure,
        quantity: Quantity,
        series: &str,
        (label, unit): (&str, Unit),
        values: &[f64],
        sources: &[&Figure],
    ) -> Option<Figure> {
        let variant = self.variant_of(figure);
        let (id, name) = (format!("{series}.{variant}"), format!("{variant}: {label}"));
        let mut derived = Figure::planned(id, self.suite, name, unit, Better::Lower);
        derived.derive(values, sources)?;
        self.place(&mut derived, series, &variant);
        if is_timeless(quantity, is_rate(figure)) {
            derived.conditions.set(key::TIMELESS, true);
        }
        Some(derived)
    }
}

fn label(quantity: Quantity, is_rate: bool) -> (&'static str, Unit) {
    match (quantity, is_rate) {
        (Quantity::Cpu, false) => ("CPU time", Unit::SECONDS),
        (Quantity::Cpu, true) => ("busy CPUs", Unit::of("CPUs")),
        (Quantity::System, false) => ("CPU time in the kernel", Unit::SECONDS),
        (Quantity::System, true) => ("CPUs busy in the kernel", Unit::of("CPUs")),
        (Quantity::Wall, _) => ("wall time", Unit::SECONDS),
        (Quantity::Memory, false) => ("peak memory of its largest process", Unit::BYTES),
        (Quantity::Memory, true) => ("memory", Unit::BYTES),
        (Quantity::Faults, false) => ("page faults", Unit::of("faults")),
        (Quantity::Faults, true) => ("page faults", Unit::PER_S),
    }
}

/// Whether the quantity is the same on a slow or disturbed CPU.
fn is_timeless(quantity: Quantity, is_rate: bool) -> bool {
    matches!(quantity, Quantity::Memory | Quantity::Faults) && !is_rate
}

/// The clock that a ratio rests on. A rate counts per second of wall time.
fn clock(quantity: Quantity, is_rate: bool) -> Clock {
    match quantity {
        Quantity::Cpu | Quantity::System if !is_rate => Clock::Cpu,
        _ => Clock::Wall,
    }
}
