use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::engine::{Offer, Settings};

/// What a scheduler would do, as a test says.
#[derive(Default)]
struct World {
    down: Vec<&'static str>,
    busy: Vec<&'static str>,
    refuses: Option<Refusal>,
    is_deaf: bool,
    started: Vec<String>,
    stopped: Vec<String>,
    states: HashMap<String, State>,
}

thread_local! {
    static WORLD: Rc<RefCell<World>> = Rc::default();
}

fn world() -> Rc<RefCell<World>> {
    WORLD.with(Rc::clone)
}

struct Model;

impl Engine for Model {
    fn nodes(&mut self, list: Option<&[String]>) -> Result<Vec<Offer>, String> {
        let world = world();
        let world = world.borrow();
        let availability = |node: &str| match node {
            node if world.down.contains(&node) => Availability::Down("bad fan".into()),
            node if world.busy.contains(&node) => Availability::Busy,
            _ => Availability::Idle,
        };
        let list = list.unwrap_or_default().iter();
        Ok(list.map(|node| Offer { node: node.clone(), availability: availability(node) }).collect())
    }

    fn start(&mut self, task: &Task) -> Result<String, Refusal> {
        let world = world();
        if let Some(refusal) = world.borrow().refuses.clone() {
            return Err(refusal);
        }
        world.borrow_mut().started.push(task.node.clone());
        Ok(format!("job-{}", task.node))
    }

    fn poll(&mut self, handles: &[String]) -> Result<Vec<State>, String> {
        let world = world();
        let world = world.borrow();
        if world.is_deaf {
            return Err("no controller".into());
        }
        let state = |handle: &String| world.states.get(handle).cloned().unwrap_or(State::Runs);
        Ok(handles.iter().map(state).collect())
    }

    fn stop(&mut self, handles: &[String]) {
        world().borrow_mut().stopped.extend_from_slice(handles);
    }

    fn adopt(&mut self) -> Result<Vec<(String, String)>, String> {
        Ok(vec![("b".into(), "job-b".into())])
    }
}

const KIND: Kind = Kind {
    name: "model",
    window: 2,
    poll: 1.0,
    outlives: false,
    program: None,
    open: |_: &Settings| Box::new(Model),
};

struct Bench {
    _scratch: tempfile::TempDir,
    directory: Directory,
    plan: Plan,
}

fn bench(nodes: &[&str]) -> Bench {
    *world().borrow_mut() = World::default();
    let scratch = tempfile::tempdir().unwrap();
    let directory = Directory::at(scratch.path());
    let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
    let plan = Plan::new("model", "truebench", "15s", 100.0, nodes);
    directory.begin(&plan).unwrap();
    Bench { _scratch: scratch, directory, plan }
}

const GRACE: f64 = 30.0;
const LIMITS: Limits = Limits { window: 2, deadline: 1e4, grace: GRACE, retry: false };

fn command(node: &str) -> Vec<String> {
    vec!["truebench".to_owned(), node.to_owned()]
}

fn step(run: &mut Run, now: f64) -> (bool, Vec<Change>) {
    let mut changes = Vec::new();
    let done = run.step(now, &mut |change| changes.push(change)).unwrap();
    (done, changes)
}

fn run<'a>(bench: &'a Bench, kind: &'a Kind, limits: Limits) -> Run<'a> {
    Run::new(&bench.directory, &bench.plan, kind, limits, &command).unwrap()
}

#[test]
fn a_window_is_kept_and_idle_nodes_come_first() {
    let bench = bench(&["a", "b", "c", "d"]);
    world().borrow_mut().busy = vec!["a"];
    world().borrow_mut().down = vec!["d"];
    let mut run = run(&bench, &KIND, LIMITS);
    let (done, changes) = step(&mut run, 0.0);
    assert!(!done);
    assert_eq!(world().borrow().started, ["b", "c"], "{changes:?}");
    assert_eq!(step(&mut run, 1.0).1, []);
    bench.directory.write_record("b", b"x").unwrap();
    let (_, changes) = step(&mut run, 2.0);
    let down = Change::Missing("d".into(), "bad fan".into());
    assert_eq!(changes, [Change::Answered("b".into()), Change::Started("a".into()), down]);
    for node in ["a", "c"] {
        bench.directory.write_record(node, b"x").unwrap();
    }
    assert!(step(&mut run, 3.0).0);
}

