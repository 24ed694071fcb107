//! Cases of the checks of CPUs: where threads ran, what else ran there, and how fast they were.

use super::case::*;
use crate::others::{CpuShare, Others, STOP_OTHERS};

#[derive(Wording)]
pub enum Cpus {
    // scheduler
    #[claim("{kernel}: the built-in scheduler places the tasks")]
    BuiltInScheduler { kernel: String },
    #[claim("{kernel}; sched_ext is {state}: {scheduler} places the tasks")]
    #[fix(
        "stop it (as root: systemctl stop scx, or SysRq-S), or compare only with figures under the same one"
    )]
    LoadedScheduler { kernel: String, state: String, scheduler: String },
    // uneven-cores
    #[claim("evenly: {layout}")]
    EvenCores { layout: CoreLayout },
    #[claim("{layout}; the others waited {} of the time", value_or(waited, "an unknown share"))]
    #[fix("use one thread for each core, or equally many on each; or --schedule dynamic")]
    UnevenShares {
        layout: CoreLayout,
        waited: Option<Share>,
        elements: Option<List<Count>>,
        /// Instructions per cycle of the threads on the fullest cores, and of the others.
        ipc: Option<List<Number>>,
    },
    #[claim("{layout}{}; waited {waited} of the time at the end", optional("; elements ", elements, ""))]
    #[fix("use larger arrays: there are too few blocks")]
    UnevenBlocks { layout: CoreLayout, elements: Option<List<Count>>, waited: Share },
    // threads-within-mask, threads-on-distinct-cores, mixed-cores, unequal-cores
    #[claim("{threads}; allowed by the affinity mask: {allowed}")]
    #[claim(outside => "; in use outside of it: {outside}")]
    #[fix(
        "use --threads {} or fewer, or widen the mask: taskset, cpuset.cpus, docker --cpuset-cpus",
        allowed.0.len()
    )]
    AllowedCpus { threads: Counted, allowed: CpuSet, outside: Option<CpuSet> },
    #[claim("{threads} share the place of {place}{}", optional(", and waited ", waited, " of the time"))]
    #[fix("{ONE_PER_CORE}")]
    SharedPlace { threads: Counted, place: CpuSet, waited: Option<Share> },
    #[claim("{threads} on {cores}{}", if *even { "" } else { ", unevenly" })]
    #[claim("; cores with more than one: {shared}, such as {cpus}")]
    #[fix("{ONE_PER_CORE}")]
    SharedCores { threads: Counted, cores: Counted, even: bool, shared: Count, cpus: CpuSet },
    #[claim("{cores} in use, one thread on each")]
    OneThreadPerCore { cores: Counted },
    #[claim("{threads} in a place of {cores} ({place})")]
    #[fix("{ONE_PER_CORE}")]
    SmallPlace { threads: Counted, cores: Counted, place: CpuSet },
    #[claim("{places} ({kind}), each with a core for every thread")]
    WidePlaces { places: Counted, kind: String },
    #[claim("kinds of core in use: {kinds}{}", optional("; the slowest thread was late by ", late, ""))]
    #[fix("use cores of one kind: without --class all, or by --places LIST (truebench host lists them)")]
    CoreKinds { kinds: List<CoreKind>, late: Option<Share> },
    #[claim("the scheduler may choose cores of several kinds: {kinds}")]
    #[fix(
        "let it choose among cores of one kind: without --class all, or by taskset (truebench host lists them)"
    )]
    FreeOnKinds { kinds: List<CoreKind> },
    #[claim("the slowest CPU in use ran {spread} below the fastest")]
    #[fix("use cores that are equally fast: --places LIST (truebench host lists them)")]
    UnequalCores { spread: Share },
    // quota, throttled
    #[claim("no control group of truebench has a CPU quota")]
    NoQuota,
    #[claim("{threads} under a CPU quota of {quota} ({group})")]
    #[claim(throttled => ": throttled for {throttled} of CPU time")]
    #[fix(
        "{}as root: {raise}",
        match quota.0.floor() { whole if whole >= 1.0 => format!("use --threads {whole}, or "), _ => String::new() }
    )]
    Quota { threads: Counted, quota: CpuCount, group: String, throttled: Option<Seconds>, raise: String },
    #[claim("{owner} control group was throttled for {time}")]
    #[claim(periods => " in {periods}")]
    #[claim(": {share} of the time")]
    #[fix("raise its CPU quota, or use no more threads than it has CPUs; repeating does not help")]
    Throttled { owner: &'static str, time: Seconds, share: Share, periods: Option<Counted> },
    // placement-held, placement-dependent, switches-per-hop
    #[claim("the affinity mask read back is not the one that was set")]
    #[fix("{AFFINITY}")]
    AffinityChanged,
    #[claim("{outside} of {samples} found a thread outside of its place{}", optional("; ", migrations, ""))]
    #[fix("{AFFINITY}")]
    PlaceSamples { outside: Count, samples: Counted, migrations: Option<Counted> },
    #[claim("there is one CPU, and no other place for the two tasks")]
    OnlyPlace,
    #[claim("the scheduler places the two tasks, which can move this figure several-fold")]
    #[claim(together => "; on one CPU in {together} of samples")]
    #[fix("{PINNED_TASKS}")]
    PlacedByScheduler { together: Option<Share> },
    #[claim(
        "rounds differ {times} by placement: {together} on one CPU ({on_one} of {rounds}), {apart} on two \
         ({on_two})"
    )]
    #[fix("{PINNED_TASKS}")]
    PlacementsDiffer {
        times: Times,
        together: Amount,
        on_one: Count,
        apart: Amount,
        on_two: Count,
        rounds: Count,
    },
    #[claim("{switches} switches for each hop, {voluntary} of them voluntary")]
    #[fix(
        "the reader often did not wait: measure on a quieter machine, without polling (haltpoll, idle=poll)"
    )]
    SwitchesPerHop { switches: Number, voluntary: Number },
    // steal, off-cpu, foreign-load, interrupts, sibling-load
    #[claim("{share} of the CPU time was stolen: {time} of {window} on {cpus}")]
    #[claim(behind => "; one thread fell behind by {behind}")]
    #[fix("measure on a dedicated or less loaded host; on a shared host repeat at another time")]
    Stolen { share: Share, time: Seconds, window: Seconds, cpus: Counted, behind: Option<Share> },
    #[claim("a thread neither ran nor waited for a CPU for {share} of the time")]
    #[fix("find what stops processes: SIGSTOP, a frozen control group, a debugger, a job scheduler; or swap")]
    OffCpu { share: Share },
    #[claim(
        "other processes used {load}{}{}",
        match others {
            Some(Reading::Value(others)) => format!(": {others}"),
            Some(Reading::Unknown(reason)) => format!("; which is unknown: {reason}"),
            None => String::new(),
        },
        optional("; one thread fell behind by ", behind, "")
    )]
    #[fix(
        "{}measure on free CPUs: {elsewhere}",
        match others {
            Some(Reading::Value(others)) => others.remedy(),
            _ => STOP_OTHERS.to_owned(),
        }
    )]
    ForeignLoad {
        load: CpuShare,
        others: Option<Reading<Others>>,
        behind: Option<Share>,
        /// What clock ticks resolve.
        resolution: Share,
        elsewhere: &'static str,
    },
    #[claim("the CPUs in use spent {share} of their time in interrupts")]
    #[claim(rate => ", {rate} interrupts a second on each")]
    #[fix(
        "stop the source (/proc/interrupts), or move it (as root): echo LIST > /proc/irq/N/smp_affinity_list"
    )]
    Interrupts { share: Share, rate: Option<Number> },
    #[claim("unused siblings of the CPUs in use were busy for {share} of the time")]
    #[fix("stop what runs there; or --places threads")]
    #[fix("; or as root: echo off > /sys/devices/system/cpu/smt/control")]
    SiblingsBusy { share: Share },
    // run-queue-delay, involuntary-switches
    #[claim("the thread that waited longest was on a run queue for {share} of the time ({time}")]
    #[claim(all => "; all threads {all}")]
    #[claim(")")]
    #[claim(planned => "; planned: {planned}")]
    #[fix(
        "find what competes for these CPUs: too many threads, a CPU quota, another program (see the \
         reasons above)"
    )]
    RunQueueDelay { share: Share, time: Seconds, all: Option<Seconds>, planned: Option<Share> },
    #[claim("{rate} involuntary switches a second on each CPU")]
    #[claim(waited => ", {waited} of the CPU time spent waiting")]
    #[fix("find what shares these CPUs: top, pidstat -w 1")]
    InvoluntarySwitches { rate: Number, waited: Option<Share> },
    #[claim("{rate} involuntary switches a second on each CPU: the threads take turns, as planned")]
    PlannedTurns { rate: Number },
    // thermal, frequency
    #[claim("{events} in {hit} of {rounds}{}", optional("; the clock frequency changed by ", change, ""))]
    #[fix("let it cool down, improve cooling, or disable boost so that it stays below the limit")]
    ThermalThrottles { events: Counted, hit: Count, rounds: Counted, change: Option<Share> },
    #[claim("the clock frequency changed by {change}{}", optional(" (around ", frequency, ")"))]
    #[fix(
        "{}",
        match guest {
            true => "the host sets a guest's clock: measure when other guests are quieter, or on a dedicated host",
            false => "hold it (as root): cpupower frequency-set -g performance; echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        }
    )]
    Frequency { change: Share, frequency: Option<Amount>, guest: bool },
    // copies-overlap, threads-overlap, stragglers
    #[claim("all {copies} copies counted in {share} of the time from the first start to the last end")]
    #[fix("give each pass more time: --duration; or start fewer copies: -c N")]
    CopiesOverlap { copies: Count, share: Share },
    #[claim("all {threads} threads worked in {share} of the time from the first start to the last end")]
    #[fix(
        "give each more steps (--steps, --slots, --max-time), or find what takes their CPUs (the other \
         reasons)"
    )]
    ThreadsOverlap { threads: Count, share: Share },
    #[claim("the last thread started {share} of the working time after the first")]
    #[fix("use larger arrays: the samples are too short for so many threads")]
    StartsApart { share: Share },
    #[claim("the slowest thread took {slowest}, {longer} longer than the {other} ({time})")]
    #[claim(cpu => "; mostly on CPU {cpu}")]
    #[fix("see the reasons above; else compare that CPU's core with others: truebench memory --places LIST")]
    Straggler { slowest: Seconds, longer: Share, other: &'static str, time: Seconds, cpu: Option<Count> },
}

const ONE_PER_CORE: &str = "use one thread for each core: --places cores with no more threads than cores";
const AFFINITY: &str =
    "find and stop what changes the affinity (cpuset, tuning daemon): taskset -cp PID, cpuset.cpus.effective";
const PINNED_TASKS: &str = "compare machines by the figures of pinned tasks: truebench system switch";

/// How threads lie on cores: `3 threads on 2 CPUs: 1 runs 2 (CPU 0) and 1 runs 1 (CPU 1)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{threads} on {cores}: {loads}")]
pub struct CoreLayout {
    pub threads: Counted,
    pub cores: Counted,
    /// The fullest cores first.
    pub loads: List<CoreLoad>,
}

/// Cores that run equally many threads.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{cores} {} {threads} ({cpus})", if *cores == 1 { "runs" } else { "run" })]
pub struct CoreLoad {
    pub cores: usize,
    /// Threads of each.
    pub threads: usize,
    pub cpus: CpuSet,
}

#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{kind} ({cpus})")]
pub struct CoreKind {
    pub kind: String,
    pub cpus: CpuSet,
}
