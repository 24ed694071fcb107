//! Memory: enough, large enough, there, where it should be.

use figure::Outcome::*;
use figure::evidence::*;
use figure::host::{MemoryKind, Node, NodeKind};
use figure::series::CoordinateValue;
use figure::{Reading, Unit};
use serde_json::json;

use crate::build::{Case, MIB, ROUND_SECONDS, at, hand_over, is_blind, quiet_vm, says, server, setting};
use crate::records::{Build, in_role};

#[test]
fn verified_results() {
    assert_eq!(quiet_vm().says("verified"), Pass);
    assert_eq!(quiet_vm().with(VERIFIED, false).says("verified"), Fail);
    is_blind(&quiet_vm().unknown(VERIFIED, "the worker died"), "verified");
    assert_eq!(quiet_vm().without(VERIFIED).says("verified"), Unknown);
    let in_cache = || quiet_vm().without(ARRAY_BYTES).with(WORKING_SET, 24e3);
    assert_eq!(in_cache().says("verified"), Pass);
    assert_eq!(in_cache().with(VERIFIED, false).says("verified"), Fail);
    assert_eq!(in_cache().without(VERIFIED).says("verified"), Unknown);
    assert_eq!(hand_over(80.0).answer("verified"), None, "lines that are handed over have their own proof");
}

#[test]
fn debug_builds_matter_where_the_compiler_chose_the_code() {
    let debug = |simd: &str| {
        let mut case = quiet_vm().with(SIMD, simd.into());
        case.0.tool.build = "debug, rustc 1.90".into();
        case
    };
    assert_eq!(debug("avx512").answer("debug-build"), None);
    assert_eq!(debug("compiler").says("debug-build"), Fail);
    assert_eq!(debug("portable").says("debug-build"), Fail);
    assert_eq!(quiet_vm().with(SIMD, "compiler".into()).says("debug-build"), Pass);
}

fn arrays(mib: f64) -> Case {
    quiet_vm().with(ARRAY_BYTES, mib * MIB)
}

#[test]
fn arrays_are_four_times_the_caches() {
    for (mib, times, outcome) in [(256.0, 4.0, Pass), (255.0, 3.984, Fail), (10.0, 0.156, Fail)] {
        let expected = json!({"times": times, "caches": 64.0 * MIB, "basis": "one L3", "limit": null});
        assert_eq!(arrays(mib).case("array-size", "array-size", expected).outcome, outcome, "{mib} MiB");
    }
    assert!(arrays(10.0).answer("array-size").unwrap().fix.unwrap().contains("--array-size 269MB"));
    assert_eq!(arrays(10.0).answer("memory-limit").unwrap().outcome, Pass, "the user chose them");
}

#[test]
fn points_of_a_ladder_are_in_cache_by_design() {
    let at = CoordinateValue::Number(1e6);
    let point = arrays(1.0).change(|figure| figure.at("suite.sizes", "array", at, Some(Unit::BYTES)));
    assert_eq!(point.says("array-size"), Fail, "its last point may stand for memory");
    assert_eq!(point.with(WORKING_SET, MIB).answer("array-size"), None);
}

