//! Processes of captured trees, and this one.

use figure::Reading;
use machine::Tree;
use tempfile::TempDir;

use super::process::{self, Process};
use super::process_growth::samples;
use super::process_set::ProcessSet;
use super::sample::{Sample, value};
use super::tests::{tree, write};

/// A stat line with a process name that looks like its end.
fn stat(user: u64, system: u64, threads: u64, started: u64, cpu: u32) -> String {
    let zeros = |n: usize| vec!["0"; n].join(" ");
    format!(
        "42 (a) R 1 (b) S {} {user} {system} {} {threads} 0 {started} {} {cpu} {}\n",
        zeros(10),
        zeros(4),
        zeros(16),
        zeros(13)
    )
}

fn status(voluntary: u64, cpus: &str) -> String {
    format!(
        "Name:\ta\nVmRSS:\t    5216 kB\nCpus_allowed_list:\t{cpus}\nvoluntary_ctxt_switches:\t{voluntary}\n\
         nonvoluntary_ctxt_switches:\t3\n"
    )
}

fn with_task(root: &TempDir, number: u32, voluntary: u64, waited: u64, cpu: u32) {
    let directory = format!("proc/42/task/{number}");
    write(root, &format!("{directory}/stat"), &stat(0, 0, 2, 900, cpu));
    write(root, &format!("{directory}/status"), &status(voluntary, "0-1,4"));
    write(root, &format!("{directory}/schedstat"), &format!("1000 {waited} 17\n"));
}

fn read(tree: &Tree, pid: u32) -> Option<Process> {
    process::read(tree, pid, process::times(tree, pid)?)
}

fn set(tree: &Tree) -> ProcessSet {
    ProcessSet::new(tree.clone(), &[42], None)
}

fn unknown(samples: &[Sample], name: &str) -> String {
    value(samples, name).reason().unwrap().to_owned()
}

fn process() -> (TempDir, Tree) {
    let (root, tree) =
        tree(&[("proc/42/stat", &stat(100, 50, 2, 900, 1)), ("proc/42/status", &status(10, "0-1,4"))]);
    for number in 0..5 {
        write(&root, &format!("proc/42/fd/{number}"), "");
    }
    with_task(&root, 42, 10, 1_000_000_000, 1);
    with_task(&root, 43, 20, 500_000_000, 4);
    (root, tree)
}

#[test]
fn a_process_is_read() {
    let (_root, tree) = process();
    let process = read(&tree, 42).unwrap();
    let times = &process.times;
    assert_eq!((times.user, times.system, times.cpu, times.threads), (1.0, 0.5, 1.5, 2));
    assert_eq!(process.resident, Reading::Value(5216.0 * 1024.0));
    assert_eq!(process.descriptors, Reading::Value(5.0));
    assert_eq!(process.allowed().value().unwrap().to_string(), "0-1,4");
    assert_eq!(process.last().value().unwrap().to_string(), "1,4");
}

#[test]
fn threads_come_and_go_between_two_snapshots() {
    let (root, tree) = process();
    let set = set(&tree);
    let before = set.read();
    write(&root, "proc/42/stat", &stat(180, 70, 2, 900, 1));
    with_task(&root, 42, 15, 1_250_000_000, 1);
    std::fs::remove_dir_all(root.path().join("proc/42/task/43")).unwrap();
    with_task(&root, 44, 2, 125_000_000, 0);
    let changed = samples("server", &before, &set.read());
    assert!((value(&changed, "server.user").into_value().unwrap() - 0.8).abs() < 1e-9);
    assert!((value(&changed, "server.system").into_value().unwrap() - 0.2).abs() < 1e-9);
    assert_eq!(value(&changed, "server.voluntary"), Reading::Value(7.0), "5 of the old, 2 of the new");
    assert_eq!(value(&changed, "server.waited"), Reading::Value(0.375));
    assert_eq!(value(&changed, "server.threads"), Reading::Value(2.0));
}

#[test]
fn an_ended_process_is_unknown_and_a_reused_pid_is_another() {
    let (root, tree) = process();
    let set = set(&tree);
    let before = set.read();
    write(&root, "proc/42/stat", &stat(5, 5, 1, 7777, 1));
    assert_eq!(set.read().reason(), Some("the server has ended"));
    std::fs::remove_dir_all(root.path().join("proc/42")).unwrap();
    let changes = samples("server", &before, &set.read());
    assert!(changes.iter().all(|sample| sample.value.reason() == Some("the server has ended")));
}

#[test]
fn a_missing_file_does_not_affect_other_counters() {
    let (root, tree) = process();
    let set = set(&tree);
    let before = set.read();
    std::fs::remove_file(root.path().join("proc/42/task/43/schedstat")).unwrap();
    write(&root, "proc/42/status", "Name:\ta\n");
    let changed = samples("server", &before, &set.read());
    assert!(unknown(&changed, "server.waited").contains("task/43/schedstat"));
    assert_eq!(unknown(&changed, "server.resident"), "/proc/42/status: no VmRSS");
    assert_eq!(value(&changed, "server.voluntary"), Reading::Value(0.0));
}

#[test]
fn a_damaged_stat_file_is_unknown() {
    for damaged in ["", ")", "42", "42 (a", "42 (a)", "42 (a) S 1 2 3", "\u{0}"] {
        let (_root, tree) = tree(&[("proc/42/stat", damaged)]);
        assert!(read(&tree, 42).is_none(), "{damaged:?}");
    }
}

#[test]
fn this_process_uses_cpu_time() {
    let set = ProcessSet::new(Tree::live(), &[std::process::id()], None);
    let before = set.read();
    let files: Vec<_> = (0..20).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    let start = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // 0.1 s of CPU: ten ticks.
    while rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_nsec
        < start.tv_nsec + 100_000_000
        && rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec == start.tv_sec
    {
        std::hint::black_box(files.len());
    }
    let after = set.read();
    let changed = samples("own", &before, &after);
    let spent = value(&changed, "own.user").and(value(&changed, "own.system")).into_value().unwrap();
    assert!(spent.0 + spent.1 >= 0.02, "{spent:?}");
    assert!(value(&changed, "own.threads").into_value().unwrap() >= 1.0);
    assert!(value(&changed, "own.descriptors").into_value().unwrap() >= 20.0);
    let members = after.into_value().unwrap();
    assert!(!members[&std::process::id()].last().into_value().unwrap().is_empty());
    drop(files);
}
