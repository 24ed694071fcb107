//! Figures of loads, and the cells that they are measured in. Pure.

use std::time::Duration;

use figure::evidence::http as key;
use figure::evidence::{ROLE, THREADS};
use figure::format::plain_to;
use figure::loads;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::mode::Planned;
use lab::session::SuitePlan;

use super::cpus::Split;
use super::options::{Client, Options, PlanError};
use crate::SUITE;
use crate::bench::setup::{Ask, Cell, Setup, Task};
use crate::client::Spec;
use crate::engine::{Carrier, Expect};
use crate::side::Subject;

/// Seconds that every deadline has besides.
const GRACE: f64 = 150.0;
/// The window of the null responder, which is only a ceiling.
const CEILING: Duration = Duration::from_millis(350);
/// Time that a window is warmed up for, as a share of it.
const WARM_UP: f64 = 0.2;
/// A server of the user's, in ids.
const YOURS: &str = "yours";
/// Seconds of a closed loop's window, and of its warm-up, for each connection: several times what a round of answers to all of them takes,
/// so that what is in flight at its ends is a small part (Little's law holds in between).
const EACH_CLOSED: (f64, f64) = (60e-6, 20e-6);
/// The same of a rate, at which few requests are in flight.
const EACH_OPEN: (f64, f64) = (40e-6, 16e-6);

/// Cells, figures and tasks, as they come together.
pub struct Plan {
    machine: Machine,
    /// Which CPUs are whose.
    pub split: Split,
    client: Client,
    cells: Vec<Cell>,
    figures: Vec<Figure>,
    tasks: Vec<Task>,
}

/// What a figure is of its cell.
pub struct Wanted<'a> {
    /// What it is for: a word of `http.goal`.
    pub goal: &'static str,
    /// What it is called: "saturated".
    pub called: &'a str,
    /// Behind its id, where server, goal and connections do not tell it from others.
    pub suffix: &'a str,
    /// When requests are sent.
    pub ask: Ask,
    /// How long a window is.
    pub window: Duration,
    /// How many requests end it.
    pub requests: Option<u64>,
    /// Whether the server is profiled in every other round.
    pub profile: bool,
}

impl Plan {
    /// Nothing yet.
    ///
    /// # Errors
    /// CPUs that are not there.
    pub fn new(machine: &Machine, client: &Client) -> Result<Plan, PlanError> {
        let split = super::cpus::split(machine, client)?;
        let (machine, client) = (machine.clone(), client.clone());
        Ok(Plan { machine, split, client, cells: Vec::new(), figures: Vec::new(), tasks: Vec::new() })
    }

    /// Whether the servers are on this machine.
    pub fn is_here(&self) -> bool {
        self.client.remote.is_none()
    }

    /// Threads of the client: one for each of its CPUs; from 4 on half as many, so that twice as many can show whether they were the limit.
    pub fn threads(&self) -> u32 {
        let cpus = self.split.client.len() as u32;
        let usual = if cpus < 4 { cpus } else { cpus / 2 };
        self.client.threads.unwrap_or(usual).max(self.client.processes).max(1)
    }

    /// A load of so many connections, whose target is not known yet.
    ///
    /// # Errors
    /// Fewer connections than threads.
    pub fn spec(&self, connections: u32) -> Result<Spec, PlanError> {
        let threads = self.threads();
        if connections < threads {
            return Err(PlanError::Connections { connections, threads });
        }
        let spec = Spec::of(([127, 0, 0, 1], 0).into(), connections);
        Ok(Spec {
            host: String::new(),
            threads,
            cpus: Some(self.split.client.clone()),
            ramp_rate: self.client.ramp,
            timeout: self.client.timeout,
            sources: self.client.sources.clone(),
            carrier: self.client.carrier,
            expect: Expect::default(),
            ..spec
        })
    }

    /// A server with connections; its place.
    pub fn cell(&mut self, subject: Subject, spec: Spec, group: Option<String>) -> usize {
        let server_cpus = match subject {
            Subject::Running { .. } => None,
            // Of another machine none that were not asked for.
            _ => Some(self.split.server.clone()).filter(|cpus| !cpus.is_empty()),
        };
        let conforms = matches!(subject, Subject::Go { .. });
        let processes = self.client.processes;
        self.cells.push(Cell { subject, server_cpus, conforms, spec, processes, group, may_refuse: false });
        self.cells.len() - 1
    }

