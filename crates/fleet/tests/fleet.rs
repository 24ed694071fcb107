//! Fleets of known content, judged.

use figure::evidence::{CPUS, NODE_OF_MEMORY, THREADS};
use figure::host::{Cache, CacheKind, LogicalCpu, Module, Node, Setting};
use figure::{
    Better, CheckResult, CpuList, Evidence, Figure, Machine, Outcome, Reading, Record, Round, Status, Tool,
    Unit, Verdict,
};
use fleet::simulate::{Plan, Planted, Simulator, judged, outcome, site_rules};
use fleet::table::State;
use fleet::{Answer, Baseline, Check, Gathering, Part, Rules, Table, check, parse, projected};

const CORES: u32 = 16;

fn cpus(numbers: impl IntoIterator<Item = u32>) -> CpuList {
    let mut list = CpuList::new();
    numbers.into_iter().for_each(|cpu| list.insert(cpu));
    list
}

/// Two NUMA nodes of two last-level caches of four cores.
fn machine() -> Machine {
    let mut machine = Machine::default();
    machine.cpu.model = Reading::Value("Processor 9000".into());
    machine.topology.cpus = (0..CORES)
        .map(|cpu| LogicalCpu {
            cpu,
            core: cpu,
            package: cpu / 8,
            node: Some(cpu / 8),
            siblings: cpus([cpu]),
            ..LogicalCpu::default()
        })
        .collect();
    machine.caches.instances = (0..4)
        .map(|at| Cache {
            level: 3,
            kind: CacheKind::Unified,
            size: 32 << 20,
            line: None,
            ways: None,
            cpus: cpus(4 * at..4 * at + 4),
        })
        .collect();
    machine.numa.nodes = (0..2).map(|_| numa_node()).collect();
    machine.memory.modules = Reading::Value((0..12).map(module).collect());
    machine.kernel.settings = vec![setting("governor", "performance")];
    machine
}

fn numa_node() -> Node {
    serde_json::from_value(serde_json::json!({
        "node": 0, "cpus": "0-7", "memory": 1, "available": 1, "hugetlb": [], "distances": []
    }))
    .unwrap()
}

fn module(slot: u32) -> Module {
    Module {
        locator: format!("DIMM_{slot}"),
        bank: String::new(),
        size: 32 << 30,
        kind: "DDR5".into(),
        speed: Some(4800),
        configured: None,
        width: None,
    }
}

fn setting(name: &str, value: &str) -> Setting {
    Setting { name: name.into(), value: Reading::Value(value.into()), source: String::new() }
}

fn measured(id: &str, better: Better, on: impl IntoIterator<Item = u32>) -> Figure {
    let suite = id.split('.').next().unwrap();
    let mut figure = Figure::planned(id, suite, id, Unit::GB_PER_S, better);
    let on: Vec<f64> = on.into_iter().map(f64::from).collect();
    figure.conditions.set(THREADS, on.len() as f64);
    figure.conditions.set(CPUS, on);
    (figure.status, figure.reason) = (Status::Measured, None);
    (figure.value, figure.verdict) = (Some(100.0), Some(Verdict::Valid));
    figure
}

