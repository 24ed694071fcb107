//! Limits of a process's control groups: its group and all ancestors up to the mount, in versions 1 and 2
//! (Documentation/admin-guide/cgroup-v1, cgroup-v2.rst).
//!
//! /proc/self/cgroup names the group in each hierarchy. /proc/self/mountinfo names the mount point of the
//! hierarchy and the mounted part. In a container the group may lie outside of that part. Then only the
//! limits at the mount point can be read, and the groups above are unknown.
//!
//! Trees that other programs saved have other files: /proc/self/cpuset names the group of the cpuset alone, /proc/mounts the
//! mount points without the mounted part. Without either, hierarchies at their usual places count.

mod level;

use figure::host::{Cgroup, CgroupLevel};
use figure::{CpuList, Reading};

use super::contradictions::Contradictions;
use crate::Tree;
use crate::tree::{MAX_LINE as MAX_VALUE, printable};

/// Ancestors that are read. Real trees are about ten deep; the kernel's limit (cgroup.max.depth) is higher.
const MAX_DEPTH: usize = 64;
/// Hierarchies that are read. The kernel has about 15 controllers.
const MAX_HIERARCHIES: usize = 32;
/// Bytes of a line. A longer line is damaged, because a path has at most 4096 bytes (PATH_MAX).
const MAX_LINE: usize = 16_384;
/// Controllers of v1 with limits that affect figures.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];
/// Where the kubelet stores what its CPU manager did.
const CPU_MANAGER: &str = "/var/lib/kubelet/cpu_manager_state";
/// Where hierarchies usually are, with the type that they have in /proc/mounts, and a file of each.
const PLACES: [(&str, &str, &str); 9] = [
    ("/sys/fs/cgroup", "cgroup2 rw", "cgroup.controllers"),
    ("/sys/fs/cgroup", "cgroup2 rw", "cpuset.cpus.effective"),
    ("/sys/fs/cgroup/unified", "cgroup2 rw", "cgroup.controllers"),
    ("/sys/fs/cgroup/cpuset", "cgroup rw,cpuset", "cpuset.cpus"),
    ("/sys/fs/cgroup/cpu,cpuacct", "cgroup rw,cpu,cpuacct", "cpu.cfs_quota_us"),
    ("/sys/fs/cgroup/cpu", "cgroup rw,cpu,cpuacct", "cpu.cfs_quota_us"),
    ("/sys/fs/cgroup/memory", "cgroup rw,memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup/pids", "cgroup rw,pids", "pids.max"),
    ("/dev/cpuset", "cpuset rw", "cpus"),
];

/// A mounted hierarchy: one line of /proc/self/mountinfo or /proc/mounts.
struct Mount {
    version: u8,
    /// The group that is visible at `point`.
    root: String,
    point: String,
    controllers: Vec<String>,
    /// Names of files begin with that of the controller, as they do except in the cpuset file system and with `noprefix`.
    is_prefixed: bool,
}

/// The group of a process in one hierarchy.
struct Membership {
    version: u8,
    controllers: Vec<String>,
    path: String,
}

/// Describes the groups of this process. A cpuset is reported only if it excludes a CPU of `online`, or one of `nodes`.
pub fn describe(tree: &Tree, online: &CpuList, nodes: &CpuList, found: &Contradictions) -> Cgroup {
    let cgroup = Cgroup { cpu_manager: cpu_manager(tree), ..of_process(tree, "self", online, nodes) };
    let keeps_own = |mount: &Mount| mount.controllers.iter().any(|option| option == "cpuset_v2_mode");
    if mounts(tree).value().is_some_and(|mounts| mounts.iter().any(keeps_own)) {
        return cgroup;
    }
    for level in cgroup.levels.iter().filter(|level| level.version == 1) {
        against(tree, level, "cpus", online, found);
        against(tree, level, "mems", nodes, found);
    }
    cgroup
}

