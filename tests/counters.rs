//! `memory counters`: the report without counters, and the whole way from plan to judgement with the counters of
//! machines that are not here, read by a reader that knows what the kernels moved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use figure::evidence::*;
use figure::host::{Direction, UncoreChannel};
use figure::{Figure, Outcome, Reading, Record, Round, Status};
use lab::failure::Failure;
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::traffic::{Count, Counts, TrafficReader};
use lab::worker::{Bench, WorkerReport};
use machine::{Overrides, Tree, describe, synthetic};
use memory::counters::bench::{CountersBench, Load, load};
use memory::counters::plan::{Part, Setup, plan};
use memory::kernels::{Kernel, Stores};
use memory::mode::Options;

use crate::bench::{record, run, stderr, stdout, truebench};

/// Bytes read and written for each element, by kernel and stores: what a processor makes of them.
type Processor = fn(&Kernel, Stores) -> (f64, f64);

/// As declared: regular stores read their line first.
fn ordinary(kernel: &Kernel, stores: Stores) -> (f64, f64) {
    (Part::Read.bytes(kernel, stores) as f64, Part::Write.bytes(kernel, stores) as f64)
}

/// One that avoids the write-allocate.
fn avoiding(kernel: &Kernel, _: Stores) -> (f64, f64) {
    ordinary(kernel, Stores::Nt)
}

/// Bytes that memory moved so far, and the time.
#[derive(Default)]
struct Memory {
    read: f64,
    written: f64,
    nanoseconds: u64,
}

/// The real kernels, with a note of what they moved.
struct Noted {
    load: Box<dyn Load>,
    memory: Arc<Mutex<Memory>>,
    /// Bytes read and written for each element of a task.
    tasks: BTreeMap<String, (f64, f64)>,
    /// What others move, in bytes a second.
    background: f64,
}

impl Noted {
    fn note(&self, task: &str, elements: f64) {
        let (read, written) = self.tasks[task];
        let mut memory = self.memory.lock().unwrap();
        memory.read += read * elements;
        memory.written += written * elements;
        memory.nanoseconds += 200_000_000;
    }
}

impl Load for Noted {
    fn warm(&mut self, task: &str) -> Result<f64, Failure> {
        let elements = self.load.warm(task)?;
        self.note(task, elements);
        Ok(elements)
    }

    fn round(&mut self, task: &str) -> Result<(Round, f64), Failure> {
        let (round, elements) = self.load.round(task)?;
        self.note(task, elements);
        Ok((round, elements))
    }

    fn rest(&mut self) -> f64 {
        let mut memory = self.memory.lock().unwrap();
        memory.read += self.background * 0.05;
        memory.nanoseconds += 50_000_000;
        0.05
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        self.load.finish()
    }
}

/// Counters of these channels, which share what memory moved unevenly.
struct Controllers {
    channels: Vec<UncoreChannel>,
    memory: Arc<Mutex<Memory>>,
    /// Channels that never count.
    phantoms: &'static [usize],
    /// Channels that count what the first one counts.
    twins: &'static [usize],
    /// One of so many time slices is counted.
    turns: u64,
}

impl TrafficReader for Controllers {
    fn read(&mut self) -> Result<Counts, Failure> {
        let memory = self.memory.lock().unwrap();
        let real = |at: &usize| !self.phantoms.contains(at) && !self.twins.contains(at);
        let weight = |at: usize| 1.0 + 0.01 * at as f64;
        let all: f64 = (0..self.channels.len()).filter(real).map(weight).sum();
        let count = |at: usize, direction: Direction, bytes: f64| {
            let of = if self.twins.contains(&at) { 0 } else { at };
            let moved = match direction {
                Direction::Read => memory.read,
                Direction::Write => memory.written,
                Direction::Both => memory.read + memory.written,
            };
            let share = if self.phantoms.contains(&at) { 0.0 } else { weight(of) / all };
            let enabled = memory.nanoseconds;
            let value = (moved * share / bytes / self.turns as f64) as u64;
            Count { value, enabled, running: enabled / self.turns }
        };
        let of_channel = |(at, channel): (usize, &UncoreChannel)| {
            channel.events.iter().map(|event| count(at, event.direction, event.bytes)).collect()
        };
        Ok(self.channels.iter().enumerate().map(of_channel).collect())
    }
}

/// What a test varies.
struct Scene {
    machine: fn(&Path) -> std::io::Result<()>,
    processor: Processor,
    phantoms: &'static [usize],
    twins: &'static [usize],
    turns: u64,
    background: f64,
}

const QUIET: Scene = Scene {
    machine: synthetic::two_socket_smt_server,
    processor: ordinary,
    phantoms: &[],
    twins: &[],
    turns: 1,
    background: 1e6,
};

fn options() -> Options {
    Options {
        array_size: Some(400_000),
        kernels: vec!["copy".to_owned()],
        ..Options::new(Rules::exactly(6, f64::MAX))
    }
}

