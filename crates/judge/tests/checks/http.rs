//! Loads of HTTP servers that nothing disturbs, and who was at the limit: each way in which such a figure is wrong, and its twin that is not.

use figure::Outcome::*;
use figure::evidence::http::*;
use figure::evidence::*;
use figure::{Unit, Verdict};
use serde_json::json;

use crate::build::{ROUND_SECONDS, at, is_blind, quota};
use crate::loads::*;
use crate::records::Build;

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
fn no_figure_is_valid_without_its_evidence() {
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
    let of_threads = ["run-queue-delay", "involuntary-switches", "stragglers", "interrupts"];
    for id in of_threads.into_iter().chain(["threads-within-mask", "array-size"]) {
        assert_eq!(load().answer(id), None, "{id}");
    }
    let of_cpus = ["steal", "foreign-load", "throttled", "frequency", "clock-jump", "quota"];
    for id in of_cpus.into_iter().chain(["rounds-agree", "drift", "bimodal"]) {
        assert!(load().answer(id).is_some(), "{id}");
    }
    // Five rounds are no more than elsewhere.
    let few = load().values(&[30e3, 30.1e3, 29.9e3, 30e3, 30.05e3]);
    assert_eq!(few.judged(), (Verdict::Unverified, vec!["rounds".to_owned()]));
}

#[test]
fn the_cpus_in_use_are_those_of_both() {
    // A twentieth of two CPUs; of the one thread of the client it would be a tenth.
    at("steal", |share| load().of_time(CPU_STEAL, share), [0.10, 0.21], [Warn, Fail]);
    assert_eq!(large().of_time(CPU_STEAL, 0.21).says("steal"), Pass);
    at("quota", |cpus| load().machine(|machine| machine.cgroup = quota(cpus)), [2.0, 1.5], [Pass, Fail]);
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
    at("client-saturated", busy, [0.6, 0.89, 0.90, 0.97, 0.98, 1.0], [Pass, Pass, Warn, Warn, Fail, Fail]);
    assert_eq!(busy(0.99).judged(), (Verdict::Invalid, vec!["client-saturated".into()]));
    // The null responder shows that it can do more.
    let shown = |share| busy(share).and(null(1.6));
    at("client-saturated", shown, [0.95, 0.99], [Pass, Warn]);
    assert_eq!(busy(0.99).and(null(1.4)).says("client-saturated"), Fail);
    assert_eq!(load().with(FULL_WAITS, 0.6).says("client-saturated"), Warn);
    // Who waits for a CPU would use it: with the 75 % that it has.
    let waiting = |share| load().with(CLIENT_DELAY, share);
    at("client-saturated", waiting, [0.09, 0.11, 0.22, 0.24], [Pass, Warn, Warn, Fail]);
    // Without a CPU for half of the time it is late, however little it used.
    let idle = |share| load().with(CLIENT_BUSIEST, 0.2).with(CLIENT_DELAY, share);
    at("client-saturated", idle, [0.09, 0.4, 0.6], [Pass, Warn, Fail]);
    assert_eq!(load().unknown(CLIENT_BUSIEST, "gone").says("client-saturated"), Unknown);
    // What it measures is the client itself.
    assert_eq!(busy(1.0).with(SUBJECT, "null".into()).answer("client-saturated"), None);
}

#[test]
fn at_a_rate_a_client_may_spin_and_must_read() {
    assert_eq!(open().with(CLIENT_BUSIEST, 1.0).says("client-saturated"), Pass);
    let unread = |share| open().with(RESIDENCE, share * 900e-6);
    at("client-saturated", unread, [0.09, 0.11, 0.49, 0.51], [Pass, Warn, Warn, Fail]);
    // In a closed loop it is a batch by construction.
    assert_eq!(load().with(RESIDENCE, 0.010).says("client-saturated"), Pass);
}

#[test]
fn the_null_responder_shows_what_the_client_can_do() {
    // The server had time left.
    let with = |times| load().with(SERVER_USER, 0.1).and(null(times));
    at("client-ceiling", with, [4.0, 1.5, 1.49, 1.1, 1.09, 0.9], [Pass, Pass, Warn, Warn, Fail, Fail]);
    // The server is full, and the client is not: the null responder's own limit is near.
    let full = |times| load().and(null(times));
    at("client-ceiling", full, [2.0, 1.3, 1.05], [Pass, Pass, Warn]);
    let both = |times| load().with(CLIENT_BUSIEST, 0.95).and(null(times));
    at("client-ceiling", both, [1.3, 1.05], [Warn, Fail]);
    assert_eq!(load().says("client-ceiling"), Unknown, "not measured");
    let elsewhere = null(1.0).with(CONNECTIONS, 8000.0);
    assert_eq!(load().and(elsewhere).says("client-ceiling"), Unknown, "another load");
    assert_eq!(open().and(null(1.0)).answer("client-ceiling"), None, "a rate claims no ceiling");
}

