//! Cases of the checks of what was measured: inputs and results, code, clock, rounds and their interval.

use derive_more::Display;
use figure::Verdict;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Bytes, Count, Counted, List, Name, Number, Seconds, Share, Times, optional};

/// Cases of the checks of what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Rounds {
    // inputs
    #[display("inputs: {inputs}, none disturbed")]
    InputsValid { inputs: Counted },
    #[display("{input} is {verdict}\n$ see the reasons of {input}")]
    InputNotValid { input: Name, verdict: Verdict },
    #[display("{detail}\nthrough {input}{}", optional("\n$ ", fix, ""))]
    InputReason { input: Name, detail: String, fix: Option<String> },
    // verified
    #[display(
        "the {work} are {}{}\n\
         $ measure again; if it recurs, test the memory (memtester) and report the record as a defect of truebench",
        if *correct { "correct" } else { "wrong" },
        optional("; largest relative error ", error, "")
    )]
    Results { work: &'static str, correct: bool, error: Option<Number> },
    // line-transfer
    #[display(
        "{share} of the lines did not have what the owner had just written\n\
         $ measure again; if it recurs, report the record as a defect of truebench"
    )]
    LinesStale { share: Share },
    #[display(
        "a line takes {line}, {times} the time of the requester's own cache ({own}){}\n\
         $ choose other CPUs (--places LIST): a hypervisor may put these two on one core",
        optional("; from memory ", memory, "")
    )]
    LineTransfer { line: Seconds, own: Seconds, times: Times, memory: Option<Seconds> },
    #[display(
        "reading the clock takes {share} of a walk, and is subtracted\n\
         $ use a processor and kernel with the time stamp counter as clock (truebench host)"
    )]
    ClockInWalk { share: Share },
    // faults-counted
    #[display(
        "{faults} for {units}: {off} off\n\
         $ find what populates pages early (mlockall), reclaims them (memory pressure), or changes their size (THP)"
    )]
    FaultsCounted { faults: List<FaultCount>, units: Counted, off: Share },
    // debug-build, emulated, executed-image
    #[display("the compiler chose the kernel's instructions; build: {build}\n$ cargo build --release")]
    Build { build: String },
    #[display(
        "the processor is emulated (QEMU's TCG{})\n\
         $ run the guest under KVM (-accel kvm); use no rate, time or bandwidth until then",
        optional(", by ", sign, "")
    )]
    Emulated { sign: Option<String> },
    #[display(
        "the executed program: {size}, {linkage}, {libraries}; UnixBench's: about 20 kB, dynamic\n\
         $ build truebench-workload as release, for a gnu target: size and linkage change what an execution costs"
    )]
    ExecutedImage { size: Bytes, linkage: String, libraries: Counted },
    // allocator-loaded, setting-effect
    #[display("the dynamic linker bound every malloc and free to {library}; processes: {processes}")]
    AllocatorLoaded { library: String, processes: Count },
    #[display("the setting took effect: {change}")]
    SettingTook { change: String },
    #[display(
        "the setting did not take effect: {cause}\n\
         $ run the program itself, not a wrapper; name what manages its memory (--manager)"
    )]
    SettingIgnored { cause: String },
    // clock-jump, clock-granularity, heartbeat
    #[display(
        "a clock jumped in {jumps} of {rounds}{}\n\
         $ measure while the machine is not suspended or migrated, and after its clock was set (chronyc tracking)",
        optional(", by ", largest, " at most")
    )]
    ClockJumps { jumps: Count, rounds: Counted, largest: Option<Seconds> },
    #[display(
        "the shortest sample lasted {sample}, {ticks} x the clock's resolution{}\n\
         $ use larger arrays, or more passes in each sample",
        optional(" (", clock, ")")
    )]
    ShortestSample { sample: Seconds, ticks: Count, clock: Option<String> },
    #[display(
        "the kernel keeps time by {source}: it found the processor's own counter to be wrong\n\
         $ look for 'clocksource' in dmesg; usually firmware or hypervisor need an update"
    )]
    FallbackClock { source: String },
    #[display(
        "gaps of {gap} and more are noticed; not observed on one CPU: {missed} of a round\n\
         $ avoid slow clock sources (hpet, acpi_pm), frequent interrupts, a sandbox that intercepts system calls"
    )]
    Heartbeat { gap: Seconds, missed: Share },
    // rates-steady, bimodal, drift, rounds-agree
    #[display(
        "the rates were not steady in {unsteady} of {starts} (over {seconds})\n\
         $ allow more time (--until-rate=2min), or give the program a load that does not change"
    )]
    Rates { unsteady: Count, starts: Counted, seconds: Seconds },
    #[display("one value")]
    OneValue,
    #[display(
        "two values: {low} in {share} of the rounds, {high} in the others\n\
         $ find what has two states: where threads or pages are placed, boost, a periodic job"
    )]
    TwoValues { low: Number, share: Share, high: Number },
    #[display(
        "{}{change} from the first round to the last (p = {p})\n\
         $ warm up longer, or find what changes: heat (sensors), clock frequency, free memory (vmstat 1)",
        if change.0 > 0.0 { "+" } else { "" }
    )]
    Drift { change: Share, p: Number },
    #[display(
        "{level} interval ±{half_width}{} from {rounds} (lowest {low}, highest {high})\n$ {MORE_ROUNDS}",
        if *of_time { " of the time" } else { "" }
    )]
    RoundsAgree { level: Share, half_width: Share, of_time: bool, rounds: Counted, low: Number, high: Amount },
    #[display("{rounds}: no interval; they are from {low} to {high}\n$ {MORE_ROUNDS}")]
    RoundsRange { rounds: Counted, low: Number, high: Amount },
    // above-limit, rounds, precision
    #[display(
        "{value} is {share} of the limit of {limit} ({basis})\n\
         $ use larger arrays (data in cache), write the memory first, or correct the limit (--dimms)"
    )]
    OfLimit { value: Amount, share: Share, limit: Amount, basis: String },
    #[display("an exact count: it needs no repetition")]
    ExactCount,
    #[display("{repetitions}")]
    Repeated { repetitions: Counted },
    #[display(
        "{found} of the {needed} that an interval needs\n$ {}",
        match *printed {
            true => format!("run it {} times and audit all outputs: truebench audit FILE FILE …", needed.0),
            false => format!("give it more time: --rounds {} or a larger --max-time", needed.0),
        }
    )]
    TooFewRounds { found: Count, needed: Counted, printed: bool },
    #[display(
        "the interval is {low} to {high}{}{}\n$ {}",
        optional(", ±", width, " of the value"),
        optional("; at most ±", allowed, " is worth one"),
        match rounds {
            Some(rounds) => format!("more rounds: --rounds {rounds} and a larger --max-time"),
            None => "measure for longer, without other work on the machine".to_owned(),
        }
    )]
    Interval {
        low: Number,
        high: Amount,
        width: Option<Share>,
        allowed: Option<Share>,
        rounds: Option<Count>,
    },
}

const MORE_ROUNDS: &str =
    "find what changes from round to round; more rounds narrow the interval: --rounds N, --max-time";

/// Faults of one kind: `1000 minor faults (1000 priced)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{taken} {kind} faults ({priced} priced)")]
pub struct FaultCount {
    pub kind: &'static str,
    pub taken: Number,
    pub priced: Number,
}
