//! Limits of a process's control groups: its group and all ancestors up to the mount, in versions 1 and 2
//! (Documentation/admin-guide/cgroup-v1, cgroup-v2.rst).
//!
//! /proc/self/cgroup names the group in each hierarchy. /proc/self/mountinfo names the mount point of the
//! hierarchy and the mounted part. In a container the group may lie outside of that part. Then only the
//! limits at the mount point can be read, and the groups above are unknown.

use figure::host::{Cgroup, CgroupLevel};
use figure::{CpuList, Reading};

use crate::Tree;

/// Ancestors that are read. Real trees are about ten deep; the kernel's limit (cgroup.max.depth) is higher.
const MAX_DEPTH: usize = 64;
/// Hierarchies that are read. The kernel has about 15 controllers.
const MAX_HIERARCHIES: usize = 32;
/// Bytes of a line. A longer line is damaged, because a path has at most 4096 bytes (PATH_MAX).
const MAX_LINE: usize = 16_384;
/// v1 prints "no limit" as the largest multiple of the page size below 2⁶³. No machine has an exbibyte.
const UNLIMITED: u64 = 1 << 60;
/// Controllers of v1 with limits that affect figures.
const CONTROLLERS: [&str; 3] = ["cpu", "cpuset", "memory"];

/// A mounted hierarchy: one line of /proc/self/mountinfo.
struct Mount {
    version: u8,
    /// The group that is visible at `point`.
    root: String,
    point: String,
    controllers: Vec<String>,
}

/// Describes the groups of this process. A cpuset is reported only if it excludes a CPU of `online`.
pub fn describe(tree: &Tree, online: &CpuList) -> Cgroup {
    of_process(tree, "self", online)
}

pub fn of_process(tree: &Tree, process: &str, online: &CpuList) -> Cgroup {
    let file = format!("/proc/{process}/cgroup");
    // The mounts of this process, which reads the limits.
    let (groups, mounts) = match (tree.text(&file), tree.text("/proc/self/mountinfo")) {
        (Reading::Value(groups), Reading::Value(mounts)) => (groups, mounts),
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => {
            return Cgroup { levels: Vec::new(), unknown: Some(reason) };
        }
    };
    let short = |line: &&str| line.len() <= MAX_LINE;
    let mounts: Vec<Mount> = mounts.lines().filter(short).filter_map(mount).take(MAX_HIERARCHIES).collect();
    let mut levels: Vec<CgroupLevel> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    for line in groups.lines().filter(short).take(MAX_HIERARCHIES) {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let controllers: Vec<&str> = controllers.split(',').filter(|name| !name.is_empty()).collect();
        let version = if controllers.is_empty() { 2 } else { 1 };
        if version == 1 && !controllers.iter().any(|name| CONTROLLERS.contains(name)) {
            continue;
        }
        let fits = |mount: &&Mount| {
            mount.version == version
                && controllers.iter().all(|name| mount.controllers.iter().any(|has| has == name))
        };
        let what = match version {
            1 => format!("cgroup v1 {}", controllers.join(",")),
            _ => "cgroup v2".to_owned(),
        };
        let Some(mount) = mounts.iter().find(fits) else {
            unknown.push(format!(
                "{what} is not mounted here: limits of this process's group {path} cannot be read"
            ));
            continue;
        };
        let (directories, hidden) = directories(tree, mount, path);
        if let Some(hidden) = hidden {
            unknown.push(format!("{what}: {hidden}"));
        }
        for directory in directories {
            // Two controllers of v1 may be one hierarchy under two names (cpu -> cpu,cpuacct).
            if levels.iter().all(|level| level.directory != directory) {
                let describe = if version == 2 { v2 } else { v1 };
                levels.push(describe(tree, directory, online));
            }
        }
    }
    if levels.is_empty() && unknown.is_empty() {
        unknown.push(format!("{file} names no group with limits"));
    }
    Cgroup { levels, unknown: (!unknown.is_empty()).then(|| unknown.join("; ")) }
}

/// `36 35 98:0 /root /point options [tags…] - type source super-options` (proc_pid_mountinfo(5)).
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
    let mut fields = after.split(' ');
    let (version, controllers) = match fields.next()? {
        "cgroup" => (1, fields.nth(1)?.split(',').map(str::to_owned).collect()),
        "cgroup2" => (2, Vec::new()),
        _ => return None,
    };
    Some(Mount { version, root, point, controllers })
}

/// Decodes spaces, tabs, newlines and backslashes, which are written \040, \011, \012, \134.
fn unescaped(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (code, character)| text.replace(code, character))
}

