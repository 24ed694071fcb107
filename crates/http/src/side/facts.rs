//! What was seen of a server, as evidence.

use std::borrow::Cow;

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{CpuList, Evidence, Reading};
use machine::Tree;

use super::subject::Subjects;
use crate::profile::pprof::CpuProfile;
use crate::profile::{buckets, coverage, cumulative};
use crate::watch::go::{
    GC_CPU, GC_CYCLES, GOROUTINES, GOROUTINES_CREATED, HEAP_ALLOCATED, Histogram, LATENCIES, PAUSES, Runtime,
};
use crate::watch::sample::{Sample, value};
use crate::watch::watcher::Seen as Watched;
use crate::watch::{network, process};

/// The server's processes in the timeline.
const SERVER: &str = "server";

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
    /// Processes of the server.
    pub servers: usize,
}

/// The name of the server's process number `at` in the timeline.
pub fn server_name(at: usize) -> String {
    if at == 0 { SERVER.to_owned() } else { format!("{SERVER}.{}", at + 1) }
}

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
    let unseen = "the server's process is not known: give it by --server-pid";
    let at_start = running.pid.map(|pid| process::read(&tree, pid));
    let resident = match at_start {
        Some(Reading::Value(process)) => process.resident,
        Some(Reading::Unknown(reason)) => Reading::Unknown(reason),
        None => Reading::unknown(unseen),
    };
    facts.put_reading(key::RESIDENT_BEFORE, resident);
    let arguments = running.pid.map(|pid| tree.text(format!("/proc/{pid}/cmdline")));
    let arguments = arguments.unwrap_or_else(|| Reading::unknown(unseen));
    let words =
        |text: String| text.trim_end_matches('\0').replace('\0', " ").chars().take(400).collect::<String>();
    facts.put_reading(key::SERVER_ARGUMENTS, arguments.map(words));
    let limit = running.pid.map(|pid| files_limit(&tree, pid)).unwrap_or_else(|| Reading::unknown(unseen));
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

/// The sum of a column over all of the server's processes.
fn sum(around: &Around, what: &str) -> Reading<f64> {
    let mut all = Reading::Value(0.0);
    for at in 0..around.servers {
        let one = value(&around.watched.totals, &format!("{}.{what}", server_name(at)));
        all = all.and(one).map(|(all, one)| all + one);
    }
    if around.servers == 0 { Reading::unknown("the server's process is not known") } else { all }
}

fn of_processes(facts: &mut Evidence, around: &Around) {
    let [user, system, voluntary, involuntary, waited, threads, resident, files] = process::NAMES;
    // The kernel books user and system time by samples and their sum exactly: the sum is spread by the samples.
    let booked = sum(around, user).and(sum(around, system));
    let split = booked.and(around.cpu.clone()).map(|((user, system), cpu)| {
        let share = if user + system > 0.0 { user / (user + system) } else { 0.5 };
        (cpu * share, cpu * (1.0 - share))
    });
    facts.put_reading(key::SERVER_USER, split.clone().map(|(user, _)| user));
    facts.put_reading(key::SERVER_SYSTEM, split.map(|(_, system)| system));
    facts.put_reading(key::SERVER_DELAY, sum(around, waited));
    facts.put_reading(key::SERVER_THROTTLED, around.throttled.clone());
    let switches = sum(around, voluntary).and(sum(around, involuntary));
    facts.put_reading(key::SERVER_SWITCHES, switches.map(|(one, other)| vec![one, other]));
    facts.put_reading(key::SERVER_THREADS, sum(around, threads));
    facts.put_reading(key::SERVER_RESIDENT, sum(around, resident));
    facts.put_reading(key::SERVER_FILES, sum(around, files));
    let places = || around.watched.places.iter().take(around.servers);
    let union = |of: fn(&crate::watch::watcher::Places) -> &Reading<CpuList>| {
        let mut all = Reading::Value(Vec::new());
        for place in places() {
            all = all.and(of(place).clone()).map(|(mut all, cpus): (Vec<f64>, CpuList)| {
                all.extend(cpus.iter().map(f64::from));
                all
            });
        }
        if around.servers == 0 { Reading::unknown("the server's process is not known") } else { all }
    };
    facts.put_reading(key::SERVER_ALLOWED, union(|place| &place.allowed));
    facts.put_reading(key::SERVER_SEEN, union(|place| &place.seen));
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
            before.number(name).and(after.number(name)).map(|(before, after)| after - before)
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
