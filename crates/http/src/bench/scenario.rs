//! A server with its connections: started, connected, and loaded window by window.

use std::net::SocketAddr;
use std::time::Duration;

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{Evidence, Reading};
use lab::failure::Failure;
use machine::Tree;
use machine::counters::grown;
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;

use super::setup::Scenario;
use super::{overtime, probe};
use crate::client::facts;
use crate::client::process::{ConnectReport, Generator};
use crate::driver::local::{LocalServer, StartRequest};
use crate::driver::remote::AgentClient;
use crate::driver::{ServerDriver, ServerInfo, ServerSpec};
use crate::engine::{self, Outcome, Pacing, Window, time};
use crate::watch::{listen, network, process, sample};

/// Nanoseconds until the first request: by then all clients have the order.
const AHEAD: u64 = 5_000_000;
/// Time limit of a window that a number of requests ends.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

pub struct RunningScenario {
    driver: Box<dyn ServerDriver>,
    generators: Vec<Generator>,
    connections: u32,
    pub facts: Evidence,
    pub cost_rounds: u64,
}

pub struct WindowResult {
    pub outcome: Outcome,
    pub facts: Evidence,
    pub timeline: Timeline,
    /// CPU seconds of server and client, from before the window to the last answer.
    pub cpu: f64,
}

impl RunningScenario {
    /// Starts the server, here or by an agent, sends it one request, and makes the connections.
    pub fn start(scenario: &Scenario, agent: Option<&AgentClient>) -> Result<RunningScenario, Failure> {
        let request = StartRequest {
            server: scenario.server.clone(),
            cpus: scenario.server_cpus.clone(),
            conforms: scenario.conforms,
            other_processes: Vec::new(),
        };
        match agent {
            Some(agent) => {
                let (remote, info) = agent.start(&request)?;
                RunningScenario::connect(scenario, Box::new(remote), info)
            }
            None => {
                let (local, mut info) = LocalServer::start(&request)?;
                let is_started_here = !matches!(scenario.server, ServerSpec::Running { .. });
                let is_apart = if is_started_here || info.address.ip().is_loopback() {
                    Reading::Value(false)
                } else {
                    Reading::unknown("whether the server is on this machine is not known")
                };
                info.facts.put_reading(key::SERVER_APART, is_apart);
                RunningScenario::connect(scenario, Box::new(local), info)
            }
        }
    }

    fn connect(
        scenario: &Scenario,
        mut driver: Box<dyn ServerDriver>,
        info: ServerInfo,
    ) -> Result<RunningScenario, Failure> {
        let ServerInfo { address, mut facts, cost_rounds } = info;
        let mut spec = scenario.spec.clone();
        spec.target = address;
        if spec.sources.is_empty() {
            spec.sources = engine::sources(address, spec.connections);
        }
        if spec.host.is_empty() {
            spec.host = address.to_string();
        }
        let answer = probe::ask(&spec)?;
        facts.put(key::ANSWER, answer.text);
        facts.put(key::ANSWER_BYTES, answer.bytes as f64);
        let overflows_before = overflows(address);
        // One process after the other: each ramp fills the server's backlog.
        let mut generators = Vec::new();
        for index in 0..scenario.processes {
            generators.push(Generator::start(&spec.part(index, scenario.processes))?);
        }
        let mut total = ConnectReport { memory: Reading::Value(0.0), ..ConnectReport::default() };
        for generator in &generators {
            total.ramp.merge(&generator.report.ramp);
            total.memory = total.memory.and(generator.report.memory.clone()).map(|(sum, part)| sum + part);
        }
        let missing = spec.connections - total.ramp.established;
        if missing > 0 && !scenario.may_refuse {
            // Fails with the reason if the server has ended.
            driver.prepare()?;
            let failures = total.ramp.failures(&spec.expect);
            let attempt = format!("{missing} of {} connections could not be made to", spec.connections);
            return Err(Failure::new(attempt).on(address).answer(failures));
        }
        facts.merge(facts::connection_facts(&total, spec.sources.len()));
        let overflowed = overflows(address)
            .and(overflows_before)
            .and_then(|(now, before)| grown("listen queue overflows", before, now));
        facts.put_reading(key::RAMP_OVERFLOWS, overflowed);
        let listening = listen::read(&Tree::live(), None, address);
        facts.put_reading(key::BACKLOG, sample::value(&listening, "sockets.listen.backlog"));
        let ports = network::Settings::read(&Tree::live()).port_count();
        facts.put_reading(key::PORTS, ports.map(|count| count as f64));
        let name_and_pid = |(at, generator): (usize, &Generator)| {
            let name = if at == 0 { "client".to_owned() } else { format!("client.{}", at + 1) };
            (name, generator.pid())
        };
        driver.watch_processes(generators.iter().enumerate().map(name_and_pid).collect());
        Ok(RunningScenario { driver, generators, connections: spec.connections, facts, cost_rounds })
    }