/// 300 figures: all cores, each NUMA node, each last-level cache, each core.
fn record() -> Record {
    let mut figures = Vec::new();
    let all = || 0..CORES;
    for at in 0..30 {
        figures.push(measured(&format!("memory.triad.{at}"), Better::Higher, all()));
        figures.push(measured(&format!("system.pipe.{at}"), Better::Higher, all()));
        figures.push(measured(&format!("alloc.steady.{at}"), Better::Lower, all()));
    }
    for at in 0..8 {
        figures.push(measured(&format!("system.fstime.{at}"), Better::Higher, all()));
    }
    for node in 0..2 {
        for at in 0..5 {
            let mut figure = measured(
                &format!("memory.numa.bandwidth.{node}.{at}"),
                Better::Higher,
                8 * node..8 * node + 8,
            );
            figure.conditions.set(NODE_OF_MEMORY, f64::from(node));
            figures.push(figure);
        }
    }
    for cache in 0..4 {
        for at in 0..6 {
            let on = 4 * cache..4 * cache + 4;
            figures.push(measured(&format!("alloc.shared.{cache}.{at}"), Better::Lower, on));
        }
    }
    for core in 0..CORES {
        for at in 0..10 {
            figures.push(measured(&format!("alloc.core.{core}.{at}"), Better::Lower, [core]));
        }
    }
    figures.push(Figure { better: Better::Neither, ..measured("memory.clock", Better::Neither, all()) });
    Record {
        tool: Tool {
            name: "truebench".into(),
            version: "0.1.0".into(),
            build: "release".into(),
            simd: "avx2".into(),
        },
        machine: machine(),
        started: "2026-03-01T10:20:30Z".into(),
        duration: 10.0,
        figures,
        ..Record::default()
    }
}

fn plan(nodes: usize) -> Plan {
    Plan {
        nodes,
        noise: 0.01,
        defects: 0.0,
        deficit: 0.05,
        disturbed: 0.0,
        skew: false,
        variants: false,
        bad: 0.0,
        seed: 1,
    }
}

fn simulator(plan: Plan) -> Simulator {
    Simulator::new(&[record()], plan).unwrap()
}

fn table_of(records: impl IntoIterator<Item = Record>) -> Table {
    let mut gathering = Gathering::default();
    for (at, record) in records.into_iter().enumerate() {
        let text = serde_json::to_vec(&record).unwrap();
        gathering.add(parse(&format!("{at}.json"), &text, None).unwrap());
    }
    gathering.finish()
}

fn drawn(simulator: &Simulator) -> Table {
    table_of((0..simulator.plan().nodes).map(|at| simulator.node(at).0))
}

fn planted(simulator: &Simulator) -> impl Fn(&str) -> Planted {
    move |name| simulator.planted(Simulator::number(name).unwrap())
}

fn named<'a>(check: &'a Check, name: &str) -> &'a fleet::Node {
    check.nodes.iter().find(|node| node.name == name).unwrap_or_else(|| panic!("no node {name}"))
}

fn named_record(name: &str) -> Record {
    let mut record = record();
    record.machine.hostname = Reading::Value(name.into());
    record
}

#[test]
fn deficits_of_5_percent_are_found_at_1_percent_noise_and_their_part_is_named() {
    let simulator = simulator(Plan { defects: 0.05, ..plan(600) });
    let result = check(drawn(&simulator), &Rules::default(), None);
    let outcome = outcome(&result, "truebench", planted(&simulator));
    assert!(outcome.planted >= 20, "{outcome:?}");
    assert!(outcome.found as f64 >= 0.99 * outcome.planted as f64, "{outcome:?}");
    assert_eq!(outcome.false_nodes, 0, "{outcome:?}");
    assert!(outcome.right_part.unwrap() as f64 >= 0.95 * outcome.found as f64, "{outcome:?}");
    // The rules of sites accuse many healthy nodes, or find few of the others.
    for (rule, accused) in site_rules(&result, 0.03) {
        let other = judged(&result.table, &rule, &accused, &planted(&simulator));
        let is_worse = other.found < outcome.found || other.false_nodes > other.healthy / 50;
        assert!(is_worse, "{other:?}");
    }
}

#[test]
fn disturbed_nodes_are_called_disturbed_and_not_slow() {
    let simulator = simulator(Plan { disturbed: 0.1, ..plan(200) });
    let result = check(drawn(&simulator), &Rules::default(), None);
    assert_eq!(result.count(Answer::Slow), 0);
    for node in &result.nodes {
        let expected = match planted(&simulator)(&node.name) {
            Planted::Disturbed => Answer::Disturbed,
            _ => Answer::Healthy,
        };
        assert_eq!(node.answer, expected, "{node:?}");
    }
    let disturbed = result.nodes.iter().find(|node| node.answer == Answer::Disturbed).unwrap();
    assert!(disturbed.why.contains("foreign-load: other processes"), "{}", disturbed.why);
}

