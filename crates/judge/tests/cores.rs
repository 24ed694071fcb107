//! What a line takes between every two CPUs, against what is advertised: each record with its twin.

use crate::records::*;
use figure::evidence::*;
use figure::host::LogicalCpu;
use figure::series::CoordinateValue;
use figure::{Better, Figure, Outcome, Record, Severity, Unit, Verdict};
use serde_json::json;

/// The figure of a pair: eight rounds around `value`, 1 % wide; both CPUs at one clock.
fn pair(a: u32, b: u32, class: &str, value: f64) -> Figure {
    let at = |cpu: u32| CoordinateValue::Name(cpu.to_string());
    let around = [0.99, 1.01, 1.0, 1.0, 0.995, 1.005, 1.0, 1.0].map(|factor| value * factor);
    let id = format!("system.cores.{a}-{b}");
    let figure = plain(&id, Unit::NANOSECONDS, Better::Lower, value).values(&around);
    let figure = figure.at("system.cores", "cpu_a", at(a), None).at("system.cores", "cpu_b", at(b), None);
    let undisturbed = [PLACE_STRAYED, SCHED_MIGRATIONS, RUN_DELAY, RUN_DELAY_WORST];
    let figure = undisturbed.into_iter().fold(figure, |figure, key| figure.with(key, 0.0));
    figure
        .with(VERIFIED, true)
        .with(PLACE_READBACK, true)
        .with(KERNEL, "ping-pong".into())
        .with(CPUS, vec![f64::from(a), f64::from(b)])
        .with(PAIR, class.to_owned())
        .with(PAIR_BASIS, "share an L3 of 32 MiB, by what the hypervisor shows".into())
        .with(CANARY_SPREAD, 0.01)
        .with(PLACE_SAMPLES, 100.0)
        .with(CANARY_CHANGE, 0.001)
        .with(CANARY_BEFORE, 3.0)
        .with(CANARY_AFTER, 3.0)
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
    let classes: Vec<String> = figures.iter().filter_map(|figure| figure.conditions.get(PAIR)).collect();
    for (at, class) in classes.iter().enumerate() {
        if classes[..at].contains(class) {
            continue;
        }
        let of = |figure: &&Figure| figure.conditions.get(PAIR).as_ref() == Some(class);
        let values: Vec<f64> = figures.iter().filter(of).filter_map(|figure| figure.value).collect();
        let id = format!("system.cores.{class}");
        let mut derived = Figure::planned(&id, "system", &id, Unit::NANOSECONDS, Better::Lower);
        derived.computed_from(figures.iter().filter(of).map(|figure| figure.id.clone()).collect());
        figures.push(derived.valued(figure::stats::median(&values).unwrap()).with(PAIR, class.clone()));
    }
}

/// The finding about the topology, of this case, with these values.
#[track_caller]
fn found(record: &Record, case: &str, expected: serde_json::Value) -> Severity {
    let finding = finds(record, &format!("topology/{case}"), expected);
    assert!(!finding.figures.is_empty());
    finding.severity
}

#[track_caller]
fn contradicts(record: &Record, case: &str, expected: serde_json::Value) {
    assert_eq!(found(record, case, expected), Severity::Warning);
}

#[track_caller]
fn agrees(record: &Record) {
    assert_eq!(found(record, "topology-fits", json!({})), Severity::Note);
}

