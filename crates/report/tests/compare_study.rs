//! Studies, from their figures alone. Of study 2 a comparison names Pipe-based Context Switching and nothing that is normal; with the
//! anomaly in another test, it names that one. Of studies 4 and 5 it gives the ratios, and says that single values conclude nothing.

use crate::compare_records::{compare, index, record, written};
use crate::sample::value;
use compare::{Rule, Standing};
use figure::evidence::{HOP_WAY, PLACEMENT, TEST_CLASS};
use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::{Better, CpuList, Machine, Record, Unit};
use proptest::prelude::*;

const INDEX: &str = include_str!("../../../studies/2-unixbench/index.csv");
const VMS: &str = include_str!("../../../studies/2-unixbench/vms.csv");
const SERVER: &str = include_str!("../../../studies/4-server.csv");
const RATIOS: &str = include_str!("../../../studies/5-ratios.csv");

/// Rows of a table of the study: words, then numbers.
fn rows(table: &'static str, words: usize) -> Vec<(Vec<&'static str>, Vec<f64>)> {
    let cells = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    cells
        .map(|row| (row[..words].to_vec(), row[words..].iter().map(|cell| cell.parse().unwrap()).collect()))
        .collect()
}

/// The tests with the values of one machine: 0 the Xeon, 1 the Atom.
fn machine(host: &str, column: usize, with_conditions: bool) -> Record {
    let mut record = record(host);
    for (words, values) in rows(INDEX, 2) {
        let mut figure = index(words[0], words[1], values[column]);
        if !with_conditions {
            figure.conditions = Default::default();
        }
        record.figures.push(figure);
    }
    record
}

fn names(a: &Record, b: &Record) -> Vec<String> {
    compare(&[a, b]).pairs[0].abnormal.iter().map(|one| one.name.clone()).collect()
}

#[test]
fn of_the_xeon_and_the_atom_context_switching_alone_is_named() {
    // With the tests' words, or by UnixBench's names alone; whichever machine comes first.
    for with_conditions in [true, false] {
        let (xeon, atom) = (machine("xeon", 0, with_conditions), machine("atom", 1, with_conditions));
        assert_eq!(names(&atom, &xeon), ["Pipe-based Context Switching"]);
        assert_eq!(names(&xeon, &atom), ["Pipe-based Context Switching"]);
    }
    let comparison = compare(&[&machine("atom", 1, true), &machine("xeon", 0, true)]);
    let one = &comparison.pairs[0].abnormal[0];
    assert_eq!(one.rule, Rule::Decomposition);
    // The study's own sum: some 2.3 µs for a switch on both.
    assert!(one.seen.contains("2.37 µs in A and 2.30 µs in B"), "{}", one.seen);
    assert!((one.expected - 1310.9 / 614.4).abs() < 1e-9 && (one.ratio - 428.4 / 339.8).abs() < 1e-9);
    assert!(one.cause.contains("placement, not hardware"), "{}", one.cause);
    let text = written(&comparison, "text");
    assert!(text.contains("Out of line") && text.contains("no rounds: values alone"), "{text}");
}

/// One of the three VMs, with the caches that its guest sees.
fn vm(column: usize, shared_cache: bool) -> Record {
    let mut record = record(&format!("vm-{column}"));
    for (words, values) in rows(VMS, 1) {
        let id = format!("system.switch.{}", words[0]);
        let name = format!("Pipe-based Context Switching, {}", words[0]);
        let mut figure = value(&id, &name, Unit::of("index"), values[column]);
        figure.conditions.set(PLACEMENT, words[0].to_owned());
        figure.conditions.set(HOP_WAY, "pipe".to_owned());
        record.figures.push(figure);
    }
    record.machine = Machine { hostname: record.machine.hostname, ..Machine::default() };
    let all: CpuList = (0..4).collect();
    record.machine.topology.online = all.clone();
    record.machine.topology.allowed = all.clone();
    record.machine.topology.cpus =
        (0..4).map(|cpu| LogicalCpu { cpu, core: cpu, ..LogicalCpu::default() }).collect();
    let cache =
        |level, cpus| Cache { level, kind: CacheKind::Unified, size: 4 << 20, line: None, ways: None, cpus };
    let caches = &mut record.machine.caches.instances;
    caches.extend((0..4).map(|cpu| cache(2, [cpu].into_iter().collect())));
    caches.extend(shared_cache.then(|| cache(3, all)));
    record
}

