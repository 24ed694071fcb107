//! What a program's page faults cost, why it takes them, and what may be done.

use figure::evidence::*;
use figure::{Explanation, Figure, Record, Severity};
use suites::settings::{Quantity, trial};

use super::{blocks, calls, ids, settings};
use crate::cases::{Case, Faults, faults};
use crate::explain::mechanism;
use crate::values::{Counted, Seconds, Share};

/// Below this share of the CPU time nothing is to be gained.
const NOTHING: f64 = 0.02;
/// Seconds of CPU time from which on clock ticks resolve the kernel's share of it: some dozens of ticks.
const RESOLVED: f64 = 0.2;
/// Mechanisms with a smaller share are left to the table.
const LEAST: f64 = 0.1;

pub(super) fn explanation(rule: &str, case: Faults, severity: Severity, about: &[&Figure]) -> Explanation {
    Case::from(case).explanation(rule, severity, ids(about))
}

pub(super) fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

/// A condition that is not empty.
pub(super) fn text(figure: &Figure, key: Key<String>) -> Option<String> {
    figure.conditions.get(key).filter(|text| !text.is_empty())
}

pub(super) fn measured<'a>(record: &'a Record, id: &str) -> Option<&'a Figure> {
    record.figure(id).filter(|figure| figure.value.is_some())
}

/// The share of CPU time that faults cost a program that was watched.
pub(super) fn gain(record: &Record) -> Option<&Figure> {
    measured(record, "faults.gain")
}

/// The command that applies a setting to one run.
pub(super) fn command(figure: &Figure) -> Option<String> {
    text(figure, SETTING_ENVIRONMENT).map(|environment| format!("{environment} COMMAND"))
}

/// All findings about a program that was watched, the answer first.
pub(super) fn watched(record: &Record) -> Vec<Explanation> {
    let Some(counted) = gain(record).or_else(|| measured(record, "faults.minor")) else { return Vec::new() };
    let is_mechanism = |figure: &&Figure| {
        figure.conditions.get(WATCHED).is_some()
            && mechanism::cause(figure).is_some()
            && figure.value.is_some_and(|share| share >= LEAST)
    };
    let mechanisms: Vec<&Figure> = record.figures.iter().filter(is_mechanism).collect();
    let main = mechanisms.first().copied();
    let answer = match gain(record) {
        Some(gain) => answer(record, gain, main),
        None => unpriced(counted, main),
    };
    let mut all = Vec::from_iter(answer);
    for figure in mechanisms {
        let case = mechanism::mechanism(figure);
        all.extend(case.map(|case| explanation("mechanism", case, Severity::Note, &[figure])));
        all.extend(calls::calls(record, figure));
    }
    all.extend(blocks::blocks(record));
    let is_open = trial(record).is_none() && gain(record).is_none_or(|gain| gain.value >= Some(NOTHING));
    all.extend(main.filter(|_| is_open).and_then(to_try));
    all
}

/// What may be done about a mechanism, and how to find out whether it helps.
fn to_try(figure: &Figure) -> Option<Explanation> {
    let (about, price) = (text(figure, SETTING_ABOUT)?, text(figure, SETTING_PRICE)?);
    let action = match command(figure) {
        Some(_) => "truebench faults --prove -- COMMAND".to_owned(),
        None => text(figure, SETTING_CODE)?,
    };
    Some(explanation("setting", Faults::NotProved { about, price, action }, Severity::Note, &[figure]))
}

/// How many faults there are, where their cost is not known.
fn unpriced(minor: &Figure, main: Option<&Figure>) -> Option<Explanation> {
    let faults = Counted(fact(minor, FAULT_TOTAL)?, "minor fault");
    let case = Faults::CostUnknown { faults, cause: main.and_then(mechanism::cause) };
    Some(explanation("page-faults", case, Severity::Note, &[minor]))
}

/// What the faults cost, where most of them come from, what stops them: a rate alone answers nothing.
///
/// The price is that of a loop. After a pause, with the kernel's code and data no longer in the caches, a fault takes several
/// times as long; and calls that give memory back come on top. So the bound is all that was spent in the kernel.
fn answer(record: &Record, gain: &Figure, main: Option<&Figure>) -> Option<Explanation> {
    let (value, cpu) = (gain.value?, fact(gain, PROGRAM_CPU)?);
    let is_little = value < NOTHING;
    let bound = fact(gain, PROGRAM_SYSTEM).map(|system| system / cpu);
    let cost = faults::Cost {
        share: Share(value),
        faults: Counted(fact(gain, FAULT_TOTAL)?, "minor fault"),
        price: Seconds(measured(record, "faults.prices.minor.write")?.value? * 1e-9),
        cpu: Seconds(cpu),
        bound: bound.filter(|bound| !is_little && cpu >= RESOLVED && *bound > value).map(Share),
    };
    let cause = main.and_then(mechanism::cause);
    let tried = settings::undisturbed(record);
    let best = tried.as_ref().and_then(settings::chosen);
    let is_in_vain = tried.as_ref().is_some_and(|tried| tried.arms.iter().any(|arm| arm.effect.is_some()));
    let case = match best {
        Some((arm, _)) => {
            // A setting may save wall time alone; and under load the size of a saving is not known.
            let cpu = arm.ratio(Quantity::Cpu).filter(|cpu| cpu.high < 1.0 && arm.direction.is_none());
            let saved = cpu.map(|cpu| Share(1.0 - cpu.value));
            let command = command(arm.figure);
            Faults::CostSaved { cost, cause, setting: arm.name.clone(), saved, command }
        }
        None if is_little => Faults::CostLittle { cost },
        None if is_in_vain => Faults::CostStays { cost, cause },
        None => {
            let untried = main.filter(|_| trial(record).is_none());
            Faults::Cost { cost, cause, command: untried.and_then(command) }
        }
    };
    let severity = if is_little { Severity::Note } else { Severity::Warning };
    Some(explanation("page-faults", case, severity, &[gain]))
}
