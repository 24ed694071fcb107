//! Defects of a load planted for real: each is caught by its check; and a load without any is accused of nothing.
//!
//! What cannot be planted here is tested on records (crates/judge/tests/checks/loads.rs): a count of truebench's own that does not fit another
//! (all-recorded), a frequency or a hypervisor that takes its part, samples that Go lost (profile-coverage), and a client that twice the threads
//! help (client-doubled), for which four CPUs are needed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::OnceLock;

use figure::evidence::http as key;
use figure::{Figure, Outcome, Record};

use crate::bench::{Hog, record, stderr, truebench};
use crate::responder::{Responder, answer, free_port, head, load, measured, over, over_rounds};

/// One round of half a second over few connections.
const ONCE: &[&str] = &["-d", "500ms", "--rounds", "1", "-c", "4"];

/// What tells that the machine was not left to us.
const DISTURBANCES: &[&str] = &[
    "steal",
    "foreign-load",
    "interrupts",
    "throttled",
    "frequency",
    "clock-jump",
    "placement-held",
    "unequal-cores",
];

/// What a busy machine does to a load of any kind, and says nothing of the load itself: time that others took, and what follows from it for the
/// client's and the server's share of their CPUs and for the figure's spread. Few and short rounds say nothing of a collection's part. Excused
/// only where one of [`DISTURBANCES`] is told, or nothing is measured long enough to tell.
const OF_THE_MACHINE: &[&str] = &[
    // A figure that follows from one that the machine spoilt.
    "sources",
    // Who has no CPU for 40 ms waits as long as for an acknowledgement; and what ends behind a short window is missing in it.
    "delayed-ack",
    "littles-law",
    // The equal rate is a share of what was reached a moment before, when there may have been more CPU time to have.
    "rate-met",
    "survivors",
    "steal",
    "foreign-load",
    "interrupts",
    "throttled",
    "quota",
    "frequency",
    "unequal-cores",
    "placement-held",
    "clock-jump",
    "client-saturated",
    "server-not-saturated",
    "client-ceiling",
    "client-doubled",
    "observer-cost",
    "profile-coverage",
    "gc-regime",
    "trend",
    "drift",
    "bimodal",
    "rounds-agree",
    "uneven-cores",
    "threads-within-mask",
    "threads-on-distinct-cores",
];

/// What is said of every short closed loop, and rightly: its high quantiles lack what a stall keeps from being sent, and the highest lack requests.
const OF_CLOSED_LOOPS: &[&str] = &["coordinated-omission", "all-recorded"];

/// The first two CPUs that this test may use; `None` where there are not two.
fn two_cpus() -> Option<[String; 2]> {
    let allowed: Vec<u32> = lab::affinity::get().expect("an affinity mask").iter().take(2).collect();
    let two = <[u32; 2]>::try_from(allowed).ok();
    if two.is_none() {
        println!("not tested: client and server need a CPU each");
    }
    two.map(|cpus| cpus.map(|cpu| cpu.to_string()))
}

/// The check failed.
fn failed(record: &Record, check: &str) {
    let (outcome, detail) = answer(head(record), check);
    assert_eq!(outcome, Outcome::Fail, "{check}: {detail}");
}

/// The check failed, or warned.
fn warned(figure: &Figure, check: &str) {
    let (outcome, detail) = answer(figure, check);
    assert!(
        matches!(outcome, Outcome::Warn | Outcome::Fail),
        "{}, {check}: {outcome:?}, {detail}",
        figure.id
    );
}

fn planted(fault: &[&str], options: &[&str]) -> Record {
    Responder::start(fault).load(&over(ONCE, options))
}

/// `truebench http null` as a command of `--server`, behind what the shell does before.
fn null_at(before: &str, port: u16) -> String {
    format!("{before} exec '{}' http null --bind 127.0.0.1:{port}", env!("CARGO_BIN_EXE_truebench"))
}

/// A load of the null responder, started behind what the shell does before.
fn started(before: &str, options: &[&str]) -> Record {
    let port = free_port();
    load(
        &format!("http://127.0.0.1:{port}/"),
        &over(ONCE, &[&["--server", &null_at(before, port)], options].concat()),
    )
}

#[test]
fn errors_are_no_work() {
    failed(&planted(&["--unavailable", "20"], &[]), "errors-as-work");
    failed(&planted(&["--cut", "20"], &[]), "errors-as-work");
}

