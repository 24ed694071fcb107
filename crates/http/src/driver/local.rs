//! A server on this machine.

use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use figure::evidence::http as key;
use figure::{CpuList, Evidence, Reading};
use lab::failure::{Attempt, Failure};
use machine::Tree;
use machine::counters::groups::{Groups, Numbers};
use serde::{Deserialize, Serialize};

use super::facts::{self, WindowMeasurement};
use super::server_spec::{RunningServer, ServerSpec};
use super::{ServerDriver, ServerInfo, WindowReport};
use crate::profile::pprof::CpuProfile;
use crate::servers;
use crate::watch::go::{self, ProfileError, Runtime};
use crate::watch::process_growth::{CpuTimes, cpu_spent};
use crate::watch::process_set::ProcessSet;
use crate::watch::watcher::{SECOND, WatchPlan, Watcher};

/// How long a profile may take beyond its own time.
const LATE: Duration = Duration::from_secs(15);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartRequest {
    pub server: ServerSpec,
    /// CPUs for the server; `None`: as the system, or the caller, chooses.
    pub cpus: Option<CpuList>,
    /// Whether it must pass the conformance test first.
    pub conforms: bool,
    pub other_processes: Vec<(String, u32)>,
}

#[derive(Debug)]
pub struct LocalServer {
    running: RunningServer,
    other_processes: Vec<(String, ProcessSet)>,
    /// The server's CPUs, and whether to watch from there.
    cpus: Option<CpuList>,
    is_watched_from_cpus: bool,
    /// `None` if no process is known.
    processes: Option<ProcessSet>,
    /// A process that ran at `prepare`.
    first: Option<u32>,
    go_before: Reading<Runtime>,
    watcher: Option<Watcher>,
    cpu_at_prepare: CpuTimes,
    cpu_at_start: CpuTimes,
    /// Control groups of the server, and their counters at the start of the window.
    groups: Option<Groups>,
    group_counts: Option<Numbers>,
    window_start: Instant,
    profile: Option<Receiver<Result<CpuProfile, ProfileError>>>,
    measured: Option<WindowMeasurement>,
}

impl LocalServer {
    pub fn start(request: &StartRequest) -> Result<(LocalServer, ServerInfo), Failure> {
        let running = request.server.start(request.cpus.as_ref())?;
        let mut facts = Evidence::default();
        if request.conforms {
            let (passed, summary) = conformance(running.address)?;
            facts.put(key::CONFORMS, passed);
            facts.put(key::CONFORMANCE, summary);
        }
        let processes = running.processes();
        facts.merge(facts::memory_before(processes.as_ref()));
        let info = ServerInfo {
            address: running.address,
            cost_rounds: running.go_report.as_ref().map_or(0, |report| report.cost.rounds),
            facts: facts::server_facts(&running, facts),
        };
        let driver = LocalServer {
            running,
            other_processes: single_sets(&request.other_processes),
            cpus: request.cpus.clone(),
            is_watched_from_cpus: false,
            processes,
            first: None,
            go_before: Reading::default(),
            watcher: None,
            cpu_at_prepare: CpuTimes::new(),
            cpu_at_start: CpuTimes::new(),
            groups: None,
            group_counts: None,
            window_start: Instant::now(),
            profile: None,
            measured: None,
        };
        Ok((driver, info))
    }

    fn runtime(&self) -> Reading<Runtime> {
        let reason = "the server has no sidecar port that reports Go's runtime";
        Reading::or_unknown(self.running.sidecar, reason).and_then(go::ask)
    }

    fn cpu_times(&self) -> CpuTimes {
        self.processes.as_ref().map(ProcessSet::times).unwrap_or_default()
    }

    fn cpu_since(&self, before: &CpuTimes) -> Reading<f64> {
        let processes = Reading::or_unknown(self.processes.as_ref(), "no process is known");
        processes.map(|processes| cpu_spent(before, &processes.times()))
    }
}

fn single_sets(processes: &[(String, u32)]) -> Vec<(String, ProcessSet)> {
    let set_of = |(name, pid): &(String, u32)| (name.clone(), ProcessSet::new(Tree::live(), &[*pid], None));
    processes.iter().map(set_of).collect()
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // A window that was not finished: the watcher would keep asking the sidecar.
        if let Some(watcher) = self.watcher.take() {
            watcher.stop();
        }
    }
}

