//! The kinds of core, of synthetic machines and of what real ones show.

use figure::Machine;
use machine::{Overrides, Tree, describe, notes, synthetic};

use crate::common::directory;

/// `name: CPUs (part)` of each kind.
fn kinds(machine: &Machine) -> Vec<String> {
    let text = |kind: &figure::host::CoreKind| match &kind.part {
        Some(part) => format!("{}: {} ({part})", kind.name, kind.cpus),
        None => format!("{}: {}", kind.name, kind.cpus),
    };
    machine.topology.cores.kinds.iter().map(text).collect()
}

/// A machine of Arm cores: of each CPU implementer, part, and `cpu_capacity` if it has one.
fn arm(cpus: &[(&str, &str, Option<u32>)]) -> Machine {
    let block = |(cpu, (implementer, part, _)): (usize, &(&str, &str, Option<u32>))| {
        format!("processor\t: {cpu}\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n\n")
    };
    let cpuinfo: String = cpus.iter().enumerate().map(block).collect();
    let capacity = |(cpu, (.., capacity)): (usize, &(&str, &str, Option<u32>))| {
        Some((format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), capacity.as_ref()?.to_string()))
    };
    let capacities = cpus.iter().enumerate().filter_map(capacity);
    of(capacities.chain([("proc/cpuinfo".to_owned(), cpuinfo)]).collect())
}

/// An x86 machine of CPUs 0 to 3 with these files, and with these lines in each block of /proc/cpuinfo.
fn x86(lines: &str, files: &[(&str, &str)]) -> Machine {
    let block = |cpu| format!("processor\t: {cpu}\nflags\t\t: fpu lm\n{lines}\n\n");
    let cpuinfo = (0..4).map(block).collect();
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    of(files.chain([("proc/cpuinfo".to_owned(), cpuinfo)]).collect())
}

fn of(files: Vec<(String, String)>) -> Machine {
    let root = directory();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    describe(&Tree::at(root.path()), &Overrides::default())
}

#[test]
fn intels_kinds_are_those_of_its_pmus_and_low_power_cores_have_no_l3() {
    let alder = synthetic::named("alder_lake_desktop");
    assert_eq!(kinds(&alder), ["performance: 0-15", "efficiency: 16-23"]);
    assert!(alder.topology.cores.is_ranked());
    assert_eq!(alder.cpu(23).unwrap().kind.as_deref(), Some("efficiency"));
    let meteor = synthetic::named("meteor_lake_laptop");
    assert_eq!(kinds(&meteor), ["performance: 0-1,10-15", "efficiency: 2-9", "low-power: 16-17"]);
    // Arrow Lake H has a PMU for its low-power cores; Lunar Lake's four efficiency cores all lack the L3.
    let cache =
        |cpu| (format!("sys/devices/system/cpu/cpu{cpu}/cache/index3"), ["3", "Unified", "12288K", "0-1"]);
    let l3: Vec<(String, String)> = [0, 1]
        .map(cache)
        .into_iter()
        .flat_map(|(directory, texts)| {
            ["level", "type", "size", "shared_cpu_list"]
                .into_iter()
                .zip(texts)
                .map(move |(name, text)| (format!("{directory}/{name}"), text.to_owned()))
        })
        .collect();
    let with_l3 = |pmus: &[(&'static str, &'static str)]| {
        let files: Vec<(&str, &str)> = l3
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .chain(pmus.iter().copied())
            .collect();
        kinds(&x86("vendor_id\t: GenuineIntel", &files))
    };
    let [core, atom, low] =
        ["sys/devices/cpu_core/cpus", "sys/devices/cpu_atom/cpus", "sys/devices/cpu_lowpower/cpus"];
    assert_eq!(
        with_l3(&[(core, "0"), (atom, "1"), (low, "2-3")]),
        ["performance: 0", "efficiency: 1", "low-power: 2-3"]
    );
    assert_eq!(with_l3(&[(core, "0-1"), (atom, "2-3")]), ["performance: 0-1", "efficiency: 2-3"]);
    // A damaged tree cannot put a CPU into two kinds.
    assert_eq!(with_l3(&[(core, "0-1"), (atom, "0-3")]), ["performance: 0-1", "efficiency: 2-3"]);
}

#[test]
fn arms_kinds_are_parts_and_their_capacity_ranks_them() {
    let board = synthetic::named("rk3588_board");
    assert_eq!(kinds(&board), ["performance: 4-7 (Cortex-A76)", "efficiency: 0-3 (Cortex-A55)"]);
    assert_eq!(board.topology.cores.kinds[1].capacity, Some(397));
    assert_eq!(
        kinds(&synthetic::named("four_kinds_phone")),
        [
            "performance: 7 (Cortex-X3)",
            "middle: 3-4 (Cortex-A715)",
            "middle-2: 5-6 (Cortex-A710)",
            "efficiency: 0-2 (Cortex-A510)"
        ]
    );
    // One part at two clocks, as of Snapdragon 865.
    let a77 = |capacity| ("0x41", "0xd0d", Some(capacity));
    let a55 = ("0x41", "0xd05", Some(250));
    assert_eq!(
        kinds(&arm(&[a55, a77(871), a77(871), a77(1024)])),
        ["performance: 3 (Cortex-A77)", "middle: 1-2 (Cortex-A77)", "efficiency: 0 (Cortex-A55)"]
    );
}

