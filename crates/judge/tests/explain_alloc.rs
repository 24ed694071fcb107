//! What is said of allocators: the record on which a sentence appears, and the twin on which it must change.

use crate::relations_records::{bandwidth, outcome, record, says, six, why};
use figure::evidence::*;
use figure::{Figure, Outcome, Record, Unit, Verdict};

/// A figure of an allocator.
fn figure(quantity: &str, allocator: &str, team: &str, values: &[f64]) -> Figure {
    let mut figure = bandwidth("read", "none", values);
    figure.id = format!("alloc.{quantity}.{allocator}.{team}");
    (figure.unit, figure.convention) = (Unit::of("ns/pair"), None);
    figure.conditions = figure::Conditions::default()
        .with(QUANTITY, quantity.to_owned())
        .with(ALLOCATOR, allocator.to_owned())
        .with(TEAM, team.to_owned())
        .with(THREADS, team[1..].parse().unwrap())
        .with(HARNESS, "direct".to_owned());
    figure
}

/// Time with harness and without, memory, of an allocator; the harness takes 100 ns.
pub fn allocator(name: &str, team: &str, ns: f64, memory: f64) -> Vec<Figure> {
    let steady = figure("steady", name, team, &six(100.0 + ns));
    let mut pair = figure("pair", name, team, &six(ns));
    pair.derived_from = vec![steady.id.clone()];
    let mut overhead = figure("overhead", name, team, &six(memory));
    overhead.derived_from = vec![steady.id.clone()];
    overhead.conditions.set(TIMELESS, true);
    // What follows from others has no rounds of its own.
    (pair.rounds, overhead.rounds) = (Vec::new(), Vec::new());
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

fn judged(mut record: Record) -> Record {
    judge::judge(&mut record);
    record
}

/// The findings, one to a line.
fn findings(figures: Vec<Vec<Figure>>) -> String {
    let texts: Vec<String> = judged(of(figures)).findings.iter().map(|finding| finding.text()).collect();
    texts.join("\n")
}

#[test]
fn the_rank_is_told_with_those_that_share_it() {
    let clear = of(vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.5)]);
    says(&clear, "alloc.pair.a.t1", &["1st of 2 in time."]);
    says(&clear, "alloc.pair.b.t1", &["2nd of 2 in time."]);
    let each = |n: u32| allocator(&format!("a{n}"), "t1", 30.0 + 20.0 * f64::from(n), 1.5);
    let many = of((0..4).map(each).collect());
    says(&many, "alloc.pair.a2.t1", &["3rd of 4 in time."]);
    says(&many, "alloc.pair.a3.t1", &["4th of 4 in time."]);
    let mut near = vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.5)];
    near[1][0] = figure("steady", "b", "t1", &[129.0, 131.0, 129.0, 131.0, 130.0, 130.0]);
    says(&of(near), "alloc.pair.b.t1", &["1st to 2nd of 2", "those of a cannot be told apart"]);
}

#[test]
fn what_is_bookkeeping_is_told_from_what_is_place() {
    let more = of(vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.5)]);
    says(
        &more,
        "alloc.pair.a.t1",
        &["without bookkeeping, would cost 20.0 ns/pair", "the rest is the allocator's work"],
    );
    let less = of(vec![allocator("a", "t1", 10.0, 1.5), allocator("b", "t1", 60.0, 1.5)]);
    says(&less, "alloc.pair.a.t1", &["Less than the 20.0 ns/pair", "what was just freed"]);
    says(&less, "alloc.pair.bump.t1", &["No bookkeeping"]);
}

#[test]
fn memory_is_told_as_cache_that_is_wasted() {
    let mut figures = vec![allocator("a", "t1", 30.0, 2.0), allocator("b", "t1", 60.0, 1.0)];
    let twice = of(figures.clone());
    says(
        &twice,
        "alloc.overhead.a.t1",
        &["50 % of the memory in use, and in effect of every level of cache"],
    );
    says(&twice, "alloc.overhead.b.t1", &["No more is resident than was asked for"]);
    assert!(!why(&twice, "alloc.overhead.a.t1").contains("rounded up"));
    figures[0][0].rounds.iter_mut().for_each(|round| round.evidence.put(USABLE, 1.25));
    says(&of(figures), "alloc.overhead.a.t1", &["sizes rounded up make 1.25 of the 2.00"]);
}

#[test]
fn the_share_of_the_harness_is_told() {
    let both = of(vec![allocator("a", "t1", 100.0, 1.5), allocator("b", "t1", 25.0, 1.5)]);
    says(&both, "alloc.steady.a.t1", &["50 % of it is the load itself", "one of 2.0 %"]);
    says(&both, "alloc.steady.b.t1", &["80 % of it is the load itself", "one of 5.0 %"]);
    says(&both, "alloc.steady.void.t1", &["this is the load itself"]);
}

#[test]
fn what_single_calls_took_and_what_the_kernel_did_is_told() {
    let with = |kernel: f64| {
        let mut figures = vec![allocator("a", "t1", 100.0, 1.5)];
        let steady = &mut figures[0][0];
        steady.conditions.set(STEPS, 2e6);
        for round in &mut steady.rounds {
            round.evidence.put(CALL_MALLOC, vec![20.0, 30.0, 100.0, 2e3, 5e6]);
            round.evidence.put(CALL_FREE, vec![15.0, 30.0, 100.0, 1e3, 4e6]);
            round.evidence.put(PAIR_CPU, 200.0);
            round.evidence.put(PAIR_SYSTEM, 200.0 * kernel);
            round.evidence.put(FAULT_MINOR, 4e3);
        }
        of(figures)
    };
    let told =
        ["malloc takes 20.0 ns (median), 2.00 us (99.9 %), 5.00 ms (longest)", "of free takes 15.0 ns"];
    says(&with(0.01), "alloc.steady.a.t1", &told);
    says(
        &with(0.2),
        "alloc.steady.a.t1",
        &["20 % of its CPU time is the kernel's, with 4.00 page faults for each 1000 pairs"],
    );
    assert!(!why(&with(0.01), "alloc.steady.a.t1").contains("the kernel's"));
}

