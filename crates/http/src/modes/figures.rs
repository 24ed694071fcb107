//! Builds a plan: scenarios, their figures, and the worker's tasks. Pure.

use std::time::Duration;

use figure::evidence::http as key;
use figure::evidence::{ROLE, THREADS};
use figure::format::plain_to;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::mode::Planned;
use lab::session::SuitePlan;
use suites::loads;

use super::cpus::Split;
use super::options::{Client, Options, PlanError};
use crate::SUITE;
use crate::bench::setup::{LoadLevel, Scenario, Setup, Task};
use crate::client::LoadSpec;
use crate::driver::ServerSpec;
use crate::engine::{Carrier, Expect, Ramp};

/// Seconds added to every deadline.
const GRACE: f64 = 150.0;
/// The window of the null responder, which only measures the ceiling.
const CEILING: Duration = Duration::from_millis(350);
/// Length of the warm-up, as a share of the window.
const WARM_UP: f64 = 0.2;
/// The server's part in ids, for a server of the user.
const USER_SERVER: &str = "yours";
/// Seconds of window and warm-up per connection, in a closed loop: several round trips of all connections, so
/// that requests in flight at the ends are a small part (Little's law).
const CLOSED_CONNECTION_SECONDS: (f64, f64) = (60e-6, 20e-6);
/// The same for open loads, which have few requests in flight.
const OPEN_CONNECTION_SECONDS: (f64, f64) = (40e-6, 16e-6);

pub struct PlanBuilder {
    machine: Machine,
    pub split: Split,
    client: Client,
    scenarios: Vec<Scenario>,
    figures: Vec<Figure>,
    tasks: Vec<Task>,
}

pub struct FigureSpec<'a> {
    /// A word of `http.goal`.
    pub goal: &'static str,
    /// Part of the figure's name: "saturated".
    pub title: &'a str,
    /// Suffix of the id, if server, goal and connections do not make it unique.
    pub suffix: &'a str,
    pub level: LoadLevel,
    pub window: Duration,
    pub requests: Option<u64>,
    pub profile: bool,
}

impl PlanBuilder {
    pub fn new(machine: &Machine, client: &Client) -> Result<PlanBuilder, PlanError> {
        let split = super::cpus::split(machine, client)?;
        let (machine, client) = (machine.clone(), client.clone());
        let (scenarios, figures, tasks) = (Vec::new(), Vec::new(), Vec::new());
        Ok(PlanBuilder { machine, split, client, scenarios, figures, tasks })
    }

    pub fn is_here(&self) -> bool {
        self.client.remote.is_none()
    }

    /// Threads of the client: one per CPU. From 4 CPUs on half as many, so that a load with twice the threads
    /// can show whether they are the limit.
    pub fn threads(&self) -> u32 {
        let cpus = self.split.client.len() as u32;
        let usual = if cpus < 4 { cpus } else { cpus / 2 };
        self.client.threads.unwrap_or(usual).max(self.client.processes).max(1)
    }

    pub fn spec(&self, connections: u32) -> Result<LoadSpec, PlanError> {
        let threads = self.threads();
        if connections < threads {
            return Err(PlanError::Connections { connections, threads });
        }
        let spec = LoadSpec::get_root(([127, 0, 0, 1], 0).into(), connections);
        Ok(LoadSpec {
            host: String::new(),
            threads,
            cpus: Some(self.split.client.clone()),
            ramp: Ramp { rate: self.client.ramp, ..Ramp::default() },
            timeout: self.client.timeout,
            sources: self.client.sources.clone(),
            carrier: self.client.carrier,
            expect: Expect::default(),
            ..spec
        })
    }

