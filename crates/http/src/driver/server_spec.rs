//! Which server to load, and the running one.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figure::format::{plain_to, system_error};
use figure::{CpuList, secrets};
use lab::failure::{Attempt, Failure};
use machine::Tree;
use serde::{Deserialize, Serialize};

use crate::servers::{self, Server, ServerConfig, StartReport};
use crate::watch::process_set::{self, ENDED, ProcessSet};

const LISTEN: Duration = Duration::from_secs(30);
/// Time limit for a daemon to listen, after its command has ended.
const DAEMON: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(10);
/// Time limit for a server to end after SIGTERM.
const END: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerSpec {
    Go {
        name: String,
        flags: Vec<String>,
        environment: Vec<(String, String)>,
    },
    Null(Vec<String>),
    Command {
        /// For `sh -c`.
        command: String,
        address: SocketAddr,
        /// The port with pprof or expvar, if it is a Go server.
        sidecar: Option<SocketAddr>,
    },
    Running {
        address: SocketAddr,
        pid: Option<u32>,
        sidecar: Option<SocketAddr>,
    },
}

/// Dropping it ends the server, if it was started here.
#[derive(Debug)]
pub struct RunningServer {
    pub address: SocketAddr,
    /// Its process, if known: the one that was started or given, else one that listens.
    pub pid: Option<u32>,
    /// Processes that listen at its address, in addition to those below `pid`.
    pub listening_pids: Vec<u32>,
    pub sidecar: Option<SocketAddr>,
    pub go_report: Option<StartReport>,
    go_server: Option<Box<Server>>,
    child: Option<Child>,
}

impl ServerSpec {
    pub fn start(&self, cpus: Option<&CpuList>) -> Result<RunningServer, Failure> {
        match self {
            ServerSpec::Go { name, flags, environment } => {
                let program = servers::program()?;
                let (name, flags, environment) = (name.clone(), flags.clone(), environment.clone());
                let config = ServerConfig { name, flags, environment, cpus: cpus.cloned() };
                let server = Server::start(&program, &config)?;
                let report = server.report.clone();
                let mut running = RunningServer::new(report.address, Some(report.pid), Some(report.sidecar));
                (running.go_report, running.go_server) = (Some(report), Some(Box::new(server)));
                Ok(running)
            }
            ServerSpec::Null(options) => {
                let mut command = Command::new("/proc/self/exe");
                // Like the Go servers it ends with its input, so it never outlives this process.
                command.args(["http", "null", "--until-eof"]).args(options);
                command.stdout(Stdio::piped()).stdin(Stdio::piped());
                let mut child = spawn(command, cpus)?;
                let line = child.stdout.take().map(servers::first_line);
                let mut running = RunningServer::new(([127, 0, 0, 1], 0).into(), Some(child.id()), None);
                running.child = Some(child);
                let line = line.and_then(|line| line.recv_timeout(LISTEN).ok()).unwrap_or_default();
                let address = line.strip_prefix("http://").map(|rest| rest.trim_end_matches('/').parse());
                let Some(Ok(address)) = address else {
                    let answer = format!("it printed '{}'", plain_to(&line, 100));
                    return Err(Failure::new("the null responder did not start").answer(answer));
                };
                running.address = address;
                Ok(running)
            }
            ServerSpec::Command { command, address, sidecar } => {
                if TcpStream::connect_timeout(address, AGAIN).is_ok() {
                    let reason = format!("something listens at {address} already");
                    return Err(Failure::new(reason).answer("it would be measured in place of --server"));
                }
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null());
                let mut child = spawn(shell, cpus)?;
                let listens = wait_for(&mut child, *address);
                let is_daemon = !matches!(child.try_wait(), Ok(None));
                let mut running = RunningServer::new(*address, Some(child.id()), *sidecar);
                running.child = Some(child);
                listens.attempt_on("", secrets::text(command))?;
                running.listening_pids = process_set::listening(&Tree::live(), None, *address);
                if is_daemon {
                    running.pid = running.listening_pids.first().copied();
                }
                Ok(running)
            }
            ServerSpec::Running { address, pid, sidecar } => {
                let mut running = RunningServer::new(*address, *pid, *sidecar);
                if pid.is_some() {
                    running.listening_pids = process_set::listening(&Tree::live(), *pid, *address);
                }
                Ok(running)
            }
        }
    }

    /// Whether it runs on this machine in an unknown process. Its CPU time cannot be separated from foreign load.
    pub fn is_local_without_pid(&self) -> bool {
        matches!(self, ServerSpec::Running { address, pid: None, .. } if address.ip().is_loopback())
    }

    pub fn running_pid(&self) -> Option<u32> {
        match self {
            ServerSpec::Running { pid, .. } => *pid,
            _ => None,
        }
    }

    pub fn name(&self) -> String {
        match self {
            ServerSpec::Go { name, .. } => name.clone(),
            ServerSpec::Null(_) => "null".to_owned(),
            ServerSpec::Command { address, .. } | ServerSpec::Running { address, .. } => address.to_string(),
        }
    }

    /// Flags as one text, without secrets.
    pub fn flags(&self) -> String {
        match self {
            ServerSpec::Go { flags, environment, .. } => {
                let set = environment.iter().map(|(name, value)| secrets::assignment(name, value));
                set.chain(flags.iter().cloned()).collect::<Vec<_>>().join(" ")
            }
            ServerSpec::Null(options) => options.join(" "),
            ServerSpec::Command { command, .. } => secrets::text(command),
            ServerSpec::Running { .. } => String::new(),
        }
    }
}

impl RunningServer {
    fn new(address: SocketAddr, pid: Option<u32>, sidecar: Option<SocketAddr>) -> RunningServer {
        let listening_pids = Vec::new();
        RunningServer { address, pid, listening_pids, sidecar, go_report: None, go_server: None, child: None }
    }

    pub fn how_it_ended(&mut self) -> Failure {
        let status = match (&mut self.child, &mut self.go_server) {
            (Some(child), _) => child.try_wait().ok().flatten(),
            (None, Some(server)) => server.status(),
            (None, None) => None,
        };
        match status {
            Some(status) => Failure::new(format!("the server {}", lab::exit_status::describe(status))),
            None => Failure::new(ENDED),
        }
    }

    /// `None` if no process is known.
    pub fn processes(&self) -> Option<ProcessSet> {
        let roots: Vec<u32> = self.pid.into_iter().chain(self.listening_pids.iter().copied()).collect();
        let group = self.child.as_ref().map(Child::id);
        (!roots.is_empty()).then(|| ProcessSet::new(Tree::live(), &roots, group))
    }
}

/// Starts a child on these CPUs, in its own process group: all its descendants can be ended with it.
fn spawn(mut command: Command, cpus: Option<&CpuList>) -> Result<Child, Failure> {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    let spawned = lab::child::spawn(command, cpus).map_err(|error| system_error(&error.into()));
    spawned.attempt("the server could not be started")
}

/// Waits until it listens. A command may end before that, and leave a daemon.
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
                let end = lab::exit_status::describe(status);
                return Err(format!("it {end} before it listened at {address}"));
            }
        }
        if Instant::now() > deadline {
            return Err(format!("it does not listen at {address} after {} s", LISTEN.as_secs()));
        }
        std::thread::sleep(AGAIN);
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let group = rustix::process::Pid::from_child(child);
            // A child that has ended is only waited for. The guardian ends a daemon that left the group.
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
