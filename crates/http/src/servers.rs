//! The servers under test: one Go program, `truebench-servers`, with several servers.
//!
//! Its sources are embedded. [`program`] builds it if Go is installed, or finds a prebuilt one.
//! [`Server::start`] starts a server, which ends with its standard input, so it never outlives this process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use figure::CpuList;
use figure::format::system_error;
use lab::child;
use lab::failure::Failure;
use lab::trust::Untrusted;
use serde::Deserialize;

pub use built::{program, program_or_build};

mod built;
#[cfg(test)]
mod tests;

/// Time limit for a server to listen. Usually a moment, longer on a busy machine.
const START: Duration = Duration::from_secs(20);
/// Time limit to end after its input, before it is killed.
const END: Duration = Duration::from_secs(5);
const MAX_STDERR: u64 = 4096;

const CACHE: &str = "set XDG_CACHE_HOME to a directory that only you can write";

#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    #[error(
        "the Go servers are not built, and {0}: get Go 1.26 or newer from https://go.dev/dl, or put a built \
         truebench-servers beside truebench or into TRUEBENCH_LIB"
    )]
    NoGo(String),
    #[error("the Go servers cannot be built: {0}")]
    Build(String),
    #[error("the HTTP servers cannot be built in the cache: {}: {}; {CACHE}", .0.display(), system_error(.1))]
    Cache(PathBuf, std::io::Error),
    #[error("the cache of the HTTP servers: {0}; {CACHE}")]
    Exposed(Untrusted),
    #[error("{0}")]
    Untrusted(Untrusted),
    #[error("the HTTP servers cannot be built: there is no home directory for their cache; {CACHE}")]
    Homeless,
    #[error("{} cannot be run: {}", .0.display(), system_error(.1))]
    Run(PathBuf, std::io::Error),
    #[error("the server {0} did not start: {1}")]
    Start(String, String),
}

impl From<ServersError> for Failure {
    fn from(error: ServersError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// An entry of `truebench-servers list`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct ServerEntry {
    pub server: String,
    pub about: String,
    pub modules: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Cost {
    pub burn_ns: u64,
    /// Calibrated rounds of arithmetic, to give to other servers so that all have the same cost.
    pub rounds: u64,
    pub sleep_ns: u64,
}

/// What a server prints when it listens.
#[derive(Clone, Debug, Deserialize)]
pub struct StartReport {
    pub server: String,
    pub address: SocketAddr,
    /// Sidecar: pprof, expvar, `POST /gc`.
    pub sidecar: SocketAddr,
    pub pid: u32,
    pub go: String,
    pub modules: BTreeMap<String, String>,
    pub build: BTreeMap<String, String>,
    pub gomaxprocs: u32,
    /// Percent; `u64::MAX`: no garbage collection.
    pub gogc: u64,
    pub cost: Cost,
    pub options: BTreeMap<String, String>,
    /// `built here`, or `prebuilt`.
    #[serde(skip)]
    pub origin: &'static str,
}

#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    pub name: String,
    /// For example `-pool`, `8`.
    pub flags: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// `None`: the caller's.
    pub cpus: Option<CpuList>,
}

#[derive(Debug)]
pub struct Server {
    pub report: StartReport,
    child: Child,
    input: Option<ChildStdin>,
    stderr: Receiver<String>,
}

impl Server {
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn start(program: &Path, config: &ServerConfig) -> Result<Self, ServersError> {
        let mut command = Command::new(program);
        command.arg(&config.name).args(&config.flags).envs(config.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child::spawn(command, config.cpus.as_ref())
            .map_err(|error| ServersError::Run(program.to_owned(), error.into()))?;
        let input = child.stdin.take();
        let lines = child.stdout.take().map(first_line);
        let (sender, stderr) = channel();
        if let Some(mut errors) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                // Reads the rest too, so that the server does not block.
                let _ = errors.by_ref().take(MAX_STDERR).read_to_end(&mut text);
                let _ = std::io::copy(&mut errors, &mut std::io::sink());
                let _ = sender.send(String::from_utf8_lossy(&text).trim().to_owned());
            });
        }
        let line = lines.and_then(|lines| lines.recv_timeout(START).ok());
        let report = line.as_ref().map(|line| serde_json::from_slice(line.as_bytes()));
        match report {
            Some(Ok(report)) => {
                let report = StartReport { origin: built::origin(program), ..report };
                Ok(Self { report, child, input, stderr })
            }
            failure => {
                // The server may have ended.
                let _ = child.kill();
                let _ = child.wait();
                let stderr = stderr.recv_timeout(END).unwrap_or_default();
                let reason = match failure {
                    Some(Err(error)) if line.as_deref() != Some("") => {
                        format!("its line cannot be read ({error}); {stderr}")
                    }
                    _ if stderr.is_empty() => format!("it printed nothing in {} s", START.as_secs()),
                    _ => stderr,
                };
                Err(ServersError::Start(config.name.clone(), reason))
            }
        }
    }

    pub fn stop(mut self) -> Result<(), Failure> {
        let is_early = self.status().is_some();
        let end = match (is_early, self.end()) {
            (true, _) => "ended by itself",
            (false, false) => "had to be killed",
            (false, true) => return Ok(()),
        };
        let stderr = self.stderr.recv_timeout(END).unwrap_or_default();
        Err(Failure::new(format!("the server {} {end}", self.report.server)).answer(stderr))
    }

    /// Ends the server; true if it ended on request.
    fn end(&mut self) -> bool {
        self.input = None;
        let deadline = Instant::now() + END;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Ok(Some(_)) => return true,
                Err(_) => break,
            }
        }
        // The server may have ended just now.
        let _ = self.child.kill();
        let _ = self.child.wait();
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

pub fn list(program: &Path) -> Result<Vec<ServerEntry>, ServersError> {
    let output = Command::new(program).arg("list").stdin(Stdio::null()).output();
    let output = output.map_err(|error| ServersError::Run(program.to_owned(), error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text
        .lines()
        .map(|line| serde_json::from_slice(line.as_bytes()))
        .collect::<Result<Vec<ServerEntry>, _>>()
    {
        Ok(entries) if output.status.success() && !entries.is_empty() => Ok(entries),
        _ => {
            Err(ServersError::Run(program.to_owned(), std::io::Error::other("it prints no list of servers")))
        }
    }
}

/// Receives the first line of a reader, or an empty one, and drains the rest.
pub(crate) fn first_line(reader: impl Read + Send + 'static) -> Receiver<String> {
    let (sending, line) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut first = String::new();
        // An empty line reports the end of the input.
        let _ = reader.read_line(&mut first);
        let _ = sending.send(first.trim().to_owned());
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    line
}
