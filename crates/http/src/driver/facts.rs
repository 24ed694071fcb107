//! Turns the counters of a server into evidence.

use std::borrow::Cow;
use std::thread::sleep;
use std::time::{Duration, Instant};

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{CpuList, Evidence, Reading, stats};
use machine::Tree;
use machine::counters::grown;

use super::server_spec::RunningServer;
use crate::profile::buckets;
use crate::profile::coverage::Coverage;
use crate::profile::pprof::CpuProfile;
use crate::watch::go::{
    GC_CPU, GC_CYCLES, GOROUTINES, GOROUTINES_CREATED, HEAP_ALLOCATED, Histogram, LATENCIES, PAUSES,
    ProfileError, Runtime,
};
use crate::watch::process_set::ProcessSet;
use crate::watch::sample::{Sample, evaluate, value};
use crate::watch::watcher::{ThreadCpus, WatchReport};
use crate::watch::{network, process, process_growth};

/// Prefix of the server's columns in the timeline.
pub const SERVER: &str = "server";
/// Samples of the server's memory before the first connection; their spread is its noise.
const SAMPLES: usize = 6;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// A server has started when its processes are unchanged for [`STEADY_INTERVAL`], and their memory changes by
/// at most [`STEADY_SHARE`]. Waits for at most [`MAX_START`].
const STEADY_INTERVAL: Duration = Duration::from_millis(100);
const STEADY_SHARE: f64 = 0.01;
const MAX_START: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct WindowMeasurement {
    pub seconds: f64,
    /// CPU seconds of the server's processes.
    pub cpu: Reading<f64>,
    /// Seconds for which a CPU quota stopped the server's control group.
    pub throttled: Reading<f64>,
    pub watched: WatchReport,
    /// [`memory`] at the end of the window, with all connections open.
    pub memory: [Reading<f64>; 2],
}

/// Bytes of memory of the server's processes: RSS counts shared pages in each process, PSS once.
pub fn memory(processes: Option<&ProcessSet>) -> [Reading<f64>; 2] {
    let sum = |measure| processes.map_or_else(|| Reading::unknown(NO_PROCESS), |set| set.sum(measure));
    [sum(process::resident), sum(process::proportional)]
}

pub fn memory_before(processes: Option<&ProcessSet>) -> Evidence {
    if let Some(processes) = processes {
        let state = || (processes.running(), processes.sum(process::resident).into_value().unwrap_or(0.0));
        let (start, mut before) = (Instant::now(), state());
        while start.elapsed() < MAX_START {
            sleep(STEADY_INTERVAL);
            let now = state();
            let is_steady = now.0 == before.0 && (now.1 - before.1).abs() <= STEADY_SHARE * before.1;
            before = now;
            if is_steady {
                break;
            }
        }
    }
    let mut samples = vec![memory(processes)];
    while processes.is_some() && samples.len() < SAMPLES {
        sleep(SAMPLE_INTERVAL);
        samples.push(memory(processes));
    }
    let values = |measure: usize| {
        let lists = samples.iter().map(|sample| sample[measure].clone().map(|bytes| vec![bytes]));
        let joined = lists.reduce(|list, next| list.and(next).map(|(list, next)| [list, next].concat()));
        joined.unwrap_or_default()
    };
    let mut facts = Evidence::default();
    let median = |samples: Vec<f64>| stats::median(&samples).unwrap_or(f64::NAN);
    facts.put_reading(key::RESIDENT_BEFORE, values(0).map(median));
    facts.put_reading(key::PSS_BEFORE, values(1));
    facts
}

const NO_PROCESS: &str = "the server's process is not known: give it by --server-pid";

pub fn server_facts(running: &RunningServer, mut facts: Evidence) -> Evidence {
    match &running.go_report {
        Some(report) => {
            let modules = report.modules.iter().map(|(name, version)| format!("{name} {version}"));
            let build = report.build.iter().map(|(name, value)| format!("{name}={value}"));
            let parts: Vec<String> = [report.go.clone()].into_iter().chain(modules).chain(build).collect();
            facts.put(key::BUILD, parts.join(", "));
            facts.put(key::SERVERS, report.origin.to_owned());
            facts.put(key::GOMAXPROCS, f64::from(report.gomaxprocs));
            facts.put(key::GOGC, if report.gogc == u64::MAX { 0.0 } else { report.gogc as f64 });
        }
        None => {
            let reason = "the server does not report it: it is none of truebench's Go servers";
            facts.put_unknown(key::BUILD, reason);
            facts.put_unknown(key::SERVERS, reason);
            facts.put_unknown(key::GOMAXPROCS, reason);
            facts.put_unknown(key::GOGC, reason);
        }
    }
    let tree = Tree::live();
    let pid = Reading::or_unknown(running.pid, NO_PROCESS);
    let arguments = evaluate(&pid, |pid| tree.text(format!("/proc/{pid}/cmdline")));
    let words =
        |text: String| text.trim_end_matches('\0').replace('\0', " ").chars().take(400).collect::<String>();
    facts.put_reading(key::SERVER_ARGUMENTS, arguments.map(words));
    facts.put_reading(key::FILES_LIMIT, pid.and_then(|pid| files_limit(&tree, pid)));
    let somaxconn = network::Settings::read(&tree).somaxconn;
    facts.put_reading(key::SOMAXCONN, somaxconn.map(|number| number as f64));
    facts
}

