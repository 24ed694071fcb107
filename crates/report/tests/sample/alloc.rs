//! Allocators: times, memory and what follows, for teams of threads and of processes.

use figure::check::Cause;
use figure::evidence::*;
use figure::{Better, CheckResult, Conditions, Evidence, Figure, Outcome, Record, Unit, Verdict};

use super::{check, empty, measured, name, number, on, planned, put};

/// ns a pair and memory of each allocator with one thread; with more each takes half as long again.
const ALLOCATORS: [(&str, f64, f64); 4] =
    [("glibc", 37.0, 1.51), ("jemalloc", 17.0, 1.29), ("mimalloc", 17.2, 1.41), ("scudo", 90.0, 1.9)];
const SLOTS_OF_ALL: f64 = 40_000.0;

fn figure(quantity: &str, allocator: &str, team: &str, unit: Unit, value: f64) -> Figure {
    let id = format!("alloc.{quantity}.{allocator}.{team}");
    let figure = planned(&id, &format!("{allocator}, {quantity}, {team}"), unit, Better::Lower);
    let threads: f64 = team[1..].parse().unwrap();
    let suffix = if team.starts_with('p') { ".processes" } else { "" };
    let at = [("allocator", name(allocator)), ("threads", number(threads, None))];
    let mut figure = on(figure, &format!("alloc.{quantity}{suffix}"), &at);
    figure.conditions = Conditions::default()
        .with(QUANTITY, quantity.into())
        .with(ALLOCATOR, allocator.into())
        .with(TEAM, team.into())
        .with(THREADS, threads)
        .with(PROFILE, "ithare".into())
        .with(SLOTS, SLOTS_OF_ALL)
        .with(STEPS, 400_000.0)
        .with(HARNESS, "direct".into());
    let samples = [0.99, 1.01, 1.02, 0.98, 1.005, 0.995].map(|factor| vec![factor * value]);
    Figure { verdict: Some(Verdict::Valid), ..measured(figure, samples, &evidence()) }
}

/// Evidence of the cells.
fn evidence() -> Evidence {
    let mut evidence = Evidence::default();
    put(
        &mut evidence,
        [(PHASE_SECONDS, vec![0.010, 0.080, 0.005]), (RESIDENT, vec![1e6, 3.4e6, 3.6e6, 2.2e6])],
    );
    let bytes = [(RESIDENT_PEAK, 4096.0 * 900.0), (LIVE_BYTES, 910_000.0), (PEAK_BYTES, 1_008_000.0)];
    put(&mut evidence, bytes);
    evidence
}

/// Time with harness and without, and memory.
fn allocator(name: &str, team: &str, ns: f64, memory: f64) -> Vec<Figure> {
    let pairs = || Unit::of("ns/pair");
    let mut all = vec![figure("steady", name, team, pairs(), 100.0 + ns)];
    if name != "void" {
        all.push(figure("pair", name, team, pairs(), ns));
        all.push(figure("overhead", name, team, Unit::ONE, memory));
        all[1..].iter_mut().for_each(|figure| figure.rounds.clear());
    }
    all
}

/// Four allocators with one thread, two threads and two processes; one of them disturbed.
pub fn answer() -> Record {
    let mut record = empty();
    for (team, factor) in [("t1", 1.0), ("t2", 1.5), ("p2", 1.2)] {
        record.figures.extend(allocator("void", team, 0.0, 1.0));
        for (name, ns, memory) in ALLOCATORS {
            record.figures.extend(allocator(name, team, ns * factor, memory));
        }
    }
    let disturbed = record.figures.iter_mut().find(|figure| figure.id == "alloc.pair.scudo.t2").unwrap();
    disturbed.verdict = Some(Verdict::Suspect);
    let (source, detail) =
        ("alloc.steady.scudo.t2", "2.3 % of the CPU time was stolen; through alloc.steady.scudo.t2");
    disturbed.checks = vec![CheckResult {
        cause: Some(Cause { check: "steal".into(), figure: source.into() }),
        ..check("inputs", Outcome::Warn, detail, Some("measure on a dedicated host"))
    }];
    record
}
