//! Noise: who took the time that CPUs lost, and the twins on which another cause, or none, is observed.

use crate::explain_system::{Situation, explains, records};
use crate::records::*;
use figure::evidence::*;
use figure::host::CgroupLevel;
use figure::{Better, Figure, Reading, Record, Unit};
use serde_json::{Value, json};

pub const WHOLE: &str = "system.noise";
pub const LONGEST: &str = "system.noise.longest";
const SECOND: &str = "system.noise.cpu5";

/// What each of two CPUs, 0 and 5, observes in each of six rounds of a second; 250 gaps of 4 us are without a switch.
#[derive(Clone, Copy)]
pub struct Gaps {
    lost: [f64; 2],
    gaps: [f64; 2],
    waited: [f64; 2],
    longest: [f64; 2],
    steal: [f64; 2],
    interrupts: [f64; 2],
    hit: [f64; 2],
}

/// Ticks alone.
const QUIET: Gaps = Gaps {
    lost: [0.001; 2],
    gaps: [250.0; 2],
    waited: [0.0; 2],
    longest: [8e-6; 2],
    steal: [0.0; 2],
    interrupts: [260.0, 270.0],
    hit: [1.0; 2],
};
/// Ticks, and on CPU 5 another task for half of the time.
pub const HOGGED: Gaps = Gaps {
    lost: [0.001, 0.501],
    gaps: [250.0, 375.0],
    waited: [0.0, 0.5],
    longest: [8e-6, 4e-3],
    hit: [1.0, 520.0],
    ..QUIET
};

/// The figure of the whole, its longest gap, and one of CPU 5.
pub fn noise(gaps: Gaps, guest: bool) -> Record {
    let whole = plain(WHOLE, Unit::of("%"), Better::Lower, 50.0 * (gaps.lost[0] + gaps.lost[1]))
        .with(NOISE, "lost".into())
        .with(CPUS, vec![0.0, 5.0])
        .with(NOISE_THRESHOLD, 400e-9)
        .with(NOISE_OBSERVED, vec![1.0, 1.0])
        .with(NOISE_LOST, gaps.lost.to_vec())
        .with(NOISE_GAPS, gaps.gaps.to_vec())
        .with(NOISE_WAITED, gaps.waited.to_vec())
        .with(NOISE_LONGEST, gaps.longest.to_vec())
        .with(NOISE_LONGEST_WAITED, gaps.waited.map(|waited| waited.min(3.9e-3)).to_vec())
        .with(NOISE_BRIEF, vec![250.0; 2])
        .with(NOISE_BRIEF_LOST, vec![0.001; 2])
        .with(NOISE_WINDOWS, vec![1000.0; 2])
        .with(NOISE_WINDOWS_HIT, gaps.hit.to_vec())
        .with(STEAL_EACH, gaps.steal.to_vec())
        .with(IRQ_EACH, gaps.interrupts.to_vec())
        .with(IRQ_TIMER_EACH, vec![250.0; 2]);
    let derived = |id: &str, noise: &str, cpus: Vec<f64>| {
        let (rounds, derived_from) = (Vec::new(), vec![WHOLE.to_owned()]);
        let figure = whole.clone().named(id).with(NOISE, noise.to_owned()).with(CPUS, cpus);
        Figure { rounds, derived_from, ..figure }
    };
    let others = [derived(LONGEST, "longest", vec![0.0, 5.0]), derived(SECOND, "lost", vec![5.0])];
    let mut record = record([whole].into_iter().chain(others).collect());
    let hypervisor = if guest { "kvm" } else { "none" };
    record.machine.virtualisation.hypervisor = Reading::Value(hypervisor.to_owned());
    record
}

/// `noise-lost/noise-lost` with who lost how much of the lost time, and why a part is unknown.
fn lost(record: Record, id: &'static str, causes: &[(&str, f64)], unknown: Value) -> Situation {
    let causes: Vec<_> =
        causes.iter().map(|(cause, share)| json!({"cause": cause, "share": share})).collect();
    (record, id, "noise-lost/noise-lost", json!({"causes": causes, "unknown": unknown}))
}

