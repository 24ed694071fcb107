//! A worker: this binary executed again, to measure for one suite.
//!
//! A crash, a hang or an OOM kill happens there and costs one figure. Requests and replies are lines of JSON
//! on its standard input and output. Every request has a deadline. A [`guardian`] in between cleans up.

use std::collections::VecDeque;
use std::io::{BufRead, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use figure::{Conditions, Event, Evidence, Figure, Round};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::failure::{Attempt, Failure};
use crate::interrupt::Interrupt;
use crate::{exit_status, guardian, proc, run_id};

/// First argument of a worker process; the second is the worker's name, the third its guardian's process id.
pub const MARKER: &str = "__worker";
/// Longest line that a worker may send. A round of 256 threads has about 100 KB.
const MAX_LINE_BYTES: usize = 64 << 20;

/// How long a worker that closed its pipe may take to exit.
const EXIT_TIME: Duration = Duration::from_secs(10);

/// A setup as it is sent: text, which is parsed only where its type is known.
pub type Json = Box<RawValue>;

/// The JSON of a setup.
///
/// # Errors
/// It cannot be serialised.
pub fn json(setup: &impl Serialize) -> serde_json::Result<Json> {
    RawValue::from_string(serde_json::to_string(setup)?)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Prepare; the JSON is the suite's setup.
    Prepare(Json),
    Round(String),
    /// Finish, for example verify results.
    Finish,
}

/// A reply of a worker. Events may precede the reply to a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Event(Event),
    Ready(WorkerReport),
    Round(Box<Round>),
    Finished(WorkerReport),
    /// The request failed; the worker goes on.
    Failed(Failure),
}

/// What a worker reports about its figures in addition to rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Of all figures of the suite, as `conditions`.
    pub evidence: Evidence,
    pub conditions: Conditions,
    /// Evidence of single figures, by id.
    pub figures: Vec<(String, Evidence)>,
    /// Figures that were not planned, because the worker discovered their subject while it measured.
    #[serde(default)]
    pub discovered: Vec<Figure>,
    /// Restart the worker after each cycle of rounds, because results depend on the address-space layout,
    /// which differs between processes. Only the last worker gets [`Request::Finish`].
    #[serde(default)]
    pub restart_each_cycle: bool,
    /// Measured processes that the run did not start. With their children, they are no other processes.
    #[serde(default)]
    pub processes: Vec<u32>,
}

pub trait Bench {
    /// A round with `kept` false has a reason and no value. It is repeated as often as a disturbed round; if
    /// none succeeds, the figure fails with its reason. An error fails this figure alone.
    fn round(&mut self, figure: &str) -> Result<Round, Failure>;

    /// A short note on the last round for the live view. Called once after each round.
    fn status_line(&mut self) -> Option<String> {
        None
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure>;
}

/// A bench, and what is known before its first round.
pub type Prepared = Result<(Box<dyn Bench>, WorkerReport), Failure>;

/// Prepares a suite from its setup, and reports progress.
pub type PrepareFn<S> = fn(S, &mut dyn FnMut(Event)) -> Prepared;

/// The body of a worker, whatever the type of its setup.
pub trait Body: Sync {
    fn prepare(&self, setup: &RawValue, event: &mut dyn FnMut(Event)) -> Prepared;
}

impl<S: DeserializeOwned> Body for PrepareFn<S> {
    fn prepare(&self, setup: &RawValue, event: &mut dyn FnMut(Event)) -> Prepared {
        // From bytes, here and elsewhere: each kind of reader compiles all types once more.
        self(
            serde_json::from_slice(setup.get().as_bytes()).attempt("the worker cannot read its setup")?,
            event,
        )
    }
}

/// Serves requests from standard input until it ends. `guardian` is the third argument.
pub fn serve(body: &dyn Body, guardian: u32) -> std::io::Result<()> {
    guardian::die_with(guardian);
    raise_descriptor_limit();
    exit_status::survive_file_limit()?;
    exit_status::record_baseline();
    // If memory runs out, the kernel shall kill the worker, not truebench or the user's programs (proc(5)).
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let mut input = std::io::stdin().lock().lines();
    let mut output = std::io::stdout().lock();
    let mut send = |reply: &Reply| -> std::io::Result<()> {
        let mut line = serde_json::to_vec(reply)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    };
    let mut bench: Option<Box<dyn Bench>> = None;
    while let Some(line) = input.next().transpose()? {
        let reply = match (serde_json::from_slice(line.as_bytes())?, &mut bench) {
            (Request::Prepare(setup), _) => {
                let mut event = |event| {
                    let _ = send(&Reply::Event(event));
                };
                match body.prepare(&setup, &mut event) {
                    Ok((ready, report)) => {
                        bench = Some(ready);
                        Reply::Ready(report)
                    }
                    Err(failure) => Reply::Failed(failure),
                }
            }
            (Request::Round(figure), Some(bench)) => {
                let round = bench.round(&figure);
                if let Some(text) = bench.status_line() {
                    send(&Reply::Event(Event::Observation { text }))?;
                }
                round.map_or_else(Reply::Failed, |round| Reply::Round(Box::new(round)))
            }
            (Request::Finish, Some(bench)) => bench.finish().map_or_else(Reply::Failed, Reply::Finished),
            (_, None) => Reply::Failed(Failure::new("the worker is not prepared")),
        };
        send(&reply)?;
    }
    Ok(())
}

/// Raises the soft limit of open files to the hard limit. Each pool thread keeps two files of counters open:
/// 512 exceed the usual soft limit of 1024, which protects select(2), which truebench does not use.
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit });
}

