//! A client's process: orders come as lines of JSON over its standard input, answers go over its standard output.

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

use super::spec::Spec;
use crate::engine::{Client, Outcome, RampOutcome, Window};
use crate::watch::process;

/// The name of the worker that this binary becomes for it.
pub const WORKER: &str = "http.client";
/// What an answer may take beyond the time that it is to take.
const GRACE: Duration = Duration::from_secs(20);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Connect(Box<Spec>),
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
            Answer::Failed(why) => why,
        }
    }
}

/// What a client has when it is connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectReport {
    /// How the connections were made.
    pub ramp: RampOutcome,
    /// Bytes that the process has more in memory than before.
    pub memory: Reading<f64>,
}

/// The body of a client's process: does what is ordered until its input ends.
///
/// # Errors
/// When the pipes break or a line is no order.
pub fn serve(parent: u32) -> std::io::Result<()> {
    lab::guardian::die_with(parent);
    lab::ended::outlive_file_limit()?;
    let abort = Arc::new(AtomicBool::new(false));
    let (orders, ordered) = channel();
    let ended = abort.clone();
    // A thread of its own reads, so that the end of the input also ends what goes on.
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

fn connect(spec: &Spec, abort: &Arc<AtomicBool>) -> Result<(Client, ConnectReport), String> {
    let before = resident();
    let client = Client::connect(&spec.load()?, abort.clone()).map_err(|error| error.to_string())?;
    let memory = before.and(resident()).map(|(before, after)| after - before);
    let report = ConnectReport { ramp: client.ramp.clone(), memory };
    Ok((client, report))
}

/// Bytes that this process has in memory.
fn resident() -> Reading<f64> {
    process::resident(&Tree::live(), std::process::id())
}

/// A client's process, from the outside. It ends with this value.
#[derive(Debug)]
pub struct Generator {
    child: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
    /// What came of connecting.
    pub report: ConnectReport,
}

impl Generator {
    /// Starts one and has it make its connections.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn start(spec: &Spec) -> Result<Generator, String> {
        let mut child = Command::new("/proc/self/exe")
            .args([lab::worker::MARKER, WORKER, &std::process::id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!(
                    "a process of the client could not be started: {}",
                    system_error(&proc::missing(error))
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

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it send requests from a moment on, in nanoseconds of CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// If it is gone.
    pub fn start_window(&mut self, window: &Window, start: u64) -> Result<(), String> {
        self.send(&Order::Window(*window, start))
    }

    /// What came of the window, which was to be over within this time.
    ///
    /// # Errors
    /// If it is gone, too slow, or failed.
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
        if written { Ok(()) } else { Err(self.gone()) }
    }

    /// Why a client whose pipe broke is gone.
    fn gone(&mut self) -> String {
        self.orders = None;
        match self.child.wait() {
            Ok(status) => format!("the client {}", lab::ended::words(status)),
            Err(error) => format!("the client is gone: {}", system_error(&error)),
        }
    }

    fn answer(&mut self, within: Duration) -> Result<Answer, String> {
        let line = match self.answers.recv_timeout(within + GRACE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err("the client did not answer in time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(self.gone());
            }
        };
        match serde_json::from_str(&line) {
            Ok(Answer::Failed(why)) => Err(why),
            Ok(answer) => Ok(answer),
            Err(error) => Err(format!("the client sent what is no answer: {error}")),
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // The end of its orders ends it; should it hang, it is killed.
        self.orders = None;
        if self.answers.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
