//! `truebench memory`.

use std::fmt::Write;
use std::process::ExitCode;

use figure::format::{percent, seconds};
use figure::{Machine, Status, evidence};
use lab::schedule::Rules;
use machine::{Asked, Tree};
use memory::kernels::ELEMENT;
use memory::mode::{Mode, Options, Planned};

use crate::args::{Measuring, Memory};
use crate::failure::{Failure, code_of};
use crate::output::{self, Destination};
use crate::run;

/// Seconds of `--thorough`, whatever it measures.
const THOROUGH: f64 = 870.0;
/// The share of a mode's usual time that `--quick` takes: bandwidth then takes 52 s, so that with start and end it is
/// done within a minute.
const QUICK: f64 = 0.29;
/// The kernels that STREAM's table has.
const STREAM: &[&str] = &["copy", "scale", "add", "triad"];
/// Rounds of one figure at most where only time and target decide.
const MOST_ROUNDS: usize = 1000;

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Memory) -> Result<ExitCode, Failure> {
    if let Some(binary) = &arguments.modes.inspect {
        return super::inspect::run(binary, arguments);
    }
    let machine = machine::describe(&Tree::live(), &Asked { dimms: arguments.dimms });
    let plans = plans(arguments, &machine)?;
    shown_by(arguments, &plans)?;
    if arguments.measuring.dry_run {
        let text: Vec<String> = plans.iter().map(|(mode, plan)| describe(mode, plan)).collect();
        output::print(text.join("\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let destination = Destination::open(&arguments.output)?;
    let suites =
        plans.into_iter().map(|(mode, plan)| run::Suite { plan: plan.suite, complete: mode.complete });
    let record = run::measure(suites.collect(), machine, arguments.output.quiet)?;
    destination.write(&record)?;
    Ok(ExitCode::from(code_of(&record, arguments.measuring.strict)))
}

/// A plan for each mode that is asked for. Time that is shared out goes to those that have something to measure here.
fn plans(arguments: &Memory, machine: &Machine) -> Result<Vec<(&'static Mode, Planned)>, Failure> {
    let modes = modes(arguments);
    let plan = |mode: &'static Mode, all: f64| {
        let options = options(arguments, rules(&arguments.measuring, mode, mode.seconds / all));
        (mode.plan)(machine, &options).map_err(Failure::usage).map(|plan| (mode, plan))
    };
    let seconds =
        |modes: &mut dyn Iterator<Item = &'static Mode>| modes.map(|mode| mode.seconds).sum::<f64>();
    let all = seconds(&mut modes.iter().copied());
    let plans = modes.into_iter().map(|mode| plan(mode, all)).collect::<Result<Vec<_>, _>>()?;
    let works =
        |plan: &Planned| plan.suite.figures.iter().any(|figure| figure.status != Status::NotAvailable);
    let busy = seconds(&mut plans.iter().filter(|(_, plan)| works(plan)).map(|(mode, _)| *mode));
    let again =
        |(mode, first): (_, Planned)| if works(&first) { plan(mode, busy) } else { Ok((mode, first)) };
    if busy < all { plans.into_iter().map(again).collect() } else { Ok(plans) }
}

/// Whether the format can show what is planned: better known now than after measuring.
fn shown_by(arguments: &Memory, plans: &[(&Mode, Planned)]) -> Result<(), Failure> {
    let format = arguments.output.format.map_or("", |format| format.name);
    let lacks = |kernel: &str| !arguments.kernel.is_empty() && !arguments.kernel.iter().any(|k| k == kernel);
    let curves =
        plans.iter().any(|(_, plan)| plan.suite.figures.iter().any(|figure| figure.series.is_some()));
    let bandwidth = plans.iter().any(|(mode, _)| mode.name == memory::bandwidth::MODE.name);
    let problem = match format {
        "stream" if !bandwidth => "--format stream shows the bandwidth mode: add --bandwidth".to_owned(),
        "stream" => match STREAM.iter().find(|kernel| lacks(kernel)) {
            Some(kernel) => format!(
                "--format stream shows {}, and --kernel leaves {kernel} out: drop one of the two options",
                STREAM.join(",")
            ),
            None => return Ok(()),
        },
        "svg" if !curves => {
            "--format svg draws curves, and --bandwidth has none: add a mode such as --scaling or --latency"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(Failure::usage(problem))
}

/// The modes that are asked for, in the order of the list.
fn modes(arguments: &Memory) -> Vec<&'static Mode> {
    let modes = &arguments.modes;
    let asked = |name: &str| match name {
        "bandwidth" => modes.bandwidth,
        // Under load it says which mix, and is no mode.
        "mix" => modes.mix.is_some() && !modes.loaded,
        "scaling" => modes.scaling,
        "ladder" => modes.ladder || (arguments.sizes.is_some() && !modes.latency),
        "latency" => modes.latency,
        "loaded" => modes.loaded,
        "alignment" => modes.alignment,
        "c2c" => modes.c2c,
        "numa" => modes.numa.is_some(),
        "counters" => modes.counters,
        "cross-check" => modes.cross_check,
        _ => false,
    };
    let named: Vec<&Mode> = memory::MODES.iter().copied().filter(|mode| asked(mode.name)).collect();
    match (named.is_empty(), arguments.measuring.thorough) {
        (false, _) => named,
        (true, true) => memory::MODES.to_vec(),
        (true, false) => vec![&memory::bandwidth::MODE],
    }
}

fn options(arguments: &Memory, rules: Rules) -> Options {
    Options {
        array_size: arguments.array_size,
        kernels: arguments.kernel.clone(),
        stores: arguments.stores.only(),
        simd: arguments.simd,
        offset: arguments.offset * ELEMENT,
        pages: arguments.pages,
        threads: arguments.threads,
        places: arguments.places.clone(),
        bind: arguments.bind,
        mixes: arguments.modes.mix.clone().unwrap_or_default(),
        schedule: arguments.schedule,
        sizes: arguments.sizes,
        nodes: arguments.modes.numa.clone().and_then(|nodes| nodes.0),
        rules,
    }
}

/// When there are enough rounds. `share` is the mode's part of all the time there is.
fn rules(measuring: &Measuring, mode: &Mode, share: f64) -> Rules {
    let (least, most, target, time, repeats) = match (measuring.quick, measuring.thorough) {
        (true, _) => (6, 12, 0.02, mode.seconds * QUICK, 2),
        (_, true) => (12, MOST_ROUNDS, 0.005, THOROUGH * share, 10),
        _ => (8, 60, 0.01, mode.seconds, 4),
    };
    let asked = measuring.max_time.map(|time| time * share);
    let max_time = asked.unwrap_or(time);
    match measuring.rounds {
        Some(rounds) => {
            // Asked for a number of rounds and no time, they are measured however long that takes.
            let max_time = asked.unwrap_or(f64::MAX);
            let target = measuring.target.unwrap_or(target);
            Rules { target, repeats, ..Rules::exactly(rounds as usize, max_time) }
        }
        None => Rules { least, most, target: measuring.target.unwrap_or(target), max_time, repeats },
    }
}

/// The plan as `--dry-run` prints it.
fn describe(mode: &Mode, plan: &Planned) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    line("mode", mode.title);
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
    let mut told = None;
    for figure in &plan.suite.figures {
        let note = match (figure.status, &figure.reason) {
            (Status::NotAvailable, reason) if reason.is_some() && *reason == told => {
                "not available: as above".to_owned()
            }
            (Status::NotAvailable, Some(reason)) => {
                told = Some(reason.clone());
                format!("not available: {reason}")
            }
            _ => figure.conditions.get(evidence::ROLE).unwrap_or_default(),
        };
        let _ = writeln!(text, "  {:<28} {note}", figure.id);
    }
    text
}