fn expected() -> Vec<Situation> {
    // Another task for a quarter of the longest gap.
    let some = Gaps { lost: [0.03; 2], waited: [0.0, 0.001], longest: [8e-6, 4e-3], ..QUIET };
    let more = Gaps { interrupts: [100.0; 2], ..QUIET };
    let fewer = json!({"more-gaps-than-interrupts": {"gaps": 250, "interrupts": 100}});
    let stolen = |steal| Gaps { lost: [0.051; 2], steal: [steal; 2], longest: [0.015, 0.02], ..QUIET };
    let without = |gaps: Gaps, keys: &[Key<Vec<f64>>]| {
        let mut record = noise(gaps, false);
        keys.iter().for_each(|key| record.figures[0].rounds[2].evidence.put_unknown(*key, "not reported"));
        record
    };
    let blind = || without(HOGGED, &[NOISE_WAITED, NOISE_LONGEST_WAITED]);
    let silent = Gaps { lost: [0.0; 2], gaps: [0.0; 2], longest: [0.0; 2], ..QUIET };
    let unknown = &[("unknown", 1.0)];
    let longest = |record, name, values| (record, LONGEST, name, values);
    // A tick in all of the rounds is within what ticks resolve.
    let mut tick = noise(stolen(0.0), true);
    tick.figures[0].rounds[0].evidence.put(STEAL_EACH, vec![0.01, 0.0]);
    let no_steal = [("interrupts", 0.0196), ("unknown", 0.98)];
    let mut quota = noise(HOGGED, false);
    quota.machine.cgroup.levels = vec![CgroupLevel { quota_cpus: Some(0.5), ..CgroupLevel::default() }];
    let throttled = quota.clone().fact(WHOLE, CGROUP_THROTTLED, 0.4);
    let none = json!({"threshold": 400e-9, "cpus": 2, "observed": 12});
    let shares = json!({"share": 0.251, "cpus": 2, "gaps": 312.5});
    let disturbs = |verdict, hit| json!({"verdict": verdict, "hit": hit});
    let timer = |record, share| (record, WHOLE, "noise-lost/noise-lost", json!({"timer": share}));
    let waited = |waited| json!({"length": 4e-3, "cpu": 5, "waited": waited, "cause": "other-task"});
    vec![
        lost(noise(HOGGED, false), WHOLE, &[("other-task", 0.996)], Value::Null),
        lost(noise(HOGGED, false), SECOND, &[("other-task", 0.998)], Value::Null),
        (noise(HOGGED, false), WHOLE, "noise-lost/noise-lost", shares),
        (noise(HOGGED, false), SECOND, "noise-short/noise-disturbs", disturbs("invalid", 0.52)),
        (noise(some, false), WHOLE, "noise-short/noise-disturbs", disturbs("suspect", 0.001)),
        (noise(QUIET, false), WHOLE, "noise-short/noise-harmless", json!({"level": 0.02, "hit": 0.001})),
        // Short gaps are interrupts only where there are as many, and steal is reported.
        lost(noise(QUIET, false), WHOLE, &[("interrupts", 1.0)], Value::Null),
        lost(noise(QUIET, true), WHOLE, unknown, json!("no-steal")),
        lost(noise(more, false), WHOLE, unknown, fewer.clone()),
        lost(noise(Gaps { steal: [0.0005; 2], ..more }, true), WHOLE, unknown, fewer),
        lost(without(QUIET, &[IRQ_EACH]), WHOLE, unknown, json!("interrupts-not-counted")),
        lost(blind(), WHOLE, unknown, json!("waits-not-reported")),
        timer(noise(QUIET, false), json!(0.943)),
        timer(without(QUIET, &[IRQ_TIMER_EACH]), Value::Null),
        // Steal is named where it is more than a tick.
        lost(noise(stolen(0.05), true), WHOLE, &[("steal", 0.98), ("interrupts", 0.0196)], Value::Null),
        lost(tick.clone(), WHOLE, &no_steal, Value::Null),
        lost(noise(stolen(0.0), false), WHOLE, &no_steal, Value::Null),
        lost(quota, SECOND, &[("other-task", 0.998)], Value::Null),
        lost(throttled, SECOND, &[("other-task-or-quota", 0.998)], Value::Null),
        (noise(silent, false), WHOLE, "noise-lost/noise-none", none),
        longest(noise(HOGGED, false), "noise-longest/noise-longest-waited", waited(3.9e-3)),
        longest(noise(some, false), "noise-longest/noise-longest-waited", waited(1e-3)),
        longest(noise(QUIET, false), "noise-longest/noise-longest-brief", json!({"length": 8e-6})),
        longest(noise(stolen(0.05), true), "noise-longest/noise-longest-stolen", json!({"steal": 0.05})),
        longest(tick, "noise-longest/noise-longest-no-task", json!({"length": 0.02})),
        longest(blind(), "noise-longest/noise-longest-unknown", json!({"length": 4e-3, "cpu": 5})),
    ]
}

pub fn situations() -> Vec<Record> {
    records(expected())
}

#[test]
fn lost_time_is_attributed_as_far_as_a_cause_was_observed() {
    explains(expected());
}
