//! What became of the requests and connections of a load, what it was made on, and what looking took: each way in which its figure is wrong,
//! and the twin that is not.

use figure::Outcome::*;
use figure::evidence::http::*;
use figure::{Unit, Verdict};
use serde_json::json;

use crate::build::{ROUND_SECONDS, ROUNDS, at, quota};
use crate::loads::*;
use crate::records::Build;

#[test]
fn connections_that_are_not_there_or_not_served() {
    let id = "connections-served";
    let made = |count| load().with(ESTABLISHED, count);
    at(id, made, [200.0, 199.0, 198.0, 100.0], [Pass, Warn, Fail, Fail]);
    let jain = |index| load().with(JAIN, index);
    at(id, jain, [1.0, 0.95, 0.88, 0.52, 0.4], [Pass, Pass, Warn, Warn, Fail]);
    let without = |share| load().with(UNSERVED, share);
    at(id, without, [0.0, 0.0009, 0.002, 0.04, 0.06], [Pass, Pass, Warn, Warn, Fail]);
    // 16 000 that got one answer each on average: chance leaves a third without, and an index of a half.
    let sparse = load().with(CONNECTIONS, 16_000.0).with(ESTABLISHED, 16_000.0).with(ANSWERED, 16_000.0);
    assert_eq!(sparse.clone().with(JAIN, 0.5).with(UNSERVED, 0.36).says(id), Pass);
    assert_eq!(sparse.with(JAIN, 0.0625).with(UNSERVED, 0.94).says(id), Fail, "1000 of them were served");
    assert_eq!(made(100.0).with(GOAL, "refusal".into()).answer(id), None);
    assert_eq!(load().unknown(JAIN, "no answer").says(id), Unknown);
}

#[test]
fn errors_are_no_work() {
    let id = "errors-as-work";
    for kind in FAILURES {
        let of = |count| load().with(FAILED, failing(kind, count));
        at(id, of, [1.0, 2.0, 150.0, 160.0], [Pass, Warn, Warn, Fail]);
        of(150.0).case(id, "requests-failed", json!({"kinds": [{"kind": kind, "count": 1200}]}));
    }
    assert_eq!(load().with(UNCONNECTED, failing("refused", 500.0)).says(id), Fail);
    assert_eq!(load().with(ANSWERED, 0.0).says(id), Fail);
    assert_eq!(load().with(FAILED, failing("status", 9e3)).with(GOAL, "refusal".into()).answer(id), None);
    assert_eq!(load().unknown(FAILED, "lost").says(id), Unknown);
}

#[test]
fn the_slowest_requests_count() {
    let id = "survivorship-bias";
    let of = |count| load().with(IN_FLIGHT, count).with(CENSORED_AGE, 10.0);
    at(id, of, [0.0, 1.0, 2.0, 150.0, 160.0], [Pass, Pass, Warn, Warn, Fail]);
    of(160.0).case(id, "unanswered", json!({"in_flight": 1280, "oldest": 10.0}));
    assert_eq!(open().with(UNSENT, 200.0).says(id), Fail);
    assert_eq!(load().unknown(IN_FLIGHT, "lost").says(id), Unknown);
}

#[test]
fn counts_of_latencies_are_counts_of_answers() {
    let id = "latencies-complete";
    // 15 000 answers, 200 late ones, and 200 from before the window.
    let of = |count| load().with(RECORDED, count);
    at(id, of, [15_000.0, 15_400.0, 15_410.0, 15_600.0], [Pass, Pass, Warn, Fail]);
    at(id, of, [14_990.0, 10_000.0], [Warn, Fail]);
    assert_eq!(of(15_900.0).with(FAILED, failing("timeout", 500.0)).says(id), Pass);
    // hey's first million, of three.
    assert_eq!(of(5_000.0).says(id), Fail);
    // What a rate had queued before the window: 20 000 a second for 5 ms.
    at(id, |count| open().with(RECORDED, count), [9_710.0, 9_650.0], [Pass, Warn]);
    assert_eq!(load().unknown(RECORDED, "lost").says(id), Unknown);
    // A quantile needs some beyond it.
    assert_eq!(latency(open(), 0.999).says(id), Pass);
    assert_eq!(latency(open(), 0.9999).judged(), (Verdict::Suspect, vec![id.into()]));
}

