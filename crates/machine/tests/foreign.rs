//! Trees that other programs saved, and sources that few machines have.

use std::fs;
use std::path::Path;

use machine::capture::{capture, unpack};
use machine::synthetic::{self, Builder, Device, entry};
use machine::{Overrides, Tree, describe};

use crate::common::{
    CPU, Files, NODE, caches, contradictions, described, file, note, of_cpus, tree, with_line,
};

/// CPUs and nodes of a cpuset in the files of a group.
fn cpuset(directory: &str, [cpus, mems]: [&str; 2]) -> Files {
    vec![file(format!("{directory}/{cpus}"), "0-5\n"), file(format!("{directory}/{mems}"), "0\n\0")]
}

#[test]
fn a_cpuset_is_found_where_only_files_of_control_groups_show_it() {
    let server = synthetic::two_socket_smt_server;
    let v2 = ["cpuset.cpus.effective", "cpuset.mems.effective"];
    let [v1, plain] = [["cpuset.cpus", "cpuset.mems"], ["cpus", "mems"]];
    let (none, without): (&[&str], &[&str]) = (&[], &["proc/self/cgroup", "proc/self/mountinfo"]);
    let group = |path: &str| file("proc/self/cpuset", path);
    let mounts = |text: &str| file("proc/mounts", format!("sysfs /sys sysfs rw 0 0\n{text} 0 0\n"));
    let mine = "sys/fs/cgroup/user.slice/user-1000.slice";
    let mountinfo = |line: &str| file("proc/self/mountinfo", line);
    let cases: Vec<(&str, Files, &[&str])> = vec![
        ("v2", cpuset(mine, v2), none),
        ("v2 of a parent", cpuset("sys/fs/cgroup/user.slice", v2), none),
        ("v2 without the effective files", cpuset(mine, v1), none),
        (
            "v1",
            [
                cpuset("cg/job", v1),
                vec![file("proc/self/cgroup", "4:cpuset:/job\n")],
                vec![mountinfo("32 31 0:29 / /cg rw - cgroup cgroup rw,cpuset")],
            ]
            .concat(),
            none,
        ),
        (
            "v1 in a container's namespace",
            [
                cpuset("cg", v1),
                vec![file("proc/self/cgroup", "4:cpuset:/docker/7\n")],
                vec![mountinfo("32 31 0:29 /docker/7 /cg rw - cgroup cgroup rw,cpuset")],
            ]
            .concat(),
            none,
        ),
        (
            "v1 by /proc/mounts",
            [cpuset("cg/job", v1), vec![group("/job"), mounts("cgroup /cg cgroup rw,cpuset")]].concat(),
            without,
        ),
        (
            "v1 without prefix, and v2 without cpusets",
            [
                cpuset("dev/cpuset/job", plain),
                vec![
                    group("/job"),
                    mounts("cgroup2 /cg cgroup2 rw 0 0\ncpuset /dev/cpuset cgroup rw,cpuset,noprefix"),
                ],
            ]
            .concat(),
            without,
        ),
        (
            "the cpuset file system",
            [cpuset("dev/cpuset/job", plain), vec![group("/job"), mounts("none /dev/cpuset cpuset rw")]]
                .concat(),
            without,
        ),
        (
            "v2 by /proc/mounts",
            [cpuset("cg/a/job", v2), vec![group("/a/job"), mounts("none /cg cgroup2 rw")]].concat(),
            without,
        ),
        (
            "v2 at its usual place",
            [cpuset("sys/fs/cgroup/job", v2), cpuset("sys/fs/cgroup", v2), vec![group("/job")]].concat(),
            without,
        ),
        ("v1 at its usual place", [cpuset("sys/fs/cgroup/cpuset", v1), vec![group("/")]].concat(), without),
        ("v1 without any group", cpuset("sys/fs/cgroup/cpuset", v1), without),
    ];
    for (name, files, without) in cases {
        let machine = described(server, &files, without);
        assert_eq!(machine.topology.allowed.to_string(), "0-5", "{name}");
        assert_eq!(
            machine.numa.memory_allowed.value().map(ToString::to_string).as_deref(),
            Some("0"),
            "{name}"
        );
        assert_eq!(contradictions(&machine), [], "{name}");
        assert!(note(&machine, "allowed CPUs").unwrap().reason.contains("by the cpuset of"), "{name}");
        assert!(note(&machine, "allowed nodes").unwrap().reason.contains("node 1"), "{name}");
        // The twin: all CPUs and nodes.
        let all = |(path, text): &(String, String)| match text.as_str() {
            "0-5\n" => file(path, "0-95\n"),
            "0\n\0" => file(path, "0-1\n\0"),
            _ => file(path, text),
        };
        let whole = described(server, &files.iter().map(all).collect::<Files>(), without);
        assert_eq!(whole.topology.allowed, whole.topology.online, "{name}");
        assert!(note(&whole, "allowed CPUs").is_none() && note(&whole, "allowed nodes").is_none(), "{name}");
    }
}

