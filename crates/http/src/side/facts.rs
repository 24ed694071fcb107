//! What was seen of a server, as evidence.

use std::borrow::Cow;
use std::thread::sleep;
use std::time::{Duration, Instant};

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{CpuList, Evidence, Reading, stats};
use machine::Tree;
use machine::counters::grown;

use super::subject::Subjects;
use crate::profile::pprof::CpuProfile;
use crate::profile::{buckets, coverage, cumulative};
use crate::watch::go::{
    GC_CPU, GC_CYCLES, GOROUTINES, GOROUTINES_CREATED, HEAP_ALLOCATED, Histogram, LATENCIES, PAUSES, Runtime,
};
use crate::watch::process_set::ProcessSet;
use crate::watch::sample::{Sample, value};
use crate::watch::watcher::{Places, Seen as Watched};
use crate::watch::{network, process, process_growth};

/// The server's processes in the timeline.
pub const SERVER: &str = "server";
/// Looks at a server's memory before the first connection: the spread of these is what it moves by itself.
const LOOKS: usize = 6;
/// Between two of them.
const BETWEEN: Duration = Duration::from_millis(20);
/// A server has started when its processes stay the same for so long, and their memory within [`STEADY`]; it is waited for at most
/// [`STARTED`].
const SAME: Duration = Duration::from_millis(100);
const STEADY: f64 = 0.01;
const STARTED: Duration = Duration::from_secs(3);

/// What its books said of a window.
#[derive(Debug)]
pub struct Around {
    /// How long it was.
    pub seconds: f64,
    /// CPU seconds of the server's processes.
    pub cpu: Reading<f64>,
    /// Seconds that a quota held the server's control group back.
    pub throttled: Reading<f64>,
    /// What the watcher saw.
    pub watched: Watched,
    /// What [`memory`] tells of the server's processes at its end, all connections still open.
    pub memory: [Reading<f64>; 2],
}

/// Bytes of memory of a server's processes: RSS, in which pages that they share count for each, and PSS, in which they count once.
pub fn memory(processes: Option<&ProcessSet>) -> [Reading<f64>; 2] {
    let sum = |measure| match processes {
        Some(processes) => processes.sum(measure),
        None => Reading::unknown(UNSEEN),
    };
    [sum(process::resident), sum(process::proportional)]
}

/// A server's memory before the first connection.
pub fn of_memory(processes: Option<&ProcessSet>) -> Evidence {
    if let Some(processes) = processes {
        let look = || (processes.running(), processes.sum(process::resident).into_value().unwrap_or(0.0));
        let (begun, mut before) = (Instant::now(), look());
        while begun.elapsed() < STARTED {
            sleep(SAME);
            let now = look();
            let is_steady = now.0 == before.0 && (now.1 - before.1).abs() <= STEADY * before.1;
            before = now;
            if is_steady {
                break;
            }
        }
    }
    let looks: Vec<_> = (0..if processes.is_some() { LOOKS } else { 1 })
        .map(|at| {
            if at > 0 {
                sleep(BETWEEN);
            }
            memory(processes)
        })
        .collect();
    let all = |which: usize| {
        let each = looks.iter().map(|look| look[which].clone().map(|bytes| vec![bytes]));
        each.reduce(|all, one| all.and(one).map(|(all, one)| [all, one].concat())).unwrap_or_default()
    };
    let mut facts = Evidence::default();
    let median = |looks: Vec<f64>| stats::median(&looks).unwrap_or(f64::NAN);
    facts.put_reading(key::RESIDENT_BEFORE, all(0).map(median));
    facts.put_reading(key::PSS_BEFORE, all(1));
    facts
}

/// Why nothing is known of a server's process.
const UNSEEN: &str = "the server's process is not known: give it by --server-pid";

/// What is known of a server before the first request, besides what was found already.
pub fn of_server(running: &Subjects, mut facts: Evidence) -> Evidence {
    match &running.started {
        Some(started) => {
            let modules = started.modules.iter().map(|(name, version)| format!("{name} {version}"));
            let build = started.build.iter().map(|(name, value)| format!("{name}={value}"));
            let all: Vec<String> = [started.go.clone()].into_iter().chain(modules).chain(build).collect();
            facts.put(key::BUILD, all.join(", "));
            facts.put(key::GOMAXPROCS, f64::from(started.gomaxprocs));
            facts.put(key::GOGC, if started.gogc == u64::MAX { 0.0 } else { started.gogc as f64 });
        }
        None => {
            let reason = "the server does not tell: it is none of truebench's Go servers";
            facts.put_unknown(key::BUILD, reason);
            facts.put_unknown(key::GOMAXPROCS, reason);
            facts.put_unknown(key::GOGC, reason);
        }
    }
    let tree = Tree::live();
    let arguments = running.pid.map(|pid| tree.text(format!("/proc/{pid}/cmdline")));
    let arguments = arguments.unwrap_or_else(|| Reading::unknown(UNSEEN));
    let words =
        |text: String| text.trim_end_matches('\0').replace('\0', " ").chars().take(400).collect::<String>();
    facts.put_reading(key::SERVER_ARGUMENTS, arguments.map(words));
    let limit = running.pid.map(|pid| files_limit(&tree, pid)).unwrap_or_else(|| Reading::unknown(UNSEEN));
    facts.put_reading(key::FILES_LIMIT, limit);
    let settings = network::Settings::read(&tree);
    facts.put_reading(key::SOMAXCONN, settings.somaxconn.clone().map(|number| number as f64));
    facts
}

