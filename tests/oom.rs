//! The OOM killer in the middle of a suite: the figure in hand is lost, its reason names the limit, and finished rounds stay.

use std::fs::File;
use std::process::Stdio;

use figure::Record;

use crate::ending::{busy_ticks, descendants, signal};
use crate::group::{Group, Limit};
use crate::killed::{Process, Run, started, wait};
use crate::responder::free_port;

/// Enough for truebench, and not for a second program that takes all.
const LIMIT: u64 = 500 << 20;
/// Clock ticks of CPU time after which some rounds are finished.
const AT_WORK: u64 = 100;

/// Exit code, standard output, standard error.
type Ended = (Option<i32>, String, String);

/// Runs truebench in a control group with little memory. Once a process of the kind `victim` has used `ticks` of CPU time, the group runs
/// out of memory, and the kernel kills that process first.
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
    // While it writes, the last sign may be there by half.
    let read = |name: &str| String::from_utf8_lossy(&std::fs::read(path(name)).unwrap()).into_owned();
    let what = format!("{arguments:?}, {victim}");
    let is_at_work = |process: &Process| process.0 != run.main.id() && busy_ticks(process.0) >= ticks;
    let at_work = || run.of_kind(victim).into_iter().filter(is_at_work).collect::<Vec<Process>>();
    let errors_until = |condition: bool| if condition { Vec::new() } else { vec![read("err")] };
    wait(&what, || errors_until(!at_work().is_empty()));
    let victims = at_work();
    // Workers have the highest score from the beginning, and children inherit it.
    let with_children = |process: &Process| [vec![process.0], descendants(process.0)].concat();
    let first: Vec<u32> = victims.iter().flat_map(with_children).collect();
    for (process, _) in run.processes() {
        let score = if first.contains(&process) { "1000" } else { "0" };
        let _ = std::fs::write(format!("/proc/{process}/oom_score_adj"), score);
    }
    // The kernel kills it too, after the victim.
    let mut balloon = group.command("sh");
    balloon.args(["-c", "head -c 2G /dev/zero | tail -c 2G"]).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!balloon.status().unwrap().success(), "{what}: the group has no limit");
    // Ctrl-C ends a run of endless rounds, once another process has taken the victim's place.
    let has_ended = || started(run.main.id()).is_none();
    let has_successor = || at_work().iter().any(|process| !victims.contains(process));
    wait(&what, || errors_until(has_ended() || has_successor()));
    if !has_ended() {
        signal(run.main.id(), libc::SIGINT);
    }
    let mut run = run;
    let status = run.main.wait().unwrap();
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
    // Discarded rounds count as well: other tests may disturb all of them.
    assert!(
        record.figures.iter().any(|figure| !figure.rounds.is_empty()),
        "{victim} {code:?}: {reasons:?}\n{err}"
    );
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
#[ignore = "half a minute of both CPUs: make test-long"]
fn http_names_it() {
    let port = free_port();
    let server = format!("'{}' http null --bind 127.0.0.1:{port}", env!("CARGO_BIN_EXE_truebench"));
    let url = format!("http://127.0.0.1:{port}/");
    let load = ["-c", "4", "-d", "12s", "--rounds", "12", "--no-ceiling"];
    let load = [&["http", "load", "--url", &url, "--server", &server], &load[..]].concat();
    for victim in ["http.client", "null"] {
        a_figure_is_lost_and_its_cause_named(&load, victim);
    }
}

/// truebench exits as the killed program would in a shell: 128 and the signal.
#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
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
