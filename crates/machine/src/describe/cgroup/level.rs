//! The files of one control group: limits, requests, and what it uses.

use figure::host::CgroupLevel;

use crate::Tree;

/// v1 prints "no limit" as the largest multiple of the page size below 2⁶³. No machine has an exbibyte.
const UNLIMITED: u64 = 1 << 60;

/// A group of version 2 (Documentation/admin-guide/cgroup-v2.rst).
pub fn v2(tree: &Tree, directory: String) -> CgroupLevel {
    let text = |file: &str| tree.text(format!("{directory}/{file}")).into_value();
    let list = |file: &str| text(&format!("{file}.effective")).or_else(|| text(file))?.parse().ok();
    // "max" and a missing file mean no limit.
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    let quota = text("cpu.max").and_then(|line| {
        let (quota, period) = line.split_once(' ')?;
        cpus_worth(quota.parse().ok()?, period.trim().parse().ok()?)
    });
    // A partition that the kernel could not make is `root invalid (reason)`.
    let partition = text("cpuset.cpus.partition");
    CgroupLevel {
        version: 2,
        quota_cpus: quota,
        cpu_weight: number("cpu.weight"),
        cpuset: list("cpuset.cpus"),
        is_exclusive: partition.is_some_and(|kind| ["root", "isolated"].contains(&kind.as_str())),
        mems: list("cpuset.mems"),
        memory_request: [number("memory.min"), number("memory.low")]
            .into_iter()
            .flatten()
            .max()
            .filter(|kept| *kept > 0),
        tasks_limit: number("pids.max"),
        tasks: number("pids.current"),
        memory_limit: [number("memory.max"), number("memory.high")].into_iter().flatten().min(),
        memory_used: used(number("memory.current"), text("memory.stat"), "inactive_file"),
        directory,
    }
}

/// A group of version 1 (Documentation/admin-guide/cgroup-v1). Names of cpuset files may lack their prefix.
pub fn v1(tree: &Tree, directory: String, is_prefixed: bool) -> CgroupLevel {
    let text = |file: &str| tree.text(format!("{directory}/{file}")).into_value();
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    let prefix = if is_prefixed { "cpuset." } else { "" };
    let list = |name: &str| {
        text(&format!("{prefix}effective_{name}")).or_else(|| text(&format!("{prefix}{name}")))?.parse().ok()
    };
    // A quota of -1 means none; it does not parse as u64.
    let quota = number("cpu.cfs_quota_us").zip(number("cpu.cfs_period_us"));
    CgroupLevel {
        version: 1,
        quota_cpus: quota.and_then(|(quota, period)| cpus_worth(quota, period)),
        cpu_weight: number("cpu.shares"),
        cpuset: list("cpus"),
        is_exclusive: number(&format!("{prefix}cpu_exclusive")) == Some(1),
        mems: list("mems"),
        memory_request: number("memory.soft_limit_in_bytes").filter(|kept| *kept < UNLIMITED),
        tasks_limit: number("pids.max"),
        tasks: number("pids.current"),
        memory_limit: number("memory.limit_in_bytes").filter(|limit| *limit < UNLIMITED),
        memory_used: used(number("memory.usage_in_bytes"), text("memory.stat"), "total_inactive_file"),
        directory,
    }
}

fn cpus_worth(quota: u64, period: u64) -> Option<f64> {
    (period > 0).then(|| quota as f64 / period as f64)
}

/// The charged memory minus the inactive file pages, which the kernel drops first.
fn used(charged: Option<u64>, stat: Option<String>, inactive: &str) -> Option<u64> {
    let field = |line: &str| line.strip_prefix(inactive)?.trim().parse::<u64>().ok();
    let inactive = stat.and_then(|stat| stat.lines().find_map(field)).unwrap_or(0);
    Some(charged?.saturating_sub(inactive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inactive_page_cache_does_not_count_as_used() {
        let stat = Some("anon 5\ninactive_file 30\n".to_owned());
        assert_eq!(used(Some(100), stat.clone(), "inactive_file"), Some(70));
        assert_eq!(used(Some(10), stat, "inactive_file"), Some(0));
        assert_eq!(used(None, None, "inactive_file"), None);
    }
}