/// This machine with the memory controllers of another one.
fn planned(of: fn(&Path) -> std::io::Result<()>) -> (Planned<Setup>, figure::Machine) {
    let directory = tempfile::tempdir().unwrap();
    of(directory.path()).unwrap();
    let mut machine = describe(&Tree::live(), &Overrides::default());
    machine.uncore = describe(&Tree::at(directory.path()), &Overrides::default()).uncore;
    machine.uncore.refused = None;
    (plan(&machine, &options()).unwrap(), machine)
}

/// Plan, bench, figures, judgement.
fn judged(scene: &Scene) -> Record {
    let (planned, machine) = planned(scene.machine);
    let setup = planned.suite.setup;
    let memory = Arc::new(Mutex::new(Memory::default()));
    let tasks = setup
        .groups
        .iter()
        .map(|group| (group.task.clone(), (scene.processor)(Kernel::of(group.operation), group.stores)));
    let (real, facts) = load(&setup).unwrap();
    let noted =
        Noted { load: real, memory: memory.clone(), tasks: tasks.collect(), background: scene.background };
    let reader = Controllers {
        channels: machine.uncore.channels.clone(),
        memory,
        phantoms: scene.phantoms,
        twins: scene.twins,
        turns: scene.turns,
    };
    let (mut bench, facts) = CountersBench::new(setup, Box::new(noted), facts, Box::new(reader)).unwrap();
    let mut figures = planned.suite.figures;
    for _ in 0..3 {
        for figure in figures.iter_mut().filter(|figure| figure.status != Status::NotAvailable) {
            figure.rounds.push(bench.round(&figure.id).unwrap());
        }
    }
    let last = bench.finish().unwrap();
    for figure in &mut figures {
        for facts in [&facts, &last] {
            figure.evidence.merge(facts.evidence.clone());
            let own = facts.figures.iter().filter(|(id, _)| *id == figure.id);
            own.for_each(|(_, evidence)| figure.evidence.merge(evidence.clone()));
        }
        figure.summarise();
    }
    let mut record: Record = record(&run(&["memory", "counters", "--rounds", "1", "--format", "json"]));
    (record.figures, record.machine, record.findings) = (figures, machine, Vec::new());
    judge::judge(&mut record);
    record
}

/// A judged record of counters that nothing disturbs.
pub fn quiet() -> Record {
    judged(&QUIET)
}

fn figure<'a>(record: &'a Record, id: &str) -> &'a Figure {
    record.figure(&format!("memory.counters.{id}")).unwrap_or_else(|| panic!("no figure {id}"))
}

fn value(record: &Record, id: &str) -> f64 {
    figure(record, id).value.unwrap_or_else(|| panic!("{id} has no value"))
}

#[track_caller]
fn check(record: &Record, id: &str, check: &str) -> (Outcome, String) {
    let found = figure(record, id).checks.iter().find(|answer| answer.id == check);
    let found = found.unwrap_or_else(|| panic!("{check} does not apply to {id}"));
    (found.outcome, found.detail.clone())
}

#[test]
fn counts_of_two_sockets_agree_with_the_estimate() {
    let record = judged(&Scene { phantoms: &[11], twins: &[4], ..QUIET });
    for (id, ratio) in [("copy.regular", 2.0), ("copy.nt", 1.0)] {
        let [read, write, total] =
            ["read", "write", "total"].map(|part| value(&record, &format!("{id}.{part}")));
        assert!((read / write / ratio - 1.0).abs() < 0.01, "{id}: {read} {write}");
        assert!((total / (read + write) - 1.0).abs() < 1e-6);
        let id = format!("{id}.total");
        let (outcome, detail) = check(&record, &id, "traffic-agreement");
        assert_eq!(outcome, Outcome::Pass, "{detail}");
        assert_eq!(check(&record, &id, "traffic-background").0, Outcome::Pass);
        assert_eq!(check(&record, &id, "traffic-multiplexed").0, Outcome::Pass);
        let (outcome, detail) = check(&record, &id, "traffic-channels");
        assert_eq!(outcome, Outcome::Pass);
        assert_eq!(
            detail,
            "10 channels summed, each with counts of its own; left out: uncore_imc_5 (CPU 24) never counts; uncore_imc_2 (CPU 0) \
             counts what uncore_imc_0 (CPU 0) counts"
        );
        assert_eq!(
            check(&record, &id, "verified").0,
            Outcome::Pass,
            "the kernels' results are checked here too"
        );
    }
    let parts = ["read", "write", "total"].map(|part| figure(&record, &format!("copy.nt.{part}")));
    let started = |at: usize| parts[at].rounds.iter().map(|round| round.started.clone()).collect::<Vec<_>>();
    assert!(started(0) == started(1) && started(1) == started(2), "they are of the same rounds");
    let round = &parts[0].rounds[0].evidence;
    let seconds = round.get(TRAFFIC_SECONDS).into_value().unwrap();
    let rate = round.get(TRAFFIC_READ).into_value().unwrap() / seconds / 1e9;
    assert!((rate / parts[0].rounds[0].samples[0] - 1.0).abs() < 1e-9);
}