/// The policy in the kubelet's checkpoint (kubernetes, pkg/kubelet/cm/cpumanager/state). Readable for root on the node; a pod has
/// it only where it mounts the directory.
fn cpu_manager(tree: &Tree) -> Option<String> {
    cpu_manager_policy(&tree.text(CPU_MANAGER).into_value()?)
}

pub(crate) fn cpu_manager_policy(state: &str) -> Option<String> {
    let state: serde_json::Value = serde_json::from_str(state).ok()?;
    Some(printable(state.get("policyName")?.as_str()?, MAX_VALUE))
}

/// A cpuset of version 1 whose files differ: the kernel keeps both alike, unless the hierarchy is mounted with cpuset_v2_mode
/// (kernel/cgroup/cpuset.c). In version 2 they may differ in any group.
fn against(tree: &Tree, level: &CgroupLevel, name: &str, all: &CpuList, found: &Contradictions) {
    let list = |file: String| -> Option<CpuList> {
        let list: CpuList = tree.text(format!("{}/{file}", level.directory)).into_value()?.parse().ok()?;
        Some(list.intersection(all))
    };
    let both = list(format!("cpuset.{name}")).zip(list(format!("cpuset.effective_{name}")));
    let Some((own, effective)) = both.filter(|(own, effective)| own != effective) else { return };
    let sources = format!(
        "cpuset.{name} of {} has {own}, and cpuset.effective_{name} has {effective}, of those online",
        level.directory
    );
    found.add(&format!("cpuset ({name})"), sources, "the effective ones, which the kernel enforces");
}

pub fn of_process(tree: &Tree, process: &str, online: &CpuList, nodes: &CpuList) -> Cgroup {
    // The mounts of this process, which reads the limits.
    let read =
        mounts(tree).and_then(|mounts| memberships(tree, process, &mounts).map(|groups| (mounts, groups)));
    let (mounts, groups) = match read {
        Reading::Value(both) => both,
        Reading::Unknown(reason) => {
            // The missing group tells more than the missing mounts.
            let groups = tree.text(format!("/proc/{process}/cgroup"));
            let unknown = groups.reason().map_or(reason, str::to_owned);
            return Cgroup { unknown: Some(unknown), ..Cgroup::default() };
        }
    };
    let mut levels: Vec<CgroupLevel> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    // Where hierarchies of the machine begin with a group of this container.
    let mut tops: Vec<&str> = Vec::new();
    for Membership { version, controllers, path } in &groups {
        let fits = |mount: &&Mount| {
            mount.version == *version && controllers.iter().all(|name| mount.controllers.contains(name))
        };
        let what = match version {
            1 => format!("cgroup v1 {}", controllers.join(",")),
            _ => "cgroup v2".to_owned(),
        };
        let Some(mount) = mounts.iter().find(fits) else {
            // Not all systems have this hierarchy, and its limit moves no figure.
            if controllers.as_slice() == ["pids"] {
                continue;
            }
            unknown.push(format!(
                "{what} is not mounted here: limits of this process's group {path} cannot be read"
            ));
            continue;
        };
        let (directories, hidden) = directories(tree, mount, path);
        match hidden {
            Some(Hidden::Above) => tops.push(&mount.point),
            Some(Hidden::Own(why)) => unknown.push(format!("{what}: {why}")),
            None => {}
        }
        for directory in directories {
            // Two controllers of v1 may be one hierarchy under two names (cpu -> cpu,cpuacct).
            if levels.iter().all(|level| level.directory != directory) {
                let mut level = if *version == 2 {
                    level::v2(tree, directory)
                } else {
                    level::v1(tree, directory, mount.is_prefixed)
                };
                level.cpuset = level.cpuset.and_then(|set| narrow(set, online));
                level.mems = level.mems.and_then(|set| narrow(set, nodes));
                levels.push(level);
            }
        }
    }
    if !tops.is_empty() {
        unknown.insert(
            0,
            format!(
                "groups above {} are hidden from this container; they may set tighter limits",
                tops.join(", ")
            ),
        );
    }
    if !tree.exists(format!("/proc/{process}/cgroup")) {
        unknown
            .push(format!("/proc/{process}/cgroup is missing: other groups of this process may set limits"));
    }
    if levels.is_empty() && unknown.is_empty() {
        unknown.push(format!("/proc/{process}/cgroup names no group with limits"));
    }
    let unknown = (!unknown.is_empty()).then(|| unknown.join("; "));
    Cgroup { levels, unknown, ..Cgroup::default() }
}

