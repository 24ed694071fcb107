//! Which tests, in which placements; and the ratios that follow. Pure but for a look at whether the programs are there.

use std::path::{Path, PathBuf};

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};
use workload::unixbench::{Class, Test};

use super::unixbench;
use crate::catalogue;
use crate::index::plan::Task;
use crate::mode::{Options, PlanError, Planned};
use crate::multiple;

/// The series of all figures.
const SERIES: &str = "system.cross";
/// `instrument` of our own figures.
const OURS: &str = "truebench";
/// Seconds of a pass: UnixBench's programs take whole ones. The shorter, the more pairs, and the less a machine in use changes
/// within one.
const SECONDS: f64 = 1.0;
/// UnixBench's `execl` looks at a clock of whole seconds, so that of two it may run for little more than one; and its scripts
/// are counted when they have ended, so that those under way at the end have taken time and do not count.
const COARSE_SECONDS: f64 = 2.0;
/// Its Whetstone takes its own time.
const WHETSTONE_SECONDS: f64 = 10.0;
/// Seconds that UnixBench's copies need before they copy, and Whetstone in all, at least.
const BESIDES: f64 = 60.0;
/// Seconds that every deadline has besides: a machine may be suspended or swamped.
const GRACE: f64 = 120.0;

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// Where files are copied and scripts work, of both.
    pub directory: PathBuf,
    /// Names the directories of this run.
    pub session: u32,
    /// UnixBench's directory.
    pub unixbench: PathBuf,
    /// Where tests run: the CPUs of each placement.
    pub places: Vec<CpuList>,
    /// What is compared.
    pub pairs: Vec<Pair>,
}

/// A test in a placement: a figure of theirs and one of ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The figure of UnixBench's program.
    pub theirs: String,
    /// Index into [`Setup::places`].
    pub place: usize,
    /// Our pass; its id is our figure's.
    pub ours: Task,
}

impl Setup {
    /// How long a program of theirs may take before it counts as hung, in seconds.
    pub fn deadline(&self) -> f64 {
        let longest = self.pairs.iter().map(|pair| pair.ours.seconds).fold(0.0, f64::max);
        longest + BESIDES + GRACE
    }
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let tests = catalogue::select(&options.tests)?;
    let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let free = machine.topology.usable();
    let first: CpuList = free.iter().take(1).collect();
    let mut setup = Setup {
        machine: machine.clone(),
        directory,
        session: options.session,
        unixbench: unixbench(options)?,
        places: vec![free.clone()],
        pairs: Vec::new(),
    };
    if free.len() > 1 {
        setup.places.push(first);
    }
    let mut figures = Vec::new();
    if options.with.is_some() {
        there(&setup.unixbench, &tests)?;
        for test in tests {
            let seconds = seconds(test, options.duration);
            for place in 0..setup.places.len() {
                if place == 0 || placement_matters(test) {
                    let pair = pair(test, place, &setup.places, seconds);
                    figures.extend([theirs(test, &pair, &setup.places), ours(test, &pair, &setup.places)]);
                    setup.pairs.push(pair);
                }
            }
        }
    } else {
        let reason = "no UnixBench to compare with: --with DIR names the directory that holds its pgms, built by its make";
        figures.push(named(SERIES.to_owned(), "UnixBench against ours", Unit::ONE).not_available(reason));
    }
    let notes = vec![
        ("tests", setup.pairs.iter().map(|pair| pair.theirs.as_str()).collect::<Vec<_>>().join(", ")),
        (
            "UnixBench",
            options
                .with
                .as_ref()
                .map_or_else(|| "not given (--with DIR)".to_owned(), |with| with.display().to_string()),
        ),
        ("directory", setup.directory.display().to_string()),
    ];
    let deadline = setup.deadline();
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "system.cross-check",
        setup: serde_json::to_value(&setup).unwrap_or_default(),
        figures,
        // The value is a median of pairs: a round that is repeated would have another partner, and what disturbs one, the other
        // bears as well.
        rules: Rules { repeats: 0, ..options.rules },
        preparing: "what surrounds the tests".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + deadline,
    };
    Ok(Planned { suite, notes })
}

/// How long passes of a test take.
fn seconds(test: &Test, asked: Option<f64>) -> f64 {
    match test.name {
        "whetstone-double" => WHETSTONE_SECONDS,
        "execl" | "shell1" | "shell8" => asked.unwrap_or(COARSE_SECONDS).max(COARSE_SECONDS).round(),
        _ => asked.unwrap_or(SECONDS).max(1.0).round(),
    }
}

