//! What is run under which allocator. Pure.

use std::path::PathBuf;

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::session::SuitePlan;
use lab::start::Program;
use serde::{Deserialize, Serialize};

use super::{MODE, Options};
use crate::find::Installed;
use crate::mode::{PlanError, Planned};

/// The series of CPU time, which is measured: of all that a start gives it hangs least on what else runs.
pub const CPU: &str = "alloc.try.cpu";
/// The class of figures whose work is a program that we know nothing of.
pub const CLASS: &str = "program";
/// Seconds that a start may take, where no more are asked for.
const PATIENCE: f64 = 900.0;
/// Seconds that the deadline of a round has besides: starting, canary.
const BESIDES: f64 = 120.0;

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// What is run.
    pub program: Program,
    /// An empty directory for what the dynamic linker tells.
    pub directory: PathBuf,
    /// The CPUs that it may use.
    pub allowed: CpuList,
    /// Seconds that a start may take.
    pub patience: f64,
    /// Starts that each allocator gets, time permitting, and the most.
    pub starts: (usize, usize),
    /// Seconds for all of them, if there is a bound.
    pub max_time: Option<f64>,
    /// Figures to measure.
    pub tasks: Vec<Task>,
}

/// One figure, for the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// Who serves.
    pub allocator: Installed,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let name = options.program.name();
    let planned = |allocator: &str| {
        let mut figure = Figure::planned(
            format!("{CPU}.{allocator}"),
            crate::SUITE,
            format!("{allocator}: CPU time"),
            Unit::SECONDS,
            Better::Lower,
        );
        at(&mut figure, CPU, allocator);
        figure.conditions = Conditions::default()
            .with(key::ALLOCATOR, allocator.to_owned())
            .with(key::PROGRAM, name.clone())
            .with(key::TEST_CLASS, CLASS.to_owned());
        figure
    };
    let installed = &options.allocators.installed;
    let tasks: Vec<Task> = installed
        .iter()
        .map(|one| Task { id: format!("{CPU}.{}", one.name), allocator: one.clone() })
        .collect();
    let mut figures: Vec<Figure> = installed.iter().map(|one| planned(&one.name)).collect();
    for (name, how) in &options.allocators.missing {
        figures.push(planned(name).not_available(how.clone()));
    }
    let asked = options.rules.max_time;
    let patience = if asked < f64::MAX { asked.max(PATIENCE) } else { PATIENCE };
    let starts = tasks.len() as f64 + 1.0;
    let setup = Setup {
        machine: machine.clone(),
        program: options.program.clone(),
        directory: options.directory.clone(),
        allowed: machine.topology.allowed.clone(),
        patience,
        starts: (options.rules.least, options.rules.most),
        max_time: Some(asked).filter(|asked| *asked < f64::MAX),
        tasks,
    };
    let names: Vec<&str> = installed.iter().map(|one| one.name.as_str()).collect();
    let notes = vec![
        ("allocators", names.join(", ")),
        ("program", figure::format::plain_to(&options.program.command_line(), 200)),
        ("file", figure::format::plain_to(&options.program.file.to_string_lossy(), 200)),
    ];
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "alloc.try",
        setup: serde_json::to_value(setup).unwrap_or_default(),
        figures,
        rules: options.rules,
        preparing: format!("one start of {name} with each allocator, for the proof of who serves"),
        least_seconds: 0.0,
        prepare_deadline: starts * (patience + BESIDES),
        round_deadline: patience + BESIDES,
    };
    debug_assert_eq!(suite.worker, format!("{}.{}", crate::SUITE, MODE.name));
    Ok(Planned { suite, notes })
}

/// Makes a figure a point of a comparison of allocators.
pub fn at(figure: &mut Figure, series: &str, allocator: &str) {
    figure.series = Some(series.to_owned());
    let value = CoordinateValue::Name(allocator.to_owned());
    figure.at.insert("allocator".to_owned(), Coordinate { value, unit: None });
}
