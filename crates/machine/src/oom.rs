//! OOM kills by the kernel: in this process's control groups, and on the whole machine.

use figure::CpuList;
use figure::format::bytes;

use crate::Tree;
use crate::describe::cgroup;

/// Counters of OOM kills. Groups that cannot be read are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    /// The process's group and its ancestors, innermost first: `oom_kill` of memory.events (v2) or
    /// memory.oom_control (v1).
    groups: Vec<Group>,
    /// On the whole machine: `oom_kill` of /proc/vmstat, since Linux 4.13.
    machine: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    directory: String,
    limit: Option<u64>,
    kills: u64,
}

impl Kills {
    pub fn read(tree: &Tree) -> Kills {
        let count = |path: &str| tree.field(path, "oom_kill ")?.parse().ok();
        let levels = cgroup::of_process(tree, "self", &CpuList::default(), &CpuList::default()).levels;
        let groups = levels.into_iter().filter_map(|level| {
            let file = if level.version == 1 { "memory.oom_control" } else { "memory.events" };
            let kills = count(&format!("{}/{file}", level.directory))?;
            Some(Group { directory: level.directory, limit: level.memory_limit, kills })
        });
        Kills { groups: groups.collect(), machine: count("/proc/vmstat") }
    }

    /// What ran out of memory since an earlier reading, or that this is unknown. `None`: no OOM kill.
    pub fn cause_since(&self, before: &Kills) -> Option<String> {
        let has_grown = |group: &&Group| {
            let before = before.groups.iter().find(|before| before.directory == group.directory);
            before.is_some_and(|before| group.kills > before.kills)
        };
        let limited = self.groups.iter().filter(has_grown).find_map(|group| Some((group, group.limit?)));
        match (limited, self.machine, before.machine) {
            (Some((group, limit)), ..) => {
                let limit = bytes(limit as f64);
                Some(format!("the memory limit of the control group {} is {limit}", group.directory))
            }
            (None, Some(now), Some(then)) => {
                (now > then).then(|| "the machine ran out of memory (see dmesg)".to_owned())
            }
            _ => Some(
                "by hand, or because memory was short, which this kernel does not count (see dmesg)"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn kills(version: u8, group: u64, parent: u64, machine: u64) -> Kills {
        let root = tempfile::tempdir().unwrap();
        let (controller, cgroup, kind, file, limit) = match version {
            1 => (
                "memory",
                "4:memory:/job/7",
                "cgroup cgroup rw,memory",
                "memory.oom_control",
                "memory.limit_in_bytes",
            ),
            _ => ("unified", "0::/job/7", "cgroup2 cgroup2 rw", "memory.events", "memory.max"),
        };
        let mount = format!("sys/fs/cgroup/{controller}");
        let count = |kills: u64| format!("under_oom 0\noom_kill {kills}\noom_group_kill 9\n");
        for (path, text) in [
            ("proc/self/cgroup".to_owned(), cgroup.to_owned()),
            ("proc/self/mountinfo".to_owned(), format!("36 31 0:32 / /{mount} rw - {kind}")),
            ("proc/vmstat".to_owned(), format!("pgfault 1\noom_kill {machine}\n")),
            (format!("{mount}/job/7/{file}"), count(group)),
            (format!("{mount}/job/{file}"), count(parent)),
            (format!("{mount}/job/{limit}"), "209715200".to_owned()),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Kills::read(&Tree::at(root.path()))
    }

    #[test]
    fn the_group_with_the_limit_is_named() {
        for version in [1, 2] {
            let before = kills(version, 1, 1, 5);
            assert_eq!(before.cause_since(&before), None);
            let cause = kills(version, 2, 2, 6).cause_since(&before).unwrap();
            assert!(cause.contains("/job is 200 MiB"), "{cause}");
            assert!(kills(version, 1, 1, 6).cause_since(&before).unwrap().contains("machine"));
        }
        assert!(Kills::default().cause_since(&Kills::default()).unwrap().contains("does not count"));
    }
}
