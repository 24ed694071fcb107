//! The processes below one: who they are, and what they used so far.

use std::collections::BTreeMap;

use figure::Reading;
use procfs_core::FromRead;
use procfs_core::process::Stat;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Pid, Signal, kill_process};

use crate::proc::{field, text};
use crate::thread_counters::{seconds, usage};
pub use account::{Account, Identity, identity};

mod account;

/// What processes together used so far. Those that have ended count, where somebody below waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// CPU seconds in user code, in steps of the clock's tick.
    pub user: f64,
    /// The same in the kernel.
    pub system: f64,
    /// Minor faults.
    pub minor: f64,
    /// Major faults.
    pub major: f64,
    /// Bytes that they have in memory now, pages that they share counted for each.
    pub resident: f64,
}

impl Used {
    /// What a process used, and its children that it waited for.
    pub fn of(stat: &Stat) -> Used {
        let tick = clock_ticks_per_second() as f64;
        let own = Used {
            user: stat.utime as f64 / tick,
            system: stat.stime as f64 / tick,
            minor: stat.minflt as f64,
            major: stat.majflt as f64,
            resident: stat.rss as f64 * page_size() as f64,
        };
        own.plus(&Used::of_waited(stat))
    }

    /// What the children of a process used that it waited for; nothing is in memory of them.
    pub fn of_waited(stat: &Stat) -> Used {
        let tick = clock_ticks_per_second() as f64;
        Used {
            user: stat.cutime.max(0) as f64 / tick,
            system: stat.cstime.max(0) as f64 / tick,
            minor: stat.cminflt as f64,
            major: stat.cmajflt as f64,
            resident: 0.0,
        }
    }

    fn without_memory(self) -> Used {
        Used { resident: 0.0, ..self }
    }

    /// What all children of this process used that it has waited for; nothing is in memory of them.
    pub fn of_children() -> Used {
        let usage = usage(libc::RUSAGE_CHILDREN);
        Used {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            minor: usage.ru_minflt as f64,
            major: usage.ru_majflt as f64,
            resident: 0.0,
        }
    }

    /// CPU seconds.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }

    /// Both together.
    pub fn plus(&self, other: &Used) -> Used {
        self.with(other, |own, other| own + other, self.resident + other.resident)
    }

    /// How far it went since an earlier look; what seems to have run backwards stood: a child that ends is for a moment in
    /// nobody's books. In memory is what is there now.
    pub fn since(&self, before: &Used) -> Used {
        self.with(before, |now, then| (now - then).max(0.0), self.resident)
    }

    /// The larger of each. In memory is what is there now.
    pub fn at_least(&self, before: &Used) -> Used {
        self.with(before, f64::max, self.resident)
    }

    fn with(&self, other: &Used, join: fn(f64, f64) -> f64, resident: f64) -> Used {
        Used {
            user: join(self.user, other.user),
            system: join(self.system, other.system),
            minor: join(self.minor, other.minor),
            major: join(self.major, other.major),
            resident,
        }
    }
}

/// The books of a process (/proc/PID/stat); `None` of one that is gone.
pub fn stat(process: u32) -> Option<Stat> {
    Stat::from_read(std::fs::File::open(format!("/proc/{process}/stat")).ok()?).ok()
}

/// How often each task of a process that is there left its CPU (/proc/PID/task/TID/status); none of one that is gone.
pub fn switches(process: u32) -> BTreeMap<Identity, f64> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| {
        let stat = Stat::from_read(std::fs::File::open(task.path().join("stat")).ok()?).ok()?;
        let status = text(task.path().join("status")).ok()?;
        let count = |name: &str| field(&status, name)?.parse::<f64>().ok();
        Some((identity(&stat), count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?))
    };
    tasks.filter_map(of).collect()
}

/// What all processes below `root` used since the account was opened, itself left out.
pub fn used(root: u32, account: &mut Account) -> Reading<Used> {
    let below = below(root);
    if below.is_empty() {
        return Reading::unknown("no process is there");
    }
    Reading::Value(account.take(&below))
}

/// Kills all processes below `root`, and not itself.
pub fn kill_below(root: u32) {
    for stat in below(root) {
        if let Some(process) = Pid::from_raw(stat.pid) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// The numbers of all processes below `root`.
pub fn processes_below(root: u32) -> Vec<u32> {
    below(root).into_iter().filter_map(|stat| u32::try_from(stat.pid).ok()).collect()
}

fn below(root: u32) -> Vec<Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stats = numbers.filter_map(stat);
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in stats {
        children.entry(stat.ppid).or_default().push(stat);
    }
    let mut found = Vec::new();
    let mut parents = vec![root as i32];
    while let Some(parent) = parents.pop() {
        let own = children.remove(&parent).unwrap_or_default();
        parents.extend(own.iter().map(|stat| stat.pid));
        found.extend(own);
    }
    found
}

#[cfg(test)]
mod unit {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_is_called_strangely_counts() {
        let stranger = crate::proc::unit::Stranger::new();
        let (switches, below) = (switches(stranger.process()), processes_below(std::process::id()));
        assert_eq!(switches.len(), 1, "of its only task");
        assert!(below.contains(&stranger.process()));
    }

    #[test]
    fn what_is_below_is_found_counted_and_killed() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut line = [0; 1];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut line).unwrap();
        let own = std::process::id();
        assert!(processes_below(own).contains(&shell.id()));
        assert_eq!(processes_below(shell.id()).len(), 1);
        let used = used(own, &mut Account::default()).into_value().unwrap();
        assert!(used.minor > 0.0 && used.resident > 0.0, "{used:?}");
        kill_below(shell.id());
        // It ends because its child did.
        assert!(shell.wait().unwrap().code().is_some());
        let none = super::used(shell.id(), &mut Account::default());
        assert_eq!(none.reason(), Some("no process is there"));
    }
}
