//! Driving a suite's worker through its schedule: rounds in, figures out.

use std::time::{Duration, Instant};

use figure::evidence::{PASSES, STOP_REASON, TARGET, VERIFIED};
use figure::format::seconds;
use figure::{Event, Figure, Round, Status};

use crate::events::Events;
use crate::interrupt::Interrupt;
use crate::others::Others;
use crate::schedule::{Rules, Schedule, Stop};
use crate::worker::{Facts, Reply, Request, Trouble, Worker};

/// Workers that may be started again after one died: a figure that kills its worker is taken out, so more
/// deaths mean that it is not the figure.
const RESTARTS: usize = 2;
/// The share of the time that is kept back for finishing.
pub const FINISHING_SHARE: f64 = 0.05;

/// The time, in seconds, of which so many are left when finishing has its share.
pub fn needed(seconds: f64) -> f64 {
    seconds / (1.0 - FINISHING_SHARE)
}

/// A pure judgement on one round while the run goes on: a reason to repeat it, if there is one.
pub type Gate = fn(&Round) -> Option<String>;

/// A suite, resolved: what to measure and how long.
#[derive(Clone, Debug)]
pub struct SuitePlan {
    /// The suite's name.
    pub suite: &'static str,
    /// The name of its worker.
    pub worker: &'static str,
    /// The suite's own plan, for its worker.
    pub setup: serde_json::Value,
    /// Figures before their first round. Those that are not available stay as they are.
    pub figures: Vec<Figure>,
    /// When there are enough rounds.
    pub rules: Rules,
    /// Seconds that preparing takes with what at least must follow, by a cautious estimate: with less time there is no figure. 0 where
    /// that is next to nothing, or not known.
    pub least_seconds: f64,
    /// What preparing is, in words.
    pub preparing: String,
    /// Seconds after which preparing counts as hung.
    pub prepare_deadline: f64,
    /// Seconds after which a round counts as hung.
    pub round_deadline: f64,
}

/// What a suite gave.
#[derive(Debug)]
pub struct Outcome {
    /// All figures of the plan, measured as far as it went.
    pub figures: Vec<Figure>,
    /// Why it ended early, if it did.
    pub interrupted: Option<String>,
}

/// A running suite.
struct Session<'a> {
    plan: &'a SuitePlan,
    figures: Vec<Figure>,
    schedule: Schedule,
    begun: Instant,
    events: &'a Events,
    interrupt: &'a Interrupt,
    worker: Option<Worker>,
    /// The only turn of this worker, where it wants to be replaced after each ([`Facts::anew`]).
    only: Option<usize>,
    restarts: usize,
    others: Others,
    /// Seconds that preparing took, restarts included.
    prepared: f64,
}

/// Measures a suite. Never fails as a whole: what could not be measured says why in its figure.
pub fn run(plan: &SuitePlan, gate: Gate, events: &Events, interrupt: &Interrupt) -> Outcome {
    run_watched(plan, gate, events, interrupt, &mut |_| {})
}

/// The same; `look` is shown all figures of the plan after each round, before the next begins.
pub fn run_watched(
    plan: &SuitePlan,
    gate: Gate,
    events: &Events,
    interrupt: &Interrupt,
    look: &mut dyn FnMut(&[Figure]),
) -> Outcome {
    let rules = Rules { max_time: plan.rules.max_time * (1.0 - FINISHING_SHARE), ..plan.rules };
    let mut schedule = Schedule::new(rules, plan.figures.len());
    for (index, figure) in plan.figures.iter().enumerate() {
        if figure.status == Status::NotAvailable {
            schedule.fail(index);
        }
        if let Some(passes) = figure.conditions.get(PASSES) {
            schedule.only(index, passes as usize);
        }
    }
    let mut session = Session {
        plan,
        figures: plan.figures.clone(),
        schedule,
        begun: Instant::now(),
        events,
        interrupt,
        worker: None,
        only: None,
        restarts: 0,
        others: Others::new(machine::Tree::live(), vec![std::process::id()]),
        prepared: 0.0,
    };
    events.send(Event::SuiteStarted {
        suite: plan.worker.to_owned(),
        figures: plan.figures.len(),
        seconds: Some(plan.rules.max_time).filter(|seconds| *seconds < f64::MAX),
    });
    session.rounds(gate, look);
    session.finish();
    events.send(Event::SuiteFinished { suite: plan.worker.to_owned() });
    let interrupted = interrupt
        .requested()
        .map(|signal| format!("stopped by {signal}, {:.1} s into {}", session.elapsed(), plan.suite));
    Outcome { figures: session.figures, interrupted }
}