    pub fn add_scenario(&mut self, server: ServerSpec, spec: LoadSpec, group: Option<String>) -> usize {
        let server_cpus = match server {
            ServerSpec::Running { .. } => None,
            // CPUs of another machine only as requested.
            _ => Some(self.split.server.clone()).filter(|cpus| !cpus.is_empty()),
        };
        let conforms = matches!(server, ServerSpec::Go { .. });
        let processes = self.client.processes;
        let may_refuse = false;
        self.scenarios.push(Scenario { server, server_cpus, conforms, spec, processes, group, may_refuse });
        self.scenarios.len() - 1
    }

    pub fn scenario_mut(&mut self, at: usize) -> &mut Scenario {
        &mut self.scenarios[at]
    }

    /// Adds the null responder under the same load, as the ceiling. It runs on the servers' machine, so that
    /// the ceiling includes the network.
    pub fn add_ceiling(&mut self, mut load: LoadSpec) {
        let threads = self.split.server.len().max(1).to_string();
        let cpus = self.split.server.to_string();
        let options = ["--threads", &threads, "--cpus", &cpus].map(str::to_owned).to_vec();
        // An agent sets threads and CPUs itself.
        let options = if self.is_here() { options } else { Vec::new() };
        // Its answers differ from those of the servers.
        (load.expect, load.host) = (Expect::default(), String::new());
        let scenario = self.add_scenario(ServerSpec::Null(options), load, None);
        let spec = FigureSpec {
            goal: loads::SATURATION,
            title: "saturated",
            suffix: "",
            level: LoadLevel::Closed,
            window: CEILING,
            requests: None,
            profile: false,
        };
        let figure = self.add_figure(scenario, &spec);
        figure.conditions.set(ROLE, "ceiling".to_owned());
    }

    pub fn add_figure(&mut self, at: usize, spec: &FigureSpec) -> &mut Figure {
        let scenario = &self.scenarios[at];
        let (name, connections) = (scenario.server.name(), scenario.spec.connections);
        // The id does not contain the address, so that `compare` pairs figures of different servers.
        let server = match scenario.server {
            ServerSpec::Command { .. } | ServerSpec::Running { .. } => USER_SERVER.to_owned(),
            _ => word(&name),
        };
        let id = format!("{SUITE}.{}.{server}.c{connections}{}", spec.goal, spec.suffix);
        let title = format!("{name}, {connections} connections, {}", spec.title);
        // A given rate is met or not; more is not better.
        let better = match spec.level {
            LoadLevel::Closed | LoadLevel::Slo { .. } => Better::Higher,
            _ => Better::Neither,
        };
        let mut figure = Figure::planned(id.clone(), SUITE, title, Unit::REQ_PER_S, better);
        figure.series = Some(format!("{SUITE}.{}", spec.goal));
        let coordinate = |value| Coordinate { value, unit: None };
        figure.at.insert("server".to_owned(), coordinate(CoordinateValue::Name(name)));
        let number = CoordinateValue::Number(f64::from(connections));
        figure.at.insert("connections".to_owned(), coordinate(number));
        figure.conditions = self.conditions(scenario, spec);
        let is_closed = spec.level == LoadLevel::Closed;
        let (window_seconds, warm_up_seconds) =
            if is_closed { CLOSED_CONNECTION_SECONDS } else { OPEN_CONNECTION_SECONDS };
        let for_all = |seconds: f64| Duration::from_secs_f64(seconds * f64::from(connections));
        let window = spec.window.max(for_all(window_seconds));
        // With a number of requests nothing else is sent, unless a warm-up is requested.
        let usual = match spec.requests {
            Some(_) => Duration::ZERO,
            None => window.mul_f64(WARM_UP).max(for_all(warm_up_seconds)),
        };
        let warm_up = self.client.warm_up.unwrap_or(usual);
        self.tasks.push(Task {
            id,
            scenario: at,
            level: spec.level,
            window,
            requests: spec.requests,
            warm_up,
            profile: spec.profile,
        });
        let index = self.figures.len();
        self.figures.push(figure);
        &mut self.figures[index]
    }