#[test]
fn an_experiment_overrules_the_sizes_that_are_shown() {
    let check = "array-size";
    // Twice 64 MiB of shown caches.
    let doubled = |values: &[f64]| {
        let small = arrays(128.0).values(&[20.0; 8]);
        let large = in_role(small.0.figures[0].clone(), "doubled").values(values);
        small.and(large.with(ARRAY_BYTES, 256.0 * MIB))
    };
    assert_eq!(doubled(&[20.0; 8]).case(check, "doubled", json!({})).outcome, Pass);
    assert_eq!(doubled(&[15.0; 8]).case(check, "doubled", json!({})).outcome, Fail);
    assert_eq!(doubled(&[19.0; 8]).says(check), Warn);
    is_blind(&doubled(&[18.0, 22.0, 18.5, 21.0, 19.0, 20.0, 18.2, 21.5]), check);
    let measured = |mib: f64| arrays(128.0).with(CACHE_MEASURED, mib * MIB);
    let values = json!({"times": 4.0, "measured": 32.0 * MIB, "shown": 64.0 * MIB});
    assert_eq!(measured(32.0).case(check, "array-measured", values).outcome, Pass);
    assert_eq!(measured(33.0).case(check, "array-size", json!({"measured": 33.0 * MIB})).outcome, Fail);
    // Both fit into the cache: as fast proves nothing.
    let within = |mib: f64| {
        let small = arrays(mib).values(&[20.0; 8]);
        let large = in_role(small.0.figures[0].clone(), "doubled").values(&[20.0; 8]);
        small.and(large.with(ARRAY_BYTES, 2.0 * mib * MIB).with(DATA_TOUCHED, 6.0 * mib * MIB))
    };
    for (mib, outcome) in [(2.0, Fail), (10.0, Fail), (11.0, Pass), (40.0, Pass)] {
        assert_eq!(within(mib).says(check), outcome, "{mib} MiB");
    }
    is_blind(&within(40.0).unknown(LLC_BYTES, "hidden"), check);
    // A hidden cache, found by a measurement.
    let hidden = |mib: f64| arrays(256.0).with(CACHE_MEASURED, mib * MIB);
    assert_eq!((hidden(256.0).says(check), hidden(257.0).says(check)), (Pass, Fail));
    // A hidden cache, found by arrays that are four times those that are shown.
    let large = |values: &[f64]| {
        let single = arrays(256.0).values(&[20.0; 8]);
        let doubled = in_role(single.0.figures[0].clone(), "doubled").values(values);
        single.and(doubled.with(ARRAY_BYTES, 512.0 * MIB))
    };
    assert_eq!(large(&[15.0; 8]).case(check, "doubled", json!({})).outcome, Fail);
    assert_eq!(large(&[20.0; 8]).case(check, "array-size", json!({"times": 4.0})).outcome, Pass);
}

#[test]
fn a_limit_is_no_defect_where_an_experiment_says_that_arrays_are_large_enough() {
    let limited = |mib: f64| {
        let limit = "2 GB of memory".to_owned();
        arrays(128.0).with(CACHE_MEASURED, mib * MIB).with(MEMORY_LIMITED_BY, limit).says("memory-limit")
    };
    assert_eq!((limited(32.0), limited(33.0)), (Pass, Fail));
}

#[test]
fn hidden_caches_are_essential_unless_arrays_were_doubled() {
    let mut hidden = quiet_vm().unknown(LLC_BYTES, "no cache is shown");
    is_blind(&hidden, "array-size");
    assert_eq!(quiet_vm().with(LLC_BYTES, 0.0).says("array-size"), Unknown);
    let doubled = in_role(hidden.figure().clone(), "doubled");
    hidden = hidden.and(doubled.with(ARRAY_BYTES, 1024.0 * MIB).with(DATA_TOUCHED, 3072.0 * MIB));
    hidden.case("array-size", "doubled", json!({"ratio": {"value": 1.0}}));
    hidden.0.figures[1].value = None;
    is_blind(&hidden, "array-size");
}

#[test]
fn short_memory_is_the_cause_of_small_arrays() {
    let short = arrays(100.0).with(MEMORY_LIMITED_BY, "memory.max of /box".into());
    assert_eq!((short.says("memory-limit"), short.says("array-size")), (Fail, Fail));
    short.case("array-size", "array-size", json!({"limit": "memory.max of /box"}));
    short.case("memory-limit", "arrays-reduced", json!({"limit": "memory.max of /box"}));
    assert_eq!(short.judged().1[0], "memory-limit");
    let enough = arrays(300.0).with(MEMORY_LIMITED_BY, "memory.max of /box".into());
    assert_eq!(enough.says("memory-limit"), Pass);
    assert_eq!(enough.unknown(LLC_BYTES, "hidden").says("memory-limit"), Warn);
}

