//! The machine that the tests run on.

use machine::{Asked, Tree, describe, notes};

#[test]
fn this_machine_is_described() {
    let machine = describe(&Tree::live(), &Asked::default());
    println!("{}", serde_json::to_string_pretty(&machine).unwrap());
    for note in notes(&machine) {
        println!("{}: {}\n    {:?}", note.about, note.reason, note.command);
    }
    assert!(!machine.topology.online.is_empty());
    assert!(machine.topology.allowed.is_subset(&machine.topology.online));
    assert_eq!(machine.topology.cpus.len(), machine.topology.online.len());
    assert!(*machine.memory.total.value().unwrap() > 0);
}