#[test]
fn skewed_figures_accuse_no_healthy_node() {
    let simulator = simulator(Plan { skew: true, ..plan(600) });
    let result = check(drawn(&simulator), &Rules { delta: 0.01, ..Rules::default() }, None);
    assert!(
        result.count(Answer::Slow) <= 1,
        "{:?}",
        result.nodes.iter().find(|node| node.answer == Answer::Slow)
    );
    assert!(result.figures.iter().filter(|figure| figure.is_skewed).count() > 50);
}

#[test]
fn two_variants_are_two_groups_with_the_fact_that_separates_them() {
    let simulator = simulator(Plan { variants: true, defects: 0.02, ..plan(400) });
    let result = check(drawn(&simulator), &Rules::default(), None);
    let letters: Vec<&str> = result.groups.iter().map(|group| group.letter.as_str()).collect();
    assert_eq!(letters, ["A1", "A2"]);
    let finding = &result.findings[0];
    assert!(finding.claim.contains("two kinds of node") && finding.claim.contains("6.0 %"), "{finding:?}");
    assert!(finding.evidence.contains("name separates them: bnode… (A1), anode… (A2)"), "{finding:?}");
    let outcome = outcome(&result, "truebench", planted(&simulator));
    assert_eq!((outcome.found, outcome.false_nodes), (outcome.planted, 0), "{outcome:?}");
}

#[test]
fn more_bad_nodes_than_good_ones_are_seen_by_the_baseline_alone() {
    let simulator = simulator(Plan { bad: 0.6, ..plan(200) });
    let baseline = Baseline::of(&drawn(&simulator.with(simulator.plan().healthy(200))));
    let baseline = Baseline::read(&serde_json::to_vec(&baseline).unwrap()).unwrap();
    let alone = check(drawn(&simulator), &Rules::default(), None);
    assert_eq!(alone.count(Answer::Slow), 0);
    assert!(alone.findings[0].evidence.contains("only a baseline shows"), "{:?}", alone.findings);
    let result = check(drawn(&simulator), &Rules::default(), Some(&baseline));
    let outcome = outcome(&result, "truebench", planted(&simulator));
    assert_eq!(outcome.found, outcome.planted, "{outcome:?}");
    // 1 % of 130 accused nodes.
    assert!(outcome.false_nodes <= 2, "{outcome:?}");
    assert!(outcome.right_part.unwrap() as f64 >= 0.95 * outcome.found as f64, "{outcome:?}");
    assert!(result.findings.iter().any(|one| one.claim.contains("as a whole is slower than the baseline")));
}

#[test]
fn a_node_with_a_missing_module_is_compared_with_the_others_and_named() {
    let simulator = simulator(plan(40));
    let mut records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    records[7].machine.memory.modules = Reading::Value((0..11).map(module).collect());
    for figure in records[7].figures.iter_mut().filter(|figure| figure.id.starts_with("memory.")) {
        figure.value = figure.value.map(|value| value * 0.92);
    }
    let result = check(table_of(records), &Rules::default(), None);
    assert_eq!(result.count(Answer::Slow), 1);
    let node = named(&result, "node00007");
    assert_eq!(node.part, Some(Part::Memory), "{node:?}");
    assert!(node.why.contains("memory modules 11 x DDR5"), "{}", node.why);
    assert!((node.deficit.unwrap() - 0.08).abs() < 0.01);
    assert_eq!(node.low_count, node.low.len().max(node.low_count));
}

#[test]
fn few_nodes_need_a_baseline() {
    let simulator = simulator(plan(7));
    let result = check(drawn(&simulator), &Rules::default(), None);
    assert_eq!(result.count(Answer::NotComparable), 7);
    assert!(result.nodes[0].why.contains("only 7 nodes are of this kind"), "{}", result.nodes[0].why);
    let baseline = Baseline::of(&drawn(&simulator.with(simulator.plan().healthy(30))));
    let result = check(drawn(&simulator), &Rules::default(), Some(&baseline));
    assert_eq!(result.count(Answer::Healthy), 7);
}

