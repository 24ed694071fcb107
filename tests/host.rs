//! `truebench host`: here, and a captured machine.

use figure::Machine;

use crate::bench::{run, stderr, stdout};

#[test]
fn this_machine_is_described() {
    let text = stdout(&run(&["host"]));
    assert!(text.contains("mislead"), "{text}");
    let machine: Machine = serde_json::from_slice(&run(&["host", "--format", "json"]).stdout).unwrap();
    assert!(!machine.topology.online.is_empty() && !machine.topology.allowed.is_empty());
}

#[test]
fn stated_modules_give_the_peak() {
    let output = run(&["host", "--format", "json", "--dimms", "12x2666"]);
    let machine: Machine = serde_json::from_slice(&output.stdout).unwrap();
    let peak = machine.memory.peak.into_value().unwrap();
    assert_eq!(peak.bytes_per_s, 255_936e6);
}

#[test]
fn a_capture_describes_the_same_machine() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("here.tar.zst");
    let path = file.to_str().unwrap();
    let output = run(&["host", "--capture", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let describe = |arguments: &[&str]| -> Machine {
        let output = run(&[&["host", "--format", "json"], arguments].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)))
    };
    let (here, there) = (describe(&[]), describe(&["--root", path]));
    assert_eq!(here.topology.online, there.topology.online);
    assert_eq!(here.topology.cpus, there.topology.cpus);
    assert_eq!(here.caches.instances, there.caches.instances);
    // What is free changes from moment to moment.
    let nodes = |machine: &Machine| -> Vec<_> {
        let still = |node: &figure::host::Node| figure::host::Node { available: None, ..node.clone() };
        machine.numa.nodes.iter().map(still).collect()
    };
    assert_eq!(nodes(&here), nodes(&there));
    assert_eq!(here.numa.memory_allowed, there.numa.memory_allowed);
    assert_eq!(here.memory.total, there.memory.total);
}

#[test]
fn an_archive_that_is_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.tar.zst");
    std::fs::write(&file, "not an archive").unwrap();
    let output = run(&["host", "--root", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("truebench: --root"), "{}", stderr(&output));
}
