//! `truebench memory`.

use std::process::ExitCode;

use figure::Machine;
use lab::schedule::Rules;
use machine::{Asked, Tree};
use memory::kernels::ELEMENT;
use memory::mode::{Mode, Options, Planned};

use crate::args::Memory;
use crate::failure::Failure;
use crate::plans::{Part, Times, carry_out, parts, plans};

/// With --quick bandwidth takes 52 s, so that with start and end it is done within a minute.
const TIMES: Times = Times { thorough: 870.0, quick: 0.29 };
/// The kernels that STREAM's table has.
const STREAM: &[&str] = &["copy", "scale", "add", "triad"];

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Memory) -> Result<ExitCode, Failure> {
    if let Some(binary) = &arguments.modes.inspect {
        return super::inspect::run(binary, arguments);
    }
    let machine = machine::describe(&Tree::live(), &Asked { dimms: arguments.dimms });
    carry_out(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// What is to be measured.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &Memory, machine: &Machine) -> Result<Vec<Part>, Failure> {
    let plans =
        plans(modes(arguments), machine, &arguments.measuring, TIMES, &|rules| options(arguments, rules))?;
    shown_by(arguments, &plans)?;
    Ok(parts(plans))
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
pub fn modes(arguments: &Memory) -> Vec<&'static Mode> {
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
