//! Sources that contradict one another are named with the one that is believed. Each tree has a twin without the contradiction.

use std::collections::BTreeSet;
use std::fs;

use figure::Machine;
use machine::synthetic;

use crate::common::{
    CPU, Files, NODE, Write, caches, contradictions, described, file, note, of_cpus, tree, with_line,
};

fn packages(machine: &Machine) -> usize {
    machine.topology.cpus.iter().map(|cpu| cpu.package).collect::<BTreeSet<_>>().len()
}

#[test]
fn synthetic_machines_do_not_contradict_themselves() {
    for (name, write) in synthetic::ALL {
        assert_eq!(synthetic::described(*write).contradictions, [], "{name}");
    }
}

/// The first blocks of the tree's /proc/cpuinfo.
fn with_blocks(write: Write, count: usize) -> (String, String) {
    let directory = tree(write, &[], &[]);
    let text = fs::read_to_string(directory.path().join("proc/cpuinfo")).unwrap();
    file("proc/cpuinfo", text.split_inclusive("\n\n").take(count).collect::<String>())
}

const STATE: &str = "cpuN/online, the state of each CPU";

#[test]
fn a_cpu_that_is_off_by_its_own_file_is_offline() {
    let states = |off: &[u32]| -> Files {
        of_cpus(0..8, "online", |cpu| if off.contains(&cpu) { "0\n" } else { "1\n" }.to_owned())
    };
    let atom = synthetic::atom_without_l3;
    let online = |files: &[(String, String)], without: &[&str]| {
        let machine = described(atom, files, without);
        let offline = machine.topology.offline.to_string();
        let found: Vec<String> =
            contradictions(&machine).into_iter().map(|(about, by)| format!("{about}: {by}")).collect();
        (machine.topology.online.to_string(), offline, found)
    };
    let list = format!("{CPU}/online");
    let named = |by: &str| vec![format!("online CPUs: {by}")];
    // The list and /proc/cpuinfo have all CPUs; then /proc/cpuinfo alone.
    assert_eq!(online(&states(&[5]), &[]), ("0-4,6-7".into(), "5".into(), named(STATE)));
    assert_eq!(
        online(&states(&[0, 2, 5]), &[list.as_str()]),
        ("1,3-4,6-7".into(), "0,2,5".into(), named(STATE))
    );
    // With padding, as hwloc's trees have it.
    let padded: Files = states(&[5]).into_iter().map(|(path, text)| (path, text + "\0")).collect();
    assert_eq!(online(&padded, &[list.as_str()]).0, "0-4,6-7");
    // The list lacks a CPU that is on by its own file, and is in /proc/cpuinfo.
    let lacking = [states(&[]), vec![file(&list, "0-5,7\n")]].concat();
    assert_eq!(online(&lacking, &[]), ("0-5,7".into(), "6".into(), named("the list of online CPUs")));
    // lxcfs shows a container of CPUs 4 to 6 a list of three CPUs.
    let status = |mask: &str| file("proc/self/status", format!("Cpus_allowed_list:\t{mask}\n"));
    let container = [states(&[7]), vec![file(&list, "0-2\n"), status("4-6")]].concat();
    assert_eq!(online(&container, &[]), ("0-6".into(), "7".into(), named(STATE)));
    assert_eq!(described(atom, &container, &[]).topology.allowed.to_string(), "4-6");
    // A mask without restrictions has CPUs that are off.
    let off = [states(&[7]), vec![file(&list, "0-6\n"), status("0-63"), with_blocks(atom, 7)]].concat();
    assert_eq!(online(&off, &[]), ("0-6".into(), "7".into(), vec![]), "the twin");
    // The twin.
    assert_eq!(online(&states(&[]), &[]), ("0-7".into(), String::new(), vec![]));
}