/// UnixBench's directory, from wherever its programs will be started.
fn unixbench(options: &Options) -> Result<PathBuf, PlanError> {
    let Some(with) = &options.with else { return Ok(PathBuf::new()) };
    std::path::absolute(with).map_err(|error| PlanError::Wrong(format!("--with {}: {error}", with.display())))
}

/// Whether all programs that are needed are there.
fn there(unixbench: &Path, tests: &[&Test]) -> Result<(), PlanError> {
    let programs = tests.iter().filter_map(|test| unixbench::call(unixbench, test.name, 1, Path::new("/")));
    let mut needed = programs.map(|call| call.program).chain([unixbench::text(unixbench)]);
    match needed.find(|file| !file.is_file()) {
        Some(missing) => Err(PlanError::Wrong(format!(
            "--with {}: no {} there: give the directory of UnixBench that holds its Run, after its make",
            unixbench.display(),
            missing.display()
        ))),
        None => Ok(()),
    }
}

/// Whether a test is several tasks, whose rate depends on where the scheduler puts them.
fn placement_matters(test: &Test) -> bool {
    matches!(test.class, Class::Process | Class::Shell | Class::Switching)
}

fn pair(test: &Test, place: usize, places: &[CpuList], seconds: f64) -> Pair {
    let base = match (place, places[place].first()) {
        (0, _) | (_, None) => format!("{SERIES}.{}", test.name),
        (_, Some(cpu)) => format!("{SERIES}.{}.cpu{cpu}", test.name),
    };
    let ours = Task { id: format!("{base}.ours"), test: test.name.to_owned(), copies: 1, seconds };
    Pair { theirs: format!("{base}.unixbench"), place, ours }
}

fn theirs(test: &Test, pair: &Pair, places: &[CpuList]) -> Figure {
    let figure = named(pair.theirs.clone(), test.title, Unit::of(test.unit));
    with(figure, test, pair, places, unixbench::NAME, unixbench::NAME)
}

fn ours(test: &Test, pair: &Pair, places: &[CpuList]) -> Figure {
    let figure = named(pair.ours.id.clone(), test.title, Unit::of(test.unit));
    with(figure, test, pair, places, OURS, "ours")
}

fn named(id: String, name: &str, unit: Unit) -> Figure {
    Figure::planned(id, crate::SUITE, name, unit, Better::Higher)
}

/// Names who measured, and where the test stands in the table.
fn with(mut figure: Figure, test: &Test, pair: &Pair, places: &[CpuList], by: &str, column: &str) -> Figure {
    let place = &places[pair.place];
    let row = match pair.place {
        0 => test.name.to_owned(),
        _ => format!("{} on CPU {place}", test.name),
    };
    figure.name = format!("{}{}, by {by}", test.title, row.strip_prefix(test.name).unwrap_or_default());
    figure.series = Some(SERIES.to_owned());
    let name = |name: &str| Coordinate { value: CoordinateValue::Name(name.to_owned()), unit: None };
    figure.at.insert("test".to_owned(), name(&row));
    figure.at.insert("program".to_owned(), name(column));
    figure.conditions = Conditions::default()
        .with(key::INSTRUMENT, by.to_owned())
        .with(key::PAIR, pair.ours.id.clone())
        .with(key::TEST, test.name.to_owned())
        .with(key::TEST_CLASS, test.class.word().to_owned())
        .with(key::PASS_SECONDS, pair.ours.seconds);
    figure
}

/// Adds the ratios ours / theirs, of rounds in pairs.
pub fn complete(figures: &mut Vec<Figure>) {
    let is_ours = |figure: &&Figure| figure.conditions.get(key::INSTRUMENT).as_deref() == Some(OURS);
    let ratios: Vec<Figure> = figures
        .iter()
        .filter(|figure| figure.series.as_deref() == Some(SERIES))
        .filter(is_ours)
        .filter_map(|ours| {
            let theirs = figures.iter().find(|other| {
                !is_ours(other) && other.conditions.get(key::PAIR) == ours.conditions.get(key::PAIR)
            })?;
            ratio(ours, theirs)
        })
        .collect();
    figures.extend(ratios);
}

fn ratio(ours: &Figure, theirs: &Figure) -> Option<Figure> {
    let mut figure = named(ours.id.strip_suffix(".ours")?.to_owned(), "", Unit::ONE);
    figure.name = format!("{} over UnixBench", ours.name.replace(", by truebench", ", ours"));
    figure.better = Better::Neither;
    figure.series = Some(SERIES.to_owned());
    figure.at = ours.at.clone();
    figure.at.insert(
        "program".to_owned(),
        Coordinate { value: CoordinateValue::Name("ours / UnixBench".to_owned()), unit: None },
    );
    multiple::set(&mut figure, ours, theirs)?;
    Some(figure)
}
