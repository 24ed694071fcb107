//! Throttled time and memory-limit events of a process's control group and its ancestors.
//!
//! Of several groups the largest growth counts, not the sum. A thread that is throttled by an ancestor is not
//! throttled again by its own group, and memory.events of a group includes those of its descendants.

use figure::evidence::{CGROUP_MEMORY_EVENTS, CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS};
use figure::host::{Cgroup, CgroupLevel};
use figure::{CpuList, Evidence, Reading};

use super::change::{both, grown};
use crate::Tree;
use crate::describe::cgroup;

#[derive(Clone, Debug)]
pub struct Groups {
    /// The file that names the groups of the process.
    membership: String,
    quotas: Limits,
    memory: Limits,
}

/// The groups that count events of one kind of limit.
#[derive(Clone, Debug)]
struct Limits {
    files: Vec<File>,
    /// The reading if no group counts: 0, or unknown.
    without_files: Reading<f64>,
    /// Why some groups are hidden, if so: then a 0 of the others proves nothing.
    hidden: Option<String>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    version: u8,
}

#[derive(Clone, Copy, Debug)]
pub struct Throttling {
    periods: u64,
    ns: u64,
}

/// The readings of the groups, innermost first.
#[derive(Clone, Debug)]
pub struct Numbers {
    membership: Reading<String>,
    throttling: Vec<Reading<Throttling>>,
    memory: Vec<Reading<u64>>,
}

impl Groups {
    pub fn new(tree: &Tree, cgroup: &Cgroup) -> Self {
        Groups::of_entry(tree, cgroup, "self")
    }

    fn of_entry(tree: &Tree, cgroup: &Cgroup, process: &str) -> Self {
        // A group without bandwidth control has no nr_throttled and no quota: the root of v2, or a group
        // without the cpu controller.
        let throttles =
            |path: &str| tree.text(path).value().is_none_or(|text| field(text, "nr_throttled").is_some());
        let quota = |level: &CgroupLevel| ("cpu.stat", level.quota_cpus.is_some());
        let memory_limit = |level: &CgroupLevel| {
            let file = if level.version == 1 { "memory.failcnt" } else { "memory.events" };
            (file, level.memory_limit.is_some())
        };
        Groups {
            membership: format!("/proc/{process}/cgroup"),
            quotas: Limits::new(tree, cgroup, "CPU quota", quota, throttles),
            memory: Limits::new(tree, cgroup, "memory limit", memory_limit, |_| true),
        }
    }

    pub fn of_process(tree: &Tree, process: u32) -> Self {
        let process = process.to_string();
        Groups::of_entry(
            tree,
            &cgroup::of_process(tree, &process, &CpuList::default(), &CpuList::default()),
            &process,
        )
    }

    pub fn read(&self, tree: &Tree) -> Numbers {
        Numbers {
            membership: tree.text(&self.membership),
            throttling: self.quotas.read(tree, throttling),
            memory: self.memory.read(tree, memory_events),
        }
    }

    /// Seconds for which a CPU quota throttled the groups between two readings.
    pub fn throttled(&self, before: &Numbers, after: &Numbers) -> Reading<f64> {
        let growth = self.quotas.growth(&before.throttling, &after.throttling, |stat| stat.ns);
        self.if_unmoved(before, after, growth).map(|ns| ns / 1e9)
    }

    /// `growth`, unless the process moved to another group between the readings.
    fn if_unmoved(&self, before: &Numbers, after: &Numbers, growth: Reading<f64>) -> Reading<f64> {
        match (&before.membership, &after.membership) {
            (Reading::Value(before), Reading::Value(after)) if before != after => {
                Reading::Unknown(format!("{}: the process moved to another control group", self.membership))
            }
            _ => growth,
        }
    }

    pub fn write(&self, evidence: &mut Evidence, before: &Numbers, after: &Numbers) {
        let periods = self.quotas.growth(&before.throttling, &after.throttling, |stat| stat.periods);
        let events = self.memory.growth(&before.memory, &after.memory, |&events| events);
        evidence.put_reading(CGROUP_THROTTLED, self.throttled(before, after));
        evidence.put_reading(CGROUP_THROTTLED_PERIODS, self.if_unmoved(before, after, periods));
        evidence.put_reading(CGROUP_MEMORY_EVENTS, self.if_unmoved(before, after, events));
    }
}

