//! A server on this machine.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use figure::evidence::http as key;
use figure::{CpuList, Evidence, Reading};
use machine::Tree;
use machine::counters::groups::{Groups, Numbers};
use serde::{Deserialize, Serialize};

use super::facts::{self, Around};
use super::subject::{Subject, Subjects};
use super::{About, Seen, Side};
use crate::profile::pprof::CpuProfile;
use crate::servers;
use crate::watch::go::{self, Runtime};
use crate::watch::process_growth::{CpuTimes, cpu_spent};
use crate::watch::process_set::ProcessSet;
use crate::watch::watcher::{Plan, SECOND, Watcher};

/// How long a profile may be late.
const LATE: Duration = Duration::from_secs(15);

/// What is wanted of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Which.
    pub subject: Subject,
    /// CPUs that it may use; `None` leaves them to the system, or to whoever started it.
    pub cpus: Option<CpuList>,
    /// Whether it must pass the conformance test first.
    pub conforms: bool,
    /// Processes besides the server's whose columns are wanted in the timeline, by name.
    pub beside: Vec<(String, u32)>,
}

/// A server that was started or found here.
#[derive(Debug)]
pub struct Local {
    running: Subjects,
    /// Other processes in the timeline.
    beside: Vec<(String, ProcessSet)>,
    /// The CPUs that the server was given, and whether to watch from there.
    cpus: Option<CpuList>,
    is_watched_there: bool,
    /// The server's processes; `None` where none is known.
    processes: Option<ProcessSet>,
    /// One of them that ran when it was ready.
    first: Option<u32>,
    before: Reading<Runtime>,
    watcher: Option<Watcher>,
    /// CPU times of its processes when it was ready, and when the window began.
    cpu_ready: CpuTimes,
    cpu: CpuTimes,
    /// The control groups of the server, found when it was ready, and what they had counted when the window began.
    groups: Option<Groups>,
    counted: Option<Numbers>,
    begun: Instant,
    profile: Option<Receiver<Result<CpuProfile, String>>>,
    around: Option<Around>,
}

impl Local {
    /// Starts or finds it, and tells what is known of it.
    ///
    /// # Errors
    /// In words for the user.
    pub fn start(wanted: &Wanted) -> Result<(Local, About), String> {
        let running = wanted.subject.start(wanted.cpus.as_ref())?;
        let mut facts = Evidence::default();
        if wanted.conforms {
            let (passed, said) = conformance(running.address)?;
            facts.put(key::CONFORMS, passed);
            facts.put(key::CONFORMANCE, said);
        }
        let processes = running.processes();
        facts.merge(facts::of_memory(processes.as_ref()));
        let about = About {
            address: running.address,
            cost_rounds: running.started.as_ref().map_or(0, |started| started.cost.rounds),
            facts: facts::of_server(&running, facts),
        };
        let local = Local {
            running,
            beside: alone(&wanted.beside),
            cpus: wanted.cpus.clone(),
            is_watched_there: false,
            processes,
            first: None,
            before: Reading::default(),
            watcher: None,
            cpu_ready: CpuTimes::new(),
            cpu: CpuTimes::new(),
            groups: None,
            counted: None,
            begun: Instant::now(),
            profile: None,
            around: None,
        };
        Ok((local, about))
    }

    fn runtime(&self) -> Reading<Runtime> {
        match self.running.sidecar {
            Some(address) => go::ask(address),
            None => Reading::unknown("the server has no port beside it that tells of Go's runtime"),
        }
    }

    fn cpu_times(&self) -> CpuTimes {
        self.processes.as_ref().map(ProcessSet::times).unwrap_or_default()
    }

    fn cpu_since(&self, before: &CpuTimes) -> Reading<f64> {
        match &self.processes {
            Some(processes) => Reading::Value(cpu_spent(before, &processes.times())),
            None => Reading::unknown("no process is known"),
        }
    }
}

/// Each of these processes as a set of its own.
fn alone(processes: &[(String, u32)]) -> Vec<(String, ProcessSet)> {
    let one = |(name, pid): &(String, u32)| (name.clone(), ProcessSet::new(Tree::live(), &[*pid], None));
    processes.iter().map(one).collect()
}

