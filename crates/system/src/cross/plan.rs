//! Plans the tests and placements, and computes the ratios. Pure, except that it checks whether the programs
//! exist.

use std::path::{Path, PathBuf};

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::failure::{Attempt, Failure};
use lab::schedule::Rules;
use serde::{Deserialize, Serialize};
use workload::unixbench::{Class, Test};

use super::unixbench;
use crate::catalogue;
use crate::index::plan::Task;
use crate::mode::{GRACE, Options, PlanError, Planned, suite_plan};
use crate::ratio;

const SERIES: &str = "system.cross";
/// `instrument` of truebench's figures.
const TRUEBENCH: &str = "truebench";
/// Seconds of a pass. UnixBench's programs take whole seconds. Short passes allow more pairs, and the machine
/// changes less within a pair.
const SECONDS: f64 = 1.0;
/// Seconds of a pass of `execl` and of scripts. `execl` reads a clock with whole seconds, so it may run up to
/// a second less. Scripts count when they end, so those that are unfinished at the end take time and do not
/// count.
const COARSE_SECONDS: f64 = 2.0;
/// Seconds of whetstone, which has a fixed duration.
const WHETSTONE_SECONDS: f64 = 10.0;
/// Seconds that UnixBench's file copies may take before they copy, or Whetstone in total.
const PREPARATION: f64 = 60.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// Directory in which working directories of both instruments are created.
    pub directory: PathBuf,
    /// truebench's process id, which identifies the directories of this run.
    pub session: u32,
    pub unixbench_dir: PathBuf,
    pub places: Vec<CpuList>,
    pub pairs: Vec<Pair>,
}

/// A test in a placement, with a figure of each instrument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    pub unixbench: String,
    /// Index into [`Setup::places`].
    pub place: usize,
    pub truebench: Task,
}

impl Setup {
    /// Seconds after which a program of UnixBench counts as hung.
    pub fn deadline(&self) -> f64 {
        let longest = self.pairs.iter().map(|pair| pair.truebench.seconds).fold(0.0, f64::max);
        longest + PREPARATION + GRACE
    }
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let tests = catalogue::select(&options.tests)?;
    let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let free = machine.topology.usable();
    let first: CpuList = free.iter().take(1).collect();
    let mut setup = Setup {
        machine: machine.clone(),
        directory,
        session: options.session,
        unixbench_dir: unixbench_dir(options)?,
        places: vec![free.clone()],
        pairs: Vec::new(),
    };
    if free.len() > 1 {
        setup.places.push(first);
    }
    let mut figures = Vec::new();
    if options.with.is_some() {
        check_programs(&setup.unixbench_dir, &tests)?;
        for test in tests {
            let seconds = seconds(test, options.duration);
            for place in 0..setup.places.len() {
                if place == 0 || depends_on_placement(test) {
                    let pair = pair(test, place, &setup.places, seconds);
                    let (other, own) = (pair.unixbench.clone(), pair.truebench.id.clone());
                    let places = &setup.places;
                    figures.push(pass_figure(other, test, &pair, places, unixbench::NAME, unixbench::NAME));
                    figures.push(pass_figure(own, test, &pair, places, TRUEBENCH, "ours"));
                    setup.pairs.push(pair);
                }
            }
        }
    } else {
        let reason = "no UnixBench to compare with: --with DIR names the directory that holds its pgms, built by its make";
        let figure = new_figure(SERIES.to_owned(), "truebench over UnixBench", Unit::ONE);
        figures.push(figure.not_available(reason));
    }
    let with = options.with.as_ref().map(|with| with.display().to_string());
    let notes = vec![
        ("tests", setup.pairs.iter().map(|pair| pair.unixbench.as_str()).collect::<Vec<_>>().join(", ")),
        ("UnixBench", with.unwrap_or_else(|| "not given (--with DIR)".to_owned())),
        ("directory", setup.directory.display().to_string()),
    ];
    let deadline = setup.deadline();
    // Rounds are not repeated: the value is a median of pairs; a repeated round would have another partner.
    let rules = Rules { repeats: 0, ..options.rules };
    let preparing = "what surrounds the tests";
    let suite = suite_plan("system.cross-check", preparing, setup, figures, rules, deadline);
    Ok(Planned { suite, notes })
}

fn seconds(test: &Test, requested: Option<f64>) -> f64 {
    match test.name {
        "whetstone-double" => WHETSTONE_SECONDS,
        "execl" | "shell1" | "shell8" => requested.unwrap_or(COARSE_SECONDS).max(COARSE_SECONDS).round(),
        _ => requested.unwrap_or(SECONDS).max(1.0).round(),
    }
}