/// The directories of a group and its ancestors, innermost first, and why others are hidden, if so.
fn directories(tree: &Tree, mount: &Mount, path: &str) -> (Vec<String>, Option<String>) {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (group, root) = (parts(path), parts(&mount.root));
    let climbs = |parts: &[String]| parts.iter().any(|part| part == "..");
    let mut hidden = None;
    let mut below: Vec<String> = match group.strip_prefix(root.as_slice()) {
        Some(below) if !climbs(&group) && !climbs(&root) => below.to_vec(),
        _ => {
            hidden = Some(format!(
                "this process's group {path} lies outside of what is mounted at {}; only the limits at its top are read",
                mount.point
            ));
            Vec::new()
        }
    };
    below.truncate(MAX_DEPTH);
    let at = |below: &[String]| {
        let point = mount.point.trim_end_matches('/');
        std::iter::once(point).chain(below.iter().map(String::as_str)).collect::<Vec<_>>().join("/")
    };
    while !below.is_empty() && !tree.exists(at(&below)) {
        hidden = Some(format!(
            "the directory of this process's group {path} is not visible below {}",
            mount.point
        ));
        below.pop();
    }
    // The real root of v2 has no cgroup.events. A root that has it is the top of a namespace.
    let top = mount.point.as_str();
    if hidden.is_none()
        && (!root.is_empty() || mount.version == 2 && tree.exists(format!("{top}/cgroup.events")))
    {
        hidden =
            Some(format!("groups above {top} are hidden from this container; they may set tighter limits"));
    }
    let levels = (0..=below.len()).rev().map(|depth| at(&below[..depth])).collect();
    (levels, hidden)
}

fn v2(tree: &Tree, directory: String, online: &CpuList) -> CgroupLevel {
    let text = |file: &str| tree.text(format!("{directory}/{file}")).into_value();
    // "max" and a missing file mean no limit.
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    let quota = text("cpu.max").and_then(|line| {
        let (quota, period) = line.split_once(' ')?;
        cpus_worth(quota.parse().ok()?, period.trim().parse().ok()?)
    });
    CgroupLevel {
        version: 2,
        quota_cpus: quota,
        cpuset: cpuset(text("cpuset.cpus.effective"), online),
        memory_limit: [number("memory.max"), number("memory.high")].into_iter().flatten().min(),
        memory_used: used(number("memory.current"), text("memory.stat"), "inactive_file"),
        directory,
    }
}

fn v1(tree: &Tree, directory: String, online: &CpuList) -> CgroupLevel {
    let text = |file: &str| tree.text(format!("{directory}/{file}")).into_value();
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    // A quota of -1 means none; it does not parse as u64.
    let quota = number("cpu.cfs_quota_us").zip(number("cpu.cfs_period_us"));
    CgroupLevel {
        version: 1,
        quota_cpus: quota.and_then(|(quota, period)| cpus_worth(quota, period)),
        cpuset: cpuset(text("cpuset.effective_cpus").or_else(|| text("cpuset.cpus")), online),
        memory_limit: number("memory.limit_in_bytes").filter(|limit| *limit < UNLIMITED),
        memory_used: used(number("memory.usage_in_bytes"), text("memory.stat"), "total_inactive_file"),
        directory,
    }
}

fn cpus_worth(quota: u64, period: u64) -> Option<f64> {
    (period > 0).then(|| quota as f64 / period as f64)
}

/// The cpuset, if it excludes an online CPU.
fn cpuset(text: Option<String>, online: &CpuList) -> Option<CpuList> {
    let cpus: CpuList = text?.parse().ok()?;
    (!cpus.is_empty() && !online.is_subset(&cpus)).then(|| cpus.intersection(online))
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
    fn mountinfo_lines_of_both_versions() {
        let v1 = mount(
            "32 31 0:29 / /sys/fs/cgroup/cpu\\040x rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct",
        )
        .unwrap();
        assert_eq!((v1.version, v1.point.as_str()), (1, "/sys/fs/cgroup/cpu x"));
        assert!(v1.controllers.contains(&"cpuacct".to_owned()));
        let v2 = mount("41 31 0:38 /docker/a /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate").unwrap();
        assert_eq!((v2.version, v2.root.as_str()), (2, "/docker/a"));
        assert!(mount("22 27 0:21 / /proc rw - proc proc rw").is_none());
        assert!(mount("").is_none());
    }

    #[test]
    fn inactive_page_cache_does_not_count_as_used() {
        let stat = Some("anon 5\ninactive_file 30\n".to_owned());
        assert_eq!(used(Some(100), stat.clone(), "inactive_file"), Some(70));
        assert_eq!(used(Some(10), stat, "inactive_file"), Some(0));
        assert_eq!(used(None, None, "inactive_file"), None);
    }
}
