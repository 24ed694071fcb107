//! The processes below one: who they are, and what they used so far.

use std::collections::BTreeMap;

use figure::Reading;
use procfs_core::FromRead;
use procfs_core::process::Stat;
use rustix::process::{Pid, Signal, kill_process};

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
    /// Bytes that they have in memory, pages that they share counted for each.
    pub resident: f64,
}

/// What all processes below `root` used, itself left out.
pub fn used(root: u32) -> Reading<Used> {
    // SAFETY: constants of the system.
    let (tick, page) = unsafe { (libc::sysconf(libc::_SC_CLK_TCK), libc::sysconf(libc::_SC_PAGESIZE)) };
    if tick <= 0 || page <= 0 {
        return Reading::unknown("sysconf does not tell the clock's tick");
    }
    let below = below(root);
    if below.is_empty() {
        return Reading::unknown("no process is there");
    }
    let seconds = |own: u64, waited: i64| (own as f64 + waited.max(0) as f64) / tick as f64;
    let mut all = Used::default();
    for stat in below {
        all.user += seconds(stat.utime, stat.cutime);
        all.system += seconds(stat.stime, stat.cstime);
        all.minor += stat.minflt as f64 + stat.cminflt as f64;
        all.major += stat.majflt as f64 + stat.cmajflt as f64;
        all.resident += stat.rss as f64 * page as f64;
    }
    Reading::Value(all)
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
    let stats = numbers.filter_map(|process| {
        let file = std::fs::File::open(format!("/proc/{process}/stat")).ok()?;
        Stat::from_read(file).ok()
    });
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
        let used = used(own).into_value().unwrap();
        assert!(used.minor > 0.0 && used.resident > 0.0, "{used:?}");
        kill_below(shell.id());
        // It ends because its child did.
        assert!(shell.wait().unwrap().code().is_some());
        assert_eq!(super::used(shell.id()).reason(), Some("no process is there"));
    }
}
