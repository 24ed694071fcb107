//! Noise: what spoils any other figure is what these are about; what spoils these is a heartbeat that missed it.

use figure::Outcome::*;
use figure::evidence::*;
use figure::{Better, Figure, Unit, Verdict};
use serde_json::json;

use crate::build::{Case, ROUND_SECONDS, at, quiet_vm};

/// Heartbeats on the two CPUs of a quiet guest, which lost about 1 % of their time.
pub fn noise() -> Case {
    let case = quiet_vm()
        .without(ARRAY_BYTES)
        .without(STORES)
        .without(KERNEL)
        .with(NOISE, "lost".into())
        .with(PLACES, "threads".into())
        .with(PASS_SECONDS, ROUND_SECONDS)
        .with(NOISE_THRESHOLD, 400e-9)
        .with(NOISE_OBSERVED, vec![ROUND_SECONDS * 0.999; 2])
        .values(&[1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.0, 1.1]);
    case.change(|figure| Figure { unit: Unit::of("%"), better: Better::Lower, convention: None, ..figure })
}

/// Everything that others can take, at once.
fn besieged(case: Case) -> Case {
    case.of_cpu_time(CPU_STEAL, 0.3)
        .of_cpu_time(CPU_FOREIGN, 0.5)
        .of_cpu_time(SOFTIRQ_TIME, 0.3)
        .of_cpu_time(CPU_SIBLING, 0.9)
        .of_time(RUN_DELAY_WORST, 0.5)
        .of_time(RUN_DELAY, 0.5)
        .with(INVOLUNTARY_SWITCHES, 900.0)
        .with(CANARY_CHANGE, 0.3)
        .with(THERMAL_THROTTLES, 5.0)
        .with(THREAD_SECONDS_MAX, 0.08)
        .with(CANARY_SPREAD, 0.5)
}

#[test]
fn what_it_measures_does_not_make_it_wrong() {
    assert_eq!(noise().judged(), (Verdict::Valid, vec![]));
    assert_eq!(besieged(noise()).judged(), (Verdict::Valid, vec![]));
    let work = besieged(quiet_vm());
    let of_others = ["steal", "foreign-load", "interrupts", "sibling-load", "run-queue-delay"];
    let of_cpus = ["involuntary-switches", "frequency", "thermal", "stragglers", "unequal-cores"];
    let of_rounds = ["bimodal", "drift", "threads-on-distinct-cores"];
    for check in of_others.into_iter().chain(of_cpus).chain(of_rounds) {
        assert_eq!(besieged(noise()).answer(check), None, "{check}");
        assert!(work.answer(check).is_some(), "{check} is asked of work");
    }
    assert_eq!(work.judged().0, Verdict::Invalid);
}

#[test]
fn what_makes_it_wrong_is_asked() {
    for (case, check) in [
        (noise().with(PLACE_STRAYED, 1.0), "placement-held"),
        (noise().with(PLACE_READBACK, false), "placement-held"),
        (noise().with(CLOCK_SUSPENDED, 3.0), "clock-jump"),
    ] {
        assert_eq!(case.judged(), (Verdict::Invalid, vec![check.to_owned()]));
    }
    let throttled = noise().of_cpu_time(CGROUP_THROTTLED, 0.3);
    assert_eq!(throttled.says("throttled"), Fail, "our own quota is no noise of the machine");
    assert_eq!(noise().without(NOISE_THRESHOLD).judged().0, Verdict::Unverified);
}

#[test]
fn a_heartbeat_notices_what_is_longer_than_its_gap() {
    let gap = |seconds| noise().with(NOISE_THRESHOLD, seconds);
    at("heartbeat", gap, [4.9e-6, 5e-6, 99e-6, 100e-6], [Pass, Warn, Warn, Fail]);
    let heard = |share| noise().with(NOISE_OBSERVED, vec![ROUND_SECONDS, ROUND_SECONDS * share]);
    // A thread that was away at the end stops late.
    at("heartbeat", heard, [0.91, 0.89, 0.49, 3.0], [Pass, Warn, Fail, Pass]);
    heard(0.8).case("heartbeat", "heartbeat", json!({"missed": 0.2}));
    assert_eq!(noise().without(PASS_SECONDS).says("heartbeat"), Unknown);
    assert_eq!(quiet_vm().answer("heartbeat"), None);
}

#[test]
fn rounds_of_noise_agree_by_points_of_time() {
    // From 0.02 to 0.6 %: thirtyfold, and nothing that anyone has to think of.
    let small = noise().values(&[0.02, 0.6, 0.03, 0.5, 0.02, 0.6, 0.02, 0.6]);
    assert_eq!(small.says("rounds-agree"), Pass);
    let large = noise().values(&[2.0, 9.0, 3.0, 8.0, 2.0, 9.0, 2.5, 8.5]);
    let large = large.case("rounds-agree", "rounds-agree", json!({"of_time": true, "rounds": 8}));
    assert_eq!(large.outcome, Warn);
    assert_eq!(noise().values(&[2.0, 50.0, 3.0, 48.0, 2.0, 50.0, 2.5, 49.0]).says("rounds-agree"), Warn);
}
