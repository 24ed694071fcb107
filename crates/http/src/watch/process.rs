//! A process, the server or this one, by the kernel's books: threads, memory, descriptors, CPU time, switches, waiting for a CPU, and
//! where each of its threads may run and last ran.
//!
//! The readers take the fields that they need: those of procfs-core index a damaged line out of its bounds.

use std::collections::BTreeMap;

use figure::{CpuList, Reading, Unit};
use machine::Tree;
use rustix::param::clock_ticks_per_second;

use super::sample::{Sample, grown};

/// The most threads that are looked at, one by one. A Go program ends itself at 10 000.
const MOST_TASKS: usize = 10_000;

/// A process at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// When it started, in ticks since the boot: with its number it names it for good.
    pub started: u64,
    /// CPU seconds in user code, of all its threads, also of those that have ended; in steps of the clock's tick.
    pub user: f64,
    /// The same in the kernel.
    pub system: f64,
    /// Threads.
    pub threads: u64,
    /// Bytes that it has in memory.
    pub resident: Reading<f64>,
    /// Files and sockets that it has open.
    pub descriptors: Reading<f64>,
    /// Its threads by their numbers.
    pub tasks: Reading<BTreeMap<u32, Task>>,
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// CPUs that it may run on.
    pub allowed: Reading<CpuList>,
    /// The CPU that it last ran on.
    pub last: Reading<u32>,
    /// How often it gave its CPU up.
    pub voluntary: Reading<f64>,
    /// How often its CPU was taken from it.
    pub involuntary: Reading<f64>,
    /// Seconds in which it could have run and had no CPU.
    pub waited: Reading<f64>,
}

/// CPU seconds that processes have used, to the nanosecond. Unknown if there is none, one is gone, or it may not be asked.
pub fn cpu_of(processes: &[u32]) -> Reading<f64> {
    if processes.is_empty() {
        return Reading::unknown("no process is known");
    }
    let one = |pid: &u32| {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both calls write to the place they are given, which outlives them.
        let failed = unsafe {
            libc::clock_getcpuclockid(*pid as libc::pid_t, &mut clock) != 0
                || libc::clock_gettime(clock, &mut time) != 0
        };
        (!failed).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    };
    let all: Option<f64> = processes.iter().map(one).sum();
    Reading::or_unknown(all, "a process is gone")
}

/// Reads a process.
///
/// # Errors
/// Unknown if there is no such process, or if its books cannot be read.
pub fn read(tree: &Tree, process: u32) -> Reading<Process> {
    let directory = format!("/proc/{process}");
    let fields = match stat(tree, &directory) {
        Reading::Value(fields) => fields,
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    // Numbers of proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3).and_then(|word| word.parse::<u64>().ok());
    let (Some(user), Some(system), Some(threads), Some(started)) =
        (field(14), field(15), field(20), field(22))
    else {
        return Reading::Unknown(format!("{directory}/stat: not in the known format"));
    };
    let tick = clock_ticks_per_second() as f64;
    let status = tree.text(format!("{directory}/status"));
    Reading::Value(Process {
        started,
        user: user as f64 / tick,
        system: system as f64 / tick,
        threads,
        // In kB, which are 1024 bytes.
        resident: line(&status, &directory, "VmRSS").map(|kilobytes| kilobytes * 1024.0),
        descriptors: descriptors(tree, &directory),
        tasks: tasks(tree, &directory),
    })
}

/// The fields of a stat file from the third on: the second, the name, may hold anything, brackets and spaces too.
fn stat(tree: &Tree, directory: &str) -> Reading<Vec<String>> {
    let fields = |text: String| match text.rsplit_once(')') {
        Some((_, rest)) => rest.split_ascii_whitespace().map(str::to_owned).collect(),
        None => Vec::new(),
    };
    tree.text(format!("{directory}/stat")).map(fields)
}

/// The number of a line of a status file: `VmRSS:     5216 kB`.
fn line(status: &Reading<String>, directory: &str, name: &str) -> Reading<f64> {
    match status {
        Reading::Value(text) => {
            let number = word(text, name).and_then(|word| word.parse::<u64>().ok());
            Reading::or_unknown(number.map(|number| number as f64), &format!("{directory}/status: no {name}"))
        }
        Reading::Unknown(reason) => Reading::unknown(reason),
    }
}

fn word<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.split_ascii_whitespace().next()
}

