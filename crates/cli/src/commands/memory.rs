//! `truebench memory`.

use std::process::ExitCode;
use std::time::Instant;

use figure::Machine;
use lab::mode::{AnyMode, Planned};
use lab::schedule::Rules;
use memory::kernels::ELEMENT;
use memory::mode::{Options, PlanError};

use crate::args::Measuring;
use crate::args::memory::{self as args, Chosen, Memory, MixChoice};
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};

/// With --quick bandwidth takes 52 s, so that with start and end it is done within a minute.
const TIMES: Times = Times { thorough: 870.0, quick: 0.29 };
/// The kernels that STREAM's table has.
const STREAM: &[&str] = &["copy", "scale", "add", "triad"];

/// Plans, measures, judges, reports; or inspects a program.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Memory) -> Result<ExitCode, CommandError> {
    match arguments.chosen() {
        Chosen::Inspect(inspect) => super::inspect::run(inspect),
        Chosen::Modes(names, options) => {
            let mut machine = here::machine(
                options.measuring.class.as_deref(),
                &here::listed(Some(&options.places)),
                options.dimms,
            )?;
            let measuring = measure_cache(&mut machine, options, &options.measuring);
            let parts = planned(&names, options, &measuring, &machine)?;
            execute(parts, machine, &measuring, &options.output)
        }
    }
}

/// Measures the cache that arrays must exceed, where what is shown need not be what there is. Returns the options with the time that is
/// left.
pub fn measure_cache(machine: &mut Machine, arguments: &args::Options, measuring: &Measuring) -> Measuring {
    let start = Instant::now();
    // Smaller arrays than what is shown asks for are judged by that, or by doubled ones.
    let is_open = |elements| {
        !memory::sizes::is_short(elements, &memory::sizes::last_level(machine, &machine.topology.usable()))
    };
    let is_needed = !measuring.dry_run && arguments.array_size.is_none_or(is_open);
    if is_needed && memory::cache_size::is_in_doubt(machine) {
        let threads = (&arguments.places, arguments.bind, arguments.threads);
        memory::cache_size::add(machine, threads, measuring.max_time.unwrap_or(f64::INFINITY));
    }
    let max_time = measuring.max_time.map(|time| time - start.elapsed().as_secs_f64());
    Measuring { max_time, ..measuring.clone() }
}

/// What modes of these names are to measure, in the order of the suite.
///
/// # Errors
/// Wrong usage.
pub fn planned(
    names: &[&str],
    arguments: &args::Options,
    measuring: &Measuring,
    machine: &Machine,
) -> Result<Vec<Part>, CommandError> {
    let modes = memory::MODES.iter().copied().filter(|mode| names.contains(&mode.name())).collect();
    let mut plans = plans(modes, machine, measuring, TIMES, &|rules| options(arguments, measuring, rules))?;
    for (mode, plan) in &mut plans {
        memory::policy::record(mode.name(), &mut plan.suite.figures, machine);
    }
    can_show(arguments, &plans)?;
    Ok(parts(plans))
}

/// Whether the format can show the planned figures. Checked before anything is measured.
fn can_show(
    arguments: &args::Options,
    plans: &[(&dyn AnyMode<Options, PlanError>, Planned)],
) -> Result<(), CommandError> {
    let format = arguments.output.format.map_or("", |format| format.name);
    let lacks = |kernel: &str| !arguments.kernel.is_empty() && !arguments.kernel.iter().any(|k| k == kernel);
    let curves =
        plans.iter().any(|(_, plan)| plan.suite.figures.iter().any(|figure| figure.series.is_some()));
    let bandwidth = plans.iter().any(|(mode, _)| mode.name() == memory::bandwidth::MODE.name);
    let problem = match format {
        "stream" if !bandwidth => {
            "--format stream shows the bandwidth mode: truebench memory bandwidth --format stream".to_owned()
        }
        "stream" => match STREAM.iter().find(|kernel| lacks(kernel)) {
            Some(kernel) => format!(
                "--format stream shows {}, and --kernel leaves {kernel} out: drop one of the two options",
                STREAM.join(",")
            ),
            None => return Ok(()),
        },
        "svg" if !curves => {
            "--format svg draws curves, and bandwidth has none: take a mode such as memory scaling or memory latency"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(CommandError::usage(problem))
}

fn options(arguments: &args::Options, measuring: &Measuring, rules: Rules) -> Options {
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
        mixes: MixChoice::joined(&arguments.mix),
        schedule: arguments.schedule,
        sizes: arguments.sizes,
        nodes: arguments.nodes.clone(),
        class: measuring.class.clone(),
        rules,
        is_time_usual: measuring.max_time.is_none() && !measuring.thorough,
    }
}
