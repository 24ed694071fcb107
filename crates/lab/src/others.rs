//! Which other processes used CPU time while rounds ran, as evidence of these rounds.
//!
//! All processes are read between rounds, never in one: before the first, and then about once a second. What they used in between is
//! written to every round of that time. That costs the run some milliseconds a second, and no round anything.

use std::time::{Duration, Instant};

use figure::evidence::{CPUS, OTHERS_CPUS, OTHERS_HIDDEN, OTHERS_NAMES, OTHERS_PIDS, http};
use figure::{CpuList, Evidence, Figure, Reading};
use machine::Tree;
use machine::processes::{self, Snapshot};

/// Clock ticks resolve 1 % of a second.
const INTERVAL: Duration = Duration::from_secs(1);
/// An interval lasts at least so many times what reading the processes takes: at most 2 % of the time is spent on it.
const SHARE: u32 = 50;
/// A snapshot that is older than this is taken again before a round: preparing is no part of the rounds.
const FRESH: Duration = Duration::from_millis(100);
/// The most processes that are looked at for an interval, the most that are noted, and the least CPUs that they kept busy.
const CANDIDATES: usize = 24;
const MOST: usize = 8;
const LEAST: f64 = 0.01;

/// Watches the other processes for a run.
#[derive(Debug)]
pub struct Others {
    tree: Tree,
    /// Processes that belong to the run, with all below them.
    own: Vec<u32>,
    last: Option<(Instant, Reading<Snapshot>)>,
    /// What the last snapshot took.
    cost: Duration,
    /// Rounds since then: the indices of their figures, and of themselves there.
    rounds: Vec<(usize, usize)>,
}

impl Others {
    /// Watches the processes of `tree` that are neither `own` nor below these.
    pub fn new(tree: Tree, own: Vec<u32>) -> Self {
        Others { tree, own, last: None, cost: Duration::ZERO, rounds: Vec::new() }
    }

    /// A process belongs to the run, though it is not below us: a server that runs already.
    pub fn belongs(&mut self, process: u32) {
        self.own.push(process);
    }

    /// To be called before each round.
    pub fn before(&mut self) {
        let is_fresh = self.last.as_ref().is_some_and(|(at, _)| at.elapsed() < FRESH);
        if self.rounds.is_empty() && !is_fresh {
            self.last = Some(self.snapshot());
        }
    }

    /// To be called after each round: it is the last of the figure of this index.
    pub fn after(&mut self, index: usize, figures: &mut [Figure]) {
        let Some(round) = figures.get(index).and_then(|figure| figure.rounds.len().checked_sub(1)) else {
            return;
        };
        self.rounds.push((index, round));
        let elapsed = self.last.as_ref().map_or(Duration::ZERO, |(at, _)| at.elapsed());
        if elapsed >= INTERVAL.max(self.cost * SHARE) {
            self.write(figures);
        }
    }

    /// Writes the evidence of the rounds that have none yet.
    pub fn write(&mut self, figures: &mut [Figure]) {
        let rounds = std::mem::take(&mut self.rounds);
        let Some((begun, before)) = self.last.take().filter(|_| !rounds.is_empty()) else { return };
        let (now, after) = self.snapshot();
        let seconds = now.duration_since(begun).as_secs_f64();
        let change = self.change(&before, &after, seconds);
        self.last = Some((now, after));
        for (index, round) in rounds {
            let figure = &mut figures[index];
            let cpus = cpus(figure);
            write(&mut figure.rounds[round].evidence, &change, &cpus);
        }
    }

    fn snapshot(&mut self) -> (Instant, Reading<Snapshot>) {
        let begun = Instant::now();
        let snapshot = Snapshot::read(&self.tree);
        self.cost = begun.elapsed();
        (begun, snapshot)
    }

