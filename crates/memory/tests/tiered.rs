//! Nodes without CPUs, on machines that are not here: figures, rooms and limits of their memory.

use figure::evidence::*;
use figure::{Figure, Machine, Reading, Status};
use lab::schedule::Rules;
use machine::synthetic;
use memory::mode::{AnyMode, Options};
use memory::{mix, numa, policy};

const RULES: Rules = Rules { least: 8, most: 60, target: 0.01, max_time: 90.0, repeats: 4 };

fn options() -> Options {
    Options::new(RULES)
}

fn on_nodes(nodes: &str) -> Options {
    Options { nodes: Some(nodes.parse().unwrap()), ..options() }
}

fn planned(mode: &AnyMode, machine: &Machine, options: &Options) -> Vec<Figure> {
    mode.plan(machine, options).unwrap().suite.figures
}

/// The plan's figures as measured, each with a value by its id, and their limits.
fn measured(mode: &AnyMode, machine: &Machine, value: impl Fn(&str) -> f64) -> Vec<Figure> {
    let mut figures = planned(mode, machine, &options());
    for figure in figures.iter_mut().filter(|figure| figure.status != Status::NotAvailable) {
        figure.value = Some(value(&figure.id));
    }
    mode.complete()(&mut figures, machine);
    figures
}

fn find<'a>(figures: &'a [Figure], id: &str) -> &'a Figure {
    figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
}

fn ids(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.id.as_str()).collect()
}

/// The limit rounded to hundredths, and its basis.
fn limit(figures: &[Figure], id: &str) -> Option<(f64, String)> {
    let limit = find(figures, id).limit.clone()?;
    Some(((limit.value * 100.0).round() / 100.0, limit.basis))
}

#[test]
fn cells_name_the_memory_and_are_compared_with_what_hmat_says() {
    let machine = synthetic::described(synthetic::cxl_expander);
    let figures = measured(&numa::MODE, &machine, |_| 20.0);
    let (bandwidth, latency) = ("memory.numa.bandwidth.0.1", "memory.numa.latency.0.1");
    assert_eq!(find(&figures, bandwidth).name, "Read, CPUs of node 0, memory of node 1 (CXL memory)");
    assert_eq!(figures.len(), 4, "a column, and no row");
    assert_eq!(limit(&figures, bandwidth), Some((29.36, "HMAT says 29.4 GB/s from node 0".into())));
    assert_eq!(limit(&figures, latency), Some((260.0, "HMAT says 260 ns from node 0".into())));
    assert_eq!(find(&figures, latency).evidence.get(HMAT_LATENCY).into_value(), Some(260.0));
    let local = find(&figures, "memory.numa.bandwidth.0.0");
    assert!(local.limit.is_none() && local.evidence.get(HMAT_BANDWIDTH).into_value().is_none());
}

#[test]
fn hbm_has_limits_of_its_own_for_every_row() {
    let machine = synthetic::described(synthetic::hbm_flat);
    let value = |id: &str| if id.contains("latency.0.") { 130.0 } else { 200.0 };
    let figures = measured(&numa::MODE, &machine, value);
    for cell in ["0.2", "1.2"] {
        let (limit, basis) = limit(&figures, &format!("memory.numa.bandwidth.{cell}")).unwrap();
        assert_eq!((limit, basis.as_str()), (838.86, "HMAT says 839 GB/s from node 0"), "{cell}");
    }
    assert_eq!(limit(&figures, "memory.numa.latency.0.2").unwrap().0, 130.0);
    let far = limit(&figures, "memory.numa.latency.1.2");
    assert_eq!(far, Some((130.0, "memory.numa.latency.0.2".into())), "HMAT says nothing of those CPUs");
    let peak = limit(&figures, "memory.numa.bandwidth.0.0").unwrap().1;
    assert_eq!(peak, "16 x DDR5-4800 (SMBIOS), all nodes together");
}

#[test]
fn without_hmat_the_best_of_the_run_to_the_same_node_is_the_limit() {
    let machine = synthetic::described(synthetic::persistent_memory);
    let value = |id: &str| match id {
        "memory.numa.bandwidth.0.2" => 30.0,
        "memory.numa.bandwidth.1.2" => 10.0,
        "memory.numa.latency.0.2" => 300.0,
        _ => 400.0,
    };
    let figures = measured(&numa::MODE, &machine, value);
    let basis = "the highest traffic to node 2 in this run (memory.numa.bandwidth.0.2); nothing states what its memory can do";
    for cell in ["0.2", "1.2"] {
        assert_eq!(limit(&figures, &format!("memory.numa.bandwidth.{cell}")), Some((30.0, basis.into())));
    }
    assert_eq!(limit(&figures, "memory.numa.latency.1.2"), Some((300.0, "memory.numa.latency.0.2".into())));
    assert_eq!(limit(&figures, "memory.numa.latency.0.2"), None, "it is the lowest");
}

