//! Machines seen from inside of a pod or container.

use std::io;
use std::path::Path;

use super::builder::Builder;
use super::machines::{ORDINARY, SKYLAKE, local_or, server};

/// What runc gives a container without further flags: Docker's capabilities, its filter, its masks, a PID namespace.
const CONTAINED: &[(&str, &str)] = &[
    ("proc/interrupts", ""),
    ("proc/self/ns/pid", "pid:[4026532999]"),
    ("proc/self/mounts", "proc /proc proc rw,nosuid 0 0"),
];

/// A server of 32 CPUs in two nodes.
fn node(root: &Path) -> Builder {
    Builder::new(root)
        .cpus(server(1, 16, 2, 2))
        .caches(&SKYLAKE)
        .nodes(&[64, 64], |from, to| local_or(12, from, to))
        .memory(128, 120, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "avx512f")
        .lines(ORDINARY)
        .lines(CONTAINED)
}

/// A guaranteed pod of 4 CPUs and 8 GiB under the static CPU manager and the static memory manager, cgroup v2, runc 1.1: two
/// whole cores of node 0.
pub fn pod_with_exclusive_cpus(root: &Path) -> io::Result<()> {
    node(root)
        .lines(&[
            (
                "proc/self/status",
                "Name:\ttruebench\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n\
                 Cpus_allowed_list:\t2-3,18-19\nMems_allowed_list:\t0",
            ),
            ("proc/self/cgroup", "0::/"),
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw"),
            ("proc/self/numa_maps", "55d0c8e0 default file=/bin/x mapped=3 N0=3 kernelpagesize_kB=4"),
            ("sys/fs/cgroup/cgroup.events", "populated 1\nfrozen 0"),
            ("sys/fs/cgroup/cpu.max", "400000 100000"),
            ("sys/fs/cgroup/cpu.weight", "157"),
            ("sys/fs/cgroup/cpuset.cpus.effective", "2-3,18-19"),
            ("sys/fs/cgroup/cpuset.cpus.partition", "member"),
            ("sys/fs/cgroup/cpuset.mems.effective", "0"),
            ("sys/fs/cgroup/memory.max", "8589934592"),
            ("sys/fs/cgroup/memory.min", "0"),
            ("sys/fs/cgroup/memory.low", "8589934592"),
            ("sys/fs/cgroup/memory.current", "1073741824"),
            ("sys/fs/cgroup/pids.max", "1024"),
            ("sys/fs/cgroup/pids.current", "3"),
            ("var/run/secrets/kubernetes.io/serviceaccount/namespace", "default"),
        ])
        .finish()
}

/// A burstable pod under the same policy, cgroup v1: half a CPU requested, two at most, in the pool that all such pods share; its
/// processes are nearly used up. The directory of the kubelet is mounted.
pub fn pod_in_shared_pool(root: &Path) -> io::Result<()> {
    const GROUP: &str = "/kubepods/burstable/pod7/work";
    let membership =
        ["4:pids", "3:memory", "2:cpu,cpuacct", "1:cpuset"].map(|hierarchy| format!("{hierarchy}:{GROUP}"));
    let mount = |name: &str| {
        format!("3{n} 31 0:3{n} {GROUP} /sys/fs/cgroup/{name} ro - cgroup cgroup rw,{name}\n", n = name.len())
    };
    node(root)
        .file("proc/self/cgroup", membership.join("\n"))
        .file("proc/self/mountinfo", ["cpuset", "cpu,cpuacct", "memory", "pids"].map(mount).concat())
        .lines(&[
            (
                "proc/self/status",
                "Name:\ttruebench\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n\
                 Cpus_allowed_list:\t0-1,4-17,20-31\nMems_allowed_list:\t0-1",
            ),
            ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-1,4-17,20-31"),
            ("sys/fs/cgroup/cpuset/cpuset.mems", "0-1"),
            ("sys/fs/cgroup/cpuset/cpuset.cpu_exclusive", "0"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.shares", "512"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296"),
            ("sys/fs/cgroup/memory/memory.soft_limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576"),
            ("sys/fs/cgroup/pids/pids.max", "100"),
            ("sys/fs/cgroup/pids/pids.current", "90"),
            ("var/run/secrets/kubernetes.io/serviceaccount/namespace", "default"),
            (
                "var/lib/kubelet/cpu_manager_state",
                r#"{"policyName":"static","defaultCpuSet":"0-1,4-17,20-31","entries":{"pod-uid":{"HUSH":"2-3,18-19"}},"checksum":1}"#,
            ),
        ])
        .finish()
}

/// A system container of LXC with lxcfs: /proc/stat is of the container alone. Twice the default weight, no cpuset.
pub fn lxc_with_lxcfs(root: &Path) -> io::Result<()> {
    node(root)
        .lines(&[
            ("proc/sys/kernel/perf_event_paranoid", "4"),
            (
                "proc/self/status",
                "Name:\ttruebench\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nSeccomp:\t2",
            ),
            ("proc/self/cgroup", "0::/lxc.payload.web"),
            (
                "proc/self/mountinfo",
                "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n\
                 41 22 0:49 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0",
            ),
            ("proc/interrupts", "           CPU0"),
            ("sys/fs/cgroup/lxc.payload.web/cpu.weight", "200"),
            ("sys/fs/cgroup/lxc.payload.web/cpu.max", "max 100000"),
        ])
        .finish()
}
