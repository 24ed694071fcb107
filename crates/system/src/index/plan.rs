//! Plans the tests, numbers of copies and duration of a pass. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit, format};
use lab::failure::Failure;
use lab::schedule::Rules;
use serde::{Deserialize, Serialize};
use workload::unixbench::Test;

use crate::catalogue;
use crate::mode::{Options, PlanError, Planned, suite_plan};

/// Copies at most. Each is a process, and more show nothing new.
const MOST_COPIES: u32 = 4096;
/// Passes of UnixBench's long tests.
const LONG_PASSES: u32 = 10;
/// Passes of its other tests.
const SHORT_PASSES: u32 = 3;
/// Kind of a score from UnixBench's durations and passes.
const COMPATIBLE: &str = "compatible";
/// Kind of a score from others.
const COMPATIBLE_SHORT: &str = "compatible-short";
/// Seconds of a round outside of the pass: canary, counters, start of the copies.
const OVERHEAD: f64 = 0.12;
/// Seconds of a pass at least: with eight concurrent scripts, each takes about 50 ms.
const SHORTEST: f64 = 0.25;
/// Share of the time that the least rounds may fill; the rest is for repeated rounds.
const FILLED: f64 = 0.9;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub cpus: CpuList,
    /// Directory in which working directories are created.
    pub directory: std::path::PathBuf,
    /// Whether to sync and to sleep for three seconds before each pass, as UnixBench does.
    pub unixbench: bool,
    /// truebench's process id, which identifies the directories of this run.
    pub session: u32,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub test: String,
    pub copies: u32,
    /// Of a pass.
    pub seconds: f64,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let cpus = machine.topology.usable();
    let mode = ModeInfo { worker: "system.index", series: None };
    plan_passes(machine, options, mode, &[1, cpus.len() as u32])
}

#[derive(Clone, Copy, Debug)]
pub struct ModeInfo {
    pub worker: &'static str,
    /// The series of its figures, if they are points of a curve.
    pub series: Option<&'static str>,
}

/// Plans the selected tests, each with the numbers of copies of the options, or with `default_copies`.
pub fn plan_passes(
    machine: &Machine,
    options: &Options,
    mode: ModeInfo,
    default_copies: &[u32],
) -> Result<Planned<Setup>, PlanError> {
    let tests = catalogue::select(&options.tests)?;
    let cpus = machine.topology.usable();
    let copies = copies(options, default_copies)?;
    let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let rounds = (tests.len() * copies.len() * options.rules.least) as f64;
    let room = options.rules.max_time * FILLED / rounds - OVERHEAD;

    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for &number in &copies {
        for test in &tests {
            let seconds = match options.unixbench {
                true => test.seconds,
                false => options.duration.unwrap_or_else(|| room.clamp(SHORTEST, test.seconds)),
            };
            let mut figure = new_figure(test, number, seconds, mode.series);
            let passes = options.unixbench.then(|| passes(test, options.passes));
            if let Some(passes) = passes {
                figure.conditions.set(key::PASSES, f64::from(passes));
            }
            let is_compatible = options.unixbench && options.passes.is_none();
            let kind = if is_compatible { COMPATIBLE } else { COMPATIBLE_SHORT };
            figure.conditions.set(key::SCORE_KIND, kind.to_owned());
            tasks.push(Task { id: figure.id.clone(), test: test.name.to_owned(), copies: number, seconds });
            figures.push(figure);
        }
    }
    let longest = tasks.iter().map(|task| task.seconds).fold(0.0, f64::max);
    let numbers: Vec<String> = copies.iter().map(u32::to_string).collect();
    let notes = vec![
        ("tests", tests.iter().map(|test| test.name).collect::<Vec<_>>().join(", ")),
        ("copies", format!("{}, free on CPUs {cpus}", numbers.join(" and "))),
        ("pass", format!("{} at most", format::seconds(longest))),
        ("directory", directory.display().to_string()),
    ];
    let unixbench = options.unixbench;
    let rules = if unixbench { Rules::exactly(LONG_PASSES as usize, f64::MAX) } else { options.rules };
    let setup =
        Setup { machine: machine.clone(), cpus, directory, unixbench, session: options.session, tasks };
    let preparing = "what surrounds the tests: libraries, file system, shell";
    let suite = suite_plan(mode.worker, preparing, setup, figures, rules, longest);
    Ok(Planned { suite, notes })
}

/// Passes of a test: UnixBench's default, or by its `-i`.
fn passes(test: &Test, requested: Option<u32>) -> u32 {
    match (test.is_long, requested) {
        (true, None) => LONG_PASSES,
        (false, None) => SHORT_PASSES,
        (true, Some(passes)) => passes,
        (false, Some(passes)) => ((passes + 1) / 3).max(1),
    }
}

