//! Loads of HTTP servers: each of the ways in which such a figure is wrong, and its twin that is not.

use figure::Outcome::{self, *};
use figure::evidence::http::*;
use figure::evidence::*;
use figure::{Unit, Verdict};

use crate::build::{Case, ROUND_SECONDS, ROUNDS, quota};
use crate::loads::*;

/// Failures of one kind, in each round.
fn failing(kind: &str, count: f64) -> Vec<f64> {
    FAILURES.iter().map(|name| if *name == kind { count } else { 0.0 }).collect()
}

/// What a check says of a load in which a share has these values.
fn at<const N: usize>(id: &str, values: [f64; N], of: impl Fn(f64) -> Case) -> [Outcome; N] {
    values.map(|value| of(value).says(id))
}

#[test]
fn a_quiet_load_is_valid_and_all_that_follows_from_it() {
    for case in [load(), large(), open(), load().and(null(2.0)).and(doubled(1.0)).and(other("fasthttp", 1.3))]
    {
        assert_eq!(case.judged(), (Verdict::Valid, vec![]), "{:?}", case.0.figures[0].conditions);
    }
    for what in ["memory", "goroutines", "run-queue", "cpu"] {
        assert_eq!(load().derived(what, Unit::ONE).judged(), (Verdict::Valid, vec![]), "{what}");
    }
    for quantile in [0.5, 0.99] {
        assert_eq!(latency(open(), quantile).judged(), (Verdict::Valid, vec![]), "{quantile}");
    }
    assert_eq!(cpu().judged(), (Verdict::Valid, vec![]));
    assert_eq!(load().and(null(2.0)).with(SUBJECT, "null".into()).judged(), (Verdict::Valid, vec![]));
}

#[test]
fn no_figure_is_valid_on_what_was_not_seen() {
    for case in [load(), open()] {
        let essential: Vec<_> = judge::checks::ALL
            .iter()
            .filter_map(|check| case.answer(check.id))
            .filter(|answer| answer.essential)
            .collect();
        assert!(essential.len() >= 8, "{essential:?}");
        let blind = case.machine(|machine| machine.cgroup = Default::default());
        let conditions: Vec<&str> =
            all().filter(|key| key.scope == Scope::Condition).map(|key| key.name).collect();
        let blind = blind.only(&conditions);
        assert_eq!(blind.judged().0, Verdict::Unverified);
        for answer in essential.iter().filter(|answer| answer.id != "rounds-agree") {
            assert_eq!(blind.says(&answer.id), Unknown, "{}", answer.id);
        }
    }
}

#[test]
fn checks_of_other_work_are_not_asked() {
    for id in [
        "run-queue-delay",
        "involuntary-switches",
        "stragglers",
        "interrupts",
        "threads-within-mask",
        "array-size",
    ] {
        assert_eq!(load().answer(id), None, "{id}");
    }
    for id in [
        "steal",
        "foreign-load",
        "throttled",
        "frequency",
        "clock-jump",
        "rounds-agree",
        "drift",
        "bimodal",
        "quota",
    ] {
        assert!(load().answer(id).is_some(), "{id}");
    }
    // Five rounds are no more than elsewhere.
    let few = load().values(&[30e3, 30.1e3, 29.9e3, 30e3, 30.05e3]);
    assert_eq!(few.judged(), (Verdict::Unverified, vec![]));
}

#[test]
fn the_cpus_in_use_are_those_of_both() {
    // A twentieth of two CPUs; of the one thread of the client it would be a tenth.
    assert_eq!(load().of_time(CPU_STEAL, 0.10).says("steal"), Warn);
    assert_eq!(load().of_time(CPU_STEAL, 0.21).says("steal"), Fail);
    assert_eq!(large().of_time(CPU_STEAL, 0.21).says("steal"), Pass);
    let limited = |cpus| load().machine(move |machine| machine.cgroup = quota(cpus)).says("quota");
    assert_eq!([limited(2.0), limited(1.5)], [Pass, Fail]);
}

#[test]
fn a_loads_own_packets_are_not_foreign() {
    let packets = load().of_time(CPU_FOREIGN, 0.5).of_time(SOFTIRQ_TIME, 0.45);
    assert_eq!(packets.says("foreign-load"), Pass);
    assert_eq!(packets.with(SOFTIRQ_TIME, 0.0).says("foreign-load"), Fail);
    let mut round = load().0.figures[0].rounds[0].clone();
    round.evidence.put(CPU_FOREIGN, 0.25);
    assert!(judge::gate(&round).is_some());
    round.evidence.put(SOFTIRQ_TIME, 0.23);
    assert_eq!(judge::gate(&round), None);
}

