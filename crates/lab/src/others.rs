//! Other processes that used CPU time during rounds, as evidence of these rounds.
//!
//! All processes are read between rounds: before the first, and then about once a second. Their CPU time in
//! between is written to every round of that interval. This costs no round any time.

use std::time::{Duration, Instant};

use figure::evidence::{CPUS, OTHERS_CPUS, OTHERS_HIDDEN, OTHERS_NAMES, OTHERS_PIDS, http};
use figure::{CpuList, Evidence, Figure, Reading};
use machine::Tree;
use machine::processes::{self, Snapshot};

/// Shortest interval: clock ticks resolve 1 % of a second.
const INTERVAL: Duration = Duration::from_secs(1);
/// An interval is at least this many times as long as reading the processes, which then costs at most 2 %.
const COST_FACTOR: u32 = 50;
/// An older snapshot is retaken before a round, so that the interval does not include preparing.
const FRESH: Duration = Duration::from_millis(100);
const CANDIDATES: usize = 24;
const MAX_RECORDED: usize = 8;
/// Least number of busy CPUs of a recorded process.
const MIN_CPUS: f64 = 0.01;

#[derive(Debug)]
pub struct Others {
    tree: Tree,
    /// Processes of the run. Their descendants belong to it too.
    excluded: Vec<u32>,
    last: Option<(Instant, Reading<Snapshot>)>,
    /// Duration of the last snapshot.
    cost: Duration,
    /// Rounds since then: indices of the figure, and of the round in it.
    rounds: Vec<(usize, usize)>,
}

impl Others {
    pub fn new(tree: Tree, excluded: Vec<u32>) -> Self {
        Others { tree, excluded, last: None, cost: Duration::ZERO, rounds: Vec::new() }
    }

    /// Excludes a process that is not a descendant of truebench, such as a server that already ran.
    pub fn exclude(&mut self, process: u32) {
        self.excluded.push(process);
    }

    pub fn before_round(&mut self) {
        let is_fresh = self.last.as_ref().is_some_and(|(at, _)| at.elapsed() < FRESH);
        if self.rounds.is_empty() && !is_fresh {
            self.last = Some(self.snapshot());
        }
    }

    /// Call this after each round. It is the last round of the figure with this index.
    pub fn after_round(&mut self, index: usize, figures: &mut [Figure]) {
        let Some(round) = figures.get(index).and_then(|figure| figure.rounds.len().checked_sub(1)) else {
            return;
        };
        self.rounds.push((index, round));
        let elapsed = self.last.as_ref().map_or(Duration::ZERO, |(at, _)| at.elapsed());
        if elapsed >= INTERVAL.max(self.cost * COST_FACTOR) {
            self.write(figures);
        }
    }

    /// Writes the evidence of all rounds since the last call.
    pub fn write(&mut self, figures: &mut [Figure]) {
        let rounds = std::mem::take(&mut self.rounds);
        let Some((start, before)) = self.last.take().filter(|_| !rounds.is_empty()) else { return };
        let (now, after) = self.snapshot();
        let seconds = now.duration_since(start).as_secs_f64();
        let change = self.change(&before, &after, seconds);
        self.last = Some((now, after));
        for (index, round) in rounds {
            let figure = &mut figures[index];
            let cpus = cpus(figure);
            write(&mut figure.rounds[round].evidence, &change, &cpus);
        }
    }

    fn snapshot(&mut self) -> (Instant, Reading<Snapshot>) {
        let start = Instant::now();
        let snapshot = Snapshot::read(&self.tree);
        self.cost = start.elapsed();
        (start, snapshot)
    }