    fn change(&self, before: &Reading<Snapshot>, after: &Reading<Snapshot>, seconds: f64) -> Reading<Change> {
        let (before, after) = match (before, after) {
            (Reading::Value(before), Reading::Value(after)) => (before, after),
            (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => return Reading::unknown(reason),
        };
        let busy = after.since(before, &self.own).into_iter().map(|used| Busy {
            cpus: used.seconds / seconds,
            name: used.name,
            pid: used.pid,
            allowed: processes::allowed(&self.tree, used.pid),
            last: last_cpu(&self.tree, used.pid),
        });
        let busy = busy.filter(|busy| busy.cpus >= LEAST).take(CANDIDATES).collect();
        Reading::Value(Change { busy, hidden: after.hidden().to_owned() })
    }
}

/// Who was busy in an interval.
struct Change {
    busy: Vec<Busy>,
    hidden: String,
}

struct Busy {
    name: String,
    pid: u32,
    /// CPUs that it kept busy on average.
    cpus: f64,
    /// CPUs that it may run on, if that is known.
    allowed: Option<CpuList>,
    /// The CPU on which it ran last, if that is known.
    last: Option<u32>,
}

impl Busy {
    /// How many of these CPUs it kept busy: all that it used if it ran there last, or may run nowhere else; else its part, if it ran on all of
    /// its CPUs alike.
    fn of(&self, cpus: &CpuList) -> f64 {
        let is_there = self.last.is_some_and(|last| cpus.contains(last));
        let part = self.allowed.as_ref().filter(|allowed| !allowed.is_empty()).map_or(1.0, |allowed| {
            let common = allowed.iter().filter(|cpu| cpus.contains(*cpu)).count();
            common as f64 / allowed.len() as f64
        });
        self.cpus * if cpus.is_empty() || (is_there && part > 0.0) { 1.0 } else { part }
    }
}

/// The CPU on which the main thread of a process ran last.
fn last_cpu(tree: &Tree, process: u32) -> Option<u32> {
    let stat = tree.is_live().then(|| crate::tree::stat(process)).flatten()?;
    stat.processor.and_then(|cpu| u32::try_from(cpu).ok())
}

/// The CPUs that a figure is measured on; empty where they are not pinned.
fn cpus(figure: &Figure) -> CpuList {
    let keys = [CPUS, http::CLIENT_CPUS, http::SERVER_CPUS];
    let lists = keys.into_iter().filter_map(|key| figure.conditions.get(key));
    lists.flatten().filter(|cpu| *cpu >= 0.0).map(|cpu| cpu as u32).collect()
}

/// Writes those that used most of these CPUs.
fn write(evidence: &mut Evidence, change: &Reading<Change>, cpus: &CpuList) {
    match change {
        Reading::Value(change) => {
            let used = change.busy.iter().map(|busy| (busy, busy.of(cpus)));
            let mut used: Vec<(&Busy, f64)> = used.filter(|(_, used)| *used >= LEAST).collect();
            used.sort_by(|a, b| b.1.total_cmp(&a.1));
            used.truncate(MOST);
            let names: Vec<&str> = used.iter().map(|(busy, _)| busy.name.as_str()).collect();
            evidence.put(OTHERS_NAMES, names.join("\n"));
            evidence.put(OTHERS_PIDS, used.iter().map(|(busy, _)| f64::from(busy.pid)).collect());
            evidence.put(OTHERS_CPUS, used.iter().map(|(_, used)| (used * 1e3).round() / 1e3).collect());
            evidence.put(OTHERS_HIDDEN, change.hidden.clone());
        }
        Reading::Unknown(reason) => {
            evidence.put_unknown(OTHERS_NAMES, reason);
            evidence.put_unknown(OTHERS_PIDS, reason);
            evidence.put_unknown(OTHERS_CPUS, reason);
            evidence.put_unknown(OTHERS_HIDDEN, reason);
        }
    }
}

#[cfg(test)]
mod unit {
    use std::process::{Child, Command};

    use figure::{Better, Round, Unit};

    use super::*;

    /// A process that keeps a CPU busy until it is dropped.
    struct Busy(Child);

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn figure(cpus: Vec<f64>) -> Figure {
        let mut figure = Figure::planned("a", "s", "a", Unit::ONE, Better::Higher);
        figure.conditions.set(CPUS, cpus);
        figure
    }

