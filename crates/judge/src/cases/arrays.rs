//! Cases of the checks on memory: arrays, pages, faults, traffic; and of the relations between its figures.

use super::case::*;
use super::topology::PairsOfClass;
use crate::checks::array_size::CACHES;

#[derive(Wording)]
pub enum Arrays {
    #[claim("the arrays are smaller than they should be: {limit}")]
    #[fix("give it more memory, or fewer CPUs: --threads, --places")]
    ArraysReduced { limit: String, available: Option<Bytes> },
    #[claim("the control group met its memory limit {times} during the rounds")]
    #[claim(available => "; {available} available")]
    #[fix("raise memory.max and memory.high of the group, or use smaller arrays")]
    LimitMet { times: Counted, available: Option<Bytes> },
    #[claim(
        "arrays of {array} are {times} the caches in use ({caches}{}){}",
        optional(": ", basis, ""),
        match times.0 {
            times if times < 1.0 => "; they fit in cache",
            times if times < CACHES => "; part of each stays in cache",
            _ => "",
        }
    )]
    #[claim(measured => "; the cache measures {measured}")]
    #[fix(
        "{}",
        match (limit, *is_printed) {
            (Some(_), _) => "see memory-limit, which allows no larger arrays".to_owned(),
            (None, true) => format!("use {} elements of 8 B or more", (CACHES * caches.0 / 8.0).ceil()),
            (None, false) => format!("use --array-size {}MB or more", (CACHES * caches.0 / 1e6).ceil()),
        }
    )]
    ArraySize {
        array: Bytes,
        times: Times,
        caches: Bytes,
        basis: Option<String>,
        measured: Option<Bytes>,
        limit: Option<String>,
        is_printed: bool,
    },
    #[claim("arrays of {array} are {times} the cache as measured ({measured}")]
    #[claim(shown => "; {shown} are shown")]
    #[claim(")")]
    ArrayMeasured { array: Bytes, times: Times, measured: Bytes, shown: Option<Bytes> },
    #[claim("no page was swapped, and direct reclaim scanned none")]
    NoSwap,
    #[claim(
        "{swapped} swapped, {scanned} scanned for reclaim; {} {share} of the time",
        if *is_estimate { "estimated cost:" } else { "tasks waited for memory" }
    )]
    #[fix("free memory (top, sorted by RES), use smaller arrays, or switch swap off: sudo swapoff -a")]
    Swapped { swapped: Counted, scanned: Count, share: Share, is_estimate: bool },
    #[claim("the data of first touch is not there")]
    #[fix("measure again; if it recurs, report the record")]
    Unwritten,
    #[claim("{share} of the arrays is resident")]
    #[fix("use smaller arrays; see swap and memory-limit")]
    Resident { share: Share },
    #[claim("pages requested: {requested}; {huge} of the arrays is on huge pages")]
    #[claim(size => ", the kernel's page size is {size}")]
    #[fix("{}", pages_fix(requested))]
    Pages { requested: String, huge: Share, size: Option<Bytes> },
    #[claim("there is one NUMA node")]
    OneNode,
    #[claim("the kernel moved {moved} between nodes")]
    #[claim(demoted => " ({demoted} to a slower tier)")]
    #[claim(hints => ", with {hints}")]
    #[claim(": about {share} of the CPU time")]
    #[fix("sudo sysctl -w kernel.numa_balancing=0")]
    PagesMoved { moved: Counted, demoted: Option<Counted>, hints: Option<Counted>, share: Share },
    #[claim("{share} of the sampled pages are on node {node}, to which they were bound")]
    #[fix("let nothing move pages (cpusets, migratepages, numad): sudo sysctl -w kernel.numa_balancing=0")]
    PagesOnNode { share: Share, node: Count },
    #[claim("{share} of the pages are remote")]
    #[fix("let each thread touch its part first; see numa-balancing")]
    RemotePages { share: Share },
    #[claim("{share} of the pages are on node {node}, which has no CPUs ({memory})")]
    #[claim("{}", if *demotes { "; reclaim moves pages there" } else { "" })]
    #[fix(
        "{}",
        if *demotes {
            "echo false | sudo tee /sys/kernel/mm/numa/demotion_enabled; free memory on the nodes with CPUs"
        } else {
            "free memory on the nodes with CPUs (numactl --hardware), or use smaller arrays"
        }
    )]
    PagesWithoutCpus { share: Share, node: Count, memory: &'static str, demotes: bool },
    #[claim("memory policy {policy}: {nodes}")]
    #[claim("{}", if elsewhere.0 >= 0.005 { format!("; {elsewhere} elsewhere than it says") } else { String::new() })]
    #[fix("free memory on the nodes that the policy names (numactl --hardware)")]
    PagesByPolicy { policy: String, nodes: List<NodeShare>, elsewhere: Share },
    #[claim("{errors} in {seconds}")]
    #[fix("grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_ce_count")]
    CorrectedErrors { errors: Counted, seconds: Seconds },
    #[claim("{minor} and {major}: about {share} of the time")]
    #[fix("use smaller arrays; see swap, memory-limit")]
    Faults { minor: Counted, major: Counted, share: Share },
    #[claim("no minor fault occurred")]
    NoFault,
    #[claim("{samples} stand for {share} of {total}{gaps}")]
    #[fix(
        "{}",
        match (&gaps.set_user_id, gaps.sees_kernel) {
            (Some(_), _) => "sudo truebench faults -- COMMAND",
            (None, true) => "watch longer",
            (None, false) => "watch longer; as root, truebench also samples faults within system calls",
        }
    )]
    FaultCoverage { samples: Counted, share: Share, total: Counted, gaps: Gaps },
    // calls-and-faults
    #[claim("calls gave back {returned} (±{off}) of the pages that were faulted in again")]
    #[fix("watch for longer, or with --calls")]
    CallsAndFaults { returned: Share, off: Share },
    #[claim("a level ends at {from} to {to}, where no cache is shown")]
    #[fix("choose --array-size 4 x as large")]
    CacheHidden { from: Bytes, to: Bytes },
    #[claim("{level} is advertised with {size} and is not there: memory begins between {from} and {to}")]
    #[claim(is_guest => "; a guest shares its host's cache")]
    #[fix("{UNUSABLE}")]
    CacheMissing { level: String, size: Bytes, from: Bytes, to: Bytes, is_guest: bool },
    #[claim("{level} is advertised with {size} and ends between {from} and {to}, at {share} of it")]
    #[claim(is_guest => "; a guest shares its host's cache")]
    #[fix(
        "{}",
        if share.0 < 1.0 { UNUSABLE } else { "choose arrays of 4 x the larger size by --array-size" }
    )]
    CacheEnd { level: String, size: Bytes, from: Bytes, to: Bytes, share: Share, is_guest: bool },

    // Traffic that memory controllers count.
    #[claim("{channels} summed, ")]
    #[claim(are_distinct => "each with counts of its own")]
    #[claim(!are_distinct => "which their counts do not distinguish")]
    #[claim(left_out => "; left out: {left_out}")]
    #[fix("report the record, with truebench host --capture, as a defect of truebench")]
    Channels { channels: Counted, are_distinct: bool, left_out: Option<String> },
    #[claim("the counter that ran least ran {share} of the time")]
    #[fix("stop other users of counters (perf, PCM, likwid, the NMI watchdog)")]
    #[fix("; with fewer counters than channels add rounds")]
    CountersRan { share: Share },
    #[claim("memory moved {rate} while the threads rested, {share} of what was counted in a round")]
    #[fix(
        "stop what else moves memory on this machine, such as other tenants, copying, graphics: all of it \
         counts"
    )]
    Background { rate: Amount, share: Share },
    #[claim("{_0}")]
    TrafficAgrees(Traffic),
    #[claim("{traffic}; {share} of the write-allocate's reads are missing")]
    #[fix("trust the counters")]
    WriteAllocateMissing { traffic: Traffic, share: Share },
    #[claim("{traffic}; {share} of the lines stored past the cache are read")]
    #[fix("trust the counters")]
    StoresRead { traffic: Traffic, share: Share },
    #[claim("{traffic}; others moved {share} of it")]
    #[fix("see traffic-background")]
    OthersMoved { traffic: Traffic, share: Share },
    #[claim("{_0}; twice as much, as if each channel were summed twice")]
    #[fix("see traffic-channels")]
    TrafficTwice(Traffic),
    #[claim("{_0}; prefetchers may read what is not used")]
    #[fix("{QUIETER}")]
    MoreRead(Traffic),
    #[claim("{_0}; others' traffic may have begun with the round")]
    #[fix("{QUIETER}")]
    MoreMoved(Traffic),
    #[claim("{_0}; half, as if one socket's channels were missing")]
    #[fix("{CHANNELS}")]
    TrafficHalf(Traffic),
    #[claim("{_0}; channels are not counted, or arrays stay in cache")]
    #[fix("{CHANNELS}")]
    LessMoved(Traffic),

    // Relations: a figure and its partners.
    #[claim("measured twice: {ratio}")]
    #[fix("treat such differences as noise; repeat with more --rounds")]
    MeasuredTwice { ratio: RatioTo },
    #[claim("its pairs fall into two groups: {near} at {}, and {far} at {}", medians[0], medians[1])]
    #[fix("{TOPOLOGY}")]
    ClassSplit { near: Count, far: Count, medians: [Amount; 2] },
    #[claim("{_0} are as near")]
    #[fix("{TOPOLOGY}")]
    ClassesAlike(PairsOfClass),
    #[claim("{_0} form one group, and no class that must differ is as near")]
    ClassWhole(PairsOfClass),
    #[claim("{copy} is {ratio}, which moves the same bytes")]
    #[fix("see {slower}; repeat with more --rounds")]
    CopyAndScale { copy: Name, ratio: RatioTo, slower: Name },
    #[claim("{single} is {ratio} with arrays of {to} instead of {from}")]
    #[fix("use --array-size {} or more", to.to_string().replace(' ', ""))]
    Doubled { single: Name, ratio: Range, from: Bytes, to: Bytes },
    #[claim("both arms were disturbed by an unknown amount: {reason}")]
    #[fix("{OTHERS}")]
    ArmsUnknown { reason: String },
    #[claim("other processes used {} CPUs in one arm and {} in the other", cpus[0], cpus[1])]
    #[fix("{OTHERS}")]
    ArmsUnequal { cpus: [Number; 2] },
    #[claim("{_0}; the ratio exceeds it, so its direction is sure")]
    #[fix("{OTHERS}")]
    DirectionSure(ArmLoad),
    #[claim("{_0}; the ratio does not exceed it")]
    #[fix("{OTHERS}")]
    DirectionUnsure(ArmLoad),
    #[claim("difference to {other}: {stepwise} step by step, {replayed} replayed ({unit})")]
    #[fix("trust neither difference; repeat with more --rounds or --max-time on a quieter machine")]
    HarnessCost { other: Name, stepwise: Difference, replayed: Difference, unit: String },
    #[claim("{injection}{}", optional("; latency ", latency, " the idle one"))]
    Saturated { injection: Injection, latency: Option<Times> },
    #[claim("{_0}")]
    #[fix("inject from more CPUs: a wider affinity mask, or --places threads")]
    Unsaturated(Injection),
    #[claim("{program} is {ratio}")]
    InstrumentsAgree { program: String, ratio: RatioTo },
    #[claim("{program} is {ratio}, by a known factor")]
    InstrumentsDiffer { program: String, ratio: RatioTo, cause: String },
    #[claim("{program} is {ratio}, {cause}")]
    #[fix("{STORES}")]
    InstrumentsMayDiffer { program: String, ratio: RatioTo, cause: String },
    #[claim("{program} is {ratio}, which no known factor explains")]
    #[fix("{STORES}")]
    InstrumentsDisagree { program: String, ratio: RatioTo },
    #[claim("{nt} is {gain}; write-allocate: {predicted}{}", optional(", ", most, " at most"))]
    #[fix("see the other reasons of both figures")]
    #[fix("; repeat with more --rounds, --simd sse2 and another --offset")]
    StoreGain { nt: Name, gain: RatioTo, predicted: Times, most: Option<Times> },
}