impl ServerDriver for LocalServer {
    fn watch_processes(&mut self, processes: Vec<(String, u32)>) {
        self.other_processes = single_sets(&processes);
    }

    fn watch_from_server_cpus(&mut self, enabled: bool) {
        self.is_watched_from_cpus = enabled;
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        if let Some(processes) = &self.processes {
            processes.discover();
            let pids = processes.running();
            let first = *pids.first().ok_or_else(|| self.running.how_it_ended())?;
            self.first = Some(first);
            self.groups = Some(Groups::of_process(&Tree::live(), first));
        }
        self.go_before = self.runtime();
        self.cpu_at_prepare = self.cpu_times();
        Ok(())
    }

    fn start_window(&mut self, length: Duration, profile: Option<u32>) -> Result<(), Failure> {
        let server = self.processes.iter().map(|set| (facts::SERVER.to_owned(), set.clone()));
        let plan = WatchPlan {
            tree: Tree::live(),
            processes: server.chain(self.other_processes.iter().cloned()).collect(),
            network_of: self.first,
            sidecar: self.running.sidecar,
            listener: Some(self.running.address),
            // Once a second, and at least once within the window.
            interval: SECOND.min(length / 2),
            cpus: self.cpus.clone().filter(|_| self.is_watched_from_cpus),
        };
        self.profile = match (profile, self.running.sidecar) {
            (Some(seconds), Some(sidecar)) => {
                let (sender, receiver) = channel();
                std::thread::spawn(move || {
                    // The receiver may be gone.
                    let _ = sender.send(go::profile(sidecar, seconds));
                });
                Some(receiver)
            }
            _ => None,
        };
        self.group_counts = self.groups.as_ref().map(|groups| groups.read(&Tree::live()));
        self.cpu_at_start = self.cpu_times();
        self.window_start = Instant::now();
        let watcher = Watcher::start(plan, |_, _| {});
        self.watcher = Some(watcher.attempt("the server cannot be watched")?);
        Ok(())
    }

    fn finish_window(&mut self) -> Result<(), Failure> {
        let seconds = self.window_start.elapsed().as_secs_f64();
        let cpu = self.cpu_since(&self.cpu_at_start);
        let groups = self.groups.as_ref().zip(self.group_counts.take());
        let throttled = Reading::or_unknown(groups, "the server's process is not known")
            .and_then(|(groups, before)| groups.throttled(&before, &groups.read(&Tree::live())));
        let watched = self.watcher.take().ok_or_else(|| Failure::new("the server was not watched"))?;
        let watched = watched.stop().ok_or_else(|| Failure::new("the watcher of the server was lost"))?;
        let memory = facts::memory(self.processes.as_ref());
        self.measured = Some(WindowMeasurement { seconds, cpu, throttled, watched, memory });
        Ok(())
    }

    fn collect(&mut self, answered: f64, share: f64) -> Result<WindowReport, Failure> {
        let measured = self.measured.take().ok_or_else(|| Failure::new("the window was not ended"))?;
        let go = (std::mem::take(&mut self.go_before), self.runtime());
        let profile = self
            .profile
            .take()
            .map(|receiver| receiver.recv_timeout(LATE).unwrap_or(Err(ProfileError::Late)));
        let cpu = self.cpu_since(&self.cpu_at_prepare).into_value().unwrap_or(0.0);
        let (facts, timeline) = facts::window_facts(measured, go, profile, answered, share);
        Ok(WindowReport { facts, timeline, cpu })
    }
}

#[derive(Deserialize)]
struct Case {
    case: String,
    passed: bool,
}

/// Runs the conformance test against a server: whether it passed, and a summary.
fn conformance(address: std::net::SocketAddr) -> Result<(bool, String), Failure> {
    let program = servers::program()?;
    let output = Command::new(&program)
        .args(["conformance", &address.to_string()])
        .stdin(Stdio::null())
        .output()
        .attempt_on("", program.display())?;
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let cases: Vec<Case> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let failed: Vec<&str> = cases.iter().filter(|case| !case.passed).map(|case| case.case.as_str()).collect();
    let mut summary = format!("{} of {} cases passed", cases.len() - failed.len(), cases.len());
    if !failed.is_empty() {
        summary += &format!("; not {}", failed.join(", "));
    }
    Ok((output.status.success() && failed.is_empty() && !cases.is_empty(), summary))
}
