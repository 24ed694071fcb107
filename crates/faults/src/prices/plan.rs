//! From what there is to figures and tasks. Pure.

use figure::evidence as key;
use figure::format::{bytes, number, plain_to};
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::catalogue::{self, ALONE, CROWDS, Clock, Crowd, Due, Price, is_meant};
use super::ground::Ground;
use super::here::Here;
use super::{MODE, Options, PlanError};
use crate::SUITE;

/// Seconds that every deadline has besides: a machine may be suspended or swamped, a disk may be slow.
const GRACE: f64 = 120.0;
/// Seconds for the price of a minor fault alone.
const PATIENCE: f64 = 10.0;

/// One figure, for the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// The price's word.
    pub word: String,
    /// Threads; 0 for a price that one thread finds.
    pub threads: usize,
}

impl Task {
    /// Whether its price is one of files.
    pub fn is_of_files(&self) -> bool {
        self.threads == 0 && catalogue::alone(&self.word).is_some_and(|price| price.needs.is_of_files())
    }
}

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// What there is.
    pub here: Here,
    /// The CPUs that threads are put on, in this order.
    pub cpus: Vec<u32>,
    /// Figures to measure.
    pub tasks: Vec<Task>,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let here = &options.here;
    let (ground, cpus) = (Ground::of(machine, here), order(machine));
    let first = *cpus.first().ok_or(PlanError::NoCpu)?;
    let wrong = |word: &&String| !catalogue::words().iter().any(|price| is_meant(price, word));
    if let Some(word) = options.words.iter().find(wrong) {
        return Err(PlanError::NoPrice(plain_to(word, 40)));
    }
    let is_asked =
        |price: &str| options.words.is_empty() || options.words.iter().any(|word| is_meant(price, word));
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for price in ALONE.iter().filter(|price| is_asked(price.word)) {
        let figure = alone(price, &ground, first);
        match price.needs.missing(here, &ground) {
            Some(reason) => figures.push(figure.not_available(reason)),
            None => {
                tasks.push(Task { id: figure.id.clone(), word: price.word.to_owned(), threads: 0 });
                figures.push(figure);
            }
        }
    }
    for crowd in CROWDS.iter().filter(|crowd| is_asked(crowd.word)) {
        for threads in counts(cpus.len()) {
            let figure = crowded(crowd, &ground, &cpus[..threads]);
            tasks.push(Task { id: figure.id.clone(), word: crowd.word.to_owned(), threads });
            figures.push(figure);
        }
    }
    let has_files = tasks.iter().any(Task::is_of_files);
    let setup = Setup { machine: machine.clone(), here: here.clone(), cpus: cpus.clone(), tasks };
    let suite = SuitePlan {
        suite: SUITE,
        worker: "faults.prices",
        setup: serde_json::to_value(&setup).unwrap_or_default(),
        figures,
        rules: options.rules,
        preparing: if has_files { "files in the page cache and on disk" } else { "threads on their CPUs" }
            .to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE,
    };
    Ok(Planned { suite, notes: notes(here, &ground, &cpus) })
}

/// The price of a minor fault, as a program is held against it, and what its watching cost: 6 rounds, two seconds.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn of_a_fault(machine: &Machine) -> Result<SuitePlan, PlanError> {
    let rules = Rules::exactly(6, PATIENCE);
    let words = [catalogue::WRITE, catalogue::WATCHING].map(str::to_owned).to_vec();
    let mut suite = plan(machine, &Options { here: Here::without_files(), words, rules })?.suite;
    suite.preparing = "the price of a page fault".to_owned();
    Ok(suite)
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

fn alone(price: &Price, ground: &Ground, cpu: u32) -> Figure {
    let id = format!("{SUITE}.{}.{}", MODE.name, price.word);
    let row = price.row.replace("{}", &bytes((price.region)(ground) as f64));
    let mut figure = Figure::planned(id, SUITE, &row, Unit::of(price.scale().1), Better::Lower);
    figure.series = Some(named(price.series));
    figure.at.insert(price.series.to_owned(), name(&row));
    let unit = match price.unit {
        catalogue::Unit::Page => ground.page,
        catalogue::Unit::Huge => ground.huge,
        catalogue::Unit::Call => (price.region)(ground),
    };
    let conditions = conditions(price.word, price.clock, &[cpu])
        .with(key::PRICE_BYTES, unit as f64)
        .with(key::PRICE_REGION, (price.region)(ground) as f64);
    figure.conditions = match price.due {
        Due::Minor(each) => conditions.with(key::MINOR_DUE, each).with(key::MAJOR_DUE, 0.0),
        Due::Cached => conditions.with(key::MAJOR_DUE, 0.0),
        Due::Major => conditions.with(key::MINOR_DUE, 0.0).with(key::MAJOR_DUE, 1.0),
        Due::Any => conditions,
    };
    figure
}

