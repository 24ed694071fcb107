//! Two tasks that wake one another: what is said of the free figure, of pinned ones and of latencies, and the twin records on
//! which it must change.

mod relations_records;

use figure::evidence::*;
use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::{Better, CpuList, Figure, Record, Unit, Verdict};
use relations_records::*;

/// A figure of hops, six rounds around `value`; the share of looks on one CPU.
fn hopping(
    id: &str,
    placement: &str,
    way: &str,
    cpus: Option<[f64; 2]>,
    value: f64,
    together: f64,
) -> Figure {
    let mut figure = Figure::planned(format!("system.switch.{id}"), "system", id, Unit::LPS, Better::Higher);
    figure.conditions.set(PLACEMENT, placement.to_owned());
    figure.conditions.set(HOP_WAY, way.to_owned());
    if let Some(cpus) = cpus {
        figure.conditions.set(CPUS, cpus.to_vec());
    }
    figure.rounds = bandwidth("read", "none", &six(value)).rounds;
    for round in &mut figure.rounds {
        round.evidence.put(HOPS, value);
        round.evidence.put(HOP_TOGETHER, together);
        round.evidence.put(HOP_INVOLUNTARY, vec![0.0, 0.0]);
        let looks = [[1.0, 1.0, together * 1000.0], [0.0, 1.0, (1.0 - together) * 1000.0]];
        round.evidence.put(HOP_PAIRS, looks.into_iter().flatten().collect());
        round.evidence.put(IRQ_RESCHEDULE, (1.0 - together) * value * 0.99);
        round.evidence.put(CPU_FOREIGN, 0.0);
    }
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    figure
}

/// Two CPUs; index 3 is shared by all of them, or each has one of its own.
fn guest(shared: bool, free: f64, together: f64) -> Record {
    let mut llc = hopping("llc", "llc", "pipe", Some([0.0, 1.0]), 96e3, 0.0);
    llc.conditions.set(PAIR_BASIS, "share an L3 of 32 MiB".to_owned());
    let figures = vec![
        hopping("free", "free", "pipe", None, free, together),
        hopping("same-cpu", "same-cpu", "pipe", Some([0.0, 0.0]), 393e3, 1.0),
        llc,
        hopping("same-cpu.futex", "same-cpu", "futex", Some([0.0, 0.0]), 500e3, 1.0),
    ];
    let mut record = record(figures);
    let machine = &mut record.machine;
    let cpus: CpuList = "0-1".parse().unwrap();
    (machine.topology.online, machine.topology.allowed) = (cpus.clone(), cpus.clone());
    machine.topology.cpus =
        cpus.iter().map(|cpu| LogicalCpu { cpu, core: cpu, ..LogicalCpu::default() }).collect();
    let of = |cpus: CpuList| {
        let (level, kind, size) = (3, CacheKind::Unified, 32 << 20);
        Cache { level, kind, size, line: None, ways: None, cpus }
    };
    machine.caches.instances = match shared {
        true => vec![of(cpus)],
        false => cpus.iter().map(|cpu| of([cpu].into_iter().collect())).collect(),
    };
    record
}

const FREE: &str = "system.switch.free";

#[track_caller]
fn says(record: &Record, id: &str, words: &[&str]) {
    let why = why(record, id);
    words.iter().for_each(|word| assert!(why.contains(word), "{id}: no '{word}' in: {why}"));
}

#[track_caller]
fn silent(record: &Record, id: &str, words: &[&str]) {
    let why = why(record, id);
    words.iter().for_each(|word| assert!(!why.contains(word), "{id}: '{word}' in: {why}"));
}

#[test]
fn a_hidden_cache_keeps_the_tasks_on_one_cpu() {
    let hidden = guest(false, 400e3, 0.99);
    says(
        &hidden,
        FREE,
        &[
            "within 1.8 % of system.switch.same-cpu (393000 lps) and 4.17x system.switch.llc (96000 lps)",
            "99 % of the looks found both tasks on CPU 1",
            "2 last-level caches of 1 CPU each, so that the wake-up had nowhere else to go",
        ],
    );
    // The same rates, the cache shown: then the caches do not explain it.
    let shown = guest(true, 400e3, 0.99);
    says(&shown, FREE, &["shared by CPUs 0-1", "why it did not is not explained"]);
    silent(&shown, FREE, &["nowhere else"]);
    // Others kept the CPUs busy.
    let mut busy = guest(true, 400e3, 0.99);
    for round in &mut busy.figures[0].rounds {
        round.evidence.put(CPU_FOREIGN, 0.5 * round.duration);
    }
    says(&busy, FREE, &["others used 25 % of the CPUs' time, so that it may have found none"]);
    let mut blind = guest(false, 400e3, 0.99);
    blind.machine.caches.instances.clear();
    says(&blind, FREE, &["is not shown"]);
    let mut alone = guest(true, 400e3, 0.99);
    alone.machine.topology.allowed = "1".parse().unwrap();
    says(&alone, FREE, &["no other CPU may be used"]);
}

#[test]
fn a_shared_cache_keeps_them_apart() {
    let shared = guest(true, 98e3, 0.01);
    says(
        &shared,
        FREE,
        &[
            "within 2.1 % of system.switch.llc (96000 lps) and 0.249x system.switch.same-cpu",
            "shared by CPUs 0-1, so that the wake-up looks for an idle CPU there: every hop pays a wake-up across CPUs",
            "(0.980 reschedule interrupts a hop)",
        ],
    );
    let hidden = guest(false, 98e3, 0.01);
    says(&hidden, FREE, &["CPUs 0 and 1 share no last-level cache", "is not explained"]);
    silent(&hidden, FREE, &["every hop pays"]);
}

