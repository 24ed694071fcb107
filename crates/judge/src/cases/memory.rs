//! Cases of `truebench memory`.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::explain::in_flight::HUGE;
use crate::values::{
    Amount, Bytes, Cited, Count, Counted, List, Name, Number, Range, RatioTo, Share, Sourced, Times,
};

/// Cases of `truebench memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Memory {
    // write-allocate: a regular store reads the line first, which STREAM does not count.
    #[display(
        "Write-allocate: {counted} counted is {moved} moved\n\
         {hidden} of {bytes} B per element are reads that STREAM does not count. {nt}, where only the store differs, \
         gains {gain} of the predicted {predicted}."
    )]
    WriteAllocateExplains {
        counted: Amount,
        moved: Amount,
        hidden: Count,
        bytes: Count,
        nt: Name,
        gain: Times,
        predicted: Times,
    },
    #[display(
        "Moves only what it counts: no write-allocate\n\
         Gains {gain} over {regular}; the write-allocate predicts {predicted}."
    )]
    WriteAllocateAvoided { regular: Name, gain: Times, predicted: Times },
    #[display(
        "Write-allocate explains a part: {other} differs by {gain}, {predicted} predicted\n\
         Either the processor avoids part of the reads, or its non-temporal stores are slow."
    )]
    WriteAllocateInPart { other: Name, gain: Times, predicted: Times },
    #[display("Write-allocate explains {predicted} of the {gain} between this and {other}")]
    WriteAllocateExceeded { other: Name, gain: Times, predicted: Times },

    // avoided: non-temporal stores gain nothing.
    #[display(
        "The processor avoids the write-allocate: non-temporal stores gain {gain}\n\
         With it {regular} would move {claimed}, but memory moves at most {most}."
    )]
    ProcessorAvoids { gain: Times, regular: Name, claimed: Amount, most: Sourced },
    #[display(
        "Non-temporal stores are slow here: they gain {gain} over regular stores\n\
         {regular} moves {claimed}, write-allocate included. Memory is not the limit: it moves {most} elsewhere."
    )]
    SlowNonTemporal { gain: Times, regular: Name, claimed: Amount, most: Sourced },

    // in-flight: more gain than the saved bytes explain.
    #[display(
        "The rest fits a limit of lines in flight: {lines} per thread, {nt_lines} with non-temporal stores\n\
         With regular stores a thread reads {rate} at a latency of {latency}. {}{}",
        peak(*peak_share), page_walks(*huge_pages)
    )]
    LinesInFlight {
        lines: Count,
        nt_lines: Count,
        rate: Amount,
        latency: Sourced,
        peak_share: Option<Share>,
        huge_pages: Option<Share>,
    },

    // peak: the share of the theoretical peak.
    #[display("Moves {moved}: {share} of the theoretical peak of {peak}\nPeak: {basis}.")]
    ShareOfPeak { moved: Amount, share: Share, peak: Amount, basis: String },

    // mix: copy against triad with non-temporal stores.
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         With regular stores both move the same, {regular} and {regular_triad}: the loop is not slower."
    )]
    BelowByMix { triad: Cited, mix: String, other: String, regular: Amount, regular_triad: Amount },
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         Regular stores were not measured, so a slower loop is not ruled out."
    )]
    BelowPerhapsByMix { triad: Cited, mix: String, other: String },
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         Loops that differ in the mix alone: {more} is {ratio} of {fewer}."
    )]
    BelowByMixMeasured { triad: Cited, mix: String, other: String, more: Cited, fewer: Cited, ratio: Times },
    #[display(
        "Below {triad} by its own loop, not by its mix\n\
         Loops that differ in the mix alone: {more} is {ratio} of {fewer}."
    )]
    BelowByLoop { triad: Cited, more: Cited, fewer: Cited, ratio: Times },
    #[display(
        "Slow by its own loop, not by its mix\nlibc's memcpy moves more in the same mix ({mix}): {libc}."
    )]
    SlowerThanLibc { mix: String, libc: Cited },

    // one-way: kernels that only read, only write, or write the lines that they have read.
    #[display(
        "Reads alone move {ratio} of the best mix: memory never turns between reads and writes\n\
         The best mix is {mix}: {best}."
    )]
    ReadsFaster { ratio: Times, mix: String, best: Cited },
    #[display("Reads alone move as much as the best mix: turns cost nothing\nThe best mix is {mix}: {best}.")]
    ReadsAlike { ratio: Times, mix: String, best: Cited },
    #[display(
        "Reads alone move {ratio} of the best mix: this fits a limit of lines in flight\n\
         Memory is not the limit: {best}, {mix}, moves more. A thread has {lines} lines in flight at {latency}; writes need none."
    )]
    ReadsSlower { ratio: Times, mix: String, best: Cited, lines: Count, latency: Sourced },
    #[display("No write-allocate: it writes the lines that it has just read")]
    NoStoreMiss,
    #[display("Writes alone move {ratio} of {other}: memory takes writes more slowly")]
    WritesSlower { ratio: Times, other: Cited },

    // by-mix: walks that differ in nothing but the mix of reads and writes.
    #[display(
        "Reads alone, {rate} per thread: memory never turns\nA thread has {lines} lines in flight at {latency}."
    )]
    ReadsAlone { rate: Amount, lines: Count, latency: Sourced },
    #[display("Writes alone move {ratio} of {reads}: lines in flight do not limit them")]
    WritesUnlimited { ratio: Times, reads: Cited },
    #[display(
        "With {writes} writes it moves {ratio} of reads alone: memory turns between the two\n\
         The loop is that of {reads}, so it is not the cause."
    )]
    WritesCost { writes: Share, ratio: Times, reads: Cited },
    #[display("With {writes} writes it moves as much as {reads}: turns cost nothing")]
    WritesFree { writes: Share, ratio: Times, reads: Cited },
    #[display(
        "With {writes} writes it moves {ratio} of reads alone: lines in flight are the limit\n\
         Each thread reads {rate}, and {alone} in {reads}. Writes wait for nothing and add to that."
    )]
    WritesAdd { writes: Share, ratio: Times, reads: Cited, rate: Amount, alone: Amount },
    #[display(
        "{reads} was disturbed: threads read faster while they also write\n\
         Each thread reads {rate} here, and {alone} when it only reads.\n\
         $ measure again on a quiet machine"
    )]
    ReadsDisturbed { reads: Cited, rate: Amount, alone: Amount },
    #[display("Three streams move {ratio} of {walk}\nThe mix is the same: only the loop differs.")]
    ThreeStreams { ratio: Times, walk: Cited },

    // baseline: which stores a compiler or libc chose.
    #[display(
        "{baseline} pays the write-allocate: {ratio} of {regular}\nIts stores are regular: it is below {nt}."
    )]
    BaselineRegular { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[display("{baseline} pays no write-allocate here: {ratio} of {nt}\nIt is above {regular}.")]
    BaselineNonTemporal { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[display(
        "{baseline} pays part of the write-allocate, or its loop is slower\nIt is between {regular} and {nt}."
    )]
    BaselineBetween { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[display(
        "The compiler turned this loop into a call of memcpy: {libc}{}",
        scale.as_ref().map_or(String::new(), |scale| format!("\nSTREAM's Copy is therefore far above its Scale: {scale}."))
    )]
    CompiledToMemcpy { libc: Cited, scale: Option<Cited> },

    // repeated: figures that test others.
    #[display(
        "Differs by {difference} from {first}, measured in the same rounds\n\
         No interval of a single figure includes this uncertainty."
    )]
    MeasuredAgain { difference: Share, first: Name },
    #[display("Part of {} comes from cache\nArrays of {to} instead of {from} reach {ratio}.", ratio.figure)]
    PartlyCached { from: Bytes, to: Bytes, ratio: RatioTo },
    #[display("Caches play no part in {}\nArrays of {to} instead of {from} reach {ratio}.", ratio.figure)]
    NotCached { from: Bytes, to: Bytes, ratio: RatioTo },

    // counted: reads and writes by the counters of the memory controllers.
    #[display(
        "Counters show the write-allocate: each stored line is read first\n\
         Reads to writes are {ratio}:1, so {read_first} and not {not_read}. {moved} of what STREAM counts was moved; \
         declared is {declared}."
    )]
    CountedReadFirst { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[display(
        "Counters show no write-allocate: stored lines are not read first\n\
         Reads to writes are {ratio}:1, so {not_read} and not {read_first}. {moved} of what STREAM counts was moved; \
         declared is {declared}."
    )]
    CountedNotRead { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[display(
        "Memory moved {moved} of what STREAM counts; declared is {declared}\n\
         Reads to writes are {ratio}:1. If stored lines are read first they are {read_first}, else {not_read}."
    )]
    CountedBetween { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[display("Memory moved {moved} of what STREAM counts; declared is {declared}")]
    CountedTotal { moved: Times, declared: Times },

    // misaligned, aliased: vectors across lines, and the distance of arrays.
    #[display(
        "Misaligned by {misalignment}, it reaches {ratio}\n\
         {split} of the vectors of {vector} straddle two lines and take two accesses."
    )]
    SplitLines { misalignment: Bytes, ratio: RatioTo, split: Share, vector: Bytes },
    #[display(
        "Fits 4 KiB aliasing: loads {offset} further on wait for earlier stores\n\
         Written {offset} behind what is read, modulo 4 KiB, it reaches {ratio}, the best aligned point."
    )]
    Aliased { offset: Bytes, ratio: RatioTo },
    #[display("Alignment has no effect in {level}\nIt reaches {ratio}.")]
    AnyAlignment { level: String, ratio: RatioTo },
    #[display("The best of {points} in {level}")]
    BestDistance { points: Counted, level: String },
    #[display(
        "Misaligned arrays cannot use non-temporal stores\nThese reach {ratio}, which stores regularly."
    )]
    NonTemporalAligned { ratio: RatioTo },

    // page-walks: what translation costs a load.
    #[display(
        "Page walks are {share} of a load on small pages\n\
         {small} against {huge}. Order, size and stride are the same, which rules out cache misses."
    )]
    PageWalks { share: Share, small: Cited, huge: Cited },
    #[display("Page walks cost nothing at {size}, even on small pages\n{small} against {huge}.")]
    NoPageWalks { size: Bytes, small: Cited, huge: Cited },
    #[display(
        "Page by page a load takes {share} of random order\n\
         Random order: {random}. One page walk serves all lines of a page, and prefetchers see several of them."
    )]
    PageByPage { share: Share, random: Cited },

    // Findings: what the figures show together.
    #[display(
        "Memory moves up to {moved}: {share} of the theoretical peak of {peak}\nTraffic of {best}. Peak: {basis}."
    )]
    MovesUpTo { moved: Amount, best: Name, share: Share, peak: Amount, basis: String },
    #[display(
        "Memory moves up to {moved}; the theoretical peak is unknown\nTraffic of {best}. Peak: {reason}.\n\
         $ name the memory modules: --dimms 12x2666"
    )]
    MovesUpToUnknown { moved: Amount, best: Name, reason: String },
    #[display(
        "STREAM with regular stores shows {regular} of the {moved} that {kernel} moves\n\
         gcc compiles regular stores, which read each line first (write-allocate). Non-temporal stores reach {nt}: over \
         {kernels} they gain {least} to {most}."
    )]
    NonTemporalGains {
        kernel: String,
        regular: Amount,
        moved: Amount,
        nt: Amount,
        kernels: Counted,
        least: Times,
        most: Times,
    },
    #[display(
        "Non-temporal stores gain nothing here: at most {most} over {kernels}\n\
         Either the processor avoids the write-allocate, or its non-temporal stores are slow."
    )]
    NonTemporalGainsNothing { kernels: Counted, most: Times },
    #[display("Bandwidth falls with the share of writes: memory turns between reads and writes\n{walks}.")]
    FallsWithWrites { walks: List<MixRate> },
    #[display(
        "Bandwidth rises with the share of writes: lines in flight are the limit, not memory\n{walks}."
    )]
    RisesWithWrites { walks: List<MixRate> },
    #[display("Bandwidth does not depend on the share of writes\n{walks}.")]
    AnyWrites { walks: List<MixRate> },
    #[display("Misaligned vectors: {}\nDistance of arrays: {}.", measured(misaligned), measured(distance))]
    Alignment { misaligned: List<LevelEffect>, distance: List<LevelEffect> },
    #[display("Memory is short\n{limit}.\n$ give it more memory, or use fewer CPUs (--threads)")]
    MemoryShort { limit: String },
    #[display("Larger pages: {ratio} of the bandwidth with smaller pages\n{large} against {small}.")]
    LargerPages { ratio: Range, large: Name, small: Name },
}