fn crowded(crowd: &Crowd, ground: &Ground, cpus: &[u32]) -> Figure {
    let threads = cpus.len();
    let series = named(crowd.word);
    let others = threads - 1;
    let (axis, at, name) = match crowd.is_one {
        true => ("others", others, format!("{}, {others} other threads running", crowd.name)),
        false => ("faulting", threads, format!("{}, {threads} threads at once", crowd.name)),
    };
    let id = format!("{series}.{}{at}", if crowd.is_one { "with" } else { "t" });
    let mut figure = Figure::planned(id, SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(series);
    let value = CoordinateValue::Number(at as f64);
    figure.at.insert(axis.to_owned(), Coordinate { value, unit: None });
    let region = if crowd.is_one { ground.table } else { ground.each(threads) };
    figure.conditions = conditions(crowd.word, crowd.clock, cpus)
        .with(key::PRICE_BYTES, ground.page as f64)
        .with(key::PRICE_REGION, region as f64)
        .with(key::MINOR_DUE, crowd.due)
        .with(key::MAJOR_DUE, 0.0);
    if crowd.is_one {
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

/// A series of this mode.
pub fn named(series: &str) -> String {
    format!("{SUITE}.{}.{series}", MODE.name)
}

/// A place on an axis of names.
pub fn name(text: &str) -> Coordinate {
    Coordinate { value: CoordinateValue::Name(text.to_owned()), unit: None }
}

/// What was resolved, for people.
fn notes(here: &Here, ground: &Ground, cpus: &[u32]) -> Vec<(&'static str, String)> {
    let size = |size: usize| bytes(size as f64);
    let pages = match &here.huge {
        Ok(huge) => format!("{}, huge pages of {}", size(here.page), size(*huge)),
        Err(_) => size(here.page),
    };
    let listed: CpuList = cpus.iter().copied().collect();
    let mut notes = vec![
        ("CPUs", format!("one thread on CPU {}; several on {listed}", cpus[0])),
        ("pages", pages),
        ("regions", format!("{}; large: {}", size(ground.region), size(ground.large))),
    ];
    if let Ok(around) = &here.around {
        let neighbours = format!("a read fault maps {} cached pages", number(*around));
        notes.push(("files", format!("{}; {neighbours}", here.directory.display())));
    }
    if here.disk.is_ok() {
        notes.push(("disk", format!("a file of {}", size(ground.file))));
    }
    notes
}

#[cfg(test)]
mod unit {
    use std::path::Path;

    use figure::Status;
    use lab::schedule::Rules;
    use machine::{Asked, Tree, synthetic};

    use super::*;
    use crate::prices::ground::FILE;

    fn planned(write: fn(&Path) -> std::io::Result<()>, change: fn(&mut Here)) -> (Planned, Setup) {
        let root = tempfile::tempdir().unwrap();
        write(root.path()).unwrap();
        let machine = machine::describe(&Tree::at(root.path()), &Asked { dimms: None });
        let mut here = Here {
            directory: "/var/tmp".into(),
            page: 4096,
            huge: Ok(2 << 20),
            around: Ok(16.0),
            disk: Ok(FILE),
            free: Ok(()),
            events: Ok(()),
        };
        change(&mut here);
        let rules = Rules { least: 8, most: 60, target: 0.01, max_time: 60.0, repeats: 2 };
        let planned = plan(&machine, &Options { here, words: Vec::new(), rules }).unwrap();
        let setup = serde_json::from_value(planned.suite.setup.clone()).unwrap();
        (planned, setup)
    }

    #[test]
    fn every_price_is_a_figure_with_its_due_faults() {
        let (planned, setup) = planned(synthetic::two_socket_smt_server, |_| {});
        let of = |word: &str| {
            let id = format!("faults.prices.{word}");
            planned.suite.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"))
        };
        let due =
            |word: &str| (of(word).conditions.get(key::MINOR_DUE), of(word).conditions.get(key::MAJOR_DUE));
        assert_eq!(due("minor.write"), (Some(1.0), Some(0.0)));
        assert_eq!(due("file.around"), (None, Some(0.0)));
        assert_eq!(due("major"), (Some(0.0), Some(1.0)));
        assert_eq!((due("fork"), due("scan.cold")), ((None, None), (None, None)));
        assert_eq!((of("huge").unit.symbol(), of("minor.write").unit.symbol()), ("us", "ns"));
        assert_eq!(of("huge").conditions.get(key::PRICE_BYTES), Some(2097152.0));
        assert_eq!(setup.tasks.len(), planned.suite.figures.len());
        let mut ids: Vec<_> = planned.suite.figures.iter().map(|figure| &figure.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), planned.suite.figures.len());
    }

    #[test]
    fn threads_have_cores_of_their_own_as_long_as_there_are() {
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
    fn what_cannot_be_had_says_why_and_has_no_task() {
        let (planned, setup) = planned(synthetic::microvm_2cpu, |here| {
            here.huge = Err("switched off".to_owned());
            here.disk = Err("on tmpfs, which has no disk".to_owned());
        });
        let none: Vec<&Figure> =
            planned.suite.figures.iter().filter(|figure| figure.status == Status::NotAvailable).collect();
        assert_eq!(none.len(), 4, "huge, major, and the two scans");
        for figure in none {
            assert!(figure.reason.is_some() && setup.tasks.iter().all(|task| task.id != figure.id));
        }
    }
}
