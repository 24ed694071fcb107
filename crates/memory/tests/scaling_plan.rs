//! Plans of the mode `scaling` for machines that are not here.

use figure::evidence::{ARRAY_BYTES, CPUS, MEMORY_LIMITED_BY, SCHEDULE};
use figure::{Figure, Status};
use lab::core_kind;
use lab::mode::Planned;
use lab::schedule::Rules;
use machine::synthetic;
use memory::kernels::{ELEMENT, Stores};
use memory::mode::{Options, PlanError, Schedule};
use memory::scaling::plan::{Setup, plan};

/// What the command line gives without options: 8 rounds in 100 s.
fn options() -> Options {
    Options::new(Rules { least: 8, most: 60, target: 0.01, max_time: 100.0, repeats: 4 })
}

fn planned(name: &str, options: &Options) -> Planned<Setup> {
    plan(&synthetic::named(name), options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn setup(planned: &Planned<Setup>) -> Setup {
    planned.suite.setup.clone()
}

/// Numbers of threads of a series.
fn counts(planned: &Planned<Setup>, series: &str) -> Vec<usize> {
    let mine = planned.suite.figures.iter().filter(|figure| figure.series.as_deref() == Some(series));
    mine.filter_map(|figure| figure.id.rsplit('.').next()?.parse().ok()).collect()
}

fn figure<'a>(planned: &'a Planned<Setup>, id: &str) -> &'a Figure {
    planned.suite.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn the_studys_machine() {
    let plan = planned("two_socket_smt_server", &options());
    for series in ["memory.scaling.cores", "memory.scaling.threads"] {
        let counts = counts(&plan, series);
        let telling = [1, 2, 4, 8, 16, 47, 48, 49, 95, 96];
        assert!(telling.iter().all(|count| counts.contains(count)), "{counts:?}");
    }
    let packed = counts(&plan, "memory.scaling.packed");
    assert!(packed.iter().all(|count| *count == 1 || count % 2 == 0) && packed.contains(&96), "{packed:?}");
    assert_eq!(counts(&plan, "memory.scaling.cores.dynamic"), [49, 72, 95], "the uneven ones");

    let cpus = |id: &str| figure(&plan, id).conditions.get(CPUS).unwrap();
    assert_eq!(
        cpus("memory.scaling.cores.49")[47..],
        [47.0, 0.0],
        "a second thread in the first core's place"
    );
    assert_eq!(cpus("memory.scaling.threads.49")[47..], [47.0, 48.0], "its second hardware thread");
    assert_eq!(cpus("memory.scaling.packed.4"), [0.0, 48.0, 1.0, 49.0]);

    // Each node's region holds the most that a point needs from it.
    let setup = setup(&plan);
    assert_eq!(setup.nodes.iter().map(|need| need.node).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(setup.nodes[0].cores.len(), 24);
    for task in &setup.tasks {
        for (used, need) in task.layout.used.iter().zip(&setup.nodes) {
            assert!(*used <= need.elements, "{}", task.id);
        }
        let bytes = figure(&plan, &task.id).conditions.get(ARRAY_BYTES).unwrap();
        assert_eq!(bytes, (task.layout.elements() as u64 * ELEMENT) as f64, "{}", task.id);
    }
    let task = |id: &str| setup.tasks.iter().find(|task| task.id == id).unwrap();
    let one = &task("memory.scaling.cores.1").layout;
    // More than 4 x (33 MiB of L3 + 1 MiB of L2), on the first node alone.
    assert_eq!(one.used, [memory::sizes::USUAL_ARRAY as usize / 8, 0]);
    let parts = &task("memory.scaling.threads.49").layout.parts;
    let equal: Vec<usize> = parts.iter().map(|part| part.length).collect();
    assert!(equal.iter().max().unwrap() - equal.iter().min().unwrap() <= 64, "equal, whatever the core");
    let taken = &task("memory.scaling.cores.dynamic.49").layout.used;
    assert!(taken[0].abs_diff(taken[1]) <= 64, "24 cores on each node: {taken:?}");
    // The places of cores are wide, those of hardware threads are not.
    assert_eq!(task("memory.scaling.cores.1").threads[0].to_string(), "0,48");
    assert_eq!(task("memory.scaling.threads.1").threads[0].to_string(), "0");
}

#[test]
fn in_less_time_there_are_fewer_points_and_the_telling_ones_stay() {
    let rules = Rules { least: 6, max_time: 29.0, ..options().rules };
    let plan = planned("two_socket_smt_server", &Options { rules, ..options() });
    let counts = counts(&plan, "memory.scaling.threads");
    assert!(counts.len() < 12, "{counts:?}");
    assert!([1, 47, 48, 49, 95, 96].iter().all(|count| counts.contains(count)), "{counts:?}");
}

#[test]
fn without_smt_the_bindings_coincide_and_one_is_measured() {
    let plan = planned("microvm_2cpu", &Options { array_size: Some(1 << 20), ..options() });
    assert_eq!(counts(&plan, "memory.scaling.cores"), [1, 2, 3]);
    assert_eq!(counts(&plan, "memory.scaling.cores.dynamic"), [3]);
    for id in ["memory.scaling.threads", "memory.scaling.packed"] {
        let line = figure(&plan, id);
        assert_eq!(line.status, Status::NotAvailable);
        assert_eq!(line.reason.as_deref(), Some("no SMT is shown: the same as memory.scaling.cores"));
    }
    assert_eq!(plan.suite.figures.len(), 6, "none is measured twice");
    let setup = setup(&plan);
    assert_eq!(setup.nodes.len(), 1);
    assert_eq!(setup.nodes[0].node, None, "with one node there is nothing to bind to");
    assert!(setup.tasks.iter().all(|task| task.turns == (task.threads.len() == 3)));
}

#[test]
fn a_hybrid_laptop_has_a_curve_for_each_kind() {
    let laptop = |class: Option<&str>| {
        let mut machine = synthetic::named("hybrid_laptop");
        core_kind::choose(&mut machine, class, &[]).unwrap();
        plan(&machine, &Options { class: class.map(str::to_owned), ..options() }).unwrap()
    };
    let default = laptop(None);
    // Two cores of two hardware threads, eight of one.
    assert_eq!(counts(&default, "memory.scaling.performance.threads"), [1, 2, 3, 4]);
    assert_eq!(counts(&default, "memory.scaling.performance.cores.dynamic"), [3]);
    assert_eq!(counts(&default, "memory.scaling.efficiency.cores"), (1..=9).collect::<Vec<_>>());
    let reason = figure(&default, "memory.scaling.efficiency.packed").reason.clone().unwrap();
    assert_eq!(reason, "no SMT is shown: the same as memory.scaling.efficiency.cores");
    let cpus = |plan: &Planned<Setup>, id: &str| figure(plan, id).conditions.get(CPUS).unwrap();
    assert_eq!(cpus(&default, "memory.scaling.performance.threads.3"), [0.0, 2.0, 1.0]);
    assert_eq!(cpus(&default, "memory.scaling.efficiency.cores.2"), [4.0, 5.0]);
    assert!(default.suite.figures.iter().all(|figure| !figure.id.contains(".all.")));

    let all = laptop(Some(core_kind::ALL));
    assert_eq!(counts(&all, "memory.scaling.performance.threads"), [1, 2, 3, 4]);
    assert_eq!(
        counts(&all, "memory.scaling.all.threads"),
        [1, 2, 9, 10, 11, 12],
        "the time is divided by three"
    );
    assert_eq!(counts(&all, "memory.scaling.all.cores.dynamic"), [9, 10, 11, 12], "on two kinds");
    assert_eq!(cpus(&all, "memory.scaling.all.threads.12")[..3], [0.0, 2.0, 4.0]);
    assert_eq!(
        cpus(&all, "memory.scaling.all.threads.12")[10..],
        [1.0, 3.0],
        "second hardware threads come last"
    );
    let slow = laptop(Some("efficiency"));
    assert!(slow.suite.figures.iter().all(|figure| figure.id.starts_with("memory.scaling.efficiency")));
}

#[test]
fn a_container_stays_within_its_mask_and_its_memory() {
    // CPUs 0 to 3 of 16: one hardware thread of each of four cores; 1 GiB is left to the group.
    let plan = planned("container_quota", &options());
    assert_eq!(counts(&plan, "memory.scaling.cores"), [1, 2, 3, 4, 5]);
    let reason = figure(&plan, "memory.scaling.packed").reason.clone().unwrap();
    assert!(reason.contains("only one hardware thread of each core may be used"), "{reason}");
    let bytes: usize = setup(&plan).nodes.iter().map(|need| 3 * 8 * need.elements).sum();
    assert!(bytes < 1 << 30, "{bytes}");
}

#[test]
fn nodes_that_share_a_socket_have_regions_of_their_own() {
    let plan = planned("sub_numa_clusters", &options());
    let setup = setup(&plan);
    let nodes: Vec<_> = setup.nodes.iter().map(|need| need.node).collect();
    assert_eq!(nodes, [Some(0), Some(1), Some(2), Some(3)]);
    let all = setup.tasks.iter().find(|task| task.id == "memory.scaling.cores.32").unwrap();
    assert!(all.layout.used.iter().all(|used| *used == all.layout.used[0]), "{:?}", all.layout.used);
    // Memory of a node without CPUs is no thread's own.
    let near = self::setup(&planned("memory_only_node", &options()));
    assert_eq!(near.nodes.len(), 1);
    assert_eq!(near.nodes[0].node, Some(0), "far memory is excluded");
}

#[test]
fn every_machine_can_be_planned() {
    for (name, _) in synthetic::ALL {
        let machine = synthetic::named(name);
        match plan(&machine, &options()) {
            Ok(plan) => {
                let figures = &plan.suite.figures;
                let ids: std::collections::BTreeSet<_> = figures.iter().map(|figure| &figure.id).collect();
                assert_eq!(ids.len(), figures.len(), "{name}: an id twice");
                assert!(!setup(&plan).tasks.is_empty(), "{name}");
                assert!(figures.len() < 100, "{name}: {}", figures.len());
            }
            Err(error) => assert!(matches!(error, PlanError::Placement(_)), "{name}: {error}"),
        }
    }
}

#[test]
fn options_are_honoured() {
    let dynamic = planned("microvm_2cpu", &Options { schedule: Some(Schedule::Dynamic), ..options() });
    assert_eq!(counts(&dynamic, "memory.scaling.cores.dynamic"), [1, 2, 3]);
    assert_eq!(counts(&dynamic, "memory.scaling.cores"), [0; 0]);
    let fixed = planned("microvm_2cpu", &Options { schedule: Some(Schedule::Static), ..options() });
    let schedules = fixed.suite.figures.iter().filter_map(|figure| figure.conditions.get(SCHEDULE));
    assert_eq!(schedules.collect::<Vec<_>>(), ["static"; 3]);
    let more = planned("microvm_2cpu", &Options { threads: Some(4), ..options() });
    assert_eq!(counts(&more, "memory.scaling.cores"), [1, 2, 3, 4]);
    let some = Options { places: "0,48,1".parse().unwrap(), ..options() };
    let some = planned("two_socket_smt_server", &some);
    assert_eq!(counts(&some, "memory.scaling.threads"), [1, 2, 3]);
    let kernels = Options { kernels: vec!["copy".into(), "read".into()], ..options() };
    let kernels = planned("microvm_2cpu", &kernels);
    assert_eq!(counts(&kernels, "memory.scaling.copy.cores"), [1, 2, 3]);
    assert_eq!(counts(&kernels, "memory.scaling.read.cores"), [1, 2, 3]);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let machine = synthetic::named("two_socket_smt_server");
    let refused = |options: Options| plan(&machine, &options).unwrap_err().to_string();
    let update = vec!["update".to_owned()];
    for (error, part) in [
        (refused(Options { threads: Some(0), ..options() }), "--threads 0"),
        (refused(Options { threads: Some(1 << 20), ..options() }), "at most"),
        (refused(Options { places: "500".parse().unwrap(), ..options() }), "CPU 500 does not exist"),
        (refused(Options { kernels: vec!["fma".into()], ..options() }), "--kernel 'fma'"),
        (
            refused(Options { kernels: update, stores: Some(Stores::Nt), ..options() }),
            "there is no such figure",
        ),
        (refused(Options { array_size: Some(1 << 40), ..options() }), "give at most"),
        // Three such arrays fit in 380 GiB; three on each of two nodes of 192 GiB do not.
        (refused(Options { array_size: Some(12 << 30), ..options() }), "on 2 nodes"),
    ] {
        assert!(error.contains(part) && error.lines().count() == 1, "{part}: {error}");
    }
}

#[test]
fn short_memory_is_named_where_it_made_arrays_smaller() {
    let limited = |name: &str| {
        let figures = planned(name, &options()).suite.figures;
        let some = figures.into_iter().filter(|figure| figure.status != Status::NotAvailable);
        some.map(|figure| figure.evidence.get(MEMORY_LIMITED_BY).into_value().unwrap()).collect::<Vec<_>>()
    };
    // 1.9 GiB for each array, and some 1.3 GiB to have.
    let short = limited("microvm_2cpu");
    assert!(short.iter().all(|limit| limit.contains("do not fit")), "{short:?}");
    assert!(limited("two_socket_smt_server").iter().all(String::is_empty));
}