#[test]
fn quotas_are_found_without_mounts() {
    let files = [
        file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000"),
        file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
        file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824"),
    ];
    let machine =
        described(synthetic::two_socket_smt_server, &files, &["proc/self/cgroup", "proc/self/mountinfo"]);
    assert_eq!(machine.cgroup.quota_cpus().unwrap().0, 1.5);
    assert_eq!(machine.cgroup.memory_room().unwrap().0, 1 << 30);
    assert!(machine.cgroup.unknown.unwrap().contains("is missing"));
}

#[test]
fn memory_side_caches_are_named_with_their_nodes() {
    let server = synthetic::two_socket_smt_server;
    let cache = |node: u32, index: u32, gib: u64| {
        let directory = format!("{NODE}/node{node}/memory_side_cache/index{index}");
        vec![
            file(format!("{directory}/size"), format!("{}\n", gib << 30)),
            file(format!("{directory}/line_size"), "64"),
        ]
    };
    let reason = |files: &[(String, String)]| {
        note(&described(server, files, &[]), "memory-side cache").map(|note| note.reason)
    };
    assert_eq!(reason(&[]), None, "the twin");
    assert_eq!(reason(&cache(0, 1, 0)), None, "a size of 0 is none");
    assert!(reason(&cache(1, 1, 96)).unwrap().starts_with("the memory of node 1 has a cache of 96 GiB"));
    let both = [cache(0, 1, 64), cache(1, 1, 16), cache(1, 2, 96)].concat();
    assert!(
        reason(&both).unwrap().starts_with("the memory of each of nodes 0-1 has a cache of 64 GiB to 96 GiB")
    );
}

#[test]
fn modules_that_do_not_count_as_memory_are_a_cache() {
    let device = |number: u32, gib: u32, kind: u8| Device {
        locator: format!("DIMM_{}{number}", char::from(b'A' + number as u8)),
        bank: "BANK".to_owned(),
        mib: gib << 10,
        kind,
        speed: 3200,
        configured: 3200,
    };
    // Two packages with 192 GiB on each node, 384 GiB in all.
    let cache = |modules: &[(u32, u8)]| {
        let devices: Vec<Device> =
            modules.iter().zip(0..).map(|((gib, kind), number)| device(number, *gib, *kind)).collect();
        let directory = tree(synthetic::two_socket_smt_server, &[], &[]);
        let path = "sys/firmware/dmi/tables/DMI";
        Builder::new(directory.path()).file(path, synthetic::table(&devices)).finish().unwrap();
        let machine = describe(&Tree::at(directory.path()), &Overrides::default());
        machine.numa.nodes.iter().map(|node| node.side_cache.map(|bytes| bytes >> 30)).collect::<Vec<_>>()
    };
    let [ddr4, ddr5, hbm, persistent] = [0x1a, 0x22, 0x24, 0x1f];
    assert_eq!(cache(&[(192, ddr4), (192, ddr4)]), [None; 2], "the twin");
    assert_eq!(
        cache(&[(200, ddr5), (200, ddr5), (64, hbm), (64, hbm)]),
        [Some(64); 2],
        "Xeon Max in cache mode"
    );
    assert_eq!(cache(&[(192, hbm), (192, hbm)]), [None; 2], "HBM alone");
    assert_eq!(
        cache(&[(48, ddr4), (48, ddr4), (200, persistent), (200, persistent)]),
        [Some(48); 2],
        "memory mode"
    );
    assert_eq!(
        cache(&[(192, ddr4), (192, ddr4), (512, persistent), (512, persistent)]),
        [None; 2],
        "app direct"
    );
    assert_eq!(
        cache(&[(96, ddr4), (96, ddr4), (96, persistent), (96, persistent)]),
        [None; 2],
        "both are memory"
    );
}

#[test]
fn caches_that_sys_lacks_are_named() {
    let server = synthetic::two_socket_smt_server;
    let unknown =
        |files: &[(String, String)], without: &[&str]| described(server, files, without).caches.unknown;
    let named = |size: &str| [with_line(server, &format!("cache size\t: {size}"))];
    assert_eq!(unknown(&named("33792 KB"), &[]), None, "the twin");
    let missing = unknown(&named("45056 KB"), &[]).unwrap();
    assert!(missing.contains("names a cache of 44 MiB") && missing.contains("33 MiB"), "{missing}");
    assert_eq!(unknown(&named("0 KB"), &[]), None);
    // The L3 of four CPUs is gone.
    let levels: Vec<String> = (0..4).map(|cpu| format!("{CPU}/cpu{cpu}/cache/index3/level")).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let own: Files = of_cpus(0..96, "cache/index3/shared_cpu_list", |cpu| cpu.to_string());
    let gap = unknown(&own, &levels).unwrap();
    assert_eq!(gap, "CPUs 0-3 are listed without an L3, which others of their kind have");
    assert_eq!(unknown(&own, &[]), None, "the twin");
    let more = [levels.clone(), vec!["sys/devices/system/cpu/cpu9/cache/index2/level"]].concat();
    let own = [own, of_cpus(0..96, "cache/index2/shared_cpu_list", |cpu| cpu.to_string())].concat();
    let gaps = unknown(&own, &more).unwrap();
    assert!(
        gaps.starts_with("CPUs 9 are listed without an L2 and CPUs 0-3 are listed without an L3"),
        "{gaps}"
    );
    // The low-power cores of Meteor Lake have none, and that is right.
    assert_eq!(synthetic::named("meteor_lake_laptop").caches.unknown, None);
    let machine = described(server, &named("45056 KB"), &[]);
    assert!(note(&machine, "last-level cache").unwrap().reason.contains("44 MiB"));
}

