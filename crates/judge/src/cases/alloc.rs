//! Cases of `truebench alloc`: allocators under a load, and a program under each allocator.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Cited, Count, Counted, List, Number, Range, Seconds, Share, Times};

/// How to get a conclusion that other processes prevented.
const STOP: &str = "stop other programs (top lists them), then measure again";

/// Cases of `truebench alloc`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Alloc {
    // allocators-placement: against blocks in sequence.
    #[display("No bookkeeping and no reuse: this is what cold memory costs the load")]
    ColdBlocks,
    #[display(
        "{cost} of this is the allocator's work and its placement of blocks\n\
         {bump} puts blocks in sequence, without bookkeeping."
    )]
    BookkeepingCosts { cost: Amount, bump: Cited },
    #[display(
        "Reuse of freed blocks saves {saved} more than bookkeeping costs\n\
         {bump} puts blocks in sequence and reuses none: more accesses miss the caches."
    )]
    ReuseSaves { saved: Amount, bump: Cited },

    // allocators-overhead, allocators-retained.
    #[display(
        "{waste} of the resident memory is overhead, and of the caches that it fills{}",
        rounding(rounded)
    )]
    Overhead { waste: Share, rounded: Option<Times> },
    #[display("After the last free, {share} of the requested bytes are still resident")]
    Retained { share: Share },

    // allocators-kernel, allocators-load, allocators-calls.
    #[display(
        "{share} of its CPU time is the kernel's, which maps memory for the allocator\n\
         {faults} page faults per 1000 pairs: the heap grew, or memory was returned and faulted in again."
    )]
    KernelTime { share: Share, faults: Number },
    #[display("This is the load itself: no allocator is called")]
    LoadAlone,
    #[display("{share} of this time is the load itself, not the allocator\nThe load alone: {void}.")]
    LoadShare { share: Share, void: Cited },
    /// Median, 99.9 % and longest.
    #[display(
        "malloc takes {}, free {}: the median of sampled calls\n\
         99.9 % of the calls take at most {} and {}; the longest took {} and {}.",
        malloc[0], free[0], malloc[1], free[1], malloc[2], free[2]
    )]
    Calls { malloc: [Seconds; 3], free: [Seconds; 3] },

    // Findings on all allocators.
    #[display(
        "Overall, {allocator} is the best choice: least time x memory\n\
         This holds for this load. Your program may differ.\n\
         $ truebench alloc try -- COMMAND"
    )]
    BestOverall { allocator: String },
    #[display("With {team}, {fastest} is fastest\nNext: {next}.{}", slowest_after(slowest))]
    Fastest { team: String, fastest: Rated<Amount>, next: Rated<Amount>, slowest: Option<Rated<Amount>> },
    #[display(
        "With {team}, no difference beyond noise between the fastest {} of {total}\n\
         {fastest}: {low} to {high}. {frugal} uses the least memory of them.{}",
        fastest.0.len(), slowest_after(slowest)
    )]
    FastestTied {
        team: String,
        fastest: List<String>,
        total: Counted,
        low: Number,
        high: Amount,
        frugal: String,
        slowest: Option<Rated<Amount>>,
    },
    #[display("With {team}, {allocator} overtakes {fastest}, the fastest with {first_team}")]
    Overtakes { team: String, allocator: String, fastest: String, first_team: String },
    #[display(
        "With {team}, {least} uses the least memory, {most} the most\n\
         Resident memory per requested byte. {waste} of the most is overhead, and of the caches that it fills."
    )]
    LeastMemory { team: String, least: Rated<Times>, most: Rated<Times>, waste: Share },
    #[display(
        "With {team}, no difference in memory beyond noise: {low} to {high}\n\
         Resident memory per requested byte."
    )]
    MemoryTied { team: String, low: Times, high: Times },
    #[display("{team} take {low} to {high} the time of {threads}\n{ratios}.")]
    OtherTeam { team: String, threads: String, low: Times, high: Times, ratios: List<Rated<Range>> },

    // program: one allocator.
    #[display("{share} of its CPU time is the kernel's\n{faults}.")]
    ProgramKernelTime { share: Share, faults: Counted },
    #[display(
        "Against {first}: {} in user code, {} in the kernel\n{faults}; {first_faults} with {first}.",
        change(user),
        change(system)
    )]
    ProgramDiffers { first: String, user: Seconds, system: Seconds, faults: Counted, first_faults: Count },
    #[display("As much time in user code and in the kernel as with {first}")]
    ProgramAlike { first: String },

    // Findings on a program under several allocators.
    #[display(
        "{allocator} takes {saved} less CPU time than {first} for this program\n{cpu} of the CPU time{}{}.{}",
        share_of(wall, "wall time"),
        share_of(memory, "peak memory"),
        no_difference_to(tied)
    )]
    ProgramFaster {
        allocator: String,
        first: String,
        saved: Share,
        cpu: Range,
        wall: Option<Range>,
        memory: Option<Range>,
        tied: List<String>,
    },
    #[display(
        "{allocator} takes less CPU time than {first}; by how much is uncertain\n\
         {cpu} of the CPU time{}. The load of other processes explains a part of that, not all.\n$ {}",
        share_of(memory, "peak memory"),
        STOP
    )]
    ProgramFasterUnderLoad { allocator: String, first: String, cpu: Range, memory: Option<Range> },
    #[display(
        "No allocator takes less CPU time for this program than {first}\n\
         Nearest: {nearest}, {cpu} of the CPU time."
    )]
    ProgramNoneFaster { first: String, nearest: String, cpu: Range },
    #[display("No difference in CPU time beyond noise: {low} to {high}\nWith {allocators}.")]
    ProgramNoDifference { low: Seconds, high: Seconds, allocators: List<String> },
    #[display(
        "No conclusion: {starts} of some allocators, {needed} of each are needed\n\
         CPU time {low} to {high}.\n\
         $ measure again with --rounds {needed}"
    )]
    ProgramTooFewStarts { low: Seconds, high: Seconds, starts: Counted, needed: Count },
    #[display(
        "No difference beyond the load of other processes: {low} to {high}\n\
         CPU time with {allocators}.\n$ {}",
        STOP
    )]
    ProgramHiddenByLoad { low: Seconds, high: Seconds, allocators: List<String> },
    #[display(
        "{allocator} needs the least memory for this program\n{memory} of the peak with {first}{}.",
        share_of(cpu, "CPU time")
    )]
    ProgramLeastMemory { allocator: String, first: String, memory: Range, cpu: Option<Range> },
}

/// An allocator with a value of it.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{allocator} ({value})")]
pub struct Rated<T> {
    pub allocator: String,
    pub value: T,
}

fn rounding(rounded: &Option<Times>) -> String {
    rounded.map_or_else(String::new, |rounded| {
        format!("\nSizes rounded up make {rounded} the requested bytes; headers, gaps and kept memory add the rest.")
    })
}

fn slowest_after(slowest: &Option<Rated<Amount>>) -> String {
    slowest.as_ref().map_or_else(String::new, |slowest| format!(" Slowest: {slowest}."))
}

/// `300 ms less`.
fn change(seconds: &Seconds) -> String {
    format!("{} {}", Seconds(seconds.0.abs()), if seconds.0 < 0.0 { "less" } else { "more" })
}

fn share_of(ratio: &Option<Range>, quantity: &str) -> String {
    ratio.map_or_else(String::new, |ratio| format!(", {ratio} of the {quantity}"))
}

fn no_difference_to(tied: &List<String>) -> String {
    if tied.0.is_empty() { String::new() } else { format!(" No difference beyond noise to {tied}.") }
}
