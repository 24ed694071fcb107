//! Process sets: of captured trees, and of real processes that fork, end, and are orphaned.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use machine::Tree;

use super::super::process::Times;
use super::super::process_growth::{cpu_spent, samples};
use super::super::sample::value;
use super::super::tests::{tree, write};
use super::*;

/// A stat line: parent, group, ticks of the process and of reaped children, start time.
fn stat(state: char, parent: u32, group: u32, ticks: u64, reaped: u64, started: u64) -> String {
    format!(
        "7 (a) {state} {parent} {group} 1 0 -1 0 0 0 0 0 {ticks} 0 {reaped} 0 20 0 1 0 {started} 0 0{}",
        " 0".repeat(30)
    )
}

/// A captured tree of processes, by pid.
fn processes(stats: &[(u32, String)]) -> (tempfile::TempDir, Tree) {
    let files: Vec<(String, String)> =
        stats.iter().map(|(pid, stat)| (format!("proc/{pid}/stat"), stat.clone())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    tree(&files)
}

fn numbers(set: &ProcessSet) -> Vec<u32> {
    set.times().into_keys().collect()
}

#[test]
fn all_descendants_and_no_others_are_members() {
    let (_root, tree) = processes(&[
        (10, stat('S', 1, 10, 0, 0, 100)),
        (11, stat('S', 10, 10, 0, 0, 101)),
        (12, stat('S', 11, 12, 0, 0, 102)),
        (13, stat('S', 1, 10, 0, 0, 103)),
        (14, stat('S', 1, 14, 0, 0, 104)),
    ]);
    assert_eq!(numbers(&ProcessSet::new(tree.clone(), &[10], None)), [10, 11, 12]);
    assert_eq!(numbers(&ProcessSet::new(tree, &[10], Some(10))), [10, 11, 12, 13], "an orphan of its group");
}

#[test]
fn an_orphan_stays_a_member_and_a_reused_pid_does_not() {
    let (root, tree) = processes(&[(10, stat('S', 1, 10, 0, 0, 100)), (11, stat('S', 10, 11, 0, 0, 101))]);
    let set = ProcessSet::new(tree, &[10], None);
    std::fs::remove_dir_all(root.path().join("proc/10")).unwrap();
    write(&root, "proc/11/stat", &stat('S', 1, 11, 0, 0, 101));
    assert_eq!(numbers(&set), [11]);
    write(&root, "proc/11/stat", &stat('S', 1, 11, 0, 0, 999));
    assert!(numbers(&set).is_empty());
    assert_eq!(set.read().reason(), Some(ENDED));
}

fn times(parent: u32, started: u64, cpu: f64, reaped: f64) -> Times {
    Times {
        parent,
        group: 1,
        started,
        has_ended: false,
        cpu,
        user: cpu,
        system: 0.0,
        reaped_user: reaped,
        reaped_system: 0.0,
        threads: 1,
    }
}

fn spent_from(before: &[(u32, Times)], after: &[(u32, Times)]) -> f64 {
    let map = |times: &[(u32, Times)]| -> CpuTimes { times.iter().cloned().collect() };
    cpu_spent(&map(before), &map(after))
}

#[test]
fn cpu_time_is_neither_lost_nor_counted_twice_where_processes_end_and_begin() {
    let master = |reaped| (1, times(0, 100, 1.0, reaped));
    let before = [master(2.0), (2, times(1, 101, 5.0, 0.0))];
    let cases = [
        ("nothing happened", vec![master(2.0), (2, times(1, 101, 5.0, 0.0))], 0.0),
        ("it went on", vec![master(2.0), (2, times(1, 101, 5.5, 0.0))], 0.5),
        ("it ended after 0.25 s more, and was waited for", vec![master(7.25)], 0.25),
        ("and another took its place", vec![master(7.25), (3, times(1, 200, 0.5, 0.0))], 0.75),
        ("and that one has its number", vec![master(7.25), (2, times(1, 200, 0.5, 0.0))], 0.75),
        ("it ended, and no process here waited", vec![master(2.0)], 0.0),
        ("one came and went in between", vec![master(2.5), (2, times(1, 101, 5.0, 0.0))], 0.5),
        ("the parent ended, its child went on", vec![(2, times(9, 101, 5.5, 0.0))], 0.5),
    ];
    for (case, after, seconds) in cases {
        assert!((spent_from(&before, &after) - seconds).abs() < 1e-9, "{case}");
    }
    // A child and a grandchild end, each waited for by its parent: the first process has the times of both.
    let before = [(1, times(0, 1, 0.0, 0.0)), (2, times(1, 2, 3.0, 0.0)), (3, times(2, 3, 4.0, 0.0))];
    assert!((spent_from(&before, &[(1, times(0, 1, 0.0, 8.0))]) - 1.0).abs() < 1e-9);
    // Parents in a circle lead to no ancestor.
    let circle = [(1, times(2, 1, 1.0, 0.0)), (2, times(1, 1, 1.0, 0.0))];
    assert_eq!(spent_from(&circle, &[]), 0.0);
}

/// A shell that starts busy workers, replaces one that ended, and prints their pids; ends with its input.
struct Supervisor(Child, BufReader<std::process::ChildStdout>);

const WORKER: &str = "while :; do :; done & echo $!";

impl Supervisor {
    fn start() -> Supervisor {
        let script = format!("{WORKER}; {WORKER}; while read line; do wait %1; {WORKER}; done");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Supervisor(child, output)
    }

    fn worker(&mut self) -> u32 {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    fn replace(&mut self) -> u32 {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.worker()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        lab::process_tree::kill_below(self.0.id());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Waits until processes have used this many CPU seconds.
fn until_spent(set: &ProcessSet, since: &CpuTimes, seconds: f64) -> f64 {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let spent = cpu_spent(since, &set.times());
        if spent >= seconds {
            return spent;
        }
        assert!(Instant::now() < deadline, "{spent} s of {seconds}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_and_replaced_workers_keep_their_cpu_time_in_the_set() {
    let mut server = Supervisor::start();
    let set = ProcessSet::new(Tree::live(), &[server.0.id()], None);
    let (first, second) = (server.worker(), server.worker());
    let before = set.read();
    let since = set.times();
    assert_eq!(since.keys().copied().collect::<Vec<_>>().len(), 3, "{since:?}");
    let worked = until_spent(&set, &since, 0.2);
    kill(first);
    let third = server.replace();
    let running = set.running();
    assert!(!running.contains(&first), "{running:?}");
    assert!(running.contains(&second) && running.contains(&third), "{running:?}");
    let later = until_spent(&set, &since, worked + 0.2);
    // Upper bound from the kernel's counters: what runs, and what the shell has waited for.
    let times_of = |pid| crate::watch::process::times(&Tree::live(), pid).unwrap();
    let reaped = |times: &Times| times.reaped_user + times.reaped_system;
    let shell = server.0.id();
    let (now, replaced) = (times_of(shell), times_of(third));
    assert!(reaped(&now) > 0.0, "the shell has waited for its worker");
    let exact = cpu_spent(&since, &set.times());
    let workers = [second, third].map(|pid| times_of(pid).cpu).iter().sum::<f64>();
    let upper = workers + reaped(&now) + times_of(shell).cpu;
    let lower = replaced.cpu + later - worked;
    assert!(exact <= upper + 0.02 && exact + 0.02 >= lower.min(later), "{lower} <= {exact} <= {upper}");
    let changed = samples("server", &before, &set.read());
    let level = |name: &str| value(&changed, &format!("server.{name}")).into_value().unwrap();
    assert_eq!((level("processes"), level("threads")), (3.0, 3.0));
    let cpu = level("user") + level("system");
    assert!((cpu - exact).abs() < 0.2, "{cpu} {exact}");
    let resident = set.sum(process::resident).into_value().unwrap();
    match set.sum(process::proportional) {
        Reading::Value(proportional) => {
            assert!(proportional > 0.0 && proportional < resident, "{proportional} {resident}");
        }
        Reading::Unknown(reason) => eprintln!("skipped: PSS: {reason}"),
    }
    drop(server);
    // A killed process ends when it next runs.
    let deadline = Instant::now() + Duration::from_secs(120);
    while set.read().reason() != Some(ENDED) {
        assert!(Instant::now() < deadline, "{:?}", set.running());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn listening_processes_are_found() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let pids = listening(&Tree::live(), None, address);
    if pids.is_empty() {
        eprintln!("skipped: sock_diag is not allowed here");
        return;
    }
    // Other tests of this process may fork at this moment, but their children do not live on with the socket.
    assert!(pids.contains(&std::process::id()), "{pids:?}");
    drop(listener);
    assert!(!listening(&Tree::live(), None, address).contains(&std::process::id()));
}
