//! Trees of /proc and /sys: captured or synthetic machines of which files are damaged.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use figure::evidence::Fact;
use figure::{CpuList, Reading};
use machine::counters::groups::{self, Groups};
use machine::counters::idle::{self, Idle};
use machine::counters::{Snapshot, Watch};
use machine::{Overrides, Tree, describe, notes, synthetic};
use tempfile::TempDir;

use crate::draw::{Draw, piece};
use crate::target::Target;

/// The first byte chooses a machine: from [`COUNTING_FROM`] on one of [`COUNTING`], else one of [`MACHINES`]. The second: whether counters are
/// read before and after, and of one of [`COUNTING`] how many changes come before. Then come changes: a file, what is done to it, and with
/// which bytes.
pub const TARGET: Target = Target { name: "machine", one, seeds, longest: 4 << 10 };

/// Machines with trees that are read in a few milliseconds, together with files of nearly every kind.
const MACHINES: &[&str] = &[
    "gvisor_no_caches",
    "vm_hidden_l3",
    "microvm_2cpu",
    "atom_without_l3",
    "memory_only_node",
    "container_quota",
    "saved_by_another_program",
];
/// The first byte that chooses one of [`COUNTING`]: so older inputs keep their meaning.
const COUNTING_FROM: u8 = 240;
/// Machines that also have what is watched around a round, and what few have: a base, and what is added to it.
const COUNTING: &[(&str, &[Added])] = &[("vm_hidden_l3", COUNTERS), ("gvisor_no_caches", BOARD)];
/// A process with control groups to read.
const PROCESS: u32 = 77;

