//! Counters of a thread: CPU time, switches, page faults, run delay, migrations, instructions and cycles.

use std::fs::File;
use std::os::unix::fs::FileExt;

use figure::Reading;
use rustix::time::ClockId;

use crate::clock::system_seconds;
use crate::pmu::{self, Meter};

/// A reading of one thread's counters, or the difference of two.
#[derive(Clone, Debug)]
pub struct Counters {
    /// User and system CPU time, in seconds.
    pub cpu_time: f64,
    /// Voluntary context switches (ru_nvcsw).
    pub voluntary_switches: f64,
    /// Involuntary context switches (ru_nivcsw).
    pub involuntary_switches: f64,
    pub minor_faults: f64,
    pub major_faults: f64,
    /// Seconds on a run queue without a CPU.
    pub run_delay: Reading<f64>,
    pub migrations: Reading<f64>,
    /// Instructions and cycles in user mode.
    pub pmu: Reading<pmu::Counts>,
}

/// A thread's run-queue statistics so far (/proc/PID/schedstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Nanoseconds on a run queue without a CPU.
    pub run_delay: u64,
    pub slices: u64,
}

/// The open counter files of a thread. Create it on that thread.
pub struct Source {
    schedstat: Result<File, String>,
    sched: Result<File, String>,
    meter: Meter,
}

impl Source {
    pub fn of_this_thread() -> Self {
        let open = |name: &str| {
            let path = format!("/proc/thread-self/{name}");
            File::open(&path).map_err(|error| format!("{path}: {}", error.kind()))
        };
        Source { schedstat: open("schedstat"), sched: open("sched"), meter: Meter::of_this_thread() }
    }

    /// Reads the counters; call it on the thread that created this.
    pub fn read(&self) -> Counters {
        let usage = usage(libc::RUSAGE_THREAD);
        Counters {
            // getrusage may round to clock ticks, and lags up to one tick for a running thread.
            cpu_time: system_seconds(ClockId::ThreadCPUTime),
            voluntary_switches: usage.ru_nvcsw as f64,
            involuntary_switches: usage.ru_nivcsw as f64,
            minor_faults: usage.ru_minflt as f64,
            major_faults: usage.ru_majflt as f64,
            run_delay: read(&self.schedstat, run_delay),
            migrations: read(&self.sched, migrations),
            pmu: self.meter.read(),
        }
    }

    /// Reads only the run-queue statistics; `None` if the kernel has none (CONFIG_SCHED_INFO). One system
    /// call of about a microsecond, without allocation.
    pub fn sched_stat(&self) -> Option<SchedStat> {
        let mut text = [0; 96];
        let length = self.schedstat.as_ref().ok()?.read_at(&mut text, 0).ok()?;
        sched_stat(&text[..length])
    }
}

impl Counters {
    /// The growth since an earlier reading. A counter that fell is unknown.
    pub fn since(&self, earlier: &Counters) -> Counters {
        let grown = |now: &Reading<f64>, then: &Reading<f64>| {
            now.clone().and(then.clone()).and_then(|(now, then)| {
                Reading::or_unknown((now >= then).then_some(now - then), "the counter ran backwards")
            })
        };
        Counters {
            cpu_time: self.cpu_time - earlier.cpu_time,
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
            involuntary_switches: self.involuntary_switches - earlier.involuntary_switches,
            minor_faults: self.minor_faults - earlier.minor_faults,
            major_faults: self.major_faults - earlier.major_faults,
            run_delay: grown(&self.run_delay, &earlier.run_delay),
            migrations: grown(&self.migrations, &earlier.migrations),
            pmu: pmu::since(&self.pmu, &earlier.pmu),
        }
    }
}

pub fn process_cpu_time() -> f64 {
    system_seconds(ClockId::ProcessCPUTime)
}

pub fn children_cpu_time() -> f64 {
    cpu_seconds(&usage(libc::RUSAGE_CHILDREN))
}

pub fn children_switches() -> f64 {
    let usage = usage(libc::RUSAGE_CHILDREN);
    (usage.ru_nvcsw + usage.ru_nivcsw) as f64
}

/// Resource usage of the process, the thread or the children (getrusage(2)).
pub(crate) fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all zeros is a valid rusage, and the call only writes to it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}

pub(crate) fn cpu_seconds(usage: &libc::rusage) -> f64 {
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

pub(crate) fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

fn read(file: &Result<File, String>, parse: fn(&str) -> Option<f64>) -> Reading<f64> {
    let mut buffer = vec![0; 16 << 10];
    match file.as_ref().map(|file| file.read_at(&mut buffer, 0)) {
        Ok(Ok(length)) => {
            let text = String::from_utf8_lossy(&buffer[..length]);
            Reading::or_unknown(parse(&text), "/proc/thread-self: not in the known format")
        }
        Ok(Err(error)) => Reading::unknown(format!("/proc/thread-self: {error}")),
        Err(reason) => Reading::unknown(reason),
    }
}

/// Fields 2 and 3 of schedstat (Documentation/scheduler/sched-stats.rst).
fn sched_stat(text: &[u8]) -> Option<SchedStat> {
    let mut fields = text
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|field| !field.is_empty())
        .map(|field| std::str::from_utf8(field).ok()?.parse::<u64>().ok());
    let (_, run_delay, slices) = (fields.next()??, fields.next()??, fields.next()??);
    // The reading thread had at least one slice: 0 means that the kernel does not count.
    (slices > 0).then_some(SchedStat { run_delay, slices })
}

fn run_delay(schedstat: &str) -> Option<f64> {
    sched_stat(schedstat.as_bytes()).map(|stat| stat.run_delay as f64 * 1e-9)
}

/// `se.nr_migrations` of /proc/PID/sched (CONFIG_SCHED_DEBUG).
fn migrations(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        assert_eq!(run_delay("1000 2500000000 3\n"), Some(2.5));
        assert_eq!(run_delay("0 0 0\n"), None, "a kernel that does not count");
        assert_eq!(run_delay("x"), None);
        assert_eq!(sched_stat(b"1000 2500 3\n"), Some(SchedStat { run_delay: 2500, slices: 3 }));
        assert_eq!([&b"0 0 0\n"[..], b"12 x 3\n", b"12 5\n"].map(sched_stat), [None; 3]);
        assert_eq!(migrations("se.vruntime : 1.0\nse.nr_migrations      :     17\n"), Some(17.0));
        assert_eq!(migrations(""), None);
    }

    #[test]
    fn cpu_time_is_exact_between_ticks() {
        let source = Source::of_this_thread();
        for _ in 0..20 {
            let (start, before) = (system_seconds(ClockId::ThreadCPUTime), source.read());
            while system_seconds(ClockId::ThreadCPUTime) - start < 0.001 {}
            assert!(source.read().since(&before).cpu_time > 0.0005, "resolves less than a tick");
        }
    }

    #[test]
    fn faults_of_this_thread_are_counted() {
        let source = Source::of_this_thread();
        let before = source.read();
        // Larger than malloc's heap threshold (32 MiB): a new mapping with untouched pages.
        let touched = vec![1u8; 40 << 20];
        let change = source.read().since(&before);
        assert!(change.minor_faults > 0.0 && change.cpu_time >= 0.0, "{touched:.0?}", touched = change);
        drop(touched);
    }
}
