//! Keeps a window of tasks outstanding until each node has answered, or will not.

use std::collections::{HashMap, HashSet};

use crate::directory::{Directory, Outcome, Plan, Problem};
use crate::engine::{Availability, Engine, Kind, Refusal, State, Task};

/// What is said of a task that its engine does not know.
const FORGOTTEN: &str = "its job is gone";

/// How many at once, and how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Tasks that are outstanding at the same time.
    pub window: usize,
    /// Seconds from the start of the run after which nothing is started, and what is outstanding is stopped.
    pub deadline: f64,
    /// Seconds that a record may take from a node to here after its task has ended, by the caches of network file systems. Children of this
    /// process have none.
    pub grace: f64,
    /// Whether nodes that gave no answer are tried again.
    pub retry: bool,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A node's task was started.
    Started(String),
    /// A node's record is there.
    Answered(String),
    /// A node will not answer; why.
    Missing(String, String),
    /// The engine has a problem that may pass.
    Trouble(String),
}

/// A run at work.
pub struct Run<'a> {
    directory: &'a Directory,
    plan: &'a Plan,
    command: &'a dyn Fn(&str) -> Vec<String>,
    engine: Box<dyn Engine>,
    kind: &'a Kind,
    limits: Limits,
    waiting: Vec<usize>,
    outstanding: Vec<Outstanding>,
    /// Whether tasks of an earlier process are known.
    is_adopted: bool,
    /// Nodes whose task the engine forgot, and that were started again.
    again: HashSet<usize>,
    last_trouble: Option<String>,
}

/// A task that was started.
#[derive(Clone, Debug)]
struct Outstanding {
    node: usize,
    handle: String,
    /// Since when it runs.
    running: Option<f64>,
    /// When it was first seen to have ended, and why.
    ended: Option<(f64, String)>,
}