/// The soft limit of open files: proc_pid_limits(5).
fn files_limit(tree: &Tree, pid: u32) -> Reading<f64> {
    let path = format!("/proc/{pid}/limits");
    let limit = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_ascii_whitespace().next()?.parse::<f64>().ok()
    };
    let reason = format!("{path}: no limit of open files");
    tree.text(&path).and_then(|text| Reading::or_unknown(limit(&text), &reason))
}

/// Evidence and timeline of a window with `answered` answers, which are this share of all answers since the
/// first read of Go's metrics.
pub fn window_facts(
    measured: WindowMeasurement,
    go: (Reading<Runtime>, Reading<Runtime>),
    profile: Option<Result<CpuProfile, ProfileError>>,
    answered: f64,
    share: f64,
) -> (Evidence, Timeline) {
    let mut facts = Evidence::default();
    let watched = &measured.watched;
    let totals = &watched.totals;
    put_processes(&mut facts, &measured);
    put_network(&mut facts, totals, answered);
    put_go(&mut facts, go, watched, answered / share);
    facts.put(key::PROFILED, profile.is_some());
    match profile {
        None => {}
        Some(Err(error)) => put_no_profile(&mut facts, &error.to_string()),
        Some(Ok(profile)) => put_profile(&mut facts, &profile, &measured),
    }
    facts.put(key::WATCH_COST, watched.cost);
    (facts, measured.watched.timeline)
}

fn put_processes(facts: &mut Evidence, measured: &WindowMeasurement) {
    let total = |name: &str| value(&measured.watched.totals, &format!("{SERVER}.{name}"));
    let [user, system, voluntary, involuntary, waited, threads, _, files, processes] = process_growth::NAMES;
    // The kernel samples user and system time but counts their sum exactly: divides the sum by the samples.
    let booked = total(user).and(total(system));
    let split = booked.and(measured.cpu.clone()).map(|((user, system), cpu)| {
        let share = if user + system > 0.0 { user / (user + system) } else { 0.5 };
        (cpu * share, cpu * (1.0 - share))
    });
    facts.put_reading(key::SERVER_USER, split.clone().map(|(user, _)| user));
    facts.put_reading(key::SERVER_SYSTEM, split.map(|(_, system)| system));
    facts.put_reading(key::SERVER_DELAY, total(waited));
    facts.put_reading(key::SERVER_THROTTLED, measured.throttled.clone());
    let switches = total(voluntary).and(total(involuntary));
    let switches = switches.map(|(voluntary, involuntary)| vec![voluntary, involuntary]);
    facts.put_reading(key::SERVER_SWITCHES, switches);
    facts.put_reading(key::SERVER_PROCESSES, total(processes));
    facts.put_reading(key::SERVER_THREADS, total(threads));
    facts.put_reading(key::SERVER_FILES, total(files));
    let [resident, proportional] = measured.memory.clone();
    facts.put_reading(key::SERVER_RESIDENT, resident);
    facts.put_reading(key::SERVER_PSS, proportional);
    let threads = measured.watched.thread_cpus.iter().find(|threads| threads.name == SERVER);
    let threads = Reading::or_unknown(threads, NO_PROCESS);
    let cpus = |list: fn(&ThreadCpus) -> &Reading<CpuList>| {
        let list = evaluate(&threads, |threads| list(threads).clone());
        list.map(|cpus| cpus.iter().map(f64::from).collect::<Vec<f64>>())
    };
    facts.put_reading(key::SERVER_ALLOWED, cpus(|threads| &threads.allowed));
    facts.put_reading(key::SERVER_SEEN, cpus(|threads| &threads.used));
}

