//! Processes that used CPU time between two snapshots of `/proc/PID/stat`.

use std::collections::{BTreeMap, BTreeSet};

use figure::{CpuList, Reading};

use crate::Tree;
use crate::counters::USER_HZ;
use crate::tree::printable;

/// Processes that are read at most. The largest machines have about ten thousand kernel threads.
const MAX_PROCESSES: usize = 1 << 15;
/// The longest name of a process: 15 bytes, or 63 for a kernel worker (fs/proc/array.c, proc_task_name).
const MAX_NAME: usize = 63;
/// PF_KTHREAD of `flags` (include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// The link that names the PID namespace of this process.
pub(crate) const NAMESPACE: &str = "/proc/self/ns/pid";
/// The number of the initial PID namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO).
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

/// A process by its id and its start in ticks since boot, because ids are reused.
type Identity = (u32, u64);

#[derive(Clone, Debug)]
pub struct Snapshot {
    processes: BTreeMap<Identity, Process>,
    /// Ticks since boot.
    now: Option<u64>,
    /// Why some processes may be missing; empty if all are visible.
    hidden: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Process {
    name: String,
    parent: u32,
    /// CPU time in ticks, user and system.
    ticks: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// Its name, in brackets for a kernel thread as in ps(1). Untrusted, without control characters.
    pub name: String,
    pub pid: u32,
    /// CPU seconds of all its threads on all CPUs.
    pub seconds: f64,
}

impl Snapshot {
    /// Reads all processes, at most `MAX_PROCESSES`. Takes about 20 µs per process.
    pub fn read(tree: &Tree) -> Reading<Snapshot> {
        let mut hidden = hidden(tree);
        let uptime = tree.text("/proc/uptime").into_value();
        let seconds = uptime.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        let pids = tree.numbered("/proc", "");
        let mut processes = BTreeMap::new();
        if pids.len() > MAX_PROCESSES {
            hidden = format!("{MAX_PROCESSES} of {} processes were read", pids.len());
        }
        for pid in pids.iter().take(MAX_PROCESSES) {
            // The process has ended.
            let Reading::Value(bytes) = tree.bytes(format!("/proc/{pid}/stat")) else { continue };
            if let Some((started, process)) = parse(&String::from_utf8_lossy(&bytes)) {
                processes.insert((*pid, started), process);
            }
        }
        if processes.is_empty() {
            return Reading::unknown("/proc shows no processes");
        }
        let now = seconds.map(|seconds| (seconds * USER_HZ) as u64);
        Reading::Value(Snapshot { processes, now, hidden })
    }

    /// Why /proc may hide processes; empty if it shows all.
    pub fn hidden(&self) -> &str {
        &self.hidden
    }

    /// The processes that used CPU time since an earlier snapshot, largest first, except `roots` and their
    /// descendants. Processes that ended in between are missing.
    pub fn since(&self, earlier: &Snapshot, roots: &[u32]) -> Vec<Used> {
        let excluded = self.with_descendants(roots);
        let mut used = Vec::new();
        for (identity @ (pid, started), now) in &self.processes {
            let before = match earlier.processes.get(identity) {
                Some(before) => before.ticks,
                // It existed before but was not read, so the growth is unknown.
                None if earlier.now.is_none_or(|then| *started < then) => continue,
                None => 0,
            };
            if now.ticks > before && !excluded.contains(pid) {
                let seconds = (now.ticks - before) as f64 / USER_HZ;
                used.push(Used { name: now.name.clone(), pid: *pid, seconds });
            }
        }
        used.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        used
    }

    fn with_descendants(&self, roots: &[u32]) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for ((pid, _), process) in &self.processes {
            children.entry(process.parent).or_default().push(*pid);
        }
        let (mut descendants, mut next) = (BTreeSet::new(), roots.to_vec());
        while let Some(pid) = next.pop() {
            if descendants.insert(pid) {
                next.extend(children.get(&pid).into_iter().flatten());
            }
        }
        descendants
    }
}