#[test]
fn an_end_without_a_record_is_missing_with_its_last_words() {
    let bench = bench(&["a"]);
    let mut run = run(&bench, &KIND, LIMITS);
    step(&mut run, 0.0);
    let log = bench.directory.log("a");
    bench.directory.make_parent(&log).unwrap();
    std::fs::write(log, "starts\nIllegal instruction\n\n").unwrap();
    world().borrow_mut().states.insert("job-a".into(), State::Ended("signal: 4".into()));
    let (done, changes) = step(&mut run, 1.0);
    assert_eq!(changes, [Change::Missing("a".into(), "signal: 4: Illegal instruction".into())]);
    assert!(done);
    // It is not tried again, unless it is asked for.
    assert!(step(&mut self::run(&bench, &KIND, LIMITS), 0.0).0);
    let mut again = self::run(&bench, &KIND, Limits { retry: true, ..LIMITS });
    assert_eq!(step(&mut again, 0.0).1, [Change::Started("a".into())]);
}

#[test]
fn a_record_may_come_late_by_a_shared_file_system() {
    let bench = bench(&["a"]);
    let kind = Kind { outlives: true, ..KIND };
    let mut run = run(&bench, &kind, LIMITS);
    step(&mut run, 0.0);
    world().borrow_mut().states.insert("job-a".into(), State::Ended("gone".into()));
    assert_eq!(step(&mut run, 1.0), (false, vec![]));
    assert_eq!(step(&mut run, GRACE), (false, vec![]));
    bench.directory.write_record("a", b"x").unwrap();
    assert_eq!(step(&mut run, GRACE + 0.5), (true, vec![Change::Answered("a".into())]));
}

#[test]
fn what_hangs_is_stopped() {
    let bench = bench(&["a"]);
    let mut run = run(&bench, &KIND, LIMITS);
    step(&mut run, 0.0);
    assert_eq!(step(&mut run, 5.0), (false, vec![]));
    assert_eq!(step(&mut run, 5.0 + 100.0), (false, vec![]));
    let (done, changes) = step(&mut run, 5.5 + 100.0);
    assert!(done);
    assert_eq!(changes, [Change::Missing("a".into(), "no answer within 100 s".into())]);
    assert_eq!(world().borrow().stopped, ["job-a"]);
}

#[test]
fn a_job_that_is_forgotten_is_started_again_once() {
    let bench = bench(&["a"]);
    let mut run = run(&bench, &KIND, LIMITS);
    step(&mut run, 0.0);
    world().borrow_mut().states.insert("job-a".into(), State::Unknown);
    let (_, changes) = step(&mut run, 1.0);
    assert!(changes.contains(&Change::Started("a".into())), "{changes:?}");
    assert_eq!(step(&mut run, 2.0), (true, vec![Change::Missing("a".into(), FORGOTTEN.into())]));
}

#[test]
fn trouble_of_the_scheduler_costs_no_node() {
    let bench = bench(&["a", "b"]);
    let mut run = run(&bench, &KIND, LIMITS);
    world().borrow_mut().refuses = Some(Refusal::Later("too many jobs".into()));
    assert_eq!(step(&mut run, 0.0).1, [Change::Trouble("too many jobs".into())]);
    assert_eq!(step(&mut run, 1.0).1, [], "the same trouble is said once");
    world().borrow_mut().refuses = None;
    step(&mut run, 2.0);
    world().borrow_mut().is_deaf = true;
    assert_eq!(step(&mut run, 3.0).1, [Change::Trouble("no controller".into())]);
    bench.directory.write_record("a", b"x").unwrap();
    // Records count, whatever the controller says.
    assert_eq!(step(&mut run, 4.0).1, [Change::Answered("a".into())]);
    assert_eq!(run.open(), (0, 1));
    let mut refused = self::run(&bench, &KIND, LIMITS);
    world().borrow_mut().refuses = Some(Refusal::Never("no such node".into()));
    assert_eq!(step(&mut refused, 0.0), (true, vec![Change::Missing("b".into(), "no such node".into())]));
}