fn put_network(facts: &mut Evidence, totals: &[Sample], answered: f64) {
    let total = |name: &str| value(totals, name);
    // Not every kernel has all of them: uses those that exist.
    let names = ["tcp.ListenOverflows", "tcp.ListenDrops", "tcp.TCPReqQFullDrop"];
    let largest = names.into_iter().filter_map(|name| total(name).into_value()).reduce(f64::max);
    let reason = "the kernel counts no overflows of listening queues";
    facts.put_reading(key::LISTEN_OVERFLOWS, Reading::or_unknown(largest, reason));
    facts.put_reading(key::SYN_RETRANSMITS, total("tcp.TCPSynRetrans"));
    facts.put_reading(key::RETRANSMITS, total("tcp.RetransSegs"));
    facts.put_reading(key::DELAYED_ACKS, total("tcp.DelayedACKs").map(|count| count / answered.max(1.0)));
    let aborts = total("tcp.TCPAbortOnMemory").and(total("tcp.PruneCalled"));
    facts.put_reading(key::MEMORY_ABORTS, aborts.map(|(aborts, prunes)| aborts + prunes));
    facts.put_reading(key::TIME_WAIT, total("sockets.tw"));
    facts.put_reading(key::SOFTNET_DROPS, total("net.softnet.dropped"));
    facts.put_reading(key::SOFTIRQ, total("host.cpu.softirq"));
}

/// `answers`: all since the first read of Go's metrics.
fn put_go(
    facts: &mut Evidence,
    go: (Reading<Runtime>, Reading<Runtime>),
    watched: &WatchReport,
    answers: f64,
) {
    let (before, after) = go;
    let ends = before.and(after);
    let growth = |name: &str| {
        let ends = evaluate(&ends, |(before, after)| before.number(name).and(after.number(name)));
        // A counter that fell belongs to a restarted server.
        ends.and_then(|(before, after)| grown(name, before, after))
    };
    let per_answer = |name: &str| growth(name).map(|growth| growth / answers.max(1.0));
    facts.put_reading(key::GOROUTINES_CREATED, per_answer(GOROUTINES_CREATED));
    facts.put_reading(key::GO_ALLOCATED, per_answer(HEAP_ALLOCATED));
    facts.put_reading(key::GC_CYCLES, growth(GC_CYCLES));
    facts.put_reading(key::GC_CPU, growth(GC_CPU));
    // The last value under load, from the timeline.
    let column = watched.timeline.columns.iter().find(|column| column.name == "go.goroutines");
    let level = column.and_then(|column| column.values.iter().rev().find_map(|value| *value));
    // A busy server may not have answered then. A moment later its connections still exist.
    let later = || evaluate(&ends, |(_, after)| after.number(GOROUTINES));
    facts.put_reading(key::GOROUTINES, level.map_or_else(later, Reading::Value));
    let histogram_growth = |name: &str| {
        let ends = evaluate(&ends, |(before, after)| before.histogram(name).and(after.histogram(name)));
        ends.and_then(|(before, after)| after.since(&before))
    };
    let quantiles = |histogram: Histogram| -> Option<Vec<f64>> {
        [0.5, 0.99].into_iter().map(|q| histogram.quantile(q).map(middle)).collect()
    };
    let runnable = |histogram| Reading::or_unknown(quantiles(histogram), "no goroutine was ever ready");
    facts.put_reading(key::GO_RUNNABLE, histogram_growth(LATENCIES).and_then(runnable));
    let pause = histogram_growth(PAUSES).map(|histogram| histogram.quantile(1.0).map_or(0.0, middle));
    facts.put_reading(key::GC_PAUSE, pause);
}

/// The middle of a bucket, or its finite bound.
fn middle((low, high): (f64, f64)) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => (low + high) / 2.0,
        (true, false) => low,
        (false, true) => high,
        (false, false) => 0.0,
    }
}

fn put_profile(facts: &mut Evidence, profile: &CpuProfile, measured: &WindowMeasurement) {
    let split = buckets::split(profile);
    let shares: Option<Vec<f64>> = split.buckets.iter().map(|bucket| split.share(bucket)).collect();
    facts.put_reading(key::PROFILE_SHARES, Reading::or_unknown(shares, "the profile has no samples"));
    let total = split.nanoseconds.max(1) as f64;
    let other = split.other.iter().map(|(name, nanoseconds)| {
        let name: Cow<str> = if name.is_empty() { "(no name)".into() } else { name.into() };
        format!("{name} {:.1} %", *nanoseconds as f64 / total * 100.0)
    });
    facts.put(key::PROFILE_OTHER, other.collect::<Vec<_>>().join(", "));
    facts.put(key::PROFILE_SAMPLES, split.samples as f64);
    let coverage = measured.cpu.clone().map(|booked| Coverage::new(profile, booked, measured.seconds));
    facts.put_reading(key::PROFILE_LOST, coverage.clone().map(|coverage| coverage.lost as f64));
    let ratio = |coverage: Coverage| Reading::or_unknown(coverage.ratio(), "no CPU time was booked");
    facts.put_reading(key::PROFILE_RATIO, coverage.and_then(ratio));
}

fn put_no_profile(facts: &mut Evidence, reason: &str) {
    for key in [key::PROFILE_RATIO, key::PROFILE_SAMPLES, key::PROFILE_LOST] {
        facts.put_unknown(key, reason);
    }
    facts.put_unknown(key::PROFILE_SHARES, reason);
    facts.put_unknown(key::PROFILE_OTHER, reason);
}