#[test]
fn caches_of_s390_and_sparc_are_in_other_files() {
    let cpuinfo = "vendor_id       : IBM/S390\n\
        cache0          : level=1 type=Data scope=Private size=128K line_size=256 associativity=8\n\
        cache1          : level=4 type=Unified scope=Shared size=688128K line_size=256 associativity=42\n\
        processor 0: version = FF\n";
    let l1 = ["level", "type", "size"].into_iter().zip(["1", "Data", "128K"]);
    let l1: Files = l1.map(|(name, text)| file(format!("{CPU}/cpu0/cache/index0/{name}"), text)).collect();
    let s390 = described(|_| Ok(()), &[l1, vec![file("proc/cpuinfo", cpuinfo)]].concat(), &[]);
    assert_eq!(
        s390.caches.unknown.as_deref(),
        Some("/proc/cpuinfo names an L4 of 672 MiB, which /sys does not show")
    );
    let sizes = [("l1_dcache_size", "16384"), ("l1_icache_size", "16384"), ("l2_cache_size", "4194304")];
    let sparc: Files =
        sizes.iter().flat_map(|(name, size)| of_cpus(0..2, name, |_| (*size).to_owned())).collect();
    let sparc = described(|_| Ok(()), &[sparc, vec![file(format!("{CPU}/online"), "0-1")]].concat(), &[]);
    assert_eq!((caches(&sparc, 1).len(), caches(&sparc, 2)), (2, vec!["0".to_owned(), "1".to_owned()]));
    assert!(sparc.caches.unknown.unwrap().contains("which CPUs share a cache is not shown"));
}

#[test]
fn modules_are_read_from_entries_of_the_table() {
    let device = |number: usize, mib: u32| Device {
        locator: format!("P1-DIMM{}1", char::from(b'A' + number as u8)),
        bank: "BANK".to_owned(),
        mib,
        kind: 0x1a,
        speed: 3200,
        configured: 2933,
    };
    let directory = tree(synthetic::two_socket_smt_server, &[], &["sys/firmware/dmi/tables/DMI"]);
    // Ten and more are in the order of their numbers; the last slot is empty.
    let entries = (0..12).fold(Builder::new(directory.path()), |tree, number| {
        let mib = if number == 11 { 0 } else { 32 << 10 };
        tree.file(&format!("sys/firmware/dmi/entries/17-{number}/raw"), entry(&device(number, mib)))
    });
    entries.finish().unwrap();
    let tree = Tree::at(directory.path());
    let memory = describe(&tree, &Overrides::default()).memory;
    let modules = memory.modules.value().unwrap();
    assert_eq!((modules.len(), modules[10].locator.as_str()), (11, "P1-DIMMK1"));
    assert_eq!(memory.peak.value().unwrap().basis, "11 x DDR4-2933 (SMBIOS entries)");
    let (archive, root) = (directory.path().join("machine.tar.zst"), directory.path().join("unpacked"));
    capture(&tree, &archive).unwrap();
    unpack(&archive, &root).unwrap();
    assert_eq!(describe(&Tree::at(&root), &Overrides::default()).memory, memory);
    let raw = fs::read(root.join("sys/firmware/dmi/entries/17-3/raw")).unwrap();
    assert!(!String::from_utf8_lossy(&raw).contains("SERIAL"), "serial numbers stay on the machine");
}

#[test]
fn zero_bytes_after_a_text_change_nothing() {
    fn pad(directory: &Path) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let sort = entry.file_type().unwrap();
            let path = entry.path();
            if sort.is_dir() {
                pad(&path);
            } else if sort.is_file() && !path.ends_with("DMI") && !path.ends_with("FACP") {
                let text = fs::read(&path).unwrap();
                fs::write(&path, [&text, &b"\0\0"[..]].concat()).unwrap();
            }
        }
    }
    for (name, write) in synthetic::ALL.iter().filter(|(name, _)| *name != "huge_1536_cpus") {
        let directory = tree(*write, &[], &[]);
        pad(directory.path());
        let padded = describe(&Tree::at(directory.path()), &Overrides::default());
        assert_eq!(padded, synthetic::described(*write), "{name}");
    }
}
