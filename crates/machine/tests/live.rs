//! The machine that runs the tests.

use machine::{Overrides, Tree, describe, notes};

#[test]
fn this_machine_is_described() {
    let machine = describe(&Tree::live(), &Overrides::default());
    assert!(!machine.topology.online.is_empty());
    assert!(machine.topology.allowed.is_subset(&machine.topology.online));
    assert_eq!(machine.topology.cpus.len(), machine.topology.online.len());
    assert!(*machine.memory.total.value().unwrap() > 0);
    // Every CPU has a cache, or the description has a reason.
    assert!(!machine.caches.instances.is_empty() || machine.caches.unknown.is_some());
    for note in notes(&machine) {
        assert!(!note.about.is_empty() && note.reason.len() > 20, "{note:?}");
    }
}
