//! Processes of small trees, and this one.

use figure::Reading;
use machine::Tree;
use tempfile::TempDir;

use super::process::{read, samples};
use super::sample::value;
use super::tests::{tree, write};

/// A line of stat, of a name that looks like the line's end.
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

fn with_task(kept: &TempDir, number: u32, voluntary: u64, waited: u64, cpu: u32) {
    let directory = format!("proc/42/task/{number}");
    write(kept, &format!("{directory}/stat"), &stat(0, 0, 2, 900, cpu));
    write(kept, &format!("{directory}/status"), &status(voluntary, "0-1,4"));
    write(kept, &format!("{directory}/schedstat"), &format!("1000 {waited} 17\n"));
}

fn process() -> (TempDir, Tree) {
    let (kept, tree) =
        tree(&[("proc/42/stat", &stat(100, 50, 2, 900, 1)), ("proc/42/status", &status(10, "0-1,4"))]);
    for number in 0..5 {
        write(&kept, &format!("proc/42/fd/{number}"), "");
    }
    with_task(&kept, 42, 10, 1_000_000_000, 1);
    with_task(&kept, 43, 20, 500_000_000, 4);
    (kept, tree)
}

#[test]
fn a_process_is_read() {
    let (_kept, tree) = process();
    let process = read(&tree, 42).into_value().unwrap();
    assert_eq!((process.user, process.system, process.threads), (1.0, 0.5, 2));
    assert_eq!(process.resident, Reading::Value(5216.0 * 1024.0));
    assert_eq!(process.descriptors, Reading::Value(5.0));
    assert_eq!(process.allowed().value().unwrap().to_string(), "0-1,4");
    assert_eq!(process.last().value().unwrap().to_string(), "1,4");
}

#[test]
fn threads_come_and_go_between_two_looks() {
    let (kept, tree) = process();
    let before = read(&tree, 42);
    write(&kept, "proc/42/stat", &stat(180, 70, 2, 900, 1));
    with_task(&kept, 42, 15, 1_250_000_000, 1);
    std::fs::remove_dir_all(kept.path().join("proc/42/task/43")).unwrap();
    with_task(&kept, 44, 2, 125_000_000, 0);
    let changed = samples("server", &before, &read(&tree, 42));
    assert!((value(&changed, "server.user").into_value().unwrap() - 0.8).abs() < 1e-9);
    assert!((value(&changed, "server.system").into_value().unwrap() - 0.2).abs() < 1e-9);
    assert_eq!(value(&changed, "server.voluntary"), Reading::Value(7.0), "5 of the old, 2 of the new");
    assert_eq!(value(&changed, "server.waited"), Reading::Value(0.375));
    assert_eq!(value(&changed, "server.threads"), Reading::Value(2.0));
}

#[test]
fn a_process_that_ends_is_unknown_and_so_is_another_of_its_number() {
    let (kept, tree) = process();
    let before = read(&tree, 42);
    write(&kept, "proc/42/stat", &stat(5, 5, 1, 7777, 1));
    let other = samples("server", &before, &read(&tree, 42));
    let reason = value(&other, "server.user");
    assert_eq!(reason.reason(), Some("the process has ended; another has its number"));
    std::fs::remove_dir_all(kept.path().join("proc/42")).unwrap();
    let gone = samples("server", &before, &read(&tree, 42));
    assert!(
        gone.iter().all(|sample| sample.value.reason() == Some("/proc/42/stat: no such file or directory"))
    );
}

#[test]
fn what_a_kernel_does_not_tell_is_unknown_and_the_rest_is_known() {
    let (kept, tree) = process();
    let before = read(&tree, 42);
    std::fs::remove_file(kept.path().join("proc/42/task/43/schedstat")).unwrap();
    write(&kept, "proc/42/status", "Name:\ta\n");
    let changed = samples("server", &before, &read(&tree, 42));
    assert!(value(&changed, "server.waited").reason().unwrap().contains("task/43/schedstat"));
    assert_eq!(value(&changed, "server.resident").reason(), Some("/proc/42/status: no VmRSS"));
    assert_eq!(value(&changed, "server.voluntary"), Reading::Value(0.0));
}

#[test]
fn damaged_books_are_unknown() {
    for damaged in ["", ")", "42", "42 (a", "42 (a)", "42 (a) S 1 2 3", "\u{0}"] {
        let (_kept, tree) = tree(&[("proc/42/stat", damaged)]);
        assert!(read(&tree, 42).reason().is_some(), "{damaged:?}");
    }
}

#[test]
fn this_process_is_seen_to_work() {
    let own = std::process::id();
    let before = read(&Tree::live(), own);
    let files: Vec<_> = (0..20).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    let begun = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // 0.1 s of CPU: ten ticks.
    while rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_nsec
        < begun.tv_nsec + 100_000_000
        && rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec == begun.tv_sec
    {
        std::hint::black_box(files.len());
    }
    let after = read(&Tree::live(), own);
    let changed = samples("own", &before, &after);
    let spent = value(&changed, "own.user").and(value(&changed, "own.system")).into_value().unwrap();
    assert!(spent.0 + spent.1 >= 0.02, "{spent:?}");
    assert!(value(&changed, "own.threads").into_value().unwrap() >= 1.0);
    assert!(value(&changed, "own.descriptors").into_value().unwrap() >= 20.0);
    assert!(!after.into_value().unwrap().last().into_value().unwrap().is_empty());
    drop(files);
}
