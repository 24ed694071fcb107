//! Who the other processes were that used our CPUs.

use std::fmt;

use derive_more::Display;
use figure::Reading;
use figure::evidence::{OTHERS_CPUS, OTHERS_HIDDEN, OTHERS_NAMES, OTHERS_PIDS};
use figure::format::{percent, plain_to};
use serde::Serialize;

use crate::subject::Subject;
use crate::values::{CpuCount, hundredths};

/// The most processes that are named.
const MOST: usize = 3;
/// The longest name that is printed. The kernel keeps 15 bytes of a process's name, and more of a kernel worker's.
const MAX_NAME: usize = 32;
/// From this share of a CPU on, load without a named process is mentioned: less is lost in the clock ticks of `/proc/PID/stat`.
const UNNAMED: f64 = 0.05;

/// A process that is named.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{name} (PID {pid})")]
pub struct Process {
    /// Its name, fit to be printed.
    pub name: String,
    /// Its process ID.
    pub pid: u32,
    /// CPUs that it kept busy on average.
    pub cpus: CpuCount,
}

/// The processes behind the foreign load of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Others {
    /// Those that used most, the most first.
    pub named: Vec<Process>,
    /// How many further ones there were, and the CPUs that these kept busy.
    pub more: (usize, CpuCount),
    /// CPUs that are busy with none of these: processes that started and ended between two readings, or that are hidden.
    pub unnamed: CpuCount,
    /// Why some may be hidden; empty if none is.
    pub hidden: String,
}

/// Kernel threads with a switch, by the beginning of their names, and the command (Documentation/admin-guide: mm/damon/usage.rst,
/// mm/ksm.rst, sysctl/vm.rst).
const SWITCHES: &[(&str, &str)] = &[
    ("[kdamond", "echo off > /sys/kernel/mm/damon/admin/kdamonds/N/state"),
    ("[ksmd", "echo 0 > /sys/kernel/mm/ksm/run"),
    ("[kcompactd", "sysctl vm.compaction_proactiveness=0"),
];

/// What to do where no process is known.
pub(crate) const STOP_OTHERS: &str = "stop the other programs (top), or ";

impl Others {
    /// What to do about the process that used most of our CPUs. A kernel thread, whose name is in brackets, takes no signal.
    pub fn remedy(&self) -> String {
        let Some(main) = self.named.first() else { return STOP_OTHERS.to_owned() };
        let switch = SWITCHES.iter().find(|(name, _)| main.name.starts_with(name));
        match switch {
            Some((_, command)) => format!("as root: {command}; or "),
            None if main.name.starts_with('[') => format!("{main} is a kernel thread: "),
            None => format!("stop {main}, or "),
        }
    }
}

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> =
            self.named.iter().map(|process| format!("{process} {}", process.cpus)).collect();
        let (count, used) = self.more;
        if used.0 >= UNNAMED {
            parts.push(format!("{count} more {used}"));
        }
        if self.unnamed.0 >= UNNAMED {
            parts.push(match self.hidden.as_str() {
                "" => format!("short-lived processes {}", self.unnamed),
                why => format!("not visible {} ({})", self.unnamed, plain_to(why, 100)),
            });
        }
        f.write_str(&parts.join(", "))
    }
}

/// A share of the time of so many CPUs: `1.4 of 2 CPUs (68 %)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{} of {} ({})", hundredths(share * cpus), CpuCount(*cpus), percent(*share))]
pub struct CpuShare {
    pub share: f64,
    pub cpus: f64,
}

/// [`CpuShare`] as text.
pub fn of_cpus(share: f64, cpus: f64) -> String {
    CpuShare { share, cpus }.to_string()
}

/// The processes that kept `foreign` of our CPUs busy. Unknown where no round notes them, or none of them was visible.
pub fn others(subject: &Subject, foreign: f64) -> Reading<Others> {
    let mut all: Vec<Process> = Vec::new();
    let (mut seconds, mut hidden, mut unknown) = (0.0, String::new(), String::from("no round was kept"));
    for round in subject.figure.used_rounds() {
        let evidence = &round.evidence;
        let noted = evidence.get(OTHERS_NAMES).and(evidence.get(OTHERS_PIDS)).and(evidence.get(OTHERS_CPUS));
        let ((names, pids), used) = match noted {
            Reading::Value(noted) => noted,
            Reading::Unknown(reason) => {
                unknown = reason;
                continue;
            }
        };
        seconds += round.duration;
        hidden = evidence.get(OTHERS_HIDDEN).into_value().filter(|why| !why.is_empty()).unwrap_or(hidden);
        for ((name, pid), used) in names.lines().zip(pids).zip(used) {
            let (name, pid) = (plain_to(name, MAX_NAME), pid.max(0.0) as u32);
            let used = used.max(0.0) * round.duration;
            match all.iter_mut().find(|known| known.pid == pid && known.name == name) {
                Some(known) => known.cpus.0 += used,
                None => all.push(Process { name, pid, cpus: CpuCount(used) }),
            }
        }
    }
    if seconds <= 0.0 {
        return Reading::Unknown(unknown);
    }
    all.sort_by(|a, b| b.cpus.0.total_cmp(&a.cpus.0));
    let together = all.iter().map(|process| process.cpus.0).sum::<f64>() / seconds;
    // Between rounds our CPUs were theirs alone, and some of it may have been on other CPUs.
    let part = (foreign / together).min(1.0);
    all.iter_mut().for_each(|process| process.cpus.0 *= part / seconds);
    let unnamed = (foreign - together).max(0.0);
    if all.is_empty() && unnamed < UNNAMED {
        return Reading::unknown("none was busy between two rounds");
    }
    let more = all.split_off(all.len().min(MOST));
    let more = (more.len(), CpuCount(more.iter().map(|process| process.cpus.0).sum()));
    Reading::Value(Others { named: all, more, unnamed: CpuCount(unnamed), hidden })
}
