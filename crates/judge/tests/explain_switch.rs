//! Two tasks that wake one another: what is said of the free figure, of pinned ones and of latencies, and the twin records on
//! which it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::{Better, CheckResult, CpuList, Figure, Outcome, Record, Unit, Verdict};

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
pub fn guest(shared: bool, free: f64, together: f64) -> Record {
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
    says(&shown, FREE, &["one last-level cache over CPUs 0-1", "why it did not is not explained"]);
    silent(&shown, FREE, &["nowhere else"]);
    // Others kept the CPUs busy.
    let mut busy = guest(true, 400e3, 0.99);
    for round in &mut busy.figures[0].rounds {
        round.evidence.put(CPU_FOREIGN, 0.5 * round.duration);
    }
    says(&busy, FREE, &["other processes used 0.5 of 2 CPUs (25 %), so that it may have found none"]);
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
            "the kernel sees one last-level cache over CPUs 0-1, so that a woken task goes to an idle CPU there: every hop pays",
            "(0.980 reschedule interrupts a hop)",
        ],
    );
    let hidden = guest(false, 98e3, 0.01);
    says(
        &hidden,
        FREE,
        &["2 last-level caches of 1 CPU each, so that the wake-up should have stayed", "is not explained"],
    );
    silent(&hidden, FREE, &["every hop pays"]);
    // Two of four CPUs share one, and the tasks were on two that do not.
    let mut apart = guest(true, 98e3, 0.01);
    apart.machine.topology.allowed = "0-2".parse().unwrap();
    apart.machine.topology.online = "0-2".parse().unwrap();
    let mut third = apart.machine.caches.instances[0].clone();
    third.cpus = "1".parse().unwrap();
    apart.machine.caches.instances[0].cpus = "0,2".parse().unwrap();
    apart.machine.caches.instances.push(third);
    says(&apart, FREE, &["CPUs 0 and 1 share no last-level cache, so that the wake-up should have stayed"]);
    // The twin: the two that share one are theirs.
    apart.machine.caches.instances[0].cpus = "0,1".parse().unwrap();
    apart.machine.caches.instances[1].cpus = "2".parse().unwrap();
    apart.machine.caches.instances.truncate(2);
    says(
        &apart,
        FREE,
        &["2 last-level caches, one of them over CPUs 0-1, so that a woken task goes to an idle CPU"],
    );
}

#[test]
fn a_new_pair_runs_apart_until_it_has_settled() {
    // As a guest with a hidden cache has it: the pair that lasts settled, the new one did not live that long.
    let mut record = guest(false, 400e3, 0.99);
    record.figures[0].conditions.set(HOP_RESTS, 8.0);
    let young = "system.switch.free.young";
    record.figures.push(hopping("free.young", "free", "pipe", None, 98e3, 0.0));
    let explained = "a new pair runs apart there for some seconds, until it has forgotten what it inherited (wake_wide); \
         system.switch.free settled, and was on one CPU in 99 % of the looks";
    says(&record, young, &["2 last-level caches of 1 CPU each", explained]);
    says(&record, FREE, &["nowhere else to go"]);
    // The one that settled is apart too: then it is not youth.
    let mut neither = record.clone();
    for round in &mut neither.figures[0].rounds {
        round.evidence.put(HOP_TOGETHER, 0.2);
    }
    says(&neither, young, &["is not explained (a new pair may run apart for some seconds)"]);
    silent(&neither, young, &["until it has forgotten"]);
    // A pair that settled and runs apart has no such excuse.
    let mut settled = guest(false, 98e3, 0.01);
    settled.figures[0].conditions.set(HOP_RESTS, 8.0);
    says(&settled, FREE, &["2 last-level caches of 1 CPU each", "is not explained."]);
    silent(&settled, FREE, &["may run apart for some seconds"]);
    // Where a cache is shared, youth explains nothing.
    let mut shared = guest(true, 98e3, 0.01);
    shared.figures.push(hopping("free.young", "free", "pipe", None, 98e3, 0.0));
    silent(&shared, young, &["a new pair"]);
}

#[test]
fn a_wake_up_that_is_not_synchronous_leaves_a_task_where_it_was() {
    let by = |way: &str| {
        let mut record = guest(false, 98e3, 0.01);
        record.figures.iter_mut().for_each(|figure| figure.conditions.set(HOP_WAY, way.to_owned()));
        why(&record, FREE)
    };
    assert!(by("futex").contains("a wake-up by futex is not synchronous"), "{}", by("futex"));
    assert!(by("eventfd").contains("a wake-up by eventfd is not synchronous"), "{}", by("eventfd"));
    for way in ["pipe", "socket", "threads"] {
        assert!(by(way).contains("is not explained") && !by(way).contains("synchronous"), "{}", by(way));
    }
}

#[test]
fn the_cache_is_named_whatever_the_rate_and_the_verdict() {
    let caches = ["one last-level cache over CPUs 0-1", "2 last-level caches of 1 CPU each"];
    for together in [0.01, 0.5, 0.99] {
        for shown in [true, false] {
            let (named, other) = if shown { (caches[0], caches[1]) } else { (caches[1], caches[0]) };
            // A rate that is that of neither placement, as an emulator makes them.
            let odd = guest(shown, 12e3, together);
            says(&odd, FREE, &[named, "explain"]);
            silent(&odd, FREE, &[other]);
            // No pinned figure that could be used.
            let mut bare = odd.clone();
            bare.figures.truncate(1);
            says(
                &bare,
                FREE,
                &[
                    named,
                    if together == 0.5 { "It has two modes: both" } else { "Of 99 % of the looks found" },
                ],
            );
            silent(&bare, FREE, &["system.switch.same-cpu"]);
            // Rounds that differ by placement are no figure, and yet the placement has a reason.
            let mut invalid = odd.clone();
            let check = CheckResult {
                id: "placement-dependent".to_owned(),
                outcome: Outcome::Fail,
                detail: "the rounds differ".to_owned(),
                fix: None,
                essential: true,
                cause: None,
            };
            invalid.figures[0].verdict = Some(Verdict::Invalid);
            invalid.figures[0].checks = vec![check.clone()];
            says(
                &invalid,
                FREE,
                &["Invalid (placement-dependent): the rounds differ", "Over all rounds", named],
            );
            invalid.figures[0].checks = vec![CheckResult { id: "verified".to_owned(), ..check }];
            silent(&invalid, FREE, &["Over all rounds", named]);
        }
    }
}