#[test]
fn a_client_that_is_full() {
    let busy = |share| load().with(CLIENT_BUSIEST, share);
    assert_eq!(
        at("client-saturated", [0.6, 0.89, 0.90, 0.97, 0.98, 1.0], busy),
        [Pass, Pass, Warn, Warn, Fail, Fail]
    );
    assert_eq!(busy(0.99).judged(), (Verdict::Invalid, vec!["client-saturated".into()]));
    // With the null responder it is seen to do more.
    let shown = |share| busy(share).and(null(1.6));
    assert_eq!(at("client-saturated", [0.95, 0.99], shown), [Pass, Warn]);
    assert_eq!(busy(0.99).and(null(1.4)).says("client-saturated"), Fail);
    assert_eq!(load().with(FULL_WAITS, 0.6).says("client-saturated"), Warn);
    let waiting = |share| load().with(CLIENT_DELAY, share);
    assert_eq!(at("client-saturated", [0.019, 0.02, 0.099, 0.1], waiting), [Pass, Warn, Warn, Fail]);
    assert_eq!(load().unknown(CLIENT_BUSIEST, "gone").says("client-saturated"), Unknown);
    // What it measures is the client itself.
    assert_eq!(busy(1.0).with(SUBJECT, "null".into()).answer("client-saturated"), None);
}

#[test]
fn at_a_rate_a_client_may_spin_and_must_read() {
    assert_eq!(open().with(CLIENT_BUSIEST, 1.0).says("client-saturated"), Pass);
    let unread = |share| open().with(RESIDENCE, share * 900e-6);
    assert_eq!(at("client-saturated", [0.09, 0.11, 0.49, 0.51], unread), [Pass, Warn, Warn, Fail]);
    // In a closed loop it is a batch by construction.
    assert_eq!(load().with(RESIDENCE, 0.010).says("client-saturated"), Pass);
}

#[test]
fn the_null_responder_shows_what_the_client_can_do() {
    // The server had time left.
    let with = |times| load().with(SERVER_USER, 0.1).and(null(times));
    assert_eq!(
        at("client-ceiling", [4.0, 1.5, 1.49, 1.1, 1.09, 0.9], with),
        [Pass, Pass, Warn, Warn, Fail, Fail]
    );
    // The server is full, and the client is not: the null responder's own limit is near.
    let full = |times| load().and(null(times));
    assert_eq!(at("client-ceiling", [2.0, 1.3, 1.05], full), [Pass, Pass, Warn]);
    let both = |times| load().with(CLIENT_BUSIEST, 0.95).and(null(times));
    assert_eq!(at("client-ceiling", [1.3, 1.05], both), [Warn, Fail]);
    assert_eq!(load().says("client-ceiling"), Unknown, "not measured");
    let mut elsewhere = null(1.0);
    elsewhere.conditions.set(CONNECTIONS, 8000.0);
    assert_eq!(load().and(elsewhere).says("client-ceiling"), Unknown, "another load");
    assert_eq!(open().and(null(1.0)).answer("client-ceiling"), None, "a rate claims no ceiling");
}

#[test]
fn twice_the_clients_threads_reach_no_more() {
    let with = |times| load().and(doubled(times));
    assert_eq!(
        at("client-doubled", [0.9, 1.0, 1.029, 1.035, 1.09, 1.2], with),
        [Pass, Pass, Pass, Warn, Warn, Fail]
    );
    let mut crowded = doubled(1.0);
    crowded.conditions.set(CLIENT_CPUS, vec![1.0]);
    assert_eq!(load().and(crowded.clone()).says("client-doubled"), Unknown, "on one CPU they can do no more");
    assert_eq!(load().answer("client-doubled"), None);
}