#[track_caller]
fn is_silent(record: &Record) {
    assert!(record.findings.iter().all(|finding| finding.rule != "topology"), "{:#?}", record.findings);
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

fn server() -> Record {
    matrix(16, server_class, |a, b| server_takes(a, b) * noise(a, b, 0.2)).judged()
}

#[test]
fn a_server_that_is_what_it_says() {
    let record = server();
    agrees(&record);
    for class in ["smt", "llc", "socket"] {
        assert_eq!(outcome_of(&record, class), Some(Outcome::Pass), "{class}");
    }
    let others = json!([{"class": "smt", "pairs": 8}, {"class": "socket", "pairs": 64}]);
    case(&record, "system.cores.llc", "cores/class-range", json!({"others": others}));
    for pair in record.figures.iter().filter(|figure| figure.series.is_some()) {
        assert!(pair.checks.iter().all(|check| check.id != "advertised-topology"), "{}", pair.id);
    }
}

/// Four vCPUs advertised as cores of one last-level cache, on hardware threads 0 and 1, 2 and 3 of two cores.
pub fn hidden_threads(together: f64) -> Record {
    matrix(4, |_, _| "llc", |a, b| if a / 2 == b / 2 { together } else { 48.0 } * noise(a, b, 0.1)).judged()
}

#[test]
fn cores_that_are_hardware_threads() {
    let record = hidden_threads(11.0);
    let values = json!({"cpus": "0-3", "blocks": ["0-1", "2-3"], "gap": {"near_pair": {}, "far_pair": {}}});
    contradicts(&record, "hidden-threads", values);
    assert_eq!(outcome_of(&record, "llc"), Some(Outcome::Warn));
    // At 28 ns no hardware threads, but apart all the same; at 40 ns nothing.
    let values = json!({"class": "llc", "cpus": "0-3", "blocks": ["0-1", "2-3"]});
    contradicts(&hidden_threads(27.5), "split-class", values);
    agrees(&hidden_threads(40.0));
    assert_eq!(outcome_of(&hidden_threads(40.0), "llc"), Some(Outcome::Pass));
}

/// Eight CPUs advertised with one class, in two groups of four.
fn two_groups(class: &'static str, near: f64, far: f64) -> Record {
    matrix(8, |_, _| class, move |a, b| if a / 4 == b / 4 { near } else { far } * noise(a, b, 0.05))
}

#[test]
fn a_class_that_falls_apart() {
    let blocks = json!({"cpus": "0-7", "blocks": ["0-3", "4-7"]});
    for class in ["llc", "socket", "smt"] {
        let record = two_groups(class, 48.0, 115.0).judged();
        contradicts(&record, "split-class", blocks.clone());
        contradicts(&record, "split-class", json!({"class": class}));
        assert_eq!(outcome_of(&record, class), Some(Outcome::Warn));
    }
    contradicts(&two_groups("package", 48.0, 115.0).judged(), "hidden-groups", blocks);
    agrees(&two_groups("llc", 22.0, 24.0).judged());
    // Not all pairs were measured: there may be fewer groups.
    let some = two_groups("llc", 22.0, 95.0).only(|id| !id.ends_with("0-5") && !id.ends_with("3-6"));
    contradicts(&some.judged(), "split-class", json!({"cpus": "0-7", "blocks": []}));
}

/// Four CPUs, 0 and 1, 2 and 3 in the nearer class, which takes 48 ns; the other class takes `apart`.
fn two_classes(nearer: &'static str, farther: &'static str, apart: f64) -> Record {
    let class = |a: u32, b: u32| if a / 2 == b / 2 { nearer } else { farther };
    let takes = |a: u32, b: u32| if a / 2 == b / 2 { 48.0 } else { apart } * noise(a, b, 0.05);
    matrix(4, class, takes).judged()
}

#[test]
fn classes_that_must_differ() {
    for (nearer, farther) in [("llc", "package"), ("llc", "socket"), ("smt", "llc")] {
        let record = two_classes(nearer, farther, 48.0);
        let values =
            json!({"nearer": {"class": nearer, "pairs": 2}, "farther": {"class": farther, "pairs": 4}});
        contradicts(&record, "equally-near", values);
        for class in [nearer, farther] {
            assert_eq!(outcome_of(&record, class), Some(Outcome::Warn), "{class}");
        }
    }
    agrees(&two_classes("llc", "package", 100.0));
    // Between alike and apart is no contradiction.
    agrees(&two_classes("llc", "package", 66.0));
    // Farther by what is advertised, and nearer.
    contradicts(&two_classes("llc", "package", 20.0), "equally-near", json!({}));
    // Nodes of one package, and clusters, may be as near by design.
    agrees(&two_classes("llc", "node", 48.0));
}

#[test]
fn noise_is_no_topology() {
    for cpus in 3..12 {
        agrees(&matrix(cpus, |_, _| "llc", |a, b| 48.0 * noise(a, b, 0.2)).judged());
        // One pair, and one far more disturbed than any noise.
        let record = matrix(cpus, |_, _| "llc", |a, b| if (a, b) == (0, 1) { 200.0 } else { 48.0 }).judged();
        if cpus > 3 {
            agrees(&record);
        }
    }
}

/// Two groups 1.75 apart, with rounds that reach this far up and down.
fn wide(reach: f64) -> Record {
    let mut record = matrix(8, |_, _| "llc", |a, b| if a / 4 == b / 4 { 48.0 } else { 84.0 });
    for figure in record.figures.iter_mut().filter(|figure| figure.series.is_some()) {
        for (round, step) in figure.rounds.iter_mut().zip([-1.0, 1.0, 0.0, -1.0, 1.0, 0.0, -1.0, 1.0]) {
            round.samples = vec![figure.value.unwrap() * (1.0 + step * reach)];
        }
    }
    record.judged()
}

#[test]
fn rounds_that_reach_over_the_gap_are_no_topology() {
    contradicts(&wide(0.05), "split-class", json!({"blocks": ["0-3", "4-7"]}));
    agrees(&wide(0.35));
}

/// CPU 4 is far from all others.
fn one_afar(spread: f64, disturbed: bool) -> Record {
    let mut record = matrix(5, |_, _| "llc", |_, b| if b == 4 { 100.0 } else { 48.0 });
    for figure in record.figures.iter_mut().filter(|figure| figure.id.ends_with("-4")) {
        *figure = figure.clone().with(CANARY_SPREAD, spread);
        if disturbed {
            *figure = figure.clone().with(CANARY_CHANGE, 0.06).with(CANARY_AFTER, 2.82);
        }
    }
    record.judged()
}

#[test]
fn a_slow_or_busy_cpu_is_no_topology() {
    contradicts(&one_afar(0.01, false), "split-class", json!({"blocks": ["0-3", "4"]}));
    let no_topology = |record: &Record, verdict| {
        assert_eq!(record.figure("system.cores.0-4").unwrap().verdict, Some(verdict));
        agrees(record);
    };
    let slow = one_afar(0.4, false);
    no_topology(&slow, Verdict::Invalid);
    no_topology(&one_afar(0.01, true), Verdict::Suspect);
    // Cores of another kind have another clock by design.
    let mut hybrid = slow;
    let kind = |cpu| Some(if cpu == 4 { "efficiency" } else { "performance" }.to_owned());
    let core = |cpu| LogicalCpu { cpu, core: cpu, kind: kind(cpu), ..LogicalCpu::default() };
    hybrid.machine.topology.cpus = (0..5).map(core).collect();
    no_topology(&hybrid.judged(), Verdict::Suspect);
}

fn one_pair(class: &'static str, takes: f64) -> Record {
    matrix(2, |_, _| class, |_, _| takes).judged()
}

#[test]
fn one_pair_is_compared_with_published_tables() {
    let mesh = "cores of one mesh or ring";
    for (class, takes, name, like) in [
        ("llc", 50.0, "fits-published", mesh),
        ("socket", 300.0, "fits-published", "cores of different packages"),
        ("unknown", 50.0, "fits-published", mesh),
        ("llc", 110.0, "unlike-published", "cores of different complexes"),
        ("smt", 48.0, "unlike-published", mesh),
        ("socket", 48.0, "unlike-published", mesh),
    ] {
        let record = one_pair(class, takes);
        is_silent(&record);
        case(&record, &format!("system.cores.{class}"), &format!("cores/{name}"), json!({"like": like}));
    }
    case(&one_pair("llc", 4e6), "system.cores.llc", "cores/taking-turns", json!({}));
    // Other classes are nearer at hand.
    let far = |a: u32, _: u32| if a == 0 { "llc" } else { "socket" };
    let two = matrix(3, far, |a, _| if a == 0 { 48.0 } else { 110.0 }).judged();
    let values =
        json!({"least": {"value": 110}, "most": {"value": 110}, "others": [{"class": "llc", "pairs": 2}]});
    case(&two, "system.cores.socket", "cores/class-range", values);
}

/// Four CPUs on a machine that shows no topology, in twos.
fn unknown(together: f64) -> Record {
    let mut record = matrix(4, |_, _| "unknown", |a, b| if a / 2 == b / 2 { together } else { 48.0 });
    record.machine.topology.unknown = Some("no topology directory".to_owned());
    record.judged()
}

#[test]
fn a_machine_that_shows_nothing_is_not_contradicted() {
    let record = unknown(11.0);
    let values = json!({"cpus": "0-3", "gap": {"times": 4.36, "near": {"value": 11}, "far": {"value": 48}}});
    assert_eq!(found(&record, "hidden-threads", values), Severity::Note);
    assert_eq!(outcome_of(&record, "unknown"), Some(Outcome::Unknown));
    let values = json!({"classes": [{"class": "unknown", "pairs": 6, "median": {"value": 48}}]});
    assert_eq!(found(&unknown(48.0), "no-groups", values), Severity::Note);
}

#[test]
fn an_invalid_pair_is_not_compared() {
    let mut record = two_groups("llc", 22.0, 95.0);
    record.figures.iter_mut().for_each(|figure| figure.evidence.put(VERIFIED, false));
    let record = record.judged();
    assert_eq!(record.figure("system.cores.0-1").unwrap().verdict, Some(Verdict::Invalid));
    is_silent(&record);
    assert_eq!(outcome_of(&record, "llc"), Some(Outcome::Unknown));
}

pub fn situations() -> Vec<Record> {
    let alone = [("llc", 50.0), ("llc", 110.0), ("llc", 4e6)].map(|(class, takes)| one_pair(class, takes));
    let apart = ["llc", "package"].map(|class| two_groups(class, 48.0, 115.0).judged());
    let others = [server(), hidden_threads(11.0), two_classes("llc", "socket", 48.0), unknown(48.0)];
    [alone.to_vec(), apart.to_vec(), others.to_vec()].concat()
}
