//! Cases of `truebench system`: UnixBench's tests, two tasks that wake one another, and lost time.

use derive_more::Display;
use figure::{Figure, Verdict};
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Cited, Count, Counted, List, Name, Number, Seconds, Share, Times};

/// Cases of `truebench system`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum System {
    // switch-free: two tasks that the scheduler places.
    #[display(
        "The scheduler runs the tasks on one CPU in {one} of samples, on two in {two}\n{}",
        placement_evidence(pinned, *cause)
    )]
    SwitchPlaced { one: Share, two: Share, pinned: List<Relative>, cause: Option<WakeUp> },
    #[display(
        "A new pair of tasks runs on two CPUs for its first seconds\n\
         On two CPUs in {samples} of samples; {settled}, which settled, was on one CPU in {settled_samples}. \
         The scheduler's wake_wide count takes seconds to decay."
    )]
    SwitchNewPair { samples: Share, settled: Name, settled_samples: Share },
    // switch-pinned: against a hop on one CPU.
    #[display("Waking another CPU costs {more} more per hop\nA hop takes {hop}, {ratio} that of {same_cpu}.")]
    SwitchWakesCpu { more: Seconds, hop: Seconds, ratio: Times, same_cpu: Name },
    #[display("Waking another CPU costs nothing measurable\nA hop takes {hop}, {ratio} that of {same_cpu}.")]
    SwitchAsOnOneCpu { hop: Seconds, ratio: Times, same_cpu: Name },
    #[display("Two CPUs are faster than one\nA hop takes {hop}, {ratio} that of {same_cpu}: tasks overlap.")]
    SwitchOverlaps { hop: Seconds, ratio: Times, same_cpu: Name },
    #[display("A hop takes {hop} by {transport}, {pipe_hop} by pipe\nBoth tasks were on one CPU ({pipe}).")]
    SwitchTransport { transport: String, hop: Seconds, pipe_hop: Seconds, pipe: Name },
    // switch-cost
    #[display(
        "The switch itself costs {switch}\n\
         A hop takes {hop}; a pass through a pipe without a switch takes {pass} ({pipe})."
    )]
    SwitchCost { switch: Seconds, hop: Seconds, pass: Seconds, pipe: Name },
    // wake-up: latencies.
    #[display(
        "The woken task waits for its busy waker ({busy})\nOn one CPU in {samples} of samples. {tail}."
    )]
    WakeUpWaits { busy: Seconds, samples: Share, tail: Tail },
    #[display("The woken task preempts its busy waker ({busy})\nPer wake-up: {preemptions} times. {tail}.")]
    WakeUpPreempts { busy: Seconds, preemptions: Number, tail: Tail },
    #[display("The busy waker ({busy}) is on another CPU\nOn two CPUs in {samples} of samples. {tail}.")]
    WakeUpElsewhere { busy: Seconds, samples: Share, tail: Tail },
    #[display("{tail}")]
    WakeUpTail { tail: Tail },

    // noise-lost
    #[display("No gap of {threshold} or more on {cpus} in {observed}")]
    NoiseNone { cpus: Counted, threshold: Seconds, observed: Seconds },
    #[display(
        "{share} of the time of {cpus} is lost\nCause: {causes}. Gaps per second and CPU: {gaps}.{}{}",
        timer.map_or(String::new(), |share| format!(" {share} of interrupts are the timer's.")),
        unknown.map_or(String::new(), |why| format!(" {why}"))
    )]
    NoiseLost {
        share: Share,
        cpus: Counted,
        causes: List<Loss>,
        gaps: Number,
        timer: Option<Share>,
        unknown: Option<UnknownLoss>,
    },
    // noise-short: what the loss means for a benchmark.
    #[display("A benchmark that loses as much is {verdict}\nOf samples of 1 ms, {hit} lose 1 % or more.")]
    NoiseDisturbs { verdict: Verdict, hit: Share },
    #[display("Too little to disturb a benchmark (< {level})\nOf samples of 1 ms, {hit} lose 1 % or more.")]
    NoiseHarmless { level: Share, hit: Share },
    // noise-longest
    #[display("Longest gap: {length}, on CPU {cpu}\nFor {waited} of it, {cause} had the CPU.")]
    NoiseLongestWaited { length: Seconds, cpu: Count, waited: Seconds, cause: LossCause },
    #[display("Longest gap: {length}, on CPU {cpu}\nThe hypervisor took {steal} of that round.")]
    NoiseLongestStolen { length: Seconds, cpu: Count, steal: Seconds },
    #[display("Longest gap: {length}, on CPU {cpu}\nAs short as an interrupt; no other task had the CPU.")]
    NoiseLongestBrief { length: Seconds, cpu: Count },
    #[display("Longest gap: {length}, on CPU {cpu}\nThe cause is unknown; no other task had the CPU.")]
    NoiseLongestNoTask { length: Seconds, cpu: Count },
    #[display("Longest gap: {length}, on CPU {cpu}\nThis kernel does not report who had the CPU.")]
    NoiseLongestUnknown { length: Seconds, cpu: Count },

    // copies: `each` is the rate of one of several copies as a share of one alone.
    #[display("{copies} copies take turns on {cpus}: each does {each} of one alone\nTogether {one}.")]
    CopiesTakeTurns { copies: Count, cpus: Counted, each: Share, one: Relative },
    #[display(
        "Each of {copies} copies does as much as one alone\nTogether {one}. Nothing shared is the limit."
    )]
    CopiesScale { copies: Count, each: Share, one: Relative },
    #[display(
        "Each of {copies} copies does {each} of what one does alone\n\
         Together {one}. The limit is shared: caches, clock, hypervisor or kernel locks."
    )]
    CopiesLimited { copies: Count, each: Share, one: Relative },
    #[display(
        "Each of {copies} copies does {each} of one alone: placement, not speed\n\
         Together {one}. With every CPU busy, a woken task stays with its waker and no other CPU is woken."
    )]
    CopiesPlaced { copies: Count, each: Share, one: Relative },
    #[display(
        "Each of {copies} copies does {each} of one alone: one alone was slowed down\n\
         Together {one}. One copy has to wake idle CPUs, or was disturbed."
    )]
    CopiesExceedOne { copies: Count, each: Share, one: Relative },

    // page-cache: copies of files.
    #[display(
        "A copy within memory: the files are on a {file_system}\n\
         It has no device, and no pages to write back.\n\
         $ measure on the file system of a disk: --dir DIRECTORY"
    )]
    FilesInMemory { file_system: String },
    #[display(
        "A copy within the page cache, not to a device\n\
         Files of 0.5 to 8 MB, never synced. Tasks waited for a device in {waited} of the time."
    )]
    FilesInPageCache { waited: Share },
    #[display("A copy within the page cache, yet tasks waited for a device in {waited} of the time")]
    FilesWaitForDevice { waited: Share },
    #[display("A copy within the page cache; whether tasks waited for a device is unknown")]
    FilesPerhapsWait,
}

