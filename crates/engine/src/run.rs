//! Keeps a window of tasks outstanding until each node has answered, or will not.

use std::collections::{HashMap, HashSet};

use crate::directory::{Directory, Outcome, Plan, Problem};
use crate::engine::{Availability, Engine, Kind, Refusal, State, Task};

#[cfg(test)]
mod tests;

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
    /// The journal cannot be written. What was started is still outstanding: [`leave`](Self::leave) it.
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

    /// Leaves what goes on without this process, and stops the rest. Returns the nodes whose tasks were outstanding.
    pub fn leave(&mut self) -> Vec<String> {
        if !self.kind.outlives {
            let handles = self.handles();
            self.engine.stop(&handles);
        }
        self.outstanding.iter().map(|one| self.plan.nodes[one.node].clone()).collect()
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
                let (adopted, waiting): (Vec<usize>, Vec<usize>) = std::mem::take(&mut self.waiting)
                    .into_iter()
                    .partition(|&node| handles.contains_key(&self.plan.nodes[node]));
                self.waiting = waiting;
                let before = self.outstanding.len();
                self.outstanding.extend(adopted.into_iter().map(|node| {
                    let handle = handles[&self.plan.nodes[node]].clone();
                    Outstanding { node, handle, running: None, ended: None }
                }));
                for one in &self.outstanding[before..] {
                    self.directory.note_started(&self.plan.nodes[one.node], &one.handle)?;
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
        let mut looked = std::mem::take(&mut self.outstanding).into_iter().zip(states);
        let mut result = Ok(());
        for (one, state) in looked.by_ref() {
            match self.settle(one, state, now, on) {
                Ok(left) => self.outstanding.extend(left),
                Err(problem) => {
                    result = Err(problem);
                    break;
                }
            }
        }
        // What could not be looked at is outstanding all the same.
        self.outstanding.extend(looked.map(|(one, _)| one));
        result
    }

    /// Takes one task's state to account. Returns the task if it is still outstanding.
    fn settle(
        &mut self,
        mut one: Outstanding,
        state: Option<State>,
        now: f64,
        on: &mut dyn FnMut(Change),
    ) -> Result<Option<Outstanding>, Problem> {
        let name = self.plan.nodes[one.node].clone();
        if self.directory.record(&name).exists() {
            on(Change::Answered(name));
            return Ok(None);
        }
        match state {
            Some(State::Ended(why)) if one.ended.is_none() => one.ended = Some((now, why)),
            Some(State::Unknown) if one.ended.is_none() => one.ended = Some((now, FORGOTTEN.to_owned())),
            Some(State::Runs) => {
                one.running.get_or_insert(now);
            }
            _ => {}
        }
        let grace = if self.kind.outlives { self.limits.grace } else { 0.0 };
        let most = self.plan.seconds;
        let why = if let Some((_, why)) = one.ended.as_ref().filter(|(since, _)| now - since >= grace) {
            if why == FORGOTTEN && self.again.insert(one.node) {
                self.trouble(format!("{name}: {why}; it is started again"), on);
                self.waiting.push(one.node);
                return Ok(None);
            }
            why.clone()
        } else if one.running.is_some_and(|since| now - since > most) {
            self.engine.stop(&[one.handle]);
            format!("no answer within {most:.0} s")
        } else {
            return Ok(Some(one));
        };
        let why = self.with_last_words(&name, &why);
        self.directory.note_ended(&name, &why)?;
        on(Change::Missing(name, why));
        Ok(None)
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
