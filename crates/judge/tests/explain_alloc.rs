//! Explanations and findings of allocators: the record on which a case arises, and the twin on which another does.

use serde_json::json;

use crate::records::*;
use figure::evidence::*;
use figure::{Better, Figure, Outcome, Record, Unit, Verdict};

/// A figure of an allocator.
fn figure(quantity: &str, allocator: &str, team: &str, values: &[f64]) -> Figure {
    plain(&format!("alloc.{quantity}.{allocator}.{team}"), Unit::of("ns/pair"), Better::Higher, 1.0)
        .values(values)
        .with(QUANTITY, quantity.to_owned())
        .with(ALLOCATOR, allocator.to_owned())
        .with(TEAM, team.to_owned())
        .with(THREADS, team[1..].parse().unwrap())
        .with(HARNESS, "direct".to_owned())
}

/// Time with harness and without, memory, of an allocator; the harness takes 100 ns.
pub fn allocator(name: &str, team: &str, ns: f64, memory: f64) -> Vec<Figure> {
    let steady = figure("steady", name, team, &six(100.0 + ns));
    // What follows from others has no rounds of its own.
    let derived = |quantity, value| {
        let (rounds, derived_from) = (Vec::new(), vec![steady.id.clone()]);
        Figure { rounds, derived_from, ..figure(quantity, name, team, &six(value)) }
    };
    let (pair, overhead) = (derived("pair", ns), derived("overhead", memory).with(TIMELESS, true));
    vec![steady, pair, overhead]
}

pub fn of(figures: Vec<Vec<Figure>>) -> Record {
    let mut all = vec![
        figure("steady", "void", "t1", &six(100.0)),
        figure("steady", "bump", "t1", &six(120.0)),
        figure("pair", "bump", "t1", &six(20.0)),
    ];
    all.extend(figures.into_iter().flatten());
    record(all)
}

/// With so much memory for 1 that was requested, of which rounding is a part.
fn wasteful(memory: f64) -> Record {
    let record = of(vec![allocator("a", "t1", 30.0, memory)]).fact("alloc.steady.a.t1", USABLE, 1.25);
    record.fact("alloc.overhead.a.t1", RETAINED, 0.25)
}

/// With sampled calls, and a share of the CPU time in the kernel.
fn sampled(kernel: f64) -> Record {
    of(vec![allocator("a", "t1", 100.0, 1.5)]).change("alloc.steady.a.t1", |steady| {
        steady
            .with(STEPS, 2e6)
            .with(CALL_MALLOC, vec![20.0, 30.0, 100.0, 2e3, 5e6])
            .with(CALL_FREE, vec![15.0, 30.0, 100.0, 1e3, 4e6])
            .with(PAIR_CPU, 200.0)
            .with(PAIR_SYSTEM, 200.0 * kernel)
            .with(FAULT_MINOR, 4e3)
    })
}

/// Two allocators with two teams; the first one's times, and 40 ns of the second one.
fn sweep(teams: [&str; 2], times: [f64; 2], memory: f64) -> Record {
    let each = teams
        .iter()
        .zip(times)
        .flat_map(|(team, ns)| [allocator("a", team, ns, 1.2), allocator("b", team, 40.0, memory)]);
    of(each.collect())
}

pub fn situations() -> Vec<Record> {
    let all = [
        wasteful(2.0),
        sampled(0.01),
        sampled(0.2),
        of(vec![allocator("a", "t1", 10.0, 1.5)]),
        sweep(["t1", "t4"], [30.0, 80.0], 1.6),
        sweep(["t1", "t4"], [40.0, 30.0], 1.6),
        sweep(["t2", "p2"], [30.0, 160.0], 1.2),
    ];
    all.into_iter().map(Record::judged).collect()
}

#[test]
fn placement_costs_or_saves() {
    let with = |ns: f64| of(vec![allocator("a", "t1", ns, 1.5)]);
    let bump = json!({"cost": {"value": 10.0, "unit": "ns/pair"}, "bump": {"figure": "alloc.pair.bump.t1"}});
    case(&with(30.0), "alloc.pair.a.t1", "allocators-placement/bookkeeping-costs", bump);
    let saved = json!({"saved": {"value": 10.0}, "bump": {"value": 20.0}});
    case(&with(10.0), "alloc.pair.a.t1", "allocators-placement/reuse-saves", saved);
    case(&with(10.0), "alloc.pair.bump.t1", "allocators-placement/cold-blocks", json!({}));
}

#[test]
fn memory_is_overhead_by_rounding_and_by_what_is_kept() {
    let id = "alloc.overhead.a.t1";
    let twice = wasteful(2.0);
    case(&twice, id, "allocators-overhead/overhead", json!({"waste": 0.5, "rounded": 1.25}));
    case(&twice, id, "allocators-retained/retained", json!({"share": 0.25}));
    no_case(&wasteful(1.0), id, "allocators-overhead");
    let twice = twice.unknown("alloc.steady.a.t1", USABLE, "no malloc_usable_size");
    let twice = twice.unknown(id, RETAINED, "no smaps_rollup");
    case(&twice, id, "allocators-overhead/overhead", json!({"waste": 0.5, "rounded": null}));
    no_case(&twice, id, "allocators-retained");
}

#[test]
fn time_is_the_load_the_allocator_and_the_kernel() {
    let id = "alloc.steady.a.t1";
    let void = json!({"share": 0.5, "void": {"figure": "alloc.steady.void.t1", "value": 100.0}});
    case(&sampled(0.01), id, "allocators-load/load-share", void);
    case(&sampled(0.01), "alloc.steady.void.t1", "allocators-load/load-alone", json!({}));
    no_case(&sampled(0.01), id, "allocators-kernel");
    let calls = json!({"malloc": [20e-9, 2e-6, 5e-3], "free": [15e-9, 1e-6, 4e-3]});
    case(&sampled(0.01), id, "allocators-calls/calls", calls);
    case(&sampled(0.2), id, "allocators-kernel/kernel-time", json!({"share": 0.2, "faults": 4.0}));
}

