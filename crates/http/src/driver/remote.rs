//! A server on another machine, driven by an agent there.

use std::cell::RefCell;
use std::fmt::Display;
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::time::Duration;

use figure::evidence::http as key;
use figure::format::system_error;
use lab::failure::{Attempt, Failure};
use machine::Tree;

use super::local::StartRequest;
use super::wire::{Answer, Hello, Host, MAX_ANSWER, Order, PROTOCOL, Wire};
use super::{ServerDriver, ServerInfo, WindowReport};
use crate::engine::errors::of_connect;

const CONNECT: Duration = Duration::from_secs(5);
/// Time limit of an answer: a server may take 20 s to start and pass the conformance test, a profile 15 s
/// beyond its own time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection to an agent. Its servers end with it.
#[derive(Clone, Debug)]
pub struct AgentClient {
    wire: Rc<RefCell<Wire>>,
    agent: SocketAddr,
    pub host: Host,
    server_count: Rc<RefCell<usize>>,
}

impl AgentClient {
    pub fn connect(agent: SocketAddr, token: &str) -> Result<AgentClient, Failure> {
        let failed = |answer: &dyn Display| {
            let advice = format!("start it there by: truebench http serve --bind {}", agent.ip());
            Failure::new("the agent at").on(agent).answer(answer).advice(advice)
        };
        let stream = TcpStream::connect_timeout(&agent, CONNECT);
        let stream = stream.map_err(|error| failed(&of_connect(&error)))?;
        let mut wire = Wire::new(stream).map_err(|error| failed(&system_error(&error)))?;
        let hello = Hello { protocol: PROTOCOL, token: token.to_owned() };
        let answer = wire.send(&hello).and_then(|()| wire.receive(PATIENCE, MAX_ANSWER));
        match answer.map_err(|error| failed(&error))? {
            Answer::Welcome(host) => {
                let wire = Rc::new(RefCell::new(wire));
                Ok(AgentClient { wire, agent, host, server_count: Rc::default() })
            }
            Answer::Refused(reason) => Err(Failure::new("").on(agent).answer(reason)),
            _ => Err(failed(&"it answers out of turn")),
        }
    }

    /// Whether the agent is on another machine: two network namespaces of one machine share a kernel.
    pub fn is_other_machine(&self) -> bool {
        let boot = Tree::live().line("/proc/sys/kernel/random/boot_id").into_value().unwrap_or_default();
        boot.is_empty() || boot != self.host.boot
    }

    pub fn start(&self, request: &StartRequest) -> Result<(RemoteServer, ServerInfo), Failure> {
        match self.ask(&Order::Start(Box::new(request.clone())))? {
            Answer::Started(mut info) => {
                info.facts.put(key::SERVER_MACHINE, self.host.machine.clone());
                let is_other_machine = self.is_other_machine();
                info.facts.put(key::SERVER_APART, is_other_machine);
                let number = self.server_count.replace_with(|number| *number + 1);
                Ok((RemoteServer { client: self.clone(), number, is_other_machine }, *info))
            }
            other => Err(self.out_of_turn(&other)),
        }
    }

    fn ask(&self, order: &Order) -> Result<Answer, Failure> {
        let mut wire = self.wire.borrow_mut();
        let answer = wire.send(order).and_then(|()| wire.receive(PATIENCE, MAX_ANSWER));
        match answer.attempt(format!("the agent at {} is lost", self.agent))? {
            Answer::Failed(failure) => Err(failure),
            answer => Ok(answer),
        }
    }

    fn run(&self, order: &Order) -> Result<(), Failure> {
        match self.ask(order)? {
            Answer::Done => Ok(()),
            other => Err(self.out_of_turn(&other)),
        }
    }

    fn out_of_turn(&self, answer: &Answer) -> Failure {
        let failure = Failure::new(format!("the agent at {} answers out of turn", self.agent));
        failure.answer(answer.kind()).advice("run the same truebench on both machines")
    }
}

#[derive(Debug)]
pub struct RemoteServer {
    client: AgentClient,
    number: usize,
    is_other_machine: bool,
}

impl ServerDriver for RemoteServer {
    fn prepare(&mut self) -> Result<(), Failure> {
        self.client.run(&Order::Prepare(self.number))
    }

    fn start_window(&mut self, length: Duration, profile: Option<u32>) -> Result<(), Failure> {
        self.client.run(&Order::StartWindow { server: self.number, length, profile })
    }

    fn finish_window(&mut self) -> Result<(), Failure> {
        self.client.run(&Order::FinishWindow(self.number))
    }

    fn collect(&mut self, answered: f64, share: f64) -> Result<WindowReport, Failure> {
        match self.client.ask(&Order::Collect { server: self.number, answered, share })? {
            // CPU time on another machine is not part of this machine's load.
            Answer::Report(report) if self.is_other_machine => Ok(WindowReport { cpu: 0.0, ..*report }),
            Answer::Report(report) => Ok(*report),
            other => Err(self.client.out_of_turn(&other)),
        }
    }
}