/// What others make of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    #[display("libc's memcpy")]
    Libc,
    #[display("The compiler's loop")]
    Compiler,
}

/// The bandwidth of a mix: `2:1 203 GB/s`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{mix} {}", walk.amount)]
pub struct MixRate {
    pub mix: String,
    #[serde(flatten)]
    pub walk: Cited,
}

/// The lowest ratio at a level, with its figure: `0.50x in L1`; neither where there is no effect.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{} in {level}", ratio.map_or_else(|| "no effect".to_owned(), |ratio| ratio.to_string()))]
pub struct LevelEffect {
    pub level: String,
    pub figure: Option<String>,
    pub ratio: Option<Times>,
}

/// Whether memory itself is the limit.
fn peak(share: Option<Share>) -> String {
    share.map_or_else(
        || "The peak of memory is unknown.".to_owned(),
        |share| format!("Memory is at {share} of its peak."),
    )
}

/// What to do unless huge pages rule page walks out.
fn page_walks(huge: Option<Share>) -> &'static str {
    if huge.is_some_and(|share| share.0 >= HUGE) { "" } else { "\n$ rule out page walks: --pages thp" }
}

fn measured(levels: &List<LevelEffect>) -> String {
    if levels.0.is_empty() { "not measured".to_owned() } else { levels.to_string() }
}
