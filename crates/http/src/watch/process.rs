//! Counters of a process from /proc: threads, memory, descriptors, CPU time, context switches, run delay, and
//! the CPUs of its threads.
//!
//! Reads only the needed fields: procfs-core panics on a damaged line.

use std::collections::BTreeMap;

use figure::{CpuList, Reading};
use machine::Tree;
use rustix::param::clock_ticks_per_second;

use super::sample::evaluate;

/// Most threads that are read. A Go program aborts at 10 000.
const MAX_TASKS: usize = 10_000;

/// CPU times and identity of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    pub parent: u32,
    pub group: u32,
    /// Start time in ticks since boot: with the pid it identifies the process.
    pub started: u64,
    /// A zombie: it has ended, and its parent has not waited for it.
    pub has_ended: bool,
    /// CPU seconds of all threads, including ended ones: in ns if the kernel allows, else in ticks.
    pub cpu: f64,
    /// User CPU seconds of all threads, including ended ones; in ticks.
    pub user: f64,
    /// System CPU seconds, likewise.
    pub system: f64,
    /// User CPU seconds of children that it waited for, and of theirs; in ticks.
    pub reaped_user: f64,
    /// System CPU seconds, likewise.
    pub reaped_system: f64,
    pub threads: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub times: Times,
    pub resident: Reading<f64>,
    pub descriptors: Reading<f64>,
    pub tasks: Reading<BTreeMap<u32, Task>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub allowed: Reading<CpuList>,
    /// The CPU of its last run.
    pub last: Reading<u32>,
    pub voluntary: Reading<f64>,
    pub involuntary: Reading<f64>,
    /// Run delay in seconds: runnable without a CPU.
    pub waited: Reading<f64>,
}

/// Sum of the processes' CPU seconds, in ns. Unknown if the list is empty, or a process is gone or not
/// accessible.
pub fn cpu_of(processes: &[u32]) -> Reading<f64> {
    if processes.is_empty() {
        return Reading::unknown("no process is known");
    }
    let sum: Option<f64> = processes.iter().map(|pid| cpu_clock(*pid)).sum();
    Reading::or_unknown(sum, "a process is gone")
}

/// CPU seconds, in ns.
fn cpu_clock(pid: u32) -> Option<f64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write to the given places, which outlive them.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) != 0
            || libc::clock_gettime(clock, &mut time) != 0
    };
    (!failed).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Reads /proc/PID/stat; `None` if the process does not exist, or the format is unknown.
pub fn times(tree: &Tree, process: u32) -> Option<Times> {
    let fields = stat(tree, &format!("/proc/{process}")).into_value()?;
    // Field numbers of proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3).and_then(|word| word.parse::<u64>().ok());
    let tick = clock_ticks_per_second() as f64;
    let seconds = |number: usize| field(number).map(|ticks| ticks as f64 / tick);
    let (user, system) = (seconds(14)?, seconds(15)?);
    let has_ended = matches!(fields.first().map(String::as_str), Some("Z" | "X"));
    // A captured machine's process has no clock here.
    let precise = if tree.is_live() && !has_ended { cpu_clock(process) } else { None };
    Some(Times {
        parent: field(4)? as u32,
        group: field(5)? as u32,
        started: field(22)?,
        has_ended,
        cpu: precise.unwrap_or(user + system),
        user,
        system,
        reaped_user: seconds(16)?,
        reaped_system: seconds(17)?,
        threads: field(20)?,
    })
}

/// Children of a process; `None` if the kernel does not list them (CONFIG_PROC_CHILDREN).
pub fn children(tree: &Tree, process: u32) -> Option<Vec<u32>> {
    let directory = format!("/proc/{process}/task");
    let lists = tree.numbered(&directory, "").into_iter().take(MAX_TASKS);
    let lists: Vec<String> =
        lists.filter_map(|task| tree.text(format!("{directory}/{task}/children")).into_value()).collect();
    let children = lists.iter().flat_map(|list| list.split_ascii_whitespace());
    (!lists.is_empty()).then(|| children.filter_map(|word| word.parse().ok()).collect())
}

/// Reads the rest of a process; `None` if it ended meanwhile.
pub fn read(tree: &Tree, process: u32, times: Times) -> Option<Process> {
    let directory = format!("/proc/{process}");
    if times.has_ended {
        let (resident, descriptors) = (Reading::Value(0.0), Reading::Value(0.0));
        return Some(Process { times, resident, descriptors, tasks: Reading::Value(BTreeMap::new()) });
    }
    let read = Process {
        resident: resident(tree, process),
        descriptors: descriptors(tree, &directory),
        tasks: tasks(tree, &directory),
        times,
    };
    let lacks = read.resident.value().is_none() || read.descriptors.value().is_none();
    if (lacks || read.tasks.value().is_none())
        && self::times(tree, process).is_none_or(|now| now.started != read.times.started || now.has_ended)
    {
        return None;
    }
    Some(read)
}

