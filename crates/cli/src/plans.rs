//! From options to the plans of a suite's modes, and from plans to a report: shared by all suites.

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use figure::format::{percent, seconds};
use figure::{Figure, Machine, Status, evidence};
use lab::core_kind;
use lab::mode::{AnyMode, Planned};
use lab::schedule::Rules;
use lab::session::with_finishing_time;

use crate::args::{Measuring, Output};
use crate::exit::{self, CommandError};
use crate::output::{self, Destination};
use crate::run::{self, Suite, Work};

/// Rounds of one figure at most where only time and target decide.
const MOST_ROUNDS: usize = 1000;

/// The note of a plan that says which kinds of core are used.
const CORES: &str = "cores";

/// How a suite divides its time.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Seconds of `--thorough`, whatever it measures.
    pub thorough: f64,
    /// The share of a mode's usual time that `--quick` takes.
    pub quick: f64,
}

/// A mode with its plan.
pub type Ready<O, E> = (&'static dyn AnyMode<O, E>, Planned);

/// A plan, and what `--dry-run` prints of it.
pub struct Part {
    /// The plan as `--dry-run` prints it.
    pub description: String,
    /// The plan.
    pub work: Work,
}

/// The parts of modes with their plans.
pub fn parts<O: 'static, E: 'static>(plans: Vec<Ready<O, E>>) -> Vec<Part> {
    let part = |(mode, plan): Ready<O, E>| Part {
        description: describe(mode.title(), &plan),
        work: Work::Rounds(Suite { title: mode.title(), plan: plan.suite, complete: mode.complete() }),
    };
    plans.into_iter().map(part).collect()
}

/// A plan for each of these modes. The time is divided among those that have something to measure here.
///
/// # Errors
/// Wrong usage: the mode and what it cannot do.
pub fn plans<O: 'static, E: Error + 'static>(
    modes: Vec<&'static dyn AnyMode<O, E>>,
    machine: &Machine,
    measuring: &Measuring,
    times: Times,
    options: &dyn Fn(Rules) -> O,
) -> Result<Vec<Ready<O, E>>, CommandError> {
    let plan = |mode: &'static dyn AnyMode<O, E>, all: f64| {
        let options = options(rules(measuring, times, mode.seconds(), mode.seconds() / all));
        let mut plan = mode.plan(machine, &options).map_err(CommandError::usage)?;
        if !plan.notes.iter().any(|(name, _)| *name == CORES) {
            plan.notes.extend(core_kind::note(machine).map(|note| (CORES, note)));
        }
        Ok((mode, plan))
    };
    let all: f64 = modes.iter().map(|mode| mode.seconds()).sum();
    let plans = modes.into_iter().map(|mode| plan(mode, all)).collect::<Result<Vec<_>, _>>()?;
    let works =
        |plan: &Planned| plan.suite.figures.iter().any(|figure| figure.status != Status::NotAvailable);
    let busy: f64 = plans.iter().filter(|(_, plan)| works(plan)).map(|(mode, _)| mode.seconds()).sum();
    let again =
        |(mode, first): (_, Planned)| if works(&first) { plan(mode, busy) } else { Ok((mode, first)) };
    let plans: Vec<Ready<O, E>> =
        if busy < all { plans.into_iter().map(again).collect::<Result<_, _>>()? } else { plans };
    in_time(plans, measuring)
}

/// Plans that fit their time. A `--max-time` that is too short is refused; a default time that is too short
/// is extended.
///
/// # Errors
/// Wrong usage: the mode that needs more time, and how much is enough.
fn in_time<O: 'static, E: 'static>(
    plans: Vec<Ready<O, E>>,
    measuring: &Measuring,
) -> Result<Vec<Ready<O, E>>, CommandError> {
    let works =
        |plan: &Planned| plan.suite.figures.iter().any(|figure| figure.status != Status::NotAvailable);
    // The needed time over the time that the plan has.
    let lack = |plan: &Planned| match works(plan) {
        true => with_finishing_time(plan.suite.least_seconds) / plan.suite.rules.max_time,
        false => 0.0,
    };
    let worst = plans.iter().map(|(mode, plan)| (mode, plan, lack(plan))).max_by(|a, b| a.2.total_cmp(&b.2));
    match (worst, measuring.max_time) {
        (Some((mode, plan, lack)), Some(asked)) if lack > 1.0 => Err(CommandError::usage(format!(
            "--max-time {asked}s: {} needs about {} ({}), of which it gets {}; use --max-time {:.0}s or more",
            mode.title(),
            seconds(with_finishing_time(plan.suite.least_seconds)),
            plan.suite.preparing,
            seconds(plan.suite.rules.max_time),
            (asked * lack).ceil()
        ))),
        (Some((.., lack)), None) if lack > 1.0 => Ok(plans
            .into_iter()
            .map(|(mode, mut plan)| {
                let rules = &mut plan.suite.rules;
                rules.max_time = rules.max_time.max(with_finishing_time(plan.suite.least_seconds));
                (mode, plan)
            })
            .collect()),
        _ => Ok(plans),
    }
}

