//! `truebench http load`: loads of any server, however they are asked for and however they end.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::Stdio;

use figure::evidence::http as key;
use figure::{Record, Status};
use suites::loads::tries;

use crate::bench::{run, stderr, stdout, truebench};
use crate::ending::{alive, descendants, signal, until};
use crate::record::assert_valid;
use crate::responder::{Responder, answer, free_port, head, load, measured, over_rounds};

/// Two rounds of a quarter of a second.
pub const BRIEF: &[&str] = &["-d", "500ms", "--rounds", "2", "-c", "4"];
/// Rounds that no test waits for.
const ENDLESS: &[&str] = &["--no-ceiling", "--format", "json", "-c", "4", "-d", "3000s", "--rounds", "9999"];

fn answered(record: &Record) -> Vec<f64> {
    over_rounds(head(record), key::ANSWERED)
}

#[test]
fn a_time_or_a_number_ends_it() {
    let server = Responder::start(&[]);
    let timed = server.load(BRIEF);
    assert_eq!(head(&timed).status, Status::Measured);
    for seconds in over_rounds(head(&timed), key::SECONDS) {
        assert!((seconds - 0.25).abs() < 1e-3, "{seconds}");
    }
    assert!(answered(&timed).iter().all(|count| *count > 0.0));
    let counted = server.load(&["-n", "1.2k", "--rounds", "3", "-c", "7"]);
    assert_eq!(answered(&counted), [400.0; 3]);
}

#[test]
fn processes_share_requests_connections_and_rate() {
    let server = Responder::start(&[]);
    let counted = server.load(&["-n", "1001", "--rounds", "1", "-c", "5", "-P", "2"]);
    assert_eq!(answered(&counted), [1001.0]);
    assert_eq!(head(&counted).conditions.get(key::PROCESSES), Some(2.0));
    assert_eq!(head(&counted).evidence.get(key::ESTABLISHED).into_value(), Some(5.0));
    let rate = ["-R", "1k", "--arrival", "constant", "-d", "1s", "--rounds", "1", "-c", "8", "-P", "2"];
    let rated = server.load(&rate);
    // What was due is sent and waited for, however late: but for one at each end of each process they are a thousand.
    let due = over_rounds(head(&rated), key::RECORDED)[0];
    assert!((due - 1000.0).abs() <= 4.0, "{due}");
}

#[test]
fn epoll_and_io_uring_agree() {
    let server = Responder::start(&[]);
    let load = |engine| {
        let options = ["http", "load", "--url", &server.url(), "--no-ceiling", "--format", "json"];
        let more = ["-n", "3000", "--rounds", "1", "-c", "8", "--engine", engine];
        run(&[&options[..], &more].concat())
    };
    let uring = load("io_uring");
    if uring.status.code() == Some(1) {
        assert!(stderr(&uring).contains("--engine io_uring: "), "{}", stderr(&uring));
        println!("not tested: {}", stderr(&uring));
        return;
    }
    for (output, engine) in [(uring, "io_uring"), (load("epoll"), "epoll")] {
        let record = crate::bench::record(&output);
        assert_eq!(head(&record).conditions.get(key::CARRIER).as_deref(), Some(engine));
        assert_eq!(answered(&record), [3000.0], "{engine}");
        assert_eq!(over_rounds(head(&record), key::FAILED)[0].iter().sum::<f64>(), 0.0, "{engine}");
        assert_eq!(over_rounds(head(&record), key::SERVED_LEAST).len(), 1);
    }
}

#[test]
fn a_connection_for_each_request() {
    let server = Responder::start(&[]);
    let record = server.load(&["-n", "400", "--rounds", "2", "-c", "4", "--disable-keepalive"]);
    assert_eq!(answered(&record), [200.0; 2]);
    assert_eq!(over_rounds(head(&record), key::CONNECTS), [200.0; 2]);
}

#[test]
fn every_answer_is_compared_with_the_expected_one() {
    let server = Responder::start(&["--other", "10"]);
    let count = ["-n", "1000", "--rounds", "1", "-c", "1"];
    let failed = |options: &[&str]| {
        let record = server.load(&[&count, options].concat());
        let kinds = over_rounds(head(&record), key::FAILED).remove(0);
        (answered(&record)[0], kinds)
    };
    assert_eq!(failed(&[]).0, 1000.0);
    let (good, kinds) = failed(&["--expect-body-bytes", "10"]);
    assert_eq!((good, kinds[1]), (900.0, 100.0));
}