/// A file, what it holds before a round, and after it (nothing: the same).
type Added = (&'static str, &'static str, &'static str);

/// A server: version 2 of control groups, thermal and memory counters, idle states.
const COUNTERS: &[Added] = &[
    (
        "proc/stat",
        "cpu  400 0 0 0 0 0 0 0 0 0\ncpu0 100 0 10 500 0 1 2 3 0 0\ncpu1 100 0 10 500 0 1 2 3 0 0\ncpu2 1 0 1 5 0 1 2 3 0 0\n\
         cpu3 100 0 10 500 0 1 2 3 0 0\nintr 5\nctxt 7\n",
        "cpu  900 0 0 0 0 0 0 0 0 0\ncpu0 200 1 20 500 9 3 5 7 90 0\ncpu1 110 0 12 500 0 1 4 3 0 0\ncpu2 2 0 2 6 0 1 2 3 0 0\n\
         cpu3 999 9 99 900 9 9 9 9 0 0\nintr 9\nctxt 9\n",
    ),
    (
        "proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 24: 1 2 3 4 IO-APIC x\nLOC: 10 20 30 40 timer\nRES: 5 5 5 5 Rescheduling interrupts\n\
         CAL: 1 1 1 1 Function call interrupts\nERR: 3\n",
        "  CPU0 CPU1 CPU2 CPU3\n 24: 4 2 3 9 IO-APIC x\nLOC: 110 220 30 40 timer\nRES: 9 13 5 5 Rescheduling interrupts\n\
         CAL: 3 6 1 1 Function call interrupts\nERR: 3\n",
    ),
    (
        "proc/vmstat",
        "nr_free_pages 1\npswpin 10\npswpout 20\npgscan_direct 30\npgscan_direct_throttle 7\nnuma_hint_faults 40\n\
         numa_pages_migrated 50\ncompact_stall 60\nthp_split_page 70\n",
        "nr_free_pages 1\npswpin 11\npswpout 22\npgscan_direct 33\npgscan_direct_throttle 7\nnuma_hint_faults 44\n\
         numa_pages_migrated 55\ncompact_stall 66\nthp_split_page 77\n",
    ),
    (
        "proc/pressure/cpu",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n",
    ),
    (
        "proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0 total=9\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=6\nfull avg10=0 total=9\n",
    ),
    ("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0 total=0\n", ""),
    ("proc/self/cgroup", "0::/a/b\n", ""),
    ("proc/77/cgroup", "0::/a\n", "0::/\n"),
    ("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", ""),
    ("sys/fs/cgroup/a/cpu.max", "150000 100000\n", ""),
    (
        "sys/fs/cgroup/a/cpu.stat",
        "usage_usec 9\nnr_periods 9\nnr_throttled 7\nthrottled_usec 1000000\n",
        "usage_usec 9\nnr_periods 20\nnr_throttled 12\nthrottled_usec 1750000\n",
    ),
    (
        "sys/fs/cgroup/a/b/cpu.stat",
        "nr_throttled 1\nthrottled_usec 100\n",
        "nr_throttled 2\nthrottled_usec 1100\n",
    ),
    ("sys/fs/cgroup/a/b/memory.max", "2147483648\n", ""),
    (
        "sys/fs/cgroup/a/b/memory.events",
        "low 0\nhigh 1\nmax 1\noom 0\noom_kill 0\n",
        "low 9\nhigh 3\nmax 2\noom 9\noom_kill 0\n",
    ),
    ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n", "8\n"),
    ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "50\n", "51\n"),
    ("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "500\n", "501\n"),
    ("sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "5\n", ""),
    ("sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "5\n", ""),
    ("sys/devices/system/edac/mc/mc0/ce_count", "1\n", "3\n"),
    ("sys/devices/system/edac/mc/mc1/ce_count", "0\n", ""),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n", ""),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/usage", "10\n", "11\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1E\n", ""),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/usage", "700\n", "900\n"),
    ("sys/class/power_supply/AC/type", "Mains\n", ""),
    ("sys/class/power_supply/AC/online", "1\n", ""),
    ("sys/class/power_supply/BAT0/type", "Battery\n", ""),
    ("sys/class/power_supply/BAT0/status", "Discharging\n", ""),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate\n", ""),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n", ""),
    ("sys/kernel/sched_ext/state", "enabled\n", ""),
    ("sys/kernel/sched_ext/root/ops", "lavd\n", ""),
    (
        "run/udev/data/+dmi:id",
        "E:MEMORY_ARRAY_NUM_DEVICES=2\nE:MEMORY_DEVICE_0_SIZE=17179869184\nE:MEMORY_DEVICE_0_TYPE=DDR4\n\
         E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=3200\nE:MEMORY_DEVICE_0_LOCATOR=DIMM A\nE:MEMORY_DEVICE_1_PRESENT=0\n",
        "",
    ),
];

/// A small Arm board: a device tree, cores of two sizes, version 1 of control groups.
const BOARD: &[Added] = &[
    (
        "proc/cpuinfo",
        "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n\
         Hardware\t: a board\n",
        "",
    ),
    ("proc/version", "Linux version 6.1.0 (a@b) #1 SMP\n", "Linux version 4.4.0 #1 SMP gVisor\n"),
    ("sys/devices/system/cpu/online", "0-1\n", "0\n"),
    ("proc/device-tree/model", "Radxa ROCK 5B\0", "linux,dummy-virt\0"),
    ("proc/device-tree/compatible", "radxa,rock-5b\0rockchip,rk3588\0", "qemu,pseries\0"),
    ("proc/device-tree/hypervisor/compatible", "none\0", "linux,kvm\0"),
    ("proc/sysinfo", "Manufacturer: x\nVM00 Name: y\n", "VM00 Control Program: KVM/Linux\n"),
    ("sys/devices/system/cpu/cpu0/cpu_capacity", "446\n", "1024\n"),
    ("sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n", ""),
    ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000\n", ""),
    ("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "2400000\n", ""),
    ("sys/devices/system/cpu/cpu0/topology/core_id", "0\n", ""),
    ("sys/devices/system/cpu/cpu1/topology/core_id", "1\n", ""),
    ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n", ""),
    ("sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n", ""),
    ("proc/self/cgroup", "3:memory:/x\n2:cpu,cpuacct:/x\n", ""),
    (
        "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
         35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
        "",
    ),
    ("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "150000\n", ""),
    ("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n", ""),
    (
        "sys/fs/cgroup/cpu/x/cpu.stat",
        "nr_periods 1\nnr_throttled 1\nthrottled_time 500000000\n",
        "nr_periods 9\nnr_throttled 3\nthrottled_time 2000000000\n",
    ),
    ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2147483648\n", ""),
    ("sys/fs/cgroup/memory/x/memory.failcnt", "4\n", "9\n"),
    (
        "proc/stat",
        "cpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 8\n",
        "cpu0 9 9 9 9 9 9 9 9\ncpu1 9 9 9 9 9 9 9 9\n",
    ),
    (
        "proc/interrupts",
        " CPU0 CPU1\nIPI0: 1 2 Rescheduling interrupts\nErr: 0\n",
        " CPU0 CPU1\nIPI0: 4 2 Rescheduling interrupts\n",
    ),
];

/// Longer files are no seeds.
const SEED_BYTES: usize = 3 << 10;
/// Where temporary trees are cheapest: in memory.
const MEMORY: &str = "/dev/shm";
/// Ways to change a file.
const WAYS: u8 = 6;

/// A tree on disk, and its files with what they hold.
struct Fixture {
    directory: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Fixture {
    fn new(name: &str, added: &[Added]) -> Fixture {
        let directory = directory();
        let machine = synthetic::ALL.iter().find(|machine| machine.0 == name).expect("a machine");
        (machine.1)(directory.path()).expect("a tree");
        for (path, text, _) in added {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let mut files = Vec::new();
        list(directory.path(), &mut files);
        files.sort();
        Fixture { directory, files }
    }
}

/// A temporary directory, in memory where that can be had.
pub fn directory() -> TempDir {
    tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

fn list(directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            let content = fs::read(&path).expect("a file");
            files.push((path, content));
        }
    }
}

thread_local! {
    static FIXTURES: OnceCell<Vec<Fixture>> = const { OnceCell::new() };
}

/// Those of [`MACHINES`], then those of [`COUNTING`].
fn fixtures() -> Vec<Fixture> {
    let plain = MACHINES.iter().map(|name| Fixture::new(name, &[]));
    plain.chain(COUNTING.iter().map(|(name, added)| Fixture::new(name, added))).collect()
}

fn with_fixtures<T>(use_them: impl FnOnce(&[Fixture]) -> T) -> T {
    FIXTURES.with(|all| use_them(all.get_or_init(fixtures)))
}

/// Puts a file back, also if the input failed.
struct Restore<'a>(&'a Path, &'a [u8]);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let _ = fs::write(self.0, self.1);
    }
}

fn one(input: &[u8]) {
    with_fixtures(|fixtures| {
        let mut draw = Draw::new(input);
        let (plain, counting) = fixtures.split_at(MACHINES.len());
        let machine = draw.byte();
        let mode = draw.byte();
        let is_watched = mode & 1 == 1;
        let (fixture, first) = match machine.checked_sub(COUNTING_FROM) {
            Some(machine) => (&counting[usize::from(machine) % counting.len()], usize::from(mode >> 1)),
            None => (&plain[usize::from(machine) % plain.len()], 0),
        };
        let tree = Tree::at(fixture.directory.path());
        let mut restores = Vec::new();
        let mut change = |draw: &mut Draw| {
            let (path, content) = &fixture.files[draw.word() % fixture.files.len()];
            restores.push(Restore(path, content));
            let _ = match changed(content, draw) {
                Some(content) => fs::write(path, content),
                None => fs::remove_file(path),
            };
        };
        for _ in 0..first {
            if !draw.is_empty() {
                change(&mut draw);
            }
        }
        // Counters that are read before and after the damage run backwards, vanish and appear.
        let watched = is_watched.then(|| Watched::new(&tree));
        while !draw.is_empty() {
            change(&mut draw);
        }
        hold(&tree);
        if let Some(watched) = watched {
            watched.hold(&tree);
        }
    });
}

/// Counters, and their readings.
struct Watched {
    watch: Watch,
    snapshot: Snapshot,
    idle: Idle,
    entries: idle::Entries,
    groups: Groups,
    numbers: groups::Numbers,
}

impl Watched {
    fn new(tree: &Tree) -> Watched {
        let whole = describe(tree, &Overrides::default());
        let watch = Watch::new(tree, &whole, &whole.topology.online).by_cpu();
        let (idle, groups) =
            (Idle::new(tree, &"0".parse().expect("a list")), Groups::of_process(tree, PROCESS));
        Watched {
            snapshot: watch.snapshot(),
            watch,
            entries: idle.read(),
            idle,
            numbers: groups.read(tree),
            groups,
        }
    }

    /// Whatever came between, nothing counts backwards or beyond what is a number.
    fn hold(&self, tree: &Tree) {
        let mut evidence = self.watch.delta(&self.snapshot, &self.watch.snapshot());
        idle::write(&mut evidence, &self.entries, &self.idle.read());
        for (name, fact) in evidence.iter() {
            if let Reading::Value(Fact::Number(number)) = fact {
                assert!(number.is_finite() && *number >= 0.0, "{name}: {number}");
            }
        }
        let throttled = self.groups.throttled(&self.numbers, &self.groups.read(tree));
        assert!(throttled.value().is_none_or(|seconds| seconds.is_finite() && *seconds >= 0.0));
        assert!(serde_json::to_string(&evidence).is_ok());
    }
}

/// What becomes of a file; `None`: it is gone.
fn changed(content: &[u8], draw: &mut Draw) -> Option<Vec<u8>> {
    Some(match draw.byte() % WAYS {
        0 => draw.piece().to_vec(),
        1 => content[..content.len().min(draw.word())].to_vec(),
        2 => {
            let (at, bytes) = (draw.word() % (content.len() + 1), draw.piece());
            let mut changed = content.to_vec();
            changed.splice(at..(at + bytes.len()).min(content.len()), bytes.iter().copied());
            changed
        }
        3 => {
            let bytes = draw.piece();
            bytes.repeat(1 + draw.word() % 512)
        }
        4 => [content, draw.piece()].concat(),
        _ => return None,
    })
}

/// What holds of every description, whatever the tree.
pub fn hold(tree: &Tree) {
    let machine = describe(tree, &Overrides::default());
    let topology = &machine.topology;
    assert_eq!(topology.cpus.len(), topology.online.len());
    assert!(topology.online.len() <= 8192 && topology.allowed.is_subset(&topology.online));
    assert!(machine.caches.instances.iter().all(|cache| cache.cpus.is_subset(&topology.online)));
    assert!(machine.numa.nodes.iter().all(|node| node.cpus.is_subset(&topology.online)));
    let kinds = &topology.cores.kinds;
    let of_kinds: CpuList = kinds.iter().flat_map(|kind| kind.cpus.iter()).collect();
    assert!(kinds.len() != 1 && of_kinds.is_subset(&topology.online));
    assert_eq!(of_kinds.len(), kinds.iter().map(|kind| kind.cpus.len()).sum::<usize>(), "{kinds:?}");
    assert!(topology.cpus.iter().all(|cpu| cpu.kind.is_some() == of_kinds.contains(cpu.cpu)));
    if let Some(peak) = machine.memory.peak.value() {
        assert!(peak.bytes_per_s.is_finite() && peak.bytes_per_s > 0.0, "{peak:?}");
    }
    let shown = report::host::host(&machine, &notes(&machine), 80);
    let stray = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\u{1b}'));
    assert_eq!(stray, None);
    let json = serde_json::to_string(&machine).expect("a machine is written");
    assert_eq!(serde_json::from_str::<figure::Machine>(&json).expect("it reads back"), machine);
}

fn seeds() -> Vec<Vec<u8>> {
    // Each kind of file of each machine once, replaced by itself: numbers in names are of the same kind.
    let kind = |path: &Path| path.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
    with_fixtures(|fixtures| {
        let mut seeds = Vec::new();
        for (number, fixture) in fixtures.iter().enumerate() {
            let mut kinds = std::collections::BTreeSet::new();
            let counting = number.checked_sub(MACHINES.len());
            for (at, (path, content)) in fixture.files.iter().enumerate() {
                let inner = path.strip_prefix(fixture.directory.path()).expect("in the tree");
                if content.len() <= SEED_BYTES && kinds.insert(kind(inner)) {
                    let head = match counting {
                        None => [number as u8, at as u8],
                        Some(counting) => [COUNTING_FROM + counting as u8, 1],
                    };
                    seeds.push([&head[..], &replaced(at, content)].concat());
                }
            }
            if let Some(counting) = counting {
                seeds.push(round(counting, fixture));
            }
        }
        seeds
    })
}

/// A change that replaces a file by this.
fn replaced(at: usize, content: &[u8]) -> Vec<u8> {
    [&[at as u8, (at >> 8) as u8, 0], &piece(content)[..]].concat()
}

/// All that changes in a round, of one of [`COUNTING`].
fn round(counting: usize, fixture: &Fixture) -> Vec<u8> {
    let mut seed = vec![COUNTING_FROM + counting as u8, 1];
    for (path, _, after) in COUNTING[counting].1.iter().filter(|(_, _, after)| !after.is_empty()) {
        let path = fixture.directory.path().join(path);
        let at = fixture.files.iter().position(|(file, _)| *file == path).expect("a file");
        seed.extend(replaced(at, after.as_bytes()));
    }
    assert!(seed.len() <= TARGET.longest, "{} bytes", seed.len());
    seed
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_watched_grows_in_a_round() {
        for (name, added) in COUNTING {
            let fixture = Fixture::new(name, added);
            let tree = Tree::at(fixture.directory.path());
            let watched = Watched::new(&tree);
            for (path, _, after) in added.iter().filter(|(_, _, after)| !after.is_empty()) {
                fs::write(tree.path(path), after).expect("a file");
            }
            let evidence = watched.watch.delta(&watched.snapshot, &watched.watch.snapshot());
            let grown = |(_, fact): &(&str, &Reading<Fact>)| matches!(fact, Reading::Value(Fact::Number(number)) if *number > 0.0);
            let count = evidence.iter().filter(grown).count();
            let most = if added.len() == COUNTERS.len() { 15 } else { 4 };
            assert!(count >= most, "{name}: {count} of {evidence:#?}");
            watched.hold(&tree);
        }
    }
}
