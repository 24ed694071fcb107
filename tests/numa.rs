//! `truebench memory numa` on the machine that there is, whatever its nodes.

use figure::{Outcome, Status, evidence};

use crate::bench::{record, run, stderr, stdout};

/// Far too small, which is judged and is not what is tested.
const SMALL: &[&str] = &["memory", "numa", "--array-size", "200000", "--rounds", "6"];

#[test]
fn every_node_that_can_be_measured_is_and_the_others_say_why() {
    let record = record(&run(&[SMALL, &["--format", "json"]].concat()));
    let one = record.machine.numa.nodes.len() <= 1;
    for series in ["memory.numa.bandwidth", "memory.numa.latency"] {
        let cells: Vec<_> =
            record.figures.iter().filter(|figure| figure.series.as_deref() == Some(series)).collect();
        assert!(cells.iter().all(|cell| cell.at.contains_key("cpu") && cell.at.contains_key("memory")));
        assert!(cells.iter().any(|cell| cell.status == Status::Measured), "{series}");
        for cell in cells {
            match cell.status {
                Status::Measured => {
                    assert_eq!(cell.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{}", cell.id);
                    assert!(
                        cell.evidence.get(evidence::NUMA_NODE_SHARE).into_value().is_none_or(|s| s > 0.99)
                    );
                    let check = cell.checks.iter().find(|check| check.id == "numa-placement").unwrap();
                    assert_ne!(check.outcome, Outcome::Fail, "{}", check.detail);
                    assert!(cell.used_rounds().count() == 6 && cell.why().is_some(), "{}", cell.id);
                }
                status => assert!(status == Status::NotAvailable && cell.reason.is_some(), "{}", cell.id),
            }
        }
        let remote = record.figure(&format!("{series}.remote"));
        assert_eq!(remote.is_some_and(|figure| figure.status == Status::NotAvailable), one, "{series}");
    }
}

#[test]
fn a_plan_names_nodes_threads_and_sizes() {
    let text = stdout(&run(&[SMALL, &["--dry-run"]].concat()));
    for part in ["from node to node", "memory.numa.latency.", "an array and a chain of 1.5 MiB each"] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
}

#[test]
fn wrong_nodes_and_sizes_are_reported_in_one_line() {
    for (arguments, part) in [
        (&["memory", "numa", "--nodes", "1000"][..], "--nodes 1000: no NUMA node 1000"),
        (&["memory", "numa", "--nodes=0", "--array-size=9999G"], "do not fit on node 0"),
        (&["memory", "numa", "--nodes=0", "--array-size=3"], "at least"),
        (&["memory", "numa", "--nodes=0", "--places=9999"], "CPU 9999"),
        (&["memory", "numa", "--nodes", "x"], "0-1,3"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

/// Two packages, two nodes with CPUs and one without; packages, nodes and distances as QEMU takes them. Rows differ, so that no two of them can be taken for one another.
#[cfg(target_arch = "x86_64")]
const MACHINE: &[&str] = &[
    "-smp",
    "4,sockets=2,cores=2,threads=1",
    "-m",
    "1408M",
    "-object",
    "memory-backend-ram,id=m0,size=704M",
    "-object",
    "memory-backend-ram,id=m1,size=512M",
    "-object",
    "memory-backend-ram,id=m2,size=192M",
    "-numa",
    "node,nodeid=0,cpus=0-1,memdev=m0",
    "-numa",
    "node,nodeid=1,cpus=2-3,memdev=m1",
    "-numa",
    "node,nodeid=2,memdev=m2",
    "-numa",
    "dist,src=0,dst=1,val=21",
    "-numa",
    "dist,src=0,dst=2,val=28",
    "-numa",
    "dist,src=1,dst=2,val=17",
];

/// Runs of truebench in a guest of two packages and three nodes.
///
/// `moved` plants the defect for real: when its worker has bound memory to node 1, its cpuset is narrowed to node 0, and the
/// kernel moves all its pages there (cgroup-v2.rst, cpuset.mems).
#[cfg(target_arch = "x86_64")]
const SCRIPT: &str = "
numa='memory numa --array-size 1MiB --rounds 6'
run host truebench host
run matrix truebench $numa --format json
run masked taskset 3 truebench memory numa --dry-run
run missing truebench memory numa --nodes 0,7
run far truebench memory numa --nodes 2 --dry-run

group=/sys/fs/cgroup/box
mkdir $group
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
sh -c \"echo \\$\\$ >$group/cgroup.procs; exec truebench $numa --nodes 0-1 --format json\" >/tmp/out 2>/tmp/err &
until grep -q 'bind:1 .*N1=' /proc/[0-9]*/numa_maps 2>/dev/null; do
    kill -0 $! || break
done
echo 0 >$group/cpuset.mems
wait $!
tell moved $?

# The same by the file that users have, and its twin without it.
run planted truebench selftest memory/wrong-node --format json

# Pages that NUMA balancing takes away.
run balanced truebench selftest faults/numa-balanced --all --format json
";

#[cfg(target_arch = "x86_64")]
#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn two_packages_and_a_memory_only_node() {
    use figure::{Record, Verdict};
    let guest = crate::guest::Guest::run(MACHINE, SCRIPT);

    let host = guest.ran("host");
    assert_eq!(host.code, 0, "{}", host.stderr);
    for part in ["2 packages × 2 cores", "package 0 · node 0", "package 1 · node 1", "2  no CPU"] {
        assert!(host.stdout.contains(part), "no '{part}' in: {}", host.stdout);
    }
    let ran = guest.ran("matrix");
    let record: Record = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let packages: std::collections::BTreeSet<_> =
        record.machine.topology.cpus.iter().map(|cpu| cpu.package).collect();
    assert_eq!((packages.len(), record.machine.numa.nodes.len()), (2, 3));
    assert!(record.machine.numa.nodes[2].cpus.is_empty());

    let labels = [
        ("0.0", "local", 10.0),
        ("0.1", "other-package", 21.0),
        ("0.2", "memory-only", 28.0),
        ("1.0", "other-package", 21.0),
        ("1.1", "local", 10.0),
        ("1.2", "memory-only", 17.0),
    ];
    for series in ["memory.numa.bandwidth", "memory.numa.latency"] {
        for (cell, relation, distance) in labels {
            let id = format!("{series}.{cell}");
            let figure = record.figure(&id).unwrap_or_else(|| panic!("no {id}"));
            assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
            assert_eq!(figure.used_rounds().count(), 6, "{id}");
            assert_eq!(figure.conditions.get(evidence::NODE_RELATION).as_deref(), Some(relation), "{id}");
            assert_eq!(figure.conditions.get(evidence::NODE_DISTANCE), Some(distance), "{id}");
            assert_eq!(figure.evidence.get(evidence::NUMA_NODE_SHARE).into_value(), Some(1.0), "{id}");
            assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{id}");
            let placed = figure.checks.iter().find(|check| check.id == "numa-placement").unwrap();
            assert_eq!(placed.outcome, Outcome::Pass, "{id}: {}", placed.detail);
        }
    }
    assert_eq!(record.figures.len(), 12, "a memory-only node has no row, and something remote there is");

    let masked = guest.ran("masked");
    assert_eq!(masked.code, 0, "{}", masked.stderr);
    let why = "the CPUs of node 1 (2-3) are outside the affinity mask";
    // Reported once if the next ones are the same.
    assert_eq!(masked.stdout.matches(why).count(), 1, "{}", masked.stdout);
    assert_eq!(masked.stdout.matches("not available: as above").count(), 5, "{}", masked.stdout);
    let missing = guest.ran("missing");
    assert_eq!((missing.code, missing.stderr.lines().count()), (2, 1), "{}", missing.stderr);
    assert!(missing.stderr.contains("no NUMA node 7: there are 0-2"), "{}", missing.stderr);
    let far = guest.ran("far").stdout;
    assert!(far.contains("latency.0.2") && far.contains("latency.1.2") && !far.contains(".0.1"), "{far}");

    let ran = guest.ran("moved");
    let moved: Record = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    for cell in ["0.1", "1.1"] {
        let figure = moved.figure(&format!("memory.numa.latency.{cell}")).unwrap();
        assert_eq!(figure.evidence.get(evidence::NUMA_NODE_SHARE).into_value(), Some(0.0), "{cell}");
        assert_eq!(figure.verdict, Some(Verdict::Invalid));
        let placed = figure.checks.iter().find(|check| check.id == "numa-placement").unwrap();
        assert_eq!(placed.outcome, Outcome::Fail, "{cell}: {}", placed.detail);
    }

    for defect in ["planted", "balanced"] {
        let ran = guest.ran(defect);
        let table: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let row = &table["rows"][0];
        let tally = (&row["first"], &row["clean"], &row["alarms"]);
        assert_eq!(tally, (&1.into(), &1.into(), &0.into()), "{row:#}");
    }
}
