//! A client process: orders are lines of JSON on its standard input, answers on its standard output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use figure::Reading;
use figure::format::system_error;
use lab::failure::{Attempt, Failure};
use lab::proc;
use machine::Tree;
use serde::{Deserialize, Serialize};

use super::spec::LoadSpec;
use crate::engine::{Client, Error, Outcome, RampOutcome, Window};
use crate::watch::process;

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
    Failed(Failure),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectReport {
    pub ramp: RampOutcome,
    /// Growth of the process's RSS, in bytes.
    pub memory: Reading<f64>,
}

fn out_of_turn(answer: &Answer) -> Failure {
    let kind = match answer {
        Answer::Connected(_) => "connected",
        Answer::Done(_) => "done",
        Answer::Failed(failure) => return failure.clone(),
    };
    Failure::new("the client answers out of turn").answer(kind)
}

/// Runs in the client process: executes orders until its input ends.
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
        let answer = match serde_json::from_slice(line.as_bytes())? {
            Order::Connect(spec) => connect(&spec, &abort).map(|(connected, report)| {
                client = Some(connected);
                Answer::Connected(Box::new(report))
            }),
            Order::Window(window, start) => match &client {
                Some(client) => client.window(&window, start).map(|outcome| Answer::Done(Box::new(outcome))),
                None => Err(Error::Load("the client is not connected")),
            },
        };
        let mut output = std::io::stdout().lock();
        let answer = answer.unwrap_or_else(|error| Answer::Failed(error.into()));
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

fn connect(spec: &LoadSpec, abort: &Arc<AtomicBool>) -> Result<(Client, ConnectReport), Error> {
    let before = resident();
    let client = Client::connect(&spec.load()?, abort.clone())?;
    let memory = before.and(resident()).map(|(before, after)| after - before);
    let report = ConnectReport { ramp: client.ramp.clone(), memory };
    Ok((client, report))
}

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
    pub fn start(spec: &LoadSpec) -> Result<Generator, Failure> {
        let mut child = Command::new("/proc/self/exe")
            .args([lab::worker::MARKER, WORKER, &std::process::id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| system_error(&proc::explain_missing_proc(error)))
            .attempt("a process of the client could not be started")?;
        let orders = child.stdin.take();
        let (sender, answers) = channel();
        let output = child.stdout.take().ok_or_else(|| Failure::new("no pipe from the client"))?;
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut generator = Generator { child, orders, answers, report: ConnectReport::default() };
        generator.send(&Order::Connect(Box::new(spec.clone())))?;
        match generator.answer(spec.ramp.patience + spec.timeout)? {
            Answer::Connected(report) => generator.report = *report,
            other => return Err(out_of_turn(&other)),
        }
        Ok(generator)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a window at a moment of CLOCK_MONOTONIC, in nanoseconds.
    pub fn start_window(&mut self, window: &Window, start: u64) -> Result<(), Failure> {
        self.send(&Order::Window(*window, start))
    }

    pub fn finish_window(&mut self, within: Duration) -> Result<Outcome, Failure> {
        match self.answer(within)? {
            Answer::Done(outcome) => Ok(*outcome),
            other => Err(out_of_turn(&other)),
        }
    }

    fn send(&mut self, order: &Order) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(order).attempt("cannot write an order for the client")?;
        line.push(b'\n');
        let written = self.orders.as_mut().is_some_and(|pipe| pipe.write_all(&line).is_ok());
        if written { Ok(()) } else { Err(self.exit_reason()) }
    }

    fn exit_reason(&mut self) -> Failure {
        self.orders = None;
        match self.child.wait() {
            Ok(status) => Failure::new(format!("the client {}", lab::exit_status::describe(status))),
            Err(error) => Failure::new("the client is gone").answer(system_error(&error)),
        }
    }

    fn answer(&mut self, within: Duration) -> Result<Answer, Failure> {
        let line = self.answers.recv_timeout(within + GRACE).map_err(|error| match error {
            RecvTimeoutError::Timeout => Failure::new("the client did not answer in time"),
            RecvTimeoutError::Disconnected => self.exit_reason(),
        })?;
        match serde_json::from_slice(line.as_bytes()).attempt("the client sent what is no answer")? {
            Answer::Failed(failure) => Err(failure),
            answer => Ok(answer),
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
