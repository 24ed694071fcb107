//! A worker: this binary, executed again, that measures for one suite.
//!
//! What can crash, hang or be killed for want of memory does so there. Requests and replies are lines of JSON
//! over the worker's standard input and output; every request has a deadline. A [`guardian`](crate::guardian)
//! stands between and cleans up.

use std::collections::VecDeque;
use std::io::{BufRead, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use figure::{Conditions, Event, Evidence, Figure, Round};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};

use crate::interrupt::Interrupt;
use crate::{ended, guardian, mark, proc};

/// First argument of a worker process; the second is the worker's name, the third its guardian's process id.
pub const MARKER: &str = "__worker";
/// Longest line that a worker may send: a round of 256 threads has some 100 KB.
const MOST_BYTES: usize = 64 << 20;

/// How long a worker that closed its pipe may take to be gone.
const LEAVE: Duration = Duration::from_secs(10);

/// What truebench asks of a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Get ready; the value is the suite's own plan.
    Prepare(serde_json::Value),
    /// Measure one round of this figure.
    Round(String),
    /// Do what is left to do, such as verifying results.
    Finish,
}

/// What a worker answers. Events may come before the answer proper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// For whoever watches.
    Event(Event),
    /// Ready.
    Ready(Facts),
    /// A round.
    Round(Box<Round>),
    /// Finished: facts for all figures and for single ones.
    Finished(Facts),
    /// The request could not be met; the worker goes on.
    Failed(String),
}

/// Facts that a worker found out about figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// True of every figure of the suite.
    pub evidence: Evidence,
    /// Conditions obtained, of every figure of the suite.
    pub conditions: Conditions,
    /// Of single figures, by id.
    pub figures: Vec<(String, Evidence)>,
    /// Figures that nobody could plan: what there is to find shows only in the end.
    #[serde(default)]
    pub found: Vec<Figure>,
    /// Of a worker that is ready: each turn of rounds is to have a process of its own, as what is measured depends on where things lie in
    /// its address space, which is elsewhere in each. Only the last of them is asked to finish.
    #[serde(default)]
    pub anew: bool,
    /// Processes that are measured, though the run did not start them: they and their children are no other processes.
    #[serde(default)]
    pub processes: Vec<u32>,
}

/// A suite's side of the pipe.
pub trait Bench {
    /// Measures one round of the figure. One that is not kept, and says why, showed something and has no value: it is repeated as often as a
    /// disturbed one may be, and then its reason is the figure's.
    ///
    /// # Errors
    /// Why it could not; other figures may still work.
    fn round(&mut self, figure: &str) -> Result<Round, String>;

    /// What the last round showed besides its value, in a few words for who watches: asked once after each round.
    fn seen(&mut self) -> Option<String> {
        None
    }

    /// What is left to do when all rounds are measured.
    ///
    /// # Errors
    /// Why it could not.
    fn finish(&mut self) -> Result<Facts, String>;
}

/// Gets a suite ready from its plan: returns the bench and what was found on the way. Events go through the
/// function given.
pub type Prepare = fn(serde_json::Value, &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, Facts), String>;

/// The body of a worker process: serves requests from standard input until it ends. `guardian` is the third argument.
///
/// # Errors
/// When the pipes break or a line is no request.
pub fn serve(prepare: Prepare, guardian: u32) -> std::io::Result<()> {
    guardian::die_with(guardian);
    raise_descriptor_limit();
    ended::outlive_file_limit()?;
    ended::watch();
    // Should memory run out, the worker is to be killed, and not truebench or the user's programs (proc(5)).
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let mut input = std::io::stdin().lock().lines();
    let mut output = std::io::stdout().lock();
    let mut send = |reply: &Reply| -> std::io::Result<()> {
        serde_json::to_writer(&mut output, reply)?;
        output.write_all(b"\n")?;
        output.flush()
    };
    let mut bench: Option<Box<dyn Bench>> = None;
    while let Some(line) = input.next().transpose()? {
        let reply = match (serde_json::from_str(&line)?, &mut bench) {
            (Request::Prepare(plan), _) => {
                let mut event = |event| {
                    let _ = send(&Reply::Event(event));
                };
                match prepare(plan, &mut event) {
                    Ok((ready, facts)) => {
                        bench = Some(ready);
                        Reply::Ready(facts)
                    }
                    Err(reason) => Reply::Failed(reason),
                }
            }
            (Request::Round(figure), Some(bench)) => {
                let round = bench.round(&figure);
                if let Some(text) = bench.seen() {
                    send(&Reply::Event(Event::Seen { text }))?;
                }
                round.map_or_else(Reply::Failed, |round| Reply::Round(Box::new(round)))
            }
            (Request::Finish, Some(bench)) => bench.finish().map_or_else(Reply::Failed, Reply::Finished),
            (_, None) => Reply::Failed("not prepared".to_owned()),
        };
        send(&reply)?;
    }
    Ok(())
}