#[test]
fn packages_are_those_of_most_sources() {
    let clusters = synthetic::sub_numa_clusters;
    let of = |files: &[&[(String, String)]], without: &[&str]| {
        let machine = described(clusters, &files.concat(), without);
        let by: Vec<String> = contradictions(&machine).into_iter().map(|(_, by)| by.to_owned()).collect();
        (packages(&machine), by)
    };
    // Two packages of two nodes each, whose lists are those of the nodes, as with Cluster-on-Die in Linux 3.10.
    let node = |cpu: u32| ["0-7,32-39", "8-15,40-47", "16-23,48-55", "24-31,56-63"][(cpu % 32 / 8) as usize];
    let lists = of_cpus(0..64, "topology/package_cpus_list", |cpu| node(cpu).to_owned());
    let ids = |name: &str, id: fn(u32) -> i64| {
        of_cpus(0..64, &format!("topology/{name}"), |cpu| id(cpu).to_string())
    };
    let by_node = ids("physical_package_id", |cpu| i64::from(cpu % 32 / 8));
    let cpuinfo = |field: &str, id: fn(u32) -> u32| {
        let block = |cpu: u32| {
            format!("processor\t: {cpu}\nvendor_id\t: GenuineIntel\n{field}\t: {}\nflags\t: lm\n\n", id(cpu))
        };
        vec![file("proc/cpuinfo", (0..64).map(block).collect::<String>())]
    };
    assert_eq!(of(&[], &[]), (2, vec![]), "the twin");
    assert_eq!(of(&[&lists], &[]), (2, vec!["physical_package_id and /proc/cpuinfo".into()]));
    assert_eq!(of(&[&by_node], &[]), (2, vec!["the sibling lists and /proc/cpuinfo".into()]));
    let other = cpuinfo("physical id", |cpu| cpu % 2);
    assert_eq!(of(&[&other], &[]), (2, vec!["physical_package_id and the sibling lists".into()]));
    // Two sources: on x86 ids count, elsewhere lists.
    let plain = cpuinfo("stepping", |_| 1);
    assert_eq!(of(&[&lists, &plain], &[]), (2, vec!["physical_package_id".into()]));
    assert_eq!(of(&[&lists], &["proc/cpuinfo"]), (4, vec!["the sibling lists".into()]));
    // Of ia64 /proc/cpuinfo has the same ids.
    let ia64 = cpuinfo("physical id", |cpu| cpu % 32 / 16)[0].1.replace("vendor_id", "vendor");
    assert_eq!(of(&[&lists, &[file("proc/cpuinfo", ia64)]], &[]), (4, vec!["the sibling lists".into()]));
    // All differ.
    assert_eq!(of(&[&lists, &other], &[]), (2, vec!["physical_package_id".into()]));
    // Ids may be missing (-1), and repeat within the books of s390.
    let none = ids("physical_package_id", |_| -1);
    assert_eq!(of(&[&lists, &none], &["proc/cpuinfo"]), (4, vec![]));
    let [repeated, book] = [
        ids("physical_package_id", |cpu| i64::from(cpu % 32 / 8 % 2)),
        ids("book_id", |cpu| i64::from(cpu % 32 / 16)),
    ];
    assert_eq!(of(&[&lists, &repeated, &book], &["proc/cpuinfo"]), (4, vec![]));
    let machine = described(clusters, &lists, &[]);
    assert_eq!((machine.cpu(8).unwrap().package, machine.cpu(56).unwrap().package), (0, 1));
    let reason = note(&machine, "contradiction: packages").unwrap().reason;
    assert!(reason.contains("the sibling lists: 4 packages (the first has CPUs 0-7)"), "{reason}");
}

#[test]
fn ids_divide_where_no_list_is_shown() {
    let ids = [("physical_package_id", 4), ("core_id", 2)].map(|(name, each)| {
        let directory = |cpu: u32| format!("{CPU}/cpu{cpu}/topology/{name}");
        (0..8).map(|cpu| file(directory(cpu), (cpu / each).to_string())).collect::<Files>()
    });
    let files = [ids.concat(), vec![file(format!("{CPU}/online"), "0-7")]].concat();
    let machine = described(|_| Ok(()), &files, &[]);
    assert_eq!((packages(&machine), machine.topology.unknown.as_deref()), (2, None));
    assert_eq!(machine.cpu(5).unwrap().siblings.to_string(), "4-5");
}

