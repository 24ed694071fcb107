//! Cases of `truebench audit`: text that another tool printed.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Cited, Count, List, Number, Range, Seconds, Share, Times};

/// Cases of `truebench audit`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Audit {
    #[display(
        "{tool} counts {counted} B per element; {moved} B move: {traffic} of traffic\n\
         The kernel's stores are regular, by its name: each reads its line first."
    )]
    RegularStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[display(
        "{tool} counts {counted} B per element; regular stores move {moved} B: {traffic}\n\
         Non-temporal stores move what is counted. The text does not say which the compiler made.\n\
         $ truebench memory inspect BINARY"
    )]
    UnknownStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[display("A round trip takes {trip}, of which two switches take {switches}")]
    Switching { trip: Seconds, switches: Seconds },
    #[display("perf divides by CPU time: {count} in {elapsed} of elapsed time are {rate} a second")]
    RateByCpuTime { count: Number, elapsed: Seconds, rate: Number },
    #[display("No page was read from a disk")]
    NoDiskRead,
    #[display("A major fault waits for a disk: a mapped file, or swap")]
    MajorFaults,
    #[display(
        "A minor fault needs no disk: it maps memory, mostly fresh\n\
         Measure its price, and see which calls cause it.\n\
         $ truebench faults prices"
    )]
    MinorFaults,
    #[display("These functions call one another: the share is the largest, not a sum\n{functions}.")]
    NestedFunctions { functions: String },

    // second-instrument: another program in turn with truebench.
    #[display("{program} agrees with truebench: {ratio}\n{theirs} against {ours}.")]
    InstrumentsAgree { program: String, ratio: Range, theirs: Cited, ours: Cited },
    #[display(
        "{program} agrees with truebench: {ratio}\n\
         {theirs} against {ours}. It is unknown with which stores {program} was compiled.\n\
         $ truebench memory inspect BINARY"
    )]
    StoresUnknown { program: String, ratio: Range, theirs: Cited, ours: Cited },
    #[display("{program} differs from truebench by a known factor: {ratio}\n{reason}.")]
    InstrumentsDiffer { program: String, ratio: Range, theirs: Cited, ours: Cited, reason: String },
    #[display(
        "{program} agrees with truebench as far as two compilers do: {ratio}\n\
         {theirs} against {ours}. Its makefile compiles for this CPU and lets floating point be reordered."
    )]
    CompilersAgree { program: String, ratio: Range, theirs: Cited, ours: Cited },

    // instruments: the triad of STREAM against the traffic of Intel MLC.
    #[display("STREAM and Intel MLC agree: the stores of STREAM read nothing first\n{triad} against {mlc}.")]
    StreamAgrees { triad: Cited, mlc: Cited },
    #[display(
        "STREAM and Intel MLC are both right: STREAM does not count what its stores read\n\
         {triad} is {traffic} of traffic with the write-allocate; {mlc}."
    )]
    StreamCountsLess { triad: Cited, mlc: Cited, traffic: Amount },
    #[display(
        "STREAM and Intel MLC disagree: at least one does not measure what is expected\n\
         {triad}, or {traffic} of traffic with the write-allocate; {mlc}."
    )]
    StreamDisagrees { triad: Cited, mlc: Cited, traffic: Amount },

    // switching, scheduling: two texts of the same kind.
    #[display(
        "Pipe-based Context Switching depends on placement here, not on the speed of the CPUs\n\
         {one} has {rates} the rate of {other}, but {passes} in Pipe Throughput. \
         A switch takes {first} and {second}: the scheduler placed the tasks differently."
    )]
    SwitchingAbnormal {
        one: String,
        other: String,
        rates: Times,
        passes: Times,
        first: Seconds,
        second: Seconds,
    },
    #[display(
        "Go's scheduler takes {most} of the samples in {one}, {least} in {other}\n\
         That much less is left for the program.{}",
        match not_shown.0.is_empty() {
            true => String::new(),
            false => format!(" Not among the functions shown: {not_shown}."),
        }
    )]
    SchedulerGrows { one: String, most: Share, other: String, least: Share, not_shown: List<String> },
}