/// Why a request has no reply. After anything but `Refused` the worker is gone.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The worker goes on.
    #[error(transparent)]
    Refused(Failure),
    #[error("there is no worker")]
    NoWorker,
    #[error("the worker could not be started: {0}")]
    Start(std::io::Error),
    #[error("the request cannot be written: {0}")]
    Request(serde_json::Error),
    #[error("waiting for the worker: {0}")]
    Wait(Errno),
    #[error("the worker sent what is no answer: {0}")]
    Reply(serde_json::Error),
    #[error("the worker sent a line without end")]
    EndlessLine,
    #[error("the worker closed its pipe, and was ended")]
    ClosedPipe,
    /// How it ended, by [`exit_status::describe`].
    #[error("the worker {0}")]
    Ended(String),
    #[error("the worker's guardian {0}")]
    GuardianEnded(String),
    #[error("the worker's guardian cannot be waited for")]
    LostGuardian,
    /// Seconds. The worker was ended.
    #[error("no answer within {0:.0} s: stopped")]
    Deadline(f64),
    /// What the worker prepared, and the seconds that were left of the suite's time.
    #[error("{0} took more than the time there was ({time}): raise --max-time", time = figure::format::seconds(*.1))]
    NoTime(String, f64),
    #[error("interrupted")]
    Interrupted,
}

struct Wait<'a> {
    end: Instant,
    /// The whole time in seconds, for the message.
    seconds: f64,
    interrupt: &'a Interrupt,
}

impl Wait<'_> {
    /// Sleeps until the pipe is ready, the time is over, or the user interrupts.
    fn for_pipe(&self, pipe: &PollFd) -> Result<(), RequestError> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let signal = PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN);
            let mut sources = [pipe.clone(), signal];
            match poll(&mut sources, left.try_into().ok().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(RequestError::Wait(error)),
            }
            if self.interrupt.requested().is_some() {
                return Err(RequestError::Interrupted);
            }
            if !sources[0].revents().is_empty() {
                return Ok(());
            }
            if left.is_zero() {
                return Err(RequestError::Deadline(self.seconds));
            }
        }
    }
}

/// truebench's handle of a worker. Dropping it ends the worker and all its descendants.
#[derive(Debug)]
pub struct Worker {
    guardian: Child,
    /// The run id of the guardian and of all its descendants.
    run_id: String,
    requests: Option<ChildStdin>,
    replies: ChildStdout,
    /// The writing end; closing it makes the guardian end everything.
    lifeline: Option<OwnedFd>,
    received: VecDeque<u8>,
}