impl Session<'_> {
    fn rounds(&mut self, gate: Gate, look: &mut dyn FnMut(&[Figure])) {
        while self.interrupt.requested().is_none() {
            let Some(index) = self.schedule.next(self.elapsed()) else { return };
            if self.only.is_some_and(|turn| turn != self.schedule.turn()) {
                self.worker = None;
            }
            if self.worker.is_none() && !self.prepare() {
                return;
            }
            let id = self.figures[index].id.clone();
            let number = self.figures[index].kept().count() + 1;
            self.events.send(Event::RoundStarted { figure: id.clone(), round: number });
            self.others.before();
            let begun = Instant::now();
            let answer = self.ask(&Request::Round(id), self.plan.round_deadline);
            self.schedule.took(index, begun.elapsed().as_secs_f64());
            match answer {
                Ok(Reply::Round(round)) => self.take(index, *round, gate),
                Ok(other) => self.fail(index, &format!("the worker answered out of turn: {other:?}")),
                Err(Trouble::Interrupted) => return,
                Err(trouble @ Trouble::Refused(_)) => self.fail(index, &trouble.to_string()),
                Err(trouble) => {
                    self.worker = None;
                    self.restarts += 1;
                    self.fail(index, &trouble.to_string());
                }
            }
            look(&self.figures);
        }
    }

    /// Starts a worker and lets it prepare; `false` if the suite cannot go on.
    fn prepare(&mut self) -> bool {
        if self.restarts > RESTARTS {
            self.fail_all("its worker died too often");
            return false;
        }
        if self.only.is_none() {
            self.events.send(Event::Preparing { what: self.plan.preparing.clone() });
        }
        self.others.write(&mut self.figures);
        let begun = Instant::now();
        let answer = match Worker::spawn(self.plan.worker) {
            Ok(worker) => {
                self.worker = Some(worker);
                let left = (self.plan.rules.max_time - self.elapsed()).max(0.0);
                let patience = self.plan.prepare_deadline.min(left);
                let answer = self.ask(&Request::Prepare(self.plan.setup.clone()), patience);
                match answer {
                    Err(Trouble::Deadline(_))
                        if patience < self.plan.prepare_deadline && self.only.is_some() =>
                    {
                        self.schedule.expire();
                        self.worker = None;
                        return false;
                    }
                    Err(Trouble::Deadline(_)) if patience < self.plan.prepare_deadline => {
                        Err(Trouble::Died(format!(
                            "{} took more than the time there was ({}): raise --max-time",
                            self.plan.preparing,
                            seconds(patience)
                        )))
                    }
                    answer => answer,
                }
            }
            Err(error) => Err(Trouble::Died(format!("the worker could not be started: {error}"))),
        };
        self.prepared += begun.elapsed().as_secs_f64();
        match answer {
            Ok(Reply::Ready(facts)) => {
                self.only = facts.anew.then(|| self.schedule.turn());
                self.learn(facts);
                true
            }
            Ok(other) => {
                self.fail_all(&format!("the worker answered out of turn: {other:?}"));
                false
            }
            Err(Trouble::Interrupted) => false,
            Err(trouble) => {
                self.fail_all(&trouble.to_string());
                false
            }
        }
    }

    fn take(&mut self, index: usize, mut round: Round, gate: Gate) {
        let value = round.value();
        if !round.kept {
            let reason = round.reason.clone().unwrap_or_default();
            self.record(index, round);
            if !self.schedule.may_repeat(index, self.elapsed()) {
                self.fail(index, &reason);
            }
            return;
        }
        if value.is_none() {
            // Never counted, it would be measured again for ever.
            self.fail(index, "a round gave no sample");
            return;
        }
        if let Some(reason) = gate(&round)
            && self.schedule.may_repeat(index, self.begun.elapsed().as_secs_f64())
        {
            round.kept = false;
            round.reason = Some(reason);
        }
        if let (true, Some(value)) = (round.kept, value) {
            self.schedule.kept(index, value);
        }
        self.record(index, round);
    }

    fn record(&mut self, index: usize, round: Round) {
        let (value, kept) = (round.value(), round.kept);
        let figure = &mut self.figures[index];
        figure.rounds.push(round);
        let (done, seconds_left) = self.schedule.progress(self.begun.elapsed().as_secs_f64());
        self.events.send(Event::RoundFinished {
            figure: figure.id.clone(),
            value,
            unit: figure.unit.symbol().to_owned(),
            kept,
            done,
            seconds_left,
        });
        self.others.after(index, &mut self.figures);
    }

    fn finish(&mut self) {
        self.others.write(&mut self.figures);
        if self.worker.is_some() && self.interrupt.requested().is_none() {
            self.events.send(Event::Preparing { what: "checking the results".to_owned() });
            match self.ask(&Request::Finish, self.plan.prepare_deadline) {
                Ok(Reply::Finished(facts)) => self.learn(facts),
                Ok(other) => self.unfinished(&format!("the worker answered out of turn: {other:?}")),
                Err(trouble) => self.unfinished(&trouble.to_string()),
            }
        }
        self.worker = None;
        // What was found stands behind what was planned, and is whole.
        for (index, figure) in self.figures.iter_mut().enumerate().take(self.plan.figures.len()) {
            let stop = self.schedule.stopped(index).map_or("interrupted", Stop::word);
            if figure.status != Status::NotAvailable {
                figure.evidence.put(STOP_REASON, stop.to_owned());
                figure.evidence.put(TARGET, self.plan.rules.target);
            }
            figure.summarise();
            let found_nothing = figure.rounds.last().and_then(|round| round.reason.clone());
            if let (None, "time", Some(reason)) = (figure.value, stop, &found_nothing) {
                (figure.status, figure.reason) = (Status::Failed, Some(reason.clone()));
            } else if figure.value.is_none() && stop == "time" {
                figure.reason = Some(format!(
                    "the time was spent before its first round (preparing took {}): raise --max-time",
                    seconds(self.prepared)
                ));
            }
        }
    }

    /// Says in every figure why its results could not be checked.
    fn unfinished(&mut self, reason: &str) {
        for figure in &mut self.figures {
            if figure.evidence.iter().any(|(name, _)| name == VERIFIED.name) {
                figure.evidence.put_unknown(VERIFIED, format!("the check of the results failed: {reason}"));
            }
        }
    }

    fn ask(&mut self, request: &Request, deadline: f64) -> Result<Reply, Trouble> {
        let events = self.events;
        let mut event = |happened| events.send(happened);
        match &mut self.worker {
            Some(worker) => {
                worker.ask(request, Duration::from_secs_f64(deadline), self.interrupt, &mut event)
            }
            None => Err(Trouble::Died("there is no worker".to_owned())),
        }
    }

    fn learn(&mut self, facts: Facts) {
        facts.processes.iter().for_each(|process| self.others.belongs(*process));
        for figure in self.figures.iter_mut().filter(|figure| figure.status != Status::NotAvailable) {
            figure.evidence.merge(facts.evidence.clone());
            figure.conditions.merge(facts.conditions.clone());
        }
        self.figures.extend(facts.found);
        for (id, evidence) in facts.figures {
            if let Some(figure) = self.figures.iter_mut().find(|figure| figure.id == id) {
                figure.evidence.merge(evidence);
            }
        }
    }

    fn fail(&mut self, index: usize, reason: &str) {
        self.schedule.fail(index);
        let figure = &mut self.figures[index];
        if figure.status != Status::NotAvailable {
            figure.status = Status::Failed;
            figure.reason = Some(reason.to_owned());
        }
    }

    fn fail_all(&mut self, reason: &str) {
        for index in 0..self.figures.len() {
            if self.schedule.stopped(index).is_none() {
                self.fail(index, reason);
            }
        }
    }

    fn elapsed(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}
