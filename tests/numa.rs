//! `truebench memory --numa` on the machine that there is, whatever its nodes.

use figure::{Outcome, Status, evidence};

use crate::bench::{record, run, stderr, stdout};

/// Far too small, which is judged and is not what is tested.
const SMALL: &[&str] = &["memory", "--numa", "--array-size", "200000", "--rounds", "6"];

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
                    assert!(cell.kept().count() == 6 && cell.why.is_some(), "{}", cell.id);
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
fn wrong_nodes_and_sizes_are_said_in_one_line() {
    for (arguments, part) in [
        (["memory", "--numa", "1000"], "--numa 1000: no NUMA node 1000"),
        (["memory", "--numa=0", "--array-size=9999G"], "do not fit on node 0"),
        (["memory", "--numa=0", "--array-size=3"], "at least"),
        (["memory", "--numa=0", "--places=9999"], "CPU 9999"),
        (["memory", "--numa", "x"], "0-1,3"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}