#[test]
fn a_group_of_which_most_were_disturbed_compares_no_node() {
    let nodes = (0..12).map(|at| {
        let mut record = named_record(&format!("n{at}"));
        if at >= 5 {
            record.figures.iter_mut().for_each(|figure| suspect(figure, "foreign-load", "other processes"));
        }
        record
    });
    let result = check(table_of(nodes), &Rules::default(), None);
    let node = named(&result, "n0");
    assert_eq!(node.answer, Answer::NotComparable);
    assert!(node.why.starts_with("no figure can be compared"), "{}", node.why);
    assert_eq!(named(&result, "n5").answer, Answer::Disturbed);
}

/// Its own checks left nothing to judge it by, whatever they found: the others have figures to compare.
#[test]
fn a_node_without_a_figure_that_can_be_used_is_disturbed() {
    let few = |name: &str, rounds: &[usize]| {
        let mut record = named_record(name);
        record.figures.truncate(3);
        for at in rounds {
            suspect(&mut record.figures[*at], "rounds-agree", &format!("interval of {name}.{at}"));
        }
        record
    };
    let nodes = (0..12).map(|at| few(&format!("n{at}"), if at < 3 { &[0, 1, 2] } else { &[2] }));
    let result = check(table_of(nodes), &Rules::default(), None);
    let node = named(&result, "n1");
    assert_eq!((node.answer, result.count(Answer::Disturbed)), (Answer::Disturbed, 3), "{node:?}");
    assert_eq!(node.reason.as_deref(), Some("rounds-agree: interval of n1.0"), "one of equal checks");
    assert_eq!(named(&result, "n5").answer, Answer::Healthy, "one figure is lost on every node");
    // A failure of most of them is the cause, not what is left.
    let nodes = (0..12).map(|at| {
        let mut record = few(&format!("n{at}"), &[2]);
        if at == 1 {
            suspect(&mut record.figures[0], "drift", "fell");
            (record.figures[1].value, record.figures[1].reason) = (None, Some("no memory".to_owned()));
        }
        record
    });
    let result = check(table_of(nodes), &Rules::default(), None);
    let node = named(&result, "n1");
    assert_eq!((node.answer, node.reason.as_deref()), (Answer::NotMeasured, Some("no memory")), "{node:?}");
}

#[test]
fn the_commonest_check_is_named_and_not_the_commonest_text() {
    let nodes = (0..12).map(|at| {
        let mut record = named_record(&format!("n{at}"));
        record.figures.truncate(5);
        if at == 1 {
            record.figures[..2].iter_mut().for_each(|figure| suspect(figure, "steal", "10 %"));
            for (at, figure) in record.figures[2..].iter_mut().enumerate() {
                suspect(figure, "throttled", &format!("{at} of 9 periods"));
            }
        }
        record
    });
    let result = check(table_of(nodes), &Rules::default(), None);
    let node = named(&result, "n1");
    assert_eq!(
        (node.answer, node.reason.as_deref()),
        (Answer::Disturbed, Some("throttled: 0 of 9 periods")),
        "{node:?}"
    );
}

#[test]
fn other_hardware_is_not_compared() {
    let simulator = simulator(plan(20));
    let mut records: Vec<Record> = (0..20).map(|at| simulator.node(at).0).collect();
    records[3].machine.cpu.model = Reading::Value("Processor 8000".into());
    for figure in &mut records[3].figures {
        figure.value = figure.value.map(|value| value * 0.5);
    }
    let result = check(table_of(records), &Rules::default(), None);
    assert_eq!(named(&result, "node00003").answer, Answer::NotComparable);
    assert_eq!(result.count(Answer::Healthy), 19);
    assert!(result.groups[1].differs.iter().any(|fact| fact.about == "processor"));
}

