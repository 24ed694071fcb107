//! The figures and tasks of the prices. Pure.

use figure::evidence as key;
use figure::format::{bytes, number, plain_to};
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::capabilities::Capabilities;
use super::catalogue::{self, Clock, ExpectedFaults, Needs, Price, SINGLE, THREADED, ThreadedPrice, matches};
use super::fixture::Fixture;
use crate::SUITE;

/// Seconds of every deadline: a machine may be suspended or overloaded, a disk may be slow.
const GRACE: f64 = 120.0;
/// Seconds for the price of a minor fault alone.
const PATIENCE: f64 = 20.0;

/// The mode's name, in ids and on the command line.
pub const NAME: &str = "prices";

#[derive(Clone, Debug)]
pub struct Options {
    pub capabilities: Capabilities,
    /// Words of prices, or of kinds of them; all prices if there are none.
    pub words: Vec<String>,
    pub rules: Rules,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("no CPU that may be used is online")]
    NoCpu,
    #[error("there is no price '{0}'; there are {all}", all = catalogue::words().join(", "))]
    NoPrice(String),
    #[error(transparent)]
    Setup(#[from] serde_json::Error),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub word: String,
    /// Threads; 0 for a price that one thread measures.
    pub threads: usize,
    /// Seconds that a round lasts, approximately.
    pub round: f64,
}

impl Task {
    pub fn needs_files(&self) -> bool {
        let uses_files = |price: &Price| matches!(price.needs, Needs::Files | Needs::Disk);
        self.threads == 0 && catalogue::single(&self.word).is_some_and(uses_files)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub capabilities: Capabilities,
    /// The CPUs that threads are put on, in this order.
    pub cpus: Vec<u32>,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let capabilities = &options.capabilities;
    let (fixture, cpus) = (Fixture::new(machine, capabilities), order(machine));
    let first = *cpus.first().ok_or(PlanError::NoCpu)?;
    let wrong = |word: &&String| !catalogue::words().iter().any(|price| matches(price, word));
    if let Some(word) = options.words.iter().find(wrong) {
        return Err(PlanError::NoPrice(plain_to(word, 40)));
    }
    let is_requested =
        |price: &str| options.words.is_empty() || options.words.iter().any(|word| matches(price, word));
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for price in SINGLE.iter().filter(|price| is_requested(price.word)) {
        let figure = single(price, &fixture, first);
        match price.needs.missing(capabilities, &fixture) {
            Some(reason) => figures.push(figure.not_available(reason.to_string())),
            None => {
                let id = figure.id.clone();
                tasks.push(Task { id, word: price.word.to_owned(), threads: 0, round: price.round });
                figures.push(figure);
            }
        }
    }
    for price in THREADED.iter().filter(|price| is_requested(price.word)) {
        for threads in counts(cpus.len()) {
            let figure = threaded(price, &fixture, &cpus[..threads]);
            let id = figure.id.clone();
            tasks.push(Task { id, word: price.word.to_owned(), threads, round: catalogue::ROUND });
            figures.push(figure);
        }
    }
    let has_files = tasks.iter().any(Task::needs_files);
    let setup =
        Setup { machine: machine.clone(), capabilities: capabilities.clone(), cpus: cpus.clone(), tasks };
    let suite = SuitePlan {
        suite: SUITE,
        worker: "faults.prices",
        setup,
        figures,
        differences: Vec::new(),
        rules: options.rules,
        preparing: if has_files { "files in the page cache and on disk" } else { "threads on their CPUs" }
            .to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE,
    };
    Ok(Planned { suite, notes: notes(capabilities, &fixture, &cpus) })
}

/// The prices for a watched program: a minor fault, one of a huge page if it has such, and what watching adds; 6 short rounds, some five
/// seconds.
pub fn minor_fault_plan(machine: &Machine, has_huge: bool) -> Result<SuitePlan, PlanError> {
    let rules = Rules::exactly(6, PATIENCE);
    let capabilities = Capabilities::without_files(has_huge);
    let huge = has_huge.then_some(catalogue::HUGE);
    let words = [catalogue::WRITE, catalogue::WATCHING].into_iter().chain(huge).map(str::to_owned).collect();
    let mut suite = plan(machine, &Options { capabilities, words, rules })?.suite;
    let is_fault = |task: &&mut Task| [catalogue::WRITE, catalogue::HUGE].contains(&task.word.as_str());
    for task in suite.setup.tasks.iter_mut().filter(is_fault) {
        task.round = catalogue::SHORT_ROUND;
    }
    Ok(SuitePlan { preparing: "the price of a page fault".to_owned(), ..suite.for_worker()? })
}

/// The CPUs that may be used: one of each core before the second of any.
fn order(machine: &Machine) -> Vec<u32> {
    let usable = machine.topology.usable();
    let turn = |cpu: u32| {
        let siblings = machine.cpu(cpu).map_or_else(CpuList::default, |logical| logical.siblings.clone());
        siblings.iter().filter(|sibling| *sibling < cpu && usable.contains(*sibling)).count()
    };
    let mut cpus: Vec<u32> = usable.iter().collect();
    cpus.sort_by_key(|cpu| (turn(*cpu), *cpu));
    cpus
}

/// Numbers of threads: powers of two, and all.
fn counts(all: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < all);
    powers.chain([all]).collect()
}