#[test]
fn siblings_are_those_of_the_mask_and_of_the_first() {
    let server = synthetic::two_socket_smt_server;
    let cores = |files: &[(String, String)]| {
        let machine = described(server, files, &[]);
        let siblings = [0, 48, 1, 49].map(|cpu| machine.cpu(cpu).unwrap().siblings.to_string());
        let found = contradictions(&machine)
            .into_iter()
            .map(|(about, by)| format!("{about}: {by}"))
            .collect::<Vec<_>>();
        (siblings.join(" "), found)
    };
    let mask = |cpu: u32, mask: &str| vec![file(format!("{CPU}/cpu{cpu}/topology/core_cpus"), mask)];
    let pairs = "0,48 0,48 1,49 1,49".to_owned();
    let by = |believed: &str| vec![format!("cores: {believed}")];
    let by_mask = by("the mask, which lscpu and hwloc read");
    assert_eq!(cores(&mask(0, "00000000,00010000,00000001\n")), (pairs.clone(), vec![]), "the twin");
    assert_eq!(cores(&mask(0, "00000000,00000000,00000001\n")), ("0 48 1,49 1,49".into(), by_mask));
    // CPU 49 claims to be alone.
    let alone = [file(format!("{CPU}/cpu49/topology/core_cpus_list"), "49")];
    assert_eq!(cores(&alone), (pairs.clone(), by("the files of the first CPU of a group")));
    // An AMD module: two cores that the kernel calls siblings.
    let id = |cpu: u32, id: u32| file(format!("{CPU}/cpu{cpu}/topology/core_id"), id.to_string());
    assert_eq!(cores(&[id(0, 0), id(48, 0), id(1, 1), id(49, 1)]), (pairs.clone(), vec![]), "the twin");
    assert_eq!(cores(&[id(0, 0), id(48, 1)]), (pairs, by("the siblings")));
}

#[test]
fn caches_are_shared_by_the_cpus_of_the_map() {
    let server = synthetic::two_socket_smt_server;
    let l3 = |files: &[(String, String)]| {
        let machine = described(server, files, &[]);
        let about: Vec<String> =
            contradictions(&machine).into_iter().map(|(about, by)| format!("{about}: {by}")).collect();
        (caches(&machine, 3), about)
    };
    let map = |cpus: std::ops::Range<u32>, map: &str| {
        of_cpus(cpus, "cache/index3/shared_cpu_map", |_| map.to_owned())
    };
    let [first, second] = ["0-23,48-71", "24-47,72-95"].map(str::to_owned);
    // CPUs 0 to 23 and 48 to 71.
    let right = "000000ff,ffff0000,00ffffff\n";
    assert_eq!(l3(&map(0..24, right)), (vec![first.clone(), second.clone()], vec![]), "the twin");
    let believed = "L3 caches: the mask, which lscpu and hwloc read".to_owned();
    let halves = [map(0..12, "00000fff"), map(12..24, "00fff000")].concat();
    let (shared, about) = l3(&halves);
    assert_eq!(
        (&shared[..3], about),
        (&["0-11", "12-23", "24-47,72-95"].map(str::to_owned)[..], vec![believed])
    );
    // A CPU that names others than the first one does.
    let other = [file(format!("{CPU}/cpu5/cache/index3/shared_cpu_list"), "4-5")];
    assert_eq!(l3(&other).1, ["L3 caches: the files of the first CPU of a group"]);
    // An empty mask, as of ia64, is no contradiction: the cache is the core's.
    let machine = described(
        synthetic::two_socket_smt_server,
        &of_cpus(0..96, "cache/index2/shared_cpu_list", |_| String::new()),
        &[],
    );
    assert_eq!((caches(&machine, 2).len(), caches(&machine, 2)[0].as_str()), (48, "0,48"));
    assert_eq!(contradictions(&machine), []);
}