#[test]
fn memory_limits_met() {
    at("memory-limit", |events| quiet_vm().with(CGROUP_MEMORY_EVENTS, events), [0.0, 1.0], [Pass, Warn]);
    assert_eq!(quiet_vm().says("memory-limit"), Pass, "no group has a limit");
    let limited = quiet_vm().machine(|machine| machine.cgroup.levels[0].memory_limit = Some(1 << 30));
    assert_eq!(limited.says("memory-limit"), Unknown);
    assert_eq!(quiet_vm().unknown(MEMORY_LIMITED_BY, "x").says("memory-limit"), Unknown);
}

#[test]
fn swapping_counts_by_what_it_costs() {
    let swapping = || quiet_vm().with(VM_SWAPPED, 5000.0);
    assert_eq!(quiet_vm().says("swap"), Pass);
    assert_eq!(swapping().says("swap"), Pass, "no thread waited for it");
    at("swap", |share| swapping().of_time(PSI_MEMORY, share), [0.021, 0.101], [Warn, Fail]);
    assert_eq!(swapping().unknown(PSI_MEMORY, "no PSI").says("swap"), Fail, "0.5 s a round, estimated");
    assert_eq!(quiet_vm().with(VM_SWAPPED, 5.0).unknown(PSI_MEMORY, "no PSI").says("swap"), Pass);
    assert_eq!(quiet_vm().with(VM_DIRECT_SCAN, 2e4).unknown(PSI_MEMORY, "no PSI").says("swap"), Warn);
    assert_eq!(quiet_vm().unknown(VM_SWAPPED, "no vmstat").says("swap"), Unknown);
}

#[test]
fn memory_is_touched_first() {
    let resident = |share| quiet_vm().with(MEMORY_RESIDENT, share);
    at("first-touch", resident, [0.995, 0.985, 0.94], [Pass, Warn, Fail]);
    assert_eq!(quiet_vm().with(MEMORY_NONZERO, false).says("first-touch"), Fail);
    assert_eq!(quiet_vm().unknown(MEMORY_NONZERO, "x").says("first-touch"), Unknown);
    is_blind(&quiet_vm().unknown(MEMORY_RESIDENT, "no smaps"), "first-touch");
}

#[test]
fn pages_asked_for_and_obtained() {
    let pages = |asked: &str, share| quiet_vm().with(PAGES_ASKED, asked.into()).with(PAGES_HUGE_SHARE, share);
    at("page-size", |share| pages("default", share), [0.0, 0.6], [Pass, Pass]);
    at("page-size", |share| pages("small", share), [0.0, 0.09, 0.11, 0.6], [Pass, Pass, Warn, Fail]);
    for asked in ["thp", "huge2m"] {
        at("page-size", |share| pages(asked, share), [1.0, 0.91, 0.89, 0.49], [Pass, Pass, Warn, Fail]);
    }
    let sized = |mib| pages("huge1g", 1.0).with(PAGES_SIZE, mib * MIB);
    at("page-size", sized, [2.0, 1024.0], [Fail, Pass]);
    let essential = |asked| {
        let answer = pages(asked, 1.0).unknown(PAGES_HUGE_SHARE, "no smaps").answer("page-size").unwrap();
        assert_eq!(answer.outcome, Unknown);
        answer.essential
    };
    assert!(essential("thp") && !essential("default"));
}

#[test]
fn one_node_has_no_numa_troubles() {
    for check in ["numa-balancing", "numa-placement"] {
        assert_eq!(quiet_vm().says(check), Pass, "{check}");
        assert_eq!(quiet_vm().unknown(NUMA_LOCAL_SHARE, "EPERM").says(check), Pass, "{check}");
    }
}

