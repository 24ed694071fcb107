//! The descendants of a process, and the CPU time, faults and memory that they used so far.

use std::collections::BTreeMap;

use figure::Reading;
use procfs_core::FromRead;
use procfs_core::process::Stat;
use rustix::process::{Pid, Signal, kill_process};

use crate::proc::{self, field, text};
pub use account::{Identity, UsageTotals, identity};
pub use usage::Usage;

mod account;
mod usage;

/// /proc/PID/stat; `None` if the process is gone.
pub fn stat(process: u32) -> Option<Stat> {
    Stat::from_read(std::fs::File::open(format!("/proc/{process}/stat")).ok()?).ok()
}

/// Context switches of each task of a process (/proc/PID/task/TID/status); empty if the process is gone.
pub fn switches(process: u32) -> BTreeMap<Identity, f64> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let read_task = |task: std::fs::DirEntry| {
        let stat = Stat::from_read(std::fs::File::open(task.path().join("stat")).ok()?).ok()?;
        let status = text(task.path().join("status")).ok()?;
        let count = |name: &str| field(&status, name)?.parse::<f64>().ok();
        Some((identity(&stat), count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?))
    };
    tasks.filter_map(read_task).collect()
}

/// Usage of all descendants of `root` since the account was opened.
pub fn usage_below(root: u32, account: &mut UsageTotals) -> Reading<Usage> {
    let stats = descendants(root);
    Reading::or_unknown((!stats.is_empty()).then(|| account.take(&stats)), "no process exists")
}

/// Kills all descendants of `root`, but not `root`.
pub fn kill_below(root: u32) {
    for process in descendants(root).into_iter().filter_map(|stat| Pid::from_raw(stat.pid)) {
        let _ = kill_process(process, Signal::KILL);
    }
}

pub fn processes_below(root: u32) -> Vec<u32> {
    descendants(root).into_iter().filter_map(|stat| u32::try_from(stat.pid).ok()).collect()
}

fn descendants(root: u32) -> Vec<Stat> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in proc::processes().filter_map(stat) {
        children.entry(stat.ppid).or_default().push(stat);
    }
    let mut descendants = Vec::new();
    let mut parents = vec![root as i32];
    while let Some(parent) = parents.pop() {
        let children = children.remove(&parent).unwrap_or_default();
        parents.extend(children.iter().map(|stat| stat.pid));
        descendants.extend(children);
    }
    descendants
}

#[cfg(test)]
mod unit {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_with_a_strange_name_counts() {
        let stranger = crate::testing::OddlyNamed::start();
        let (switches, below) = (switches(stranger.process()), processes_below(std::process::id()));
        assert_eq!(switches.len(), 1, "it has one task");
        assert!(below.contains(&stranger.process()));
    }

    #[test]
    fn descendants_are_found_counted_and_killed() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut line = [0; 1];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut line).unwrap();
        let this = std::process::id();
        assert!(processes_below(this).contains(&shell.id()));
        assert_eq!(processes_below(shell.id()).len(), 1);
        let used = usage_below(this, &mut UsageTotals::default()).into_value().unwrap();
        assert!(used.minor > 0.0 && used.resident > 0.0, "{used:?}");
        kill_below(shell.id());
        // The shell ends because its child did.
        assert!(shell.wait().unwrap().code().is_some());
        let none = super::usage_below(shell.id(), &mut UsageTotals::default());
        assert_eq!(none.reason(), Some("no process exists"));
    }
}
