//! A server on another machine, where an agent starts and watches it.

use std::cell::RefCell;
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::time::Duration;

use figure::evidence::http as key;
use figure::format::system_error;
use machine::Tree;

use super::local::Wanted;
use super::wire::{Answer, Hello, Host, MOST_OF_ANSWER, Order, PROTOCOL, Wire};
use super::{About, Seen, Side};

/// Until a connection to the agent is made.
const CONNECT: Duration = Duration::from_secs(5);
/// Until it answers an order: a server may take 20 s to start and to pass the conformance test, a profile 15 s more than it is long.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection to an agent. The servers that it started end with it.
#[derive(Clone, Debug)]
pub struct Session {
    wire: Rc<RefCell<Wire>>,
    agent: SocketAddr,
    /// What the agent said of its machine.
    pub host: Host,
    started: Rc<RefCell<usize>>,
}

impl Session {
    /// Connects to an agent.
    ///
    /// # Errors
    /// In words for the user: there is none, or it does not want us.
    pub fn open(agent: SocketAddr, token: &str) -> Result<Session, String> {
        let told = |why: &dyn std::fmt::Display| {
            format!(
                "the agent at {agent}: {why} (it is started there by: truebench http serve --bind {})",
                agent.ip()
            )
        };
        let stream = TcpStream::connect_timeout(&agent, CONNECT)
            .map_err(|error| told(&crate::engine::errors::of_connect(&error)))?;
        let mut wire = Wire::new(stream).map_err(|error| told(&system_error(&error)))?;
        wire.send(&Hello { protocol: PROTOCOL, token: token.to_owned() }).map_err(|error| told(&error))?;
        match wire.receive(PATIENCE, MOST_OF_ANSWER) {
            Ok(Answer::Welcome(host)) => {
                Ok(Session { wire: Rc::new(RefCell::new(wire)), agent, host, started: Rc::default() })
            }
            Ok(Answer::Refused(why)) => Err(format!("{agent}: {why}")),
            Ok(_) => Err(told(&"it answers out of turn")),
            Err(error) => Err(told(&error)),
        }
    }

    /// Whether the agent's machine is another one than this: two network namespaces of one machine run under one kernel.
    pub fn is_apart(&self) -> bool {
        let here = Tree::live().line("/proc/sys/kernel/random/boot_id").into_value().unwrap_or_default();
        here.is_empty() || here != self.host.boot
    }

    /// Has the agent start a server, and tells what is known of it.
    ///
    /// # Errors
    /// In words for the user.
    pub fn start(&self, wanted: &Wanted) -> Result<(Remote, About), String> {
        match self.ask(&Order::Start(Box::new(wanted.clone())))? {
            Answer::Started(mut about) => {
                about.facts.put(key::SERVER_MACHINE, self.host.machine.clone());
                about.facts.put(key::SERVER_APART, self.is_apart());
                let number = self.started.replace_with(|number| *number + 1);
                Ok((Remote { session: self.clone(), number, is_apart: self.is_apart() }, *about))
            }
            other => Err(self.out_of_turn(&other)),
        }
    }

    fn ask(&self, order: &Order) -> Result<Answer, String> {
        let mut wire = self.wire.borrow_mut();
        let lost = |error| format!("the agent at {} is lost: {error}", self.agent);
        wire.send(order).map_err(lost)?;
        match wire.receive(PATIENCE, MOST_OF_ANSWER).map_err(lost)? {
            Answer::Failed(why) => Err(why),
            answer => Ok(answer),
        }
    }

    fn done(&self, order: &Order) -> Result<(), String> {
        match self.ask(order)? {
            Answer::Done => Ok(()),
            other => Err(self.out_of_turn(&other)),
        }
    }

    fn out_of_turn(&self, answer: &Answer) -> String {
        let kind = answer.kind();
        format!(
            "the agent at {} answers out of turn ({kind}): run the same truebench on both machines",
            self.agent
        )
    }
}

/// One of the servers that an agent started.
#[derive(Debug)]
pub struct Remote {
    session: Session,
    number: usize,
    is_apart: bool,
}

impl Side for Remote {
    fn ready(&mut self) -> Result<(), String> {
        self.session.done(&Order::Ready(self.number))
    }

    fn begin(&mut self, length: Duration, profile: Option<u32>) -> Result<(), String> {
        self.session.done(&Order::Begin { server: self.number, length, profile })
    }

    fn end(&mut self) -> Result<(), String> {
        self.session.done(&Order::End(self.number))
    }

    fn seen(&mut self, answered: f64, share: f64) -> Result<Seen, String> {
        match self.session.ask(&Order::Seen { server: self.number, answered, share })? {
            // What it used of another machine's CPUs is nothing of ours.
            Answer::Seen(seen) if self.is_apart => Ok(Seen { cpu: 0.0, ..*seen }),
            Answer::Seen(seen) => Ok(*seen),
            other => Err(self.session.out_of_turn(&other)),
        }
    }
}