/// The mounted hierarchies, from the first source that is shown.
fn mounts(tree: &Tree) -> Reading<Vec<Mount>> {
    let lines = |text: String, mount: fn(&str) -> Option<Mount>| -> Vec<Mount> {
        let short = |line: &&str| line.len() <= MAX_LINE;
        text.lines().filter(short).filter_map(mount).take(MAX_HIERARCHIES).collect()
    };
    let reason = match tree.text("/proc/self/mountinfo") {
        Reading::Value(text) => return Reading::Value(lines(text, mount)),
        Reading::Unknown(reason) => reason,
    };
    for file in ["/proc/self/mounts", "/proc/mounts"] {
        if let Reading::Value(text) = tree.text(file) {
            return Reading::Value(lines(text, mount_of_mounts));
        }
    }
    let is_there = |(point, _, file): &&(&str, &str, &str)| tree.exists(format!("{point}/{file}"));
    let usual = PLACES.iter().filter(is_there);
    let usual: Vec<Mount> =
        usual.filter_map(|(point, kind, _)| mount_of_mounts(&format!("none {point} {kind}"))).collect();
    if usual.is_empty() { Reading::Unknown(reason) } else { Reading::Value(usual) }
}

/// The groups of a process, from /proc/PID/cgroup, else that of its cpuset, else those at the top of each hierarchy.
fn memberships(tree: &Tree, process: &str, mounts: &[Mount]) -> Reading<Vec<Membership>> {
    let reason = match tree.text(format!("/proc/{process}/cgroup")) {
        Reading::Value(text) => {
            let short = |line: &&str| line.len() <= MAX_LINE;
            return Reading::Value(
                text.lines().filter(short).take(MAX_HIERARCHIES).filter_map(membership).collect(),
            );
        }
        Reading::Unknown(reason) => reason,
    };
    let of = |mount: &Mount, path: &str| Membership {
        version: mount.version,
        controllers: mount
            .controllers
            .iter()
            .filter(|name| CONTROLLERS.contains(&name.as_str()))
            .cloned()
            .collect(),
        path: path.to_owned(),
    };
    let cpuset =
        tree.text(format!("/proc/{process}/cpuset")).into_value().filter(|path| path.len() <= MAX_LINE);
    if let Some(path) = cpuset {
        let point = |mount: &Mount| format!("{}{path}", mount.point.trim_end_matches('/'));
        let has_cpuset = |mount: &&Mount| {
            let names: &[&str] = match (mount.version, mount.is_prefixed) {
                (2, _) => &["cpuset.cpus.effective", "cpuset.cpus"],
                (_, true) => &["cpuset.cpus"],
                (_, false) => &["cpus"],
            };
            names.iter().any(|name| tree.exists(format!("{}/{name}", point(mount))))
        };
        return Reading::Value(
            mounts.iter().find(has_cpuset).map(|mount| of(mount, &path)).into_iter().collect(),
        );
    }
    // On the running machine the reason tells more: a process that is gone, or no cgroups.
    if tree.is_live() || process != "self" || mounts.is_empty() {
        return Reading::Unknown(reason);
    }
    let top = mounts.iter().map(|mount| of(mount, &mount.root));
    Reading::Value(top.filter(|group| group.version == 2 || !group.controllers.is_empty()).collect())
}

/// `4:memory:/job/7`, `0::/user.slice`. `None` for a hierarchy without limits that are read.
fn membership(line: &str) -> Option<Membership> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let controllers: Vec<String> =
        controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let version = if controllers.is_empty() { 2 } else { 1 };
    let has_limits = version == 2 || controllers.iter().any(|name| CONTROLLERS.contains(&name.as_str()));
    has_limits.then(|| Membership { version, controllers, path: path.to_owned() })
}