#[test]
fn numa_balancing_by_the_pages_moved() {
    let moved_for = |seconds: f64| server().with(VM_NUMA_MIGRATED, seconds / 1e-5);
    let cpus = server().0.figures[0].conditions.get(CPUS).unwrap().len() as f64;
    let moved = |share: f64| moved_for(share * cpus * ROUND_SECONDS);
    // Of the whole machine: what other CPUs move takes nothing from these, unless one thread fell behind.
    assert_eq!(moved_for(0.5 * ROUND_SECONDS).says("numa-balancing"), Pass);
    let behind = moved_for(0.5 * ROUND_SECONDS).of_time(RUN_DELAY_WORST, 0.2);
    assert_eq!(behind.says("numa-balancing"), Fail);
    at("numa-balancing", moved, [0.0, 0.019, 0.021, 0.101], [Pass, Pass, Warn, Fail]);
    assert_eq!(server().unknown(VM_NUMA_MIGRATED, "not built in").says("numa-balancing"), Unknown);
}

#[test]
fn numa_placement_by_the_share_that_is_local() {
    let local = |share| server().with(NUMA_LOCAL_SHARE, share);
    at("numa-placement", local, [0.96, 0.94, 0.79], [Pass, Warn, Fail]);
    assert_eq!(server().unknown(NUMA_LOCAL_SHARE, "EPERM").says("numa-placement"), Unknown);
    // One thread of 48 with all its memory remote: 2 % of the pages, and everybody waits.
    let one = local(1.0 - 1.0 / 48.0).with(THREAD_SECONDS_MAX, 0.0395 / 0.6);
    assert_eq!(one.says("numa-placement"), Fail);
    assert_eq!(one.judged().1[0], "numa-placement");
}

/// The server with 256 GiB behind CXL on node 2, and this share of the pages there.
pub fn tiered(share: f64) -> Case {
    let case = server().machine(|machine| {
        let basis = "CXL region0".to_owned();
        let kind = Some(Reading::Value(NodeKind { memory: MemoryKind::Cxl, basis }));
        machine.numa.nodes.push(Node { node: 2, kind, ..Node::default() });
    });
    case.with(NUMA_LOCAL_SHARE, 1.0 - share).with(NUMA_SHARES, vec![0.5 - share, 0.5, share])
}

#[test]
fn pages_on_a_node_without_cpus_are_named() {
    at("numa-placement", tiered, [0.04, 0.06, 0.21], [Pass, Warn, Fail]);
    let values = |demotes| json!({"share": 0.3, "node": 2, "memory": "CXL memory", "demotes": demotes});
    tiered(0.3).case("numa-placement", "pages-without-cpus", values(false));
    let demoting =
        |case: Case| case.machine(|machine| machine.kernel.settings.push(setting("numa_demotion", "true")));
    demoting(tiered(0.3)).case("numa-placement", "pages-without-cpus", values(true));
    // Most of what is remote is on the other package.
    let other = tiered(0.3).with(NUMA_SHARES, vec![0.2, 0.7, 0.1]);
    other.case("numa-placement", "remote-pages", json!({"share": 0.3}));
    // Two packages, as most servers have: nothing is said of tiers.
    server().with(NUMA_LOCAL_SHARE, 0.7).with(NUMA_SHARES, vec![0.2, 0.8]).case(
        "numa-placement",
        "remote-pages",
        json!({"share": 0.3}),
    );
}

