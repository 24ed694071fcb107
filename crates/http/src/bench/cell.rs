//! A server with its connections: started, connected, and loaded window by window.

use std::net::SocketAddr;
use std::time::Duration;

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{Evidence, Reading};
use machine::Tree;
use machine::counters::grown;
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;

use super::setup;
use super::{overtime, probe};
use crate::client::facts;
use crate::client::process::{Connected, Generator};
use crate::engine::{self, Outcome, Pacing, Window, time};
use crate::side::local::{Local, Wanted};
use crate::side::remote::Session;
use crate::side::{About, Side, Subject};
use crate::watch::{listen, network, process, sample};

/// Until all clients have their order.
const AHEAD: u64 = 5_000_000;
/// The longest that a window without an end of its own may take.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// A server with its connections.
pub struct Cell {
    side: Box<dyn Side>,
    generators: Vec<Generator>,
    connections: u32,
    /// What is known of all its figures.
    pub facts: Evidence,
    /// What a request costs the server, to be given to others.
    pub cost_rounds: u64,
}

/// What a window gave.
pub struct Windowed {
    /// What became of the requests.
    pub outcome: Outcome,
    /// All facts of the round.
    pub facts: Evidence,
    /// What was looked at once a second.
    pub timeline: Timeline,
    /// CPU seconds that server and client used for it: before the window, in it, and until the last answer.
    pub cpu: f64,
}

impl Cell {
    /// Starts the server, here or where that agent is, asks it once, and makes the connections.
    ///
    /// # Errors
    /// In words for the user.
    pub fn start(setup: &setup::Cell, agent: Option<&Session>) -> Result<Cell, String> {
        let wanted = Wanted {
            subject: setup.subject.clone(),
            cpus: setup.server_cpus.clone(),
            conforms: setup.conforms,
            beside: Vec::new(),
        };
        match agent {
            Some(agent) => {
                let (remote, about) = agent.start(&wanted)?;
                Cell::connect(setup, Box::new(remote), about)
            }
            None => {
                let (local, mut about) = Local::start(&wanted)?;
                let is_ours = !matches!(setup.subject, Subject::Running { .. });
                let apart = if is_ours || about.address.ip().is_loopback() {
                    Reading::Value(false)
                } else {
                    Reading::unknown("whether the server is on this machine is not known")
                };
                about.facts.put_reading(key::SERVER_APART, apart);
                Cell::connect(setup, Box::new(local), about)
            }
        }
    }

    fn connect(setup: &setup::Cell, mut side: Box<dyn Side>, about: About) -> Result<Cell, String> {
        let About { address, mut facts, cost_rounds } = about;
        let mut spec = setup.spec.clone();
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
        let queue = Queue::at(address);
        // One process after the other: each ramp is bounded by what the server's backlog takes.
        let mut generators = Vec::new();
        for index in 0..setup.processes {
            generators.push(Generator::start(&spec.part(index, setup.processes))?);
        }
        let mut all = Connected { memory: Reading::Value(0.0), ..Connected::default() };
        for generator in &generators {
            all.ramp.merge(&generator.connected.ramp);
            all.memory = all.memory.and(generator.connected.memory.clone()).map(|(all, one)| all + one);
        }
        let missing = spec.connections - all.ramp.established;
        if missing > 0 && !setup.may_refuse {
            // A server that has ended says why.
            side.ready()?;
            let failures = all.ramp.failures(&spec.expect);
            return Err(format!(
                "{missing} of {} connections could not be made to {address}: {failures}",
                spec.connections
            ));
        }
        facts.merge(facts::of_connections(&all, spec.sources.len()));
        facts.merge(queue.since(address));
        let ports = network::Settings::read(&Tree::live()).port_count();
        facts.put_reading(key::PORTS, ports.map(|count| count as f64));
        let named = |(at, generator): (usize, &Generator)| {
            let name = if at == 0 { "client".to_owned() } else { format!("client.{}", at + 1) };
            (name, generator.pid())
        };
        side.watch_beside(generators.iter().enumerate().map(named).collect());
        Ok(Cell { side, generators, connections: spec.connections, facts, cost_rounds })
    }