    pub fn withdraw(&mut self, reason: &str) {
        let at = self.scenarios.len() - 1;
        self.scenarios.pop();
        self.tasks.retain(|task| task.scenario != at);
        if let Some(figure) = self.figures.pop() {
            self.figures.push(figure.not_available(reason));
        }
    }

    fn conditions(&self, scenario: &Scenario, spec: &FigureSpec) -> Conditions {
        let numbers = |list: &CpuList| list.iter().map(f64::from).collect::<Vec<f64>>();
        let load = &scenario.spec;
        let pacing = match spec.level {
            LoadLevel::Closed => loads::CLOSED,
            LoadLevel::Rate { constant: true, .. } => loads::CONSTANT,
            _ => loads::POISSON,
        };
        let mut conditions = Conditions::default()
            .with(key::SUBJECT, scenario.server.name())
            .with(key::SUBJECT_FLAGS, scenario.server.flags())
            .with(key::WHAT, loads::RATE.to_owned())
            .with(key::GOAL, spec.goal.to_owned())
            .with(key::PACING, pacing.to_owned())
            .with(key::CONNECTIONS, f64::from(load.connections))
            .with(key::PROCESSES, f64::from(scenario.processes))
            .with(key::CARRIER, carrier(load.carrier).to_owned())
            .with(key::KEEPS_ALIVE, load.keeps_alive)
            .with(key::TIMEOUT, load.timeout.as_secs_f64())
            .with(key::BURST_OF_BACKLOG, f64::from(load.ramp.in_flight))
            .with(THREADS, f64::from(load.threads))
            .with(key::CLIENT_CPUS, load.cpus.as_ref().map(numbers).unwrap_or_default());
        // CPU numbers of another machine would be taken for local ones.
        let server_cpus = scenario.server_cpus.as_ref().filter(|_| self.is_here());
        conditions.set(key::SERVER_CPUS, server_cpus.map(numbers).unwrap_or_default());
        if let ServerSpec::Go { flags, .. } = &scenario.server {
            let is_cost = |flag: &&[String]| ["-cost", "-cost-rounds", "-sleep"].contains(&flag[0].as_str());
            let costs: Vec<String> = flags.windows(2).filter(is_cost).map(|pair| pair.join(" ")).collect();
            let cost = if costs.is_empty() { "none".to_owned() } else { costs.join(", ") };
            conditions.set(key::HANDLER_COST, cost);
        }
        match spec.level {
            LoadLevel::Share(share) => conditions.set(key::RATE_SHARE, share),
            LoadLevel::Slo { quantile, limit } => {
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
            None if load.target.ip().is_loopback() => conditions.set(key::INTERFACE, "lo".to_owned()),
            None => {}
        }
        conditions
    }

    pub fn build<M>(
        self,
        worker: &'static str,
        options: &Options<M>,
        mut notes: Vec<(&'static str, String)>,
    ) -> Planned<Setup> {
        let connections: u32 = self.scenarios.iter().map(|scenario| scenario.spec.connections).sum();
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
            format!("{} servers with {connections} connections in all", self.scenarios.len()),
        ));
        let longest =
            self.tasks.iter().map(|task| (task.window + task.warm_up).as_secs_f64()).fold(0.0, f64::max);
        let remote = self.client.remote;
        let setup = Setup { machine: self.machine, scenarios: self.scenarios, tasks: self.tasks, remote };
        let suite = SuitePlan {
            suite: SUITE,
            worker,
            setup,
            figures: self.figures,
            differences: Vec::new(),
            rules: options.rules,
            preparing: "servers and their connections".to_owned(),
            least_seconds: 0.0,
            prepare_deadline: GRACE + f64::from(connections) * 0.002,
            round_deadline: GRACE + 12.0 * longest,
        };
        Planned { suite, notes }
    }
}

pub fn carrier(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Epoll => "epoll",
        Carrier::Uring => "io_uring",
    }
}

fn word(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
        .collect()
}