#[test]
fn connections_that_are_kept() {
    let id = "keep-alive-lost";
    let of = |count| load().with(CONNECTS, count).with(CLOSED_ANNOUNCED, count);
    at(id, of, [0.0, 15.0, 74.0, 76.0, 370.0, 380.0], [Pass, Pass, Pass, Warn, Warn, Fail]);
    // Those behind requests that failed half-way are no loss of keep-alive; what was closed before an answer is.
    let failed = |kind| of(380.0).with(FAILED, failing(kind, 360.0));
    assert_eq!(["reset", "timeout", "closed before"].map(|kind| failed(kind).says(id)), [Pass, Pass, Fail]);
    failed("reset").case(id, "reconnects", json!({"made": 3040, "failed": 2880}));
    assert_eq!(of(380.0).with(KEEPS_ALIVE, false).answer(id), None);
    assert_eq!(load().unknown(CONNECTS, "lost").says(id), Unknown);
}

#[test]
fn a_listening_queue_that_overflows() {
    let id = "listen-overflow";
    let overflowing = |count| short().with(LISTEN_OVERFLOWS, count);
    at(id, overflowing, [0.0, 1.0, 14.0, 16.0], [Pass, Warn, Warn, Fail]);
    at(id, |count| short().with(SYN_RETRANSMITS, count), [0.0, 1.0, 16.0], [Pass, Warn, Fail]);
    at(id, |repeated| short().with(CONNECT_LONGEST, repeated), [1.01, 3.02, 7.1], [Warn; 3]);
    // No connection of the load met it; that of the ramp is reported, and was over.
    let kept = load().with(LISTEN_OVERFLOWS, 50.0).with(RAMP_OVERFLOWS, 7.0);
    assert_eq!(kept.case(id, "kept-connections", json!({"overflows": 7})).outcome, Pass);
    assert_eq!(short().unknown(LISTEN_OVERFLOWS, "hidden").says(id), Unknown);
    assert_eq!(short().judged(), (Verdict::Valid, vec![]));
}

#[test]
fn ports_run_out() {
    let id = "ports";
    let of = |count| load().with(CONNECTIONS, count);
    at(id, of, [200.0, 14_100.0, 14_200.0, 16_000.0], [Pass, Pass, Warn, Warn]);
    assert_eq!(of(16_000.0).with(SOURCES, 2.0).says(id), Pass);
    assert_eq!(short().with(TIME_WAIT, 20_000.0).says(id), Warn);
    assert_eq!(load().with(TIME_WAIT, 20_000.0).says(id), Pass, "left by others");
    assert_eq!(load().with(UNCONNECTED, failing("no port", 1.0)).says(id), Fail);
    assert_eq!(load().with(FAILED, failing("no port", 1.0)).says(id), Fail);
    assert_eq!(load().unknown(PORTS, "no such file").says(id), Unknown);
}

#[test]
fn files_and_memory() {
    let id = "files-and-memory";
    let open = |share| load().with(SERVER_FILES, share * 65_536.0);
    at(id, open, [0.5, 0.89, 0.91, 0.98, 0.995], [Pass, Pass, Warn, Warn, Fail]);
    at(id, |drops| load().with(MEMORY_ABORTS, drops), [1.0, 14.0, 16.0], [Warn, Warn, Fail]);
    assert_eq!(load().unknown(FILES_LIMIT, "not ours").says(id), Unknown);
}