/// UnixBench's directory as an absolute path, because its programs run in other directories.
fn unixbench_dir(options: &Options) -> Result<PathBuf, PlanError> {
    let Some(with) = &options.with else { return Ok(PathBuf::new()) };
    Ok(std::path::absolute(with).attempt_on("--with", with.display())?)
}

fn check_programs(unixbench: &Path, tests: &[&Test]) -> Result<(), PlanError> {
    let programs = tests.iter().filter_map(|test| unixbench::call(unixbench, test.name, 1, Path::new("/")));
    let mut needed = programs.map(|call| call.program).chain([unixbench::text(unixbench)]);
    match needed.find(|file| !file.is_file()) {
        Some(missing) => Err(Failure::new("--with")
            .on(unixbench.display())
            .answer(format!("no {} there", missing.display()))
            .advice("give the directory of UnixBench that holds its Run, after its make")
            .into()),
        None => Ok(()),
    }
}

/// Whether a test has several tasks, so that its rate depends on their placement.
fn depends_on_placement(test: &Test) -> bool {
    matches!(test.class, Class::Process | Class::Shell | Class::Switching)
}

fn pair(test: &Test, place: usize, places: &[CpuList], seconds: f64) -> Pair {
    let base = match (place, places[place].first()) {
        (0, _) | (_, None) => format!("{SERIES}.{}", test.name),
        (_, Some(cpu)) => format!("{SERIES}.{}.cpu{cpu}", test.name),
    };
    let truebench = Task { id: format!("{base}.ours"), test: test.name.to_owned(), copies: 1, seconds };
    Pair { unixbench: format!("{base}.unixbench"), place, truebench }
}

fn new_figure(id: String, name: &str, unit: Unit) -> Figure {
    Figure::planned(id, crate::SUITE, name, unit, Better::Higher)
}

/// The figure of an instrument, with its row and column in the table.
fn pass_figure(
    id: String,
    test: &Test,
    pair: &Pair,
    places: &[CpuList],
    instrument: &str,
    column: &str,
) -> Figure {
    let place = &places[pair.place];
    let row = match pair.place {
        0 => test.name.to_owned(),
        _ => format!("{} on CPU {place}", test.name),
    };
    let place_suffix = row.strip_prefix(test.name).unwrap_or_default();
    let name = format!("{}{place_suffix}, by {instrument}", test.title);
    let mut figure = new_figure(id, &name, Unit::of(test.unit));
    figure.series = Some(SERIES.to_owned());
    let name = |name: &str| Coordinate { value: CoordinateValue::Name(name.to_owned()), unit: None };
    figure.at.insert("test".to_owned(), name(&row));
    figure.at.insert("program".to_owned(), name(column));
    figure.conditions = Conditions::default()
        .with(key::INSTRUMENT, instrument.to_owned())
        .with(key::PAIR, pair.truebench.id.clone())
        .with(key::TEST, test.name.to_owned())
        .with(key::TEST_CLASS, test.class.word().to_owned())
        .with(key::PASS_SECONDS, pair.truebench.seconds);
    figure
}

/// Adds the ratios truebench / UnixBench, by pairs of rounds.
pub fn complete(figures: &mut Vec<Figure>) {
    let is_truebench =
        |figure: &&Figure| figure.conditions.get(key::INSTRUMENT).as_deref() == Some(TRUEBENCH);
    let ratios: Vec<Figure> = figures
        .iter()
        .filter(|figure| figure.series.as_deref() == Some(SERIES))
        .filter(is_truebench)
        .filter_map(|truebench| {
            let pair = truebench.conditions.get(key::PAIR);
            let is_partner =
                |other: &&Figure| !is_truebench(other) && other.conditions.get(key::PAIR) == pair;
            ratio_figure(truebench, figures.iter().find(is_partner)?)
        })
        .collect();
    figures.extend(ratios);
}

fn ratio_figure(truebench: &Figure, unixbench: &Figure) -> Option<Figure> {
    let mut figure = new_figure(truebench.id.strip_suffix(".ours")?.to_owned(), "", Unit::ONE);
    figure.name = format!("{} over UnixBench", truebench.name.replace(", by truebench", ", truebench"));
    figure.better = Better::Neither;
    figure.series = Some(SERIES.to_owned());
    figure.at = truebench.at.clone();
    figure.at.insert(
        "program".to_owned(),
        Coordinate { value: CoordinateValue::Name("ours / UnixBench".to_owned()), unit: None },
    );
    ratio::set_median_ratio(&mut figure, truebench, unixbench)?;
    Some(figure)
}
