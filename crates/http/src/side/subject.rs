//! Which server is loaded.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figure::format::{plain_to, system_error};
use figure::{CpuList, secrets};
use machine::Tree;
use serde::{Deserialize, Serialize};

use crate::servers::{self, Server, Setup, Started};
use crate::watch::process_set::{self, ENDED, ProcessSet};

/// How long a server of the user's may take until it listens.
const LISTEN: Duration = Duration::from_secs(30);
/// How long a daemon may take until it listens, after the command that started it has ended.
const DAEMON: Duration = Duration::from_secs(2);
/// Between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(10);
/// How long it may take to end once it was told to.
const END: Duration = Duration::from_secs(5);

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// One of the Go servers, with flags and variables of the Go runtime.
    Go {
        /// Its name in the list.
        name: String,
        /// Its flags.
        flags: Vec<String>,
        /// Variables and their values.
        environment: Vec<(String, String)>,
    },
    /// The null responder, with its options on the command line.
    Null(Vec<String>),
    /// A command of the user's, which serves at an address.
    Command {
        /// For `sh -c`.
        command: String,
        /// Where it will listen.
        address: SocketAddr,
        /// The port beside it, if it is a Go server with pprof or expvar.
        sidecar: Option<SocketAddr>,
    },
    /// One that runs already.
    Running {
        /// Where it listens.
        address: SocketAddr,
        /// Its process, if it is here.
        pid: Option<u32>,
        /// The port beside it.
        sidecar: Option<SocketAddr>,
    },
}

/// The subject that was started, which ends with this value.
#[derive(Debug)]
pub struct Subjects {
    /// Where it serves.
    pub address: SocketAddr,
    /// Its process, if it is known: the one that was started or given, else one that listens.
    pub pid: Option<u32>,
    /// Processes that belong to it besides those below `pid`: those that listen at its address.
    pub listening: Vec<u32>,
    /// The port beside it.
    pub sidecar: Option<SocketAddr>,
    /// What a Go server said of itself.
    pub started: Option<Started>,
    /// What ends with this value: a Go server, or a child and all that it started.
    server: Option<Box<Server>>,
    child: Option<Child>,
}

impl Subject {
    /// Starts it, or finds it.
    ///
    /// # Errors
    /// In words for the user.
    pub fn start(&self, cpus: Option<&CpuList>) -> Result<Subjects, String> {
        match self {
            Subject::Go { name, flags, environment } => {
                let program = servers::program().map_err(|error| error.to_string())?;
                let (name, flags, environment) = (name.clone(), flags.clone(), environment.clone());
                let setup = Setup { name, flags, environment, cpus: cpus.cloned() };
                let server = Server::start(&program, &setup).map_err(|error| error.to_string())?;
                let started = server.started.clone();
                Ok(Subjects {
                    address: started.address,
                    pid: Some(started.pid),
                    listening: Vec::new(),
                    sidecar: Some(started.sidecar),
                    started: Some(started),
                    server: Some(Box::new(server)),
                    child: None,
                })
            }
            Subject::Null(options) => {
                let mut command = Command::new("/proc/self/exe");
                // As the Go servers it ends with its input, and so never outlives this process.
                command.args(["http", "null", "--until-eof"]).args(options);
                command.stdout(Stdio::piped()).stdin(Stdio::piped());
                let mut child = spawn(command, cpus)?;
                let line = child.stdout.take().map(servers::first_line);
                let mut held = Subjects {
                    address: SocketAddr::from(([127, 0, 0, 1], 0)),
                    pid: Some(child.id()),
                    listening: Vec::new(),
                    sidecar: None,
                    started: None,
                    server: None,
                    child: Some(child),
                };
                let line = line.and_then(|line| line.recv_timeout(LISTEN).ok()).unwrap_or_default();
                let address = line.strip_prefix("http://").map(|rest| rest.trim_end_matches('/').parse());
                match address {
                    Some(Ok(address)) => held.address = address,
                    _ => {
                        return Err(format!(
                            "the null responder did not start: it printed '{}'",
                            plain_to(&line, 100)
                        ));
                    }
                }
                Ok(held)
            }
            Subject::Command { command, address, sidecar } => {
                if TcpStream::connect_timeout(address, AGAIN).is_ok() {
                    return Err(format!(
                        "something listens at {address} already: it would be measured in place of --server"
                    ));
                }
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null());
                let mut child = spawn(shell, cpus)?;
                let waited = wait_for(&mut child, *address);
                let is_daemon = !matches!(child.try_wait(), Ok(None));
                let mut held = Subjects {
                    address: *address,
                    pid: Some(child.id()),
                    listening: Vec::new(),
                    sidecar: *sidecar,
                    started: None,
                    server: None,
                    child: Some(child),
                };
                waited.map_err(|why| format!("{}: {why}", secrets::text(command)))?;
                held.listening = process_set::listening(&Tree::live(), None, *address);
                if is_daemon {
                    held.pid = held.listening.first().copied();
                }
                Ok(held)
            }
            Subject::Running { address, pid, sidecar } => Ok(Subjects {
                address: *address,
                pid: *pid,
                listening: match pid {
                    Some(pid) => process_set::listening(&Tree::live(), Some(*pid), *address),
                    None => Vec::new(),
                },
                sidecar: *sidecar,
                started: None,
                server: None,
                child: None,
            }),
        }
    }

    /// Whether it runs on this machine, as a process that is not known: what it does on our CPUs cannot be told from what others do there.
    pub fn is_a_stranger_here(&self) -> bool {
        matches!(self, Subject::Running { address, pid: None, .. } if address.ip().is_loopback())
    }

    /// The process of a server on this machine that runs already, if it is known.
    pub fn running(&self) -> Option<u32> {
        match self {
            Subject::Running { pid, .. } => *pid,
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Subject::Go { name, .. } => name.clone(),
            Subject::Null(_) => "null".to_owned(),
            Subject::Command { address, .. } | Subject::Running { address, .. } => address.to_string(),
        }
    }

    /// Its own flags, as one text, without secrets.
    pub fn flags(&self) -> String {
        match self {
            Subject::Go { flags, environment, .. } => {
                let set = environment.iter().map(|(name, value)| secrets::assignment(name, value));
                set.chain(flags.iter().cloned()).collect::<Vec<_>>().join(" ")
            }
            Subject::Null(options) => options.join(" "),
            Subject::Command { command, .. } => secrets::text(command),
            Subject::Running { .. } => String::new(),
        }
    }
}

