//! The servers under test: one Go program, `truebench-servers`, that runs any of them.
//!
//! Its sources are embedded. [`program`] finds it built, or builds it on first use where Go is; [`Server::start`] runs one of its
//! servers, which ends when its standard input does, and so never outlives this process.

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
use lab::trust::Untrusted;
use serde::Deserialize;

pub use built::{program, program_or_build};

mod built;
#[cfg(test)]
mod tests;

/// How long a server may take until it listens: a moment, and on a busy machine some more.
const START: Duration = Duration::from_secs(20);
/// How long it may take to end once its input did, before it is killed.
const END: Duration = Duration::from_secs(5);
/// Bytes that are kept of what a server says on standard error.
const MAX_STDERR: u64 = 4096;

/// What to do about a cache that cannot be used.
const CACHE: &str = "set XDG_CACHE_HOME to a directory that only you can write";

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    /// Go is not there, or too old.
    #[error(
        "the Go servers are not built, and {0}: get Go 1.26 or newer from https://go.dev/dl, or put a built \
         truebench-servers beside truebench or into TRUEBENCH_LIB"
    )]
    NoGo(String),
    /// Go did not build them.
    #[error("the Go servers cannot be built: {0}")]
    Build(String),
    /// A file or directory of the cache.
    #[error("the HTTP servers cannot be built in the cache: {}: {}; {CACHE}", .0.display(), system_error(.1))]
    Cache(PathBuf, std::io::Error),
    /// Another user can change the cache.
    #[error("the cache of the HTTP servers: {0}; {CACHE}")]
    Exposed(Untrusted),
    /// Another user can change the program beside truebench.
    #[error("{0}")]
    Untrusted(Untrusted),
    /// There is no place for a cache.
    #[error("the HTTP servers cannot be built: there is no home directory for their cache; {CACHE}")]
    Homeless,
    /// The program could not be run.
    #[error("{} cannot be run: {}", .0.display(), system_error(.1))]
    Run(PathBuf, std::io::Error),
    /// The server ended, or said nothing, before it listened.
    #[error("the server {0} did not start: {1}")]
    Start(String, String),
}

/// A server that `truebench-servers list` shows.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct ServerEntry {
    /// Its name.
    pub server: String,
    /// What is particular about it.
    pub about: String,
    /// Versions of the modules that it is made of.
    pub modules: BTreeMap<String, String>,
}

/// What a request costs a server besides HTTP.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Cost {
    /// CPU time that was asked for, in nanoseconds.
    pub burn_ns: u64,
    /// The rounds of arithmetic that this came to: to be given to other servers, so that all pay the same.
    pub rounds: u64,
    /// How long a request waits, in nanoseconds.
    pub sleep_ns: u64,
}

/// What a server said of itself when it began to listen.
#[derive(Clone, Debug, Deserialize)]
pub struct StartReport {
    /// Its name.
    pub server: String,
    /// Where it serves.
    pub address: SocketAddr,
    /// Where it is watched: pprof, expvar, `POST /gc`.
    pub sidecar: SocketAddr,
    /// Its process.
    pub pid: u32,
    /// The Go that built it.
    pub go: String,
    /// Versions of the modules that it is made of.
    pub modules: BTreeMap<String, String>,
    /// Settings of the build, such as GOAMD64.
    pub build: BTreeMap<String, String>,
    /// Threads that run Go at the same time.
    pub gomaxprocs: u32,
    /// Growth of the heap before it is collected, in percent; `u64::MAX`: never collected.
    pub gogc: u64,
    /// Soft limit of memory, in bytes.
    pub gomemlimit: u64,
    /// What a request costs.
    pub cost: Cost,
    /// All of its flags.
    pub options: BTreeMap<String, String>,
}

/// How a server is run.
#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    /// Its name in the list.
    pub name: String,
    /// Its flags, such as `-pool`, `8`.
    pub flags: Vec<String>,
    /// Variables of the Go runtime and their values, such as GOGC.
    pub environment: Vec<(String, String)>,
    /// The CPUs that it may use; `None`: those that the caller may.
    pub cpus: Option<CpuList>,
}

/// A server that runs. It ends with this value.
#[derive(Debug)]
pub struct Server {
    /// What it said of itself.
    pub report: StartReport,
    child: Child,
    input: Option<ChildStdin>,
    stderr: Receiver<String>,
}

impl Server {
    /// How it ended, if it has.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    /// The program cannot be run; the server ended first, or says nothing: with its own words.
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
                // What cannot be read was not said. What is not kept is read too, so that the server is not held up.
                let _ = errors.by_ref().take(MAX_STDERR).read_to_end(&mut text);
                let _ = std::io::copy(&mut errors, &mut std::io::sink());
                let _ = sender.send(String::from_utf8_lossy(&text).trim().to_owned());
            });
        }
        let line = lines.and_then(|lines| lines.recv_timeout(START).ok());
        let report = line.as_deref().map(serde_json::from_str);
        match report {
            Some(Ok(report)) => Ok(Self { report, child, input, stderr }),
            wrong => {
                // It may have ended already.
                let _ = child.kill();
                let _ = child.wait();
                let stderr = stderr.recv_timeout(END).unwrap_or_default();
                let why = match wrong {
                    Some(Err(error)) if line.as_deref() != Some("") => {
                        format!("its line cannot be read ({error}); {stderr}")
                    }
                    _ if stderr.is_empty() => format!("it printed nothing in {} s", START.as_secs()),
                    _ => stderr,
                };
                Err(ServersError::Start(config.name.clone(), why))
            }
        }
    }

    /// Ends the server.
    ///
    /// # Errors
    /// What it said, if it had ended by itself or had to be killed.
    pub fn stop(mut self) -> Result<(), String> {
        let early = self.status().is_some();
        let ended = self.end();
        let stderr = self.stderr.recv_timeout(END).unwrap_or_default();
        match (early, ended) {
            (true, _) => Err(format!("the server {} ended by itself: {stderr}", self.report.server)),
            (false, false) => Err(format!("the server {} had to be killed: {stderr}", self.report.server)),
            (false, true) => Ok(()),
        }
    }

    /// Whether it ended when it was asked to.
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
        // It may have ended just now.
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

/// The servers that a program has.
///
/// # Errors
/// It cannot be run, or does not print a list.
pub fn list(program: &Path) -> Result<Vec<ServerEntry>, ServersError> {
    let output = Command::new(program)
        .arg("list")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ServersError::Run(program.to_owned(), error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<ServerEntry>, _>>()
        .ok()
        .filter(|listed| output.status.success() && !listed.is_empty())
        .ok_or_else(|| {
            ServersError::Run(program.to_owned(), std::io::Error::other("it prints no list of servers"))
        })
}

/// Takes a reader's first line, empty if there is none, and keeps the reader open.
pub(crate) fn first_line(reader: impl Read + Send + 'static) -> Receiver<String> {
    let (sending, line) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut first = String::new();
        // No line is an answer too.
        let _ = reader.read_line(&mut first);
        let _ = sending.send(first.trim().to_owned());
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    line
}