/// How a figure compares with another one: `1.02x system.switch.same-cpu (393000 lps)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{ratio} {other}")]
pub struct Relative {
    pub ratio: Times,
    #[serde(flatten)]
    pub other: Cited,
}

impl Relative {
    /// `None` if one of the two has no value.
    pub fn of(figure: &Figure, other: &Figure) -> Option<Relative> {
        Some(Relative { ratio: Times(figure.value? / other.value?), other: Cited::of(other)? })
    }
}

/// Where a wake-up puts the woken task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum WakeUp {
    #[display("Only one CPU is allowed.")]
    OneCpuAllowed,
    #[display("No other CPU shares a last-level cache: a woken task stays with its waker.")]
    StaysWithWaker,
    #[display("CPUs share a last-level cache: a woken task goes to an idle CPU there.")]
    GoesToIdleCpu,
}

fn placement_evidence(pinned: &List<Relative>, cause: Option<WakeUp>) -> String {
    let rates = (!pinned.0.is_empty()).then(|| format!("{pinned}."));
    Vec::from_iter(rates.into_iter().chain(cause.map(|cause| cause.to_string()))).join(" ")
}

/// The slow end of wake-up latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("99 % of wake-ups take at most {p99}; the longest took {longest}")]
pub struct Tail {
    pub p99: Seconds,
    pub longest: Seconds,
}

/// What takes a CPU away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    #[display("another task")]
    OtherTask,
    #[display("another task or a CPU quota")]
    OtherTaskOrQuota,
    #[display("the hypervisor")]
    Steal,
    #[display("interrupts")]
    Interrupts,
    #[display("unknown")]
    Unknown,
}

/// A cause with its share of the lost time: `another task (98 %)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{cause} ({share})")]
pub struct Loss {
    pub cause: LossCause,
    pub share: Share,
}

/// Why a part of the lost time has no cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownLoss {
    #[display("This guest reports no steal: its loss and interrupts cannot be separated.")]
    NoSteal,
    #[display("Interrupts could not be counted.")]
    InterruptsNotCounted,
    #[display("This kernel does not report how long tasks wait for a CPU.")]
    WaitsNotReported,
    #[display("Short gaps ({gaps} a second) outnumber interrupts ({interrupts} a second).")]
    MoreGapsThanInterrupts { gaps: Number, interrupts: Number },
}
