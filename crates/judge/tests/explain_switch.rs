//! Two tasks that wake one another: cases of free and pinned figures and of latencies, and the twins on which they change.

use crate::explain_system::{Situation, explains, records};
use crate::records::*;
use figure::evidence::*;
use figure::host::{Cache, CacheKind};
use figure::{Better, CpuList, Figure, Record, Unit, Verdict};
use serde_json::{Value, json};

/// Last-level caches of two CPUs, by the CPUs that share them.
const SHARED: &[&str] = &["0-1"];
const HIDDEN: &[&str] = &["0", "1"];

const FREE: &str = "system.switch.free";
pub const YOUNG: &str = "system.switch.free.young";
const SAME_CPU: &str = "system.switch.same-cpu";
const FUTEX: &str = "system.switch.same-cpu.futex";
const LLC: &str = "system.switch.llc";
pub const WOKEN: &str = "system.switch.wake.free.busy50";

/// A figure of hops, six rounds around `value`; the share of samples on one CPU.
fn hopping(id: &str, placement: &str, way: &str, cpus: &[f64], value: f64, together: f64) -> Figure {
    plain(id, Unit::LPS, Better::Higher, value)
        .with(PLACEMENT, placement.to_owned())
        .with(HOP_WAY, way.to_owned())
        .with(CPUS, cpus.to_vec())
        .with(HOPS, 2000.0)
        .with(HOP_TOGETHER, together)
        .with(HOP_PAIRS, vec![1.0, 1.0, together * 1000.0, 0.0, 1.0, (1.0 - together) * 1000.0])
}

/// A machine with these last-level caches, and a pipe that takes 500 ns without a switch.
fn guest(caches: &[&str], free: f64, together: f64) -> Record {
    let mut pipe = hopping("system.pipe", "", "", &[], 2e6, 0.0);
    pipe.conditions = Default::default();
    let pipe = pipe.with(TEST, "pipe".into()).with(COPIES, 1.0);
    let mut record = record(vec![
        hopping(FREE, "free", "pipe", &[], free, together),
        hopping(SAME_CPU, "same-cpu", "pipe", &[0.0, 0.0], 393e3, 1.0),
        hopping(LLC, "llc", "pipe", &[0.0, 1.0], 96e3, 0.0),
        hopping(FUTEX, "same-cpu", "futex", &[0.0, 0.0], 500e3, 1.0),
        pipe,
    ]);
    let caches: Vec<CpuList> = caches.iter().map(|cpus| cpus.parse().unwrap()).collect();
    let cpus: CpuList = caches.iter().flat_map(CpuList::iter).collect();
    (record.machine.topology.online, record.machine.topology.allowed) = (cpus.clone(), cpus);
    let (level, kind, size) = (3, CacheKind::Unified, 32 << 20);
    let cache = |cpus| Cache { level, kind, size, line: None, ways: None, cpus };
    record.machine.caches.instances = caches.into_iter().map(cache).collect();
    record
}

/// With another value of a figure.
pub fn piped(id: &str, value: f64) -> Record {
    guest(SHARED, 98e3, 0.01).value(id, value)
}

/// The pair that lasts settled, and is so often on one CPU; a new one does not live that long.
pub fn young(caches: &[&str], settled: f64) -> Record {
    let mut record = guest(caches, 400e3, settled).fact(FREE, HOP_RESTS, 8.0);
    record.figures.push(hopping(YOUNG, "free", "pipe", &[], 98e3, 0.0));
    record
}

/// The latency of a wake-up by a waker that stays busy: its median, samples on one CPU, preemptions of the waker.
pub fn woken(busy: f64, median: f64, together: f64, preemptions: f64) -> Record {
    let figure = hopping(WOKEN, "free", "pipe", &[], median, together).with(WAKER_BUSY, busy);
    let figure = figure.with(WAKE_P99, 90_000.0).with(WAKE_MAX, 4e6);
    let figure = figure.with(HOP_INVOLUNTARY, vec![preemptions * 1000.0, 0.0]);
    record(vec![Figure { unit: Unit::NANOSECONDS, better: Better::Lower, ..figure }])
}

