//! Permissions of perf_event_open(2), and why it is refused.

use figure::Reading;

use crate::tree::Tree;

pub(crate) const LEVEL: &str = "/proc/sys/kernel/perf_event_paranoid";
const STATUS: &str = "/proc/self/status";
/// Capabilities that permit counting other processes (include/uapi/linux/capability.h).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
/// The seccomp mode with a filter (proc_pid_status(5)).
const FILTERED: &str = "2";

/// The highest perf_event_paranoid at which an unprivileged user may count user code of own processes.
pub const PARANOID_OWN_PROCESSES: i64 = 2;
/// The highest perf_event_paranoid at which an unprivileged user may count whole CPUs.
pub const PARANOID_ALL_CPUS: i64 = 0;

/// Why the kernel would refuse: perf_event_paranoid is above `allowed`, and there is no CAP_PERFMON
/// (Documentation/admin-guide/perf-security.rst). A seccomp filter may refuse, too.
pub(crate) fn paranoid_refusal(tree: &Tree, allowed: i64) -> Option<String> {
    let level = match tree.number::<i64>(LEVEL) {
        Reading::Value(level) => level,
        Reading::Unknown(reason) => return Some(format!("this kernel has no performance events ({reason})")),
    };
    (level > allowed && !is_capable(tree))
        .then(|| format!("perf_event_paranoid is {level}: sudo sysctl kernel.perf_event_paranoid={allowed}"))
}

/// Why perf_event_open(2) failed with EACCES or EPERM, and what to do. `allowed`: one of the constants above.
pub fn refusal(tree: &Tree, allowed: i64) -> String {
    let cause = match (is_filtered(tree), is_capable(tree)) {
        (true, false) => {
            "a filter of system calls (seccomp) is set, as containers have one: docker run --cap-add PERFMON …"
        }
        // Profiles older than the capability want CAP_SYS_ADMIN, as Debian 12's of podman.
        (true, true) => {
            "a filter of system calls (seccomp) refuses it in spite of CAP_PERFMON: docker run --security-opt seccomp=unconfined …"
        }
        (false, _) => "it is not our process, or a security module or a locked-down kernel forbids it",
    };
    paranoid_refusal(tree, allowed)
        .unwrap_or_else(|| format!("perf_event_paranoid is not the cause: {cause}"))
}

pub fn is_filtered(tree: &Tree) -> bool {
    tree.field(STATUS, "Seccomp:").as_deref() == Some(FILTERED)
}

fn is_capable(tree: &Tree) -> bool {
    let set = tree.field(STATUS, "CapEff:").and_then(|set| u64::from_str_radix(&set, 16).ok()).unwrap_or(0);
    [CAP_SYS_ADMIN, CAP_PERFMON].iter().any(|capability| set >> capability & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(level: &str, status: &str, allowed: i64) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [(LEVEL, level), (STATUS, status)] {
            let path = root.path().join(&path[1..]);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        refusal(&Tree::at(root.path()), allowed)
    }

    #[test]
    fn the_true_cause_is_named() {
        const NONE: &str = "CapEff:\t0000000000000000\nSeccomp:\t0\n";
        const FILTER: &str = "CapEff:\t0000000000000000\nSeccomp:\t2\n";
        const ROOT: &str = "CapEff:\t000001ffffffffff\nSeccomp:\t2\n";
        assert!(refused("3\n", NONE, 2).ends_with("sudo sysctl kernel.perf_event_paranoid=2"));
        assert!(refused("2\n", FILTER, 0).ends_with("kernel.perf_event_paranoid=0"), "the level comes first");
        assert!(refused("2\n", FILTER, 2).contains("seccomp"));
        assert!(refused("4\n", ROOT, 0).contains("seccomp"), "the level does not apply to root");
        let other = refused("2\n", NONE, 2);
        assert!(other.contains("security module") && !other.contains("sysctl"), "{other}");
    }

    #[test]
    fn a_kernel_without_perf_events_is_named() {
        let root = tempfile::tempdir().unwrap();
        assert!(refusal(&Tree::at(root.path()), 2).starts_with("this kernel has no performance events ("));
    }
}