#[test]
fn a_cpu_is_on_one_node() {
    let server = synthetic::two_socket_smt_server;
    let nodes = |files: &[(String, String)]| {
        let machine = described(server, files, &[]);
        let nodes: Vec<String> =
            machine.numa.nodes.iter().map(|node| format!("{}: {}", node.node, node.cpus)).collect();
        let distances: Vec<usize> = machine.numa.nodes.iter().map(|node| node.distances.len()).collect();
        assert!(distances.iter().all(|columns| *columns == nodes.len()));
        (nodes.join("; "), contradictions(&machine).len())
    };
    let list = |node: u32, cpus: &str| file(format!("{NODE}/node{node}/cpulist"), cpus);
    assert_eq!(nodes(&[]), ("0: 0-23,48-71; 1: 24-47,72-95".into(), 0), "the twin");
    // One node that numa=fake divides.
    assert_eq!(nodes(&[list(0, "0-95"), list(1, "0-95")]), ("0: 0-95".into(), 1));
    // Node 1 claims CPUs of node 0, and has others.
    assert_eq!(nodes(&[list(1, "20-47,72-95")]), ("0: 0-23,48-71; 1: 24-47,72-95".into(), 1));
    // List and map differ.
    let map = file(format!("{NODE}/node1/cpumap"), "0,0,0f000000");
    assert_eq!(nodes(&[map]).1, 2, "and some CPUs are on no node");
    let right = file(format!("{NODE}/node1/cpumap"), "ffffff00,0000ffff,ff000000");
    assert_eq!(nodes(&[right]).1, 0, "the twin");
    assert_eq!(nodes(&[list(1, "24-47")]), ("0: 0-23,48-71; 1: 24-47".into(), 1));
}

#[test]
fn a_mask_wider_than_the_cpuset_is_narrowed() {
    let server = synthetic::two_socket_smt_server;
    let mine = "sys/fs/cgroup/user.slice/user-1000.slice/cpuset.cpus.effective";
    let allowed = |mask: &str, cpuset: &str| {
        let status = file("proc/self/status", format!("Cpus_allowed_list:\t{mask}\n"));
        let machine = described(server, &[status, file(mine, cpuset)], &[]);
        let found: Vec<String> = contradictions(&machine).iter().map(|(_, by)| (*by).to_owned()).collect();
        (machine.topology.allowed.to_string(), found)
    };
    assert_eq!(allowed("0-3", "0-7"), ("0-3".into(), vec![]), "the twin");
    assert_eq!(allowed("0-95", "0-95"), ("0-95".into(), vec![]), "the twin");
    assert_eq!(allowed("4-95", "0-7"), ("4-7".into(), vec!["both: a CPU must be in both".into()]));
    assert_eq!(allowed("8-9", "0-7"), ("8-9".into(), vec!["the affinity mask".into()]));
}

fn kinds(machine: &Machine) -> Vec<String> {
    machine.topology.cores.kinds.iter().map(|kind| format!("{}: {}", kind.name, kind.cpus)).collect()
}

#[test]
fn kinds_of_core_contradict() {
    let alder = synthetic::alder_lake_desktop;
    let [core, atom] = ["sys/devices/cpu_core/cpus", "sys/devices/cpu_atom/cpus"];
    let both = |files: &[(String, String)], without: &[&str]| {
        let machine = described(alder, files, without);
        let found: Vec<String> =
            contradictions(&machine).into_iter().map(|(about, by)| format!("{about}: {by}")).collect();
        (kinds(&machine).join("; "), found)
    };
    let right = "performance: 0-15; efficiency: 16-23".to_owned();
    let capacity = |big: u32, little: u32| {
        let of = |cpu: u32| if cpu < 16 { big } else { little };
        of_cpus(0..24, "cpu_capacity", |cpu| (of(cpu) + cpu % 3).to_string())
    };
    assert_eq!(both(&capacity(1000, 580), &[]), (right.clone(), vec![]), "the twin");
    assert_eq!(both(&capacity(580, 1000), &[]), (right.clone(), vec!["kinds of core: the PMUs".into()]));
    let overlap = "kinds of core: the PMU of the faster kind".to_owned();
    assert_eq!(both(&[file(atom, "12-23\n\0")], &[]), (right.clone(), vec![overlap]));
    let uncovered = "kinds of core: both: the kind of these CPUs is unknown".to_owned();
    assert_eq!(
        both(&[file(atom, "16-21")], &[]),
        ("performance: 0-15; efficiency: 16-21".into(), vec![uncovered])
    );
    // Without PMUs: by capacity, by the caches of a model that has two kinds, or not at all.
    assert_eq!(both(&capacity(1000, 580), &[core, atom]), (right.clone(), vec![]));
    let model = [with_line(alder, "cpu family\t: 6\nmodel\t\t: 151")];
    assert_eq!(both(&model, &[core, atom]), (right, vec![]));
    let machine = described(alder, &[], &[core, atom]);
    assert!(kinds(&machine).is_empty() && machine.topology.cores.unknown.is_some());
    // Low-power cores are those without an L3, whatever shows the kinds.
    let meteor = synthetic::meteor_lake_laptop;
    let three = ["performance: 0-1,10-15", "efficiency: 2-9", "low-power: 16-17"];
    let model = [with_line(meteor, "cpu family\t: 6\nmodel\t\t: 170")];
    assert_eq!(kinds(&described(meteor, &model, &[core, atom])), three);
    let capacities = of_cpus(0..18, "cpu_capacity", |cpu| match cpu {
        0..2 | 10..16 => "1024".to_owned(),
        16.. => "400".to_owned(),
        _ => "600".to_owned(),
    });
    assert_eq!(kinds(&described(meteor, &capacities, &[core, atom])), three);
}