#[test]
fn a_rate_that_does_not_fit_its_placement_is_not_explained() {
    says(&guest(false, 200e3, 0.99), FREE, &["Not explained", "it is 0.509x system.switch.same-cpu"]);
    says(&guest(true, 200e3, 0.01), FREE, &["Not explained", "on two CPUs", "2.08x system.switch.llc"]);
    // An invalid figure explains nothing.
    let mut invalid = guest(false, 400e3, 0.99);
    invalid.figures[1].verdict = Some(Verdict::Invalid);
    silent(&invalid, FREE, &["same-cpu"]);
}

#[test]
fn two_modes_with_their_shares_of_time() {
    // Half of the hops on one CPU: 1/(0.5/393 + 0.5/96) = 154 k a second, of which they take a fifth.
    let mixed = guest(true, 154e3, 0.5);
    says(
        &mixed,
        FREE,
        &["two modes", "50 % of the looks, or 20 % of the time", "154307 lps, which explains it"],
    );
    says(&guest(true, 300e3, 0.5), FREE, &["which does not explain it"]);
}

#[test]
fn pinned_figures_by_what_waking_another_cpu_costs() {
    let record = guest(true, 98e3, 0.01);
    let llc = "system.switch.llc";
    says(
        &record,
        llc,
        &[
            "A hop takes 5.21 us, 4.09x that of system.switch.same-cpu",
            "waking another CPU costs 3.94 us more (0.990 reschedule interrupts a hop) (the two CPUs: share an L3",
        ],
    );
    let mut equal = guest(true, 98e3, 0.01);
    set(&mut equal, llc, 392e3);
    says(&equal, llc, &["costs nothing that can be told"]);
    set(&mut equal, llc, 800e3);
    says(&equal, llc, &["overlap"]);
    // Rounds that differ too much tell nothing.
    let figure = equal.figures.iter_mut().find(|figure| figure.id == llc).unwrap();
    for (round, value) in figure.rounds.iter_mut().zip([1e5, 9e5, 2e5, 8e5, 3e5, 5e5]) {
        round.samples = vec![value];
    }
    figure.summarise();
    says(&equal, llc, &["too much to tell"]);
    says(
        &record,
        "system.switch.same-cpu.futex",
        &["1.272x [1.272, 1.272]", "by futex a hop costs 272 ns less"],
    );
}

#[test]
fn a_switch_is_what_the_pipe_leaves_of_a_hop() {
    let mut record = guest(true, 98e3, 0.01);
    silent(&record, "system.switch.same-cpu", &["the switch itself"]);
    let mut pipe = Figure::planned("system.pipe", "system", "pipe", Unit::LPS, Better::Higher);
    pipe.conditions.set(TEST, "pipe".to_owned());
    pipe.conditions.set(COPIES, 1.0);
    pipe.rounds = bandwidth("read", "none", &six(2e6)).rounds;
    pipe.summarise();
    pipe.verdict = Some(Verdict::Valid);
    record.figures.push(pipe);
    // (1/393000 - 2/2000000)/2 = 0.772 us.
    says(&record, "system.switch.same-cpu", &["without a switch 500 ns", "the switch itself costs 772 ns"]);
    set(&mut record, "system.pipe", 0.7e6);
    says(&record, "system.switch.same-cpu", &["nothing is left for a switch"]);
}

#[test]
fn a_woken_task_waits_displaces_or_runs_elsewhere() {
    let wake = |median: f64, together: f64, taken: f64| {
        let id = "wake.free.busy50";
        let mut figure = hopping(id, "free", "pipe", None, median, together);
        (figure.unit, figure.better) = (Unit::NANOSECONDS, Better::Lower);
        figure.conditions.set(WAKER_BUSY, 50_000.0);
        for round in &mut figure.rounds {
            round.evidence.put(HOPS, 2000.0);
            round.evidence.put(HOP_INVOLUNTARY, vec![taken * 1000.0, 0.0]);
            round.evidence.put(WAKE_P99, 90_000.0);
            round.evidence.put(WAKE_MAX, 4e6);
        }
        why(&record(vec![figure]), &format!("system.switch.{id}"))
    };
    let tail = "99 % of the wake-ups take at most 90.0 us, the longest took 4.00 ms";
    let waits = wake(52_000.0, 1.0, 0.0);
    assert!(
        waits.contains("waits for the waker to leave the CPU (100 % of the looks on one CPU)"),
        "{waits}"
    );
    assert!(waits.contains("busy for 50.0 us") && waits.contains(tail), "{waits}");
    let displaces = wake(4000.0, 1.0, 0.98);
    assert!(displaces.contains("takes the CPU from its waker (0.980 involuntary switches"), "{displaces}");
    let elsewhere = wake(20_000.0, 0.0, 0.0);
    assert!(elsewhere.contains("runs on another CPU (100 % of the looks)"), "{elsewhere}");
    assert!(wake(52_000.0, 0.0, 0.0).contains("Not explained"), "on two CPUs nobody has to wait");
    assert!(wake(4000.0, 1.0, 0.0).contains("Not explained"), "on one CPU somebody has to");
}