#[test]
fn answers_that_nobody_asked_for() {
    failed(&planted(&["--twice", "100"], &[]), "pipelining");
}

#[test]
fn connections_that_are_not_kept() {
    failed(&planted(&["--close-after", "5"], &[]), "keep-alive-lost");
    failed(&planted(&["--drop-after", "5"], &[]), "keep-alive-lost");
}

#[test]
fn connections_that_are_neglected() {
    let record = planted(&["--neglect", "2s/10"], &["-c", "20"]);
    failed(&record, "connections-served");
    failed(&record, "littles-law");
}

#[test]
fn requests_that_nobody_answers() {
    let record = planted(&["--silent", "20"], &["-c", "40", "-R", "400"]);
    failed(&record, "survivors");
    assert!(over_rounds(head(&record), key::IN_FLIGHT)[0] > 0.0);
}

#[test]
fn a_rate_beyond_what_the_server_does() {
    failed(&planted(&["--delay", "20ms/1"], &["-R", "1000"]), "rate-met");
}

#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn a_listening_queue_that_overflows() {
    let record = planted(&["--backlog", "1", "--accept", "100ms"], &["--disable-keepalive", "-d", "1s"]);
    failed(&record, "listen-overflow");
    // With connections that stay, nothing that is timed waits for it: it is told.
    let (_, told) = answer(head(&planted(&["--backlog", "7"], &[])), "listen-overflow");
    assert!(told.contains("queue of 7"), "{told}");
}

/// A server that sends one answer in three in two pieces, with Nagle's algorithm on: the second waits until the first is acknowledged.
fn nagle() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve_in_pieces(stream));
        }
    });
    address
}

fn serve_in_pieces(mut stream: TcpStream) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    for number in 1u64.. {
        if stream.read(&mut buffer)? == 0 {
            break;
        }
        let (head, body) = ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "Hello");
        if number.is_multiple_of(3) {
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())?;
        } else {
            stream.write_all(format!("{head}{body}").as_bytes())?;
        }
    }
    Ok(())
}

#[test]
#[ignore = "a quiet machine: make test-long"]
fn nagle_meets_a_delayed_acknowledgement() {
    let record = load(&format!("http://{}/", nagle()), &over(ONCE, &["-c", "1", "-d", "2s"]));
    warned(head(&record), "delayed-ack");
}

#[test]
#[ignore = "a quiet machine: make test-long"]
fn a_server_that_slows_down() {
    let record = planted(&["--drift", "20ms/1s"], &["-c", "20", "-d", "3s", "--rounds", "12"]);
    failed(&record, "drift");
}

#[test]
#[ignore = "ten seconds of a quiet machine: make test-long"]
fn a_rate_that_falls_within_a_window() {
    let record = planted(&["--delay", "20ms/1", "--drift", "5ms/1s"], &["-c", "8", "-d", "8s"]);
    warned(head(&record), "trend");
}

#[test]
fn client_and_server_on_one_cpu() {
    let cpu = lab::affinity::get().expect("an affinity mask").iter().next().unwrap().to_string();
    failed(&started("", &["--client-cpus", &cpu, "--server-cpus", &cpu]), "shared-cpus");
    let (outcome, told) = answer(head(&planted(&[], &[])), "shared-cpus");
    assert!(outcome == Outcome::Warn && told.contains("not pinned"), "{told}");
}

/// A busy loop where client and server are; of a server that nobody knows it cannot be told apart.
#[test]
fn a_stranger_on_their_cpus() {
    let hogs: Vec<Hog> = lab::affinity::get().expect("an affinity mask").iter().map(Hog::on).collect();
    let server = Responder::start(&["--delay", "1ms/1"]);
    failed(&server.load(ONCE), "foreign-load");
    drop(hogs);
    let record = load(&server.url(), ONCE);
    let (outcome, told) = answer(head(&record), "foreign-load");
    assert!(outcome == Outcome::Unknown && told.contains("--server-pid"), "{told}");
}

#[test]
#[ignore = "a quiet machine: make test-long"]
fn a_client_without_a_cpu_of_its_own() {
    let Some([server, client]) = two_cpus() else { return };
    let responder = Responder::start(&["--cpus", &server]);
    let cpu = client.parse().unwrap();
    let _hogs = [Hog::on(cpu), Hog::on(cpu), Hog::on(cpu), Hog::on(cpu)];
    let url = responder.url();
    let record = measured(&over(ONCE, &["--url", &url, "--client-cpus", &client, "-c", "200"]));
    for check in ["client-saturated", "client-ceiling"] {
        warned(head(&record), check);
    }
    // What it sends at a rate, it sends late.
    let rate = ["-R", "500", "--client-cpus", &client];
    warned(head(&load(&url, &[ONCE, &rate].concat())), "coordinated-omission");
}