fn single(price: &Price, fixture: &Fixture, cpu: u32) -> Figure {
    let id = format!("{SUITE}.{}.{}", NAME, price.word);
    let row = price.row.replace("{}", &bytes((price.region)(fixture) as f64));
    let mut figure = Figure::planned(id, SUITE, &row, Unit::of(price.scale().1), Better::Lower);
    figure.series = Some(series_id(price.series));
    figure.at.insert(price.series.to_owned(), coordinate(&row));
    let unit = match price.unit {
        catalogue::Unit::Page => fixture.page,
        catalogue::Unit::Huge => fixture.huge,
        catalogue::Unit::Call => (price.region)(fixture),
    };
    let conditions = conditions(price.word, price.clock, &[cpu])
        .with(key::PRICE_BYTES, unit as f64)
        .with(key::PRICE_REGION, (price.region)(fixture) as f64);
    figure.conditions = match price.expected {
        ExpectedFaults::Minor(each) => conditions.with(key::MINOR_DUE, each).with(key::MAJOR_DUE, 0.0),
        ExpectedFaults::Cached => conditions.with(key::MAJOR_DUE, 0.0),
        ExpectedFaults::Major => conditions.with(key::MINOR_DUE, 0.0).with(key::MAJOR_DUE, 1.0),
        ExpectedFaults::Any => conditions,
    };
    figure
}