/// The soft limit of open files of a process: proc_pid_limits(5).
fn files_limit(tree: &Tree, pid: u32) -> Reading<f64> {
    let path = format!("/proc/{pid}/limits");
    let limit = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?.to_owned();
        line.split_ascii_whitespace().next()?.parse::<f64>().ok()
    };
    match tree.text(&path) {
        Reading::Value(text) => Reading::or_unknown(limit(text), &format!("{path}: no limit of open files")),
        Reading::Unknown(reason) => Reading::Unknown(reason),
    }
}

/// What was seen of a window, in which so many answers came, a share of all since before.
pub fn of_window(
    around: Around,
    go: (Reading<Runtime>, Reading<Runtime>),
    profile: Option<Result<CpuProfile, String>>,
    answered: f64,
    share: f64,
) -> (Evidence, Timeline) {
    let mut facts = Evidence::default();
    let watched = &around.watched;
    let totals = &watched.totals;
    of_processes(&mut facts, &around);
    of_network(&mut facts, totals, answered);
    of_go(&mut facts, go, watched, answered / share);
    match profile {
        None => facts.put(key::PROFILED, false),
        Some(Err(reason)) => {
            facts.put(key::PROFILED, true);
            unprofiled(&mut facts, &reason);
        }
        Some(Ok(profile)) => {
            facts.put(key::PROFILED, true);
            of_profile(&mut facts, &profile, &around);
        }
    }
    facts.put(key::WATCH_COST, watched.cost);
    (facts, around.watched.timeline)
}

fn of_processes(facts: &mut Evidence, around: &Around) {
    let of = |what: &str| value(&around.watched.totals, &format!("{SERVER}.{what}"));
    let [user, system, voluntary, involuntary, waited, threads, _, files, processes] = process_growth::NAMES;
    // The kernel books user and system time by samples and their sum exactly: the sum is spread by the samples.
    let booked = of(user).and(of(system));
    let split = booked.and(around.cpu.clone()).map(|((user, system), cpu)| {
        let share = if user + system > 0.0 { user / (user + system) } else { 0.5 };
        (cpu * share, cpu * (1.0 - share))
    });
    facts.put_reading(key::SERVER_USER, split.clone().map(|(user, _)| user));
    facts.put_reading(key::SERVER_SYSTEM, split.map(|(_, system)| system));
    facts.put_reading(key::SERVER_DELAY, of(waited));
    facts.put_reading(key::SERVER_THROTTLED, around.throttled.clone());
    let switches = of(voluntary).and(of(involuntary));
    facts.put_reading(key::SERVER_SWITCHES, switches.map(|(one, other)| vec![one, other]));
    facts.put_reading(key::SERVER_PROCESSES, of(processes));
    facts.put_reading(key::SERVER_THREADS, of(threads));
    facts.put_reading(key::SERVER_FILES, of(files));
    let [resident, proportional] = around.memory.clone();
    facts.put_reading(key::SERVER_RESIDENT, resident);
    facts.put_reading(key::SERVER_PSS, proportional);
    let places = around.watched.places.iter().find(|places| places.name == SERVER);
    let cpus = |of: fn(&Places) -> &Reading<CpuList>| match places {
        Some(places) => of(places).clone().map(|cpus| cpus.iter().map(f64::from).collect::<Vec<f64>>()),
        None => Reading::unknown(UNSEEN),
    };
    facts.put_reading(key::SERVER_ALLOWED, cpus(|places| &places.allowed));
    facts.put_reading(key::SERVER_SEEN, cpus(|places| &places.seen));
}

fn of_network(facts: &mut Evidence, totals: &[Sample], answered: f64) {
    let of = |name: &str| value(totals, name);
    let most = |names: &[&str]| {
        // Kernels lack some of them: those that are there tell.
        let known = names.iter().filter_map(|name| of(name).into_value());
        Reading::or_unknown(known.reduce(f64::max), "the kernel counts no overflows of listening queues")
    };
    facts.put_reading(
        key::LISTEN_OVERFLOWS,
        most(&["tcp.ListenOverflows", "tcp.ListenDrops", "tcp.TCPReqQFullDrop"]),
    );
    facts.put_reading(key::SYN_RETRANSMITS, of("tcp.TCPSynRetrans"));
    facts.put_reading(key::RETRANSMITS, of("tcp.RetransSegs"));
    facts.put_reading(key::DELAYED_ACKS, of("tcp.DelayedACKs").map(|count| count / answered.max(1.0)));
    let aborts = of("tcp.TCPAbortOnMemory").and(of("tcp.PruneCalled"));
    facts.put_reading(key::MEMORY_ABORTS, aborts.map(|(one, other)| one + other));
    facts.put_reading(key::TIME_WAIT, of("sockets.tw"));
    facts.put_reading(key::SOFTNET_DROPS, of("net.softnet.dropped"));
    facts.put_reading(key::SOFTIRQ, of("host.cpu.softirq"));
}