/// RSS in bytes, including shared pages.
pub fn resident(tree: &Tree, process: u32) -> Reading<f64> {
    kilobytes(tree, &format!("/proc/{process}/status"), "VmRSS")
}

/// PSS in bytes: shared pages count in part. The kernel walks the page tables.
pub fn proportional(tree: &Tree, process: u32) -> Reading<f64> {
    kilobytes(tree, &format!("/proc/{process}/smaps_rollup"), "Pss")
}

/// In bytes: kB here are 1024 bytes.
fn kilobytes(tree: &Tree, path: &str, name: &str) -> Reading<f64> {
    line(&tree.text(path), path, name).map(|kilobytes| kilobytes * 1024.0)
}

/// Fields of a stat file from the third on. The second, the name, may contain anything.
fn stat(tree: &Tree, directory: &str) -> Reading<Vec<String>> {
    let fields = |text: String| match text.rsplit_once(')') {
        Some((_, rest)) => rest.split_ascii_whitespace().map(str::to_owned).collect(),
        None => Vec::new(),
    };
    tree.text(format!("{directory}/stat")).map(fields)
}

/// The number in a line such as `VmRSS:     5216 kB`.
fn line(status: &Reading<String>, path: &str, name: &str) -> Reading<f64> {
    evaluate(status, |text| {
        let number = word(text, name).and_then(|word| word.parse::<u64>().ok());
        Reading::or_unknown(number.map(|number| number as f64), &format!("{path}: no {name}"))
    })
}

fn word<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.split_ascii_whitespace().next()
}

/// Since Linux 6.2 the size of the directory is the number of descriptors (f1f1f2569901, "proc: report open
/// files as size in stat() for /proc/pid/fd"): listing 16 000 of them every second would cost milliseconds.
fn descriptors(tree: &Tree, directory: &str) -> Reading<f64> {
    let path = format!("{directory}/fd");
    if tree.is_live()
        && let Ok(metadata) = std::fs::metadata(tree.path(&path))
        && metadata.len() > 0
    {
        return Reading::Value(metadata.len() as f64);
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
        1..=MAX_TASKS => Reading::Value(
            numbers.into_iter().filter_map(|number| Some((number, task(tree, directory, number)?))).collect(),
        ),
        many => Reading::Unknown(format!("{directory}/task: {many} threads are too many to read")),
    }
}

/// `None` if the thread has ended since it was listed.
fn task(tree: &Tree, directory: &str, number: u32) -> Option<Task> {
    let directory = format!("{directory}/task/{number}");
    let stat = stat(tree, &directory).into_value()?;
    let path = format!("{directory}/status");
    let status = tree.text(&path);
    let allowed = evaluate(&status, |text| {
        let list = word(text, "Cpus_allowed_list").and_then(|list| list.parse().ok());
        Reading::or_unknown(list, &format!("{path}: no Cpus_allowed_list"))
    });
    let last = stat.get(39 - 3).and_then(|word| word.parse().ok());
    Some(Task {
        allowed,
        last: Reading::or_unknown(last, &format!("{directory}/stat: no field 39")),
        voluntary: line(&status, &path, "voluntary_ctxt_switches"),
        involuntary: line(&status, &path, "nonvoluntary_ctxt_switches"),
        waited: waited(tree, &directory),
    })
}

/// Second number of schedstat, in ns (CONFIG_SCHED_INFO).
fn waited(tree: &Tree, directory: &str) -> Reading<f64> {
    let file = format!("{directory}/schedstat");
    tree.text(&file).and_then(|text| {
        let number = text.split_ascii_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
        let reason = format!("{file}: not in the known format");
        Reading::or_unknown(number.map(|number| number as f64 / 1e9), &reason)
    })
}

/// All CPUs of the lists; unknown if one list is.
pub fn union(lists: impl IntoIterator<Item = Reading<CpuList>>) -> Reading<CpuList> {
    let join = |(left, right): (CpuList, CpuList)| left.iter().chain(right.iter()).collect();
    lists.into_iter().fold(Reading::Value(CpuList::new()), |all, list| all.and(list).map(join))
}

impl Process {
    /// CPUs that its threads may run on; unknown if one thread's are.
    pub fn allowed(&self) -> Reading<CpuList> {
        self.union_of(|task| task.allowed.clone())
    }

    pub fn last(&self) -> Reading<CpuList> {
        self.union_of(|task| task.last.clone().map(|cpu| CpuList::from_iter([cpu])))
    }

    fn union_of(&self, cpus_of: impl Fn(&Task) -> Reading<CpuList>) -> Reading<CpuList> {
        evaluate(&self.tasks, |tasks| union(tasks.values().map(cpus_of)))
    }
}
