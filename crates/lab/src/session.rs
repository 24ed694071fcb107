//! Runs a suite: drives its worker through the schedule, and turns rounds into figures.

use std::time::{Duration, Instant};

use figure::evidence::{PASSES, STOP_REASON, TARGET, VERIFIED};
use figure::format::seconds;
use figure::{Event, Figure, Round, Status};
use serde::Serialize;

use crate::events::Events;
use crate::interrupt::Interrupt;
use crate::others::Others;
use crate::schedule::{Rules, Schedule, Stop};
use crate::worker::{self, Json, Reply, Request, RequestError, Worker, WorkerReport};

/// Restarts after a worker died. A figure that kills its worker is dropped: more deaths have another cause.
const RESTARTS: usize = 2;
/// Share of the time that is reserved for finishing.
pub const FINISHING_SHARE: f64 = 0.05;

/// The time in seconds that must be allowed so that `seconds` are left without the share for finishing.
pub fn with_finishing_time(seconds: f64) -> f64 {
    seconds / (1.0 - FINISHING_SHARE)
}

/// Judges one round during the run: the reason to repeat it, if there is one. Pure.
pub type Gate = fn(&Round) -> Option<String>;

/// What to measure, and for how long. `S` is the type of the worker's setup, or JSON for the session.
#[derive(Clone, Debug)]
pub struct SuitePlan<S = Json> {
    pub suite: &'static str,
    pub worker: &'static str,
    pub setup: S,
    /// Figures before their first round. Figures that are not available stay as they are.
    pub figures: Vec<Figure>,
    /// Figures that are quoted as a difference, and the baseline that is subtracted, by their places.
    pub differences: Vec<(usize, usize)>,
    pub rules: Rules,
    /// Seconds for preparing and the least that must follow, by a cautious estimate: with less time there is
    /// no figure. 0 if negligible or unknown.
    pub least_seconds: f64,
    /// What preparing does, for the user.
    pub preparing: String,
    /// Seconds after which preparing, or a round, counts as hung.
    pub prepare_deadline: f64,
    pub round_deadline: f64,
}

impl<S: Serialize> SuitePlan<S> {
    pub fn for_worker(self) -> Result<SuitePlan, serde_json::Error> {
        Ok(SuitePlan {
            setup: worker::json(&self.setup)?,
            suite: self.suite,
            worker: self.worker,
            figures: self.figures,
            differences: self.differences,
            rules: self.rules,
            least_seconds: self.least_seconds,
            preparing: self.preparing,
            prepare_deadline: self.prepare_deadline,
            round_deadline: self.round_deadline,
        })
    }
}

#[derive(Debug)]
pub struct Outcome {
    pub figures: Vec<Figure>,
    pub interrupted: Option<String>,
}

struct Session<'a> {
    plan: &'a SuitePlan,
    figures: Vec<Figure>,
    schedule: Schedule,
    start: Instant,
    events: &'a Events,
    interrupt: &'a Interrupt,
    worker: Option<Worker>,
    /// The only cycle that this worker serves, if it must be restarted after each
    /// ([`WorkerReport::restart_each_cycle`]).
    worker_cycle: Option<usize>,
    restarts: usize,
    others: Others,
    /// Seconds of preparing, with restarts.
    prepare_seconds: f64,
}

/// Measures a suite. It never fails as a whole: a figure that could not be measured holds the reason.
pub fn run(plan: &SuitePlan, gate: Gate, events: &Events, interrupt: &Interrupt) -> Outcome {
    run_watched(plan, gate, events, interrupt, &mut |_| {})
}

