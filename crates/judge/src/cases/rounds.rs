//! Cases of the checks of what was measured: inputs and results, code, clock, rounds and their interval.

use super::case::*;

#[derive(Wording)]
pub enum Rounds {
    // inputs
    #[claim("inputs: {inputs}, none disturbed")]
    InputsValid { inputs: Counted },
    #[claim("{input} is {verdict}")]
    #[fix("see the reasons of {input}")]
    InputNotValid { input: Name, verdict: Verdict },
    #[claim("{detail}")]
    #[evidence("through {input}")]
    #[fix(fix => "{fix}")]
    InputReason { input: Name, detail: String, fix: Option<String> },
    // verified
    #[claim("the {work} are {}", if *correct { "correct" } else { "wrong" })]
    #[claim(error => "; largest relative error {error}")]
    #[fix(
        "measure again; if it recurs, test the memory (memtester) and report the record as a defect of \
         truebench"
    )]
    Results { work: &'static str, correct: bool, error: Option<Number> },
    // line-transfer
    #[claim("{share} of the lines did not have what the owner had just written")]
    #[fix("measure again; if it recurs, report the record as a defect of truebench")]
    LinesStale { share: Share },
    #[claim("a line takes {line}, {times} the time of the requester's own cache ({own})")]
    #[claim(memory => "; from memory {memory}")]
    #[fix("choose other CPUs (--places LIST): a hypervisor may put these two on one core")]
    LineTransfer { line: Seconds, own: Seconds, times: Times, memory: Option<Seconds> },
    #[claim("reading the clock takes {share} of a walk, and is subtracted")]
    #[fix("use a processor and kernel with the time stamp counter as clock (truebench host)")]
    ClockInWalk { share: Share },
    // faults-counted
    #[claim("{faults} for {units}: {off} off")]
    #[fix(
        "find what populates pages early (mlockall), reclaims them (memory pressure), or changes their \
         size (THP)"
    )]
    FaultsCounted { faults: List<FaultCount>, units: Counted, off: Share },
    // debug-build, emulated, executed-image
    #[claim("the compiler chose the kernel's instructions; build: {build}")]
    #[fix("cargo build --release")]
    Build { build: String },
    #[claim("the processor is emulated (QEMU's TCG{})", optional(", by ", sign, ""))]
    #[fix("run the guest under KVM (-accel kvm); use no rate, time or bandwidth until then")]
    Emulated { sign: Option<String> },
    #[claim("the executed program: {size}, {linkage}, {libraries}; UnixBench's: about 20 kB, dynamic")]
    #[fix(
        "build truebench-workload as release, for a gnu target: size and linkage change what an execution \
         costs"
    )]
    ExecutedImage { size: Bytes, linkage: String, libraries: Counted },
    // allocator-loaded, setting-effect
    #[claim("the dynamic linker bound every malloc and free to {library}; processes: {processes}")]
    AllocatorLoaded { library: String, processes: Count },
    #[claim("the setting took effect: {change}")]
    SettingTook { change: String },
    #[claim("the setting did not take effect: {cause}")]
    #[fix("run the program itself, not a wrapper; name what manages its memory (--manager)")]
    SettingIgnored { cause: String },
    // clock-jump, clock-granularity, heartbeat
    #[claim("a clock jumped in {jumps} of {rounds}{}", optional(", by ", largest, " at most"))]
    #[fix(
        "measure while the machine is not suspended or migrated, and after its clock was set (chronyc \
         tracking)"
    )]
    ClockJumps { jumps: Count, rounds: Counted, largest: Option<Seconds> },
    #[claim("the shortest sample lasted {sample}, {ticks} x the clock's resolution")]
    #[claim(clock => " ({clock})")]
    #[fix("use larger arrays, or more passes in each sample")]
    ShortestSample { sample: Seconds, ticks: Count, clock: Option<String> },
    #[claim("the kernel keeps time by {source}: it found the processor's own counter to be wrong")]
    #[fix("look for 'clocksource' in dmesg; usually firmware or hypervisor need an update")]
    FallbackClock { source: String },
    #[claim("gaps of {gap} and more are noticed; not observed on one CPU: {missed} of a round")]
    #[fix(
        "avoid slow clock sources (hpet, acpi_pm), frequent interrupts, a sandbox that intercepts system \
         calls"
    )]
    Heartbeat { gap: Seconds, missed: Share },
    // rates-steady, bimodal, drift, rounds-agree
    #[claim("the rates were not steady in {unsteady} of {starts} (over {seconds})")]
    #[fix("allow more time (--until-rate=2min), or give the program a load that does not change")]
    Rates { unsteady: Count, starts: Counted, seconds: Seconds },
    #[claim("one value")]
    OneValue,
    #[claim("two values: {low} in {share} of the rounds, {high} in the others")]
    #[fix("find what has two states: where threads or pages are placed, boost, a periodic job")]
    TwoValues { low: Number, share: Share, high: Number },
    #[claim("{}{change} from the first round to the last (p = {p})", if change.0 > 0.0 { "+" } else { "" })]
    #[fix("warm up longer, or find what changes: heat (sensors), clock frequency, free memory (vmstat 1)")]
    Drift { change: Share, p: Number },
    #[claim("{} % confidence interval ±{half_width}", (level.0 * 1e3).round() / 10.0)]
    #[claim(of_time => " of the time")]
    #[claim(" from {rounds} (lowest {low}, highest {high})")]
    #[fix("{MORE_ROUNDS}")]
    RoundsAgree { level: Share, half_width: Share, of_time: bool, rounds: Counted, low: Number, high: Amount },
    #[claim("{rounds}: no interval; they are {}", span(low, high))]
    #[fix("{MORE_ROUNDS}")]
    RoundsRange { rounds: Counted, low: Number, high: Amount },
    // above-limit, rounds, precision
    #[claim("{value} is {share} of the limit of {limit} ({basis})")]
    #[fix("use larger arrays (data in cache), write the memory first, or correct the limit (--dimms)")]
    OfLimit { value: Amount, share: Share, limit: Amount, basis: String },
    #[claim("an exact count: it needs no repetition")]
    ExactCount,
    #[claim("{repetitions}")]
    Repeated { repetitions: Counted },
    #[claim("{found} of the {needed} that an interval needs")]
    #[fix(printed => "run it {} times and audit all outputs: truebench audit FILE FILE …", needed.0)]
    #[fix(!printed => "give it more time: --rounds {} or a larger --max-time", needed.0)]
    TooFewRounds { found: Count, needed: Counted, printed: bool },
    #[claim("the interval is {}", span(low, high))]
    #[claim(width => ", ±{width} of the value")]
    #[claim(allowed => "; at most ±{allowed} is worth one")]
    #[fix(rounds => "more rounds: --rounds {rounds} and a larger --max-time")]
    #[fix(!rounds => "measure for longer, without other work on the machine")]
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