impl Worker {
    /// Starts the worker of this name below its own guardian.
    pub fn spawn(name: &str) -> std::io::Result<Worker> {
        exit_status::record_baseline();
        static WORKERS: AtomicUsize = AtomicUsize::new(0);
        let run_id = format!("{}.{}", *run_id::CURRENT, WORKERS.fetch_add(1, Ordering::Relaxed));
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        // The guardian inherits this end.
        rustix::io::fcntl_setfd(&read_end, rustix::io::FdFlags::empty())?;
        let mut guardian = Command::new("/proc/self/exe")
            .args([guardian::MARKER, &read_end.as_raw_fd().to_string(), MARKER, name])
            .env(run_id::VARIABLE, &run_id)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Its own process group: Ctrl-C goes to truebench alone, which then ends the worker in order.
            .process_group(0)
            .spawn()
            .map_err(proc::explain_missing_proc)?;
        let (Some(requests), Some(replies)) = (guardian.stdin.take(), guardian.stdout.take()) else {
            return Err(std::io::Error::other("no pipe to the worker"));
        };
        // So that a worker that does not read cannot block `send`.
        rustix::io::ioctl_fionbio(&requests, true)?;
        Ok(Worker {
            guardian,
            run_id,
            requests: Some(requests),
            replies,
            lifeline: Some(write_end),
            received: VecDeque::new(),
        })
    }

    /// Sends a request and sleeps until the reply. Events before it go to `event`.
    pub fn ask(
        &mut self,
        request: &Request,
        deadline: Duration,
        interrupt: &Interrupt,
        event: &mut dyn FnMut(Event),
    ) -> Result<Reply, RequestError> {
        let mut line = serde_json::to_vec(request).map_err(RequestError::Request)?;
        line.push(b'\n');
        let wait = Wait { end: Instant::now() + deadline, seconds: deadline.as_secs_f64(), interrupt };
        self.send(&line, &wait)?;
        loop {
            let line = self.line(&wait)?;
            match serde_json::from_slice(&line) {
                Ok(Reply::Event(progress)) => event(progress),
                Ok(Reply::Failed(reason)) => return Err(RequestError::Refused(reason)),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    self.end();
                    return Err(RequestError::Reply(error));
                }
            }
        }
    }

    fn send(&mut self, mut line: &[u8], wait: &Wait) -> Result<(), RequestError> {
        while !line.is_empty() {
            let Some(pipe) = &mut self.requests else { return Err(self.exit_error()) };
            match pipe.write(line) {
                Ok(length) => line = &line[length..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let ready = wait.for_pipe(&PollFd::new(pipe, PollFlags::OUT));
                    self.end_on_error(ready)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.exit_error()),
            }
        }
        Ok(())
    }

    /// The next whole line from the worker. Sent data is read before the deadline applies: if truebench
    /// itself was frozen past the deadline, no finished work is lost.
    fn line(&mut self, wait: &Wait) -> Result<Vec<u8>, RequestError> {
        loop {
            if let Some(newline) = self.received.iter().position(|&byte| byte == b'\n') {
                return Ok(self.received.drain(..=newline).collect());
            }
            if self.received.len() > MAX_LINE_BYTES {
                self.end();
                return Err(RequestError::EndlessLine);
            }
            let ready = wait.for_pipe(&PollFd::new(&self.replies, PollFlags::IN));
            self.end_on_error(ready)?;
            let mut buffer = [0; 1 << 16];
            match self.replies.read(&mut buffer) {
                Ok(0) | Err(_) => return Err(self.exit_error()),
                Ok(length) => self.received.extend(&buffer[..length]),
            }
        }
    }

    fn end_on_error(&mut self, ready: Result<(), RequestError>) -> Result<(), RequestError> {
        if ready.is_err() {
            self.end();
        }
        ready
    }

    /// Why the pipe of the worker broke.
    fn exit_error(&mut self) -> RequestError {
        self.requests = None;
        // The guardian exits with the worker's status. A worker that closed its pipe and still runs is ended.
        let start = Instant::now();
        let mut status = self.guardian.try_wait();
        while matches!(status, Ok(None)) && start.elapsed() < EXIT_TIME {
            std::thread::sleep(Duration::from_millis(5));
            status = self.guardian.try_wait();
        }
        if matches!(status, Ok(None)) {
            self.end();
            return RequestError::ClosedPipe;
        }
        // Ends what a guardian that was killed could not end.
        self.end();
        match status.ok().flatten() {
            Some(status) if status.code().is_some() => {
                RequestError::Ended(exit_status::describe(guardian::status(status)))
            }
            Some(status) => RequestError::GuardianEnded(exit_status::describe(status)),
            None => RequestError::LostGuardian,
        }
    }

    /// Ends the worker and all its descendants, and waits until they are gone.
    fn end(&mut self) {
        self.requests = None;
        self.lifeline = None;
        // A guardian that was killed has not killed its descendants.
        if self.guardian.wait().map_or(true, |status| status.code().is_none()) {
            run_id::kill(&self.run_id);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}