#[test]
fn a_processor_that_avoids_the_write_allocate_is_found_out() {
    let record = judged(&Scene { processor: avoiding, ..QUIET });
    let (outcome, detail) = check(&record, "copy.regular.total", "traffic-agreement");
    assert_eq!(outcome, Outcome::Warn);
    assert!(detail.contains("100 % of the write-allocate's reads are missing"), "{detail}");
    assert_eq!(check(&record, "copy.nt.total", "traffic-agreement").0, Outcome::Pass);
}

#[test]
fn other_traffic_and_multiplexing_are_reported() {
    let record = judged(&Scene { background: 50e9, turns: 2, machine: synthetic::huge_1536_cpus, ..QUIET });
    assert_eq!(check(&record, "copy.nt.total", "traffic-agreement").0, Outcome::Pass, "counts are scaled up");
    let (outcome, detail) = check(&record, "copy.nt.total", "traffic-multiplexed");
    assert_eq!(outcome, Outcome::Warn);
    assert!(detail.contains("50 % of the time"), "{detail}");
    let (outcome, detail) = check(&record, "copy.nt.total", "traffic-channels");
    assert_eq!(outcome, Outcome::Unknown, "{detail}");
    let (outcome, detail) = check(&record, "copy.nt.total", "traffic-background");
    assert!(matches!(outcome, Outcome::Warn | Outcome::Fail), "{detail}");
    assert!(detail.contains("50 GB/s while the threads rested") || detail.contains("50.0 GB/s"), "{detail}");
}

#[test]
fn counters_that_count_nothing_are_not_believed() {
    let (planned, machine) = planned(synthetic::arm_server_with_clusters);
    let setup = planned.suite.setup;
    let (real, facts) = load(&setup).unwrap();
    let channels = machine.uncore.channels;
    let phantoms = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    assert_eq!(channels.len(), phantoms.len());
    let reader = Controllers { channels, memory: Arc::default(), phantoms, twins: &[], turns: 1 };
    let refusal = CountersBench::new(setup, real, facts, Box::new(reader)).err().expect("nothing counts");
    assert!(
        refusal.to_string().contains("count nothing while memory is under load: 16 channels"),
        "{refusal}"
    );
}

#[test]
fn where_counters_count_both_ways_together_only_the_total_is_there() {
    let (_, mut machine) = planned(synthetic::two_socket_smt_server);
    for event in machine.uncore.channels.iter_mut().flat_map(|channel| &mut channel.events) {
        event.direction = Direction::Both;
    }
    let figures = plan(&machine, &options()).unwrap().suite.figures;
    for figure in &figures {
        let total = figure.id.ends_with(".total");
        assert_eq!(figure.status == Status::NotAvailable, !total, "{}", figure.id);
        assert!(total || figure.reason.as_ref().unwrap().contains("reads and writes together"));
    }
}

#[test]
fn refused_counters_say_what_to_do() {
    let (_, mut machine) = planned(synthetic::two_socket_smt_server);
    let command = "perf_event_paranoid is 2: sudo sysctl kernel.perf_event_paranoid=0";
    machine.uncore.refused = Some(command.to_owned());
    let planned = plan(&machine, &options()).unwrap();
    assert!(planned.suite.figures.iter().all(|figure| figure.reason.as_deref() == Some(command)));
    assert!(planned.notes.iter().any(|(name, note)| *name == "counters" && note.contains(command)));
}

#[test]
fn the_binary_says_what_is_missing_here() {
    let machine = describe(&Tree::live(), &Overrides::default());
    if !machine.uncore.channels.is_empty() {
        return; // There is something to count here: the other tests tell how.
    }
    let small = ["memory", "counters", "--array-size", "200000", "--rounds", "6"];
    let output = truebench(&small).args(["--format", "json"]).output().unwrap();
    let record = record(&output);
    assert_eq!(record.figures.len(), 12);
    for figure in &record.figures {
        assert_eq!(figure.status, Status::NotAvailable);
        let reason = figure.reason.as_deref().unwrap();
        assert!(reason.starts_with("no uncore PMU"), "{reason}");
    }
    assert_eq!(output.status.code(), Some(1), "nothing was measured");
    let dry = run(&["memory", "counters", "--array-size", "200000", "--dry-run"]);
    assert!(stdout(&dry).contains("counters   not available: no uncore PMU"), "{}", stdout(&dry));
    let wrong = run(&["memory", "counters", "--kernel", "fill"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = stderr(&wrong);
    assert!(
        message.contains("'fill'") && message.contains("--kernel") && message.contains("copy, scale"),
        "{message}"
    );
    let none: Reading<f64> = record.figures[0].evidence.get(TRAFFIC_CHANNELS);
    assert!(none.value().is_none());
}
