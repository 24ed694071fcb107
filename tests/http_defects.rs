//! Reports on loads beyond a verdict (tests/defects/http plants their defects); a load without a defect is not accused.
//!
//! What cannot be planted here is tested on records (crates/judge/tests/checks/loads.rs): a count of truebench's own that does not fit another
//! (latencies-complete), a frequency or a hypervisor that takes its part, samples that Go lost (profile-coverage), and a client that twice the threads
//! help (client-doubled), for which four CPUs are needed.

use std::sync::OnceLock;

use figure::evidence::http as key;
use figure::{Figure, Outcome, Record};

use crate::bench::{DISTURBANCES, Hog};
use crate::responder::{Responder, answer, free_port, head, load, measured, over, over_rounds};

/// One round of half a second over few connections.
const ONCE: &[&str] = &["-d", "500ms", "--rounds", "1", "-c", "4"];

/// What a busy machine does to a load of any kind, and says nothing of the load itself: time that others took, and what follows from it for the
/// client's and the server's share of their CPUs and for the figure's spread. Few and short rounds say nothing of a collection's part. Excused
/// only if one of [`DISTURBANCES`] is reported, or nothing is measured long enough to detect one.
const OF_THE_MACHINE: &[&str] = &[
    // A figure that follows from one that the machine spoilt.
    "inputs",
    // Who has no CPU for 40 ms waits as long as for an acknowledgement; and what ends behind a short window is missing in it.
    "delayed-ack",
    "littles-law",
    // The equal rate is a share of what was reached a moment before, when there may have been more CPU time to have.
    "rate-met",
    "survivorship-bias",
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

/// True accusations of every short closed loop: its high quantiles lack the requests that a stall delays, and the highest lack requests;
/// and what follows from that. At a rate the client's own lateness, some 15 us of the 100 that a responder takes, is reported in the same place.
const OF_CLOSED_LOOPS: &[&str] = &["coordinated-omission", "latencies-complete", "inputs"];

/// The first two CPUs that this test may use; `None` where there are not two.
fn two_cpus() -> Option<[String; 2]> {
    let allowed: Vec<u32> = lab::affinity::get().expect("an affinity mask").iter().take(2).collect();
    let two = <[u32; 2]>::try_from(allowed).ok();
    if two.is_none() {
        println!("not tested: client and server need a CPU each");
    }
    two.map(|cpus| cpus.map(|cpu| cpu.to_string()))
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

/// A load of the null responder, which ends with it.
fn started(options: &[&str]) -> Record {
    let port = free_port();
    let server = format!("exec '{}' http null --bind 127.0.0.1:{port}", env!("CARGO_BIN_EXE_truebench"));
    load(&format!("http://127.0.0.1:{port}/"), &over(ONCE, &[&["--server", &server], options].concat()))
}

#[test]
#[ignore = "a quiet machine: make test-long"]
fn a_client_without_a_cpu_of_its_own() {
    let Some([server, client]) = two_cpus() else { return };
    let responder = Responder::start(&["--cpus", &server]);
    let cpu = client.parse().unwrap();
    let _hogs = [Hog::on(cpu), Hog::on(cpu), Hog::on(cpu), Hog::on(cpu)];
    let url = responder.url();
    let record = measured(
        &[&["load"], &over(ONCE, &["--url", &url, "--client-cpus", &client, "-c", "200"])[..]].concat(),
    );
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
    let (open_p90, closed_p90) = (nine_in_ten(&rate), nine_in_ten(&closed));
    assert!(
        open_p90 >= 0.03 && closed_p90 < 0.5 * open_p90,
        "{open_p90} s at a rate, {closed_p90} s in a closed loop"
    );
    let p99 = closed.figure(&format!("{}.p99", head(&closed).id)).unwrap();
    assert_eq!(answer(p99, "coordinated-omission").0, Outcome::Warn);
    let p99 = rate.figure(&format!("{}.p99", head(&rate).id)).unwrap();
    assert!(p99.checks.iter().all(|check| check.id != "coordinated-omission"), "its load is asked");
}

#[test]
fn unknown_answers_have_a_reason() {
    let server = Responder::start(&["--backlog", "7"]);
    let record = server.load(ONCE);
    for (check, words) in
        [("loopback", "over lo"), ("listen-overflow", "queue of 7"), ("shared-cpus", "not pinned")]
    {
        let (_, detail) = answer(head(&record), check);
        assert!(detail.contains(words), "{check}: {detail}");
    }
    // The load of an unknown server cannot be distinguished from that of others.
    let (outcome, detail) = answer(head(&load(&server.url(), ONCE)), "foreign-load");
    assert!(outcome == Outcome::Unknown && detail.contains("--server-pid"), "{detail}");
}

fn saturated<'a>(record: &'a Record, server: &str) -> &'a Figure {
    crate::bench::figure(record, &format!("http.saturation.{server}.c8"))
}

/// One run for all that only look.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    let study = ["--quick", "--rounds", "1", "-c", "8", "--servers", "nethttp", "--env", "GOGC=200"];
    RECORD.get_or_init(|| measured(&study))
}

/// Whether by chance a window holds one more or less matters where one takes a part of its CPU time.
#[test]
fn collections_are_counted() {
    let (outcome, detail) = answer(saturated(short(), "nethttp"), "gc-regime");
    assert!(matches!(outcome, Outcome::Pass | Outcome::Warn), "{detail}");
    assert!(detail.contains("collection") && detail.contains("GOGC 200"), "{detail}");
}

/// Accusations of the figures, without the excused ones.
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
fn assert_no_accusation(measure: impl Fn() -> Record) {
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
    // At a rate: a closed loop against the null responder is limited by the client, which would be reported. And at a low one: of 10 000 answers a
    // second several come at once, and for a responder as quick as this the 25 us that the last of them lies unread are a tenth of the latency.
    let load = ["--rounds", "6", "-d", "9s", "-c", "50", "-R", "2k"];
    assert_no_accusation(|| started(&[&cpus[..], &load].concat()));
    let study = ["--quick", "--rounds", "6", "-c", "50", "--servers", "nethttp"];
    assert_no_accusation(|| measured(&[&study[..], &cpus].concat()));
}
