//! What `memory numa` plans on machines that are not here.

use figure::evidence::*;
use figure::host::HugePool;
use figure::{Figure, Machine, Reading, Status};
use lab::schedule::Rules;
use machine::synthetic;
use memory::mode::{Options, PlanError};
use memory::numa::MODE;
use memory::numa::plan::Setup;
use memory::pages::Pages;

const RULES: Rules = Rules { least: 8, most: 60, target: 0.01, max_time: 90.0, repeats: 4 };

/// Four times the caches of one socket of `two_socket_smt_server`: 33 MiB of L3 and 24 x 1 MiB of L2.
const SOCKET: u64 = (4 * 57) << 20;

fn options() -> Options {
    Options::new(RULES)
}

fn on_nodes(nodes: &str) -> Options {
    Options { nodes: Some(nodes.parse().unwrap()), ..options() }
}

/// The planned figures, and the worker's setup.
fn planned(machine: &Machine, options: &Options) -> (Vec<Figure>, Setup) {
    let plan = (MODE.plan)(machine, options).unwrap();
    let setup: Setup = plan.suite.setup;
    assert_eq!(
        setup.tasks.iter().map(|task| &task.id).collect::<Vec<_>>(),
        plan.suite
            .figures
            .iter()
            .filter(|f| f.status != Status::NotAvailable)
            .map(|f| &f.id)
            .collect::<Vec<_>>(),
    );
    for task in &setup.tasks {
        let (row, column) = (setup.rows[task.row].node, setup.columns[task.column].node);
        assert!(task.id.ends_with(&format!(".{row}.{column}")), "{} is of {row} and {column}", task.id);
    }
    (plan.suite.figures, setup)
}

fn find<'a>(figures: &'a [Figure], id: &str) -> &'a Figure {
    figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
}

fn relation(figures: &[Figure], cell: &str) -> (String, Option<f64>) {
    let conditions = &find(figures, &format!("memory.numa.latency.{cell}")).conditions;
    (conditions.get(NODE_RELATION).unwrap(), conditions.get(NODE_DISTANCE))
}

fn reason<'a>(figures: &'a [Figure], id: &str) -> &'a str {
    let figure = find(figures, id);
    assert_eq!(figure.status, Status::NotAvailable, "{id}");
    figure.reason.as_deref().unwrap()
}

#[test]
fn two_sockets_make_four_cells_of_each_sort() {
    let machine = synthetic::described(synthetic::two_socket_smt_server);
    let (figures, setup) = planned(&machine, &options());
    assert_eq!(figures.len(), 8);
    assert_eq!(relation(&figures, "0.0"), ("local".into(), Some(10.0)));
    assert_eq!(relation(&figures, "1.0"), ("other-package".into(), Some(21.0)));
    let bandwidth = find(&figures, "memory.numa.bandwidth.0.1");
    assert_eq!(bandwidth.series.as_deref(), Some("memory.numa.bandwidth"));
    assert_eq!(bandwidth.conditions.get(THREADS), Some(24.0), "one a core");
    assert_eq!(bandwidth.conditions.get(NODE_OF_CPUS), Some(0.0));
    assert_eq!(bandwidth.conditions.get(NODE_OF_MEMORY), Some(1.0));
    assert_eq!(bandwidth.conditions.get(ARRAY_BYTES), Some(SOCKET as f64));
    let latency = find(&figures, "memory.numa.latency.1.0");
    assert_eq!(
        (latency.conditions.get(THREADS), latency.conditions.get(CPUS)),
        (Some(1.0), Some(vec![24.0]))
    );
    assert_eq!(
        latency.conditions.get(PAGES_ASKED).as_deref(),
        Some("thp"),
        "madvise gives them for the asking"
    );
    assert_eq!(setup.columns.iter().map(|column| column.near).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn clusters_of_one_package_differ_from_other_packages() {
    let (figures, _) = planned(&synthetic::described(synthetic::sub_numa_clusters), &options());
    assert_eq!(figures.len(), 32);
    assert_eq!(relation(&figures, "0.1"), ("same-package".into(), Some(12.0)));
    assert_eq!(relation(&figures, "0.2"), ("other-package".into(), Some(21.0)));
    assert!(find(&figures, "memory.numa.latency.2.3").name.contains("same package, other node"));
    let (figures, _) = planned(&synthetic::described(synthetic::sub_numa_clusters), &on_nodes("0-1"));
    assert_eq!(figures.len(), 8, "between the nodes that are named");
}

#[test]
fn a_memory_only_node_is_a_column_without_a_row() {
    let machine = synthetic::described(synthetic::memory_only_node);
    let (figures, setup) = planned(&machine, &options());
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "memory.numa.bandwidth.0.0",
            "memory.numa.bandwidth.0.1",
            "memory.numa.latency.0.0",
            "memory.numa.latency.0.1"
        ]
    );
    assert_eq!(relation(&figures, "0.1"), ("memory-only".into(), Some(14.0)));
    assert_eq!(setup.columns[1].near, 0, "the nearest CPUs touch it");
    let (figures, _) = planned(&machine, &on_nodes("1"));
    assert_eq!(figures.len(), 2, "it is read from all nodes with CPUs");
}