/// Numbers of copies: as requested, or the default.
fn copies(options: &Options, default_copies: &[u32]) -> Result<Vec<u32>, PlanError> {
    let mut copies = options.copies.clone();
    if let Some(invalid) = copies.iter().find(|copies| !(1..=MOST_COPIES).contains(*copies)) {
        let answer = format!("give 1 to {MOST_COPIES} copies");
        return Err(Failure::new("-c").on(invalid).answer(answer).into());
    }
    if copies.is_empty() {
        copies = default_copies.to_vec();
    }
    copies.dedup();
    Ok(copies)
}

fn new_figure(test: &'static Test, copies: u32, seconds: f64, series: Option<&str>) -> Figure {
    let base = format!("{}.{}", series.unwrap_or(crate::SUITE), test.name);
    let name = match copies {
        1 => test.title.to_owned(),
        _ => format!("{}, {copies} copies", test.title),
    };
    let id = if copies == 1 && series.is_none() { base } else { format!("{base}.x{copies}") };
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::of(test.unit), Better::Higher);
    if let Some(series) = series {
        set_coordinates(&mut figure, series, test.name, f64::from(copies));
    }
    figure.conditions = Conditions::default()
        .with(key::TEST, test.name.to_owned())
        .with(key::TEST_CLASS, test.class.word().to_owned())
        .with(key::COPIES, f64::from(copies))
        .with(key::PASS_SECONDS, seconds)
        .with(key::BASELINE, test.baseline);
    figure
}

pub fn set_coordinates(figure: &mut Figure, series: &str, test: &str, copies: f64) {
    figure.series = Some(series.to_owned());
    let coordinate = |value| Coordinate { value, unit: None };
    figure.at.insert("test".to_owned(), coordinate(CoordinateValue::Name(test.to_owned())));
    figure.at.insert("copies".to_owned(), coordinate(CoordinateValue::Number(copies)));
}

#[cfg(test)]
mod unit {
    use super::*;
    use machine::synthetic;

    fn on_server(change: impl FnOnce(&mut Options)) -> Result<Planned<Setup>, PlanError> {
        let machine = synthetic::described(synthetic::two_socket_smt_server);
        let rules = Rules { least: 6, most: 12, target: 0.02, max_time: 110.0, repeats: 2 };
        let mut options = Options::with_rules(rules);
        change(&mut options);
        plan(&machine, &options)
    }

    #[test]
    fn each_test_for_one_copy_and_for_all_cpus() {
        let plan = on_server(|_| {}).unwrap();
        let ids: Vec<&str> = plan.suite.figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids.len(), 2 * catalogue::names().len());
        assert!(ids.contains(&"system.pipe") && ids.contains(&"system.pipe.x96"), "{ids:?}");
        let setup = plan.suite.setup;
        let time: f64 = setup.tasks.iter().map(|task| 6.0 * (task.seconds + OVERHEAD)).sum();
        assert!(time <= 110.0, "{time}");
    }

    #[test]
    fn unixbenchs_own_durations_and_passes() {
        let passes = |requested| {
            let plan = on_server(|options| (options.unixbench, options.passes) = (true, requested)).unwrap();
            let pipe = plan.suite.figures.iter().find(|figure| figure.id == "system.pipe").unwrap();
            let conditions = &pipe.conditions;
            (conditions.get(key::PASSES), conditions.get(key::PASS_SECONDS), conditions.get(key::SCORE_KIND))
        };
        assert_eq!(passes(None), (Some(10.0), Some(10.0), Some("compatible".into())));
        assert_eq!(passes(Some(2)), (Some(2.0), Some(10.0), Some("compatible-short".into())));
    }

    #[test]
    fn options_are_followed_or_refused() {
        let plan = on_server(|options| {
            options.tests = vec!["syscall".to_owned()];
            options.copies = vec![1, 4, 8];
            options.duration = Some(2.0);
        });
        let setup = plan.unwrap().suite.setup;
        let tasks: Vec<_> = setup.tasks.iter().map(|task| (task.id.as_str(), task.seconds)).collect();
        assert_eq!(tasks, [("system.syscall", 2.0), ("system.syscall.x4", 2.0), ("system.syscall.x8", 2.0)]);
        let error = on_server(|options| options.copies = vec![0]).unwrap_err().to_string();
        assert!(error.contains("-c 0") && error.contains("1 to 4096"), "{error}");
    }
}