/// `36 35 98:0 /root /point options [tags…] - type source super-options` (proc_pid_mountinfo(5)).
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    let mut fields = after.split(' ');
    hierarchy(root, point, fields.next()?, fields.nth(1).unwrap_or_default())
}

/// `source /point type options 0 0` (proc_pid_mounts(5)).
fn mount_of_mounts(line: &str) -> Option<Mount> {
    let mut fields = line.split(' ').skip(1);
    hierarchy("/", fields.next()?, fields.next()?, fields.next().unwrap_or_default())
}

fn hierarchy(root: &str, point: &str, kind: &str, options: &str) -> Option<Mount> {
    let options: Vec<String> = options.split(',').map(str::to_owned).collect();
    let (version, controllers, is_prefixed) = match kind {
        "cgroup" => {
            let is_prefixed = options.iter().all(|option| option != "noprefix");
            (1, options, is_prefixed)
        }
        "cpuset" => (1, vec!["cpuset".to_owned()], false),
        "cgroup2" => (2, Vec::new(), true),
        _ => return None,
    };
    Some(Mount { version, root: unescaped(root), point: unescaped(point), controllers, is_prefixed })
}

/// Decodes spaces, tabs, newlines and backslashes, which are written \040, \011, \012, \134.
fn unescaped(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (code, character)| text.replace(code, character))
}

/// Groups that are not shown.
enum Hidden {
    /// Those above the mount.
    Above,
    /// The process's own, and why.
    Own(String),
}

/// The directories of a group and its ancestors, innermost first, and what is hidden of them.
fn directories(tree: &Tree, mount: &Mount, path: &str) -> (Vec<String>, Option<Hidden>) {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (group, root) = (parts(path), parts(&mount.root));
    let climbs = |parts: &[String]| parts.iter().any(|part| part == "..");
    let mut hidden = None;
    let mut below: Vec<String> = match group.strip_prefix(root.as_slice()) {
        Some(below) if !climbs(&group) && !climbs(&root) => below.to_vec(),
        _ => {
            hidden = Some(Hidden::Own(format!(
                "this process's group {path} lies outside of what is mounted at {}; only the limits at its top are read",
                mount.point
            )));
            Vec::new()
        }
    };
    below.truncate(MAX_DEPTH);
    let at = |below: &[String]| {
        let point = mount.point.trim_end_matches('/');
        std::iter::once(point).chain(below.iter().map(String::as_str)).collect::<Vec<_>>().join("/")
    };
    while !below.is_empty() && !tree.exists(at(&below)) {
        hidden = Some(Hidden::Own(format!(
            "the directory of this process's group {path} is not visible below {}",
            mount.point
        )));
        below.pop();
    }
    // The real root of v2 has no cgroup.events. A root that has it is the top of a namespace.
    let top = mount.point.as_str();
    if hidden.is_none()
        && (!root.is_empty() || mount.version == 2 && tree.exists(format!("{top}/cgroup.events")))
    {
        hidden = Some(Hidden::Above);
    }
    let levels = (0..=below.len()).rev().map(|depth| at(&below[..depth])).collect();
    (levels, hidden)
}

/// What a cpuset leaves of `all`, if it excludes some.
fn narrow(set: CpuList, all: &CpuList) -> Option<CpuList> {
    (!set.is_empty() && !all.is_subset(&set)).then(|| set.intersection(all))
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
        let old = mount_of_mounts("cpuset /dev/cpuset cgroup rw,relatime,cpuset,noprefix 0 0").unwrap();
        assert_eq!((old.version, old.point.as_str(), old.is_prefixed), (1, "/dev/cpuset", false));
        assert!(!mount_of_mounts("none /dev/cpuset cpuset rw 0 0").unwrap().is_prefixed);
        assert!(mount_of_mounts("sysfs /sys sysfs rw 0 0").is_none() && mount_of_mounts("").is_none());
        assert!(mount("").is_none());
    }
}
