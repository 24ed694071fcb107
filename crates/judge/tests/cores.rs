//! What a line takes between every two CPUs, against what is advertised: each record with the twin on which what is said of
//! it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::host::LogicalCpu;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Explanation, Figure, Outcome, Record, Severity, Unit, Verdict};

/// The figure of a pair: eight rounds around `value`, 1 % wide; both CPUs at one clock.
fn pair(a: u32, b: u32, class: &str, value: f64) -> Figure {
    let id = format!("system.cores.{a}-{b}");
    let mut figure = Figure::planned(
        id,
        "system",
        format!("A line between CPUs {a} and {b} ({class}), one way"),
        Unit::NANOSECONDS,
        Better::Lower,
    );
    figure.series = Some("system.cores".to_owned());
    let at = |cpu: u32| Coordinate { value: CoordinateValue::Name(cpu.to_string()), unit: None };
    figure.at = [("cpu_a".to_owned(), at(a)), ("cpu_b".to_owned(), at(b))].into();
    figure.evidence.put(VERIFIED, true);
    figure.evidence.put(PLACE_READBACK, true);
    figure.conditions.set(KERNEL, "ping-pong".to_owned());
    figure.conditions.set(CPUS, vec![f64::from(a), f64::from(b)]);
    figure.conditions.set(PAIR, class.to_owned());
    figure.conditions.set(PAIR_BASIS, "share an L3 of 32 MiB, by what the hypervisor shows".to_owned());
    let around = [0.99, 1.01, 1.0, 1.0, 0.995, 1.005, 1.0, 1.0].map(|factor| value * factor);
    figure.rounds = bandwidth("read", "none", &around).rounds;
    for round in &mut figure.rounds {
        round.evidence.put(CANARY_SPREAD, 0.01);
        round.evidence.put(PLACE_STRAYED, 0.0);
        round.evidence.put(PLACE_SAMPLES, 100.0);
        round.evidence.put(SCHED_MIGRATIONS, 0.0);
        round.evidence.put(RUN_DELAY, 0.0);
        round.evidence.put(RUN_DELAY_WORST, 0.0);
        round.evidence.put(CANARY_CHANGE, 0.001);
        round.evidence.put(CANARY_BEFORE, 3.0);
        round.evidence.put(CANARY_AFTER, 3.0);
    }
    figure.summarise();
    figure
}

/// All pairs of so many CPUs by what is advertised of them and what they take; and the figures of their classes.
pub fn matrix(
    cpus: u32,
    class: impl Fn(u32, u32) -> &'static str,
    takes: impl Fn(u32, u32) -> f64,
) -> Record {
    let pairs = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b)));
    let mut figures: Vec<Figure> = pairs.map(|(a, b)| pair(a, b, class(a, b), takes(a, b))).collect();
    system_classes(&mut figures);
    record(figures)
}

/// As the suite adds them.
fn system_classes(figures: &mut Vec<Figure>) {
    let mut classes: Vec<String> = Vec::new();
    for class in figures.iter().filter_map(|figure| figure.conditions.get(PAIR)) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    for class in classes {
        let of = |figure: &&Figure| figure.conditions.get(PAIR).as_ref() == Some(&class);
        let values: Vec<f64> = figures.iter().filter(of).filter_map(|figure| figure.value).collect();
        let id = format!("system.cores.{class}");
        let mut derived = Figure::planned(
            id,
            "system",
            format!("A line between two CPUs ({class}), one way, median of {} pairs", values.len()),
            Unit::NANOSECONDS,
            Better::Lower,
        );
        derived.value = figure::stats::median(&values);
        derived.status = figure::Status::Measured;
        derived.computed_from(figures.iter().filter(of).map(|figure| figure.id.clone()).collect());
        derived.conditions.set(PAIR, class.clone());
        figures.push(derived);
    }
}

pub fn judged(mut record: Record) -> Record {
    judge::judge(&mut record);
    record
}

fn told(record: &Record) -> Option<&Explanation> {
    record
        .findings
        .iter()
        .find(|finding| finding.text().contains("topology") || finding.text().contains("far apart"))
}

#[track_caller]
fn contradicts(record: &Record, words: &[&str]) {
    let finding = told(record).expect("a finding");
    assert_eq!(finding.severity, Severity::Warning, "{}", finding.text());
    assert!(!finding.figures.is_empty());
    words
        .iter()
        .for_each(|word| assert!(finding.text().contains(word), "no '{word}' in: {}", finding.text()));
}

#[track_caller]
fn agrees(record: &Record) {
    let finding = told(record).expect("a finding");
    assert_eq!(finding.severity, Severity::Note, "{}", finding.text());
    assert!(finding.text().starts_with("Nothing contradicts the topology"), "{}", finding.text());
}

