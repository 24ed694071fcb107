//! Cases of `truebench memory`.

use super::case::*;
use crate::explain::in_flight::HUGE;

#[derive(Wording)]
pub enum Memory {
    // write-allocate: a regular store reads the line first, which STREAM does not count.
    #[claim("Write-allocate: {counted} counted is {moved} moved")]
    #[evidence("{hidden} of {bytes} B per element are reads that STREAM does not count.")]
    #[evidence("{nt}, where only the store differs, gains {gain} of the predicted {predicted}.")]
    WriteAllocateExplains {
        counted: Amount,
        moved: Amount,
        hidden: Count,
        bytes: Count,
        nt: Name,
        gain: Times,
        predicted: Times,
    },
    #[claim("Moves only what it counts: no write-allocate")]
    #[evidence("Gains {gain} over {regular}; the write-allocate predicts {predicted}.")]
    WriteAllocateAvoided { regular: Name, gain: Times, predicted: Times },
    #[claim("Write-allocate explains a part: {other} differs by {gain}, {predicted} predicted")]
    #[evidence("Either the processor avoids part of the reads, or its non-temporal stores are slow.")]
    WriteAllocateInPart { other: Name, gain: Times, predicted: Times },
    #[claim("Write-allocate explains {predicted} of the {gain} between this and {other}")]
    WriteAllocateExceeded { other: Name, gain: Times, predicted: Times },

    // avoided: non-temporal stores gain nothing.
    #[claim("The processor avoids the write-allocate: non-temporal stores gain {gain}")]
    #[evidence("With it {regular} would move {claimed}, but memory moves at most {most}.")]
    ProcessorAvoids { gain: Times, regular: Name, claimed: Amount, most: Sourced },
    #[claim("Non-temporal stores are slow here: they gain {gain} over regular stores")]
    #[evidence("{regular} moves {claimed}, write-allocate included.")]
    #[evidence("Memory is not the limit: it moves {most} elsewhere.")]
    SlowNonTemporal { gain: Times, regular: Name, claimed: Amount, most: Sourced },

