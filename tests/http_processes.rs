//! `truebench http load --server`: a server of several processes is measured as a whole, also if some end and others replace them.

use std::process::{Command, Stdio};

use figure::evidence::http as key;
use figure::series::Timeline;
use figure::{Record, Status};

use crate::bench::truebench;
use crate::ending::{alive, descendants, signal, until};
use crate::http_load::{BRIEF, any_server, is_there, lived};
use crate::responder::{free_port, head, load, over_rounds};

/// A supervisor of two null responders at one port: the shell, one shell for each, which starts it again when it ends, and the responders.
const PROCESSES: f64 = 5.0;

fn prefork(port: u16) -> String {
    let responder = format!("'{}' http null --bind 127.0.0.1:{port}", env!("CARGO_BIN_EXE_truebench"));
    format!("keep() {{ while :; do {responder}; done; }}; keep & keep & wait")
}

/// Whether the arguments of a process, each ended by a NUL, are those of a worker.
type IsWorker = fn(&str) -> bool;

/// The workers below a process.
fn workers(below: u32, is_worker: IsWorker) -> Vec<u32> {
    let arguments = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let is_it = |pid: &u32| is_worker(&String::from_utf8_lossy(&arguments(pid)));
    descendants(below).into_iter().filter(is_it).collect()
}

fn values(timeline: &Timeline, name: &str) -> Vec<f64> {
    let column = timeline.columns.iter().find(|column| column.name == name).expect(name);
    column.values.iter().flatten().copied().collect()
}

/// Loads a server of which a worker is killed meanwhile, and another takes its place.
fn with_a_worker_killed(command: &str, port: u16, is_worker: IsWorker) -> Record {
    let url = format!("http://127.0.0.1:{port}/");
    // Rounds of 0.3 s.
    let options = ["http", "load", "--url", &url, "--server", command, "--no-ceiling", "--format", "json"];
    let load = ["-c", "16", "-d", "12s", "--rounds", "40"];
    let mut run: Command = truebench(&[&options[..], &load].concat());
    let child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let own = child.id();
    // Preparing takes 1 s.
    until(|| {
        let all = workers(own, is_worker);
        all.len() == 2 && all.iter().all(|pid| lived(*pid) > 4.0)
    });
    let killed = workers(own, is_worker)[0];
    signal(killed, libc::SIGKILL);
    until(|| {
        let all = workers(own, is_worker);
        all.len() == 2 && !all.contains(&killed)
    });
    let all = descendants(own);
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}", output.status);
    assert!(!all.iter().any(|pid| alive(*pid)), "nothing is left behind");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All of at least so many processes are in the rounds and in the timeline.
fn assert_measured_as_a_whole(record: &Record, least: f64) {
    let head = head(record);
    assert_eq!(head.status, Status::Measured, "{:?}", head.reason);
    let counts = over_rounds(head, key::SERVER_PROCESSES);
    // Some shells stay above the command that they were given, and some become it.
    let processes = counts[0];
    assert!(processes >= least && counts.last() == Some(&processes), "{counts:?}");
    // Between a worker's end and its successor's start one is missing.
    assert!(counts.iter().all(|count| *count >= processes - 1.0 && *count <= processes), "{counts:?}");
    for seconds in over_rounds(head, key::SERVER_USER).iter().zip(over_rounds(head, key::SERVER_SYSTEM)) {
        assert!(*seconds.0 >= 0.0 && seconds.1 >= 0.0, "{seconds:?}");
    }
    let timeline = head.timeline.as_ref().expect("a timeline");
    let threads = values(timeline, "server.threads");
    assert!(threads.iter().all(|threads| *threads >= processes - 1.0), "{threads:?}");
    assert!(values(timeline, "server.processes").contains(&processes));
    assert!(timeline.columns.iter().all(|column| !column.name.starts_with("server.2.")));
    // Busy CPUs, by the timeline, which has them in ticks of each process, and by the rounds.
    let widths = timeline.seconds.iter().scan(0.0, |before, end| Some(end - std::mem::replace(before, *end)));
    let widths: Vec<f64> = widths.collect();
    let busy = |name: &str| {
        let all = &timeline.columns.iter().find(|column| column.name == name).expect(name).values;
        let known = all.iter().zip(&widths).filter_map(|(busy, width)| Some((busy.as_ref()? * width, width)));
        let (cpu, time) = known.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        cpu / time
    };
    let sampled = busy("server.user") + busy("server.system");
    let sum = |fact| over_rounds(head, fact).iter().sum::<f64>();
    let booked = (sum(key::SERVER_USER) + sum(key::SERVER_SYSTEM)) / sum(key::SECONDS);
    assert!(
        booked > 0.0 && sampled > 0.5 * booked && sampled < 2.0 * booked,
        "{sampled} by the timeline, {booked} by the rounds"
    );
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn a_supervisor_and_its_workers_are_one_server() {
    let port = free_port();
    let record = with_a_worker_killed(&prefork(port), port, |words| words.contains("\0http\0null\0"));
    assert_measured_as_a_whole(&record, PROCESSES);
    memory_is_of_connections(&record);
}

#[test]
fn nginx_with_two_workers_is_one_server() {
    let port = free_port();
    let Some((command, _files)) = any_server(port).filter(|_| is_there("nginx")) else {
        eprintln!("skipped: nginx is not installed");
        return;
    };
    let record = with_a_worker_killed(&command, port, |words| words.starts_with("nginx: worker process"));
    assert_measured_as_a_whole(&record, 3.0);
    memory_is_of_connections(&record);
}

/// A daemon is no longer below the command that started it: it is found by its port, and ends with the run.
#[test]
fn a_daemon_is_found_by_its_port() {
    let port = free_port();
    let Some((command, files)) = any_server(port).filter(|_| is_there("nginx")) else {
        eprintln!("skipped: nginx is not installed");
        return;
    };
    let conf = files.path().join("nginx.conf");
    let text = std::fs::read_to_string(&conf).unwrap();
    std::fs::write(&conf, text.replace("daemon off;", "daemon on;")).unwrap();
    let record = load(&format!("http://127.0.0.1:{port}/"), &[&["--server", &command], BRIEF].concat());
    assert_eq!(over_rounds(head(&record), key::SERVER_PROCESSES), [3.0; 2]);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "it still listens");
}

/// Sixteen connections add little to a server of several MiB: what the server is without them is not theirs.
fn memory_is_of_connections(record: &Record) {
    let memory = record.figure(&format!("{}.memory", head(record).id)).expect("a figure of it");
    match memory.value {
        None => assert!(memory.status == Status::NotAvailable && memory.reason.is_some()),
        Some(bytes) => {
            let under = over_rounds(head(record), key::SERVER_RESIDENT)[0];
            assert!(bytes < 0.5 * under / 16.0, "{bytes} of {under} for 16");
            assert!(memory.interval.is_some() || head(record).used_rounds().count() < 6);
        }
    }
}