#[test]
fn delayed_acknowledgements() {
    let id = "delayed-ack";
    let of = |share| load().with(MODE_40MS, share).with(DELAYED_ACKS, share);
    at(id, of, [0.0, 0.009, 0.011, 0.09, 0.11], [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(of(0.5).with(DELAYED_ACKS, 0.0).says(id), Pass, "none was delayed");
    assert_eq!(of(0.5).unknown(DELAYED_ACKS, "hidden").says(id), Fail);
    // 1000 connections at 25 000 a second: 40 ms in a queue.
    let queueing = of(0.5).with(LATENCY, vec![0.040, 0.045, 0.05, 0.06, 0.07]);
    assert_eq!(queueing.clone().says(id), Pass);
    let idle = queueing.clone().with(SERVER_USER, 0.01).with(SERVER_SYSTEM, 0.02);
    assert_eq!(idle.says(id), Fail, "the server was not busy");
    assert_eq!(queueing.unknown(SERVER_USER, "not ours").says(id), Unknown);
    assert_eq!(load().unknown(MODE_40MS, "lost").says(id), Unknown);
}

#[test]
fn one_answer_for_each_request() {
    at("pipelining", |count| load().with(SURPLUS, count), [0.0, 1.0, 2.0], [Pass, Warn, Fail]);
    assert_eq!(load().unknown(SURPLUS, "lost").says("pipelining"), Unknown);
}

#[test]
fn only_what_conforms_is_compared() {
    assert_eq!(load().with(CONFORMS, false).judged(), (Verdict::Invalid, vec!["http-conformance".into()]));
    let untested = load().unknown(CONFORMS, "not tested");
    assert_eq!(untested.judged(), (Verdict::Unverified, vec!["http-conformance".into()]));
    assert_eq!(untested.with(GOAL, "asked".into()).answer("http-conformance"), None);
}

#[test]
fn servers_that_are_compared_are_equal() {
    let id = "subjects-equal";
    let same = "HTTP/1.1 200 OK\nContent-Type: text/plain\ncontent-length: 10\n52a1".to_owned();
    let modules = "go1.26.1 fasthttp v1.74.0 GOAMD64=v1".to_owned();
    let fasthttp = || other("fasthttp", 1.4);
    for (figure, outcome, what) in [
        (fasthttp(), Pass, "nothing"),
        (fasthttp().with(ANSWER, same), Pass, "the order and the case of headers"),
        (fasthttp().with(ANSWER, "HTTP/1.1 200 OK\n52a2".into()), Warn, "the answer"),
        (fasthttp().unknown(ANSWER, "lost"), Unknown, "the answer is not known"),
        (fasthttp().with(ANSWER_BYTES, 126.0), Warn, "a byte"),
        (fasthttp().with(ANSWER_BYTES, 200.0), Fail, "many bytes"),
        (fasthttp().with(BUILD, modules), Pass, "modules are their own"),
        (fasthttp().with(BUILD, "go1.25.3 GOAMD64=v1".into()), Warn, "the compiler"),
        (fasthttp().with(GOMAXPROCS, 2.0), Fail, "threads"),
        (fasthttp().with(GOGC, 400.0), Warn, "garbage collection"),
        (fasthttp().with(CONFORMS, false), Fail, "conformance"),
        (fasthttp().with(SERVER_CPUS, vec![0.0, 2.0]), Fail, "CPUs"),
    ] {
        assert_eq!(load().and(figure).says(id), outcome, "other: {what}");
    }
    assert_eq!(load().answer(id), None, "nothing is compared");
    assert_eq!(load().and(null(2.0)).answer(id), None, "the null responder is no competitor");
    // Another load is another comparison.
    assert_eq!(load().and(doubled(1.0)).answer(id), None);
}

#[test]
fn a_trend_within_the_window() {
    for (low, high, outcome) in [
        (-0.01, 0.02, Pass),
        (0.0, 0.9, Pass),
        (0.015, 0.03, Pass),
        (0.025, 0.04, Warn),
        (-0.04, -0.025, Warn),
        (-0.5, -0.3, Fail),
    ] {
        assert_eq!(load().with(TREND, vec![low, high]).says("trend"), outcome, "{low} to {high}");
    }
    let one = load().with(TREND, vec![-0.01, 0.01]).in_first(3, TREND, vec![0.3, 0.4]);
    assert_eq!(one.says("trend"), Pass, "three of eight rounds do not move the median");
    assert_eq!(load().says("trend"), Unknown, "a short window has none");
}

#[test]
fn collections_enough_or_none() {
    let id = "gc-regime";
    at(id, |cycles| load().with(GC_CYCLES, cycles), [0.0, 1.0, 2.0], [Pass, Warn, Pass]);
    assert_eq!(ROUNDS, 8, "1 in each is 8 in all");
    let rare = load().with(GC_CYCLES, 0.0).in_first(2, GC_CYCLES, 1.0);
    assert_eq!(rare.case(id, "collections", json!({"cycles": 2, "typical": 0})).outcome, Pass);
    assert_eq!(load().unknown(GC_CYCLES, "no Go").says(id), Unknown);
    // Where one takes little, its number does not matter: of 0.48 s of CPU time in a window, 0.35 collections more or less move 1 %.
    let taking = |seconds: f64| load().with(GC_CYCLES, 1.0).with(GC_CPU, seconds);
    at(id, taking, [0.0, 0.0134, 0.0138, 0.3], [Pass, Pass, Warn, Warn]);
    let uneven = |seconds: f64| taking(seconds).in_first(3, GC_CYCLES, 0.0);
    at(id, uneven, [0.0, 0.0040, 0.0043, 0.3], [Pass, Pass, Warn, Warn]);
}

#[test]
fn as_many_go_threads_as_cpus() {
    let id = "gomaxprocs";
    at(id, |threads| load().with(GOMAXPROCS, threads), [0.0, 1.0, 2.0], [Warn, Pass, Warn]);
    let limited = |threads| large().with(GOMAXPROCS, threads).machine(|machine| machine.cgroup = quota(3.5));
    at(id, limited, [3.0, 4.0, 80.0], [Warn, Pass, Warn]);
    assert_eq!(load().unknown(GOMAXPROCS, "no Go").says(id), Unknown);
    // The quota is the client's, where the server has a machine of its own.
    let apart = |apart| limited(80.0).with(AGENT, "192.0.2.7:7070".into()).with(SERVER_APART, apart);
    let cpus = large().0.figures[0].conditions.get(SERVER_CPUS).unwrap().len() as f64;
    assert_eq!(apart(true).with(GOMAXPROCS, cpus).says(id), Pass);
    assert_eq!(apart(false).with(GOMAXPROCS, cpus).says(id), Warn);
}

#[test]
fn the_interface_is_named_and_drops_nothing() {
    let id = "loopback";
    for interface in ["lo", "veth0", "eth0"] {
        let values = json!({"interface": interface, "drops": 0});
        let answer = load().with(INTERFACE, interface.into()).case(id, "packets-dropped", values);
        assert_eq!(answer.outcome, Pass);
    }
    // 16 000 answers in 8 windows of a second: at a rate they are read for latencies, in a closed loop of 200 connections for the rate.
    let at_a_rate = |drops: f64| open().in_first(1, SOFTNET_DROPS, drops);
    at(id, at_a_rate, [0.0, 1.0, 8.0, 80.0], [Pass, Warn, Warn, Fail]);
    let closed = |drops: f64| load().with(SOFTNET_DROPS, drops);
    at(id, closed, [0.0, 5.0, 30.0, 200.0], [Pass, Pass, Warn, Fail]);
    assert_eq!(load().unknown(SOFTNET_DROPS, "hidden").says(id), Unknown);
    let again = |segments: f64| load().in_first(1, RETRANSMITS, segments);
    at(id, again, [0.0, 4.0, 15.0, 1600.0], [Pass, Pass, Pass, Warn]);
    let requests = again(1600.0).in_first(1, SYN_RETRANSMITS, 1600.0);
    assert_eq!(requests.says(id), Pass, "of connections: listen-overflow");
}

#[test]
fn the_machine_of_a_remote_server_is_checked_too() {
    let id = "server-host";
    assert_eq!((remote().says(id), load().answer(id)), (Pass, None));
    // A window of 0.5 s and one CPU of the server.
    for key in [HOST_STEAL, HOST_THROTTLED] {
        at(id, |lost| remote().with(key, lost), [0.009, 0.011, 0.049, 0.051], [Pass, Warn, Warn, Fail]);
    }
    let others = |seconds: f64| remote().with(HOST_FOREIGN, seconds);
    at(id, others, [0.049, 0.051, 5.0], [Pass, Warn, Warn]);
    assert_eq!(others(0.3).with(SOFTIRQ, 0.3).says(id), Pass, "the kernel's work for packets");
    assert_eq!(remote().unknown(HOST_STEAL, "hidden").says(id), Unknown);
}

#[test]
fn a_server_may_have_a_quota_of_its_own() {
    let id = "throttled";
    let server = |lost: f64| load().with(SERVER_THROTTLED, lost);
    at(id, server, [0.0, 0.009, 0.011, 0.049, 0.051], [Pass, Pass, Warn, Warn, Fail]);
    assert!(server(0.2).answer(id).unwrap().detail.contains("the server's control group"));
    assert_eq!(load().unknown(SERVER_THROTTLED, "hidden").says(id), Pass, "the client's group is read");
    let timeless = |lost| server(lost).unknown(SECONDS, "hidden");
    assert_eq!([0.0, 0.2].map(|lost| timeless(lost).says(id)), [Pass, Unknown], "of what time?");
    let both = server(0.02).with(figure::evidence::CGROUP_THROTTLED, 0.3).answer(id).unwrap();
    assert!(both.outcome == Fail && !both.detail.contains("server"), "the worse: {}", both.detail);
}

#[test]
fn looking_costs_little() {
    let id = "observer-cost";
    let profiled = |rounds, factor: f64| {
        let case = load().in_first(rounds, PROFILED, true);
        case.in_first(rounds, SERVER_USER, 0.20 + 0.48 * (factor - 1.0))
    };
    at(id, |factor| profiled(4, factor), [1.0, 1.019, 1.021, 1.5], [Pass, Pass, Warn, Warn]);
    at(id, |rounds| profiled(rounds as usize, 1.5), [2.0, 6.0], [Unknown, Unknown]);
    assert_eq!(profiled(0, 1.0).says(id), Pass);
    // Rounds that lie among the others are not distinguished.
    let among = load().in_first(5, SERVER_USER, 0.25).in_first(4, PROFILED, true);
    assert_eq!(among.says(id), Pass);
    let watched = |share: f64| load().with(WATCH_COST, share * 2.0 * ROUND_SECONDS);
    at(id, watched, [0.019, 0.021, 0.11], [Pass, Warn, Fail]);
    assert_eq!(load().unknown(WATCH_COST, "lost").says(id), Unknown);
}

#[test]
fn a_profile_speaks_for_the_time_that_it_splits() {
    let id = "profile-coverage";
    assert_eq!(cpu().says(id), Pass);
    let of = |key, value: f64| cpu().head(|load| load.in_first(3, key, value));
    at(id, |ratio| of(PROFILE_RATIO, ratio), [0.91, 0.89, 1.11, 0.74], [Pass, Warn, Warn, Fail]);
    at(id, |lost| of(PROFILE_LOST, lost), [1.0, 9.0], [Warn, Fail]);
    let nameless = |share: f64| cpu().head(|load| load.in_first(3, PROFILE_SHARES, vec![1.0 - share, share]));
    at(id, nameless, [0.049, 0.051, 0.3], [Pass, Warn, Fail]);
    nameless(0.051).case(id, id, json!({"functions": "strconv.Itoa 2 %"}));
    assert_eq!(cpu().head(|load| load.with(PROFILED, false)).says(id), Unknown);
    assert_eq!(load().derived("cpu", Unit::of("µs")).answer(id), None, "nothing is split");
}