const UNUSABLE: &str = "do not count on that cache: what should fit into it is read from memory";
const QUIETER: &str = "measure again on a quiet machine; compare with prefetchers off in the firmware";
const CHANNELS: &str = "compare truebench host with the installed modules; use larger arrays: --array-size";
const TOPOLOGY: &str = "in a guest, pass on the host's topology and pin its CPUs (libvirt: host-passthrough); else choose by latency";
const OTHERS: &str = "stop other processes (top, sorted by CPU) and measure again";
const STORES: &str =
    "see the other reasons; truebench memory inspect BINARY; compare with --stores regular and --stores nt";

fn pages_fix(requested: &str) -> &'static str {
    match requested {
        "small" => "report the record as a defect: huge pages came in spite of MADV_NOHUGEPAGE",
        "huge1g" => "echo N | sudo tee /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
        "huge2m" => "echo N | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
        _ => {
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled; echo 1 | sudo tee /proc/sys/vm/compact_memory"
        }
    }
}

/// Faults that no sample stands for, as shares of all, and why. Those below half a per cent are not printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gaps {
    /// Not counted: populated ahead, or out of sight.
    pub uncounted: Share,
    /// Whether faults within system calls are counted.
    pub sees_kernel: bool,
    /// Programs that only root may watch.
    pub set_user_id: Option<String>,
    /// Of samples that found no room.
    pub lost: Share,
    /// Of tasks that ended before their next sample.
    pub ended: Share,
    /// Share of the records of processes and mappings that found no room.
    pub mappings_lost: Share,
}