impl<'a> Run<'a> {
    /// Begins, or goes on with, what a directory's plan asks for. `command` makes the command of a node.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn new(
        directory: &'a Directory,
        plan: &'a Plan,
        kind: &'a Kind,
        limits: Limits,
        command: &'a dyn Fn(&str) -> Vec<String>,
    ) -> Result<Run<'a>, Problem> {
        let (mut waiting, mut outstanding) = (Vec::new(), Vec::new());
        for (node, outcome) in directory.outcomes(plan)?.into_iter().enumerate() {
            match outcome {
                Outcome::Answered => {}
                Outcome::Missing(_) if !limits.retry => {}
                Outcome::Outstanding(handle, _) if kind.outlives => {
                    outstanding.push(Outstanding { node, handle, running: None, ended: None });
                }
                Outcome::Waits | Outcome::Missing(_) | Outcome::Outstanding(..) => waiting.push(node),
            }
        }
        let engine = (kind.open)(&plan.settings());
        Ok(Run {
            directory,
            plan,
            command,
            engine,
            kind,
            limits,
            waiting,
            outstanding,
            is_adopted: !kind.outlives,
            again: HashSet::new(),
            last_trouble: None,
        })
    }

    /// How many nodes wait, and how many tasks are outstanding.
    pub fn open(&self) -> (usize, usize) {
        (self.waiting.len(), self.outstanding.len())
    }

    /// Looks at what is outstanding, and starts what there is room for. `now` is in seconds since the start of the run. Returns whether
    /// all is done.
    ///
    /// # Errors
    /// The journal cannot be written: what was started goes on, and nothing more is started.
    pub fn step(&mut self, now: f64, on: &mut dyn FnMut(Change)) -> Result<bool, Problem> {
        self.adopt(on)?;
        self.look(now, on)?;
        if now >= self.limits.deadline {
            self.end(on)?;
        } else if self.is_adopted {
            self.fill(on)?;
        }
        Ok(self.waiting.is_empty() && self.outstanding.is_empty())
    }

    /// Leaves what goes on without this process, and stops the rest.
    pub fn leave(&mut self) {
        if !self.kind.outlives {
            let handles = self.handles();
            self.engine.stop(&handles);
        }
    }

    /// Finds tasks whose start was not noted, as the process that started them was killed.
    fn adopt(&mut self, on: &mut dyn FnMut(Change)) -> Result<(), Problem> {
        if self.is_adopted {
            return Ok(());
        }
        match self.engine.adopt() {
            Ok(tasks) => {
                let known: HashSet<String> = self.outstanding.iter().map(|one| one.handle.clone()).collect();
                let handles: HashMap<String, String> =
                    tasks.into_iter().filter(|(_, handle)| !known.contains(handle)).collect();
                for node in std::mem::take(&mut self.waiting) {
                    let name = &self.plan.nodes[node];
                    let Some(handle) = handles.get(name) else {
                        self.waiting.push(node);
                        continue;
                    };
                    self.directory.note_started(name, handle)?;
                    let handle = handle.clone();
                    self.outstanding.push(Outstanding { node, handle, running: None, ended: None });
                }
                self.is_adopted = true;
            }
            Err(why) => self.trouble(why, on),
        }
        Ok(())
    }

    fn handles(&self) -> Vec<String> {
        self.outstanding.iter().map(|one| one.handle.clone()).collect()
    }

    /// Takes records and ends to account.
    fn look(&mut self, now: f64, on: &mut dyn FnMut(Change)) -> Result<(), Problem> {
        if self.outstanding.is_empty() {
            return Ok(());
        }
        let states = match self.engine.poll(&self.handles()) {
            Ok(states) => states.into_iter().map(Some).collect(),
            Err(why) => {
                self.trouble(why, on);
                vec![None; self.outstanding.len()]
            }
        };
        let grace = if self.kind.outlives { self.limits.grace } else { 0.0 };
        let most = self.plan.seconds;
        let mut left = Vec::new();
        for (mut one, state) in std::mem::take(&mut self.outstanding).into_iter().zip(states) {
            let name = self.plan.nodes[one.node].clone();
            if self.directory.record(&name).exists() {
                on(Change::Answered(name));
                continue;
            }
            match state {
                Some(State::Ended(why)) if one.ended.is_none() => one.ended = Some((now, why)),
                Some(State::Unknown) if one.ended.is_none() => one.ended = Some((now, FORGOTTEN.to_owned())),
                Some(State::Runs) => {
                    one.running.get_or_insert(now);
                }
                _ => {}
            }
            if let Some((_, why)) = one.ended.as_ref().filter(|(since, _)| now - since >= grace) {
                if why == FORGOTTEN && self.again.insert(one.node) {
                    self.trouble(format!("{name}: {why}; it is started again"), on);
                    self.waiting.push(one.node);
                    continue;
                }
                let why = self.with_last_words(&name, why);
                self.directory.note_ended(&name, &why)?;
                on(Change::Missing(name, why));
            } else if one.running.is_some_and(|since| now - since > most) {
                self.engine.stop(&[one.handle]);
                let why = self.with_last_words(&name, &format!("no answer within {most:.0} s"));
                self.directory.note_ended(&name, &why)?;
                on(Change::Missing(name, why));
            } else {
                left.push(one);
            }
        }
        self.outstanding = left;
        Ok(())
    }

    fn with_last_words(&self, node: &str, why: &str) -> String {
        self.directory.last_words(node).map_or_else(|| why.to_owned(), |words| format!("{why}: {words}"))
    }

    /// Starts tasks on idle nodes first, then on those that are busy.
    fn fill(&mut self, on: &mut dyn FnMut(Change)) -> Result<(), Problem> {
        if self.waiting.is_empty() || self.outstanding.len() >= self.limits.window {
            return Ok(());
        }
        let names: Vec<String> = self.waiting.iter().map(|&node| self.plan.nodes[node].clone()).collect();
        let offers = match self.engine.nodes(Some(&names)) {
            Ok(offers) => offers,
            Err(why) => {
                self.trouble(why, on);
                return Ok(());
            }
        };
        let offers: HashMap<String, Availability> =
            offers.into_iter().map(|offer| (offer.node, offer.availability)).collect();
        let is_idle = |node: &usize| offers.get(&self.plan.nodes[*node]) == Some(&Availability::Idle);
        // A stable sort: otherwise in the plan's order.
        self.waiting.sort_by_key(|node| !is_idle(node));
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        for node in waiting.by_ref() {
            let name = &self.plan.nodes[node];
            let refused = match offers.get(name) {
                Some(Availability::Down(why)) => Refusal::Never(why.clone()),
                _ if self.outstanding.len() >= self.limits.window => {
                    self.waiting.push(node);
                    break;
                }
                _ => match self.engine.start(&self.task(name)) {
                    Ok(handle) => {
                        self.outstanding.push(Outstanding {
                            node,
                            handle: handle.clone(),
                            running: None,
                            ended: None,
                        });
                        self.directory.note_started(name, &handle)?;
                        on(Change::Started(name.clone()));
                        continue;
                    }
                    Err(refusal) => refusal,
                },
            };
            match refused {
                Refusal::Never(why) => {
                    self.directory.note_ended(name, &why)?;
                    on(Change::Missing(name.clone(), why));
                }
                Refusal::Later(why) => {
                    self.waiting.push(node);
                    self.trouble(why, on);
                    break;
                }
            }
        }
        self.waiting.extend(waiting);
        Ok(())
    }

    fn task(&self, node: &str) -> Task {
        Task {
            node: node.to_owned(),
            command: (self.command)(node),
            directory: self.directory.path().to_owned(),
            record: self.directory.record(node),
            log: self.directory.log(node),
            seconds: self.plan.seconds,
        }
    }

    /// Stops what is outstanding. Nodes that were not started stay so: a later run goes on with them.
    fn end(&mut self, on: &mut dyn FnMut(Change)) -> Result<(), Problem> {
        let handles = self.handles();
        self.engine.stop(&handles);
        for one in std::mem::take(&mut self.outstanding) {
            let name = &self.plan.nodes[one.node];
            let why = match one.running {
                Some(_) => "it had not ended at the deadline",
                None => "it had not begun at the deadline",
            };
            self.directory.note_ended(name, why)?;
            on(Change::Missing(name.clone(), why.to_owned()));
        }
        for node in std::mem::take(&mut self.waiting) {
            let why = "it was not started before the deadline".to_owned();
            on(Change::Missing(self.plan.nodes[node].clone(), why));
        }
        Ok(())
    }

    /// Says what is wrong, once as long as it stays the same.
    fn trouble(&mut self, why: String, on: &mut dyn FnMut(Change)) {
        if self.last_trouble.as_ref() != Some(&why) {
            on(Change::Trouble(why.clone()));
            self.last_trouble = Some(why);
        }
    }
}

#[cfg(test)]
mod tests {
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

    const KIND: Kind =
        Kind { name: "model", window: 2, poll: 1.0, outlives: false, open: |_: &Settings| Box::new(Model) };

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
}
