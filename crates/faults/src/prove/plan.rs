//! What is started with which lever. Pure, but for the variables that are set already.

use std::ffi::OsString;
use std::path::PathBuf;

use figure::evidence as key;
use figure::levers::BASE;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::session::SuitePlan;
use lab::start::{Program, assignment};
use serde::{Deserialize, Serialize};

use super::{MODE, Options, Planned, Preloaded};
use crate::levers;

/// The series of CPU time, which is measured.
pub const CPU: &str = "faults.prove.cpu";
/// The axis on which levers stand.
const AXIS: &str = "lever";
/// The class of figures whose work is a program that we know nothing of.
const CLASS: &str = "program";
/// Seconds that a start may take, where no more are asked for.
const PATIENCE: f64 = 900.0;
/// Seconds that the deadline of a round has besides: starting, canary.
const BESIDES: f64 = 120.0;

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// What, where, what to do.
    #[error("{0}")]
    Wrong(String),
}

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
    /// Seconds that a start gets until its rates are steady, if it does not end by itself.
    pub until_rate: Option<f64>,
    /// Figures to measure, that without a lever first.
    pub tasks: Vec<Task>,
}

/// One figure, for the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// The variables that set the lever, as NAME=VALUE; none without one.
    pub environment: Vec<OsString>,
    /// The library that is preloaded, if it is another allocator.
    pub library: Option<PathBuf>,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let (mut tasks, mut figures) = (Vec::new(), Vec::new());
    let mut add = |name: &str, task: Task, conditions: Conditions| {
        figures.push(figure(name, options, conditions));
        tasks.push(task);
    };
    let task = |name: &str, environment: Vec<OsString>, library: Option<PathBuf>| Task {
        id: format!("{CPU}.{name}"),
        environment,
        library,
    };
    add(BASE, task(BASE, Vec::new(), None), Conditions::default());
    let levers = chosen(options)?;
    for (lever, way) in &levers {
        let environment: Vec<OsString> = levers::environment(way, |name| std::env::var_os(name))
            .iter()
            .map(|(name, value)| assignment(name, value))
            .collect();
        let conditions = Conditions::default()
            .with(key::LEVER_ABOUT, lever.told.to_owned())
            .with(key::LEVER_ENVIRONMENT, told(&environment))
            .with(key::LEVER_CODE, lever.code.to_owned())
            .with(key::LEVER_PRICE, lever.price.to_owned())
            .with(key::LEVER_BOUNDED, lever.is_bounded)
            .with(key::LEVER_MANAGER, options.manager.word().to_owned());
        add(lever.word, task(lever.word, environment, None), conditions);
    }
    for other in &options.allocators {
        let environment = environment_of(other);
        let conditions = Conditions::default()
            .with(key::LEVER_ABOUT, format!("{} instead of {}", other.name, options.manager.told()))
            .with(key::LEVER_ENVIRONMENT, told(&environment))
            .with(key::LEVER_CODE, format!("link the program with {}", other.name))
            .with(key::LEVER_PRICE, "another allocator's memory, and its habits".to_owned())
            .with(key::LEVER_BOUNDED, true);
        add(&other.name, task(&other.name, environment, Some(other.library.clone())), conditions);
    }
    if tasks.len() < 2 {
        return Err(PlanError::Wrong(nothing(options)));
    }
    let asked = options.rules.max_time;
    let patience = if asked < f64::MAX { asked.max(PATIENCE) } else { PATIENCE };
    let name = options.program.name();
    let names: Vec<String> = tasks.iter().skip(1).map(|task| task.id[CPU.len() + 1..].to_owned()).collect();
    let mut notes = vec![
        ("program", figure::format::plain_to(&options.program.command_line(), 200)),
        ("file", figure::format::plain_to(&options.program.file.to_string_lossy(), 200)),
        ("memory", format!("managed by {}", options.manager.told())),
        ("levers", names.join(", ")),
    ];
    notes.extend(
        options
            .until_rate
            .map(|time| ("each start", format!("until its rates are steady, at most {time} s"))),
    );
    let starts = tasks.len() as f64 + 3.0;
    let setup = Setup {
        machine: machine.clone(),
        program: options.program.clone(),
        directory: options.directory.clone(),
        allowed: machine.topology.allowed.clone(),
        patience,
        until_rate: options.until_rate,
        tasks,
    };
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "faults.prove",
        setup: serde_json::to_value(setup).unwrap_or_default(),
        figures,
        rules: options.rules,
        preparing: format!("one start of {name} with each lever, for the proof that it takes"),
        least_seconds: 0.0,
        prepare_deadline: starts * (patience + BESIDES),
        round_deadline: patience + BESIDES,
    };
    debug_assert_eq!(suite.worker, format!("{}.{}", crate::SUITE, MODE.name));
    Ok(Planned { suite, notes })
}