/// Since Linux 6.2 the size of the directory is their number (f1f1f2569901, "proc: report open files as size in stat() for
/// /proc/pid/fd"): to list 16 000 of them each second would cost milliseconds.
fn descriptors(tree: &Tree, directory: &str) -> Reading<f64> {
    let path = format!("{directory}/fd");
    if tree.is_live()
        && let Ok(about) = std::fs::metadata(tree.path(&path))
        && about.len() > 0
    {
        return Reading::Value(about.len() as f64);
    }
    match std::fs::read_dir(tree.path(&path)) {
        Ok(entries) => Reading::Value(entries.count() as f64),
        Err(error) => Reading::Unknown(format!("{path}: {}", error.kind())),
    }
}

fn tasks(tree: &Tree, directory: &str) -> Reading<BTreeMap<u32, Task>> {
    let numbers = tree.numbered(format!("{directory}/task"), "");
    match numbers.len() {
        0 => Reading::Unknown(format!("{directory}/task: no thread is shown")),
        1..=MOST_TASKS => Reading::Value(
            numbers.into_iter().filter_map(|number| Some((number, task(tree, directory, number)?))).collect(),
        ),
        many => Reading::Unknown(format!("{directory}/task: {many} threads are too many to look at")),
    }
}

/// `None` of a thread that has ended since it was listed.
fn task(tree: &Tree, directory: &str, number: u32) -> Option<Task> {
    let directory = format!("{directory}/task/{number}");
    let stat = stat(tree, &directory).into_value()?;
    let status = tree.text(format!("{directory}/status"));
    let allowed = match &status {
        Reading::Value(text) => Reading::or_unknown(
            word(text, "Cpus_allowed_list").and_then(|list| list.parse().ok()),
            &format!("{directory}/status: no Cpus_allowed_list"),
        ),
        Reading::Unknown(reason) => Reading::unknown(reason),
    };
    Some(Task {
        allowed,
        last: Reading::or_unknown(
            stat.get(39 - 3).and_then(|word| word.parse().ok()),
            &format!("{directory}/stat: no field 39"),
        ),
        voluntary: line(&status, &directory, "voluntary_ctxt_switches"),
        involuntary: line(&status, &directory, "nonvoluntary_ctxt_switches"),
        waited: waited(tree, &directory),
    })
}

/// The second number of schedstat, nanoseconds (CONFIG_SCHED_INFO).
fn waited(tree: &Tree, directory: &str) -> Reading<f64> {
    let file = format!("{directory}/schedstat");
    match tree.text(&file) {
        Reading::Value(text) => {
            let number = text.split_ascii_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
            Reading::or_unknown(
                number.map(|number| number as f64 / 1e9),
                &format!("{file}: not in the known format"),
            )
        }
        Reading::Unknown(reason) => Reading::Unknown(reason),
    }
}

/// What a process did between two looks at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// CPU seconds in user code.
    pub user: Reading<f64>,
    /// CPU seconds in the kernel.
    pub system: Reading<f64>,
    /// How often its threads gave their CPU up. Here and below: what a thread did that ended in between is not in it.
    pub voluntary: Reading<f64>,
    /// How often their CPU was taken from them.
    pub involuntary: Reading<f64>,
    /// Seconds in which threads could have run and had no CPU, of all together.
    pub waited: Reading<f64>,
}