#[test]
fn what_stays_is_told() {
    let mut figures = vec![allocator("a", "t1", 30.0, 2.0)];
    figures[0][2].evidence.put(OVERHEAD_WITH_SLOTS, 1.4);
    figures[0][2].evidence.put(RETAINED, 0.25);
    says(
        &of(figures.clone()),
        "alloc.overhead.a.t1",
        &["as alloc-test counts, it would be 1.40", "25 % of what had been asked for"],
    );
    figures[0][2].evidence.put_unknown(RETAINED, "no smaps_rollup");
    assert!(!why(&of(figures), "alloc.overhead.a.t1").contains("given back"));
}

#[test]
fn the_advice_follows_the_figures() {
    let sweep = |at_one: f64, at_four: f64| {
        findings(vec![
            allocator("a", "t1", at_one, 1.2),
            allocator("b", "t1", 40.0, 1.6),
            allocator("a", "t4", at_four, 1.2),
            allocator("b", "t4", 40.0, 1.6),
        ])
    };
    let always = sweep(30.0, 30.0);
    assert!(always.contains("truebench alloc try -- COMMAND"), "{always}");
    assert!(always.contains("a, for 1 thread as for 4 threads; a over all"), "{always}");
    assert!(always.contains("With 1 thread: a is fastest (30.0 ns/pair), then b (40.0)."), "{always}");
    assert!(
        always.contains("a takes least (1.20 for 1 that is asked for), b most (1.60: 38 % of it"),
        "{always}"
    );
    assert!(!always.contains("overtakes"), "{always}");
    let crossing = sweep(30.0, 80.0);
    assert!(crossing.contains("a for 1 thread, b for 4 threads"), "{crossing}");
    assert!(crossing.contains("The number of threads decides: b overtakes a with 4 threads."), "{crossing}");
    let alike = sweep(40.0, 30.0);
    assert!(alike.contains("With 1 thread: a and b cannot be told apart (40.0 to 40.0 ns/pair)."), "{alike}");
    let one = findings(vec![allocator("a", "t1", 30.0, 1.2), allocator("b", "t1", 40.0, 1.6)]);
    assert!(
        one.contains("(truebench alloc try -- COMMAND). Without one, by this load: a for 1 thread;"),
        "{one}"
    );
}

#[test]
fn other_teams_are_held_against_threads() {
    let both = |ns: f64| {
        findings(vec![
            allocator("a", "t2", 30.0, 1.2),
            allocator("b", "t2", 60.0, 1.2),
            allocator("a", "p2", ns, 1.2),
            allocator("b", "p2", 60.0, 1.2),
        ])
    };
    assert!(
        both(160.0).contains("2 processes instead of threads take this much of the time:"),
        "{}",
        both(160.0)
    );
    assert!(both(160.0).contains("a 2.00x [2.00, 2.00]"), "{}", both(160.0));
    let siblings = findings(vec![
        allocator("a", "t2", 30.0, 1.2),
        allocator("b", "t2", 60.0, 1.2),
        allocator("a", "s2", 95.0, 1.2),
        allocator("b", "s2", 60.0, 1.2),
    ]);
    let told = "2 threads on SMT siblings instead of cores of their own take this much of the time: ";
    assert!(siblings.contains(told) && siblings.contains("a 1.50x"), "{siblings}");
    assert!(
        both(30.0).contains("Memory, with 2 threads: none is known to take less than another"),
        "{}",
        both(30.0)
    );
    assert!(both(30.0).contains("a 1.00x"), "{}", both(30.0));
}

#[test]
fn two_ways_of_taking_the_harness_off_must_agree() {
    let of = |by_replay: f64| {
        let replay = |name: &str, ns: f64| {
            let mut figure = figure("steady", name, "t1", &six(ns));
            figure.id = format!("alloc.replay.{name}.t1");
            figure.conditions.set(HARNESS, "replay".to_owned());
            vec![figure]
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
        let mut figures = vec![allocator("a", "t1", 30.0, 1.5), allocator("b", "t1", 60.0, 1.5)];
        for round in &mut figures[0][0].rounds {
            match check {
                "cpus" => {
                    round.evidence.put(RUN_DELAY, round.duration);
                    round.evidence.put(RUN_DELAY_WORST, round.duration);
                }
                _ => {
                    round.evidence.put(VM_SWAPPED, 1e5);
                    round.evidence.put(VM_DIRECT_SCAN, 0.0);
                    round.evidence.put(PSI_MEMORY, 0.5 * round.duration);
                }
            }
        }
        let record = judged(of(figures));
        let verdict = |id: &str| record.figure(id).unwrap().verdict;
        [verdict("alloc.steady.a.t1"), verdict("alloc.pair.a.t1"), verdict("alloc.overhead.a.t1")]
    };
    assert!(with("cpus")[..2].iter().all(|verdict| *verdict >= Some(Verdict::Suspect)), "{:?}", with("cpus"));
    assert!(with("cpus")[2] < Some(Verdict::Suspect), "{:?}", with("cpus"));
    assert_eq!(with("swap")[2], Some(Verdict::Invalid), "what was swapped is not resident");
}