impl Limits {
    /// `counts` says whether the file at a path has the counters.
    fn new(
        tree: &Tree,
        cgroup: &Cgroup,
        limit: &str,
        file_and_limit: impl Fn(&CgroupLevel) -> (&'static str, bool),
        counts: impl Fn(&str) -> bool,
    ) -> Self {
        let mut files = Vec::new();
        let mut without_files = Reading::Value(0.0);
        for level in &cgroup.levels {
            let (name, is_limited) = file_and_limit(level);
            let path = format!("{}/{name}", level.directory);
            if tree.exists(&path) && counts(&path) {
                files.push(File { path, version: level.version });
            } else if !tree.exists(&level.directory) {
                without_files = Reading::Unknown(format!("{}: no such directory", level.directory));
            } else if is_limited {
                without_files = Reading::Unknown(format!("{path}: missing, though the group sets a {limit}"));
            }
        }
        if cgroup.levels.is_empty() {
            let reason = cgroup.unknown.as_deref().unwrap_or("no control groups are shown");
            without_files = Reading::unknown(reason);
        }
        let hidden = cgroup.unknown.clone().or_else(|| without_files.reason().map(str::to_owned));
        Limits { files, without_files, hidden }
    }

    fn read<T>(&self, tree: &Tree, parse: fn(&File, &str) -> Reading<T>) -> Vec<Reading<T>> {
        self.files.iter().map(|file| tree.text(&file.path).and_then(|text| parse(file, &text))).collect()
    }

    /// The largest growth over the groups. Zero is valid only if all could be read.
    fn growth<T>(&self, before: &[Reading<T>], after: &[Reading<T>], number: fn(&T) -> u64) -> Reading<f64> {
        let mut largest =
            if self.files.is_empty() { self.without_files.clone() } else { Reading::Value(0.0) };
        let mut hidden = self.hidden.clone();
        for ((file, before), after) in self.files.iter().zip(before).zip(after) {
            match both(before, after, |before, after| grown(&file.path, number(before), number(after))) {
                Reading::Value(growth) => largest = largest.map(|largest| largest.max(growth as f64)),
                Reading::Unknown(reason) => hidden = Some(reason),
            }
        }
        match (largest, hidden) {
            (Reading::Value(0.0), Some(reason)) => Reading::Unknown(reason),
            (largest, _) => largest,
        }
    }
}

/// cpu.stat: v1 counts throttled time in ns, v2 in us (Documentation/scheduler/sched-bwc.rst).
fn throttling(file: &File, text: &str) -> Reading<Throttling> {
    let ns = match file.version {
        1 => field(text, "throttled_time"),
        _ => field(text, "throttled_usec").map(|us| us.saturating_mul(1000)),
    };
    let stat = field(text, "nr_throttled").zip(ns).map(|(periods, ns)| Throttling { periods, ns });
    Reading::or_unknown(stat, &format!("{}: no nr_throttled and throttled time", file.path))
}

/// memory.events (v2): how often memory.high caused reclaim and memory.max was hit. memory.failcnt (v1): how
/// often the limit was hit.
fn memory_events(file: &File, text: &str) -> Reading<u64> {
    let events = match file.version {
        1 => text.parse().ok(),
        _ => field(text, "high").zip(field(text, "max")).map(|(high, max)| high.saturating_add(max)),
    };
    Reading::or_unknown(events, &format!("{}: no count of met limits", file.path))
}

/// The number after `name` in a file of lines `name number`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_moved_has_unknown_throttling() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/77/cgroup", "0::/room\n");
        write("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
        write("sys/fs/cgroup/room/cpu.stat", "nr_throttled 7\nthrottled_usec 1000000\n");
        write("sys/fs/cgroup/room/memory.events", "high 1\nmax 1\n");
        let tree = Tree::at(root.path());
        let groups = Groups::of_process(&tree, 77);
        let before = groups.read(&tree);
        write("sys/fs/cgroup/room/cpu.stat", "nr_throttled 9\nthrottled_usec 1400000\n");
        write("proc/77/cgroup", "0::/other\n");
        let mut evidence = Evidence::default();
        groups.write(&mut evidence, &before, &groups.read(&tree));
        for key in [CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS, CGROUP_MEMORY_EVENTS] {
            let reading = evidence.get(key);
            assert!(
                reading.reason().is_some_and(|reason| reason.contains("moved")),
                "{}: {reading:?}",
                key.name
            );
        }
    }
}
