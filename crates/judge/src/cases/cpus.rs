//! Cases of the checks of CPUs: where threads ran, what else ran there, and how fast they were.

use derive_more::Display;
use figure::Reading;
use serde::Serialize;
use strum::VariantNames;

use crate::others::{CpuShare, Others};
use crate::values::{
    Amount, Count, Counted, CpuCount, CpuSet, List, Number, Seconds, Share, Times, optional, value_or,
};

/// Cases of the checks of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Cpus {
    // scheduler
    #[display("{kernel}: the built-in scheduler places the tasks")]
    BuiltInScheduler { kernel: String },
    #[display(
        "{kernel}; sched_ext is {state}: {scheduler} places the tasks\n\
         $ stop it (as root: systemctl stop scx, or SysRq-S), or compare only with figures under the same one"
    )]
    LoadedScheduler { kernel: String, state: String, scheduler: String },
    // uneven-cores
    #[display("evenly: {layout}")]
    EvenCores { layout: CoreLayout },
    #[display(
        "{layout}; the others waited {} of the time\n\
         $ use one thread for each core, or equally many on each; or --schedule dynamic",
        value_or(waited, "an unknown share")
    )]
    UnevenShares {
        layout: CoreLayout,
        waited: Option<Share>,
        elements: Option<List<Count>>,
        /// Instructions per cycle of the threads on the fullest cores, and of the others.
        ipc: Option<List<Number>>,
    },
    #[display(
        "{layout}{}; waited {waited} of the time at the end\n\
         $ use larger arrays: there are too few blocks",
        optional("; elements ", elements, "")
    )]
    UnevenBlocks { layout: CoreLayout, elements: Option<List<Count>>, waited: Share },
    // threads-within-mask, threads-on-distinct-cores, mixed-cores, unequal-cores
    #[display(
        "{threads}; allowed by the affinity mask: {allowed}{}\n\
         $ use --threads {} or fewer, or widen the mask: taskset, cpuset.cpus, docker --cpuset-cpus",
        optional("; in use outside of it: ", outside, ""),
        allowed.0.len()
    )]
    AllowedCpus { threads: Counted, allowed: CpuSet, outside: Option<CpuSet> },
    #[display(
        "{threads} share the place of {place}{}\n$ {ONE_PER_CORE}",
        optional(", and waited ", waited, " of the time")
    )]
    SharedPlace { threads: Counted, place: CpuSet, waited: Option<Share> },
    #[display(
        "{threads} on {cores}{}; cores with more than one: {shared}, such as {cpus}\n$ {ONE_PER_CORE}",
        if *even { "" } else { ", unevenly" }
    )]
    SharedCores { threads: Counted, cores: Counted, even: bool, shared: Count, cpus: CpuSet },
    #[display("{cores} in use, one thread on each")]
    OneThreadPerCore { cores: Counted },
    #[display("{threads} in a place of {cores} ({place})\n$ {ONE_PER_CORE}")]
    SmallPlace { threads: Counted, cores: Counted, place: CpuSet },
    #[display("{places} ({kind}), each with a core for every thread")]
    WidePlaces { places: Counted, kind: String },
    #[display(
        "kinds of core in use: {kinds}{}\n$ use cores of one kind: --places LIST (truebench host lists them)",
        optional("; the slowest thread was late by ", late, "")
    )]
    CoreKinds { kinds: List<CoreKind>, late: Option<Share> },
    #[display(
        "the slowest CPU in use ran {spread} below the fastest\n\
         $ use cores that are equally fast: --places LIST (truebench host lists them)"
    )]
    UnequalCores { spread: Share },
    // quota, throttled
    #[display("no control group of truebench has a CPU quota")]
    NoQuota,
    #[display(
        "{threads} under a CPU quota of {quota} ({group}){}\n$ {}as root: {raise}",
        optional(": throttled for ", throttled, " of CPU time"),
        match quota.0.floor() { whole if whole >= 1.0 => format!("use --threads {whole}, or "), _ => String::new() }
    )]
    Quota { threads: Counted, quota: CpuCount, group: String, throttled: Option<Seconds>, raise: String },
    #[display(
        "{owner} control group was throttled for {time}{}: {share} of the time\n\
         $ raise its CPU quota, or use no more threads than it has CPUs; repeating does not help",
        optional(" in ", periods, "")
    )]
    Throttled { owner: &'static str, time: Seconds, share: Share, periods: Option<Counted> },
    // placement-held, placement-dependent, switches-per-hop
    #[display("the affinity mask read back is not the one that was set\n$ {AFFINITY}")]
    AffinityChanged,
    #[display(
        "{outside} of {samples} found a thread outside of its place{}\n$ {AFFINITY}",
        optional("; ", migrations, "")
    )]
    PlaceSamples { outside: Count, samples: Counted, migrations: Option<Counted> },
    #[display("there is one CPU, and no other place for the two tasks")]
    OnlyPlace,
    #[display(
        "the scheduler places the two tasks, which can move this figure several-fold{}\n$ {PINNED_TASKS}",
        optional("; on one CPU in ", together, " of samples")
    )]
    PlacedByScheduler { together: Option<Share> },
    #[display(
        "rounds differ {times} by placement: {together} on one CPU ({on_one} of {rounds}), {apart} on two ({on_two})\n\
         $ {PINNED_TASKS}"
    )]
    PlacementsDiffer {
        times: Times,
        together: Amount,
        on_one: Count,
        apart: Amount,
        on_two: Count,
        rounds: Count,
    },
    #[display(
        "{switches} switches for each hop, {voluntary} of them voluntary\n\
         $ the reader often did not wait: measure on a quieter machine, without polling (haltpoll, idle=poll)"
    )]
    SwitchesPerHop { switches: Number, voluntary: Number },
    // steal, off-cpu, foreign-load, interrupts, sibling-load
    #[display(
        "{share} of the CPU time was stolen: {time} of {window} on {cpus}{}\n\
         $ measure on a dedicated or less loaded host; on a shared host repeat at another time",
        optional("; one thread fell behind by ", behind, "")
    )]
    Stolen { share: Share, time: Seconds, window: Seconds, cpus: Counted, behind: Option<Share> },
    #[display(
        "a thread neither ran nor waited for a CPU for {share} of the time\n\
         $ find what stops processes: SIGSTOP, a frozen control group, a debugger, a job scheduler; or swap"
    )]
    OffCpu { share: Share },
    #[display(
        "other processes used {load}{}{}\n$ stop {}, or measure on free CPUs: {elsewhere}",
        match others {
            Some(Reading::Value(others)) => format!(": {others}"),
            Some(Reading::Unknown(reason)) => format!("; which is unknown: {reason}"),
            None => String::new(),
        },
        optional("; one thread fell behind by ", behind, ""),
        value_or(&others.as_ref().and_then(Reading::value).and_then(Others::main), "the other programs (top)")
    )]
    ForeignLoad {
        load: CpuShare,
        others: Option<Reading<Others>>,
        behind: Option<Share>,
        /// What clock ticks resolve.
        resolution: Share,
        elsewhere: &'static str,
    },
    #[display(
        "the CPUs in use spent {share} of their time in interrupts{}\n\
         $ stop the source (/proc/interrupts), or move it (as root): echo LIST > /proc/irq/N/smp_affinity_list",
        optional(", ", rate, " interrupts a second on each")
    )]
    Interrupts { share: Share, rate: Option<Number> },
    #[display(
        "unused siblings of the CPUs in use were busy for {share} of the time\n\
         $ stop what runs there; or --places threads; or as root: echo off > /sys/devices/system/cpu/smt/control"
    )]
    SiblingsBusy { share: Share },
    // run-queue-delay, involuntary-switches
    #[display(
        "the thread that waited longest was on a run queue for {share} of the time ({time}{}){}\n\
         $ find what competes for these CPUs: too many threads, a CPU quota, another program (see the reasons above)",
        optional("; all threads ", all, ""),
        optional("; planned: ", planned, "")
    )]
    RunQueueDelay { share: Share, time: Seconds, all: Option<Seconds>, planned: Option<Share> },
    #[display(
        "{rate} involuntary switches a second on each CPU{}\n\
         $ find what shares these CPUs: top, pidstat -w 1",
        optional(", ", waited, " of the CPU time spent waiting")
    )]
    InvoluntarySwitches { rate: Number, waited: Option<Share> },
    #[display("{rate} involuntary switches a second on each CPU: the threads take turns, as planned")]
    PlannedTurns { rate: Number },
    // thermal, frequency
    #[display(
        "{events} in {hit} of {rounds}{}\n\
         $ let it cool down, improve cooling, or disable boost so that it stays below the limit",
        optional("; the clock frequency changed by ", change, "")
    )]
    ThermalThrottles { events: Counted, hit: Count, rounds: Counted, change: Option<Share> },
    #[display(
        "the clock frequency changed by {change}{}\n$ {}",
        optional(" (around ", frequency, ")"),
        match guest {
            true => "the host sets a guest's clock: measure when other guests are quieter, or on a dedicated host",
            false => "hold it (as root): cpupower frequency-set -g performance; echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        }
    )]
    Frequency { change: Share, frequency: Option<Amount>, guest: bool },
    // copies-overlap, threads-overlap, stragglers
    #[display(
        "all {copies} copies counted in {share} of the time from the first start to the last end\n\
         $ give each pass more time: --duration; or start fewer copies: -c N"
    )]
    CopiesOverlap { copies: Count, share: Share },
    #[display(
        "all {threads} threads worked in {share} of the time from the first start to the last end\n\
         $ give each more steps (--steps, --slots, --max-time), or find what takes their CPUs (the other reasons)"
    )]
    ThreadsOverlap { threads: Count, share: Share },
    #[display(
        "the last thread started {share} of the working time after the first\n\
         $ use larger arrays: the samples are too short for so many threads"
    )]
    StartsApart { share: Share },
    #[display(
        "the slowest thread took {slowest}, {longer} longer than the {other} ({time}){}\n\
         $ see the reasons above; else compare that CPU's core with others: truebench memory --places LIST",
        optional("; mostly on CPU ", cpu, "")
    )]
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

/// CPUs of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{kind} ({cpus})")]
pub struct CoreKind {
    pub kind: String,
    pub cpus: CpuSet,
}