#[test]
fn pages_that_a_policy_places_must_be_where_it_says() {
    let under = |policy: &str, shares: [f64; 2]| {
        let policy = policy.to_owned();
        let case = server().machine(|machine| {
            machine.numa.policy = Some(policy.clone());
            machine.kernel.settings.push(setting("weighted_interleave", "node0=4 node1=1"));
        });
        case.with(MEMORY_POLICY, policy).with(NUMA_LOCAL_SHARE, 0.5).with(NUMA_SHARES, shares.to_vec())
    };
    says(
        "numa-placement",
        [
            ("by weight", under("weighted interleave:0-1", [0.78, 0.22]), Pass),
            ("not by weight", under("weighted interleave:0-1", [0.5, 0.5]), Fail),
            ("in turns", under("interleave:0-1", [0.52, 0.48]), Pass),
            ("not quite in turns", under("interleave:0-1", [0.7, 0.3]), Warn),
            ("on one node", under("bind:1", [0.0, 1.0]), Pass),
            ("on the other", under("bind:1", [1.0, 0.0]), Fail),
            ("a policy that says nothing", under("local", [0.5, 0.5]), Fail),
        ],
    );
    let values = json!({"elsewhere": 0.3, "nodes": [{"share": 0.5, "node": 0}, {"share": 0.5, "node": 1}]});
    under("weighted interleave:0-1", [0.5, 0.5]).case("numa-placement", "pages-by-policy", values);
    let blind = under("interleave:0-1", [0.5, 0.5]).unknown(NUMA_SHARES, "EPERM");
    assert_eq!(blind.says("numa-placement"), Unknown);
}

#[test]
fn demotion_moves_pages_too() {
    let moved = |pages: f64| server().with(VM_DEMOTED, pages);
    let cpus = server().0.figures[0].conditions.get(CPUS).unwrap().len() as f64;
    let enough = 0.05 * cpus * ROUND_SECONDS / 1e-5;
    at("numa-balancing", |share| moved(share * enough), [0.0, 1.0], [Pass, Warn]);
    let rounds = server().0.figures[0].used_rounds().count() as f64;
    moved(1e6).case("numa-balancing", "pages-moved", json!({"demoted": 1e6 * rounds}));
}

#[test]
fn memory_bound_to_a_node_must_lie_there() {
    // Remote to its threads, as the figure's name says: only the node counts.
    let bound =
        |share| server().with(NUMA_LOCAL_SHARE, 0.0).with(NODE_OF_MEMORY, 1.0).with(NUMA_NODE_SHARE, share);
    at("numa-placement", bound, [1.0, 0.98], [Pass, Warn]);
    let moved = bound(0.5);
    assert_eq!(moved.judged().1[0], "numa-placement");
    let answer = moved.case("numa-placement", "pages-on-node", json!({"share": 0.5, "node": 1}));
    assert_eq!(answer.outcome, Fail);
    is_blind(&bound(1.0).unknown(NUMA_NODE_SHARE, "EPERM"), "numa-placement");
    let one = quiet_vm().with(NODE_OF_MEMORY, 0.0).unknown(NUMA_NODE_SHARE, "EPERM");
    assert_eq!(one.says("numa-placement"), Pass);
}

#[test]
fn memory_errors() {
    assert_eq!(server().says("memory-errors"), Pass);
    assert_eq!(server().in_first(1, EDAC_CORRECTED, 1.0).says("memory-errors"), Warn);
    assert_eq!(server().with(EDAC_CORRECTED, 10.0 * ROUND_SECONDS).says("memory-errors"), Fail);
    assert_eq!(quiet_vm().says("memory-errors"), Unknown);
}

#[test]
fn faults_by_the_time_they_take() {
    // Two CPUs: 1 s of CPU time a round, so that a fault of 1 us is 1e-6 of it.
    let minor = |faults| quiet_vm().with(FAULT_MINOR, faults);
    at("faults", minor, [9_900.0, 10_100.0, 51_000.0], [Pass, Warn, Fail]);
    assert_eq!(minor(300.0).with(PAGES_HUGE_SHARE, 1.0).says("faults"), Fail, "300 huge pages cleared");
    assert_eq!(quiet_vm().in_first(1, FAULT_MAJOR, 1.0).says("faults"), Pass);
    at("faults", |faults| quiet_vm().with(FAULT_MAJOR, faults), [6.0, 26.0], [Warn, Fail]);
    is_blind(&quiet_vm().unknown(FAULT_MINOR, "x"), "faults");
}