#[track_caller]
fn outcome_of(record: &Record, class: &str) -> Option<Outcome> {
    let figure = record.figure(&format!("system.cores.{class}")).expect("the class");
    figure.checks.iter().find(|check| check.id == "advertised-topology").map(|check| check.outcome)
}

/// Noise of up to a share, always the same for a pair.
fn noise(a: u32, b: u32, share: f64) -> f64 {
    let seed = u64::from(a) << 32 | u64::from(b);
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    1.0 + share * (((mixed ^ mixed >> 29) % 2001) as f64 / 1000.0 - 1.0)
}

/// 2 packages x 4 cores x 2 threads; CPU + 8 is the sibling.
fn server_class(a: u32, b: u32) -> &'static str {
    match (a % 8 == b % 8, a % 8 / 4 == b % 8 / 4) {
        (true, _) => "smt",
        (_, true) => "llc",
        _ => "socket",
    }
}

fn server_takes(a: u32, b: u32) -> f64 {
    match server_class(a, b) {
        "smt" => 10.0,
        "llc" => 48.0,
        _ => 115.0,
    }
}

#[test]
fn a_server_that_is_what_it_says() {
    let record = judged(matrix(16, server_class, |a, b| server_takes(a, b) * noise(a, b, 0.2)));
    agrees(&record);
    for class in ["smt", "llc", "socket"] {
        assert_eq!(outcome_of(&record, class), Some(Outcome::Pass), "{class}");
    }
    let why = |id: &str| record.figure(id).unwrap().why().unwrap();
    let pair = why("system.cores.0-1");
    assert!(
        pair.contains("Advertised: share an L3 of 32 MiB")
            && pair.contains("x the median of the other 47 pairs")
            && pair.contains("It is "),
        "{pair}"
    );
    assert!(
        why("system.cores.llc").starts_with("The pairs take 3")
            && why("system.cores.llc").contains("hardware threads of one core take 0.2"),
        "{}",
        why("system.cores.llc")
    );
    let pairs = record.figures.iter().filter(|figure| figure.series.is_some());
    for pair in pairs {
        assert!(pair.checks.iter().all(|check| check.id != "advertised-topology"), "{}", pair.id);
    }
}

/// Four vCPUs advertised as cores of one last-level cache, on hardware threads 0 and 1, 2 and 3 of two cores.
pub fn hidden_threads(together: f64) -> Record {
    judged(matrix(4, |_, _| "llc", |a, b| if a / 2 == b / 2 { together } else { 48.0 } * noise(a, b, 0.1)))
}

#[test]
fn cores_that_are_hardware_threads() {
    let record = hidden_threads(11.0);
    contradicts(
        &record,
        &["CPUs 0-3 are advertised as cores that share a last-level cache", "4.", "x as long between"],
    );
    contradicts(
        &record,
        &["suggests hardware threads of one core, or complexes of two cores: CPUs 0-1; 2-3"],
    );
    assert_eq!(outcome_of(&record, "llc"), Some(Outcome::Warn));
    let why = record.figure("system.cores.0-1").unwrap().why().unwrap();
    assert!(why.contains("of the nearer of two groups of such pairs; the farther takes 4"), "{why}");
    let far = record.figure("system.cores.0-2").unwrap().why().unwrap();
    assert!(far.contains("of the farther of two groups"), "{far}");
    // At 28 ns no hardware threads, but apart all the same; at 40 ns nothing.
    contradicts(&hidden_threads(27.5), &["as if there were 2 last-level caches: CPUs 0-1; 2-3"]);
    agrees(&hidden_threads(40.0));
    assert_eq!(outcome_of(&hidden_threads(40.0), "llc"), Some(Outcome::Pass));
}

/// Eight CPUs advertised with one last-level cache that have two.
fn two_caches(far: f64) -> Record {
    matrix(8, |_, _| "llc", move |a, b| if a / 4 == b / 4 { 22.0 } else { far } * noise(a, b, 0.1))
}

#[test]
fn one_cache_that_is_two() {
    let record = judged(two_caches(95.0));
    contradicts(
        &record,
        &["CPUs 0-7 are advertised as cores that share a last-level cache, but a line takes 4."],
    );
    contradicts(&record, &["as if there were 2 last-level caches: CPUs 0-3; 4-7"]);
    agrees(&judged(two_caches(24.0)));
    // Not all pairs were measured: there may be fewer.
    let mut some = two_caches(95.0);
    some.figures.retain(|figure| !figure.id.ends_with("0-5") && !figure.id.ends_with("3-6"));
    contradicts(&judged(some), &["as if there were several last-level caches."]);
}