/// Whether a program is installed.
pub fn is_there(name: &str) -> bool {
    let tried = std::process::Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
    tried.is_ok_and(|output| output.status.success())
}

/// A command that serves at this port, whatever of the kind is installed, and files that it needs.
pub fn any_server(port: u16) -> Option<(String, tempfile::TempDir)> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display();
    if is_there("nginx") {
        let conf = format!(
            "daemon off; worker_processes 2; pid {path}/pid; error_log {path}/error.log;\n\
             events {{ }}\n\
             http {{ access_log off; client_body_temp_path {path}/b; proxy_temp_path {path}/p; fastcgi_temp_path {path}/f;\n\
             uwsgi_temp_path {path}/u; scgi_temp_path {path}/s; keepalive_requests 1000000000;\n\
             server {{ listen 127.0.0.1:{port}; location / {{ return 200 'Hello'; }} }} }}\n"
        );
        std::fs::write(directory.path().join("nginx.conf"), conf).unwrap();
        let command = format!("nginx -p {path} -c {path}/nginx.conf -e {path}/error.log");
        return Some((command, directory));
    }
    let command = format!("python3 -m http.server --bind 127.0.0.1 --directory {path} {port}");
    is_there("python3").then_some((command, directory))
}

#[test]
fn a_server_is_started_and_ended_with_all_that_it_started() {
    let port = free_port();
    let Some((command, _files)) = any_server(port) else {
        println!("not tested: neither nginx nor python3 is installed");
        return;
    };
    let url = format!("http://127.0.0.1:{port}/");
    let record = load(&url, &[&["--server", &command], BRIEF].concat());
    assert_eq!(head(&record).status, Status::Measured);
    assert!(answered(&record).iter().all(|count| *count > 0.0));
    assert!(over_rounds(head(&record), key::SERVER_USER).iter().all(|seconds| *seconds >= 0.0));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it still listens");
    let left: Vec<_> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let words = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            words.replace('\0', " ").contains(&command)
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_command_that_does_not_serve_is_reported() {
    let url = format!("http://127.0.0.1:{}/", free_port());
    let report = |command: &str, url: &str| {
        let output = run(&["http", "load", "--url", url, "--server", command, "--no-ceiling"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = report("exit 7", &url);
    assert!(text.contains("ended with exit code 7 before it listened"), "{text}");
    let server = Responder::start(&[]);
    let text = report("sleep 60", &server.url());
    assert!(text.contains("listens at") && text.contains("already"), "{text}");
}

#[test]
fn a_server_that_dies_costs_no_round_that_was_measured() {
    let server = Responder::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    let (url, pid, path) = (server.url(), server.pid().to_string(), file.display().to_string());
    let options = ["http", "load", "--url", &url, "--server-pid", &pid, "-o", &path];
    let mut command = truebench(&[&options, ENDLESS].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    measuring(&mut child);
    drop(server);
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 3)));
    let record: Record = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let figure = &record.figures[0];
    assert!(
        figure.used_rounds().count() > 0 && figure.value.is_some_and(|rate| rate > 0.0),
        "{:?}",
        figure.reason
    );
    assert!(
        figure.reason.as_deref().is_some_and(|why| why.contains("the server has ended")),
        "{:?}",
        figure.reason
    );
}

/// Waits until rounds are measured: the preparation is reported, and then the worker's clients have used CPU time.
fn measuring(child: &mut std::process::Child) {
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("connections (1 of 1)") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "ended early");
    }
    std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let pid = child.id();
    // The trial lasts 0.875 s; whatever works longer measures.
    until(|| descendants(pid).iter().any(|child| lived(*child) > 4.0));
}

