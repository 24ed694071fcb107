//! Cases of `truebench audit`: text that another tool printed.

use super::case::*;

#[derive(Wording)]
pub enum Audit {
    #[claim("{tool} counts {counted} B per element; {moved} B move: {traffic} of traffic")]
    #[evidence("The kernel's stores are regular, by its name: each reads its line first.")]
    RegularStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[claim("{tool} counts {counted} B per element; regular stores move {moved} B: {traffic}")]
    #[evidence("Non-temporal stores move what is counted. The text does not say which the compiler made.")]
    #[fix("truebench memory inspect BINARY")]
    UnknownStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[claim("A round trip takes {trip}, of which two switches take {switches}")]
    Switching { trip: Seconds, switches: Seconds },
    #[claim("perf divides by CPU time: {count} in {elapsed} of elapsed time are {rate} a second")]
    RateByCpuTime { count: Number, elapsed: Seconds, rate: Number },
    #[claim("No page was read from a disk")]
    NoDiskRead,
    #[claim("A major fault waits for a disk: a mapped file, or swap")]
    MajorFaults,
    #[claim("A minor fault needs no disk: it maps memory, mostly fresh")]
    #[evidence("Measure its price, and see which calls cause it.")]
    #[fix("truebench faults prices")]
    MinorFaults,
    #[claim("These functions call one another: the share is the largest, not a sum")]
    #[evidence("{functions}.")]
    NestedFunctions { functions: String },

    // second-instrument: another program in turn with truebench.
    #[claim("{program} agrees with truebench: {ratio}")]
    #[evidence("{theirs} against {ours}.")]
    InstrumentsAgree { program: String, ratio: Range, theirs: Cited, ours: Cited },
    #[claim("{program} agrees with truebench: {ratio}")]
    #[evidence("{theirs} against {ours}. It is unknown with which stores {program} was compiled.")]
    #[fix("truebench memory inspect BINARY")]
    StoresUnknown { program: String, ratio: Range, theirs: Cited, ours: Cited },
    #[claim("{program} differs from truebench by a known factor: {ratio}")]
    #[evidence("{reason}.")]
    InstrumentsDiffer { program: String, ratio: Range, theirs: Cited, ours: Cited, reason: String },
    #[claim("{program} agrees with truebench as far as two compilers do: {ratio}")]
    #[evidence("{theirs} against {ours}.")]
    #[evidence("Its makefile compiles for this CPU and lets floating point be reordered.")]
    CompilersAgree { program: String, ratio: Range, theirs: Cited, ours: Cited },

    // instruments: the triad of STREAM against the traffic of Intel MLC.
    #[claim("STREAM and Intel MLC agree: the stores of STREAM read nothing first")]
    #[evidence("{triad} against {mlc}.")]
    StreamAgrees { triad: Cited, mlc: Cited },
    #[claim("STREAM and Intel MLC are both right: STREAM does not count what its stores read")]
    #[evidence("{triad} is {traffic} of traffic with the write-allocate; {mlc}.")]
    StreamCountsLess { triad: Cited, mlc: Cited, traffic: Amount },
    #[claim("STREAM and Intel MLC disagree: at least one does not measure what is expected")]
    #[evidence("{triad}, or {traffic} of traffic with the write-allocate; {mlc}.")]
    StreamDisagrees { triad: Cited, mlc: Cited, traffic: Amount },

    // switching, scheduling: two texts of the same kind.
    #[claim("Pipe-based Context Switching depends on placement here, not on the speed of the CPUs")]
    #[evidence("{one} has {rates} the rate of {other}, but {passes} in Pipe Throughput.")]
    #[evidence("A switch takes {first} and {second}: the scheduler placed the tasks differently.")]
    SwitchingAbnormal {
        one: String,
        other: String,
        rates: Times,
        passes: Times,
        first: Seconds,
        second: Seconds,
    },
    #[claim("Go's scheduler takes {most} of the samples in {one}, {least} in {other}")]
    #[evidence("That much less is left for the program.")]
    #[evidence(not_shown => "Not among the functions shown: {not_shown}.")]
    SchedulerGrows { one: String, most: Share, other: String, least: Share, not_shown: List<String> },
}