#[test]
fn parts_of_arm_are_in_registers_too() {
    let board = synthetic::rk3588_board;
    let midr = |little: &str, big: &str| {
        of_cpus(0..8, "regs/identification/midr_el1", |cpu| if cpu < 4 { little } else { big }.to_owned())
    };
    let right = midr("0x00000000412fd050\n", "0x00000000414fd0b0\n");
    let all = ["performance: 4-7", "efficiency: 0-3"];
    let machine = described(board, &right, &[]);
    assert_eq!(
        (kinds(&machine), contradictions(&machine)),
        (all.map(str::to_owned).to_vec(), vec![]),
        "the twin"
    );
    let machine = described(board, &right, &["proc/cpuinfo"]);
    assert_eq!(kinds(&machine), all);
    assert_eq!(machine.topology.cores.kinds[0].part.as_deref(), Some("Cortex-A76"));
    assert_eq!(machine.cpu.vendor.value().map(String::as_str), Some("ARM"));
    let machine = described(board, &midr("0x412fd050", "0x414fd050"), &[]);
    assert_eq!(
        (kinds(&machine), contradictions(&machine)),
        (all.map(str::to_owned).to_vec(), vec![("kinds of core", "/proc/cpuinfo")])
    );
    // Capacities of the wrong CPUs.
    let capacities = of_cpus(0..8, "cpu_capacity", |cpu| if cpu < 4 { "1024" } else { "397" }.to_owned());
    let machine = described(board, &capacities, &[]);
    assert_eq!(kinds(&machine), ["performance: 0-3", "efficiency: 4-7"]);
    assert_eq!(contradictions(&machine), [("kinds of core", "cpu_capacity")]);
}

#[test]
fn a_cpuset_is_what_the_kernel_enforces() {
    let atom = synthetic::atom_without_l3;
    let of = |[own, effective]: [&str; 2], mode: &str| {
        let files = [
            file("sys/fs/cgroup/cpuset/job/cpuset.cpus", own),
            file("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", effective),
            file("proc/self/cgroup", "4:cpuset:/job\n"),
            file(
                "proc/self/mountinfo",
                format!("32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset{mode}\n"),
            ),
        ];
        let machine = described(atom, &files, &[]);
        let about: Vec<String> =
            contradictions(&machine).into_iter().map(|(about, _)| about.to_owned()).collect();
        (machine.topology.allowed.to_string(), about)
    };
    assert_eq!(of(["0-7", "0-3"], ""), ("0-3".into(), vec!["cpuset (cpus)".to_owned()]));
    // Twins: alike, alike among the CPUs that are online, and of a hierarchy that keeps what was asked for.
    assert_eq!(of(["0-3", "0-3"], ""), ("0-3".into(), vec![]));
    assert_eq!(of(["0-175", "0-7"], ""), ("0-7".into(), vec![]));
    assert_eq!(of(["0-7", "0-3"], ",cpuset_v2_mode"), ("0-3".into(), vec![]));
}