    /// A cell, to change it.
    pub fn cell_mut(&mut self, at: usize) -> &mut Cell {
        &mut self.cells[at]
    }

    /// The null responder under the same load, as a ceiling; on the servers' machine, so that the network is in it.
    pub fn ceiling(&mut self, spec: Spec) {
        let threads = self.split.server.len().max(1).to_string();
        let cpus = self.split.server.to_string();
        let options = ["--threads", &threads, "--cpus", &cpus].map(str::to_owned).to_vec();
        // An agent gives it a thread on each of the servers' CPUs by itself.
        let options = if self.is_here() { options } else { Vec::new() };
        let mut spec = spec;
        // Its answers are its own.
        (spec.expect, spec.host) = (Expect::default(), String::new());
        let cell = self.cell(Subject::Null(options), spec, None);
        let wanted = Wanted {
            goal: loads::SATURATION,
            called: "saturated",
            suffix: "",
            ask: Ask::Closed,
            window: CEILING,
            requests: None,
            profile: false,
        };
        let figure = self.figure(cell, &wanted);
        figure.conditions.set(ROLE, "ceiling".to_owned());
    }

    /// A figure of a cell.
    pub fn figure(&mut self, at: usize, wanted: &Wanted) -> &mut Figure {
        let cell = &self.cells[at];
        let (name, connections) = (cell.subject.name(), cell.spec.connections);
        // The id of a server of the user's does not tell its address: so two of them pair where records are compared.
        let server = match cell.subject {
            Subject::Command { .. } | Subject::Running { .. } => YOURS.to_owned(),
            _ => word(&name),
        };
        let id = format!("{SUITE}.{}.{server}.c{connections}{}", wanted.goal, wanted.suffix);
        let title = format!("{name}, {connections} connections, {}", wanted.called);
        // A rate that was asked for is met or not; more of it is no better.
        let better = match wanted.ask {
            Ask::Closed | Ask::Slo { .. } => Better::Higher,
            _ => Better::Neither,
        };
        let mut figure = Figure::planned(id.clone(), SUITE, title, Unit::REQ_PER_S, better);
        figure.series = Some(format!("{SUITE}.{}", wanted.goal));
        let coordinate = |value| Coordinate { value, unit: None };
        figure.at.insert("server".to_owned(), coordinate(CoordinateValue::Name(name)));
        let number = CoordinateValue::Number(f64::from(connections));
        figure.at.insert("connections".to_owned(), coordinate(number));
        figure.conditions = self.conditions(cell, wanted);
        let by = |each: f64| Duration::from_secs_f64(each * f64::from(connections));
        let each = if wanted.ask == Ask::Closed { EACH_CLOSED } else { EACH_OPEN };
        let window = wanted.window.max(by(each.0));
        // A number of requests is all that is sent, unless a warm-up is asked for.
        let usual = match wanted.requests {
            Some(_) => Duration::ZERO,
            None => window.mul_f64(WARM_UP).max(by(each.1)),
        };
        let warm_up = self.client.warm_up.unwrap_or(usual);
        self.tasks.push(Task {
            id,
            cell: at,
            ask: wanted.ask,
            window,
            requests: wanted.requests,
            warm_up,
            profile: wanted.profile,
        });
        let place = self.figures.len();
        self.figures.push(figure);
        &mut self.figures[place]
    }

    /// The last cell and its figure cannot be had here.
    pub fn withdraw(&mut self, reason: &str) {
        let at = self.cells.len() - 1;
        self.cells.pop();
        self.tasks.retain(|task| task.cell != at);
        if let Some(figure) = self.figures.pop() {
            self.figures.push(figure.not_available(reason));
        }
    }

