//! Memory that runs out in the middle of a suite: what was in hand is lost, the limit is named, and what was measured before and after is kept.

use std::fs::File;
use std::process::Stdio;

use figure::Record;

use crate::ending::{busy_ticks, descendants, signal};
use crate::group::{Group, Limit};
use crate::killed::{Process, Run, wait};
use crate::responder::free_port;

/// truebench fits, and with it no second program that takes all.
const LIMIT: u64 = 500 << 20;
/// CPU time in clock ticks by which some rounds were measured; a program that sleeps has none.
const AT_WORK: u64 = 100;

/// What came of it: the exit code, standard output, standard error.
type Ended = (Option<i32>, String, String);

/// Runs truebench in a group with little memory, and has the kernel kill this victim for want of it when it has used so much CPU time.
fn killed_for_memory(arguments: &[&str], victim: &str, ticks: u64) -> Option<Ended> {
    let Some(group) = Group::with(&[Limit::Memory(LIMIT)]) else {
        println!("skipped: no control group with a memory limit can be made here");
        return None;
    };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let mut command = group.command(env!("CARGO_BIN_EXE_truebench"));
    command.args(arguments).stdout(File::create(path("out")).unwrap());
    command.stderr(File::create(path("err")).unwrap());
    let run = Run::of(command);
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    let what = format!("{arguments:?}, {victim}");
    let at_work = |run: &Run| {
        let all = run.of_kind(victim).into_iter();
        all.filter(|(process, _)| *process != run.main.id() && busy_ticks(*process) >= ticks)
            .collect::<Vec<Process>>()
    };
    wait(&what, || if at_work(&run).is_empty() { vec![read("err")] } else { Vec::new() });
    let victims = at_work(&run);
    // What they start inherits it. Workers have it from the beginning, to be the first that the kernel kills.
    let below = |process: &Process| [vec![process.0], descendants(process.0)].concat();
    let first: Vec<u32> = victims.iter().flat_map(below).collect();
    for (process, _) in run.processes() {
        let score = if first.contains(&process) { "1000" } else { "0" };
        let _ = std::fs::write(format!("/proc/{process}/oom_score_adj"), score);
    }
    // Killed itself, once the victim is and its memory was not enough.
    let mut balloon = group.command("sh");
    balloon.args(["-c", "head -c 2G /dev/zero | tail -c 2G"]).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!balloon.status().unwrap().success(), "{what}: the group has no limit");
    // What is measured without an end is ended once another has taken the victim's place.
    let run = std::cell::RefCell::new(run);
    let has_ended = || run.borrow_mut().main.try_wait().unwrap().is_some();
    let has_next = || at_work(&run.borrow()).iter().any(|process| !victims.contains(process));
    wait(&what, || if has_ended() || has_next() { Vec::new() } else { vec![read("err")] });
    let mut run = run.into_inner();
    let status = match run.main.try_wait().unwrap() {
        Some(status) => status,
        None => {
            signal(run.main.id(), libc::SIGINT);
            run.main.wait().unwrap()
        }
    };
    run.leaves_nothing(&what);
    Some((status.code(), read("out"), read("err")))
}

fn names_the_limit(text: &str) -> bool {
    text.contains("memory limit of the control group") && text.contains("is 500 MiB")
}

fn a_figure_is_lost_and_its_cause_named(arguments: &[&str], victim: &str) {
    let all = [arguments, &["--format", "json"]].concat();
    let Some((code, out, err)) = killed_for_memory(&all, victim, AT_WORK) else { return };
    let record: Record = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    let reasons: Vec<&str> = record.figures.iter().filter_map(|figure| figure.reason.as_deref()).collect();
    assert!(reasons.iter().any(|reason| names_the_limit(reason)), "{victim} {code:?}: {reasons:?}\n{err}");
    // Also those that are not used, as the test beside this one took the CPUs.
    assert!(
        record.figures.iter().any(|figure| !figure.rounds.is_empty()),
        "{victim} {code:?}: {reasons:?}\n{err}"
    );
    println!("{victim} {reasons:?}");
}

#[test]
fn memory_names_it() {
    let many =
        ["memory", "--array-size", "200000", "--rounds", "10000", "--kernel", "copy", "--kernel", "triad"];
    a_figure_is_lost_and_its_cause_named(&many, "__worker");
}

#[test]
#[ignore = "ten seconds: make test-long"]
fn system_names_it() {
    a_figure_is_lost_and_its_cause_named(&["system", "pipe", "context1", "--rounds", "1000"], "__worker");
}

#[test]
#[ignore = "ten seconds: make test-long"]
fn alloc_names_it() {
    let short = ["alloc", "glibc", "--slots", "40000", "--steps", "2000000", "--rounds", "100", "-t", "1"];
    a_figure_is_lost_and_its_cause_named(&short, "__worker");
}

#[test]
#[ignore = "ten seconds: make test-long"]
fn prices_name_it() {
    a_figure_is_lost_and_its_cause_named(&["faults", "prices"], "__worker");
}

#[test]
fn http_names_it() {
    let port = free_port();
    let server = format!("'{}' http null --bind 127.0.0.1:{port}", env!("CARGO_BIN_EXE_truebench"));
    let url = format!("http://127.0.0.1:{port}/");
    let load = [
        "http",
        "load",
        "--url",
        &url,
        "--server",
        &server,
        "-c",
        "4",
        "-d",
        "12s",
        "--rounds",
        "12",
        "--no-ceiling",
    ];
    for victim in ["http.client", "null"] {
        a_figure_is_lost_and_its_cause_named(&load, victim);
    }
}

/// What befalls a user's program is its own, and its exit code is passed on; a shell adds 128 to the signal.
#[test]
fn a_users_program_is_watched_to_its_end() {
    for program in [&["sleep", "600"][..], &["sh", "-c", "sleep 600; exit $?"]] {
        let arguments = [&["faults", "--"], program].concat();
        let Some((code, out, err)) = killed_for_memory(&arguments, "sleep", 0) else { return };
        assert_eq!(code, Some(137), "{out}{err}");
        // Wrapped to the width of a page.
        let text: Vec<&str> = err.split_whitespace().collect();
        assert!(names_the_limit(&text.join(" ")), "{err}");
    }
}
