//! Sources of evidence that a container, a filter of system calls or a setting keeps from this process.
//!
//! On the running machine each system call is tried with arguments that change nothing. A filter answers it before the kernel looks
//! at the arguments (seccomp(2)), so the error tells them apart. A captured machine only shows files.

use std::io;

use figure::Reading;
use figure::host::{Hidden, Source};

use crate::perf::{PARANOID_OWN_PROCESSES, is_filtered, paranoid_refusal, refusal};
use crate::tree::{MAX_LINE, printable};
use crate::{Tree, perf, processes};

/// Why a source is hidden; `None` where it is shown.
type Look = fn(&Tree) -> Option<String>;

const SOURCES: &[(Source, Look)] = &[
    (Source::PerfEvents, perf_events),
    (Source::Pinning, pinning),
    (Source::MemoryPlacement, memory_placement),
    (Source::CpuTimes, cpu_times),
    (Source::Interrupts, interrupts),
    (Source::Processes, other_processes),
];

pub fn describe(tree: &Tree) -> Vec<Hidden> {
    let hidden = |(source, look): &(Source, Look)| Some(Hidden { source: *source, reason: look(tree)? });
    SOURCES.iter().filter_map(hidden).collect()
}

/// What a system call answers to empty arguments, of the running machine.
fn refused(tree: &Tree, call: libc::c_long) -> bool {
    // SAFETY: null pointers and lengths of 0: the kernel reads and writes nothing, and refuses (EFAULT, EINVAL) or does nothing.
    let answer = || unsafe { libc::syscall(call, 0, 0, 0, 0, 0, 0) };
    let is_refusal = |error: io::Error| matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
    tree.is_live() && answer() < 0 && is_refusal(io::Error::last_os_error())
}

fn perf_events(tree: &Tree) -> Option<String> {
    if refused(tree, libc::SYS_perf_event_open) {
        return Some(refusal(tree, PARANOID_OWN_PROCESSES));
    }
    let shows_level = tree.is_live() || tree.exists(perf::LEVEL);
    paranoid_refusal(tree, PARANOID_OWN_PROCESSES).filter(|_| shows_level)
}

fn pinning(tree: &Tree) -> Option<String> {
    refused(tree, libc::SYS_sched_setaffinity).then(|| filtered("sched_setaffinity"))
}

/// A kernel without NUMA has neither call, and one node.
fn memory_placement(tree: &Tree) -> Option<String> {
    let is_refused =
        is_filtered(tree) && [libc::SYS_mbind, libc::SYS_move_pages].iter().any(|call| refused(tree, *call));
    is_refused.then(|| filtered("mbind and move_pages"))
}

fn filtered(calls: &str) -> String {
    format!("a filter of system calls (seccomp) refuses {calls}")
}

/// A program (lxcfs) serves that file, with the CPU time of the container alone. A mount of another kind is no sign of a container.
fn cpu_times(tree: &Tree) -> Option<String> {
    let by = |text: String| {
        let line = text.lines().find(|line| line.split(' ').nth(4) == Some("/proc/stat"))?;
        line.split(" - ").nth(1)?.split(' ').next().map(str::to_owned)
    };
    let kind = printable(&tree.text("/proc/self/mountinfo").into_value().and_then(by)?, MAX_LINE);
    kind.starts_with("fuse")
        .then(|| format!("{kind} is mounted over /proc/stat: it has the CPU time of this container alone"))
}

/// Docker and others mount /dev/null over it (moby, oci/defaults.go).
fn interrupts(tree: &Tree) -> Option<String> {
    match tree.text("/proc/interrupts") {
        Reading::Value(text) => text.is_empty().then(|| "/proc/interrupts is masked".to_owned()),
        Reading::Unknown(reason) => tree.is_live().then_some(reason),
    }
}

fn other_processes(tree: &Tree) -> Option<String> {
    let shows_namespace = tree.is_live() || tree.link(processes::NAMESPACE).is_some();
    Some(processes::hidden(tree)).filter(|reason| shows_namespace && !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(files: &[(&str, &str)]) -> Vec<(Source, String)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        describe(&Tree::at(root.path())).into_iter().map(|found| (found.source, found.reason)).collect()
    }

    const LEVEL: (&str, &str) = ("proc/sys/kernel/perf_event_paranoid", "2\n");
    const NODE: (&str, &str) = ("proc/self/ns/pid", "pid:[4026531836]");

    #[test]
    fn a_machine_that_shows_all_hides_nothing() {
        let mounts = "22 27 0:21 / /proc rw - proc proc rw\n";
        let bound =
            "22 27 0:21 / /proc rw - proc proc rw\n580 22 8:1 /stat /proc/stat rw - ext4 /dev/sda1 rw\n";
        for mounts in [mounts, bound] {
            let files = [LEVEL, NODE, ("proc/interrupts", "CPU0\n"), ("proc/self/mountinfo", mounts)];
            assert_eq!(hidden(&files), []);
        }
        // What a capture does not hold tells nothing.
        assert_eq!(hidden(&[LEVEL]), []);
    }

    #[test]
    fn each_source_says_what_hides_it() {
        let lxcfs = "22 27 0:21 / /proc rw - proc proc rw\n\
            580 22 0:49 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0\n";
        let found = hidden(&[
            ("proc/sys/kernel/perf_event_paranoid", "4\n"),
            ("proc/self/mountinfo", lxcfs),
            ("proc/interrupts", ""),
            ("proc/self/ns/pid", "pid:[4026532999]"),
        ]);
        let sources: Vec<Source> = found.iter().map(|(source, _)| *source).collect();
        assert_eq!(sources, [Source::PerfEvents, Source::CpuTimes, Source::Interrupts, Source::Processes]);
        assert!(found[0].1.ends_with("sudo sysctl kernel.perf_event_paranoid=2"), "{found:?}");
        assert!(found[1].1.starts_with("fuse.lxcfs is mounted over /proc/stat"), "{found:?}");
        assert!(found[3].1.contains("PID namespace"), "{found:?}");
        // Root may count events at any level.
        let root = ("proc/self/status", "CapEff:\t000001ffffffffff\n");
        assert_eq!(hidden(&[("proc/sys/kernel/perf_event_paranoid", "4\n"), root]), []);
    }

    #[test]
    fn what_a_filter_lets_through_is_not_refused() {
        // Tests run without a filter; tests/sandbox.rs has those that refuse.
        let live = Tree::live();
        if !is_filtered(&live) {
            assert!(!refused(&live, libc::SYS_sched_setaffinity) && !refused(&live, libc::SYS_mbind));
        }
    }
}
