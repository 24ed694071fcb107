use figure::Reading;
use figure::host::CgroupLevel;
use lab::schedule::Rules;

use super::*;
use crate::find::Selection;

fn options(rules: Rules) -> Options {
    Options {
        allocators: Selection::default(),
        profile: Profile::named("ithare").unwrap(),
        is_sized: false,
        access: Access::Full,
        threads: vec![1],
        places: None,
        is_compat: false,
        remote: 0.0,
        processes: false,
        siblings: false,
        rules,
    }
}

/// One CPU, with this total and available memory.
fn machine(total: Option<u64>, available: Option<u64>) -> Machine {
    let mut machine = Machine::default();
    machine.topology.online.insert(0);
    machine.topology.allowed.insert(0);
    machine.topology.cpus.push(figure::host::LogicalCpu::default());
    let reading = |bytes| Reading::or_unknown(bytes, "hidden");
    (machine.memory.total, machine.memory.available) = (reading(total), reading(available));
    machine
}

#[test]
fn the_memory_of_a_control_group_bounds_the_load_and_its_stop() {
    let options = options(Rules::exactly(6, f64::MAX));
    assert_eq!(available(&machine(None, None)), f64::MAX);
    let mut machine = machine(None, Some(64 << 30));
    assert_eq!(available(&machine), (64_u64 << 30) as f64);
    let level = |limit, used| CgroupLevel {
        memory_limit: Some(limit),
        memory_used: Some(used),
        ..CgroupLevel::default()
    };
    machine.cgroup.levels = vec![level(512 << 20, 112 << 20), level(2 << 30, 0)];
    let room = (400 << 20) as f64;
    assert_eq!(available(&machine), room);
    assert!(scale(&machine, &options, 1, 1).0.bytes() <= MEMORY_SHARE * room);
    let planned = plan(&machine, &options).unwrap();
    assert_eq!(planned.suite.setup.available, 0.9 * room);
}

/// Slots of the plan, and their limit.
fn planned(machine: &Machine, options: &Options) -> (f64, Option<String>) {
    let figures = plan(machine, options).unwrap().suite.figures;
    let slots = figures[0].conditions.get(key::SLOTS).unwrap();
    assert!(figures.iter().all(|figure| figure.conditions.get(key::SLOTS) == Some(slots)));
    (slots, figures[0].evidence.get(key::MEMORY_LIMITED_BY).into_value())
}

#[test]
fn the_load_is_decided_by_the_machine() {
    let quick = options(Rules { least: 6, most: 12, target: 0.02, max_time: 30.0, repeats: 2 });
    let whole = options(Rules::exactly(6, f64::MAX));
    for options in [&quick, &whole] {
        let slots = |available| planned(&machine(Some(8 << 30), Some(available)), options);
        let free = slots(7 << 30);
        assert_eq!(free.1, None);
        // 0.2 of what is available was below a power of two, and above it a moment later.
        for available in [6 << 30, (6 << 30) + 1, 7 << 30, 8 << 30] {
            assert_eq!(slots(available), free);
        }
        let mut one = options.clone();
        let glibc = Installed { name: "glibc".into(), library: None, version: None, environment: vec![] };
        one.allocators.installed = vec![glibc];
        assert_eq!(planned(&machine(Some(8 << 30), Some(7 << 30)), &one), free, "whatever is installed");
    }
    let scarce = planned(&machine(Some(8 << 30), Some(1 << 30)), &whole);
    assert!(scarce.0 < planned(&machine(Some(8 << 30), Some(7 << 30)), &whole).0);
    assert!(scarce.1.unwrap().contains("1 GiB of memory are available"));
}

#[test]
fn a_preset_has_slots_for_every_thread_of_a_large_machine() {
    let quick = options(Rules { least: 6, most: 12, target: 0.02, max_time: 30.0, repeats: 2 });
    for threads in [1, 2, 4, 96, 1536] {
        let profile = fit_time(&quick, 30, threads);
        assert!(profile.of_thread(threads).is_ok(), "{threads} threads: {} slots", profile.slots);
    }
}