#[test]
fn nodes_that_hold_nothing_have_no_cell_unless_asked_for() {
    let machine = synthetic::described(synthetic::grace_hopper);
    let figures = planned(&numa::MODE, &machine, &options());
    let cells = ["bandwidth.0.0", "bandwidth.0.1", "latency.0.0", "latency.0.1"];
    assert_eq!(ids(&figures), cells.map(|cell| format!("memory.numa.{cell}")));
    assert!(find(&figures, "memory.numa.latency.0.1").name.ends_with("(GPU memory)"));
    let asked = planned(&numa::MODE, &machine, &on_nodes("0,5"));
    let reason = find(&asked, "memory.numa.latency.0.5").reason.as_deref();
    assert_eq!(reason, Some("node 5 has neither CPUs nor memory"));

    let mut without = machine.clone();
    without.numa.nodes[1].memory = Some(0);
    let figures = planned(&numa::MODE, &without, &options());
    let remote = find(&figures, "memory.numa.latency.remote");
    assert!(remote.reason.as_deref().unwrap().contains("one NUMA node"), "eight nodes hold nothing");
}

#[test]
fn mixes_are_also_of_memory_without_cpus() {
    let machine = synthetic::described(synthetic::cxl_expander);
    let figures = planned(&mix::MODE, &machine, &options());
    assert_eq!(figures.len(), 12);
    let far = find(&figures, "memory.mix.node1.2:1");
    assert_eq!(far.series.as_deref(), Some("memory.mix.nodes"));
    assert!(far.name.ends_with("memory of node 1 (CXL memory)"), "{}", far.name);
    assert_eq!(
        (far.conditions.get(NODE_OF_CPUS), far.conditions.get(NODE_OF_MEMORY)),
        (Some(0.0), Some(1.0))
    );
    assert_eq!(far.conditions.get(NODE_RELATION).as_deref(), Some("memory-only"));
    assert_eq!(find(&figures, "memory.mix.2:1").conditions.get(NODE_OF_MEMORY), None);

    let of = |nodes: &str| {
        let figures = planned(&mix::MODE, &machine, &on_nodes(nodes));
        ids(&figures).iter().filter_map(|id| id.strip_suffix("1:1").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(of("1"), ["memory.mix.node1."]);
    assert_eq!(of("0-1"), ["memory.mix.node0.", "memory.mix.node1."]);
    let twin = planned(&mix::MODE, &synthetic::described(synthetic::two_socket_smt_server), &options());
    assert!(twin.iter().all(|figure| figure.series.as_deref() == Some("memory.mix")), "{:?}", ids(&twin));
}

#[test]
fn mixes_of_a_node_are_by_the_cpus_next_to_it_and_say_what_is_missing() {
    let machine = synthetic::described(synthetic::persistent_memory);
    let figures = planned(&mix::MODE, &machine, &on_nodes("2-3"));
    let cpus = |id: &str| find(&figures, id).conditions.get(NODE_OF_CPUS);
    assert_eq!([cpus("memory.mix.node2.1:0"), cpus("memory.mix.node3.1:0")], [Some(0.0), Some(1.0)]);
    assert_eq!(find(&figures, "memory.mix.node2.1:0").conditions.get(THREADS), Some(8.0));

    let mut closed = machine.clone();
    closed.numa.memory_allowed = Reading::Value("0-2".parse().unwrap());
    let figures = planned(&mix::MODE, &closed, &options());
    let reason = find(&figures, "memory.mix.node3.1:0").reason.clone().unwrap();
    assert!(reason.contains("Mems_allowed"), "{reason}");
    assert_ne!(find(&figures, "memory.mix.node2.1:0").status, Status::NotAvailable);

    let empty = planned(&mix::MODE, &synthetic::described(synthetic::grace_hopper), &on_nodes("3"));
    assert!(
        empty.iter().all(|figure| figure.reason.as_deref() == Some("node 3 has neither CPUs nor memory"))
    );
    let error = (mix::MODE.plan)(&machine, &on_nodes("9")).unwrap_err().to_string();
    assert!(error.contains("no NUMA node 9: there are 0-3"), "{error}");
}

#[test]
fn a_small_node_bounds_its_own_mixes() {
    let mut machine = synthetic::described(synthetic::cxl_expander);
    machine.numa.nodes[1].available = Some(1 << 30);
    let figures = planned(&mix::MODE, &machine, &options());
    let limited = |id: &str| find(&figures, id).evidence.get(MEMORY_LIMITED_BY).into_value().unwrap();
    assert!(limited("memory.mix.node1.1:0").contains("1 GiB are available on node 1"));
    assert_eq!(limited("memory.mix.1:0"), "");
    // What is on nodes without CPUs is no room for what threads touch first.
    let (first, cxl) = machine.numa.nodes.split_first_mut().unwrap();
    (first.available, cxl[0].available) = (Some(1 << 30), Some(256 << 30));
    let figures = planned(&mix::MODE, &machine, &options());
    let limited = |id: &str| find(&figures, id).evidence.get(MEMORY_LIMITED_BY).into_value().unwrap();
    assert!(limited("memory.mix.1:0").contains("1 GiB are available on nodes with CPUs"));
    assert_eq!(limited("memory.mix.node1.1:0"), "");
}

#[test]
fn behind_cxl_reads_and_writes_have_a_way_each() {
    let figures = measured(&mix::MODE, &synthetic::described(synthetic::cxl_expander), |_| 20.0);
    let of = |figures: &[Figure], mix: &str| limit(figures, &format!("memory.mix.node1.{mix}")).unwrap();
    assert_eq!(of(&figures, "1:0"), (29.36, "HMAT says 29.4 GB/s from node 0".into()));
    assert_eq!(of(&figures, "0:1").0, 27.26);
    assert_eq!(of(&figures, "1:1").0, 54.53, "half of it is writes: twice what they can do");
    assert_eq!(of(&figures, "3:1").0, 39.15, "three quarters are reads");
    assert!(of(&figures, "1:1").1.contains("each on their own way"));
    assert_eq!(limit(&figures, "memory.mix.1:0").unwrap().0, 20.0, "the highest of near memory");
    let hbm = measured(&mix::MODE, &synthetic::described(synthetic::hbm_flat), |_| 20.0);
    assert_eq!(limit(&hbm, "memory.mix.node2.1:1").unwrap().0, 838.86, "one bus for both");
    let open = measured(&mix::MODE, &synthetic::described(synthetic::persistent_memory), |id| {
        if id == "memory.mix.node2.1:0" { 30.0 } else { 20.0 }
    });
    let highest = limit(&open, "memory.mix.node2.1:1").unwrap();
    assert_eq!(highest.0, 30.0);
    assert!(highest.1.contains("to node 2 in this run (memory.mix.node2.1:0)"), "{}", highest.1);
    assert_eq!(limit(&open, "memory.mix.node3.1:1").unwrap().0, 20.0);
}

#[test]
fn no_thread_is_on_a_node_without_cpus() {
    for (name, _) in synthetic::ALL {
        let machine = synthetic::named(name);
        for mode in memory::MODES.iter().filter(|mode| mode.name() != "cross-check") {
            let Ok(plan) = mode.plan(&machine, &options()) else { continue };
            for figure in &plan.suite.figures {
                let cpus = figure.conditions.get(CPUS).unwrap_or_default();
                let is_online = |cpu: &f64| machine.topology.online.contains(*cpu as u32);
                assert!(cpus.iter().all(is_online), "{name}: {}", figure.id);
                let row = figure.conditions.get(NODE_OF_CPUS).and_then(|node| machine.node(node as u32));
                assert!(row.is_none_or(|node| !node.cpus.is_empty()), "{name}: {}", figure.id);
            }
        }
    }
}

#[test]
fn the_policy_is_a_condition_of_what_it_places() {
    let mut machine = synthetic::described(synthetic::cxl_expander);
    let recorded = |mode: &AnyMode, machine: &Machine| {
        let mut figures = planned(mode, machine, &options());
        policy::record(mode.name(), &mut figures, machine);
        let policies = figures.iter().map(|figure| (figure.id.clone(), figure.conditions.get(MEMORY_POLICY)));
        policies.collect::<std::collections::BTreeMap<_, _>>()
    };
    let is_silent = |mode: &AnyMode, machine: &Machine| recorded(mode, machine).values().all(Option::is_none);
    assert!(is_silent(&mix::MODE, &machine), "the default needs no word");
    machine.numa.policy = Some("weighted interleave:0-1".to_owned());
    let mixes = recorded(&mix::MODE, &machine);
    let policy = "weighted interleave:0-1 by node0=4 node1=1";
    assert_eq!(mixes["memory.mix.2:1"].as_deref(), Some(policy));
    assert_eq!(mixes["memory.mix.node1.2:1"], None, "bound to its node");
    assert!(is_silent(&numa::MODE, &machine) && is_silent(&memory::scaling::MODE, &machine));
    machine.numa.policy = Some("interleave:0-1".to_owned());
    let mixes = recorded(&mix::MODE, &machine);
    assert_eq!(mixes["memory.mix.2:1"].as_deref(), Some("interleave:0-1"), "weights do not matter");
    machine.numa.nodes.truncate(1);
    assert!(is_silent(&memory::bandwidth::MODE, &machine), "one node: no policy places pages elsewhere");
}