#[test]
fn the_deadline_stops_what_runs_and_leaves_what_waits() {
    let bench = bench(&["a", "b", "c"]);
    let limits = Limits { deadline: 50.0, ..LIMITS };
    let mut run = run(&bench, &KIND, limits);
    step(&mut run, 0.0);
    let (done, changes) = step(&mut run, 50.0);
    assert!(done && changes.len() == 3, "{changes:?}");
    assert_eq!(world().borrow().stopped, ["job-a", "job-b"]);
    let outcomes = bench.directory.outcomes(&bench.plan).unwrap();
    assert!(matches!(outcomes[..], [Outcome::Missing(_), Outcome::Missing(_), Outcome::Waits]));
}

#[test]
fn a_process_that_was_killed_leaves_its_jobs_to_the_next() {
    let bench = bench(&["a", "b", "c"]);
    // a is noted, b was started a moment before the end, c was not started.
    bench.directory.note_started("a", "job-a").unwrap();
    let kind = Kind { outlives: true, ..KIND };
    let mut run = run(&bench, &kind, Limits { window: 3, ..LIMITS });
    assert_eq!(step(&mut run, 0.0).1, [Change::Started("c".into())]);
    assert_eq!(run.open(), (0, 3));
    run.leave();
    assert_eq!(world().borrow().stopped, [] as [String; 0]);
    // Children end with their process.
    let mut run = self::run(&bench, &KIND, Limits { window: 3, ..LIMITS });
    assert_eq!(run.open(), (3, 0));
    step(&mut run, 0.0);
    run.leave();
    assert_eq!(world().borrow().stopped.len(), 3);
}

#[test]
fn a_journal_that_cannot_be_written_leaves_no_child_behind() {
    let bench = bench(&["a", "b", "c"]);
    let mut run = run(&bench, &KIND, LIMITS);
    step(&mut run, 0.0);
    // Not even root can write lines to a directory.
    let journal = bench.directory.path().join("journal.jsonl");
    std::fs::remove_file(&journal).unwrap();
    std::fs::create_dir(&journal).unwrap();
    world().borrow_mut().states.insert("job-a".into(), State::Ended("exit status: 1".into()));
    let problem = run.step(1.0, &mut |_| ()).unwrap_err();
    assert!(problem.to_string().contains("journal.jsonl"), "{problem}");
    assert_eq!(run.leave(), ["b"], "a has ended, c was not started");
    assert_eq!(world().borrow().stopped, ["job-b"]);
}

#[test]
fn a_start_that_cannot_be_noted_is_stopped_too() {
    let bench = bench(&["a", "b"]);
    let mut run = run(&bench, &KIND, LIMITS);
    std::fs::create_dir(bench.directory.path().join("journal.jsonl")).unwrap();
    run.step(0.0, &mut |_| ()).unwrap_err();
    assert_eq!(run.leave(), ["a"]);
    assert_eq!(world().borrow().stopped, ["job-a"]);
}

#[test]
fn jobs_go_on_without_a_journal_and_are_named() {
    let bench = bench(&["a", "b"]);
    let kind = Kind { outlives: true, ..KIND };
    let mut run = run(&bench, &kind, LIMITS);
    std::fs::create_dir(bench.directory.path().join("journal.jsonl")).unwrap();
    run.step(0.0, &mut |_| ()).unwrap_err();
    // b was found by its job's name.
    assert_eq!(run.leave(), ["b"]);
    assert_eq!(world().borrow().stopped, [] as [String; 0]);
}
