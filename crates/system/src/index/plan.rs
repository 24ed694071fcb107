//! Which tests, how many copies, how long a pass. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit, format};
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};
use workload::unixbench::Test;

use crate::catalogue;
use crate::mode::{Options, PlanError, Planned};

/// Copies at most: more tell nothing, and each is a process.
const MOST_COPIES: u32 = 4096;
/// Passes of UnixBench's long tests, and of the others.
const LONG_PASSES: u32 = 10;
const SHORT_PASSES: u32 = 3;
/// What UnixBench's arithmetic is applied to: its own durations and passes …
const COMPATIBLE: &str = "compatible";
/// … or others.
const COMPATIBLE_SHORT: &str = "compatible-short";
/// Seconds that a round takes besides the pass: canary, counters, starting the copies.
const BESIDES: f64 = 0.12;
/// Seconds of a pass at least: a script of the eight concurrent ones takes some 50 ms.
const SHORTEST: f64 = 0.25;
/// Share of the time that the plan may fill with the least rounds; the rest is for rounds that are repeated.
const FILLED: f64 = 0.9;
/// Seconds that every deadline has besides: a machine may be suspended or swamped.
const GRACE: f64 = 120.0;

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// The CPUs that copies may use.
    pub cpus: CpuList,
    /// Where they work.
    pub directory: std::path::PathBuf,
    /// Whether the file systems are synced and the machine left alone for three seconds before each pass, as UnixBench does.
    pub unixbench: bool,
    /// Names the directories of this run.
    pub session: u32,
    /// The figures' ids, each with its test and its number of copies.
    pub tasks: Vec<Task>,
}

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// The test's name.
    pub test: String,
    /// How many copies at the same time.
    pub copies: u32,
    /// Seconds of a pass.
    pub seconds: f64,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let cpus = machine.topology.usable();
    planned_as(machine, options, Kind { worker: "system.index", series: None }, &[1, cpus.len() as u32])
}

/// What a plan of passes is for.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The mode's worker.
    pub worker: &'static str,
    /// The series of its figures, if they are points of a curve.
    pub series: Option<&'static str>,
}

/// A plan of passes: the selected tests, each for the numbers of copies that are asked for, or these.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn planned_as(
    machine: &Machine,
    options: &Options,
    kind: Kind,
    usual: &[u32],
) -> Result<Planned, PlanError> {
    let tests = catalogue::select(&options.tests)?;
    let cpus = machine.topology.usable();
    let copies = copies(options, usual)?;
    let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let rounds = (tests.len() * copies.len() * options.rules.least) as f64;
    let room = options.rules.max_time * FILLED / rounds - BESIDES;

    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for &number in &copies {
        for test in &tests {
            let seconds = match options.unixbench {
                true => test.seconds,
                false => options.duration.unwrap_or_else(|| room.clamp(SHORTEST, test.seconds)),
            };
            let mut figure = planned(test, number, seconds, kind.series);
            let passes = options.unixbench.then(|| passes(test, options.passes));
            if let Some(passes) = passes {
                figure.conditions.set(key::PASSES, f64::from(passes));
            }
            let is_whole = options.unixbench && options.passes.is_none();
            let kind = if is_whole { COMPATIBLE } else { COMPATIBLE_SHORT };
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
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: kind.worker,
        setup: serde_json::to_value(&setup).unwrap_or_default(),
        figures,
        rules,
        preparing: "what surrounds the tests: libraries, file system, shell".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + longest,
    };
    Ok(Planned { suite, notes })
}

/// Passes of a test: UnixBench's own, or as its `-i` has it.
fn passes(test: &Test, asked: Option<u32>) -> u32 {
    match (test.is_long, asked) {
        (true, None) => LONG_PASSES,
        (false, None) => SHORT_PASSES,
        (true, Some(passes)) => passes,
        (false, Some(passes)) => ((passes + 1) / 3).max(1),
    }
}

/// Numbers of copies: as asked, or the usual ones.
fn copies(options: &Options, usual: &[u32]) -> Result<Vec<u32>, PlanError> {
    let mut copies = options.copies.clone();
    if let Some(wrong) = copies.iter().find(|copies| !(1..=MOST_COPIES).contains(*copies)) {
        return Err(PlanError::Wrong(format!("-c {wrong}: give 1 to {MOST_COPIES} copies")));
    }
    if copies.is_empty() {
        copies = usual.to_vec();
    }
    copies.dedup();
    Ok(copies)
}

fn planned(test: &'static Test, copies: u32, seconds: f64, series: Option<&str>) -> Figure {
    let base = format!("{}.{}", series.unwrap_or(crate::SUITE), test.name);
    let name = match copies {
        1 => test.title.to_owned(),
        _ => format!("{}, {copies} copies", test.title),
    };
    let id = if copies == 1 && series.is_none() { base } else { format!("{base}.x{copies}") };
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::of(test.unit), Better::Higher);
    if let Some(series) = series {
        place(&mut figure, series, test.name, f64::from(copies));
    }
    figure.conditions = Conditions::default()
        .with(key::TEST, test.name.to_owned())
        .with(key::TEST_CLASS, test.class.word().to_owned())
        .with(key::COPIES, f64::from(copies))
        .with(key::PASS_SECONDS, seconds)
        .with(key::BASELINE, test.baseline);
    figure
}

