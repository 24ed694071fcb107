//! A client process: orders are lines of JSON on its standard input, answers on its standard output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use figure::Reading;
use figure::format::system_error;
use lab::proc;
use machine::Tree;
use serde::{Deserialize, Serialize};

use super::spec::LoadSpec;
use crate::engine::{Client, Outcome, RampOutcome, Window};
use crate::watch::process;

/// Name of this worker of the binary.
pub const WORKER: &str = "http.client";
/// Time limit of an answer beyond its own time.
const GRACE: Duration = Duration::from_secs(20);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Connect(Box<LoadSpec>),
    Window(Window, u64),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Connected(Box<ConnectReport>),
    Done(Box<Outcome>),
    Failed(String),
}

impl Answer {
    fn out_of_turn(self) -> String {
        match self {
            Answer::Connected(_) => "the client connected again".to_owned(),
            Answer::Done(_) => "the client ended a window that it was not asked for".to_owned(),
            Answer::Failed(reason) => reason,
        }
    }
}

/// Result of connecting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectReport {
    pub ramp: RampOutcome,
    /// Growth of the process's RSS, in bytes.
    pub memory: Reading<f64>,
}

/// Runs in the client process: executes orders until its input ends.
///
/// # Errors
/// A pipe broke, or a line is no order.
pub fn serve(parent: u32) -> std::io::Result<()> {
    lab::guardian::die_with(parent);
    lab::exit_status::survive_file_limit()?;
    let abort = Arc::new(AtomicBool::new(false));
    let (orders, ordered) = channel();
    let ended = abort.clone();
    // Reads in another thread: the end of the input also aborts a running window.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if orders.send(line).is_err() {
                break;
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
    let mut client = None;
    while let Ok(line) = ordered.recv() {
        let answer = match serde_json::from_str(&line)? {
            Order::Connect(spec) => connect(&spec, &abort).map(|(connected, report)| {
                client = Some(connected);
                Answer::Connected(Box::new(report))
            }),
            Order::Window(window, start) => match &client {
                Some(client) => client
                    .window(&window, start)
                    .map(|outcome| Answer::Done(Box::new(outcome)))
                    .map_err(|error| error.to_string()),
                None => Err("not connected".to_owned()),
            },
        };
        let mut output = std::io::stdout().lock();
        serde_json::to_writer(&mut output, &answer.unwrap_or_else(Answer::Failed))?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn connect(spec: &LoadSpec, abort: &Arc<AtomicBool>) -> Result<(Client, ConnectReport), String> {
    let before = resident();
    let client = Client::connect(&spec.load()?, abort.clone()).map_err(|error| error.to_string())?;
    let memory = before.and(resident()).map(|(before, after)| after - before);
    let report = ConnectReport { ramp: client.ramp.clone(), memory };
    Ok((client, report))
}

/// RSS of this process, in bytes.
fn resident() -> Reading<f64> {
    process::resident(&Tree::live(), std::process::id())
}

/// Handle of a client process. Dropping it ends the process.
#[derive(Debug)]
pub struct Generator {
    child: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
    pub report: ConnectReport,
}

impl Generator {
    /// Starts a client process and makes its connections.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn start(spec: &LoadSpec) -> Result<Generator, String> {
        let mut child = Command::new("/proc/self/exe")
            .args([lab::worker::MARKER, WORKER, &std::process::id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!(
                    "a process of the client could not be started: {}",
                    system_error(&proc::explain_missing_proc(error))
                )
            })?;
        let orders = child.stdin.take();
        let (sender, answers) = channel();
        let output = child.stdout.take().ok_or("no pipe from the client")?;
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut generator = Generator { child, orders, answers, report: ConnectReport::default() };
        generator.send(&Order::Connect(Box::new(spec.clone())))?;
        match generator.answer(spec.patience + spec.timeout)? {
            Answer::Connected(report) => generator.report = *report,
            other => return Err(other.out_of_turn()),
        }
        Ok(generator)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a window at a moment of CLOCK_MONOTONIC, in nanoseconds.
    ///
    /// # Errors
    /// The process is gone.
    pub fn start_window(&mut self, window: &Window, start: u64) -> Result<(), String> {
        self.send(&Order::Window(*window, start))
    }

    /// Waits for the result of a window of this length.
    ///
    /// # Errors
    /// The process is gone, too slow, or reports an error.
    pub fn finish_window(&mut self, within: Duration) -> Result<Outcome, String> {
        match self.answer(within)? {
            Answer::Done(outcome) => Ok(*outcome),
            other => Err(other.out_of_turn()),
        }
    }

    fn send(&mut self, order: &Order) -> Result<(), String> {
        let mut line = serde_json::to_vec(order).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let written = self.orders.as_mut().is_some_and(|pipe| pipe.write_all(&line).is_ok());
        if written { Ok(()) } else { Err(self.exit_reason()) }
    }

    /// Why a client with a broken pipe is gone.
    fn exit_reason(&mut self) -> String {
        self.orders = None;
        match self.child.wait() {
            Ok(status) => format!("the client {}", lab::exit_status::describe(status)),
            Err(error) => format!("the client is gone: {}", system_error(&error)),
        }
    }

    fn answer(&mut self, within: Duration) -> Result<Answer, String> {
        let line = match self.answers.recv_timeout(within + GRACE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err("the client did not answer in time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(self.exit_reason());
            }
        };
        match serde_json::from_str(&line) {
            Ok(Answer::Failed(reason)) => Err(reason),
            Ok(answer) => Ok(answer),
            Err(error) => Err(format!("the client sent what is no answer: {error}")),
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // The end of its input ends it; a hanging process is killed.
        self.orders = None;
        if self.answers.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