/// A stall of 100 ms in each quarter of a second: two requests in five meet it, and wait for half of it on average.
#[test]
fn a_stall_is_in_the_latency_of_a_rate_and_hardly_in_that_of_a_closed_loop() {
    let server = Responder::start(&["--stall", "100ms/250ms"]);
    let rate = server.load(&[ONCE, &["-R", "400"]].concat());
    let closed = server.load(ONCE);
    let nine_in_ten = |record: &Record| over_rounds(head(record), key::LATENCY)[0][1];
    let (told, hidden) = (nine_in_ten(&rate), nine_in_ten(&closed));
    assert!(told >= 0.03 && hidden < 0.5 * told, "{told} s at a rate, {hidden} s in a closed loop");
    let p99 = closed.figure(&format!("{}.p99", head(&closed).id)).unwrap();
    assert_eq!(answer(p99, "coordinated-omission").0, Outcome::Warn);
    let p99 = rate.figure(&format!("{}.p99", head(&rate).id)).unwrap();
    assert!(p99.checks.iter().all(|check| check.id != "coordinated-omission"), "its load is asked");
}

#[test]
fn few_rounds_and_few_requests() {
    let record = planted(&[], &["-n", "500"]);
    let (outcome, told) = answer(head(&record), "rounds-agree");
    assert!(outcome == Outcome::Unknown && told.contains("no interval"), "{told}");
    let p999 = record.figure(&format!("{}.p999", head(&record).id)).unwrap();
    assert_eq!(answer(p999, "all-recorded").0, Outcome::Warn);
}

#[test]
fn a_server_short_of_files() {
    warned(head(&started("ulimit -n 200;", &["-c", "182"])), "files-and-memory");
}

/// Each process of the server's is looked at, and there are hundreds.
#[test]
#[ignore = "a quiet machine: make test-long"]
fn a_watcher_that_is_dear() {
    let many = "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done;";
    warned(head(&started(many, &[])), "observer-cost");
}

#[test]
fn ports_that_run_out() {
    let inside = |connections: &str| {
        let server = null_at("", 8080);
        let arguments = ["http", "--format", "json", "--no-ceiling", "--url", "http://127.0.0.1:8080/"];
        Command::new("unshare")
            .args(["-rn", "sh", "-c"])
            .arg("ip link set lo up && echo 40000 40063 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"")
            .arg(env!("CARGO_BIN_EXE_truebench"))
            .args(arguments)
            .args(["--server", &server, "-d", "500ms", "--rounds", "1", "-c", connections])
            .output()
    };
    let output = match inside("40") {
        Ok(output) if matches!(output.status.code(), Some(0 | 3)) => output,
        other => {
            println!("not tested: no network namespace can be made here: {other:?}");
            return;
        }
    };
    let (outcome, told) = answer(head(&record(&output)), "ports");
    assert!(outcome == Outcome::Warn && told.contains("of 64.0 ports"), "{told}");
    let output = inside("100").unwrap();
    let reason = record(&output).figures[0].reason.clone().unwrap_or_default();
    assert!(reason.contains("no local port left"), "{reason}");
}

#[test]
fn loopback_is_named() {
    let (_, told) = answer(head(&planted(&[], &[])), "loopback");
    assert!(told.contains("over lo"), "{told}");
}

/// The study of these servers, run through a script that does this before it becomes the real program.
fn study(servers: &str, script: &str, options: &[&str]) -> Record {
    let real = http::servers::program().unwrap_or_else(|error| panic!("{error}"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("truebench-servers");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\nexec '{}' \"$@\"\n", real.display())).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    let base = ["http", "--format", "json", "--quick", "--rounds", "1", "-c", "8", "--servers", servers];
    let output = truebench(&base).args(options).env("TRUEBENCH_LIB", directory.path()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    record(&output)
}

fn saturated<'a>(record: &'a Record, server: &str) -> &'a Figure {
    crate::bench::figure(record, &format!("http.saturation.{server}.c8"))
}