#[test]
fn client_and_server_on_cpus_of_their_own() {
    let id = "shared-cpus";
    let placed = |client: &[f64], server: &[f64]| {
        large()
            .with(CLIENT_CPUS, client.to_vec())
            .with(SERVER_CPUS, server.to_vec())
            .with(SERVER_ALLOWED, server.to_vec())
            .with(SERVER_SEEN, server.to_vec())
    };
    assert_eq!(placed(&[0.0, 1.0], &[2.0, 3.0]).says(id), Pass);
    assert_eq!(placed(&[0.0, 1.0], &[1.0, 2.0]).says(id), Warn);
    assert_eq!(placed(&[0.0, 1.0], &[0.0, 1.0]).says(id), Fail);
    // 48 is the other hardware thread of core 0.
    let siblings = placed(&[0.0], &[48.0, 2.0]).answer(id).unwrap();
    assert_eq!(siblings.outcome, Warn);
    assert!(siblings.detail.contains("CPUs 48 are hardware threads"), "{}", siblings.detail);
    assert_eq!(placed(&[], &[2.0]).says(id), Warn, "not pinned");
    assert_eq!(placed(&[0.0], &[2.0]).with(SERVER_SEEN, vec![2.0, 5.0]).says(id), Warn);
    assert_eq!(
        placed(&[0.0], &[2.0]).with(SERVER_ALLOWED, vec![2.0, 5.0]).says(id),
        Warn,
        "the mask did not hold"
    );
    let hidden = load().unknown(SERVER_ALLOWED, "no such process").answer(id).unwrap();
    assert!(hidden.outcome == Unknown && hidden.essential);
    let remote =
        load().with(INTERFACE, "eth0".into()).unknown(SERVER_ALLOWED, "elsewhere").answer(id).unwrap();
    assert!(remote.outcome == Unknown && !remote.essential);
}

#[test]
fn a_server_that_is_not_full_has_no_capacity() {
    let used = |share: f64| {
        load().with(SERVER_USER, share * ROUND_SECONDS / 2.0).with(SERVER_SYSTEM, share * ROUND_SECONDS / 2.0)
    };
    assert_eq!(
        at("server-not-saturated", [0.97, 0.91, 0.89, 0.71, 0.69, 0.2], used),
        [Pass, Pass, Warn, Warn, Fail, Fail]
    );
    // A client that can do twice as much bounds nothing.
    assert_eq!(used(0.5).and(null(2.0)).says("server-not-saturated"), Warn);
    assert!(used(0.5).answer("server-not-saturated").unwrap().detail.contains("waited for a CPU"));
    // Half of the host's soft interrupts are on the server's CPU.
    assert_eq!(used(0.8).with(SOFTIRQ, 0.25 * ROUND_SECONDS).says("server-not-saturated"), Pass);
    assert_eq!(
        used(0.8).with(GOAL, "asked".into()).answer("server-not-saturated"),
        None,
        "nothing is claimed"
    );
    assert_eq!(open().answer("server-not-saturated"), None);
    assert_eq!(load().unknown(SERVER_USER, "not ours").says("server-not-saturated"), Unknown);
}

#[test]
fn latencies_hold_what_waited_to_be_sent() {
    let late = |share| open().with(LAG_LATE, share * 900e-6);
    assert_eq!(
        at("coordinated-omission", [0.0, 0.09, 0.11, 0.49, 0.51], late),
        [Pass, Pass, Warn, Warn, Fail]
    );
    // What waits for a connection is the server's affair, and in the latency.
    assert_eq!(open().with(LAG_BUSY, 0.5).says("coordinated-omission"), Pass);
    assert_eq!(open().unknown(LAG_LATE, "lost").says("coordinated-omission"), Unknown);
    // A closed loop: the median says what the rate says, what lies above lacks what was never sent.
    assert_eq!(load().answer("coordinated-omission"), None);
    assert_eq!(latency(load(), 0.5).judged(), (Verdict::Valid, vec![]));
    assert_eq!(latency(load(), 0.99).judged(), (Verdict::Suspect, vec!["coordinated-omission".into()]));
    assert!(
        latency(load(), 0.5).answer("coordinated-omission").unwrap().detail.contains("connections over rate")
    );
    assert_eq!(latency(open(), 0.99).answer("coordinated-omission"), None, "its load tells");
}