impl Subjects {
    /// How the server ended that does not run any more, in words.
    pub fn how_it_ended(&mut self) -> String {
        let status = match (&mut self.child, &mut self.server) {
            (Some(child), _) => child.try_wait().ok().flatten(),
            (None, Some(server)) => server.status(),
            (None, None) => None,
        };
        match status {
            Some(status) => format!("the server {}", lab::ended::words(status)),
            None => ENDED.to_owned(),
        }
    }

    /// All its processes; `None` where none is known.
    pub fn processes(&self) -> Option<ProcessSet> {
        let roots: Vec<u32> = self.pid.into_iter().chain(self.listening.iter().copied()).collect();
        let group = self.child.as_ref().map(Child::id);
        (!roots.is_empty()).then(|| ProcessSet::new(Tree::live(), &roots, group))
    }
}

/// Starts a child on these CPUs. It is of a group of its own, so that it can be ended with all that it started.
fn spawn(mut command: Command, cpus: Option<&CpuList>) -> Result<Child, String> {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    lab::child::spawn(command, cpus)
        .map_err(|error| format!("the server could not be started: {}", system_error(&error.into())))
}

/// Waits until it listens. A command may end well before, and leave a daemon.
fn wait_for(child: &mut Child, address: SocketAddr) -> Result<(), String> {
    let mut deadline = Instant::now() + LISTEN;
    loop {
        let ended = child.try_wait().ok().flatten();
        if TcpStream::connect_timeout(&address, AGAIN).is_ok() {
            return Ok(());
        }
        if let Some(status) = ended {
            deadline = deadline.min(Instant::now() + DAEMON);
            if !status.success() || Instant::now() > deadline {
                return Err(format!("it {} before it listened at {address}", lab::ended::words(status)));
            }
        }
        if Instant::now() > deadline {
            return Err(format!("it does not listen at {address} after {} s", LISTEN.as_secs()));
        }
        std::thread::sleep(AGAIN);
    }
}

impl Drop for Subjects {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let group = rustix::process::Pid::from_child(child);
            // One that has ended already is only waited for; a daemon that left the group ends with the guardian.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
            let deadline = Instant::now() + END;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(2));
            }
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = child.wait();
        }
    }
}
