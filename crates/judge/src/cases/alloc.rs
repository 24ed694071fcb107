//! Cases of `truebench alloc`: allocators under a load, and a program under each allocator.

use super::case::*;

/// How to get a conclusion that other processes prevented.
const STOP: &str = "stop other programs (top lists them), then measure again";

#[derive(Wording)]
pub enum Alloc {
    // allocators-placement: against blocks in sequence.
    #[claim("No bookkeeping and no reuse: this is what cold memory costs the load")]
    ColdBlocks,
    #[claim("{cost} of this is the allocator's work and its placement of blocks")]
    #[evidence("{bump} puts blocks in sequence, without bookkeeping.")]
    BookkeepingCosts { cost: Amount, bump: Cited },
    #[claim("Reuse of freed blocks saves {saved} more than bookkeeping costs")]
    #[evidence("{bump} puts blocks in sequence and reuses none: more accesses miss the caches.")]
    ReuseSaves { saved: Amount, bump: Cited },

    // allocators-overhead, allocators-retained.
    #[claim("{waste} of the resident memory is overhead, and of the caches that it fills")]
    #[evidence(
        rounded => "Sizes rounded up make {rounded} the requested bytes; headers, gaps and kept memory add the rest."
    )]
    Overhead { waste: Share, rounded: Option<Times> },
    #[claim("After the last free, {share} of the requested bytes are still resident")]
    Retained { share: Share },

    // allocators-kernel, allocators-load, allocators-calls.
    #[claim("{share} of its CPU time is the kernel's, which maps memory for the allocator")]
    #[evidence(
        "{faults} page faults per 1000 pairs: the heap grew, or memory was returned and faulted in again."
    )]
    KernelTime { share: Share, faults: Number },
    #[claim("This is the load itself: no allocator is called")]
    LoadAlone,
    #[claim("{share} of this time is the load itself, not the allocator")]
    #[evidence("The load alone: {void}.")]
    LoadShare { share: Share, void: Cited },
    /// Median, 99.9 % and longest.
    #[claim("malloc takes {}, free {}: the median of sampled calls", malloc[0], free[0])]
    #[evidence(
        "99.9 % of the calls take at most {} and {}; the longest took {} and {}.",
        malloc[1], free[1], malloc[2], free[2]
    )]
    Calls { malloc: [Seconds; 3], free: [Seconds; 3] },

    // Findings on all allocators.
    #[claim("Overall, {allocator} is the best choice: least time x memory")]
    #[evidence("This holds for this load. Your program may differ.")]
    #[fix("truebench alloc try -- COMMAND")]
    BestOverall { allocator: String },
    #[claim("With {team}, {fastest} is fastest")]
    #[evidence("Next: {next}.")]
    #[evidence(slowest => "Slowest: {slowest}.")]
    Fastest { team: String, fastest: Rated<Amount>, next: Rated<Amount>, slowest: Option<Rated<Amount>> },
    #[claim("With {team}, no difference beyond noise between the fastest {} of {total}", fastest.0.len())]
    #[evidence("{fastest}: {}. {frugal} uses the least memory of them.", span(low, high))]
    #[evidence(slowest => "Slowest: {slowest}.")]
    FastestTied {
        team: String,
        fastest: List<String>,
        total: Counted,
        low: Number,
        high: Amount,
        frugal: String,
        slowest: Option<Rated<Amount>>,
    },
    #[claim("With {team}, {allocator} overtakes {fastest}, the fastest with {first_team}")]
    Overtakes { team: String, allocator: String, fastest: String, first_team: String },
    #[claim("With {team}, {least} uses the least memory, {most} the most")]
    #[evidence("Resident memory per requested byte.")]
    #[evidence("{waste} of the most is overhead, and of the caches that it fills.")]
    LeastMemory { team: String, least: Rated<Times>, most: Rated<Times>, waste: Share },
    #[claim("With {team}, no difference in memory beyond noise: {}", span(low, high))]
    #[evidence("Resident memory per requested byte.")]
    MemoryTied { team: String, low: Times, high: Times },
    #[claim("{team} take {} the time of {threads}", span(low, high))]
    #[evidence("{ratios}.")]
    OtherTeam { team: String, threads: String, low: Times, high: Times, ratios: List<Rated<Range>> },

    // program: one allocator.
    #[claim("{share} of its CPU time is the kernel's")]
    #[evidence("{faults}.")]
    ProgramKernelTime { share: Share, faults: Counted },
    #[claim("Against {first}: {} in user code, {} in the kernel", change(user), change(system))]
    #[evidence("{faults}; {first_faults} with {first}.")]
    ProgramDiffers { first: String, user: Seconds, system: Seconds, faults: Counted, first_faults: Count },
    #[claim("As much time in user code and in the kernel as with {first}")]
    ProgramAlike { first: String },

    // Findings on a program under several allocators.
    #[claim("{allocator} takes {saved} less CPU time than {first} for this program")]
    #[evidence("{cpu} of the CPU time{}{}.", share_of(wall, "wall time"), share_of(memory, "peak memory"))]
    #[evidence(tied => "No difference beyond noise to {tied}.")]
    ProgramFaster {
        allocator: String,
        first: String,
        saved: Share,
        cpu: Range,
        wall: Option<Range>,
        memory: Option<Range>,
        tied: List<String>,
    },
    #[claim("{allocator} takes less CPU time than {first}; by how much is uncertain")]
    #[evidence("{cpu} of the CPU time{}.", share_of(memory, "peak memory"))]
    #[evidence("The load of other processes explains a part of that, not all.")]
    #[fix("{STOP}")]
    ProgramFasterUnderLoad { allocator: String, first: String, cpu: Range, memory: Option<Range> },
    #[claim("No allocator takes less CPU time for this program than {first}")]
    #[evidence("Nearest: {nearest}, {cpu} of the CPU time.")]
    ProgramNoneFaster { first: String, nearest: String, cpu: Range },
    #[claim("No difference in CPU time beyond noise: {}", span(low, high))]
    #[evidence("With {allocators}.")]
    #[evidence(slowest => "Slowest, against {first}: {slowest}.")]
    ProgramNoDifference {
        low: Seconds,
        high: Seconds,
        allocators: List<String>,
        first: String,
        slowest: Option<Rated<Range>>,
    },
    #[claim("No conclusion: {starts} of some allocators, {needed} of each are needed")]
    #[evidence("CPU time {}.", span(low, high))]
    #[fix("measure again with --rounds {needed}")]
    ProgramTooFewStarts { low: Seconds, high: Seconds, starts: Counted, needed: Count },
    #[claim("No difference beyond the load of other processes: {}", span(low, high))]
    #[evidence("CPU time with {allocators}.")]
    #[evidence(slowest => "Slowest, against {first}: {slowest}.")]
    #[fix("{STOP}")]
    ProgramHiddenByLoad {
        low: Seconds,
        high: Seconds,
        allocators: List<String>,
        first: String,
        slowest: Option<Rated<Range>>,
    },
    #[claim("{allocator} needs the least memory for this program")]
    #[evidence("{memory} of the peak with {first}{}.", share_of(cpu, "CPU time"))]
    ProgramLeastMemory { allocator: String, first: String, memory: Range, cpu: Option<Range> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{allocator} ({value})")]
pub struct Rated<T> {
    pub allocator: String,
    pub value: T,
}

/// `300 ms less`.
fn change(seconds: &Seconds) -> String {
    format!("{} {}", Seconds(seconds.0.abs()), if seconds.0 < 0.0 { "less" } else { "more" })
}

fn share_of(ratio: &Option<Range>, quantity: &str) -> String {
    optional(", ", ratio, &format!(" of the {quantity}"))
}
