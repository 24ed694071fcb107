//! `truebench faults demo`: programs that fault, each in one way, under the doctor's eyes.

use std::process::ExitCode;

use faults::demo::{self, Amount};
use faults::watch::Whom;
use lab::start::Program;
use textwrap::Options;

use super::{prove, watch};
use crate::args::faults::{Demo, Prove};
use crate::failure::Failure;
use crate::output;

/// Shows which there are, or watches one.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Demo) -> Result<ExitCode, Failure> {
    if arguments.list {
        output::print(list().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let shape = demo::find(&arguments.shape).map_err(|why| Failure::usage(format!("--shape {why}")))?;
    let amount = match (arguments.iterations, arguments.rate) {
        (Some(iterations), _) => Amount::Iterations(iterations),
        (None, Some(rate)) => Amount::Rate(rate, arguments.seconds),
        (None, None) => Amount::Usual,
    };
    let (file, words) = demo::command(&shape, amount).map_err(Failure::measuring)?;
    if arguments.prove {
        let program = Program { file, arguments: words };
        return prove::proved(&program, &Prove::default(), &arguments.measuring, &arguments.output);
    }
    watch::refuse(&arguments.measuring)?;
    let whom = Whom::Command { file, arguments: words };
    watch::watched(
        whom,
        shape.name,
        &watch::Settings { looks: true, ..Default::default() },
        &arguments.output,
    )
}

/// All shapes, each with what it does.
fn list() -> String {
    let column = demo::shapes().map(|shape| shape.name.len()).max().unwrap_or(0) + 2;
    let rest = " ".repeat(column);
    let line = |shape: demo::Shape| {
        let first = format!("{:column$}", shape.name);
        let text = format!("{} ({})", shape.about, shape.mechanism);
        let options = Options::new(output::width().min(100)).initial_indent(&first).subsequent_indent(&rest);
        textwrap::fill(&text, options) + "\n"
    };
    demo::shapes().map(line).collect()
}
