//! The study's table: shares of some functions in a profile, with everything that they call (cumulative) and
//! by themselves (flat).

use super::names::any;
use super::pprof::CpuProfile;
use super::rules::KERNEL_ENTRY;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    /// Names in the study's Go (1.16), and in current Go.
    pub functions: &'static [&'static str],
}

/// The study's rows, and `net/http` in addition to `fasthttp`.
pub const ROWS: &[Row] = &[
    Row { name: "net/http conn.serve", functions: &["net/http.(*conn).serve"] },
    Row { name: "fasthttp workerPool.workerFunc", functions: &["*/fasthttp.(*workerPool).workerFunc"] },
    Row { name: "fasthttp Server.serveConn", functions: &["*/fasthttp.(*Server).serveConn"] },
    Row { name: "gnet eventloop", functions: &["*/gnet/v2.(*eventloop).*"] },
    // The network poller is not below syscall.Syscall: neither in Go 1.16 nor today.
    Row { name: "syscall.Syscall", functions: &["syscall.Syscall", "syscall.Syscall6"] },
    Row { name: "bufio.Writer.Flush", functions: &["bufio.(*Writer).Flush"] },
    Row { name: "runtime.mcall", functions: &["runtime.mcall"] },
    Row { name: "runtime.schedule", functions: &["runtime.schedule"] },
    Row { name: "runtime.findRunnable", functions: &["runtime.findRunnable", "runtime.findrunnable"] },
    Row { name: "runtime.netpoll", functions: &["runtime.netpoll"] },
    Row {
        name: "runtime.epollwait",
        functions: &[
            "runtime.epollwait",
            "runtime/internal/syscall.EpollWait",
            "internal/runtime/syscall.EpollWait",
            "internal/runtime/syscall/linux.EpollWait",
        ],
    },
];

/// 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Samples with the function anywhere in the stack.
    pub cumulative: f64,
    /// Samples with the function at the leaf. In Go 1.16 `syscall.Syscall` entered the kernel itself. Today it
    /// calls functions that do; they count as part of it. Otherwise only `Syscall6` would have a flat share, of
    /// all system calls together.
    pub flat: f64,
}

/// `None` for a profile without samples.
pub fn shares(profile: &CpuProfile, row: &Row) -> Option<Shares> {
    let has = |patterns: &[&str]| -> Vec<bool> {
        profile.functions().iter().map(|name| any(patterns, name)).collect()
    };
    let (in_row, entry) = (has(row.functions), has(KERNEL_ENTRY));
    let is = |flags: &[bool], frame: u32| flags.get(frame as usize).copied().unwrap_or(false);
    let (mut total, mut cumulative, mut flat) = (0.0, 0.0, 0.0);
    for stack in profile.stacks() {
        let nanoseconds = stack.nanoseconds as f64;
        total += nanoseconds;
        if stack.frames.iter().any(|frame| is(&in_row, *frame)) {
            cumulative += nanoseconds;
        }
        let leaf = stack.frames.iter().find(|frame| is(&in_row, **frame) || !is(&entry, **frame));
        if leaf.is_some_and(|frame| is(&in_row, *frame)) {
            flat += nanoseconds;
        }
    }
    (total > 0.0).then(|| Shares { cumulative: cumulative / total, flat: flat / total })
}

#[cfg(test)]
mod unit {
    use super::super::pprof::unit::{FASTHTTP, GNET, NETHTTP, profile};
    use super::*;

    fn row_shares(profile: &CpuProfile, name: &str) -> Shares {
        shares(profile, ROWS.iter().find(|row| row.name == name).unwrap()).unwrap()
    }

    #[test]
    fn rows_are_those_of_records() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names, figure::loads::STUDY_ROWS.map(|row| row.name));
    }

    #[test]
    fn recursion_counts_once_and_kernel_entries_belong_to_their_caller() {
        let profile = profile(&[
            (
                "internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.write main.f",
                5,
            ),
            ("runtime.memmove syscall.Syscall main.f", 1),
            (
                "internal/runtime/syscall/linux.Syscall6 internal/runtime/syscall/linux.EpollWait runtime.netpoll",
                3,
            ),
            ("main.g runtime.schedule runtime.schedule", 1),
        ]);
        assert_eq!(row_shares(&profile, "syscall.Syscall"), Shares { cumulative: 0.6, flat: 0.5 });
        assert_eq!(row_shares(&profile, "runtime.epollwait"), Shares { cumulative: 0.3, flat: 0.3 });
        assert_eq!(row_shares(&profile, "runtime.netpoll"), Shares { cumulative: 0.3, flat: 0.0 });
        assert_eq!(row_shares(&profile, "runtime.schedule"), Shares { cumulative: 0.1, flat: 0.0 });
        assert_eq!(shares(&CpuProfile::default(), &ROWS[0]), None);
    }

    #[test]
    fn rows_match_names_of_the_studys_go() {
        let profile = profile(&[
            (
                "runtime.epollwait runtime.netpoll runtime.findrunnable runtime.schedule runtime.park_m runtime.mcall",
                3,
            ),
            ("syscall.Syscall syscall.write internal/poll.(*FD).Write", 1),
        ]);
        for (name, cumulative, flat) in [
            ("runtime.epollwait", 0.75, 0.75),
            ("runtime.findRunnable", 0.75, 0.0),
            ("runtime.mcall", 0.75, 0.0),
            ("syscall.Syscall", 0.25, 0.25),
        ] {
            assert_eq!(row_shares(&profile, name), Shares { cumulative, flat }, "{name}");
        }
    }

    #[test]
    fn shares_are_those_of_go_tool_pprof() {
        // Percentages of `go tool pprof -top -cum`.
        let expected = [
            (NETHTTP, "net/http conn.serve", 88.88),
            (NETHTTP, "bufio.Writer.Flush", 48.49),
            (NETHTTP, "syscall.Syscall", 54.78),
            (NETHTTP, "runtime.mcall", 6.65),
            (NETHTTP, "runtime.schedule", 5.44),
            (NETHTTP, "runtime.findRunnable", 4.23),
            (NETHTTP, "runtime.netpoll", 2.06),
            (NETHTTP, "runtime.epollwait", 1.69),
            (FASTHTTP, "fasthttp workerPool.workerFunc", 92.77),
            (FASTHTTP, "fasthttp Server.serveConn", 92.77),
            (FASTHTTP, "syscall.Syscall", 65.09),
            (FASTHTTP, "runtime.findRunnable", 5.74),
            (GNET, "gnet eventloop", 68.49),
            (GNET, "runtime.mcall", 17.65),
        ];
        for (bytes, name, cumulative) in expected {
            let shares = row_shares(&CpuProfile::read(bytes).unwrap(), name);
            assert!((shares.cumulative * 100.0 - cumulative).abs() < 0.005, "{name}: {shares:?}");
            assert!(shares.flat <= shares.cumulative);
        }
    }
}
