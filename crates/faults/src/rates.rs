//! What a tree of processes uses, from /proc: faults, CPU time, memory. No rights are needed.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use lab::process_tree::{Identity, Usage, UsageTotals, identity, stat};
use procfs_core::process::Stat;

/// One process of the tree, as `ps -o majflt,minflt` shows it: its own faults, without its children's.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub process: u32,
    /// Its name; untrusted.
    pub name: String,
    pub minor: f64,
    pub major: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeReading {
    pub totals: Usage,
    pub processes: usize,
    pub threads: usize,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub struct Tree {
    root: u32,
    pub processes: Vec<u32>,
    account: UsageTotals,
    /// The last values of each process, also of those that have ended.
    rows: BTreeMap<Identity, Row>,
}

impl Tree {
    pub fn new(root: u32) -> Tree {
        Tree { root, processes: vec![root], account: UsageTotals::default(), rows: BTreeMap::new() }
    }

    /// Searches for new descendants (/proc/PID/task/TID/children). A process stays when its parent has ended.
    pub fn grow(&mut self) {
        let is_same =
            |process: &u32| stat(*process).is_some_and(|stat| self.rows.contains_key(&identity(&stat)));
        let left = self.processes.iter().copied().filter(|process| *process != self.root && is_same(process));
        self.processes = with_descendants(std::iter::once(self.root).chain(left));
    }

    pub fn read(&mut self) -> TreeReading {
        let mut reading = TreeReading::default();
        let stats: Vec<Stat> = self.processes.iter().filter_map(|process| stat(*process)).collect();
        reading.totals = self.account.take(&stats);
        for stat in stats {
            reading.processes += 1;
            reading.threads += stat.num_threads.max(0) as usize;
            let row = Row {
                process: stat.pid.unsigned_abs(),
                name: stat.comm.clone(),
                minor: stat.minflt as f64,
                major: stat.majflt as f64,
            };
            self.rows.insert(identity(&stat), row.clone());
            reading.rows.push(row);
        }
        reading
    }

    /// Every process that was ever read, the one with most faults first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.values().cloned().collect();
        rows.sort_by(|a, b| (b.minor + b.major).total_cmp(&(a.minor + a.major)));
        rows
    }
}

/// These processes and all their descendants, each once.
pub fn with_descendants(roots: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = roots.into_iter().collect();
    let mut distinct: HashSet<u32> = all.iter().copied().collect();
    let mut next = 0;
    while let Some(process) = all.get(next).copied() {
        all.extend(children(process).into_iter().filter(|child| distinct.insert(*child)));
        next += 1;
    }
    all
}

/// Children of a process: of each of its threads (CONFIG_PROC_CHILDREN).
fn children(process: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for task in crate::trace::procfs::tasks_of(process) {
        let text = fs::read_to_string(format!("/proc/{process}/task/{task}/children")).unwrap_or_default();
        all.extend(text.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    all
}

#[cfg(test)]
mod unit {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_that_were_waited_for_count() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "for i in 1 2 3 4 5; do /bin/true; done; read x"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut tree = Tree::new(child.id());
        let (mut before, mut reading) = (0.0, tree.read());
        // In the end it waits for a line, and its counters include five programs of some hundred faults each.
        for _ in 0..2000 {
            before = reading.totals.minor;
            std::thread::sleep(std::time::Duration::from_millis(5));
            tree.grow();
            reading = tree.read();
            if reading.totals.minor > 250.0 && reading.totals.minor == before {
                break;
            }
        }
        assert!(reading.totals.minor > 250.0 && before > 0.0, "{reading:?}");
        assert!(reading.totals.resident > 0.0, "{reading:?}");
        assert_eq!((reading.processes, reading.threads), (1, 1), "{reading:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(
            tree.read().totals,
            Usage { resident: 0.0, ..reading.totals },
            "one that has ended takes nothing away"
        );
        assert_eq!(tree.rows()[0].name, "sh");
    }

    #[test]
    fn an_orphan_stays() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "sh -c 'sleep 600 & read line; exit'; read line"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut tree = Tree::new(child.id());
        let mut until = |count: usize| {
            for _ in 0..2000 {
                tree.grow();
                tree.read();
                if tree.processes.len() == count {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            tree.processes.to_vec()
        };
        let before = until(3);
        let last = *before.last().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"\n").unwrap();
        let after = until(2);
        let process = rustix::process::Pid::from_raw(last as i32).unwrap();
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((before.len(), after), (3, vec![child.id(), last]));
    }

    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("/bin/sh").args(["-c", "sleep 600 & sleep 600"]).spawn().unwrap();
        let mut tree = Tree::new(child.id());
        for _ in 0..2000 {
            tree.grow();
            if tree.processes.len() == 3 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let processes = tree.processes.to_vec();
        for process in processes.iter().skip(1) {
            let process = rustix::process::Pid::from_raw(*process as i32).unwrap();
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processes.len(), 3);
    }
}