#[test]
fn nodes_without_memory_or_closed_to_us_say_so() {
    let mut machine = synthetic::described(synthetic::two_socket_smt_server);
    machine.numa.nodes[1].memory = Some(0);
    let (figures, setup) = planned(&machine, &options());
    assert_eq!(reason(&figures, "memory.numa.latency.1.1"), "node 1 has CPUs and no memory");
    assert_eq!(
        (setup.rows.len(), setup.columns.len()),
        (2, 1),
        "its CPUs are measured against the other's memory"
    );

    machine.numa.nodes[1].memory = Some(1 << 37);
    machine.numa.memory_allowed = Reading::Value("0".parse().unwrap());
    let (figures, _) = planned(&machine, &options());
    assert!(reason(&figures, "memory.numa.bandwidth.0.1").contains("allows that of nodes 0 (Mems_allowed)"));

    machine.numa.memory_allowed = Reading::unknown("no /proc/self/status");
    machine.topology.allowed = "0-3".parse().unwrap();
    let (figures, setup) = planned(&machine, &options());
    assert!(
        reason(&figures, "memory.numa.bandwidth.1.0").contains("24-47,72-95) are outside the affinity mask")
    );
    assert_eq!(setup.rows[0].threads.len(), 4);
    assert_eq!(setup.columns.len(), 2, "remote memory can still be measured from node 0");
}

#[test]
fn one_node_is_measured_and_nothing_remote_is() {
    let (figures, _) = planned(&synthetic::described(synthetic::vm_hidden_l3), &options());
    assert_eq!(figures.iter().filter(|figure| figure.status != Status::NotAvailable).count(), 2);
    assert!(reason(&figures, "memory.numa.latency.remote").contains("one NUMA node"));
    let (figures, _) = planned(&synthetic::described(synthetic::gvisor_no_caches), &options());
    assert_eq!(figures.len(), 2);
    assert!(reason(&figures, "memory.numa.bandwidth.remote").contains("shows no node"));
}

#[test]
fn a_small_node_bounds_its_own_column_and_a_large_request_is_refused() {
    let mut machine = synthetic::described(synthetic::two_socket_smt_server);
    machine.numa.nodes[1].available = Some(64 << 20);
    let (figures, setup) = planned(&machine, &options());
    assert_eq!(setup.columns[0].bytes, SOCKET);
    assert!(setup.columns[1].bytes < 32 << 20 && setup.columns[1].bytes.is_multiple_of(1024));
    let cell = find(&figures, "memory.numa.latency.0.1");
    assert!(cell.evidence.get(MEMORY_LIMITED_BY).value().unwrap().contains("64 MiB are available on node 1"));
    let asked = |elements| Options { array_size: Some(elements), ..options() };
    let (figures, _) = planned(&machine, &asked(80 << 20));
    assert!(reason(&figures, "memory.numa.latency.0.1").contains("do not fit on node 1"), "the other does");
    let error = (MODE.plan)(&machine, &asked(1 << 40)).unwrap_err();
    assert!(
        error.to_string().starts_with("--array-size 1099511627776: an array and a chain of 8 TiB"),
        "{error}"
    );
    machine.numa.nodes[1].available = Some(1000);
    let (figures, _) = planned(&machine, &options());
    assert!(reason(&figures, "memory.numa.latency.0.1").contains("do not fit on node 1"));
}

