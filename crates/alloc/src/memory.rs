//! The memory of a process.

use std::path::Path;

use figure::Reading;

/// Resident memory of a process in bytes, counted page by page by the kernel (smaps_rollup). The counters of
/// /proc/PID/statm are faster, but may be off by dozens of pages for each CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resident {
    /// Private and shared pages.
    pub total: f64,
    /// Freed by madvise(MADV_FREE): resident until the kernel needs them.
    pub lazily_freed: f64,
    pub huge: f64,
}

impl Resident {
    pub fn without_lazily_freed(&self) -> f64 {
        self.total - self.lazily_freed
    }

    pub fn and(self, other: Resident) -> Resident {
        Resident {
            total: self.total + other.total,
            lazily_freed: self.lazily_freed + other.lazily_freed,
            huge: self.huge + other.huge,
        }
    }
}

/// Reads the resident memory of a process. `process` is its directory in /proc.
pub fn resident(process: &Path) -> Reading<Resident> {
    let path = process.join("smaps_rollup");
    let maps = match lab::maps::read(&path) {
        Ok(maps) => maps,
        Err(failure) => return Reading::unknown(failure.to_string()),
    };
    let Some(map) = maps.0.first() else {
        return Reading::unknown(format!("{}: not found", path.display()));
    };
    let bytes = |name: &str| map.extension.map.get(name).map_or(0.0, |bytes| *bytes as f64);
    Reading::Value(Resident {
        total: bytes("Rss"),
        lazily_freed: bytes("LazyFree"),
        huge: bytes("AnonHugePages"),
    })
}

/// Peak RSS of a process since its start, or since [`reset_peak`], in bytes (VmHWM).
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

/// Resets the peak RSS (proc(5), clear_refs: 5). Whether that succeeded.
pub fn reset_peak(process: &Path) -> bool {
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
        assert_eq!((resident.total, resident.without_lazily_freed()), (10240.0 * 1024.0, 8192.0 * 1024.0));
        assert_eq!((resident.lazily_freed, resident.huge), (2048.0 * 1024.0, 4096.0 * 1024.0));
        assert_eq!(resident.and(resident).total, 2.0 * resident.total);
    }

    #[test]
    fn a_peak_is_read_whatever_the_process_is_called() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("status"), b"Name:\t\xff\nVmHWM:\t    10 kB\n").unwrap();
        assert_eq!(peak(directory.path()), Reading::Value(10240.0));
    }

    #[test]
    fn a_process_that_does_not_exist_has_a_reason() {
        let process = Path::new("/proc/self");
        let (now, most) = (resident(process).into_value().unwrap(), peak(process).into_value().unwrap());
        assert!(now.total > 1e6 && most >= 0.9 * now.total, "{now:?} {most}");
        let gone = Path::new("/proc/0");
        assert!(resident(gone).reason().unwrap().contains("smaps_rollup"));
        assert!(peak(gone).reason().is_some());
    }
}