    fn add_round(figure: &mut Figure) {
        figure.rounds.push(Round::new(crate::timestamp(), 0.1, vec![1.0], Evidence::default()));
    }

    /// What is noted while a process of ours is busy for half a second, of a figure on these CPUs.
    fn noted(own: Vec<u32>, child: &Child, cpus: Vec<f64>) -> Vec<f64> {
        let mut others = Others::new(Tree::live(), own);
        let mut figures = [figure(vec![]), figure(cpus)];
        others.before();
        add_round(&mut figures[1]);
        others.after(1, &mut figures);
        let begun = crate::tree::stat(child.id()).expect("it runs").utime;
        while crate::tree::stat(child.id()).expect("it runs").utime < begun + 20 {
            std::thread::yield_now();
        }
        add_round(&mut figures[1]);
        others.after(1, &mut figures);
        others.write(&mut figures);
        let of = |round: &Round| round.evidence.get(OTHERS_PIDS).into_value().expect("noted");
        let [first, second] = figures[1].rounds.as_slice() else { panic!("two rounds") };
        assert!(figures[0].rounds.is_empty());
        // Where the machine is slow each has its own second.
        if of(first).is_empty() { of(second) } else { of(first) }
    }

    #[test]
    fn a_busy_process_is_noted_unless_it_is_our_own_or_elsewhere() {
        let allowed = crate::affinity::get().expect("an affinity mask");
        let first = allowed.iter().next().expect("a CPU");
        let mut shell = Command::new("taskset");
        let shell = shell.args(["-c", &first.to_string(), "sh", "-c", "while :; do :; done"]).spawn();
        let Ok(child) = shell else {
            eprintln!("skipped: no taskset");
            return;
        };
        let busy = Busy(child);
        let pid = f64::from(busy.0.id());
        while crate::tree::stat(busy.0.id()).is_none_or(|stat| stat.comm != "sh") {
            std::thread::yield_now();
        }
        // On a machine that is busier than this process makes it, others come first.
        let is_there = |pids: Vec<f64>| pids.contains(&pid) || pids.len() == MOST;
        assert!(is_there(noted(vec![], &busy.0, vec![f64::from(first)])));
        assert!(is_there(noted(vec![], &busy.0, vec![])), "not pinned");
        assert!(!noted(vec![], &busy.0, vec![f64::from(first) + 4096.0]).contains(&pid), "on other CPUs");
        assert!(!noted(vec![std::process::id()], &busy.0, vec![]).contains(&pid), "below us");
    }

    #[test]
    fn what_ran_on_our_cpus_counts_there() {
        let of = |allowed: &str, last: u32, cpus: &str| {
            let (allowed, name) = (allowed.parse().ok(), String::new());
            let busy = super::Busy { name, pid: 1, cpus: 0.8, allowed, last: Some(last) };
            busy.of(&cpus.parse().unwrap())
        };
        assert_eq!(of("0-3", 2, "0"), 0.2, "a quarter of its CPUs");
        assert_eq!(of("0-3", 0, "0"), 0.8, "it ran there last");
        assert_eq!(of("0", 0, "0-1"), 0.8, "it may run nowhere else");
        assert_eq!(of("4-5", 4, "0-1"), 0.0);
        assert_eq!(of("4-5", 0, "0-1"), 0.0, "it was moved away");
        assert_eq!(of("0-3", 2, ""), 0.8, "not pinned");
    }

    #[test]
    fn without_processes_the_reason_is_noted() {
        let empty = tempfile::tempdir().unwrap();
        let mut others = Others::new(Tree::at(empty.path()), vec![]);
        let mut figures = [figure(vec![])];
        others.before();
        add_round(&mut figures[0]);
        others.after(0, &mut figures);
        others.write(&mut figures);
        let reading = figures[0].rounds[0].evidence.get(OTHERS_NAMES);
        assert_eq!(reading.reason(), Some("/proc shows no processes"));
    }
}