#[test]
fn nothing_is_lost_without_a_word() {
    let mut gathering = Gathering::default();
    let mut text = |name: &str, file: &str, change: &dyn Fn(&mut Record), written: Option<f64>| {
        let mut record = named_record(name);
        change(&mut record);
        let text = serde_json::to_vec(&record).unwrap();
        gathering.add(parse(file, &text, written).unwrap());
        text
    };
    for at in 0..9 {
        text(&format!("n{at}"), &format!("n{at}.json"), &|_| {}, None);
    }
    let whole = text("n1", "later.json", &|record| record.started = "2026-03-01T11:00:00Z".into(), None);
    text("ahead", "ahead.json", &|_| {}, Some(1_772_360_000.0));
    text("empty", "empty.json", &|record| record.figures.clear(), None);
    let cut = parse("cut.json", &whole[..whole.len() / 2], None).map(drop).unwrap_err();
    assert!(cut.why.starts_with("is cut off"), "{cut:?}");
    let newer = parse("newer.json", br#"{"schema": 99}"#, None).map(drop).unwrap_err();
    assert!(newer.why.starts_with("has record format 99"), "{newer:?}");
    gathering.reject(cut);
    gathering.reject(newer);
    let result = check(gathering.finish(), &Rules::default(), None);
    let unused: Vec<&str> = result.read.unused.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(unused, ["cut.json", "n1.json", "newer.json"]);
    assert!(result.read.unused[1].why.contains("later.json is later"), "{:?}", result.read.unused);
    assert!(
        result.read.notes.iter().any(|note| note.starts_with("ahead: its clock is ahead")),
        "{:?}",
        result.read
    );
    assert_eq!(named(&result, "empty").answer, Answer::NotMeasured);
    assert_eq!(result.count(Answer::Healthy), 10);
}

#[test]
fn figures_whose_own_noise_exceeds_the_spread_cannot_rank_nodes() {
    let simulator = simulator(plan(40));
    let mut records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    for record in &mut records {
        let figure = record.figures.iter_mut().find(|figure| figure.id == "memory.triad.0").unwrap();
        let value = figure.value.unwrap();
        let interval = figure.interval.as_mut().unwrap();
        (interval.low, interval.high) = (value * 0.9, value * 1.1);
    }
    let result = check(table_of(records), &Rules::default(), None);
    let figure = |id: &str| result.figures.iter().find(|figure| figure.id == id).unwrap();
    let noisy = figure("memory.triad.0");
    assert!(!noisy.can_rank && noisy.rounds_needed.unwrap() > 24, "{noisy:?}");
    assert!(figure("memory.triad.1").can_rank);
}

/// Makes a figure worse by a share, with its interval.
fn worsen(figure: &mut Figure, share: f64) {
    let factor = if figure.better == Better::Lower { 1.0 / (1.0 - share) } else { 1.0 - share };
    figure.value = figure.value.map(|value| value * factor);
    if let Some(interval) = &mut figure.interval {
        (interval.low, interval.high) = (interval.low * factor, interval.high * factor);
    }
}

fn suspect(figure: &mut Figure, id: &str, detail: &str) {
    figure.checks.push(CheckResult {
        id: id.into(),
        outcome: Outcome::Warn,
        detail: detail.into(),
        ..CheckResult::default()
    });
    figure.verdict = Some(Verdict::Suspect);
}

fn memory(record: &mut Record) -> impl Iterator<Item = &mut Figure> {
    record.figures.iter_mut().filter(|figure| figure.id.starts_with("memory."))
}

/// Makes a hundredth of the figures 5 % to 20 % worse.
fn outliers() -> impl FnMut(&mut Figure) {
    let mut state = 7u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    move |figure| {
        if uniform() < 0.01 {
            worsen(figure, 0.05 + 0.15 * uniform());
        }
    }
}

/// A hundredth of all figures is 5 % to 20 % low on healthy nodes: nearly every node has some. Quartiles and deciles do not show it.
#[test]
fn figures_that_are_low_now_and_then_accuse_no_healthy_node() {
    let simulator = simulator(Plan { defects: 0.03, ..plan(200) });
    let mut records: Vec<Record> = (0..200).map(|at| simulator.node(at).0).collect();
    records.iter_mut().flat_map(|record| &mut record.figures).for_each(outliers());
    let result = check(table_of(records), &Rules::default(), None);
    let outcome = outcome(&result, "truebench", planted(&simulator));
    assert!(outcome.planted >= 3 && outcome.found == outcome.planted, "{outcome:?}");
    assert_eq!(outcome.false_nodes, 0, "{outcome:?}");
}

/// One node has too few figures to show what is ordinary: the baseline's nodes show it.
#[test]
fn a_baseline_knows_how_often_figures_are_low() {
    let simulator = simulator(plan(60));
    let mut random = outliers();
    let mut table = |numbers: std::ops::Range<usize>| {
        let mut records: Vec<Record> = numbers.map(|at| simulator.node(at).0).collect();
        records.iter_mut().flat_map(|record| &mut record.figures).for_each(&mut random);
        table_of(records)
    };
    let baseline = Baseline::of(&table(0..50));
    let baseline = Baseline::read(&serde_json::to_vec(&baseline).unwrap()).unwrap();
    let result = check(table(50..53), &Rules::default(), Some(&baseline));
    assert_eq!(result.count(Answer::Healthy), 3, "{:?}", result.nodes);
}

#[test]
fn earlier_record_formats_are_read() {
    for version in [1, 2] {
        let path = format!("{}/../../tests/records/schema-{version}.json", env!("CARGO_MANIFEST_DIR"));
        let mut gathering = Gathering::default();
        gathering.add(parse("old.json", &std::fs::read(path).unwrap(), None).unwrap());
        assert!(gathering.finish().columns.len() > 2);
    }
}

#[test]
fn eight_nodes_are_enough_for_a_large_deficit_of_a_part() {
    let simulator = simulator(plan(8));
    let mut records: Vec<Record> = (0..8).map(|at| simulator.node(at).0).collect();
    memory(&mut records[3]).for_each(|figure| worsen(figure, 0.15));
    // On most nodes some figure is suspect.
    for (at, record) in records.iter_mut().enumerate() {
        suspect(&mut record.figures[10 + at], "rounds-agree", "the rounds differ by 9 %");
    }
    let result = check(table_of(records), &Rules::default(), None);
    assert_eq!(result.count(Answer::Healthy), 7, "{:?}", result.nodes);
    assert_eq!(named(&result, "node00003").part, Some(Part::Memory));
    // The report says so: a single figure would have to be much lower.
    assert!(result.figures.iter().any(|figure| figure.finds.is_none_or(|finds| finds > 0.1)));
}

#[test]
fn four_and_four_are_two_kinds_and_not_four_slow_nodes() {
    let simulator = simulator(plan(8));
    let mut records: Vec<Record> = (0..8).map(|at| simulator.node(at).0).collect();
    for (at, record) in records.iter_mut().enumerate() {
        record.machine.hostname = Reading::Value(format!("rack{}-{at}", if at < 4 { "a" } else { "b" }));
    }
    records.iter_mut().take(4).flat_map(memory).for_each(|figure| worsen(figure, 0.08));
    let result = check(table_of(records), &Rules::default(), None);
    assert_eq!(result.count(Answer::NotComparable), 8, "{:?}", result.nodes);
    let finding = &result.findings[0];
    assert!(finding.claim.starts_with("Group A is two kinds of node: 4 are "), "{finding:?}");
    assert!(finding.evidence.contains("name separates them: racka-… (A1), rackb-… (A2)"), "{finding:?}");
    assert!(finding.evidence.contains("only a baseline can judge them"), "{finding:?}");
}

#[test]
fn a_figure_with_two_values_is_not_two_kinds_of_node() {
    let simulator = simulator(plan(40));
    let mut records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    for record in records.iter_mut().step_by(2) {
        let figure = record.figures.iter_mut().find(|figure| figure.id == "memory.triad.0");
        worsen(figure.unwrap(), 0.1);
    }
    let table = table_of(records);
    let baseline = Baseline::of(&table);
    assert!(baseline.groups[0].two_values.iter().any(|id| id == "memory.triad.0"));
    assert!(baseline.groups[0].figures.iter().all(|figure| figure.id != "memory.triad.0"));
    let result = check(table, &Rules::default(), None);
    assert_eq!((result.groups.len(), result.count(Answer::Healthy)), (1, 40), "{:?}", result.groups);
    let claim = "Group A: memory.triad.0 has two values on equal nodes";
    assert!(result.findings.iter().any(|finding| finding.claim == claim), "{:?}", result.findings);
}

/// Its figures neither accuse it nor acquit it.
#[test]
fn a_node_whose_memory_figures_drift_is_disturbed_and_not_healthy() {
    let simulator = simulator(plan(40));
    let mut records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    for figure in memory(&mut records[5]) {
        worsen(figure, 0.1);
        suspect(figure, "drift", "fell by 12 % over the run");
    }
    // A figure that is suspect everywhere says nothing of a node.
    records.iter_mut().for_each(|record| suspect(&mut record.figures[200], "rounds-agree", "they do not"));
    let result = check(table_of(records), &Rules::default(), None);
    let node = named(&result, "node00005");
    assert_eq!((node.answer, result.count(Answer::Healthy)), (Answer::Disturbed, 39), "{node:?}");
    assert!(node.why.starts_with("memory channel or module: 40 of 40 figures: drift: fell"), "{}", node.why);
    let claim = "Group A: 1 figure is suspect or invalid on most nodes";
    assert!(result.findings.iter().any(|finding| finding.claim == claim), "{:?}", result.findings);
}

#[test]
fn what_disturbs_a_node_may_slow_its_other_figures() {
    let simulator = simulator(plan(40));
    let mut records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    memory(&mut records[5]).for_each(|figure| worsen(figure, 0.1));
    for figure in records[5].figures.iter_mut().filter(|figure| figure.id.starts_with("system.")) {
        suspect(figure, "steal", "the hypervisor took 12 % of the CPU time");
    }
    let result = check(table_of(records), &Rules::default(), None);
    let node = named(&result, "node00005");
    assert_eq!((node.answer, result.count(Answer::Slow)), (Answer::Disturbed, 0), "{node:?}");
    assert!(
        node.why.contains("steal: the hypervisor") && node.why.contains("the others are low"),
        "{}",
        node.why
    );
}

#[test]
fn a_node_that_lacks_figures_is_not_called_healthy() {
    let simulator = simulator(plan(20));
    let mut records: Vec<Record> = (0..20).map(|at| simulator.node(at).0).collect();
    for figure in memory(&mut records[2]) {
        (figure.value, figure.status) = (None, Status::Failed);
        (figure.verdict, figure.reason) = (None, Some("killed: out of memory".into()));
    }
    let result = check(table_of(records), &Rules::default(), None);
    let node = named(&result, "node00002");
    assert_eq!((node.answer, result.count(Answer::Healthy)), (Answer::NotMeasured, 19));
    assert!(node.why.ends_with("figures that most nodes have: killed: out of memory"), "{}", node.why);
}

/// The first record does not decide how all are read.
#[test]
fn another_unit_on_one_node_costs_one_figure_of_that_node() {
    let simulator = simulator(plan(20));
    let mut records: Vec<Record> = (0..20).map(|at| simulator.node(at).0).collect();
    let figure = &mut records[0].figures[0];
    let id = figure.id.clone();
    (figure.unit, figure.value) = (Unit::of("MB/s"), figure.value.map(|value| 1000.0 * value));
    records[1].figures[0].conditions.set(THREADS, 1.0);
    records[2].figures[0].value = Some(0.0);
    let result = check(table_of(records), &Rules::default(), None);
    assert_eq!(result.count(Answer::Healthy), 20, "{:?}", result.nodes);
    let table = &result.table;
    let column = table.columns.iter().position(|column| column.id == id).unwrap();
    assert_eq!(table.columns[column].unit, "GB/s");
    let cell = |row: usize| (table.cell(row, column).state, table.reason(table.cell(row, column)));
    assert_eq!(cell(0), (State::OtherParameters, "measured in MB/s, on most nodes in GB/s"));
    assert_eq!(cell(1), (State::OtherParameters, "measured with 1 thread, on most nodes with 16 threads"));
    assert_eq!(cell(2).0, State::Doubtful);
    assert_eq!(cell(3), (State::Usable, ""));
}

#[test]
fn records_of_one_name_at_one_time_are_several_nodes() {
    let simulator = simulator(plan(10));
    let mut records: Vec<Record> = (0..10).map(|at| simulator.node(at).0).collect();
    records.iter_mut().for_each(|record| record.machine.hostname = Reading::Value("localhost".into()));
    // A copy of a file is no second node.
    records.push(records[0].clone());
    let result = check(table_of(records), &Rules::default(), None);
    let names: Vec<&str> = result.nodes.iter().map(|node| node.name.as_str()).collect();
    assert!(names.len() == 10 && names.contains(&"localhost (3.json)"), "{names:?}");
    assert!(result.read.unused[0].why.starts_with("a copy of "), "{:?}", result.read.unused);
    assert!(result.read.notes.iter().any(|note| note.contains("are named localhost and overlap")));
}

#[test]
fn a_projection_is_read_as_the_record_is() {
    let mut whole = simulator(plan(1)).node(0).0;
    for figure in &mut whole.figures {
        let round = Round::new(whole.started.clone(), 1.0, vec![1.0; 50], Evidence::default());
        figure.rounds = vec![round; 12];
        figure.checks.push(CheckResult {
            id: "steal".into(),
            detail: "0 %".into(),
            ..CheckResult::default()
        });
    }
    suspect(&mut whole.figures[2], "foreign-load", "another program ran");
    let small = projected(whole.clone());
    let size = |record: &Record| serde_json::to_vec(record).unwrap().len();
    assert!(5 * size(&small) < size(&whole), "{} {}", size(&small), size(&whole));
    assert_eq!(table_of([small]), table_of([whole]));
}

#[test]
fn the_order_of_files_changes_nothing() {
    let simulator = simulator(Plan { defects: 0.1, ..plan(40) });
    let records: Vec<Record> = (0..40).map(|at| simulator.node(at).0).collect();
    let answers = |records: Vec<Record>| {
        let result = check(table_of(records), &Rules::default(), None);
        result.nodes.into_iter().map(|node| (node.name, node.answer, node.part)).collect::<Vec<_>>()
    };
    let mut reversed = records.clone();
    reversed.reverse();
    assert_eq!(answers(records), answers(reversed));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(60))]

    /// Text of others: cut, or with bytes changed, it is a record or it is named, and a fleet with it is judged.
    #[test]
    fn no_text_ends_a_check(cut in 0usize..4000, changes in proptest::collection::vec((0usize..4000, 0u8..128), 0..6)) {
        let mut small = record();
        small.figures.truncate(3);
        let mut text = serde_json::to_vec(&small).unwrap();
        for (at, byte) in changes {
            let at = at % text.len();
            text[at] = byte;
        }
        if cut < text.len() && cut % 3 == 0 {
            text.truncate(cut);
        }
        let mut gathering = Gathering::default();
        match parse("odd.json", &text, Some(0.0)) {
            Ok(parsed) => gathering.add(parsed),
            Err(unused) => {
                proptest::prop_assert!(!unused.why.is_empty() && !unused.why.chars().any(char::is_control));
                gathering.reject(unused);
            }
        }
        for at in 0..9 {
            small.machine.hostname = Reading::Value(format!("n{at}"));
            let text = serde_json::to_vec(&small).unwrap();
            gathering.add(parse(&format!("n{at}.json"), &text, None).unwrap());
        }
        check(gathering.finish(), &Rules::default(), None);
        let _ = Baseline::read(&text);
    }
}