/// Makes a figure a point of the curves over copies, one for each test.
pub fn place(figure: &mut Figure, series: &str, test: &str, copies: f64) {
    figure.series = Some(series.to_owned());
    let at = |value| Coordinate { value, unit: None };
    figure.at.insert("test".to_owned(), at(CoordinateValue::Name(test.to_owned())));
    figure.at.insert("copies".to_owned(), at(CoordinateValue::Number(copies)));
}

#[cfg(test)]
mod unit {
    use super::*;
    use machine::{Asked, Tree, synthetic};

    fn on_server(change: impl FnOnce(&mut Options)) -> Result<Planned, PlanError> {
        let root = tempfile::tempdir().unwrap();
        synthetic::two_socket_smt_server(root.path()).unwrap();
        let machine = machine::describe(&Tree::at(root.path()), &Asked { dimms: None });
        let rules = Rules { least: 6, most: 12, target: 0.02, max_time: 110.0, repeats: 2 };
        let mut options = Options::nothing_but(rules);
        change(&mut options);
        plan(&machine, &options)
    }

    #[test]
    fn each_test_for_one_copy_and_for_all_cpus() {
        let plan = on_server(|_| {}).unwrap();
        let ids: Vec<&str> = plan.suite.figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids.len(), 2 * catalogue::names().len());
        assert!(ids.contains(&"system.pipe") && ids.contains(&"system.pipe.x96"), "{ids:?}");
        let setup: Setup = serde_json::from_value(plan.suite.setup).unwrap();
        let time: f64 = setup.tasks.iter().map(|task| 6.0 * (task.seconds + BESIDES)).sum();
        assert!(time <= 110.0, "{time}");
    }

    #[test]
    fn unixbenchs_own_durations_and_passes() {
        let passes = |asked| {
            let plan = on_server(|options| (options.unixbench, options.passes) = (true, asked)).unwrap();
            let of = |id: &str| {
                let figure = plan.suite.figures.iter().find(|figure| figure.id == id).unwrap();
                let conditions = &figure.conditions;
                (
                    conditions.get(key::PASSES),
                    conditions.get(key::PASS_SECONDS),
                    conditions.get(key::SCORE_KIND),
                )
            };
            of("system.pipe")
        };
        assert_eq!(passes(None), (Some(10.0), Some(10.0), Some("compatible".into())));
        assert_eq!(passes(Some(2)), (Some(2.0), Some(10.0), Some("compatible-short".into())));
    }

    #[test]
    fn what_is_asked_for_is_done_or_refused() {
        let plan = on_server(|options| {
            options.tests = vec!["syscall".to_owned()];
            options.copies = vec![1, 4, 8];
            options.duration = Some(2.0);
        });
        let setup: Setup = serde_json::from_value(plan.unwrap().suite.setup).unwrap();
        let tasks: Vec<_> = setup.tasks.iter().map(|task| (task.id.as_str(), task.seconds)).collect();
        assert_eq!(tasks, [("system.syscall", 2.0), ("system.syscall.x4", 2.0), ("system.syscall.x8", 2.0)]);
        let error = on_server(|options| options.copies = vec![0]).unwrap_err().to_string();
        assert!(error.contains("-c 0") && error.contains("1 to 4096"), "{error}");
    }
}