    pub fn window(&mut self, window: &Window, profile: Option<u32>) -> Result<WindowResult, Failure> {
        self.driver.prepare()?;
        self.driver.watch_from_server_cpus(window.pacing != Pacing::Closed);
        let before = self.client_cpu();
        let start = time::now() + AHEAD;
        let processes = self.generators.len() as u64;
        for (index, generator) in (0..).zip(&mut self.generators) {
            generator.start_window(&window.part(index, processes), start)?;
        }
        let begins = start + window.warm_up.as_nanos() as u64;
        sleep_until(begins);
        self.driver.start_window(window.duration.unwrap_or(Duration::from_secs(2)), profile)?;
        let within =
            window.duration.map_or(LONGEST, |duration| window.warm_up + duration + Duration::from_secs(90));
        let timed = window.duration.filter(|_| window.requests.is_none());
        if let Some(duration) = timed {
            sleep_until(begins + duration.as_nanos() as u64);
            self.driver.finish_window()?;
        }
        let outcome = self.outcome(within)?;
        if timed.is_none() {
            // A number of requests ends the window at an unknown moment.
            self.driver.finish_window()?;
        }
        let seconds = outcome.stats.seconds().unwrap_or(0.0);
        let share = seconds / (seconds + window.warm_up.as_secs_f64()).max(f64::MIN_POSITIVE);
        let report = self.driver.collect(outcome.stats.counts.answered as f64, share)?;
        let mut facts = facts::window_facts(&outcome, window, self.connections);
        facts.merge(report.facts);
        let mut timeline = report.timeline;
        overtime::add(&mut timeline, &outcome.stats.intervals, seconds);
        let cpu = report.cpu + (self.client_cpu() - before).max(0.0);
        Ok(WindowResult { outcome, facts, timeline, cpu })
    }

    /// CPU seconds of the clients since their start; 0 if unknown.
    fn client_cpu(&self) -> f64 {
        let processes: Vec<u32> = self.generators.iter().map(Generator::pid).collect();
        process::cpu_of(&processes).into_value().unwrap_or(0.0)
    }

    fn outcome(&mut self, within: Duration) -> Result<Outcome, Failure> {
        let mut total = Outcome::default();
        for generator in &mut self.generators {
            total.merge(&generator.finish_window(within)?);
        }
        Ok(total)
    }
}

/// Overflows of the server's listen queue so far.
fn overflows(address: SocketAddr) -> Reading<f64> {
    match address.ip().is_loopback() {
        true => sample::value(&network::read(&Tree::live(), None), "tcp.ListenOverflows"),
        false => Reading::unknown("the server's listening queue is on another machine, or network"),
    }
}

/// Sleeps until a moment of CLOCK_MONOTONIC, in nanoseconds. A signal does not end it early.
fn sleep_until(moment: u64) {
    let tv_nsec = (moment % 1_000_000_000) as i64;
    let moment = Timespec { tv_sec: (moment / 1_000_000_000) as i64, tv_nsec };
    while clock_nanosleep_absolute(ClockId::Monotonic, &moment) == Err(Errno::INTR) {}
}