/// As [`run`], and calls `after_round` with all figures between two rounds.
pub fn run_watched(
    plan: &SuitePlan,
    gate: Gate,
    events: &Events,
    interrupt: &Interrupt,
    after_round: &mut dyn FnMut(&[Figure]),
) -> Outcome {
    let rules = Rules { max_time: plan.rules.max_time * (1.0 - FINISHING_SHARE), ..plan.rules };
    let mut schedule = Schedule::new(rules, plan.figures.len());
    for (index, figure) in plan.figures.iter().enumerate() {
        if figure.status == Status::NotAvailable {
            schedule.fail(index);
        }
        if figure.is_control() {
            schedule.set_control(index);
        }
        if let Some(passes) = figure.conditions.get(PASSES) {
            schedule.exactly(index, passes as usize);
        }
    }
    for (figure, baseline) in &plan.differences {
        schedule.set_baseline(*figure, *baseline);
    }
    let mut session = Session {
        plan,
        figures: plan.figures.clone(),
        schedule,
        start: Instant::now(),
        events,
        interrupt,
        worker: None,
        worker_cycle: None,
        restarts: 0,
        others: Others::new(machine::Tree::live(), vec![std::process::id()]),
        prepare_seconds: 0.0,
    };
    events.send(Event::SuiteStarted {
        suite: plan.worker.to_owned(),
        figures: plan.figures.len(),
        seconds: Some(plan.rules.max_time).filter(|seconds| *seconds < f64::MAX),
    });
    session.rounds(gate, after_round);
    session.finish();
    events.send(Event::SuiteFinished { suite: plan.worker.to_owned() });
    let interrupted = interrupt
        .requested()
        .map(|signal| format!("stopped by {signal}, {:.1} s into {}", session.elapsed(), plan.suite));
    Outcome { figures: session.figures, interrupted }
}