impl Process {
    /// What it did since an earlier look. All is unknown if another process has its number by now.
    pub fn since(&self, before: &Process) -> Change {
        if self.started != before.started {
            let other = || Reading::unknown("the process has ended; another has its number");
            return Change {
                user: other(),
                system: other(),
                voluntary: other(),
                involuntary: other(),
                waited: other(),
            };
        }
        let spent = |what, then, now| grown(what, &Reading::Value(then), &Reading::Value(now));
        Change {
            user: spent("utime", before.user, self.user),
            system: spent("stime", before.system, self.system),
            voluntary: self.summed(before, "voluntary_ctxt_switches", |task| &task.voluntary),
            involuntary: self.summed(before, "nonvoluntary_ctxt_switches", |task| &task.involuntary),
            waited: self.summed(before, "schedstat", |task| &task.waited),
        }
    }

    fn summed(&self, before: &Process, what: &str, of: fn(&Task) -> &Reading<f64>) -> Reading<f64> {
        let (then, now) = match (&before.tasks, &self.tasks) {
            (Reading::Value(then), Reading::Value(now)) => (then, now),
            (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => return Reading::unknown(reason),
        };
        let mut sum = 0.0;
        for (number, task) in now {
            // A thread that is new began at 0.
            let zero = Reading::Value(0.0);
            match grown(what, then.get(number).map_or(&zero, of), of(task)) {
                Reading::Value(growth) => sum += growth,
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
        Reading::Value(sum)
    }

    /// CPUs that its threads may run on, all together; unknown if that of one is.
    pub fn allowed(&self) -> Reading<CpuList> {
        self.gathered(|task| task.allowed.clone().map(|list| list.iter().collect()))
    }

    /// CPUs that its threads last ran on.
    pub fn last(&self) -> Reading<CpuList> {
        self.gathered(|task| task.last.clone().map(|cpu| vec![cpu]))
    }

    fn gathered(&self, of: impl Fn(&Task) -> Reading<Vec<u32>>) -> Reading<CpuList> {
        let tasks = match &self.tasks {
            Reading::Value(tasks) => tasks,
            Reading::Unknown(reason) => return Reading::unknown(reason),
        };
        let mut cpus = CpuList::new();
        for task in tasks.values() {
            match of(task) {
                Reading::Value(more) => more.into_iter().for_each(|cpu| cpus.insert(cpu)),
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
        Reading::Value(cpus)
    }
}

/// Names of the samples of a process, after its own: `server.user`.
pub const NAMES: [&str; 8] =
    ["user", "system", "voluntary", "involuntary", "waited", "threads", "resident", "descriptors"];

/// What happened to a process between two looks, as samples whose counters hold their growth.
pub fn samples(whose: &str, before: &Reading<Process>, after: &Reading<Process>) -> Vec<Sample> {
    let change = match (before, after) {
        (Reading::Value(before), Reading::Value(after)) => Reading::Value(after.since(before)),
        (_, Reading::Unknown(reason)) | (Reading::Unknown(reason), _) => Reading::unknown(reason),
    };
    let counter = |name: &str, unit: Unit, of: fn(&Change) -> &Reading<f64>| {
        let value = match &change {
            Reading::Value(change) => of(change).clone(),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        Sample::counter(format!("{whose}.{name}"), unit, value)
    };
    let level = |name: &str, unit: Unit, of: fn(&Process) -> Reading<f64>| {
        let value = match after {
            Reading::Value(after) => of(after),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        Sample::level(format!("{whose}.{name}"), unit, value)
    };
    vec![
        counter(NAMES[0], Unit::SECONDS, |change| &change.user),
        counter(NAMES[1], Unit::SECONDS, |change| &change.system),
        counter(NAMES[2], Unit::ONE, |change| &change.voluntary),
        counter(NAMES[3], Unit::ONE, |change| &change.involuntary),
        counter(NAMES[4], Unit::SECONDS, |change| &change.waited),
        level(NAMES[5], Unit::ONE, |process| Reading::Value(process.threads as f64)),
        level(NAMES[6], Unit::BYTES, |process| process.resident.clone()),
        level(NAMES[7], Unit::ONE, |process| process.descriptors.clone()),
    ]
}