    fn change(&self, before: &Reading<Snapshot>, after: &Reading<Snapshot>, seconds: f64) -> Reading<Change> {
        let (before, after) = match (before, after) {
            (Reading::Value(before), Reading::Value(after)) => (before, after),
            (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => return Reading::unknown(reason),
        };
        let busy = after.since(before, &self.excluded).into_iter().map(|used| Busy {
            cpus: used.seconds / seconds,
            name: used.name,
            pid: used.pid,
            allowed: processes::allowed(&self.tree, used.pid),
            last: last_cpu(&self.tree, used.pid),
        });
        let busy = busy.filter(|busy| busy.cpus >= MIN_CPUS).take(CANDIDATES).collect();
        Reading::Value(Change { busy, hidden: after.hidden().to_owned() })
    }
}

struct Change {
    busy: Vec<Busy>,
    hidden: String,
}

struct Busy {
    name: String,
    pid: u32,
    /// CPUs that it used on average.
    cpus: f64,
    allowed: Option<CpuList>,
    last: Option<u32>,
}

impl Busy {
    /// How many of these CPUs it used. All of its CPU time counts if it ran there last or may run
    /// nowhere else. Otherwise it counts by the share of its allowed CPUs that are among these.
    fn on(&self, cpus: &CpuList) -> f64 {
        let ran_there = self.last.is_some_and(|last| cpus.contains(last));
        let share = self.allowed.as_ref().filter(|allowed| !allowed.is_empty()).map_or(1.0, |allowed| {
            let common = allowed.iter().filter(|cpu| cpus.contains(*cpu)).count();
            common as f64 / allowed.len() as f64
        });
        self.cpus * if cpus.is_empty() || (ran_there && share > 0.0) { 1.0 } else { share }
    }
}

/// The CPU on which the main thread of a process ran last.
fn last_cpu(tree: &Tree, process: u32) -> Option<u32> {
    let stat = tree.is_live().then(|| crate::process_tree::stat(process)).flatten()?;
    stat.processor.and_then(|cpu| u32::try_from(cpu).ok())
}

/// The CPUs that a figure is measured on; empty if it is not pinned.
pub(crate) fn cpus(figure: &Figure) -> CpuList {
    let keys = [CPUS, http::CLIENT_CPUS, http::SERVER_CPUS];
    let lists = keys.into_iter().filter_map(|key| figure.conditions.get(key));
    lists.flatten().filter(|cpu| *cpu >= 0.0).map(|cpu| cpu as u32).collect()
}

fn write(evidence: &mut Evidence, change: &Reading<Change>, cpus: &CpuList) {
    match change {
        Reading::Value(change) => {
            let used = change.busy.iter().map(|busy| (busy, busy.on(cpus)));
            let mut used: Vec<(&Busy, f64)> = used.filter(|(_, used)| *used >= MIN_CPUS).collect();
            used.sort_by(|a, b| b.1.total_cmp(&a.1));
            used.truncate(MAX_RECORDED);
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

    /// The processes recorded for a figure on these CPUs while `child` is busy for 0.2 s.
    fn recorded(excluded: Vec<u32>, child: &Child, cpus: Vec<f64>) -> Vec<f64> {
        let mut others = Others::new(Tree::live(), excluded);
        let mut figures = [figure(vec![]), figure(cpus)];
        others.before_round();
        add_round(&mut figures[1]);
        others.after_round(1, &mut figures);
        let start = crate::process_tree::stat(child.id()).expect("it runs").utime;
        while crate::process_tree::stat(child.id()).expect("it runs").utime < start + 20 {
            std::thread::yield_now();
        }
        add_round(&mut figures[1]);
        others.after_round(1, &mut figures);
        others.write(&mut figures);
        let pids = |round: &Round| round.evidence.get(OTHERS_PIDS).into_value().expect("recorded");
        let [first, second] = figures[1].rounds.as_slice() else { panic!("two rounds") };
        assert!(figures[0].rounds.is_empty());
        // On a slow machine each round has its own interval.
        if pids(first).is_empty() { pids(second) } else { pids(first) }
    }

    #[test]
    fn a_busy_process_is_recorded_unless_it_is_excluded_or_elsewhere() {
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
        while crate::process_tree::stat(busy.0.id()).is_none_or(|stat| stat.comm != "sh") {
            std::thread::yield_now();
        }
        // On a busy machine other processes come first.
        let is_there = |pids: Vec<f64>| pids.contains(&pid) || pids.len() == MAX_RECORDED;
        assert!(is_there(recorded(vec![], &busy.0, vec![f64::from(first)])));
        assert!(is_there(recorded(vec![], &busy.0, vec![])), "not pinned");
        let elsewhere = recorded(vec![], &busy.0, vec![f64::from(first) + 4096.0]);
        assert!(!elsewhere.contains(&pid), "on other CPUs");
        assert!(!recorded(vec![std::process::id()], &busy.0, vec![]).contains(&pid), "a descendant");
    }

    #[test]
    fn cpu_time_counts_on_the_cpus_where_it_was_used() {
        let cpus_used = |allowed: &str, last: u32, cpus: &str| {
            let (allowed, name) = (allowed.parse().ok(), String::new());
            let busy = super::Busy { name, pid: 1, cpus: 0.8, allowed, last: Some(last) };
            busy.on(&cpus.parse().unwrap())
        };
        assert_eq!(cpus_used("0-3", 2, "0"), 0.2, "a quarter of its CPUs");
        assert_eq!(cpus_used("0-3", 0, "0"), 0.8, "it ran there last");
        assert_eq!(cpus_used("0", 0, "0-1"), 0.8, "it may run nowhere else");
        assert_eq!(cpus_used("4-5", 4, "0-1"), 0.0);
        assert_eq!(cpus_used("4-5", 0, "0-1"), 0.0, "it was moved away");
        assert_eq!(cpus_used("0-3", 2, ""), 0.8, "not pinned");
    }

    #[test]
    fn without_processes_the_reason_is_recorded() {
        let empty = tempfile::tempdir().unwrap();
        let mut others = Others::new(Tree::at(empty.path()), vec![]);
        let mut figures = [figure(vec![])];
        others.before_round();
        add_round(&mut figures[0]);
        others.after_round(0, &mut figures);
        others.write(&mut figures);
        let reading = figures[0].rounds[0].evidence.get(OTHERS_NAMES);
        assert_eq!(reading.reason(), Some("/proc shows no processes"));
    }
}
