//! `truebench faults demo`: watches programs that fault, each in one way.

use std::process::ExitCode;

use faults::demo::{self, Amount, Shape};
use faults::watch::Target;
use faults::{MINOR, SUITE, complete};
use figure::evidence::PRICE;
use figure::{Better, Figure, Unit};
use lab::start::Program;

use super::{prove, watch};
use crate::args::faults::{Demo, Prove};
use crate::exit::CommandError;
use crate::output;
use crate::plans::Part;
use crate::run::{Measure, Once, Work};

/// Lists the programs, or watches one.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Demo) -> Result<ExitCode, CommandError> {
    if arguments.list {
        output::print(list().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (shape, program) = chosen(arguments)?;
    if arguments.prove {
        return prove::proved(&program, &Prove::default(), &arguments.measuring, &arguments.output);
    }
    let target = Target::Command { file: program.file, arguments: program.arguments };
    watch::watched(
        target,
        shape.name,
        &watch::Settings { looks: true, ..Default::default() },
        &arguments.output,
    )
}

/// As a part of a run: watched once, and compared with the prices that the run has.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &Demo) -> Result<Part, CommandError> {
    let (shape, program) = chosen(arguments)?;
    let what = format!("the faults of a program: {}", shape.name);
    let measure: Measure = Box::new(move |before, machine, interrupt| {
        let is_price = |figure: &Figure| figure.conditions.get(PRICE).is_some();
        let prices = before.iter().filter(|figure| is_price(figure)).cloned().collect();
        let watched = watch::trial(&program, None, machine, interrupt)?;
        let ended = watched.interrupted;
        let mut figures = complete::figures(watched, shape.name, prices);
        // The run has them already.
        figures.retain(|figure| before.iter().all(|old| old.id != figure.id));
        Ok((figures, ended))
    });
    let name = "page faults of a program";
    let figure = Figure::planned(MINOR, SUITE, name, Unit::PER_S, Better::Lower);
    let description = format!("{:<10} {}: {}\n", "mode", shape.name, shape.about);
    let once = Once { name: "faults.demo", seconds: arguments.seconds as f64, what, figure, measure };
    Ok(Part { description, work: Work::Once(Box::new(once)) })
}

/// The shape that is asked for, and its command.
fn chosen(arguments: &Demo) -> Result<(Shape, Program), CommandError> {
    let shape = demo::find(&arguments.shape).map_err(|why| CommandError::usage(format!("--shape {why}")))?;
    let amount = match (arguments.iterations, arguments.rate) {
        (Some(iterations), _) => Amount::Iterations(iterations),
        (None, Some(rate)) => Amount::Rate(rate, arguments.seconds),
        (None, None) => Amount::Usual,
    };
    let (file, arguments) = demo::command(&shape, amount).map_err(CommandError::measuring)?;
    Ok((shape, Program { file, arguments }))
}

/// All shapes, each with what it does.
fn list() -> String {
    let about = |shape: &Shape| format!("{} ({})", shape.about, shape.mechanism);
    output::list(demo::shapes().map(|shape| (shape.name.to_owned(), about(&shape))))
}