#[test]
fn a_limit_of_our_group_is_shared_among_the_nodes() {
    let mut machine = synthetic::described(synthetic::two_socket_smt_server);
    machine.memory.available = Reading::Value(1 << 30);
    let (figures, setup) = planned(&machine, &options());
    let all: u64 = setup.columns.iter().map(|column| 2 * column.bytes).sum();
    assert!(all < 1 << 30 && all > 1 << 29, "{all}");
    let limit =
        find(&figures, "memory.numa.latency.0.1").evidence.get(MEMORY_LIMITED_BY).into_value().unwrap();
    assert!(limit.contains("for 2 nodes"), "{limit}");
}

#[test]
fn reserved_pages_are_counted_on_each_node() {
    let mut machine = synthetic::described(synthetic::two_socket_smt_server);
    machine.numa.nodes[0].hugetlb = vec![HugePool { page: 2 << 20, reserved: 600, free: 500 }];
    let (figures, setup) = planned(&machine, &Options { pages: Pages::Huge2m, ..options() });
    assert_eq!(setup.columns.len(), 1);
    assert_eq!(setup.columns[0].bytes, SOCKET, "twice 114 pages");
    let reason = reason(&figures, "memory.numa.bandwidth.0.1");
    assert!(
        reason.contains("228 reserved pages of 2 MiB are needed on node 1, 0 are free: echo 228 >"),
        "{reason}"
    );
}

#[test]
fn a_node_that_is_not_there_is_wrong_usage() {
    let refused = |write, nodes: &str| match (MODE.plan)(&synthetic::described(write), &on_nodes(nodes)) {
        Err(PlanError::Wrong(text)) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(synthetic::two_socket_smt_server, "0,5"),
        "--nodes 0,5: no NUMA node 5: there are 0-1"
    );
    assert!(refused(synthetic::vm_hidden_l3, "1").ends_with("there is one, node 0"));
    assert!(refused(synthetic::gvisor_no_caches, "0").contains("shows no node"));
}

#[test]
fn many_cells_or_little_time_make_short_rounds() {
    let machine = synthetic::described(synthetic::sub_numa_clusters);
    let round =
        |max_time| planned(&machine, &Options { rules: Rules { max_time, ..RULES }, ..options() }).1.round;
    assert_eq!(round(f64::MAX), 0.2);
    // Half of 80 s for 32 cells of 8 rounds.
    assert!((round(80.0) - 40.0 / 256.0).abs() < 1e-12);
    assert_eq!(round(1.0), 0.05, "what surrounds a round takes as long");
}

#[test]
fn remote_cells_are_compared_with_local_ones_and_local_ones_with_the_peak() {
    let machine = synthetic::described(synthetic::two_socket_smt_server);
    let (mut figures, _) = planned(&machine, &options());
    for figure in &mut figures {
        figure.value = Some(if figure.id.ends_with("0.0") { 80.0 } else { 50.0 });
    }
    (MODE.complete)(&mut figures, &machine);
    let limit = |id: &str| find(&figures, id).limit.clone().map(|limit| (limit.value, limit.basis));
    assert_eq!(limit("memory.numa.bandwidth.0.1"), Some((80.0, "memory.numa.bandwidth.0.0".into())));
    assert_eq!(limit("memory.numa.latency.0.1"), Some((80.0, "memory.numa.latency.0.0".into())));
    assert_eq!(limit("memory.numa.latency.0.0"), None);
    let (peak, basis) = limit("memory.numa.bandwidth.0.0").unwrap();
    assert_eq!((peak, basis.as_str()), (255.936, "12 x DDR4-2666 (SMBIOS), all nodes together"));
}