/// The CPUs that the main thread of a process may run on; `None` if it cannot be read.
pub fn allowed(tree: &Tree, pid: u32) -> Option<CpuList> {
    tree.field(format!("/proc/{pid}/status"), "Cpus_allowed_list:")?.parse().ok()
}

/// The start time and the process of a line of /proc/PID/stat (proc_pid_stat(5)).
fn parse(stat: &str) -> Option<(u64, Process)> {
    // A name may contain parentheses and spaces.
    let (head, rest) = stat.rsplit_once(')')?;
    let name = printable(head.split_once('(')?.1, MAX_NAME);
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The first is field 3 of the manual, the state.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let name = if number(9)? & KERNEL_THREAD != 0 { format!("[{name}]") } else { name };
    let ticks = number(14)?.saturating_add(number(15)?);
    Some((number(22)?, Process { name, parent: u32::try_from(number(4)?).ok()?, ticks }))
}

/// Why processes may be hidden (proc(5), hidepid; pid_namespaces(7)); empty if none is.
pub(crate) fn hidden(tree: &Tree) -> String {
    let ids = tree.field("/proc/self/status", "Uid:");
    let is_root = ids.is_some_and(|ids| ids.split_ascii_whitespace().nth(1) == Some("0"));
    let mounts = tree.text("/proc/self/mounts").into_value().unwrap_or_default();
    let options = mounts.lines().rev().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        (words.next() == Some("/proc")).then(|| words.nth(1)).flatten()
    });
    let mut hidepid =
        options.unwrap_or_default().split(',').filter_map(|option| option.strip_prefix("hidepid="));
    if let (Some(value), false) = (hidepid.find(|value| !["0", "off"].contains(value)), is_root) {
        return format!("/proc is mounted with hidepid={}", printable(value, MAX_NAME));
    }
    match tree.link(NAMESPACE).as_deref() {
        Some(INITIAL_NAMESPACE) => String::new(),
        Some(_) => "this PID namespace hides processes outside of it".to_owned(),
        None => format!("this kernel may hide processes: {NAMESPACE} is missing"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A synthetic /proc.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Machine {
            let machine = Machine(tempfile::tempdir().unwrap());
            machine.file("self/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n");
            machine.file("self/mounts", "proc /proc proc rw,relatime 0 0\n");
            machine.namespace(INITIAL_NAMESPACE);
            machine
        }

        fn file(&self, name: &str, text: &str) {
            let path = self.0.path().join("proc").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn namespace(&self, target: &str) {
            let link = self.0.path().join("proc/self/ns/pid");
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(Path::new(target), link).unwrap();
        }

        /// Adds a process. CPU time and start are in ticks.
        fn process(&self, pid: u32, parent: u32, name: &str, flags: u64, ticks: u64, started: u64) {
            let stat = format!(
                "{pid} ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {} {} 7 7 20 0 1 0 {started} 0 0",
                ticks / 2,
                ticks - ticks / 2
            );
            self.file(&format!("{pid}/stat"), &stat);
        }

        fn gone(&self, pid: u32) {
            std::fs::remove_dir_all(self.0.path().join(format!("proc/{pid}"))).unwrap();
        }

        fn at(&self, seconds: f64) -> Snapshot {
            self.file("uptime", &format!("{seconds:.2} 0.00\n"));
            Snapshot::read(&Tree::at(self.0.path())).into_value().unwrap()
        }
    }

    fn tuples(used: &[Used]) -> Vec<(&str, u32, f64)> {
        used.iter().map(|used| (used.name.as_str(), used.pid, used.seconds)).collect()
    }

    #[test]
    fn the_largest_user_is_first() {
        let machine = Machine::new();
        machine.process(1, 0, "init", 0, 500, 0);
        machine.process(9, 2, "kworker/0:1", KERNEL_THREAD, 10, 5);
        machine.process(40, 1, "a) S 1 (b", 0, 100, 700);
        let before = machine.at(100.0);
        machine.process(9, 2, "kworker/0:1", KERNEL_THREAD, 30, 5);
        machine.process(40, 1, "a) S 1 (b", 0, 190, 700);
        machine.process(50, 1, "new\u{1b}[2J\nx", 0, 50, 10_010);
        let used = machine.at(101.0).since(&before, &[]);
        let expected =
            [("a) S 1 (b", 40, 0.9), ("new\u{fffd}[2J\u{fffd}x", 50, 0.5), ("[kworker/0:1]", 9, 0.2)];
        assert_eq!(tuples(&used), expected);
    }

    #[test]
    fn descendants_are_excluded() {
        let machine = Machine::new();
        machine.process(10, 1, "truebench", 0, 0, 10);
        machine.process(11, 10, "guardian", 0, 0, 11);
        machine.process(12, 11, "worker", 0, 0, 12);
        machine.process(20, 1, "server", 0, 0, 13);
        machine.process(21, 20, "of server", 0, 0, 13);
        machine.process(30, 1, "other", 0, 0, 13);
        let before = machine.at(1.0);
        for (pid, parent, started) in
            [(10, 1, 10), (11, 10, 11), (12, 11, 12), (20, 1, 13), (21, 20, 13), (30, 1, 13)]
        {
            machine.process(pid, parent, "x", 0, 10, started);
        }
        assert_eq!(tuples(&machine.at(2.0).since(&before, &[10, 20])), [("x", 30, 0.1)]);
    }

    #[test]
    fn a_reused_id_is_another_process() {
        let machine = Machine::new();
        machine.process(40, 1, "old", 0, 5000, 700);
        let before = machine.at(100.0);
        machine.process(40, 1, "young", 0, 20, 10_050);
        assert_eq!(tuples(&machine.at(101.0).since(&before, &[])), [("young", 40, 0.2)]);
    }

    #[test]
    fn processes_that_ended_or_were_not_read_are_missing() {
        let machine = Machine::new();
        machine.process(1, 0, "init", 0, 0, 0);
        machine.process(40, 1, "ends", 0, 100, 700);
        let before = machine.at(100.0);
        machine.gone(40);
        machine.process(60, 1, "was there", 0, 90_000, 800);
        machine.file("70/stat", "70 (damaged");
        assert_eq!(tuples(&machine.at(101.0).since(&before, &[])), []);
    }

    #[test]
    fn the_reason_for_hidden_processes_is_named() {
        let machine = Machine::new();
        machine.process(1, 0, "init", 0, 0, 0);
        assert_eq!(machine.at(1.0).hidden(), "");
        machine
            .file("self/mounts", "proc /proc proc rw 0 0\nproc /proc proc rw,hidepid=invisible,gid=3 0 0\n");
        assert_eq!(machine.at(1.0).hidden(), "/proc is mounted with hidepid=invisible");
        machine.file("self/status", "Uid:\t0\t0\t0\t0\n");
        assert_eq!(machine.at(1.0).hidden(), "", "root sees all");
        machine.namespace("pid:[4026532999]");
        assert!(machine.at(1.0).hidden().contains("PID namespace"));
    }

    #[test]
    fn no_processes_are_unknown() {
        let machine = Machine::new();
        let read = Snapshot::read(&Tree::at(machine.0.path()));
        assert_eq!(read.reason(), Some("/proc shows no processes"));
    }

    #[test]
    fn the_cpus_of_a_process() {
        let machine = Machine::new();
        machine.file("7/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\n");
        let tree = Tree::at(machine.0.path());
        assert_eq!(allowed(&tree, 7), "0-1,4".parse().ok());
        assert_eq!(allowed(&tree, 8), None);
    }

    #[test]
    fn this_process_is_found_unless_excluded() {
        let live = || Snapshot::read(&Tree::live()).into_value().unwrap();
        let before = live();
        let this = std::process::id();
        let is_among = |used: Vec<Used>| used.iter().any(|used| used.pid == this);
        let mut after = live();
        while !is_among(after.since(&before, &[])) {
            after = live();
        }
        assert!(!is_among(after.since(&before, &[this])));
    }
}