    fn conditions(&self, cell: &Cell, wanted: &Wanted) -> Conditions {
        let numbers = |list: &CpuList| list.iter().map(f64::from).collect::<Vec<f64>>();
        let spec = &cell.spec;
        let pacing = match wanted.ask {
            Ask::Closed => loads::CLOSED,
            Ask::Rate { constant: true, .. } => loads::CONSTANT,
            _ => loads::POISSON,
        };
        let mut conditions = Conditions::default()
            .with(key::SUBJECT, cell.subject.name())
            .with(key::SUBJECT_FLAGS, cell.subject.flags())
            .with(key::WHAT, loads::RATE.to_owned())
            .with(key::GOAL, wanted.goal.to_owned())
            .with(key::PACING, pacing.to_owned())
            .with(key::CONNECTIONS, f64::from(spec.connections))
            .with(key::PROCESSES, f64::from(cell.processes))
            .with(key::CARRIER, carrier(spec.carrier).to_owned())
            .with(key::KEEPS_ALIVE, spec.keeps_alive)
            .with(key::TIMEOUT, spec.timeout.as_secs_f64())
            .with(key::BURST_OF_BACKLOG, f64::from(spec.in_flight))
            .with(THREADS, f64::from(spec.threads))
            .with(key::CLIENT_CPUS, spec.cpus.as_ref().map(numbers).unwrap_or_default());
        // The numbers of another machine's CPUs would be taken for ours.
        let ours = cell.server_cpus.as_ref().filter(|_| self.is_here());
        conditions.set(key::SERVER_CPUS, ours.map(numbers).unwrap_or_default());
        if let Subject::Go { flags, .. } = &cell.subject {
            let is_cost = |flag: &&[String]| ["-cost", "-cost-rounds", "-sleep"].contains(&flag[0].as_str());
            let costs: Vec<String> = flags.windows(2).filter(is_cost).map(|pair| pair.join(" ")).collect();
            let told = if costs.is_empty() { "none".to_owned() } else { costs.join(", ") };
            conditions.set(key::HANDLER_COST, told);
        }
        match wanted.ask {
            Ask::Share(share) => conditions.set(key::RATE_SHARE, share),
            Ask::Slo { quantile, limit } => {
                conditions.set(key::SLO, crate::bench::slo(quantile, limit));
            }
            _ => {}
        }
        match &self.client.remote {
            Some(remote) => {
                conditions.set(key::AGENT, remote.agent.to_string());
                if let Some(interface) = &remote.interface {
                    conditions.set(key::INTERFACE, interface.clone());
                }
            }
            None if spec.target.ip().is_loopback() => conditions.set(key::INTERFACE, "lo".to_owned()),
            None => {}
        }
        conditions
    }

    /// For the lab.
    pub fn planned<M>(
        self,
        worker: &'static str,
        options: &Options<M>,
        mut notes: Vec<(&'static str, String)>,
    ) -> Planned {
        let connections: u32 = self.cells.iter().map(|cell| cell.spec.connections).sum();
        notes.insert(0, ("client", format!("{} threads on CPU {}", self.threads(), self.split.client)));
        let server = match &self.client.remote {
            Some(remote) => {
                format!("by the agent at {}, on {}", remote.agent, plain_to(&remote.machine, 200))
            }
            None => format!("on CPU {}", self.split.server),
        };
        notes.insert(1, ("server", server));
        notes.push((
            "rounds of",
            format!("{} servers with {connections} connections in all", self.cells.len()),
        ));
        let longest =
            self.tasks.iter().map(|task| (task.window + task.warm_up).as_secs_f64()).fold(0.0, f64::max);
        let remote = self.client.remote;
        let setup = Setup { machine: self.machine, cells: self.cells, tasks: self.tasks, remote };
        let suite = SuitePlan {
            suite: SUITE,
            worker,
            setup: serde_json::to_value(&setup).unwrap_or_default(),
            figures: self.figures,
            rules: options.rules,
            preparing: "servers and their connections".to_owned(),
            least_seconds: 0.0,
            prepare_deadline: GRACE + f64::from(connections) * 0.002,
            round_deadline: GRACE + 12.0 * longest,
        };
        Planned { suite, notes }
    }
}

/// The word of a carrier.
pub fn carrier(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Epoll => "epoll",
        Carrier::Uring => "io_uring",
    }
}

/// A name as a part of an id.
fn word(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
        .collect()
}
