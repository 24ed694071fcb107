//! The descendants of a process, and the CPU time, faults and memory that they used so far.

use std::collections::BTreeMap;

use figure::Reading;
use procfs_core::FromRead;
use procfs_core::process::Stat;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Pid, Signal, kill_process};

use crate::proc::{self, field, text};
use crate::thread_counters::{seconds, usage};
pub use account::{Identity, UsageTotals, identity};

mod account;

/// Resources that processes used so far, as a sum, with the children that they waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU seconds in user code, in clock ticks.
    pub user: f64,
    /// CPU seconds in the kernel, in clock ticks.
    pub system: f64,
    pub minor: f64,
    pub major: f64,
    /// Bytes of RSS now. A shared page counts once for each process.
    pub resident: f64,
}

impl Usage {
    /// Usage of a process and of the children that it waited for.
    pub fn of_process(stat: &Stat) -> Usage {
        let tick = clock_ticks_per_second() as f64;
        let process = Usage {
            user: stat.utime as f64 / tick,
            system: stat.stime as f64 / tick,
            minor: stat.minflt as f64,
            major: stat.majflt as f64,
            resident: stat.rss as f64 * page_size() as f64,
        };
        process.plus(&Usage::of_waited_children(stat))
    }

    /// Usage of the children that a process waited for. Their RSS is 0.
    pub fn of_waited_children(stat: &Stat) -> Usage {
        let tick = clock_ticks_per_second() as f64;
        Usage {
            user: stat.cutime.max(0) as f64 / tick,
            system: stat.cstime.max(0) as f64 / tick,
            minor: stat.cminflt as f64,
            major: stat.cmajflt as f64,
            resident: 0.0,
        }
    }

    /// Usage of the children that this process waited for. Their RSS is 0.
    pub fn of_children() -> Usage {
        let usage = usage(libc::RUSAGE_CHILDREN);
        Usage {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            minor: usage.ru_minflt as f64,
            major: usage.ru_majflt as f64,
            resident: 0.0,
        }
    }

    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }

    pub fn plus(&self, other: &Usage) -> Usage {
        self.combine(other, |a, b| a + b, self.resident + other.resident)
    }

    /// The growth since an earlier reading, but the RSS of now. A counter that fell counts as unchanged: a
    /// child that ends is missing from both its own and its parent's counters for a moment.
    pub fn since(&self, before: &Usage) -> Usage {
        self.combine(before, |now, then| (now - then).max(0.0), self.resident)
    }

    /// The larger of each counter, but the RSS of now.
    pub fn at_least(&self, before: &Usage) -> Usage {
        self.combine(before, f64::max, self.resident)
    }

    fn combine(&self, other: &Usage, join: fn(f64, f64) -> f64, resident: f64) -> Usage {
        Usage {
            user: join(self.user, other.user),
            system: join(self.system, other.system),
            minor: join(self.minor, other.minor),
            major: join(self.major, other.major),
            resident,
        }
    }
}

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
    Reading::or_unknown((!stats.is_empty()).then(|| account.take(&stats)), "no process is there")
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
        assert_eq!(none.reason(), Some("no process is there"));
    }
}