#[test]
fn servers_on_unequal_terms() {
    let cpu = lab::affinity::get().expect("an affinity mask").iter().next().unwrap().to_string();
    let script = "case $1 in fasthttp) export GOMAXPROCS=3;; nethttp) export GOGC=off;; esac";
    let record = study("nethttp,fasthttp", script, &["--server-cpus", &cpu]);
    for server in ["nethttp", "fasthttp"] {
        let (outcome, told) = answer(saturated(&record, server), "subjects-equal");
        assert_eq!(outcome, Outcome::Fail, "{told}");
        assert!(told.contains("GOMAXPROCS") && told.contains("GOGC"), "{told}");
    }
    assert_eq!(answer(saturated(&record, "fasthttp"), "gomaxprocs").0, Outcome::Warn);
    let (outcome, told) = answer(saturated(&record, "nethttp"), "gc-regime");
    assert!(outcome == Outcome::Pass && told.contains("switched off"), "{told}");
}

/// The conformance test is put to the null responder, which reads no body and refuses nothing; and every answer waits, so that the server sleeps.
#[test]
#[ignore = "half a minute: make test-long"]
fn a_server_that_does_not_conform_and_one_that_sleeps() {
    let other = Responder::start(&[]);
    let script = format!("[ \"$1\" = conformance ] && set -- conformance {}", other.address);
    let record = study("nethttp", &script, &["--sleep", "10ms"]);
    let (outcome, told) = answer(saturated(&record, "nethttp"), "conforms");
    assert_eq!(outcome, Outcome::Fail, "{told}");
    warned(saturated(&record, "nethttp"), "server-not-saturated");
}

/// One run for all that only look.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| study("nethttp", "export GOGC=200", &[]))
}

/// Whether by chance a window holds one more or less matters where one takes a part of its CPU time.
#[test]
fn collections_are_counted() {
    let (outcome, told) = answer(saturated(short(), "nethttp"), "gc-regime");
    assert!(matches!(outcome, Outcome::Pass | Outcome::Warn), "{told}");
    assert!(told.contains("collections") && told.contains("GOGC 200"), "{told}");
}

/// What was said against the figures, but for what is excused.
fn accusations(record: &Record, excused: &[&[&str]]) -> Vec<String> {
    let checks =
        record.figures.iter().flat_map(|figure| figure.checks.iter().map(move |check| (figure, check)));
    checks
        .filter(|(_, check)| matches!(check.outcome, Outcome::Warn | Outcome::Fail))
        .filter(|(_, check)| !excused.concat().contains(&check.id.as_str()))
        .map(|(figure, check)| format!("{}: {} {:?}: {}", figure.id, check.id, check.outcome, check.detail))
        .collect()
}

fn was_disturbed(record: &Record) -> bool {
    record.figures.iter().flat_map(|figure| &figure.checks).any(|check| {
        DISTURBANCES.contains(&check.id.as_str()) && matches!(check.outcome, Outcome::Warn | Outcome::Fail)
    })
}

#[test]
fn a_short_study_is_accused_of_nothing_but_the_machine() {
    let accused = accusations(short(), &[OF_THE_MACHINE, OF_CLOSED_LOOPS]);
    assert!(accused.is_empty(), "{accused:#?}");
}

/// Of a machine that was left to us nothing is excused; one that is not is asked three times.
fn accuses_nobody(measure: impl Fn() -> Record) {
    let mut record = measure();
    for _ in 0..2 {
        if was_disturbed(&record) {
            record = measure();
        }
    }
    let excused: &[&[&str]] =
        if was_disturbed(&record) { &[OF_THE_MACHINE, OF_CLOSED_LOOPS] } else { &[OF_CLOSED_LOOPS] };
    let accused = accusations(&record, excused);
    assert!(accused.is_empty(), "{accused:#?}");
}

#[test]
#[ignore = "minutes of a quiet machine: make test-long"]
fn a_clean_load_is_accused_of_nothing() {
    let Some([server, client]) = two_cpus() else { return };
    let cpus = ["--server-cpus", &server, "--client-cpus", &client];
    // At a rate: a closed loop against the null responder is limited by the client, and would be told so.
    let load = ["--rounds", "6", "-d", "9s", "-c", "50", "-R", "10k"];
    accuses_nobody(|| started("", &[&cpus[..], &load].concat()));
    let study = ["--quick", "--rounds", "6", "-c", "50", "--servers", "nethttp"];
    accuses_nobody(|| measured(&[&study[..], &cpus].concat()));
}