/// Seconds since a process began.
pub fn lived(pid: u32) -> f64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let stat = read(&format!("/proc/{pid}/stat"));
    let began =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse::<f64>().ok());
    let up = read("/proc/uptime").split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    up.zip(began).map_or(0.0, |(up, began)| up - began / 100.0)
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let server = Responder::start(&[]);
    let options = ["http", "load", "--url", &server.url()];
    let mut command = truebench(&[&options, ENDLESS].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    measuring(&mut child);
    let processes = descendants(child.id());
    signal(child.id(), libc::SIGINT);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record: Record = serde_json::from_str(&text).unwrap();
    assert!(record.interrupted.as_ref().is_some_and(|why| why.contains("Ctrl-C")));
    let head = head(&record);
    assert!(head.used_rounds().count() > 0 && head.status == Status::Measured);
    assert!(!processes.iter().any(|&pid| alive(pid)), "nothing is left behind");
}

#[test]
fn a_record_with_its_ceiling_is_valid_against_the_schema() {
    let server = Responder::start(&[]);
    let url = server.url();
    let output = run(&[&["http", "load", "--url", &url, "--format", "json"], BRIEF].concat());
    assert_valid(&output.stdout);
    let record = crate::bench::record(&output);
    let ceiling = record.figure("http.saturation.null.c4").expect("the null responder");
    assert_eq!(head(&record).limit.as_ref().map(|limit| limit.value), ceiling.value);
    for word in ["p50", "p99", "p999", "cpu", "memory"] {
        let id = format!("{}.{word}", head(&record).id);
        assert!(record.figure(&id).is_some(), "{id}");
    }
}