impl Session<'_> {
    fn rounds(&mut self, gate: Gate, after_round: &mut dyn FnMut(&[Figure])) {
        while self.interrupt.requested().is_none() {
            let Some(index) = self.schedule.next(self.elapsed()) else { return };
            if self.worker_cycle.is_some_and(|cycle| cycle != self.schedule.cycle()) {
                self.worker = None;
            }
            if self.worker.is_none() && !self.prepare() {
                return;
            }
            let id = self.figures[index].id.clone();
            let number = self.figures[index].used_rounds().count() + 1;
            self.events.send(Event::RoundStarted { figure: id.clone(), round: number });
            self.others.before_round();
            let start = Instant::now();
            let reply = self.ask(&Request::Round(id), self.plan.round_deadline);
            self.schedule.add_duration(index, start.elapsed().as_secs_f64());
            match reply {
                Ok(Reply::Round(round)) => self.accept(index, *round, gate),
                Ok(other) => self.fail(index, &out_of_turn(&other)),
                Err(RequestError::Interrupted) => return,
                Err(RequestError::Refused(failure)) => self.fail(index, &failure.to_string()),
                Err(error) => {
                    self.worker = None;
                    self.restarts += 1;
                    self.fail(index, &error.to_string());
                }
            }
            after_round(&self.figures);
        }
    }

    /// Starts and prepares a worker; `false` if the suite cannot go on.
    fn prepare(&mut self) -> bool {
        if self.restarts > RESTARTS {
            self.fail_all("its worker died too often");
            return false;
        }
        if self.worker_cycle.is_none() {
            self.events.send(Event::Preparing { what: self.plan.preparing.clone() });
        }
        self.others.write(&mut self.figures);
        let start = Instant::now();
        let reply = match Worker::spawn(self.plan.worker) {
            Ok(worker) => {
                self.worker = Some(worker);
                let left = (self.plan.rules.max_time - self.elapsed()).max(0.0);
                let patience = self.plan.prepare_deadline.min(left);
                match self.ask(&Request::Prepare(self.plan.setup.clone()), patience) {
                    Err(RequestError::Deadline(_)) if patience < self.plan.prepare_deadline => {
                        if self.worker_cycle.is_some() {
                            self.schedule.expire();
                            self.worker = None;
                            return false;
                        }
                        Err(RequestError::NoTime(self.plan.preparing.clone(), patience))
                    }
                    reply => reply,
                }
            }
            Err(error) => Err(RequestError::Start(error)),
        };
        self.prepare_seconds += start.elapsed().as_secs_f64();
        let reason = match reply {
            Ok(Reply::Ready(report)) => {
                self.worker_cycle = report.restart_each_cycle.then(|| self.schedule.cycle());
                self.merge(report);
                return true;
            }
            Err(RequestError::Interrupted) => return false,
            Ok(other) => out_of_turn(&other),
            Err(error) => error.to_string(),
        };
        self.fail_all(&reason);
        false
    }

    fn accept(&mut self, index: usize, mut round: Round, gate: Gate) {
        let value = round.value();
        if !round.used {
            let reason = round.reason.clone().unwrap_or_default();
            self.record(index, round);
            if !self.schedule.may_repeat(index, self.elapsed()) {
                self.fail(index, &reason);
            }
            return;
        }
        if value.is_none() {
            // It counts as no round, so it would be measured again without end.
            self.fail(index, "a round gave no sample");
            return;
        }
        if let Some(reason) = gate(&round)
            && self.schedule.may_repeat(index, self.elapsed())
        {
            round.used = false;
            round.reason = Some(reason);
        }
        if let (true, Some(value)) = (round.used, value) {
            self.schedule.add_value(index, value);
        }
        self.record(index, round);
    }

    fn record(&mut self, index: usize, round: Round) {
        let (value, counts) = (round.value(), round.used);
        let figure = &mut self.figures[index];
        figure.rounds.push(round);
        let (done, seconds_left) = self.schedule.progress(self.start.elapsed().as_secs_f64());
        self.events.send(Event::RoundFinished {
            figure: figure.name.clone(),
            value,
            unit: figure.unit.symbol().to_owned(),
            used: counts,
            done,
            seconds_left,
        });
        self.others.after_round(index, &mut self.figures);
    }

    fn finish(&mut self) {
        self.others.write(&mut self.figures);
        if self.worker.is_some() && self.interrupt.requested().is_none() {
            self.events.send(Event::Preparing { what: "checking the results".to_owned() });
            match self.ask(&Request::Finish, self.plan.prepare_deadline) {
                Ok(Reply::Finished(report)) => self.merge(report),
                Ok(other) => self.mark_unverified(&out_of_turn(&other)),
                Err(error) => self.mark_unverified(&error.to_string()),
            }
        }
        self.worker = None;
        // Discovered figures follow the planned ones, and are complete.
        for (index, figure) in self.figures.iter_mut().enumerate().take(self.plan.figures.len()) {
            let stop = self.schedule.stopped(index).map_or("interrupted", Stop::word);
            if figure.status != Status::NotAvailable {
                figure.evidence.put(STOP_REASON, stop.to_owned());
                figure.evidence.put(TARGET, self.plan.rules.target);
            }
            figure.summarise();
            let last_reason = figure.rounds.last().and_then(|round| round.reason.clone());
            if let (None, "time", Some(reason)) = (figure.value, stop, &last_reason) {
                (figure.status, figure.reason) = (Status::Failed, Some(reason.clone()));
            } else if figure.value.is_none() && stop == "time" {
                figure.reason = Some(format!(
                    "the time was spent before its first round (preparing took {}): raise --max-time",
                    seconds(self.prepare_seconds)
                ));
            }
        }
    }

    /// Writes to every figure why its results could not be checked.
    fn mark_unverified(&mut self, reason: &str) {
        for figure in &mut self.figures {
            if figure.evidence.iter().any(|(name, _)| name == VERIFIED.name) {
                figure.evidence.put_unknown(VERIFIED, format!("the check of the results failed: {reason}"));
            }
        }
    }

    fn ask(&mut self, request: &Request, deadline: f64) -> Result<Reply, RequestError> {
        let events = self.events;
        let mut event = |event| events.send(event);
        match &mut self.worker {
            Some(worker) => {
                worker.ask(request, Duration::from_secs_f64(deadline), self.interrupt, &mut event)
            }
            None => Err(RequestError::NoWorker),
        }
    }

    fn merge(&mut self, report: WorkerReport) {
        report.processes.iter().for_each(|process| self.others.exclude(*process));
        for figure in self.figures.iter_mut().filter(|figure| figure.status != Status::NotAvailable) {
            figure.evidence.merge(report.evidence.clone());
            figure.conditions.merge(report.conditions.clone());
        }
        self.figures.extend(report.discovered);
        for (id, evidence) in report.figures {
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
        self.start.elapsed().as_secs_f64()
    }
}

fn out_of_turn(reply: &Reply) -> String {
    format!("the worker answered out of turn: {reply:?}")
}