    /// Sends requests for a window and sees what came of them.
    ///
    /// # Errors
    /// The server or a client is gone.
    pub fn window(&mut self, window: &Window, profile: Option<u32>) -> Result<Windowed, String> {
        self.side.ready()?;
        self.side.watch_from_server(window.pacing != Pacing::Closed);
        let before = self.client_cpu();
        let start = time::now() + AHEAD;
        let processes = self.generators.len() as u64;
        for (index, generator) in (0..).zip(&mut self.generators) {
            generator.begin(&window.part(index, processes), start)?;
        }
        let begins = start + window.warm_up.as_nanos() as u64;
        sleep_until(begins);
        self.side.begin(window.duration.unwrap_or(Duration::from_secs(2)), profile)?;
        let within =
            window.duration.map_or(LONGEST, |duration| window.warm_up + duration + Duration::from_secs(90));
        let timed = window.duration.filter(|_| window.requests.is_none());
        if let Some(duration) = timed {
            sleep_until(begins + duration.as_nanos() as u64);
            self.side.end()?;
        }
        let outcome = self.outcome(within)?;
        if timed.is_none() {
            // A number of requests ends the window, and nobody knows when before.
            self.side.end()?;
        }
        let seconds = outcome.stats.seconds().unwrap_or(0.0);
        let share = seconds / (seconds + window.warm_up.as_secs_f64()).max(f64::MIN_POSITIVE);
        let seen = self.side.seen(outcome.stats.counts.answered as f64, share)?;
        let mut facts = facts::of_window(&outcome, window, self.connections);
        facts.merge(seen.facts);
        let mut timeline = seen.timeline;
        overtime::add(&mut timeline, &outcome.stats.intervals, seconds);
        let cpu = seen.cpu + (self.client_cpu() - before).max(0.0);
        Ok(Windowed { outcome, facts, timeline, cpu })
    }

    /// CPU seconds that the clients have used since they started. 0 where they are not known.
    fn client_cpu(&self) -> f64 {
        let processes: Vec<u32> = self.generators.iter().map(Generator::pid).collect();
        process::cpu_of(&processes).into_value().unwrap_or(0.0)
    }

    fn outcome(&mut self, within: Duration) -> Result<Outcome, String> {
        let mut all: Option<Outcome> = None;
        for generator in &mut self.generators {
            let one = generator.end(within)?;
            match &mut all {
                Some(all) => all.merge(&one),
                None => all = Some(one),
            }
        }
        all.ok_or_else(|| "there is no client".to_owned())
    }
}

/// What the kernel of this machine tells of connections that wait to be accepted.
struct Queue {
    overflows: Reading<f64>,
}

impl Queue {
    fn at(address: SocketAddr) -> Queue {
        let overflows = match address.ip().is_loopback() {
            true => sample::value(&network::read(&Tree::live(), None), "tcp.ListenOverflows"),
            false => Reading::unknown("the server's listening queue is on another machine, or network"),
        };
        Queue { overflows }
    }

    /// What befell it while connections were made, and how long it may be.
    fn since(self, address: SocketAddr) -> Evidence {
        let mut facts = Evidence::default();
        let now = Queue::at(address);
        facts.put_reading(
            key::RAMP_OVERFLOWS,
            now.overflows
                .and(self.overflows)
                .and_then(|(now, then)| grown("listen queue overflows", then, now)),
        );
        let listening = listen::read(&Tree::live(), None, address);
        facts.put_reading(key::BACKLOG, sample::value(&listening, "sockets.listen.backlog"));
        facts
    }
}

/// Sleeps until a moment, in nanoseconds of CLOCK_MONOTONIC. A signal does not shorten it.
fn sleep_until(moment: u64) {
    let tv_nsec = (moment % 1_000_000_000) as i64;
    let moment = Timespec { tv_sec: (moment / 1_000_000_000) as i64, tv_nsec };
    while clock_nanosleep_absolute(ClockId::Monotonic, &moment) == Err(Errno::INTR) {}
}