#[test]
fn of_the_three_vms_the_free_test_of_the_one_without_a_shared_cache_is_named() {
    let comparison = compare(&[&vm(0, true), &vm(1, false), &vm(2, true)]);
    let [b, c] = comparison.pairs.as_slice() else { panic!("two pairs") };
    let named: Vec<&str> = b.abnormal.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(named, ["Pipe-based Context Switching, free"]);
    assert!(c.abnormal.is_empty(), "{:?}", c.abnormal);
    let one = &b.abnormal[0];
    assert_eq!(one.rule, Rule::Placement);
    assert!(one.cause.contains("shared by several CPUs in A, one for each CPU in B"), "{}", one.cause);
    for words in ["pinned it is 1.22x to 1.25x as fast", "5.38x"] {
        assert!(one.seen.contains(words), "{}", one.seen);
    }
}

/// The Atom, and a machine that is `factor` times as fast in each test, to within 8 %, but in one of them `planted` times that.
fn planted(order: &[usize], at: usize, factor: f64, wobble: &[f64], planted: f64) -> (Record, Record) {
    let tests = rows(INDEX, 2);
    let (mut a, mut b) = (record("a"), record("b"));
    for (place, (words, _)) in tests.iter().enumerate() {
        // Names permuted: each test has the value of another one.
        let value = tests[order[place]].1[1];
        let times = factor * wobble[place] * if place == at { planted } else { 1.0 };
        a.figures.push(index(words[0], words[1], value));
        b.figures.push(index(words[0], words[1], value * times));
    }
    (a, b)
}

#[test]
fn settings_against_page_faults_halve_the_time_in_the_kernel_and_one_value_on_a_side_proves_nothing() {
    let column = |column: usize| {
        let mut record = record(["before", "after"][column]);
        for row in SERVER.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            if let Ok(number) = cells[2 + column].parse() {
                let mut figure = value(cells[0], cells[0], Unit::of("%"), number);
                figure.better = Better::Lower;
                record.figures.push(figure);
            }
        }
        record
    };
    let comparison = compare(&[&column(0), &column(1)]);
    let pair = &comparison.pairs[0];
    let of = |id: &str| pair.figures.iter().find(|figure| figure.id == id).unwrap();
    let system = of("system CPU");
    assert!(system.ratio.is_some_and(|ratio| (ratio.value - 2.0).abs() < 1e-9), "{system:?}");
    assert_eq!(system.standing, Standing::Inconclusive);
    // None are left: there is no ratio.
    assert_eq!(of("minor faults").standing, Standing::NotComparable);
    assert!(pair.only_a.contains(&"user CPU".to_owned()), "{:?}", pair.only_a);
}

#[test]
fn which_allocator_is_faster_turns_with_the_threads() {
    let of = |allocator: &str| {
        let mut record = record(allocator);
        for (words, times) in rows(RATIOS, 3) {
            assert!([words[1], words[2]].contains(&allocator));
            let time = if words[1] == allocator { 1.0 } else { times[0] };
            let mut figure = value(&format!("pair.{}", words[0]), words[0], Unit::of("relative"), time);
            figure.better = Better::Lower;
            figure.conditions.set(TEST_CLASS, words[0].to_owned());
            record.figures.push(figure);
        }
        record
    };
    let (a, b) = (of("ptmalloc2"), of("tcmalloc"));
    let comparison = compare(&[&a, &b]);
    let ratios: Vec<f64> =
        comparison.pairs[0].figures.iter().map(|figure| figure.ratio.unwrap().value).collect();
    assert!((ratios[0] - 1.7).abs() < 1e-9 && (ratios[1] - 1.0 / 1.2).abs() < 1e-9, "{ratios:?}");
    assert_eq!(comparison.pairs[0].count(Standing::Inconclusive), 2, "no spread was published");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn it_follows_the_anomaly_whatever_the_names(
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
        at in 0..12usize,
        factor in 0.3..4.0f64,
        wobble in proptest::collection::vec(0.96..1.04f64, 12),
        size in 2.0..6.0f64,
        faster: bool,
    ) {
        let size = if faster { size } else { 1.0 / size };
        let (a, b) = planted(&order, at, factor, &wobble, size);
        let title = a.figures[at].name.clone();
        prop_assert_eq!(names(&a, &b), [title]);
        let (a, b) = planted(&order, at, factor, &wobble, 1.0);
        prop_assert_eq!(names(&a, &b), Vec::<String>::new());
    }
}