impl Drop for Local {
    fn drop(&mut self) {
        // A window that nobody ends: what watches it would go on with whoever asks the port beside the server.
        if let Some(watcher) = self.watcher.take() {
            watcher.stop();
        }
    }
}

impl Side for Local {
    fn watch_beside(&mut self, processes: Vec<(String, u32)>) {
        self.beside = alone(&processes);
    }

    fn watch_from_server(&mut self, whether: bool) {
        self.is_watched_there = whether;
    }

    fn ready(&mut self) -> Result<(), String> {
        if let Some(processes) = &self.processes {
            processes.discover();
            let running = processes.running();
            let first = *running.first().ok_or_else(|| self.running.how_it_ended())?;
            self.first = Some(first);
            self.groups = Some(Groups::of(&Tree::live(), first));
        }
        self.before = self.runtime();
        self.cpu_ready = self.cpu_times();
        Ok(())
    }

    fn begin(&mut self, length: Duration, profile: Option<u32>) -> Result<(), String> {
        let server = self.processes.iter().map(|set| (facts::SERVER.to_owned(), set.clone()));
        let plan = Plan {
            tree: Tree::live(),
            processes: server.chain(self.beside.iter().cloned()).collect(),
            network_of: self.first,
            sidecar: self.running.sidecar,
            listener: Some(self.running.address),
            // Once a second, and at least once within the window.
            interval: SECOND.min(length / 2),
            cpus: self.cpus.clone().filter(|_| self.is_watched_there),
        };
        self.profile = match (profile, self.running.sidecar) {
            (Some(seconds), Some(sidecar)) => {
                let (sender, receiver) = channel();
                std::thread::spawn(move || {
                    // Whoever asked may have gone.
                    let _ = sender.send(go::profile(sidecar, seconds));
                });
                Some(receiver)
            }
            _ => None,
        };
        self.counted = self.groups.as_ref().map(|groups| groups.read(&Tree::live()));
        self.cpu = self.cpu_times();
        self.begun = Instant::now();
        let watcher = Watcher::start(plan, |_, _| {});
        self.watcher = Some(watcher.map_err(|error| format!("the server cannot be watched: {error}"))?);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let cpu = self.cpu_since(&self.cpu);
        let throttled = match self.groups.as_ref().zip(self.counted.take()) {
            Some((groups, before)) => groups.throttled(&before, &groups.read(&Tree::live())),
            None => Reading::unknown("the server's process is not known"),
        };
        let watched = self.watcher.take().ok_or("the server was not watched")?;
        let watched = watched.stop().ok_or("what watched the server was lost")?;
        let memory = facts::memory(self.processes.as_ref());
        self.around = Some(Around { seconds, cpu, throttled, watched, memory });
        Ok(())
    }

    fn seen(&mut self, answered: f64, share: f64) -> Result<Seen, String> {
        let around = self.around.take().ok_or("the window was not ended")?;
        let go = (std::mem::take(&mut self.before), self.runtime());
        let profile = self.profile.take().map(|receiver| {
            receiver.recv_timeout(LATE).unwrap_or_else(|_| Err("the profile did not come in time".to_owned()))
        });
        let cpu = self.cpu_since(&self.cpu_ready).into_value().unwrap_or(0.0);
        let (facts, timeline) = facts::of_window(around, go, profile, answered, share);
        Ok(Seen { facts, timeline, cpu })
    }
}

/// A line of the conformance test.
#[derive(Deserialize)]
struct Case {
    case: String,
    passed: bool,
}

/// Has a server answer the conformance test: whether it passed, and what was said.
fn conformance(address: std::net::SocketAddr) -> Result<(bool, String), String> {
    let program: PathBuf = servers::program().map_err(|error| error.to_string())?;
    let output = Command::new(&program)
        .args(["conformance", &address.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let cases: Vec<Case> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let failed: Vec<&str> = cases.iter().filter(|case| !case.passed).map(|case| case.case.as_str()).collect();
    let mut said = format!("{} of {} cases passed", cases.len() - failed.len(), cases.len());
    if !failed.is_empty() {
        said += &format!("; not {}", failed.join(", "));
    }
    Ok((output.status.success() && failed.is_empty() && !cases.is_empty(), said))
}