    // in-flight: more gain than the saved bytes explain.
    #[claim(
        "The rest fits a limit of lines in flight: {lines} per thread, {nt_lines} with non-temporal stores"
    )]
    #[evidence("With regular stores a thread reads {rate} at a latency of {latency}.")]
    #[evidence("{}", peak(*peak_share))]
    #[fix("{}", page_walks(*huge_pages))]
    LinesInFlight {
        lines: Count,
        nt_lines: Count,
        rate: Amount,
        latency: Sourced,
        peak_share: Option<Share>,
        huge_pages: Option<Share>,
    },

    // peak: the share of the theoretical peak.
    #[claim("Moves {moved}: {share} of the theoretical peak of {peak}")]
    #[evidence("Peak: {basis}.")]
    ShareOfPeak { moved: Amount, share: Share, peak: Amount, basis: String },

    // mix: copy against triad with non-temporal stores.
    #[claim("Below {triad}: its mix of reads and writes is {mix}, not {other}")]
    #[evidence(
        "With regular stores both move the same, {regular} and {regular_triad}: the loop is not slower."
    )]
    BelowByMix { triad: Cited, mix: String, other: String, regular: Amount, regular_triad: Amount },
    #[claim("Below {triad}: its mix of reads and writes is {mix}, not {other}")]
    #[evidence("Regular stores were not measured, so a slower loop is not ruled out.")]
    BelowPerhapsByMix { triad: Cited, mix: String, other: String },
    #[claim("Below {triad}: its mix of reads and writes is {mix}, not {other}")]
    #[evidence("Loops that differ in the mix alone: {more} is {ratio} of {fewer}.")]
    BelowByMixMeasured { triad: Cited, mix: String, other: String, more: Cited, fewer: Cited, ratio: Times },
    #[claim("Below {triad} by its own loop, not by its mix")]
    #[evidence("Loops that differ in the mix alone: {more} is {ratio} of {fewer}.")]
    BelowByLoop { triad: Cited, more: Cited, fewer: Cited, ratio: Times },
    #[claim("Slow by its own loop, not by its mix")]
    #[evidence("libc's memcpy moves more in the same mix ({mix}): {libc}.")]
    SlowerThanLibc { mix: String, libc: Cited },

    // one-way: kernels that only read, only write, or write the lines that they have read.
    #[claim("Reads alone move {ratio} of the best mix: memory never turns between reads and writes")]
    #[evidence("The best mix is {mix}: {best}.")]
    ReadsFaster { ratio: Times, mix: String, best: Cited },
    #[claim("Reads alone move as much as the best mix: turns cost nothing")]
    #[evidence("The best mix is {mix}: {best}.")]
    ReadsAlike { ratio: Times, mix: String, best: Cited },
    #[claim("Reads alone move {ratio} of the best mix: this fits a limit of lines in flight")]
    #[evidence("Memory is not the limit: {best}, {mix}, moves more.")]
    #[evidence("A thread has {lines} lines in flight at {latency}; writes need none.")]
    ReadsSlower { ratio: Times, mix: String, best: Cited, lines: Count, latency: Sourced },
    #[claim("No write-allocate: it writes the lines that it has just read")]
    NoStoreMiss,
    #[claim("Writes alone move {ratio} of {other}: memory takes writes more slowly")]
    WritesSlower { ratio: Times, other: Cited },

    // by-mix: walks that differ in nothing but the mix of reads and writes.
    #[claim("Reads alone, {rate} per thread: memory never turns")]
    #[evidence("A thread has {lines} lines in flight at {latency}.")]
    ReadsAlone { rate: Amount, lines: Count, latency: Sourced },
    #[claim("Writes alone move {ratio} of {reads}: lines in flight do not limit them")]
    WritesUnlimited { ratio: Times, reads: Cited },
    #[claim("With {writes} writes it moves {ratio} of reads alone: memory turns between the two")]
    #[evidence("The loop is that of {reads}, so it is not the cause.")]
    WritesCost { writes: Share, ratio: Times, reads: Cited },
    #[claim("With {writes} writes it moves as much as {reads}: turns cost nothing")]
    WritesFree { writes: Share, ratio: Times, reads: Cited },
    #[claim("With {writes} writes it moves {ratio} of reads alone: lines in flight are the limit")]
    #[evidence("Each thread reads {rate}, and {alone} in {reads}. Writes wait for nothing and add to that.")]
    WritesAdd { writes: Share, ratio: Times, reads: Cited, rate: Amount, alone: Amount },
    #[claim("{reads} was disturbed: threads read faster while they also write")]
    #[evidence("Each thread reads {rate} here, and {alone} when it only reads.")]
    #[fix("measure again on a quiet machine")]
    ReadsDisturbed { reads: Cited, rate: Amount, alone: Amount },
    #[claim("Three streams move {ratio} of {walk}")]
    #[evidence("The mix is the same: only the loop differs.")]
    ThreeStreams { ratio: Times, walk: Cited },

    // baseline: which stores a compiler or libc chose.
    #[claim("{baseline} pays the write-allocate: {ratio} of {regular}")]
    #[evidence("Its stores are regular: it is below {nt}.")]
    BaselineRegular { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[claim("{baseline} pays no write-allocate here: {ratio} of {nt}")]
    #[evidence("It is above {regular}.")]
    BaselineNonTemporal { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[claim("{baseline} pays part of the write-allocate, or its loop is slower")]
    #[evidence("It is between {regular} and {nt}.")]
    BaselineBetween { baseline: Baseline, ratio: Times, regular: Cited, nt: Cited },
    #[claim("The compiler turned this loop into a call of memcpy: {libc}")]
    #[evidence(scale => "STREAM's Copy is therefore far above its Scale: {scale}.")]
    CompiledToMemcpy { libc: Cited, scale: Option<Cited> },

    // repeated: figures that test others.
    #[claim("Differs by {difference} from {first}, measured in the same rounds")]
    #[evidence("No interval of a single figure includes this uncertainty.")]
    MeasuredAgain { difference: Share, first: Name },
    #[claim("Part of {} comes from cache", ratio.figure)]
    #[evidence("Arrays of {to} instead of {from} reach {ratio}.")]
    PartlyCached { from: Bytes, to: Bytes, ratio: RatioTo },
    #[claim("Caches play no part in {}", ratio.figure)]
    #[evidence("Arrays of {to} instead of {from} reach {ratio}.")]
    NotCached { from: Bytes, to: Bytes, ratio: RatioTo },

    // counted: reads and writes by the counters of the memory controllers.
    #[claim("Counters show the write-allocate: each stored line is read first")]
    #[evidence("Reads to writes are {ratio}:1, so {read_first} and not {not_read}.")]
    #[evidence("{moved} of what STREAM counts was moved; declared is {declared}.")]
    CountedReadFirst { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[claim("Counters show no write-allocate: stored lines are not read first")]
    #[evidence("Reads to writes are {ratio}:1, so {not_read} and not {read_first}.")]
    #[evidence("{moved} of what STREAM counts was moved; declared is {declared}.")]
    CountedNotRead { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[claim("Memory moved {moved} of what STREAM counts; declared is {declared}")]
    #[evidence("Reads to writes are {ratio}:1.")]
    #[evidence("If stored lines are read first they are {read_first}, else {not_read}.")]
    CountedBetween { moved: Times, declared: Times, ratio: Number, read_first: String, not_read: String },
    #[claim("Memory moved {moved} of what STREAM counts; declared is {declared}")]
    CountedTotal { moved: Times, declared: Times },

    // misaligned, aliased: vectors across lines, and the distance of arrays.
    #[claim("Misaligned by {misalignment}, it reaches {ratio}")]
    #[evidence("{split} of the vectors of {vector} straddle two lines and take two accesses.")]
    SplitLines { misalignment: Bytes, ratio: RatioTo, split: Share, vector: Bytes },
    #[claim("Fits 4 KiB aliasing: loads {offset} further on wait for earlier stores")]
    #[evidence(
        "Written {offset} behind what is read, modulo 4 KiB, it reaches {ratio}, the best aligned point."
    )]
    Aliased { offset: Bytes, ratio: RatioTo },
    #[claim("Alignment has no effect in {level}")]
    #[evidence("It reaches {ratio}.")]
    AnyAlignment { level: String, ratio: RatioTo },
    #[claim("The best of {points} in {level}")]
    BestDistance { points: Counted, level: String },
    #[claim("Misaligned arrays cannot use non-temporal stores")]
    #[evidence("These reach {ratio}, which stores regularly.")]
    NonTemporalAligned { ratio: RatioTo },

    // page-walks: what translation costs a load.
    #[claim("Page walks are {share} of a load on small pages")]
    #[evidence("{small} against {huge}. Order, size and stride are the same, which rules out cache misses.")]
    PageWalks { share: Share, small: Cited, huge: Cited },
    #[claim("Page walks cost nothing at {size}, even on small pages")]
    #[evidence("{small} against {huge}.")]
    NoPageWalks { size: Bytes, small: Cited, huge: Cited },
    #[claim("Page by page a load takes {share} of random order")]
    #[evidence("Random order: {random}.")]
    #[evidence("One page walk serves all lines of a page, and prefetchers see several of them.")]
    PageByPage { share: Share, random: Cited },

    // Findings: what the figures show together.
    #[claim("Memory moves up to {moved}: {share} of the theoretical peak of {peak}")]
    #[evidence("Traffic of {best}. Peak: {basis}.")]
    MovesUpTo { moved: Amount, best: Name, share: Share, peak: Amount, basis: String },
    #[claim("Memory moves up to {moved}; the theoretical peak is unknown")]
    #[evidence("Traffic of {best}. Peak: {reason}.")]
    #[fix("state the memory modules, in a guest those of its host: --dimms 12x2666")]
    MovesUpToUnknown { moved: Amount, best: Name, reason: String },
    #[claim("STREAM with regular stores shows {regular} of the {moved} that {kernel} moves")]
    #[evidence("gcc compiles regular stores, which read each line first (write-allocate).")]
    #[evidence("Non-temporal stores reach {nt}: over {kernels} they gain {}.", span(least, most))]
    NonTemporalGains {
        kernel: String,
        regular: Amount,
        moved: Amount,
        nt: Amount,
        kernels: Counted,
        least: Times,
        most: Times,
    },
    #[claim("Non-temporal stores gain nothing here: at most {most} over {kernels}")]
    #[evidence("Either the processor avoids the write-allocate, or its non-temporal stores are slow.")]
    NonTemporalGainsNothing { kernels: Counted, most: Times },
    #[claim("Bandwidth falls with the share of writes: memory turns between reads and writes")]
    #[evidence("{walks}.")]
    FallsWithWrites { walks: List<MixRate> },
    #[claim("Bandwidth rises with the share of writes: lines in flight are the limit, not memory")]
    #[evidence("{walks}.")]
    RisesWithWrites { walks: List<MixRate> },
    #[claim("Bandwidth does not depend on the share of writes")]
    #[evidence("{walks}.")]
    AnyWrites { walks: List<MixRate> },
    #[claim("Misaligned vectors: {}", measured(misaligned))]
    #[evidence("Distance of arrays: {}.", measured(distance))]
    Alignment { misaligned: List<LevelEffect>, distance: List<LevelEffect> },
    #[claim("Memory is short")]
    #[evidence("{limit}.")]
    #[fix("give it more memory, or use fewer CPUs (--threads)")]
    MemoryShort { limit: String },
    #[claim("Larger pages: {ratio} of the bandwidth with smaller pages")]
    #[evidence("{large} against {small}.")]
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
    if huge.is_some_and(|share| share.0 >= HUGE) { "" } else { "rule out page walks: --pages thp" }
}

fn measured(levels: &List<LevelEffect>) -> String {
    if levels.0.is_empty() { "not measured".to_owned() } else { levels.to_string() }
}
