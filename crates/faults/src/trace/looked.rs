//! What is read of processes besides what the kernel's records tell: what they are called, what they have mapped, how much memory they had.
//! From the machine, or from what was noted there.

use std::collections::HashMap;

use procfs_core::process::{MMPermissions, MMapPath, MemoryMap};

use super::record::Map;

/// What is read of a process besides what the kernel's records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// The process.
    pub process: u32,
    /// Its name; untrusted.
    pub name: String,
    /// What it has mapped.
    pub maps: Vec<Map>,
}

impl Looked {
    /// Reads it from /proc, as far as it is there.
    fn at(process: u32) -> Looked {
        let name = lab::proc::text(format!("/proc/{process}/comm")).unwrap_or_default();
        let maps = lab::maps::read(format!("/proc/{process}/maps")).map_or(Vec::new(), |maps| maps.0);
        let allows = |map: &MemoryMap, bit, value| if map.perms.contains(bit) { value } else { 0 };
        let of = |map: &MemoryMap| Map {
            process,
            start: map.address.0,
            end: map.address.1,
            offset: map.offset,
            protection: allows(map, MMPermissions::READ, 1)
                | allows(map, MMPermissions::WRITE, 2)
                | allows(map, MMPermissions::EXECUTE, 4),
            is_private: map.perms.contains(MMPermissions::PRIVATE),
            name: named(&map.pathname),
        };
        Looked { process, name: name.trim_end().to_owned(), maps: maps.iter().map(of).collect() }
    }
}

/// Where it is read.
#[derive(Debug, Default)]
pub enum Source {
    /// From the machine.
    #[default]
    Machine,
    /// The same, and noted, with the time.
    Noted(Vec<(u64, Looked)>),
    /// From what was noted then, by process.
    Kept(HashMap<u32, Vec<(u64, Looked)>>),
}

impl Source {
    /// The most bytes that a process had mapped at once so far (VmPeak); `None` of one that is gone, and where nothing was noted of it.
    pub fn most_mapped(&self, process: u32) -> Option<u64> {
        match self {
            Source::Machine | Source::Noted(_) => {
                lab::proc::memory(&lab::proc::text(format!("/proc/{process}/status")).ok()?, "VmPeak")
            }
            Source::Kept(_) => None,
        }
    }

    /// Looks at a process at this time; nothing is there of one that is gone.
    pub fn look(&mut self, process: u32, time: u64) -> Looked {
        match self {
            Source::Machine => Looked::at(process),
            Source::Noted(all) => {
                let looked = Looked::at(process);
                all.push((time, looked.clone()));
                looked
            }
            // The one of that time, or the one before: a process is not looked at oftener than it was then.
            Source::Kept(all) => {
                let of_process = all.get(&process).map_or(&[][..], Vec::as_slice);
                let later = of_process.iter().find(|(then, _)| then / 1000 >= time / 1000);
                later.or(of_process.last()).map(|(_, looked)| looked.clone()).unwrap_or_default()
            }
        }
    }
}

/// The most bytes that a process had in memory so far; `None` of one that is gone.
pub fn peak_of(process: u32) -> Option<u64> {
    lab::proc::memory(&lab::proc::text(format!("/proc/{process}/status")).ok()?, "VmHWM")
}

/// The name of a process that the kernel says has ended, and that goes on all the same: it executed a program with rights that whoever watches
/// it may not have, and its events were closed (begin_new_exec in fs/exec.c).
pub fn goes_on(process: u32) -> Option<String> {
    /// It is on its way to its end (include/linux/sched.h).
    const PF_EXITING: u32 = 4;
    let stat = lab::tree::stat(process)?;
    (!"ZXx".contains(stat.state) && stat.flags & PF_EXITING == 0).then_some(stat.comm)
}

/// As the kernel names a mapping in its records.
fn named(path: &MMapPath) -> String {
    match path {
        MMapPath::Path(path) => path.to_string_lossy().into_owned(),
        MMapPath::Heap => "[heap]".to_owned(),
        MMapPath::Stack | MMapPath::TStack(_) => "[stack]".to_owned(),
        MMapPath::Vdso => "[vdso]".to_owned(),
        MMapPath::Anonymous => String::new(),
        _ => "[other]".to_owned(),
    }
}

/// Events of the whole machine since it was started that concern faults: NUMA hinting, and huge pages given. What this kernel does
/// not count it does not do.
pub fn machine_events() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let count = |name: &str| {
        let mut words = text.lines().filter_map(|line| line.split_once(' '));
        words.find(|(word, _)| *word == name).and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(0)
    };
    ["numa_hint_faults", "thp_fault_alloc"].map(count)
}

/// Tasks of a process; none of one that is gone.
pub fn tasks_of(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
pub(crate) mod unit {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process whose name was cut within a character, and whose program lies by a path that is no UTF-8. It
    /// sleeps until it is dropped.
    pub(crate) struct Stranger {
        child: Child,
        _directory: tempfile::TempDir,
    }

    impl Stranger {
        pub(crate) fn new() -> Stranger {
            let directory = tempfile::tempdir().unwrap();
            let inner = directory.path().join(OsStr::from_bytes(b"\xff\xfe"));
            std::fs::create_dir(&inner).unwrap();
            let program = inner.join("ééééééééé");
            std::fs::copy("/bin/sleep", &program).unwrap();
            let mut command = Command::new(&program);
            command.arg0("sleep").arg("600").stdout(Stdio::null()).stderr(Stdio::null());
            let mut spawned = command.spawn();
            // A test beside this one forked while the copy was open for writing.
            while spawned.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
            {
                std::thread::yield_now();
                spawned = command.spawn();
            }
            let mut stranger = Stranger { child: spawned.unwrap(), _directory: directory };
            while !stranger.is_loaded() {
                assert_eq!(stranger.child.try_wait().unwrap(), None, "it sleeps");
                std::thread::yield_now();
            }
            stranger
        }

        /// It is there before it has its name, and that before its program is mapped.
        fn is_loaded(&self) -> bool {
            let maps = std::fs::read(format!("/proc/{}/maps", self.child.id())).unwrap();
            maps.windows(4).any(|bytes| bytes == b"/\xff\xfe/")
        }

        pub(crate) fn process(&self) -> u32 {
            self.child.id()
        }
    }

    impl Drop for Stranger {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    fn a_process_is_seen_whatever_it_is_called() {
        let stranger = Stranger::new();
        let (looked, peak) = (Looked::at(stranger.process()), peak_of(stranger.process()));
        assert_eq!(looked.name, "ééééééé\u{fffd}");
        assert!(
            looked.maps.iter().any(|map| map.name.ends_with("/\u{fffd}\u{fffd}/ééééééééé")),
            "{looked:?}"
        );
        assert!(peak.is_some_and(|bytes| bytes > 0));
    }
}