#[test]
fn a_cache_that_is_hidden() {
    let hidden = |apart: f64| {
        let class = |a, b| if a / 2 == b / 2 { "llc" } else { "package" };
        judged(matrix(4, class, move |a, b| if a / 2 == b / 2 { 47.0 } else { apart } * noise(a, b, 0.05)))
    };
    let record = hidden(48.0);
    contradicts(
        &record,
        &[
            "4 pairs of cores of one package that share no cache (",
            "are as near as 2 pairs of cores that share",
        ],
    );
    contradicts(&record, &["as if they shared one cache"]);
    for class in ["llc", "package"] {
        assert_eq!(outcome_of(&record, class), Some(Outcome::Warn), "{class}");
    }
    let why = record.figure("system.cores.0-2").unwrap().why().unwrap();
    assert!(
        why.contains("But 2 pairs of cores that share a last-level cache (") && why.contains("are as near"),
        "{why}"
    );
    agrees(&hidden(100.0));
    // Between alike and apart nothing is said.
    agrees(&hidden(66.0));
    // Farther by what is advertised, and nearer.
    contradicts(&hidden(20.0), &["are as near as"]);
}

#[test]
fn packages_and_threads_that_are_none() {
    let class = |a: u32, b: u32| if a / 2 == b / 2 { "llc" } else { "socket" };
    let record = judged(matrix(4, class, |a, b| 48.0 * noise(a, b, 0.05)));
    contradicts(&record, &["cores of different packages", "as if they were of one package"]);
    let class = |a: u32, b: u32| if a / 2 == b / 2 { "smt" } else { "llc" };
    let record = judged(matrix(4, class, |a, b| 48.0 * noise(a, b, 0.05)));
    contradicts(&record, &["as if the hardware threads were cores"]);
    // Nodes of one package, and clusters, may be as near by design.
    let class = |a: u32, b: u32| if a / 2 == b / 2 { "llc" } else { "node" };
    agrees(&judged(matrix(4, class, |a, b| 48.0 * noise(a, b, 0.05))));
}

#[test]
fn a_class_that_falls_apart_is_told_by_what_it_should_share() {
    let of = |class: &'static str| {
        judged(matrix(8, |_, _| class, |a, b| if a / 4 == b / 4 { 48.0 } else { 115.0 } * noise(a, b, 0.05)))
    };
    contradicts(&of("socket"), &["as if only some were of different packages: CPUs 0-3; 4-7"]);
    contradicts(&of("smt"), &["as if only some shared a core: CPUs 0-3; 4-7"]);
    contradicts(
        &of("package"),
        &["as if there were 2 groups that share something which is not shown: CPUs 0-3; 4-7"],
    );
    let check = |class: &'static str| {
        let record = of(class);
        let figure = record.figure(&format!("system.cores.{class}")).unwrap();
        figure.checks.iter().find(|check| check.id == "advertised-topology").unwrap().detail.clone()
    };
    assert!(check("llc").contains("its pairs fall into two groups: 12 at "), "{}", check("llc"));
}

#[test]
fn noise_is_no_topology() {
    for cpus in 3..12 {
        let record = judged(matrix(cpus, |_, _| "llc", |a, b| 48.0 * noise(a, b, 0.2)));
        agrees(&record);
        // One pair, and one far more disturbed than any noise.
        let record = judged(matrix(cpus, |_, _| "llc", |a, b| if (a, b) == (0, 1) { 200.0 } else { 48.0 }));
        if cpus > 3 {
            agrees(&record);
        }
    }
    let lone = judged(matrix(5, |_, _| "llc", |a, b| if (a, b) == (0, 1) { 200.0 } else { 48.0 }));
    let why = lone.figure("system.cores.0-1").unwrap().why().unwrap();
    assert!(why.contains("Not explained: 4.17x the median of the other 9 pairs"), "{why}");
}

/// Two groups 1.75 apart, whose rounds reach this far up and down.
fn wide(reach: f64) -> Record {
    let mut record = matrix(8, |_, _| "llc", |a, b| if a / 4 == b / 4 { 48.0 } else { 84.0 });
    for figure in record.figures.iter_mut().filter(|figure| figure.series.is_some()) {
        for (round, step) in figure.rounds.iter_mut().zip([-1.0, 1.0, 0.0, -1.0, 1.0, 0.0, -1.0, 1.0]) {
            round.samples = vec![figure.value.unwrap() * (1.0 + step * reach)];
        }
    }
    judged(record)
}

#[test]
fn rounds_that_reach_over_the_gap_say_nothing() {
    contradicts(&wide(0.05), &["CPUs 0-3; 4-7"]);
    agrees(&wide(0.35));
}