/// `answers` are all since the first look at Go.
fn of_go(facts: &mut Evidence, go: (Reading<Runtime>, Reading<Runtime>), watched: &Watched, answers: f64) {
    let (before, after) = go;
    let both = before.and(after);
    let growth = |name: &str| match &both {
        Reading::Value((before, after)) => {
            // One that fell is a restarted server's.
            before.number(name).and(after.number(name)).and_then(|(before, after)| grown(name, before, after))
        }
        Reading::Unknown(reason) => Reading::unknown(reason),
    };
    let each = |name: &str| growth(name).map(|growth| growth / answers.max(1.0));
    facts.put_reading(key::GOROUTINES_CREATED, each(GOROUTINES_CREATED));
    facts.put_reading(key::GO_ALLOCATED, each(HEAP_ALLOCATED));
    facts.put_reading(key::GC_CYCLES, growth(GC_CYCLES));
    facts.put_reading(key::GC_CPU, growth(GC_CPU));
    // Under load, as the last look at it told: the timeline's.
    let column = watched.timeline.columns.iter().find(|column| column.name == "go.goroutines");
    let level = column.and_then(|column| column.values.iter().rev().find_map(|value| *value));
    // A server without time to spare may not have answered then. Its connections are all there a moment later, too.
    let later = || match &both {
        Reading::Value((_, after)) => after.number(GOROUTINES),
        Reading::Unknown(reason) => Reading::unknown(reason),
    };
    facts.put_reading(key::GOROUTINES, level.map_or_else(later, Reading::Value));
    let grown = |name: &str| match &both {
        Reading::Value((before, after)) => match before.histogram(name).and(after.histogram(name)) {
            Reading::Value((before, after)) => after.since(&before),
            Reading::Unknown(reason) => Reading::Unknown(reason),
        },
        Reading::Unknown(reason) => Reading::unknown(reason),
    };
    let quantiles = |histogram: Histogram| -> Option<Vec<f64>> {
        [0.5, 0.99].into_iter().map(|q| histogram.quantile(q).map(middle)).collect()
    };
    let runnable = match grown(LATENCIES) {
        Reading::Value(histogram) => Reading::or_unknown(quantiles(histogram), "no goroutine was ever ready"),
        Reading::Unknown(reason) => Reading::Unknown(reason),
    };
    facts.put_reading(key::GO_RUNNABLE, runnable);
    let pause = grown(PAUSES).map(|histogram| histogram.quantile(1.0).map_or(0.0, middle));
    facts.put_reading(key::GC_PAUSE, pause);
}

/// The middle of a bucket; of one without an end its finite bound.
fn middle((low, high): (f64, f64)) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => (low + high) / 2.0,
        (true, false) => low,
        (false, true) => high,
        (false, false) => 0.0,
    }
}

fn of_profile(facts: &mut Evidence, profile: &CpuProfile, around: &Around) {
    let split = buckets::split(profile);
    let shares: Option<Vec<f64>> = split.buckets.iter().map(|bucket| split.share(bucket)).collect();
    facts.put_reading(key::PROFILE_SHARES, Reading::or_unknown(shares, "the profile has no samples"));
    let all = split.nanoseconds.max(1) as f64;
    let other = split.other.iter().map(|(name, nanoseconds)| {
        let name: Cow<str> = if name.is_empty() { "(no name)".into() } else { name.into() };
        format!("{name} {:.1} %", *nanoseconds as f64 / all * 100.0)
    });
    facts.put(key::PROFILE_OTHER, other.collect::<Vec<_>>().join(", "));
    let rows: Option<Vec<f64>> = cumulative::ROWS
        .iter()
        .map(|row| cumulative::shares(profile, row).map(|shares| shares.cumulative))
        .collect();
    facts.put_reading(key::PROFILE_CUMULATIVE, Reading::or_unknown(rows, "the profile has no samples"));
    facts.put(key::PROFILE_SAMPLES, split.samples as f64);
    let coverage = around.cpu.clone().map(|booked| coverage::Coverage::of(profile, booked, around.seconds));
    facts.put_reading(key::PROFILE_LOST, coverage.clone().map(|coverage| coverage.lost as f64));
    let ratio = match coverage {
        Reading::Value(coverage) => Reading::or_unknown(coverage.ratio(), "no CPU time was booked"),
        Reading::Unknown(reason) => Reading::Unknown(reason),
    };
    facts.put_reading(key::PROFILE_RATIO, ratio);
}

fn unprofiled(facts: &mut Evidence, reason: &str) {
    for key in [key::PROFILE_RATIO, key::PROFILE_SAMPLES, key::PROFILE_LOST] {
        facts.put_unknown(key, reason);
    }
    facts.put_unknown(key::PROFILE_SHARES, reason);
    facts.put_unknown(key::PROFILE_CUMULATIVE, reason);
    facts.put_unknown(key::PROFILE_OTHER, reason);
}