#[test]
fn rounds_with_more_hops_have_more_looks() {
    let mut record = guest(false, 400e3, 0.99);
    for (number, round) in record.figures[0].rounds.iter_mut().enumerate() {
        let (share, looks) = if number == 0 { (1.0, 995.0) } else { (0.0, 1.0) };
        round.evidence.put(HOP_TOGETHER, share);
        round.evidence.put(HOP_SAMPLES, looks);
    }
    says(&record, FREE, &["100 % of the looks found both tasks on"]);
    for round in &mut record.figures[0].rounds {
        round.evidence.put(HOP_SAMPLES, 100.0);
    }
    says(&record, FREE, &["two modes", "17 % of the looks"]);
    // Together on a CPU that changes.
    let mut moving = guest(false, 400e3, 0.99);
    for (number, round) in moving.figures[0].rounds.iter_mut().enumerate() {
        let at = if number < 2 { 0.0 } else { 1.0 };
        round.evidence.put(HOP_PAIRS, vec![at, at, 1000.0]);
    }
    says(&moving, FREE, &["found both tasks on one CPU, most often CPU 1;"]);
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
        &[
            "two modes: both tasks on one CPU in 50 % of the looks",
            "system.switch.same-cpu (393000 lps), 20 % of the time, and system.switch.llc (96000 lps)",
            "154307 lps, which explains it",
        ],
    );
    says(&guest(true, 300e3, 0.5), FREE, &["which does not explain it"]);
    says(
        &mixed,
        FREE,
        &["where a woken task goes to an idle CPU if it finds one; why it did not always is not explained"],
    );
    let stays = "2 last-level caches of 1 CPU each, so that a wake-up stays with its waker; what moved them apart is not";
    says(&guest(false, 154e3, 0.5), FREE, &[stays]);
    let mut alone = guest(true, 154e3, 0.5);
    alone.machine.topology.allowed = "1".parse().unwrap();
    says(&alone, FREE, &["no other CPU may be used: what moved them is not explained"]);
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
        &[
            "1.272x [1.272, 1.272] of system.switch.same-cpu (393000 lps) on the same CPUs",
            "by futex a hop costs 272 ns less",
        ],
    );
    let mut other = guest(true, 98e3, 0.01);
    let futex = "system.switch.same-cpu.futex";
    set(&mut other, futex, 393e3);
    says(&other, futex, &[": futex instead of pipes between processes changes nothing"]);
    set(&mut other, futex, 300e3);
    says(&other, futex, &["by futex a hop costs 394 ns more"]);
}

/// With a pipe that takes 500 ns without a switch.
pub fn piped() -> Record {
    let mut record = guest(true, 98e3, 0.01);
    let mut pipe = Figure::planned("system.pipe", "system", "pipe", Unit::LPS, Better::Higher);
    pipe.conditions.set(TEST, "pipe".to_owned());
    pipe.conditions.set(COPIES, 1.0);
    pipe.rounds = bandwidth("read", "none", &six(2e6)).rounds;
    pipe.summarise();
    pipe.verdict = Some(Verdict::Valid);
    record.figures.push(pipe);
    record
}

#[test]
fn a_switch_is_what_the_pipe_leaves_of_a_hop() {
    silent(&guest(true, 98e3, 0.01), "system.switch.same-cpu", &["the switch itself"]);
    let mut record = piped();
    // (1/393000 - 2/2000000)/2 = 0.772 us.
    says(&record, "system.switch.same-cpu", &["without a switch 500 ns", "the switch itself costs 772 ns"]);
    set(&mut record, "system.pipe", 0.7e6);
    says(&record, "system.switch.same-cpu", &["nothing is left for a switch"]);
}

/// The latency of a wake-up by a waker that stays busy for 50 us: its median, looks on one CPU, switches forced upon the waker.
pub fn woken(median: f64, together: f64, taken: f64) -> Record {
    let mut figure = hopping("wake.free.busy50", "free", "pipe", None, median, together);
    (figure.unit, figure.better) = (Unit::NANOSECONDS, Better::Lower);
    figure.conditions.set(WAKER_BUSY, 50_000.0);
    for round in &mut figure.rounds {
        round.evidence.put(HOPS, 2000.0);
        round.evidence.put(HOP_INVOLUNTARY, vec![taken * 1000.0, 0.0]);
        round.evidence.put(WAKE_P99, 90_000.0);
        round.evidence.put(WAKE_MAX, 4e6);
    }
    record(vec![figure])
}

pub const WOKEN: &str = "system.switch.wake.free.busy50";

#[test]
fn a_woken_task_waits_displaces_or_runs_elsewhere() {
    let wake = |median: f64, together: f64, taken: f64| why(&woken(median, together, taken), WOKEN);
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
    let mut at_once = woken(4000.0, 1.0, 0.0);
    at_once.figures[0].conditions.set(WAKER_BUSY, 0.0);
    says(&at_once, WOKEN, &[tail, "; the waker waits at once."]);
    silent(&at_once, WOKEN, &["busy"]);
}
