//! What memory a process has.

use std::path::Path;

use figure::Reading;

/// What a process has in memory, in bytes, all of it counted page by page by the kernel (smaps_rollup). The counters of
/// /proc/PID/statm are faster and may be off by dozens of pages for each CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resident {
    /// Pages of its own and shared ones.
    pub all: f64,
    /// Of these, such as belong to no file.
    pub anonymous: f64,
    /// Freed by madvise(MADV_FREE): the kernel takes them when it needs them, and counts them as resident until then.
    pub lazily_freed: f64,
    /// In huge pages.
    pub huge: f64,
    /// Swapped out.
    pub swapped: f64,
}

impl Resident {
    /// What is kept once the lazily freed is left out.
    pub fn kept(&self) -> f64 {
        self.all - self.lazily_freed
    }

    /// Of several processes together.
    pub fn and(self, other: Resident) -> Resident {
        Resident {
            all: self.all + other.all,
            anonymous: self.anonymous + other.anonymous,
            lazily_freed: self.lazily_freed + other.lazily_freed,
            huge: self.huge + other.huge,
            swapped: self.swapped + other.swapped,
        }
    }
}

/// Reads it of a process; `process` is its directory in /proc.
pub fn resident(process: &Path) -> Reading<Resident> {
    let path = process.join("smaps_rollup");
    let maps = match lab::maps::read(&path) {
        Ok(maps) => maps,
        Err(reason) => return Reading::unknown(reason),
    };
    let Some(map) = maps.0.first() else {
        return Reading::unknown(format!("{}: nothing is there", path.display()));
    };
    let of = |name: &str| map.extension.map.get(name).map_or(0.0, |bytes| *bytes as f64);
    Reading::Value(Resident {
        all: of("Rss"),
        anonymous: of("Anonymous"),
        lazily_freed: of("LazyFree"),
        huge: of("AnonHugePages"),
        swapped: of("Swap"),
    })
}

/// The most that a process had in memory since it began, or since [`forget_peak`], in bytes (VmHWM).
pub fn peak(process: &Path) -> Reading<f64> {
    let path = process.join("status");
    match lab::proc::text(&path) {
        Ok(status) => {
            let peak = lab::proc::memory(&status, "VmHWM");
            Reading::or_unknown(peak.map(|bytes| bytes as f64), "no VmHWM")
        }
        Err(error) => Reading::unknown(format!("{}: {error}", path.display())),
    }
}

/// Lets the peak begin anew (proc(5), clear_refs: 5). Whether it does.
pub fn forget_peak(process: &Path) -> bool {
    std::fs::write(process.join("clear_refs"), "5").is_ok()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_rollup_is_read_in_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let text = "5581d1800000-7ffd5a3f3000 ---p 00000000 00:00 0                          [rollup]\n\
                    Rss:               10240 kB\nPss:                9000 kB\nAnonymous:          8192 kB\n\
                    LazyFree:           2048 kB\nAnonHugePages:      4096 kB\nSwap:                  4 kB\n";
        std::fs::write(directory.path().join("smaps_rollup"), text).unwrap();
        let resident = resident(directory.path()).into_value().unwrap();
        assert_eq!((resident.all, resident.kept()), (10240.0 * 1024.0, 8192.0 * 1024.0));
        assert_eq!(
            (resident.anonymous, resident.huge, resident.swapped),
            (8192.0 * 1024.0, 4096.0 * 1024.0, 4096.0)
        );
        assert_eq!(resident.and(resident).all, 2.0 * resident.all);
    }

    #[test]
    fn a_peak_is_read_whatever_the_process_is_called() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("status"), b"Name:\t\xff\nVmHWM:\t    10 kB\n").unwrap();
        assert_eq!(peak(directory.path()), Reading::Value(10240.0));
    }

    #[test]
    fn this_process_has_memory_and_one_that_is_not_there_has_a_reason() {
        let own = Path::new("/proc/self");
        let (now, most) = (resident(own).into_value().unwrap(), peak(own).into_value().unwrap());
        assert!(now.all > 1e6 && most >= 0.9 * now.all, "{now:?} {most}");
        let gone = Path::new("/proc/0");
        assert!(resident(gone).reason().unwrap().contains("smaps_rollup"));
        assert!(peak(gone).reason().is_some());
    }
}