#[test]
fn the_fastest_follows_the_number_of_threads() {
    let named = |team: &str, name: &str, ns: f64| json!({"team": team, "fastest": {"allocator": name, "value": {"value": ns}}, "slowest": null});
    let always = sweep(["t1", "t4"], [30.0, 30.0], 1.6);
    let overall = finding(&always, "allocators-overall/best-overall", json!({"allocator": "a"}));
    assert_eq!(overall.fix.as_deref(), Some("truebench alloc try -- COMMAND"));
    finding(&always, "allocators-fastest/fastest", named("1 thread", "a", 30.0));
    let four = finding(&always, "allocators-fastest/fastest", named("4 threads", "a", 30.0));
    assert_eq!(four.figures, ["alloc.pair.a.t4", "alloc.pair.b.t4"]);
    no_finding(&always, "allocators-overtaking");
    let crossing = sweep(["t1", "t4"], [30.0, 80.0], 1.6);
    finding(&crossing, "allocators-fastest/fastest", named("4 threads", "b", 40.0));
    let overtakes = json!({"team": "4 threads", "allocator": "b", "fastest": "a", "first_team": "1 thread"});
    finding(&crossing, "allocators-overtaking/overtakes", overtakes);
}

#[test]
fn allocators_without_a_difference_beyond_noise_share_their_place() {
    let mut record = of(vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.2)]);
    record.figures.extend(allocator("c", "t1", 90.0, 1.5));
    let next =
        json!({"fastest": {"allocator": "a"}, "next": {"allocator": "b"}, "slowest": {"allocator": "c"}});
    finding(&record, "allocators-fastest/fastest", next);
    let noisy = |figure: Figure| figure.values(&[129.0, 131.0, 129.0, 131.0, 130.0, 130.0]);
    let record = record.change("alloc.steady.b.t1", noisy);
    let tied = json!({"team": "1 thread", "fastest": ["a", "b"], "total": 3.0, "low": 30.0,
        "high": {"value": 60.0}, "frugal": "b", "slowest": {"allocator": "c"}});
    finding(&record, "allocators-fastest/fastest-tied", tied);
}

#[test]
fn memory_and_other_teams_are_compared() {
    let memory = json!({"team": "4 threads", "least": {"allocator": "a", "value": 1.2},
        "most": {"allocator": "b", "value": 1.6}, "waste": 0.375});
    finding(&sweep(["t1", "t4"], [30.0, 30.0], 1.6), "allocators-memory/least-memory", memory);
    let processes = sweep(["t2", "p2"], [30.0, 160.0], 1.2);
    let tied = json!({"team": "2 threads", "low": 1.2, "high": 1.2});
    finding(&processes, "allocators-memory/memory-tied", tied);
    let ratios = json!({"team": "2 processes of one thread", "threads": "2 threads", "low": 1.0, "high": 2.0,
        "ratios": [{"allocator": "b", "value": {"value": 1.0}}, {"allocator": "a", "value": {"high": 2.0}}]});
    finding(&processes, "allocators-teams/other-team", ratios);
    let siblings = sweep(["t2", "s2"], [30.0, 95.0], 1.2);
    let ratios = json!({"team": "2 threads on SMT siblings", "low": 1.0, "high": 1.5});
    finding(&siblings, "allocators-teams/other-team", ratios);
}

#[test]
fn two_ways_of_taking_the_harness_off_must_agree() {
    let of = |by_replay: f64| {
        let replay = |name: &str, ns: f64| {
            let figure = figure("steady", name, "t1", &six(ns)).named(format!("alloc.replay.{name}.t1"));
            vec![figure.with(HARNESS, "replay".into())]
        };
        let record = of(vec![
            allocator("a", "t1", 30.0, 1.2),
            allocator("b", "t1", 60.0, 1.2),
            replay("a", 50.0),
            replay("b", 50.0 + by_replay),
        ]);
        outcome("harness-cost", &record, "alloc.replay.b.t1")
    };
    assert_eq!(of(30.0), Outcome::Pass);
    assert_eq!(of(45.0), Outcome::Pass, "within 10 % of 160");
    assert_eq!([of(50.0), of(0.0)], [Outcome::Warn; 2]);
}

#[test]
fn memory_does_not_care_who_else_used_the_cpus() {
    let with = |check: &str| {
        let figures = of(vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.5)]);
        let disturbed = figures.change("alloc.steady.a.t1", |steady| match check {
            "cpus" => steady.with(RUN_DELAY, ROUND_SECONDS).with(RUN_DELAY_WORST, ROUND_SECONDS),
            _ => {
                let swapped = steady.with(VM_SWAPPED, 1e5).with(VM_DIRECT_SCAN, 0.0);
                swapped.with(PSI_MEMORY, 0.5 * ROUND_SECONDS)
            }
        });
        let record = disturbed.judged();
        let verdict = |id: &str| record.figure(id).unwrap().verdict;
        [verdict("alloc.steady.a.t1"), verdict("alloc.pair.a.t1"), verdict("alloc.overhead.a.t1")]
    };
    assert!(with("cpus")[..2].iter().all(|verdict| *verdict >= Some(Verdict::Suspect)), "{:?}", with("cpus"));
    assert!(with("cpus")[2] < Some(Verdict::Suspect), "{:?}", with("cpus"));
    assert_eq!(with("swap")[2], Some(Verdict::Invalid), "what was swapped is not resident");
}