#[test]
fn ranks_of_equal_cores_are_no_kinds() {
    // NVIDIA's GB10: capacities by acpi_cppc, of ten Cortex-X925 and ten Cortex-A725.
    let (x925, a725) =
        (|capacity| ("0x41", "0xd85", Some(capacity)), |capacity| ("0x41", "0xd87", Some(capacity)));
    let spark = arm(&[a725(718), x925(997), a725(731), x925(1017), x925(1024)]);
    assert_eq!(kinds(&spark), ["performance: 1,3-4 (Cortex-X925)", "efficiency: 0,2 (Cortex-A725)"]);
    assert_eq!(kinds(&arm(&[x925(997), x925(1024)])), [""; 0]);
    let parts: Vec<String> = (0..9).map(|part| format!("0xe{part:02}")).collect();
    let nine: Vec<_> = parts.iter().map(|part| ("0x41", part.as_str(), None)).collect();
    let damaged = arm(&nine).topology.cores;
    assert!(damaged.kinds.is_empty() && damaged.unknown.is_some(), "{damaged:?}");
}

#[test]
fn without_capacity_the_parts_rank_if_they_are_known() {
    let none = |implementer, part| (implementer, part, None);
    // Apple's M1, and a chip of Cortex-X4, A720 and A520. Where the device tree has none, all capacities are 1024.
    let m1 = [none("0x61", "0x022"), none("0x61", "0x023")];
    assert_eq!(kinds(&arm(&m1)), ["performance: 1 (Firestorm (M1))", "efficiency: 0 (Icestorm (M1))"]);
    let [little, big, prime] = ["0xd80", "0xd81", "0xd82"].map(|part| ("0x41", part, Some(1024)));
    assert_eq!(
        kinds(&arm(&[little, big, prime])),
        ["performance: 2 (Cortex-X4)", "middle: 1 (Cortex-A720)", "efficiency: 0 (Cortex-A520)"]
    );
    // Neither part is known, or both have the same size: which is faster is not known.
    for other in
        [[none("0x61", "0x777"), none("0x61", "0x778")], [none("0x41", "0xd0b"), none("0x41", "0xd41")]]
    {
        let machine = arm(&other);
        assert_eq!(machine.topology.cores.kinds.len(), 2);
        assert!(!machine.topology.cores.is_ranked() && machine.topology.cores.unknown.is_some());
    }
    assert_eq!(
        kinds(&arm(&[none("0x61", "0x777"), none("0x61", "0x778")])),
        ["part 0x61:0x777: 0 (part 0x61:0x777)", "part 0x61:0x778: 1 (part 0x61:0x778)"]
    );
}

#[test]
fn machines_of_one_kind_have_none() {
    for name in ["two_socket_smt_server", "arm_server_with_clusters", "microvm_2cpu", "gvisor_no_caches"] {
        let machine = synthetic::named(name);
        assert!(machine.topology.cores.is_plain(), "{name}: {:?}", machine.topology.cores);
        assert!(machine.topology.cpus.iter().all(|cpu| cpu.kind.is_none()));
    }
    // Guests that got cores of one kind.
    let performance_only = x86("vendor_id\t: GenuineIntel", &[("sys/devices/cpu_core/cpus", "0-3")]);
    let big_only = arm(&[("0x41", "0xd0b", Some(1024)), ("0x41", "0xd0b", Some(1024))]);
    for machine in [performance_only, big_only] {
        assert!(machine.topology.cores.is_plain(), "{:?}", machine.topology.cores);
    }
}

#[test]
fn what_may_be_kinds_is_unknown() {
    let perf = |values: [&'static str; 4]| {
        let path = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/acpi_cppc/highest_perf");
        (0..4).map(path).zip(values).collect::<Vec<_>>()
    };
    let amd = |family: &str, model: &str, values| {
        let files = perf(values);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        let lines = format!("vendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: {model}");
        x86(&lines, &files).topology.cores
    };
    // Zen 5 with preferred cores, or with Zen 5c: nothing in the tree tells.
    let strix = amd("26", "36", ["196", "201", "166", "166"]);
    assert!(strix.kinds.is_empty() && strix.unknown.as_ref().is_some_and(|why| why.contains("166 to 201")));
    assert!(amd("26", "36", ["196"; 4]).is_plain(), "equal ranks");
    assert!(amd("25", "33", ["231", "226", "221", "216"]).is_plain(), "Zen 3 has no dense cores");
    // A captured Alder Lake without its PMUs: caches tell that there are kinds, and not which.
    let caches = ["48K", "48K", "32K", "32K"];
    let files: Vec<(String, String)> = (0..4)
        .zip(caches)
        .flat_map(|(cpu, size)| {
            let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/index0");
            [("level", "1"), ("type", "Data"), ("size", size), ("shared_cpu_list", &cpu.to_string())]
                .map(|(name, text)| (format!("{directory}/{name}"), text.to_owned()))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let machine = x86("vendor_id\t: GenuineIntel", &files);
    assert!(machine.topology.cores.unknown.as_ref().is_some_and(|why| why.contains("32 KiB on CPUs 2-3")));
    assert!(notes(&machine).iter().any(|note| note.about == "kinds of core"));
}