fn expected() -> Vec<Situation> {
    let (stays, goes) = (json!("stays-with-waker"), json!("goes-to-idle-cpu"));
    let placed = |caches: &[&str], one: f64, cause: &Value| {
        let values = json!({"one": one, "two": 1.0 - one, "cause": cause});
        (guest(caches, 98e3, one), FREE, "switch-free/switch-placed", values)
    };
    let new_pair = |caches: &[&str], settled, name, values| (young(caches, settled), YOUNG, name, values);
    let new = json!({"settled": {"figure": FREE}, "settled_samples": 0.99, "samples": 1.0});
    let same = json!({"figure": SAME_CPU});
    let wakes_cpu = json!({"more": 3.94e-6, "hop": 5.21e-6, "ratio": 4.09, "same_cpu": same});
    let transport = json!({"transport": "futex", "hop": 1e-6, "pipe_hop": 1.272e-6, "pipe": same});
    let pipe = json!({"figure": "system.pipe"});
    let cost = json!({"switch": 772e-9, "hop": 1.272e-6, "pass": 500e-9, "pipe": pipe});
    let wake = |busy, median, together, preemptions, name, mut values: Value| {
        values["tail"] = json!({"p99": 90e-6, "longest": 4e-3});
        (woken(busy, median, together, preemptions), WOKEN, name, values)
    };
    vec![
        placed(HIDDEN, 0.99, &stays),
        placed(HIDDEN, 0.5, &stays),
        placed(HIDDEN, 0.01, &Value::Null),
        placed(SHARED, 0.99, &Value::Null),
        placed(SHARED, 0.5, &goes),
        placed(SHARED, 0.01, &goes),
        placed(&[], 0.99, &Value::Null),
        placed(&["1"], 0.99, &json!("one-cpu-allowed")),
        // Three CPUs: the tasks were on two that share no cache, and on two that do.
        placed(&["0,2", "1"], 0.01, &Value::Null),
        placed(&["0,1", "2"], 0.01, &goes),
        new_pair(HIDDEN, 0.99, "switch-free/switch-new-pair", new),
        // The settled pair runs apart as well, or a cache is shared: the cause is not that the other pair is new.
        new_pair(HIDDEN, 0.05, "switch-free/switch-placed", json!({"cause": null})),
        new_pair(SHARED, 0.99, "switch-free/switch-placed", json!({"cause": goes})),
        (piped(LLC, 96e3), LLC, "switch-pinned/switch-wakes-cpu", wakes_cpu),
        (piped(LLC, 392e3), LLC, "switch-pinned/switch-as-on-one-cpu", json!({"ratio": 1.0})),
        (piped(LLC, 800e3), LLC, "switch-pinned/switch-overlaps", json!({"ratio": 0.491})),
        (piped(LLC, 96e3), FUTEX, "switch-pinned/switch-transport", transport),
        // (1/393000 - 2/2000000)/2 = 0.772 us.
        (piped(LLC, 96e3), SAME_CPU, "switch-cost/switch-cost", cost),
        wake(50e3, 52e3, 1.0, 0.0, "wake-up/wake-up-waits", json!({"busy": 50e-6, "samples": 1.0})),
        wake(50e3, 4e3, 1.0, 0.98, "wake-up/wake-up-preempts", json!({"busy": 50e-6, "preemptions": 0.98})),
        wake(50e3, 20e3, 0.0, 0.0, "wake-up/wake-up-elsewhere", json!({"busy": 50e-6, "samples": 1.0})),
        // On two CPUs none has to wait; on one CPU one has to, or is preempted.
        wake(50e3, 52e3, 0.0, 0.0, "wake-up/wake-up-tail", json!({})),
        wake(50e3, 4e3, 1.0, 0.0, "wake-up/wake-up-tail", json!({})),
        wake(0.0, 52e3, 1.0, 0.98, "wake-up/wake-up-tail", json!({})),
    ]
}

pub fn situations() -> Vec<Record> {
    records(expected())
}

#[test]
fn two_tasks_by_placement_price_and_wake_up() {
    explains(expected());
    for (id, rule) in [(LLC, "switch-cost"), (SAME_CPU, "switch-pinned")] {
        no_case(&piped(LLC, 96e3), id, rule);
    }
    no_case(&piped("system.pipe", 0.7e6), SAME_CPU, "switch-cost");
    let noisy = |figure: Figure| figure.values(&[1e5, 9e5, 2e5, 8e5, 3e5, 5e5]);
    no_case(&piped(LLC, 800e3).change(LLC, noisy), LLC, "switch-pinned");
}

#[test]
fn free_tasks_are_compared_with_pinned_ones_that_are_usable() {
    let placed = |record: &Record, values| case(record, FREE, "switch-free/switch-placed", values);
    let mut record = guest(HIDDEN, 400e3, 0.99);
    let llc = json!({"figure": LLC, "value": 96e3, "ratio": 4.17});
    placed(&record, json!({"pinned": [{"figure": SAME_CPU, "value": 393e3, "ratio": 1.02}, llc]}));
    record.figures[1].verdict = Some(Verdict::Invalid);
    placed(&record, json!({"pinned": [llc]}));
    // Rounds with more hops have more samples.
    for (number, round) in record.figures[0].rounds.iter_mut().enumerate() {
        let (share, samples) = if number == 0 { (1.0, 995.0) } else { (0.0, 1.0) };
        round.evidence.put(HOP_TOGETHER, share);
        round.evidence.put(HOP_SAMPLES, samples);
    }
    placed(&record, json!({"one": 0.995}));
    // The check of its placement has the share of another transport.
    no_case(&record.fact(FREE, HOP_WAY, "futex".into()), FREE, "switch-free");
}