impl std::fmt::Display for Gaps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let uncounted = match (&self.set_user_id, self.sees_kernel) {
            (Some(names), _) => format!("in {names} (set-user-ID: only root may watch)"),
            (None, true) => "populated ahead, or before the watch".to_owned(),
            (None, false) => "in system calls, which only root may observe, or populated ahead".to_owned(),
        };
        let gaps = [
            (self.uncounted, uncounted.as_str(), 0.005),
            (self.lost, "of lost samples", 0.005),
            (self.ended, "of tasks that ended before their next sample", 0.005),
            (self.mappings_lost, "of the mapping records lost", f64::MIN_POSITIVE),
        ];
        gaps.iter().filter(|gap| gap.0.0 >= gap.2).try_for_each(|(share, of, _)| write!(f, "; {share} {of}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("counted {estimated} of the estimated traffic, {stream} of STREAM's bytes")]
pub struct Traffic {
    pub estimated: Times,
    pub stream: Times,
}

/// What other processes did to two arms alike.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "other processes used {} of {all}: {} {clock}",
    List(cpus.to_vec()),
    bound.map_or("any".to_owned(), |bound| format!("at most {bound} the"))
)]
pub struct ArmLoad {
    pub cpus: [Number; 2],
    pub all: Counted,
    /// The most that it can have done to the ratio; `None` without a limit.
    pub bound: Option<Times>,
    pub clock: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{value} [{low}, {high}]")]
pub struct Difference {
    pub value: Number,
    pub low: Number,
    pub high: Number,
}

/// The share of pages on a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{share} on node {node}")]
pub struct NodeShare {
    pub share: Share,
    pub node: u32,
}

/// What the injectors of a load move, as a share of what all CPUs move, or of the theoretical peak.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "{injectors} at delay {delay}: {moved}, {share} of {}",
    all.as_ref().map_or("the theoretical peak".to_owned(), |all| format!("{all}, by all CPUs"))
)]
pub struct Injection {
    pub injectors: Counted,
    pub delay: Count,
    pub moved: Amount,
    pub share: Share,
    pub all: Option<Cited>,
}