fn threaded(price: &ThreadedPrice, fixture: &Fixture, cpus: &[u32]) -> Figure {
    let threads = cpus.len();
    let series = series_id(price.word);
    let others = threads - 1;
    let (axis, at, name) = match price.is_one {
        true => ("others", others, format!("{}, {others} other threads running", price.name)),
        false => ("faulting", threads, format!("{}, {threads} threads at once", price.name)),
    };
    let id = format!("{series}.{}{at}", if price.is_one { "with" } else { "t" });
    let mut figure = Figure::planned(id, SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(series);
    let value = CoordinateValue::Number(at as f64);
    figure.at.insert(axis.to_owned(), Coordinate { value, unit: None });
    let region = if price.is_one { fixture.table } else { fixture.each(threads) };
    figure.conditions = conditions(price.word, price.clock, cpus)
        .with(key::PRICE_BYTES, fixture.page as f64)
        .with(key::PRICE_REGION, region as f64)
        .with(key::MINOR_DUE, price.expected)
        .with(key::MAJOR_DUE, 0.0);
    if price.is_one {
        figure.conditions.set(key::PRICE_OTHERS, others as f64);
    }
    figure
}

fn conditions(word: &str, clock: Clock, cpus: &[u32]) -> Conditions {
    Conditions::default()
        .with(key::PRICE, word.to_owned())
        .with(key::PRICE_CLOCK, clock.word().to_owned())
        .with(key::THREADS, cpus.len() as f64)
        .with(key::CPUS, cpus.iter().map(|cpu| f64::from(*cpu)).collect())
}

pub fn series_id(series: &str) -> String {
    format!("{SUITE}.{}.{series}", NAME)
}

pub fn coordinate(text: &str) -> Coordinate {
    Coordinate { value: CoordinateValue::Name(text.to_owned()), unit: None }
}

fn notes(capabilities: &Capabilities, fixture: &Fixture, cpus: &[u32]) -> Vec<(&'static str, String)> {
    let size = |size: usize| bytes(size as f64);
    let pages = match &capabilities.huge {
        Ok(huge) => format!("{}, huge pages of {}", size(capabilities.page), size(*huge)),
        Err(_) => size(capabilities.page),
    };
    let listed: CpuList = cpus.iter().copied().collect();
    let mut notes = vec![
        ("CPUs", format!("one thread on CPU {}; several on {listed}", cpus[0])),
        ("pages", pages),
        ("regions", format!("{}; large: {}", size(fixture.region), size(fixture.large))),
    ];
    if let Ok(around) = &capabilities.around {
        let neighbours = format!("a read fault maps {} cached pages", number(*around));
        notes.push(("files", format!("{}; {neighbours}", capabilities.directory.display())));
    }
    if capabilities.disk.is_ok() {
        notes.push(("disk", format!("a file of {}", size(fixture.file))));
    }
    notes
}

#[cfg(test)]
mod unit {
    use std::path::Path;

    use figure::Status;
    use lab::failure::Failure;
    use lab::schedule::Rules;
    use machine::synthetic;

    use super::*;
    use crate::prices::fixture::FILE;

    fn planned(
        write: fn(&Path) -> std::io::Result<()>,
        change: fn(&mut Capabilities),
    ) -> (Planned<Setup>, Setup) {
        let machine = synthetic::described(write);
        let mut capabilities = Capabilities {
            directory: "/var/tmp".into(),
            page: 4096,
            huge: Ok(2 << 20),
            around: Ok(16.0),
            disk: Ok(FILE),
            free: Ok(()),
            events: Ok(()),
        };
        change(&mut capabilities);
        let rules = Rules { least: 8, most: 60, target: 0.01, max_time: 60.0, repeats: 2 };
        let planned = plan(&machine, &Options { capabilities, words: Vec::new(), rules }).unwrap();
        // As the worker reads it.
        let text = serde_json::to_string(&planned.suite.setup).unwrap();
        let setup = serde_json::from_str(&text).unwrap();
        (planned, setup)
    }

    #[test]
    fn every_price_is_a_figure_with_its_expected_faults() {
        let (planned, setup) = planned(synthetic::two_socket_smt_server, |_| {});
        let figure = |word: &str| {
            let id = format!("faults.prices.{word}");
            planned.suite.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"))
        };
        let expected = |word: &str| {
            let conditions = &figure(word).conditions;
            (conditions.get(key::MINOR_DUE), conditions.get(key::MAJOR_DUE))
        };
        assert_eq!(expected("minor.write"), (Some(1.0), Some(0.0)));
        assert_eq!(expected("file.around"), (None, Some(0.0)));
        assert_eq!(expected("major"), (Some(0.0), Some(1.0)));
        assert_eq!((expected("fork"), expected("scan.cold")), ((None, None), (None, None)));
        assert_eq!((figure("huge").unit.symbol(), figure("minor.write").unit.symbol()), ("µs", "ns"));
        assert_eq!(figure("huge").conditions.get(key::PRICE_BYTES), Some(2097152.0));
        assert_eq!(setup.tasks.len(), planned.suite.figures.len());
        let mut ids: Vec<_> = planned.suite.figures.iter().map(|figure| &figure.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), planned.suite.figures.len());
    }

    #[test]
    fn threads_fill_cores_before_siblings() {
        let (planned, setup) = planned(synthetic::two_socket_smt_server, |_| {});
        let machine = &setup.machine;
        let half = setup.cpus.len() / 2;
        for (at, cpu) in setup.cpus.iter().enumerate() {
            let first = machine.cpu(*cpu).unwrap().siblings.first().unwrap();
            assert_eq!(at < half, first == *cpu, "CPU {cpu} at {at}");
        }
        let all = setup.cpus.len();
        let id = format!("faults.prices.concurrent.t{all}");
        let figure = planned.suite.figures.iter().find(|figure| figure.id == id).unwrap();
        assert_eq!(figure.conditions.get(key::THREADS), Some(all as f64));
        let others = format!("faults.prices.munmap.with{}", all - 1);
        assert!(planned.suite.figures.iter().any(|figure| figure.id == others));
        assert_eq!((counts(1), counts(2), counts(6)), (vec![1], vec![1, 2], vec![1, 2, 4, 6]));
    }

    #[test]
    fn a_missing_feature_has_a_reason_and_no_task() {
        let (planned, setup) = planned(synthetic::microvm_2cpu, |capabilities| {
            capabilities.huge = Err(Failure::new("switched off"));
            capabilities.disk = Err(Failure::new("on tmpfs, which has no disk"));
        });
        let none: Vec<&Figure> =
            planned.suite.figures.iter().filter(|figure| figure.status == Status::NotAvailable).collect();
        assert_eq!(none.len(), 4, "huge, major, and the two scans");
        for figure in none {
            assert!(figure.reason.is_some() && setup.tasks.iter().all(|task| task.id != figure.id));
        }
    }
}
