//! Cases of `truebench system`: UnixBench's tests, two tasks that wake one another, and lost time.

use super::case::*;

#[derive(Wording)]
pub enum System {
    // switch-free: two tasks that the scheduler places.
    #[claim("The scheduler runs the tasks on one CPU in {one} of samples, on two in {two}")]
    #[evidence("{}", placement_evidence(pinned, *cause))]
    SwitchPlaced { one: Share, two: Share, pinned: List<Relative>, cause: Option<WakeUp> },
    #[claim("A new pair of tasks runs on two CPUs for its first seconds")]
    #[evidence(
        "On two CPUs in {samples} of samples; {settled}, which settled, was on one CPU in {settled_samples}."
    )]
    #[evidence("The scheduler's wake_wide count takes seconds to decay.")]
    SwitchNewPair { samples: Share, settled: Name, settled_samples: Share },
    // switch-pinned: against a hop on one CPU.
    #[claim("Waking another CPU costs {more} more per hop")]
    #[evidence("A hop takes {hop}, {ratio} that of {same_cpu}.")]
    SwitchWakesCpu { more: Seconds, hop: Seconds, ratio: Times, same_cpu: Name },
    #[claim("Waking another CPU costs nothing measurable")]
    #[evidence("A hop takes {hop}, {ratio} that of {same_cpu}.")]
    SwitchAsOnOneCpu { hop: Seconds, ratio: Times, same_cpu: Name },
    #[claim("Two CPUs are faster than one")]
    #[evidence("A hop takes {hop}, {ratio} that of {same_cpu}: tasks overlap.")]
    SwitchOverlaps { hop: Seconds, ratio: Times, same_cpu: Name },
    #[claim("A hop takes {hop} by {transport}, {pipe_hop} by pipe")]
    #[evidence("Both tasks were on one CPU ({pipe}).")]
    SwitchTransport { transport: String, hop: Seconds, pipe_hop: Seconds, pipe: Name },
    // switch-cost
    #[claim("The switch itself costs {switch}")]
    #[evidence("A hop takes {hop}; a pass through a pipe without a switch takes {pass} ({pipe}).")]
    SwitchCost { switch: Seconds, hop: Seconds, pass: Seconds, pipe: Name },
    // wake-up: latencies.
    #[claim("The woken task waits for its busy waker ({busy})")]
    #[evidence("On one CPU in {samples} of samples. {tail}.")]
    WakeUpWaits { busy: Seconds, samples: Share, tail: Tail },
    #[claim("The woken task preempts its busy waker ({busy})")]
    #[evidence("Per wake-up: {preemptions} times. {tail}.")]
    WakeUpPreempts { busy: Seconds, preemptions: Number, tail: Tail },
    #[claim("The busy waker ({busy}) is on another CPU")]
    #[evidence("On two CPUs in {samples} of samples. {tail}.")]
    WakeUpElsewhere { busy: Seconds, samples: Share, tail: Tail },
    #[claim("{tail}")]
    WakeUpTail { tail: Tail },

    // noise-lost
    #[claim("No gap of {threshold} or more on {cpus} in {observed}")]
    NoiseNone { cpus: Counted, threshold: Seconds, observed: Seconds },
    #[claim("{share} of the time of {cpus} is lost")]
    #[evidence("Cause: {causes}. Gaps per second and CPU: {gaps}.")]
    #[evidence(timer => "{timer} of interrupts are the timer's.")]
    #[evidence(unknown => "{unknown}")]
    NoiseLost {
        share: Share,
        cpus: Counted,
        causes: List<Loss>,
        gaps: Number,
        timer: Option<Share>,
        unknown: Option<UnknownLoss>,
    },
    // noise-short: what the loss means for a benchmark.
    #[claim("A benchmark that loses as much is {verdict}")]
    #[evidence("Of samples of 1 ms, {hit} lose 1 % or more.")]
    NoiseDisturbs { verdict: Verdict, hit: Share },
    #[claim("Too little to disturb a benchmark (< {level})")]
    #[evidence("Of samples of 1 ms, {hit} lose 1 % or more.")]
    NoiseHarmless { level: Share, hit: Share },
    // noise-longest
    #[claim("Longest gap: {length}, on CPU {cpu}")]
    #[evidence("For {waited} of it, {cause} had the CPU.")]
    NoiseLongestWaited { length: Seconds, cpu: Count, waited: Seconds, cause: LossCause },
    #[claim("Longest gap: {length}, on CPU {cpu}")]
    #[evidence("The hypervisor took {steal} of that round.")]
    NoiseLongestStolen { length: Seconds, cpu: Count, steal: Seconds },
    #[claim("Longest gap: {length}, on CPU {cpu}")]
    #[evidence("As short as an interrupt; no other task had the CPU.")]
    NoiseLongestBrief { length: Seconds, cpu: Count },
    #[claim("Longest gap: {length}, on CPU {cpu}")]
    #[evidence("The cause is unknown; no other task had the CPU.")]
    NoiseLongestNoTask { length: Seconds, cpu: Count },
    #[claim("Longest gap: {length}, on CPU {cpu}")]
    #[evidence("This kernel does not report who had the CPU.")]
    NoiseLongestUnknown { length: Seconds, cpu: Count },

    // copies: `each` is the rate of one of several copies as a share of one alone.
    #[claim("{copies} copies take turns on {cpus}: each does {each} of one alone")]
    #[evidence("Together {one}.")]
    CopiesTakeTurns { copies: Count, cpus: Counted, each: Share, one: Relative },
    #[claim("Each of {copies} copies does as much as one alone")]
    #[evidence("Together {one}. Nothing shared is the limit.")]
    CopiesScale { copies: Count, each: Share, one: Relative },
    #[claim("Each of {copies} copies does {each} of what one does alone")]
    #[evidence("Together {one}. The limit is shared: caches, clock, hypervisor or kernel locks.")]
    CopiesLimited { copies: Count, each: Share, one: Relative },
    #[claim("Each of {copies} copies does {each} of one alone: placement, not speed")]
    #[evidence("Together {one}.")]
    #[evidence("With every CPU busy, a woken task stays with its waker and no other CPU is woken.")]
    CopiesPlaced { copies: Count, each: Share, one: Relative },
    #[claim("Each of {copies} copies does {each} of one alone: one alone was slowed down")]
    #[evidence("Together {one}. One copy has to wake idle CPUs, or was disturbed.")]
    CopiesExceedOne { copies: Count, each: Share, one: Relative },

    // page-cache: copies of files.
    #[claim("A copy within memory: the files are on a {file_system}")]
    #[evidence("It has no device, and no pages to write back.")]
    #[fix("measure on the file system of a disk: --dir DIRECTORY")]
    FilesInMemory { file_system: String },
    #[claim("A copy within the page cache, not to a device")]
    #[evidence("Files of 0.5 to 8 MB, never synced. Tasks waited for a device in {waited} of the time.")]
    FilesInPageCache { waited: Share },
    #[claim("A copy within the page cache, yet tasks waited for a device in {waited} of the time")]
    FilesWaitForDevice { waited: Share },
    #[claim("A copy within the page cache; whether tasks waited for a device is unknown")]
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