/// Measures, judges and reports; with `--dry-run` prints the plans only.
///
/// # Errors
/// What could not be measured or written.
pub fn execute(
    parts: Vec<Part>,
    machine: Machine,
    measuring: &Measuring,
    output: &Output,
) -> Result<ExitCode, CommandError> {
    execute_with(parts, Vec::new(), machine, measuring, output)
}

/// The same, with figures that were measured before and belong to the record.
///
/// # Errors
/// What could not be measured or written.
pub fn execute_with(
    parts: Vec<Part>,
    figures: Vec<Figure>,
    machine: Machine,
    measuring: &Measuring,
    output: &Output,
) -> Result<ExitCode, CommandError> {
    let destination = Destination::open(output)?;
    if measuring.dry_run {
        let text: Vec<&str> = parts.iter().map(|part| part.description.as_str()).collect();
        output::print(text.join("\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let works = parts.into_iter().map(|part| part.work).collect();
    let record = run::measure(works, figures, machine, output.quiet, &mut ())?;
    destination.write(&record)?;
    Ok(exit::end(&record, measuring.strict))
}

/// When there are enough rounds. `share` is the mode's part of the time, from 0 to 1.
fn rules(measuring: &Measuring, times: Times, usual: f64, share: f64) -> Rules {
    let (least, most, target, time, repeats) = match (measuring.quick, measuring.thorough) {
        (true, _) => (6, 60, 0.02, usual * times.quick, 2),
        (_, true) => (12, MOST_ROUNDS, 0.005, times.thorough * share, 10),
        _ => (8, 60, 0.01, usual, 4),
    };
    let asked = measuring.max_time.map(|time| time * share);
    let max_time = asked.unwrap_or(time);
    match measuring.rounds {
        Some(rounds) => {
            // A number of rounds without a time is measured however long it takes; of few, few are repeated.
            let (rounds, max_time) = (rounds as usize, asked.unwrap_or(f64::MAX));
            let target = measuring.target.unwrap_or(target);
            Rules { target, repeats: repeats.min(rounds), ..Rules::exactly(rounds, max_time) }
        }
        None => Rules { least, most, target: measuring.target.unwrap_or(target), max_time, repeats },
    }
}

/// The plan as `--dry-run` prints it.
fn describe(title: &str, plan: &Planned) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    line("mode", title);
    for (name, value) in &plan.notes {
        line(name, value);
    }
    let rules = plan.suite.rules;
    let time = if rules.max_time < f64::MAX { seconds(rules.max_time) } else { "unbounded".to_owned() };
    let rounds = if rules.least == rules.most {
        format!("exactly {}", rules.least)
    } else {
        format!("{} to {}, until the interval is within {}", rules.least, rules.most, percent(rules.target))
    };
    line("rounds", &format!("{rounds}; time {time}"));
    let mut last_reason = None;
    for figure in &plan.suite.figures {
        let note = match (figure.status, &figure.reason) {
            (Status::NotAvailable, reason) if reason.is_some() && *reason == last_reason => {
                "not available: as above".to_owned()
            }
            (Status::NotAvailable, Some(reason)) => {
                last_reason = Some(reason.clone());
                format!("not available: {reason}")
            }
            _ => figure.conditions.get(evidence::ROLE).unwrap_or_default(),
        };
        let _ = writeln!(text, "  {:<28} {note}", figure.id);
    }
    text
}