/// CPU 4 is far from all others.
fn one_afar(spread: f64, disturbed: bool) -> Record {
    let mut record = matrix(5, |_, _| "llc", |_, b| if b == 4 { 100.0 } else { 48.0 });
    for figure in record.figures.iter_mut().filter(|figure| figure.id.ends_with("-4")) {
        for round in &mut figure.rounds {
            round.evidence.put(CANARY_SPREAD, spread);
            if disturbed {
                round.evidence.put(CANARY_CHANGE, 0.06);
                round.evidence.put(CANARY_BEFORE, 3.0);
                round.evidence.put(CANARY_AFTER, 2.82);
            }
        }
    }
    judged(record)
}

#[test]
fn a_slow_or_busy_cpu_is_no_topology() {
    contradicts(&one_afar(0.01, false), &["as if there were 2 last-level caches: CPUs 0-3; 4"]);
    let slow = one_afar(0.4, false);
    assert_eq!(slow.figure("system.cores.0-4").unwrap().verdict, Some(Verdict::Invalid));
    agrees(&slow);
    let suspect = one_afar(0.01, true);
    assert_eq!(suspect.figure("system.cores.0-4").unwrap().verdict, Some(Verdict::Suspect));
    agrees(&suspect);
    // Cores of another kind have another clock by design.
    let mut hybrid = slow;
    hybrid.machine.topology.cpus = (0..5)
        .map(|cpu| LogicalCpu {
            cpu,
            core: cpu,
            kind: Some(if cpu == 4 { "efficiency" } else { "performance" }.to_owned()),
            ..LogicalCpu::default()
        })
        .collect();
    let hybrid = judged(hybrid);
    let pair = hybrid.figure("system.cores.0-4").unwrap();
    assert_eq!(pair.verdict, Some(Verdict::Suspect), "{:?}", pair.why());
    assert!(pair.why().as_deref().unwrap().contains("not held against other pairs"), "{:?}", pair.why());
    agrees(&hybrid);
}

#[test]
fn one_pair_has_published_tables_to_be_held_against() {
    let alone = |class: &'static str, takes: f64| {
        let record = judged(matrix(2, |_, _| class, |_, _| takes));
        assert!(told(&record).is_none(), "nothing to compare");
        record.figure("system.cores.0-1").unwrap().why().unwrap()
    };
    let says = |class, takes, words: &str| {
        let why = alone(class, takes);
        assert!(why.contains(words), "{why}");
    };
    says("llc", 50.0, "cores of one mesh or ring take 40-60 ns, which fits what is advertised");
    says(
        "llc",
        110.0,
        "different complexes take 85-150 ns, which suggests that they are such, and not cores that share",
    );
    says("smt", 9.0, "hardware threads of one core, or cores of one small complex take 7-25 ns, which fits");
    says("smt", 48.0, "which suggests that they are such, and not hardware threads");
    says("socket", 48.0, "one mesh or ring take 40-60 ns, which suggests");
    says("socket", 300.0, "more than 150 ns, which fits");
    says("llc", 4e6, "hardly ever ran at the same time");
    says("unknown", 50.0, "take 40-60 ns.");
    let two = judged(matrix(
        3,
        |a, _| if a == 0 { "llc" } else { "socket" },
        |a, _| if a == 0 { 48.0 } else { 110.0 },
    ));
    let why = two.figure("system.cores.1-2").unwrap().why().unwrap();
    assert!(why.contains("The only such pair; beside it 2 pairs of cores that share"), "{why}");
    let class = two.figure("system.cores.socket").unwrap().why().unwrap();
    assert!(class.starts_with("The only such pair; cores that share a last-level cache take 0."), "{class}");
}

#[test]
fn a_machine_that_shows_nothing_is_not_contradicted() {
    let mut record = matrix(4, |_, _| "unknown", |a, b| if a / 2 == b / 2 { 11.0 } else { 48.0 });
    record.machine.topology.unknown = Some("no topology directory".to_owned());
    let record = judged(record);
    let finding = told(&record).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.text().contains("what CPUs 0-3 share is not shown, and a line takes 4.36x"),
        "{}",
        finding.text()
    );
    assert_eq!(outcome_of(&record, "unknown"), Some(Outcome::Unknown));
    let mut near = matrix(4, |_, _| "unknown", |_, _| 48.0);
    near.machine.topology.unknown = Some("no topology directory".to_owned());
    assert!(told(&judged(near)).unwrap().text().starts_with("No groups of CPUs are far apart: 6 pairs"));
}

#[test]
fn an_invalid_pair_says_nothing() {
    let mut record = two_caches(95.0);
    record.figures.iter_mut().for_each(|figure| figure.evidence.put(VERIFIED, false));
    let record = judged(record);
    assert_eq!(record.figure("system.cores.0-1").unwrap().verdict, Some(Verdict::Invalid));
    assert!(told(&record).is_none(), "{:?}", told(&record));
    assert_eq!(outcome_of(&record, "llc"), Some(Outcome::Unknown));
}