#[test]
fn a_rate_that_was_not_met() {
    let missing = |share| open().with(ANSWERED, 10_000.0 * (1.0 - share));
    // Beyond 3 % of 10 000, which chance explains.
    assert_eq!(at("rate-met", [0.0, 0.045, 0.055, 0.12, 0.14], missing), [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(missing(0.5).with(GOAL, "refusal".into()).answer("rate-met"), None);
    assert_eq!(load().answer("rate-met"), None, "a closed loop asks for none");
    assert_eq!(open().unknown(RATE_ASKED, "lost").says("rate-met"), Unknown);
}

#[test]
fn littles_law() {
    let of = |busy| load().with(LITTLE, busy);
    assert_eq!(
        at("littles-law", [1.0, 0.96, 1.04, 0.94, 1.06, 0.76, 0.74, 0.29, 1.3], of),
        [Pass, Pass, Pass, Warn, Warn, Warn, Fail, Fail, Fail]
    );
    assert_eq!(open().answer("littles-law"), None);
    assert_eq!(load().unknown(LITTLE, "no answers").says("littles-law"), Unknown);
}

#[test]
fn connections_that_are_not_there_or_not_served() {
    let id = "connections-served";
    let made = |count| load().with(ESTABLISHED, count);
    assert_eq!(at(id, [200.0, 199.0, 198.0, 100.0], made), [Pass, Warn, Fail, Fail]);
    let jain = |index| load().with(JAIN, index);
    assert_eq!(at(id, [1.0, 0.95, 0.88, 0.52, 0.4], jain), [Pass, Pass, Warn, Warn, Fail]);
    let without = |share| load().with(UNSERVED, share);
    assert_eq!(at(id, [0.0, 0.0009, 0.002, 0.04, 0.06], without), [Pass, Pass, Warn, Warn, Fail]);
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
        assert_eq!(at(id, [1.0, 2.0, 150.0, 160.0], of), [Pass, Warn, Warn, Fail], "{kind}");
        assert!(of(150.0).answer(id).unwrap().detail.contains(kind), "{kind}");
    }
    assert_eq!(load().with(UNCONNECTED, failing("refused", 500.0)).says(id), Fail);
    assert_eq!(load().with(ANSWERED, 0.0).says(id), Fail);
    assert_eq!(load().with(FAILED, failing("status", 9e3)).with(GOAL, "refusal".into()).answer(id), None);
    assert_eq!(load().unknown(FAILED, "lost").says(id), Unknown);
}

#[test]
fn the_slowest_requests_count() {
    let id = "survivors";
    let of = |count| load().with(IN_FLIGHT, count).with(CENSORED_AGE, 10.0);
    assert_eq!(at(id, [0.0, 1.0, 2.0, 150.0, 160.0], of), [Pass, Pass, Warn, Warn, Fail]);
    assert!(of(160.0).answer(id).unwrap().detail.contains("the oldest of 10.0 s"));
    assert_eq!(open().with(UNSENT, 200.0).says(id), Fail);
    assert_eq!(load().unknown(IN_FLIGHT, "lost").says(id), Unknown);
}

#[test]
fn counts_of_latencies_are_counts_of_answers() {
    let id = "all-recorded";
    // 15 000 answers, 200 late ones, and 200 from before the window.
    let of = |count| load().with(RECORDED, count);
    assert_eq!(
        at(id, [15_000.0, 15_400.0, 15_410.0, 15_600.0, 14_990.0, 10_000.0], of),
        [Pass, Pass, Warn, Fail, Warn, Fail]
    );
    assert_eq!(of(15_900.0).with(FAILED, failing("timeout", 500.0)).says(id), Pass);
    // hey's first million, of three.
    assert_eq!(of(5_000.0).says(id), Fail);
    // What a rate had queued before the window: 20 000 a second for 5 ms.
    assert_eq!(open().with(RECORDED, 9_710.0).says(id), Pass);
    assert_eq!(open().with(RECORDED, 9_650.0).says(id), Warn);
    assert_eq!(load().unknown(RECORDED, "lost").says(id), Unknown);
    // A quantile needs some beyond it.
    assert_eq!(latency(open(), 0.999).says(id), Pass);
    assert_eq!(latency(open(), 0.9999).judged(), (Verdict::Suspect, vec![id.into()]));
}

#[test]
fn connections_that_are_kept() {
    let id = "keep-alive-lost";
    let of = |count| load().with(CONNECTS, count).with(CLOSED_ANNOUNCED, count);
    assert_eq!(at(id, [0.0, 15.0, 74.0, 76.0, 370.0, 380.0], of), [Pass, Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(of(380.0).with(KEEPS_ALIVE, false).answer(id), None);
    assert_eq!(load().unknown(CONNECTS, "lost").says(id), Unknown);
}

/// A connection for each request.
fn short() -> Case {
    load()
        .with(KEEPS_ALIVE, false)
        .with(CONNECTS, ANSWERS)
        .with(CONNECT_LONGEST, 0.004)
        .with(GOAL, "short".into())
}

#[test]
fn a_listening_queue_that_overflows() {
    let id = "listen-overflow";
    let overflowing = |count| short().with(LISTEN_OVERFLOWS, count);
    assert_eq!(at(id, [0.0, 1.0, 14.0, 16.0], overflowing), [Pass, Warn, Warn, Fail]);
    assert_eq!(at(id, [0.0, 1.0, 16.0], |count| short().with(SYN_RETRANSMITS, count)), [Pass, Warn, Fail]);
    for repeated in [1.01, 3.02, 7.1] {
        assert_eq!(short().with(CONNECT_LONGEST, repeated).says(id), Warn);
    }
    // No connection of ours met it; the ramp is told, and was over.
    let kept = load().with(LISTEN_OVERFLOWS, 50.0).with(RAMP_OVERFLOWS, 7.0).answer(id).unwrap();
    assert!(kept.outcome == Pass && kept.detail.contains("overflowed 7 times"), "{}", kept.detail);
    assert_eq!(short().unknown(LISTEN_OVERFLOWS, "hidden").says(id), Unknown);
    assert_eq!(short().judged(), (Verdict::Valid, vec![]));
}

#[test]
fn ports_run_out() {
    let id = "ports";
    let of = |count| load().with(CONNECTIONS, count);
    assert_eq!(at(id, [200.0, 14_100.0, 14_200.0, 16_000.0], of), [Pass, Pass, Warn, Warn]);
    assert_eq!(of(16_000.0).with(SOURCES, 2.0).says(id), Pass);
    assert_eq!(short().with(TIME_WAIT, 20_000.0).says(id), Warn);
    assert_eq!(load().with(TIME_WAIT, 20_000.0).says(id), Pass, "not left by ours");
    assert_eq!(load().with(UNCONNECTED, failing("no port", 1.0)).says(id), Fail);
    assert_eq!(load().with(FAILED, failing("no port", 1.0)).says(id), Fail);
    assert_eq!(load().unknown(PORTS, "no such file").says(id), Unknown);
}

#[test]
fn files_and_memory() {
    let id = "files-and-memory";
    let open = |share| load().with(SERVER_FILES, share * 65_536.0);
    assert_eq!(at(id, [0.5, 0.89, 0.91, 0.98, 0.995], open), [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(at(id, [1.0, 14.0, 16.0], |drops| load().with(MEMORY_ABORTS, drops)), [Warn, Warn, Fail]);
    assert_eq!(load().unknown(FILES_LIMIT, "not ours").says(id), Unknown);
}

#[test]
fn delayed_acknowledgements() {
    let id = "delayed-ack";
    let of = |share| load().with(MODE_40MS, share).with(DELAYED_ACKS, share);
    assert_eq!(at(id, [0.0, 0.009, 0.011, 0.09, 0.11], of), [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(of(0.5).with(DELAYED_ACKS, 0.0).says(id), Pass, "none was delayed");
    assert_eq!(of(0.5).unknown(DELAYED_ACKS, "hidden").says(id), Fail);
    // 1000 connections at 25 000 a second: 40 ms in a queue.
    let queueing = of(0.5).with(LATENCY, vec![0.040, 0.045, 0.05, 0.06, 0.07]);
    assert_eq!(queueing.clone().says(id), Pass);
    assert_eq!(
        queueing.clone().with(SERVER_USER, 0.01).with(SERVER_SYSTEM, 0.02).says(id),
        Fail,
        "nobody was busy"
    );
    assert_eq!(queueing.unknown(SERVER_USER, "not ours").says(id), Unknown);
    assert_eq!(load().unknown(MODE_40MS, "lost").says(id), Unknown);
}

#[test]
fn one_answer_for_each_request() {
    assert_eq!(at("pipelining", [0.0, 1.0, 2.0], |count| load().with(SURPLUS, count)), [Pass, Warn, Fail]);
    assert_eq!(load().unknown(SURPLUS, "lost").says("pipelining"), Unknown);
}

#[test]
fn only_what_conforms_is_compared() {
    assert_eq!(load().with(CONFORMS, false).judged(), (Verdict::Invalid, vec!["conforms".into()]));
    let untested = load().unknown(CONFORMS, "not tested");
    assert_eq!(untested.judged(), (Verdict::Unverified, vec!["conforms".into()]));
    assert_eq!(untested.with(GOAL, "asked".into()).answer("conforms"), None);
}

#[test]
fn servers_that_are_compared_are_equal() {
    let id = "subjects-equal";
    let beside = |change: fn(&mut figure::Figure)| {
        let mut figure = other("fasthttp", 1.4);
        change(&mut figure);
        load().and(figure).says(id)
    };
    assert_eq!(beside(|_| {}), Pass);
    assert_eq!(load().answer(id), None, "nothing is compared");
    assert_eq!(load().and(null(2.0)).answer(id), None, "the null responder is no competitor");
    let other_order = "HTTP/1.1 200 OK\nContent-Type: text/plain\ncontent-length: 10\n52a1";
    assert_eq!(beside(|figure| figure.evidence.put(ANSWER, "HTTP/1.1 200 OK\n52a2".into())), Warn);
    let mut ordered = other("fasthttp", 1.4);
    ordered.evidence.put(ANSWER, other_order.into());
    assert_eq!(load().and(ordered).says(id), Pass);
    assert_eq!(beside(|figure| figure.evidence.put(ANSWER_BYTES, 126.0)), Warn);
    assert_eq!(beside(|figure| figure.evidence.put(ANSWER_BYTES, 200.0)), Fail);
    assert_eq!(
        beside(|figure| figure.evidence.put(BUILD, "go1.26.1 fasthttp v1.74.0 GOAMD64=v1".into())),
        Pass,
        "modules are their own"
    );
    assert_eq!(beside(|figure| figure.evidence.put(BUILD, "go1.25.3 GOAMD64=v1".into())), Warn);
    assert_eq!(beside(|figure| figure.evidence.put(GOMAXPROCS, 2.0)), Fail);
    assert_eq!(beside(|figure| figure.evidence.put(GOGC, 400.0)), Warn);
    assert_eq!(beside(|figure| figure.evidence.put(CONFORMS, false)), Fail);
    assert_eq!(beside(|figure| figure.conditions.set(SERVER_CPUS, vec![0.0, 2.0])), Fail);
    assert_eq!(beside(|figure| figure.evidence.put_unknown(ANSWER, "lost")), Unknown);
    // Another load is another comparison.
    assert_eq!(load().and(doubled(1.0)).answer(id), None);
}

#[test]
fn a_trend_within_the_window() {
    let of = |low: f64, high: f64| load().with(TREND, vec![low, high]).says("trend");
    assert_eq!([of(-0.01, 0.02), of(0.0, 0.9), of(0.015, 0.03), of(0.025, 0.04)], [Pass, Pass, Pass, Warn]);
    assert_eq!([of(-0.04, -0.025), of(-0.5, -0.3)], [Warn, Fail]);
    let one = load().with(TREND, vec![-0.01, 0.01]).in_first(3, TREND, vec![0.3, 0.4]);
    assert_eq!(one.says("trend"), Pass, "three of eight rounds do not move the median");
    assert_eq!(load().says("trend"), Unknown, "a short window has none");
}

#[test]
fn collections_enough_or_none() {
    let id = "gc-regime";
    assert_eq!(at(id, [0.0, 1.0, 2.0], |cycles| load().with(GC_CYCLES, cycles)), [Pass, Warn, Pass]);
    assert_eq!(ROUNDS, 8, "1 in each is 8 in all");
    let rare = load().with(GC_CYCLES, 0.0).in_first(2, GC_CYCLES, 1.0).answer(id).unwrap();
    assert!(rare.outcome == Pass && rare.detail.contains("free of collections: 2 in all"), "{}", rare.detail);
    assert_eq!(load().unknown(GC_CYCLES, "no Go").says(id), Unknown);
}

#[test]
fn as_many_go_threads_as_cpus() {
    let id = "gomaxprocs";
    assert_eq!(at(id, [0.0, 1.0, 2.0], |threads| load().with(GOMAXPROCS, threads)), [Warn, Pass, Warn]);
    let limited = |threads| large().with(GOMAXPROCS, threads).machine(|machine| machine.cgroup = quota(3.5));
    assert_eq!(at(id, [3.0, 4.0, 80.0], limited), [Warn, Pass, Warn]);
    assert_eq!(load().unknown(GOMAXPROCS, "no Go").says(id), Unknown);
}

#[test]
fn the_interface_is_named_and_drops_nothing() {
    let id = "loopback";
    for (interface, told) in [("lo", "is no network"), ("veth0", "a pair within"), ("eth0", "over eth0;")] {
        let case = load().with(INTERFACE, interface.into());
        let answer = case.answer(id).unwrap();
        assert!(answer.outcome == Pass && answer.detail.contains(told), "{}", answer.detail);
        assert_eq!(case.with(SOFTNET_DROPS, 5.0).says(id), Fail);
    }
    let one = load().in_first(1, SOFTNET_DROPS, 1.0);
    assert_eq!(one.says(id), Warn);
    assert_eq!(load().unknown(SOFTNET_DROPS, "hidden").says(id), Unknown);
}

#[test]
fn looking_costs_little() {
    let id = "observer-cost";
    let profiled = |rounds, factor: f64| {
        let case = load().in_first(rounds, PROFILED, true).in_first(
            rounds,
            SERVER_USER,
            0.20 + 0.48 * (factor - 1.0),
        );
        case.says(id)
    };
    assert_eq!(
        [profiled(4, 1.0), profiled(4, 1.019), profiled(4, 1.021), profiled(4, 1.5)],
        [Pass, Pass, Warn, Warn]
    );
    assert_eq!([profiled(2, 1.5), profiled(6, 1.5), profiled(0, 1.0)], [Unknown, Unknown, Pass]);
    // Rounds that lie among the others are not told apart.
    let among = load().in_first(5, SERVER_USER, 0.25).in_first(4, PROFILED, true);
    assert_eq!(among.says(id), Pass);
    let watched = |share: f64| load().with(WATCH_COST, share * 2.0 * ROUND_SECONDS);
    assert_eq!(at(id, [0.019, 0.021, 0.11], watched), [Pass, Warn, Fail]);
    assert_eq!(load().unknown(WATCH_COST, "lost").says(id), Unknown);
}

#[test]
fn a_profile_speaks_for_the_time_that_it_splits() {
    let id = "profile-coverage";
    assert_eq!(cpu().says(id), Pass);
    let of = |key, value: f64| cpu().head(|load| load.in_first(3, key, value)).says(id);
    assert_eq!([0.91, 0.89, 1.11, 0.74].map(|ratio| of(PROFILE_RATIO, ratio)), [Pass, Warn, Warn, Fail]);
    assert_eq!([1.0, 9.0].map(|lost| of(PROFILE_LOST, lost)), [Warn, Fail]);
    let nameless = |share: f64| {
        let case = cpu().head(|load| load.in_first(3, PROFILE_SHARES, vec![1.0 - share, share]));
        case.answer(id).unwrap()
    };
    assert_eq!([0.049, 0.051, 0.3].map(|share| nameless(share).outcome), [Pass, Warn, Fail]);
    assert!(nameless(0.051).detail.contains("strconv.Itoa"));
    assert_eq!(cpu().head(|load| load.with(PROFILED, false)).says(id), Unknown);
    assert_eq!(load().derived("cpu", Unit::of("us")).answer(id), None, "nothing is split");
}

#[test]
fn what_follows_from_a_load_inherits_what_concerns_it() {
    let full = load().with(CLIENT_BUSIEST, 1.0);
    let verdict = |what| full.clone().derived(what, Unit::ONE).judged().0;
    assert_eq!([verdict("slo"), verdict("latency")], [Verdict::Invalid; 2]);
    for what in ["cpu", "memory", "goroutines", "run-queue"] {
        assert_eq!(verdict(what), Verdict::Valid, "{what}");
    }
    // Stolen time is in the CPU time that was booked, and in no byte of memory.
    let stolen = load().of_time(CPU_STEAL, 0.5);
    assert_eq!(stolen.clone().derived("cpu", Unit::ONE).judged(), (Verdict::Invalid, vec!["sources".into()]));
    assert_eq!(stolen.derived("memory", Unit::ONE).judged(), (Verdict::Valid, vec![]));
    let wrong = load().with(FAILED, failing("status", 5_000.0)).derived("memory", Unit::ONE);
    assert_eq!(wrong.judged().0, Verdict::Invalid);
}

#[test]
fn the_cause_stands_first() {
    let case = load()
        .with(CLIENT_CPUS, vec![0.0])
        .with(CLIENT_BUSIEST, 1.0)
        .with(CLIENT_DELAY, 0.5)
        .with(SERVER_USER, 0.05)
        .with(LITTLE, 0.6);
    let (verdict, reasons) = case.judged();
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(reasons[..4], ["shared-cpus", "client-saturated", "server-not-saturated", "littles-law"]);
}