#[test]
fn a_rate_that_holds_a_latency_is_searched() {
    let server = Responder::start(&["--delay", "30ms/1"]);
    let options = ["-d", "500ms", "--rounds", "1", "-c", "4", "--slo"];
    let (url, goal) = (server.url(), [&options[..], &["p50<2s"]].concat());
    let record = measured(&[&["load", "--url", &url, "--no-ceiling"], &goal[..]].concat());
    // Four connections of 30 ms each are 133 requests a second at most.
    let rate = head(&record).value.unwrap();
    assert!(rate > 1.0 && rate < 150.0, "{rate}");
    assert!(matches!(answer(head(&record), "errors-as-work").0, figure::Outcome::Pass));
    // A disturbed round is measured again.
    let tried = tries(&head(&record).used_rounds().next().unwrap().evidence);
    assert!(tried.iter().any(|one| one.is_met && one.asked < 150.0), "{tried:?}");
    let top = tried.iter().filter(|one| one.is_met).max_by(|a, b| a.asked.total_cmp(&b.asked)).unwrap();
    assert_eq!(top.answered, rate, "the round is the highest rate that met the limit");
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn a_search_without_a_result_shows_its_steps() {
    let server = Responder::start(&["--delay", "30ms/1"]);
    let pid = server.pid().to_string();
    let url = server.url();
    let options =
        ["http", "load", "--url", &url, "--server-pid", &pid, "--no-ceiling", "-d", "500ms", "--rounds", "1"];
    let slo = ["-c", "4", "--slo", "p99<1ms"];
    let output = run(&[&options[..], &slo, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_valid(&output.stdout);
    let record: Record = serde_json::from_slice(&output.stdout).unwrap();
    let load = &record.figures[0];
    assert_eq!((load.status, load.value), (Status::Failed, None));
    assert!(!load.rounds.is_empty() && load.rounds.iter().all(|round| !round.used && round.reason.is_some()));
    let last = tries(&load.rounds.last().unwrap().evidence);
    let tried = tries(&load.rounds[0].evidence);
    assert!(tried.len() > 4, "{tried:?}");
    assert!(
        tried.windows(2).all(|pair| pair[1].asked < pair[0].asked),
        "each lower than the one before: {tried:?}"
    );
    // Each answer waits for 30 ms, less a timer's coarseness.
    assert!(tried.iter().all(|one| !one.is_met && one.latency > 0.025), "{tried:?}");
    let lowest = last.iter().map(|one| one.latency).fold(f64::INFINITY, f64::min);
    let reason = load.reason.as_deref().unwrap();
    for part in ["p99<1.00 ms", &format!("tried {} rates", last.len()), &figure::format::seconds(lowest)] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    // What was tried is in every report, from the record alone.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    std::fs::write(&file, &output.stdout).unwrap();
    for format in ["text", "markdown", "html"] {
        let shown = run(&["report", &file.display().to_string(), "--format", format]);
        assert_eq!(shown.status.code(), Some(0), "{format}: {}", stderr(&shown));
        let asked: Vec<String> = tried.iter().map(|one| format!("{:.0}", one.asked)).collect();
        let text = stdout(&shown);
        assert!(asked.iter().all(|rate| text.contains(rate.as_str())), "{format}: {asked:?}: {text}");
    }
}

#[test]
fn spellings_of_other_tools_are_understood() {
    let plan = |options: &[&str]| {
        let output = run(&[&["http", "load", "--url", "127.0.0.1:1", "--dry-run"], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let text = plan(&["-c", "8k", "-z", "30s", "-R", "1.5k", "--tasks", "2"]);
    for part in ["16000 connections in all", "1500 requests/s", "http.asked.yours.c8000", "exactly 6"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(plan(&["-d", "1m", "-R", "20k"]), plan(&["--duration", "60s", "--rate", "20000/s"]));
    assert!(!plan(&["--no-ceiling"]).contains("null") && plan(&[]).contains("null"));
}

#[test]
fn wrong_usage_is_one_clear_line() {
    let url = ["--url", "http://127.0.0.1:1/"];
    let cases: &[(&[&str], &str)] = &[
        (&["-c", "2", "-t", "4"], "-c 2"),
        (&["--client-cpus", "9999"], "--client-cpus 9999"),
        (&["--body-file", "/nonexistent"], "/nonexistent"),
    ];
    for (options, part) in cases {
        let message = refused(&[&["load"], &url[..], *options].concat());
        assert!(message.lines().count() == 1 && message.starts_with("truebench: "), "{options:?}: {message}");
        assert!(message.contains(part), "{options:?}: {message}");
    }
    // What is no value is refused by the parser of arguments, which also shows the usage.
    let cases: &[(&[&str], &str)] = &[
        (&["load", "--url", "ftp://a/"], "http://host:port/path"),
        (&["load", "--url", "http://"], "http://host:port/path"),
        (&["load", "-d", "3s"], "--url"),
        (&["load", "--url", "a:1", "-c", "0"], "200 or 8k"),
        (&["load", "--url", "a:1", "-c", "many"], "200 or 8k"),
        (&["load", "--url", "a:1", "-c", "1,2"], "200 or 8k"),
        (&["load", "--url", "a:1", "-d", "soon"], "30s"),
        (&["load", "--url", "a:1", "-d", "3s", "-n", "3"], "cannot be used with"),
        (&["load", "--url", "a:1", "-n", "-3"], "-3"),
        (&["load", "--url", "a:1", "-R", "fast"], "20k"),
        (&["load", "--url", "a:1", "-R", "1", "--slo", "p99<1ms"], "cannot be used with"),
        (&["load", "--url", "a:1", "--slo", "99"], "p99<5ms"),
        (&["load", "--url", "a:1", "--arrival", "constant"], "--rate"),
        (&["load", "--url", "a:1", "-H", "no line"], "Accept: text/html"),
        (&["load", "--url", "a:1", "--expect-status", "99"], "--expect-status"),
        (&["load", "--url", "a:1", "--engine", "carrier-pigeon"], "io_uring"),
        (&["load", "--url", "a:1", "--server", "x", "--server-pid", "1"], "cannot be used with"),
        (&["load", "--url", "a:1", "--env", "A=B"], "unexpected argument '--env'"),
        (&["load", "--url", "a:1", "--no-profile"], "unexpected argument '--no-profile'"),
        (&["--loads", "duty", "-d", "3s"], "unexpected argument '-d'"),
        (&["--cost", "5us", "-m", "POST"], "unexpected argument '-m'"),
        (&["--env", "GOGC"], "GOGC=200"),
        (&["--servers", "apache"], "nethttp"),
        (&["--url", "http://127.0.0.1:1/"], "unexpected argument '--url'"),
        (&["lood", "--url", "a:1"], "no mode 'lood'; there are study, load, list, null, serve"),
    ];
    for (options, part) in cases {
        let message = refused(options);
        assert!(message.contains(part), "{options:?}: {message}");
    }
    assert!(refused(&["load", "--url", "no-such-host.invalid"]).contains("no-such-host.invalid"));
}

fn refused(options: &[&str]) -> String {
    let output = run(&[&["http"], options].concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{options:?}: {message}");
    assert!(stdout(&output).is_empty() && !message.contains("panicked"), "{options:?}: {message}");
    message
}