#[test]
fn twice_the_clients_threads_reach_no_more() {
    let with = |times| load().and(doubled(times));
    at("client-doubled", with, [0.9, 1.0, 1.029, 1.035, 1.09, 1.2], [Pass, Pass, Pass, Warn, Warn, Fail]);
    let crowded = load().and(doubled(1.0).with(CLIENT_CPUS, vec![1.0]));
    assert_eq!(crowded.says("client-doubled"), Unknown, "on one CPU they can do no more");
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
    let siblings = placed(&[0.0], &[48.0, 2.0]).case(id, "shared-cores", json!({"shared": "48"}));
    assert_eq!(siblings.outcome, Warn);
    assert_eq!(placed(&[], &[2.0]).says(id), Warn, "not pinned");
    let hidden = placed(&[0.0], &[2.0]).machine(|machine| {
        machine.topology.unknown = Some("no /sys".into());
        machine.topology.cpus.clear();
    });
    assert_eq!(hidden.says(id), Unknown, "they may be siblings");
    assert_eq!(placed(&[0.0], &[2.0]).with(SERVER_SEEN, vec![2.0, 5.0]).says(id), Warn);
    let wider = placed(&[0.0], &[2.0]).with(SERVER_ALLOWED, vec![2.0, 5.0]);
    assert_eq!(wider.says(id), Warn, "another mask");
    let elsewhere = placed(&[0.0], &[0.0]).with(SERVER_APART, true);
    assert_eq!(elsewhere.case(id, "other-machine", json!({})).outcome, Pass);
    is_blind(&load().unknown(SERVER_ALLOWED, "no such process"), id);
    let remote = load().with(INTERFACE, "eth0".into()).unknown(SERVER_ALLOWED, "elsewhere").answer(id);
    assert!(remote.is_some_and(|answer| answer.outcome == Unknown && !answer.essential));
}

#[test]
fn a_server_that_is_not_full_has_no_capacity() {
    let used = |share: f64| {
        load().with(SERVER_USER, share * ROUND_SECONDS / 2.0).with(SERVER_SYSTEM, share * ROUND_SECONDS / 2.0)
    };
    let id = "server-not-saturated";
    at(id, used, [0.97, 0.91, 0.89, 0.71, 0.69, 0.2], [Pass, Pass, Warn, Warn, Fail, Fail]);
    // A client that can do twice as much bounds nothing.
    assert_eq!(used(0.5).and(null(2.0)).says(id), Warn);
    used(0.5).case(id, "server-used", json!({"used": 0.5, "delay": 0.06}));
    // Half of the host's soft interrupts are on the server's CPU; all of them where the client is elsewhere.
    let interrupted = |share: f64| used(0.8).with(SOFTIRQ, share * ROUND_SECONDS);
    at(id, interrupted, [0.25, 0.15], [Pass, Warn]);
    let elsewhere = |apart| interrupted(0.15).with(AGENT, "192.0.2.7:7070".into()).with(SERVER_APART, apart);
    assert_eq!((elsewhere(false).says(id), elsewhere(true).says(id)), (Warn, Pass));
    assert_eq!(used(0.8).with(GOAL, "asked".into()).answer(id), None, "nothing is claimed");
    assert_eq!(open().answer(id), None);
    assert_eq!(load().unknown(SERVER_USER, "not ours").says(id), Unknown);
}

#[test]
fn latencies_hold_what_waited_to_be_sent() {
    let sent = |share: f64| vec![110e-6, 290e-6, (1.0 - share) * 900e-6, 2e-3, 5e-3];
    let late = |share| open().with(LAG_LATE, share * 900e-6).with(UNCORRECTED, sent(share));
    at("coordinated-omission", late, [0.0, 0.09, 0.11, 0.49, 0.51], [Pass, Pass, Warn, Warn, Fail]);
    // Late, and the latency hardly has more than that from the sending; and much more, without a free connection.
    for (late, share) in [(800e-6, 0.05), (20e-6, 0.9)] {
        let case = open().with(LAG_LATE, late).with(UNCORRECTED, sent(share));
        assert_eq!(case.says("coordinated-omission"), Pass, "{late} s, {share}");
    }
    // What waits for a connection is the server's affair, and in the latency.
    assert_eq!(open().with(LAG_BUSY, 0.5).says("coordinated-omission"), Pass);
    assert_eq!(open().unknown(LAG_LATE, "lost").says("coordinated-omission"), Unknown);
    // A closed loop: the median says what the rate says, what lies above lacks what was never sent.
    assert_eq!(load().answer("coordinated-omission"), None);
    assert_eq!(latency(load(), 0.5).judged(), (Verdict::Valid, vec![]));
    assert_eq!(latency(load(), 0.99).judged(), (Verdict::Suspect, vec!["coordinated-omission".into()]));
    latency(load(), 0.5).case("coordinated-omission", "closed-loop", json!({}));
    latency(load(), 0.99).case("coordinated-omission", "stalls-omitted", json!({"above": 0.01}));
    assert_eq!(latency(open(), 0.99).answer("coordinated-omission"), None, "its load answers");
}

#[test]
fn a_rate_that_was_not_met() {
    let missing = |share| open().with(ANSWERED, 10_000.0 * (1.0 - share));
    // Beyond 3 % of 10 000, which chance explains.
    at("rate-met", missing, [0.0, 0.045, 0.055, 0.12, 0.14], [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(missing(0.5).with(GOAL, "refusal".into()).answer("rate-met"), None);
    assert_eq!(load().answer("rate-met"), None, "a closed loop asks for none");
    assert_eq!(open().unknown(RATE_ASKED, "lost").says("rate-met"), Unknown);
}

#[test]
fn littles_law() {
    let of = |busy| load().with(LITTLE, busy);
    at("littles-law", of, [1.0, 0.96, 1.04], [Pass; 3]);
    at("littles-law", of, [0.94, 1.06, 0.76, 0.74, 0.29, 1.3], [Warn, Warn, Warn, Fail, Fail, Fail]);
    assert_eq!(open().answer("littles-law"), None);
    assert_eq!(load().unknown(LITTLE, "no answers").says("littles-law"), Unknown);
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
    assert_eq!(stolen.clone().derived("cpu", Unit::ONE).judged(), (Verdict::Invalid, vec!["inputs".into()]));
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