/// The levers that are tried.
fn chosen(options: &Options) -> Result<Vec<(&'static levers::Lever, &'static levers::Way)>, PlanError> {
    let all = levers::to_try(options.manager, &[], options.version);
    let known = |name: &String| all.iter().any(|(lever, _)| lever.word == name);
    if let Some(unknown) = options.only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = all.iter().map(|(lever, _)| lever.word).collect();
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(PlanError::Wrong(format!(
            "--lever {}: of {} there are {there}",
            figure::format::plain_to(unknown, 40),
            options.manager.told()
        )));
    }
    if !options.only.is_empty() {
        let is_asked = |word: &str| options.only.iter().any(|name| name == word);
        return Ok(all.into_iter().filter(|(lever, _)| is_asked(lever.word)).collect());
    }
    Ok(levers::to_try(options.manager, &options.mechanisms, options.version))
}

/// Why there is nothing to try.
fn nothing(options: &Options) -> String {
    let manager = options.manager.told();
    format!(
        "nothing can be tried from outside: {manager} has no setting that would help; another allocator can be tried \
         (--allocator jemalloc), and --manager says who manages the memory if it is not {manager}"
    )
}

/// The variables that make another allocator serve.
fn environment_of(other: &Preloaded) -> Vec<OsString> {
    let own = other.environment.iter().map(|(name, value)| assignment(name, value.as_ref()));
    let library = lab::preload::variable(&other.library, std::env::var_os("LD_PRELOAD"));
    own.chain([library]).collect()
}

/// As a shell takes it.
fn told(environment: &[OsString]) -> String {
    let quoted = |variable: &OsString| {
        let text = figure::format::plain_to(&variable.to_string_lossy(), 1000);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "=_-.,:/+".contains(c);
        match text.split_once('=') {
            Some((name, value)) if !value.chars().all(is_plain) => {
                format!("{name}='{}'", value.replace('\'', "'\\''"))
            }
            _ => text,
        }
    };
    environment.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn figure(name: &str, options: &Options, conditions: Conditions) -> Figure {
    let (what, unit) = match options.until_rate {
        Some(_) => ("CPUs kept busy", Unit::of("CPUs")),
        None => ("CPU time", Unit::SECONDS),
    };
    let mut figure = Figure::planned(
        format!("{CPU}.{name}"),
        crate::SUITE,
        format!("{name}: {what}"),
        unit,
        Better::Lower,
    );
    at(&mut figure, CPU, name);
    figure.conditions = conditions
        .with(key::LEVER, name.to_owned())
        .with(key::PROGRAM, options.program.name())
        .with(key::TEST_CLASS, CLASS.to_owned());
    if let Some(time) = options.until_rate {
        figure.conditions.set(key::RATE_TIME, time);
    }
    figure
}

/// Makes a figure a point of a comparison of levers.
pub fn at(figure: &mut Figure, series: &str, lever: &str) {
    figure.series = Some(series.to_owned());
    let value = CoordinateValue::Name(lever.to_owned());
    figure.at.insert(AXIS.to_owned(), Coordinate { value, unit: None });
}

#[cfg(test)]
mod unit {
    use figure::faults::{Manager, Mechanism};
    use lab::schedule::Rules;

    use super::*;

    fn options(manager: Manager) -> Options {
        Options {
            program: Program { file: "/bin/true".into(), arguments: vec!["true".into()] },
            manager,
            version: None,
            mechanisms: Vec::new(),
            only: Vec::new(),
            allocators: Vec::new(),
            until_rate: None,
            directory: "/nonexistent".into(),
            rules: Rules::exactly(6, 60.0),
        }
    }

    fn names(options: &Options) -> Vec<String> {
        let planned = plan(&Machine::default(), options).unwrap();
        let names = planned.suite.figures.iter().map(|figure| figure.conditions.get(key::LEVER).unwrap());
        names.collect()
    }

    #[test]
    fn none_comes_first_and_then_each_lever() {
        let glibc = names(&options(Manager::Glibc));
        assert_eq!(glibc, ["base", "thresholds", "top-pad", "both", "hugetlb", "mmap-max", "trim"]);
        let growth = Options { mechanisms: vec![Mechanism::Growth], ..options(Manager::Glibc) };
        assert_eq!(names(&growth), ["base", "top-pad", "hugetlb"]);
        let only = Options { only: vec!["trim".into()], ..options(Manager::Glibc) };
        assert_eq!(names(&only), ["base", "trim"]);
    }

    #[test]
    fn another_allocator_is_a_lever_too() {
        let mine = Preloaded {
            name: "mine".into(),
            library: "/opt/libmine.so".into(),
            environment: vec![("A".into(), "b c".into())],
        };
        let options = Options { allocators: vec![mine], ..options(Manager::Musl) };
        let planned = plan(&Machine::default(), &options).unwrap();
        let figure = &planned.suite.figures[1];
        let environment = figure.conditions.get(key::LEVER_ENVIRONMENT).unwrap();
        assert!(environment.starts_with("A='b c' LD_PRELOAD=/opt/libmine.so"), "{environment}");
        assert_eq!(figure.conditions.get(key::LEVER_MANAGER), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let says = |options: &Options, words: &str| {
            let error = plan(&Machine::default(), options).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        says(&options(Manager::Musl), "--allocator jemalloc");
        says(
            &Options { only: vec!["decay".into()], ..options(Manager::Glibc) },
            "there are thresholds, top-pad",
        );
        says(&Options { only: vec!["both".into()], ..options(Manager::Program) }, "there are none");
    }
}
