//! What /proc says about processes beyond the kernel's records: names, mappings, memory. Read from this
//! machine, or from the snapshots of an event log.

use std::collections::HashMap;

use procfs_core::process::{MMPermissions, MMapPath, MemoryMap};

use super::dax::DaxMounts;
use super::growth::Resident;
use super::record::Map;

/// A process as /proc shows it at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSnapshot {
    pub process: u32,
    /// Its name; untrusted.
    pub name: String,
    pub maps: Vec<Map>,
}

impl ProcessSnapshot {
    /// Reads /proc; what is missing there stays empty.
    fn read(process: u32, mounts: &mut DaxMounts) -> ProcessSnapshot {
        let name = lab::proc::text(format!("/proc/{process}/comm")).unwrap_or_default();
        let maps = lab::maps::read(format!("/proc/{process}/maps")).map_or(Vec::new(), |maps| maps.0);
        let allows = |map: &MemoryMap, bit, value| if map.perms.contains(bit) { value } else { 0 };
        let convert = |map: &MemoryMap| {
            let device = (map.dev.0.unsigned_abs(), map.dev.1.unsigned_abs());
            Map {
                process,
                start: map.address.0,
                end: map.address.1,
                offset: map.offset,
                protection: allows(map, MMPermissions::READ, 1)
                    | allows(map, MMPermissions::WRITE, 2)
                    | allows(map, MMPermissions::EXECUTE, 4),
                is_private: map.perms.contains(MMPermissions::PRIVATE),
                name: record_name(&map.pathname),
                device,
                is_dax: mounts.have(process, device),
            }
        };
        ProcessSnapshot {
            process,
            name: name.trim_end().to_owned(),
            maps: maps.iter().map(convert).collect(),
        }
    }
}

#[derive(Debug, Default)]
pub enum SnapshotSource {
    #[default]
    Live,
    /// This machine; each is also recorded, with its time.
    Recording(Vec<(u64, ProcessSnapshot)>),
    /// Those that were recorded, by process.
    Replay(HashMap<u32, Vec<(u64, ProcessSnapshot)>>),
}

impl SnapshotSource {
    /// The most bytes that a process had mapped (VmPeak); `None` if it has ended, and in a replay.
    pub fn most_mapped(&self, process: u32) -> Option<u64> {
        let is_live = !matches!(self, SnapshotSource::Replay(_));
        if is_live { lab::proc::memory(&status(process)?, "VmPeak") } else { None }
    }

    /// Takes a snapshot of a process at this time; it is empty if the process has ended.
    pub fn take(&mut self, process: u32, time: u64, mounts: &mut DaxMounts) -> ProcessSnapshot {
        match self {
            SnapshotSource::Live => ProcessSnapshot::read(process, mounts),
            SnapshotSource::Recording(all) => {
                let snapshot = ProcessSnapshot::read(process, mounts);
                all.push((time, snapshot.clone()));
                snapshot
            }
            // The first from this time on, or the last: a replay may ask at other times than another version did.
            SnapshotSource::Replay(all) => {
                let recorded = all.get(&process).map_or(&[][..], Vec::as_slice);
                let later = recorded.iter().find(|(then, _)| then / 1000 >= time / 1000);
                later.or(recorded.last()).map(|(_, snapshot)| snapshot.clone()).unwrap_or_default()
            }
        }
    }
}

/// What a process has in memory, by its `status`.
pub fn resident(status: &str) -> Option<Resident> {
    let bytes = |name: &str| lab::proc::memory(status, name);
    let others = bytes("RssFile").unwrap_or(0) + bytes("RssShmem").unwrap_or(0);
    Some(Resident { most: bytes("VmHWM")?, anonymous: bytes("RssAnon").unwrap_or(0), others, huge: 0 })
}

pub fn status(process: u32) -> Option<String> {
    lab::proc::text(format!("/proc/{process}/status")).ok()
}

/// The name of a process that still runs after its events ended: it executed a program with other rights than
/// this process, and the kernel closed its events (begin_new_exec in fs/exec.c).
pub fn name_if_alive(process: u32) -> Option<String> {
    /// The process is exiting (include/linux/sched.h).
    const PF_EXITING: u32 = 4;
    let stat = lab::process_tree::stat(process)?;
    (!"ZXx".contains(stat.state) && stat.flags & PF_EXITING == 0).then_some(stat.comm)
}

/// The name of a mapping as the kernel's records have it.
fn record_name(path: &MMapPath) -> String {
    match path {
        MMapPath::Path(path) => path.to_string_lossy().into_owned(),
        MMapPath::Heap => "[heap]".to_owned(),
        MMapPath::Stack | MMapPath::TStack(_) => "[stack]".to_owned(),
        MMapPath::Vdso => "[vdso]".to_owned(),
        MMapPath::Anonymous => String::new(),
        _ => "[other]".to_owned(),
    }
}

pub fn tasks_of(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod unit {
    use super::*;
    use lab::testing::OddlyNamed;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let odd = OddlyNamed::start();
        let (snapshot, status) =
            (ProcessSnapshot::read(odd.process(), &mut DaxMounts::default()), status(odd.process()));
        let peak = resident(&status.unwrap()).map(|memory| memory.most);
        assert_eq!(snapshot.name, "ééééééé\u{fffd}");
        assert!(
            snapshot.maps.iter().any(|map| map.name.ends_with("/\u{fffd}\u{fffd}/ééééééééé")),
            "{snapshot:?}"
        );
        assert!(peak.is_some_and(|bytes| bytes > 0));
    }
}
