//! /proc/stat: time of each CPU by kind.

use std::collections::BTreeMap;

use figure::{CpuList, Reading};

use super::change::grown;
use crate::Tree;

const FILE: &str = "/proc/stat";

/// Ticks per second of times in /proc: `sysconf(_SC_CLK_TCK)`. It is 100 by ABI on x86-64 and aarch64 for any
/// HZ of the kernel (include/uapi/asm-generic/param.h).
pub const USER_HZ: f64 = 100.0;

/// The columns of a `cpuN` line (proc_stat(5)). `guest` and `guest_nice` follow and are skipped, because user
/// and nice include them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    User,
    Nice,
    System,
    Irq = 5,
    Softirq,
    Steal,
}

/// Names of the columns that are read.
const NAMES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Columns of busy time. Idle, iowait and steal are not busy.
pub const BUSY: &[Column] = &[Column::User, Column::Nice, Column::System, Column::Irq, Column::Softirq];

#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Ticks by CPU and column. Old kernels and emulations have fewer columns.
    ticks: BTreeMap<u32, Vec<u64>>,
    /// Processes and threads that were started since boot; 0 where the kernel does not tell.
    started: u64,
}

pub fn read(tree: &Tree, cpus: &CpuList) -> Reading<Times> {
    tree.bytes(FILE).and_then(|bytes| parse(&bytes, cpus))
}

fn parse(bytes: &[u8], cpus: &CpuList) -> Reading<Times> {
    let mut times = Times::default();
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Some(started) = line.strip_prefix(b"processes ") {
            times.started =
                str::from_utf8(started).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        }
        let Some(line) = line.strip_prefix(b"cpu") else { continue };
        let Ok(line) = std::str::from_utf8(line) else {
            return Reading::Unknown(format!("{FILE}: not a text"));
        };
        let mut words = line.split_ascii_whitespace();
        // The line of all CPUs, "cpu  1 2 …", has no number.
        if line.starts_with(' ') {
            continue;
        }
        let Some(cpu) = words.next().and_then(|word| word.parse::<u32>().ok()) else {
            return Reading::Unknown(format!("{FILE}: a line 'cpu…' without a CPU number"));
        };
        if !cpus.contains(cpu) {
            continue;
        }
        match words.take(NAMES.len()).map(str::parse).collect::<Result<Vec<u64>, _>>() {
            Ok(ticks) => times.ticks.insert(cpu, ticks),
            Err(_) => return Reading::Unknown(format!("{FILE}: not a number in the line of CPU {cpu}")),
        };
    }
    Reading::Value(times)
}

/// Seconds that `cpus` together spent in `columns`.
pub fn growth(before: &Times, after: &Times, cpus: &CpuList, columns: &[Column]) -> Reading<f64> {
    if cpus.is_empty() {
        return Reading::unknown("no CPU is in use");
    }
    let mut ticks: u64 = 0;
    for cpu in cpus.iter() {
        let (Some(before), Some(after)) = (before.ticks.get(&cpu), after.ticks.get(&cpu)) else {
            return Reading::Unknown(format!("{FILE}: no line for CPU {cpu}, which is or was offline"));
        };
        // gVisor and similar kernels print zeros for each CPU. A CPU that was never even idle is not counted.
        if after.iter().all(|&column| column == 0) {
            return Reading::Unknown(format!("{FILE}: all zeros for CPU {cpu}: this kernel does not count"));
        }
        for &column in columns {
            let (index, name) = (column as usize, NAMES[column as usize]);
            let (Some(&before), Some(&after)) = (before.get(index), after.get(index)) else {
                return Reading::Unknown(format!("{FILE}: no column '{name}' in this kernel"));
            };
            match grown(&format!("{FILE}: {name} of CPU {cpu}"), before, after) {
                Reading::Value(growth) => ticks = ticks.saturating_add(growth),
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
    }
    Reading::Value(ticks as f64 / USER_HZ)
}

/// Processes and threads that were started in between.
pub fn started(before: &Times, after: &Times) -> Reading<u64> {
    grown(&format!("{FILE}: processes"), before.started, after.started)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Times {
        parse(text.as_bytes(), &"0-9".parse().unwrap()).into_value().unwrap()
    }

    fn spent(before: &str, after: &str, cpus: &str, columns: &[Column]) -> Reading<f64> {
        growth(&times(before), &times(after), &cpus.parse().unwrap(), columns)
    }

    #[test]
    fn a_guest_is_counted_once_and_idle_not_at_all() {
        //                user nice system idle iowait irq softirq steal guest guest_nice
        let before = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 10 50 900 70 1 2 5 40 4\nintr 1\n";
        let after = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 200 12 53 990 60 5 7 6 140 6\nintr 2\n";
        assert_eq!(spent(before, after, "0", BUSY), Reading::Value(1.14));
        assert_eq!(spent(before, after, "0", &[Column::Steal]), Reading::Value(0.01));
        assert_eq!(spent(before, after, "0", &[Column::Irq, Column::Softirq]), Reading::Value(0.09));
    }

    #[test]
    fn columns_that_an_old_kernel_lacks_are_unknown() {
        let reading = spent("cpu0 1 2 3 4\n", "cpu0 2 3 4 5\n", "0", &[Column::Steal]);
        assert_eq!(reading.reason(), Some("/proc/stat: no column 'steal' in this kernel"));
        let reading = spent("cpu0 1 2 3 4\n", "cpu0 2 3 4 5\n", "0", &[Column::User, Column::System]);
        assert_eq!(reading, Reading::Value(0.02));
    }

    #[test]
    fn steal_that_runs_backwards_is_unknown() {
        let reading = spent("cpu0 1 1 1 1 1 1 1 9\n", "cpu0 2 2 2 2 2 2 2 8\n", "0", &[Column::Steal]);
        assert_eq!(reading.reason(), Some("/proc/stat: steal of CPU 0 went backwards: 9, then 8"));
    }

    #[test]
    fn a_cpu_that_went_offline_is_unknown() {
        let both = "cpu0 1 1 1 1 1 1 1 1\ncpu1 1 1 1 1 1 1 1 1\n";
        let reading = spent(both, "cpu0 2 2 2 2 2 2 2 2\n", "0-1", BUSY);
        assert_eq!(reading.reason(), Some("/proc/stat: no line for CPU 1, which is or was offline"));
    }

    #[test]
    fn zeros_since_boot_are_unknown() {
        let zeros = "cpu0 0 0 0 0 0 0 0 0 0 0\n";
        assert!(spent(zeros, zeros, "0", &[Column::Steal]).reason().unwrap().contains("does not count"));
    }
}