/// Every pool thread keeps two files of its own counters open, so 512 threads exceed the usual soft limit of 1024.
/// The soft limit is for select(2), which nobody here uses; a process may raise it to the hard one.
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit });
}

/// Why a request got no good answer.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The worker said no, and goes on.
    #[error("{0}")]
    Refused(String),
    /// The worker is gone.
    #[error("{0}")]
    Died(String),
    /// The worker was too slow and is gone now.
    #[error("no answer within {0:.0} s: stopped")]
    Deadline(f64),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

/// How long truebench waits.
struct Limit<'a> {
    end: Instant,
    /// The whole wait in seconds, for the message.
    seconds: f64,
    interrupt: &'a Interrupt,
}

impl Limit<'_> {
    /// Sleeps until the pipe is ready, the time is over, or the user asks for the end.
    fn wait(&self, pipe: &PollFd) -> Result<(), Trouble> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let signal = PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN);
            let mut sources = [pipe.clone(), signal];
            match poll(&mut sources, left.try_into().ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Trouble::Died(format!("waiting for the worker: {error}"))),
            }
            if self.interrupt.requested().is_some() {
                return Err(Trouble::Interrupted);
            }
            if !sources[0].revents().is_empty() {
                return Ok(());
            }
            if left.is_zero() {
                return Err(Trouble::Deadline(self.seconds));
            }
        }
    }
}

/// truebench's side of the pipe. Dropping it ends the worker and all its descendants.
#[derive(Debug)]
pub struct Worker {
    guardian: Child,
    /// What the guardian and all below it are marked with.
    mark: String,
    requests: Option<ChildStdin>,
    replies: ChildStdout,
    /// The writing end; its close is the order to end.
    lifeline: Option<OwnedFd>,
    received: VecDeque<u8>,
}

impl Worker {
    /// Starts the worker of this name below a guardian of its own.
    ///
    /// # Errors
    /// What the system answered, or that there is no /proc.
    pub fn spawn(name: &str) -> std::io::Result<Worker> {
        ended::watch();
        static WORKERS: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}.{}", *mark::RUN, WORKERS.fetch_add(1, Ordering::Relaxed));
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        // This one end is for the guardian to inherit.
        rustix::io::fcntl_setfd(&read_end, rustix::io::FdFlags::empty())?;
        let mut guardian = Command::new("/proc/self/exe")
            .args([guardian::MARKER, &read_end.as_raw_fd().to_string(), MARKER, name])
            .env(mark::VARIABLE, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: Ctrl-C at the terminal is for truebench, which then ends us in order.
            .process_group(0)
            .spawn()
            .map_err(proc::missing)?;
        let (requests, replies) = (guardian.stdin.take(), guardian.stdout.take());
        let (Some(requests), Some(replies)) = (requests, replies) else {
            return Err(std::io::Error::other("no pipe to the worker"));
        };
        // So that a worker that does not read cannot hold us up: see `send`.
        rustix::io::ioctl_fionbio(&requests, true)?;
        Ok(Worker {
            guardian,
            mark,
            requests: Some(requests),
            replies,
            lifeline: Some(write_end),
            received: VecDeque::new(),
        })
    }

