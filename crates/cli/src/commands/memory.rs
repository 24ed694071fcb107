//! `truebench memory`.

use std::fmt::Write;
use std::process::ExitCode;

use figure::format::{bytes, percent, seconds};
use figure::{Reading, Status, evidence};
use lab::schedule::Rules;
use machine::{Asked, Tree};
use memory::kernels::ELEMENT;
use memory::plan::{Options, Plan, plan, set_limits};

use crate::args::{Measuring, Memory};
use crate::failure::{Failure, code_of};
use crate::output::{self, Destination};
use crate::run;

/// Seconds for the suite with `--quick`: the issue of everything within a minute, the rest being start and end.
const QUICK: f64 = 52.0;
/// Seconds for the suite by default.
const DEFAULT: f64 = 180.0;
/// Seconds for the suite with `--thorough`.
const THOROUGH: f64 = 900.0;
/// The kernels that STREAM's table has.
const STREAM: &[&str] = &["copy", "scale", "add", "triad"];
/// Rounds of one figure at most where only time and target decide.
const MOST_ROUNDS: usize = 1000;

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Memory) -> Result<ExitCode, Failure> {
    let machine = machine::describe(&Tree::live(), &Asked { dimms: arguments.dimms });
    let options = Options {
        array_size: arguments.array_size,
        kernels: arguments.kernel.clone(),
        stores: arguments.stores.only(),
        simd: arguments.simd,
        offset: arguments.offset * ELEMENT,
        pages: arguments.pages,
        threads: arguments.threads,
        places: arguments.places.clone(),
        bind: arguments.bind,
        rules: rules(&arguments.measuring),
    };
    let plan = plan(&machine, &options).map_err(Failure::usage)?;
    let stream = arguments.output.format.is_some_and(|format| format.name == "stream");
    let lacks = |kernel: &str| !options.kernels.is_empty() && !options.kernels.iter().any(|k| k == kernel);
    if let Some(kernel) = STREAM.iter().find(|kernel| stream && lacks(kernel)) {
        let all = STREAM.join(",");
        return Err(Failure::usage(format!(
            "--format stream shows {all}, and --kernel leaves {kernel} out: drop one of the two options"
        )));
    }
    if arguments.measuring.dry_run {
        output::print(describe(&plan).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let destination = Destination::open(&arguments.output)?;
    let record = run::measure(&plan.suite, machine, arguments.output.quiet, set_limits)?;
    destination.write(&record)?;
    Ok(ExitCode::from(code_of(&record, arguments.measuring.strict)))
}

/// When there are enough rounds.
fn rules(measuring: &Measuring) -> Rules {
    let (least, most, target, time, repeats) = match (measuring.quick, measuring.thorough) {
        (true, _) => (6, 12, 0.02, QUICK, 2),
        (_, true) => (12, MOST_ROUNDS, 0.005, THOROUGH, 10),
        _ => (8, 60, 0.01, DEFAULT, 4),
    };
    let max_time = measuring.max_time.unwrap_or(time);
    match measuring.rounds {
        Some(rounds) => {
            // Asked for a number of rounds and no time, they are measured however long that takes.
            let max_time = measuring.max_time.unwrap_or(f64::MAX);
            let target = measuring.target.unwrap_or(target);
            Rules { target, repeats, ..Rules::exactly(rounds as usize, max_time) }
        }
        None => Rules { least, most, target: measuring.target.unwrap_or(target), max_time, repeats },
    }
}

/// The plan as `--dry-run` prints it.
fn describe(plan: &Plan) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    let placement = &plan.placement;
    let cpus: Vec<String> = placement.threads.iter().map(|place| format!("{{{place}}}")).collect();
    line(
        "threads",
        &format!("{} ({}, {}): {}", cpus.len(), placement.places, placement.bind, cpus.join(",")),
    );
    let array = (plan.sizes.elements * ELEMENT) as f64;
    line("arrays", &format!("3 x {} elements of {} each", plan.sizes.elements, bytes(array)));
    match &plan.cache {
        Reading::Value(cache) => line("caches", &format!("{} ({})", bytes(cache.bytes as f64), cache.basis)),
        Reading::Unknown(reason) => line("caches", &format!("unknown: {reason}")),
    }
    match plan.sizes.doubled {
        Some(elements) => line("doubled", &format!("3 x {}", bytes((elements * ELEMENT) as f64))),
        None => line("doubled", "none"),
    }
    if !plan.sizes.limited_by.is_empty() {
        line("limited", &plan.sizes.limited_by);
    }
    line("code", plan.simd.word());
    let rules = plan.suite.rules;
    let time = if rules.max_time < f64::MAX { seconds(rules.max_time) } else { "unbounded".to_owned() };
    let rounds = if rules.least == rules.most {
        format!("exactly {}", rules.least)
    } else {
        format!("{} to {}, until the interval is within {}", rules.least, rules.most, percent(rules.target))
    };
    line("rounds", &format!("{rounds}; time {time}"));
    for figure in &plan.suite.figures {
        let note = match (figure.status, &figure.reason) {
            (Status::NotAvailable, Some(reason)) => format!("not available: {reason}"),
            _ => figure.conditions.get(evidence::ROLE).unwrap_or_default(),
        };
        let _ = writeln!(text, "  {:<28} {note}", figure.id);
    }
    text
}