    /// Sends a request and waits for its answer; events on the way go to `event`. The calling thread sleeps
    /// meanwhile.
    ///
    /// # Errors
    /// [`Trouble`]; after anything but `Refused` the worker is gone.
    pub fn ask(
        &mut self,
        request: &Request,
        deadline: Duration,
        interrupt: &Interrupt,
        event: &mut dyn FnMut(Event),
    ) -> Result<Reply, Trouble> {
        let mut line = serde_json::to_vec(request).map_err(|error| Trouble::Died(error.to_string()))?;
        line.push(b'\n');
        let limit = Limit { end: Instant::now() + deadline, seconds: deadline.as_secs_f64(), interrupt };
        self.send(&line, &limit)?;
        loop {
            let line = self.line(&limit)?;
            match serde_json::from_slice(&line) {
                Ok(Reply::Event(happened)) => event(happened),
                Ok(Reply::Failed(reason)) => return Err(Trouble::Refused(reason)),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    self.end();
                    return Err(Trouble::Died(format!("the worker sent what is no answer: {error}")));
                }
            }
        }
    }

    /// Writes a request, as fast as the worker takes it.
    fn send(&mut self, mut line: &[u8], limit: &Limit) -> Result<(), Trouble> {
        while !line.is_empty() {
            let Some(pipe) = &mut self.requests else { return Err(self.died()) };
            match pipe.write(line) {
                Ok(length) => line = &line[length..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let ready = limit.wait(&PollFd::new(pipe, PollFlags::OUT));
                    self.go_on(ready)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.died()),
            }
        }
        Ok(())
    }

    /// The next whole line from the worker. What it has sent is read before the deadline counts: a process that was
    /// frozen past it loses nothing that it had finished.
    fn line(&mut self, limit: &Limit) -> Result<Vec<u8>, Trouble> {
        loop {
            if let Some(newline) = self.received.iter().position(|&byte| byte == b'\n') {
                return Ok(self.received.drain(..=newline).collect());
            }
            if self.received.len() > MOST_BYTES {
                self.end();
                return Err(Trouble::Died("the worker sent a line without end".to_owned()));
            }
            let ready = limit.wait(&PollFd::new(&self.replies, PollFlags::IN));
            self.go_on(ready)?;
            let mut buffer = [0; 1 << 16];
            match self.replies.read(&mut buffer) {
                Ok(0) | Err(_) => return Err(self.died()),
                Ok(length) => self.received.extend(&buffer[..length]),
            }
        }
    }

    /// Ends the worker if waiting for it ended in trouble.
    fn go_on(&mut self, ready: Result<(), Trouble>) -> Result<(), Trouble> {
        if ready.is_err() {
            self.end();
        }
        ready
    }

    /// What became of a worker whose pipe broke.
    fn died(&mut self) -> Trouble {
        self.requests = None;
        // The guardian ends with the worker's status. A worker that closed its pipe and lives is ended.
        let begun = Instant::now();
        let mut status = self.guardian.try_wait();
        while matches!(status, Ok(None)) && begun.elapsed() < LEAVE {
            std::thread::sleep(Duration::from_millis(5));
            status = self.guardian.try_wait();
        }
        if matches!(status, Ok(None)) {
            self.end();
            return Trouble::Died("the worker closed its pipe, and was ended".to_owned());
        }
        // Ended all the same: what a guardian that was killed could not end.
        self.end();
        Trouble::Died(match status.ok().flatten() {
            Some(status) if status.code().is_some() => {
                format!("the worker {}", ended::words(guardian::status(status)))
            }
            Some(status) => format!("the worker's guardian {}", ended::words(status)),
            None => "the worker's guardian cannot be waited for".to_owned(),
        })
    }

    /// Ends the worker and all its descendants, and waits until they are gone.
    fn end(&mut self) {
        self.requests = None;
        self.lifeline = None;
        // One that was killed has killed nobody.
        if self.guardian.wait().map_or(true, |status| status.code().is_none()) {
            mark::kill(&self.mark);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}
