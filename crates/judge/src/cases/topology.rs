//! Cases of cores, caches and nodes: lines from core to core, ladders of sizes, latency under load, scaling.

use super::case::*;
use super::memory::MixRate;
use crate::relations::core_pairs::called;

#[derive(Wording)]
pub enum Topology {
    // c2c: where a line came from, by the requester's own cache and by memory; c2c-states: clean against modified.
    #[claim("The two hardware threads share a cache: the line does not move")]
    #[evidence("{times} the latency of the requester's own cache, {cache}.")]
    SharedByThreads { times: Times, cache: Amount },
    #[claim("The line came from a cache: {ratio} of the latency of memory")]
    #[evidence("Memory ({memory}) is ruled out. From the requester's own cache it takes {cache}: {times}.")]
    FromCache { ratio: Range, memory: Amount, times: Times, cache: Amount },
    #[claim("The line may have come from memory: {ratio} of its latency")]
    #[evidence("Memory takes {memory}. Compare the modified line, which memory does not hold.")]
    PerhapsFromMemory { ratio: Range, memory: Amount },
    #[claim("Asking the other core takes {ratio} of the latency of memory")]
    #[evidence("Memory takes {memory}.")]
    SlowOtherCore { ratio: Range, memory: Amount },
    #[claim("A modified line takes {ratio} of a clean one: its owner must give it up")]
    #[evidence("{modified} against {clean}.")]
    ModifiedSlower { ratio: Range, modified: Cited, clean: Cited },
    #[claim("A modified line takes {ratio} of a clean one")]
    #[evidence("{modified} against {clean}.")]
    #[evidence("The owner sends a modified line; a clean one comes from further away.")]
    ModifiedFaster { ratio: Range, modified: Cited, clean: Cited },

    // cores: a class of pairs; topology: whether the latencies between CPUs are those of what is advertised.
    #[claim("The pairs of this class take {}", span(least, most))]
    #[evidence(others => "Other classes: {others}")]
    ClassRange { least: Amount, most: Amount, others: Option<List<PairsOfClass>> },
    #[claim("The two CPUs hardly ever ran at the same time: no distance takes that long")]
    #[evidence("A hypervisor that gives both the same CPU has this effect.")]
    TakingTurns,
    #[claim("The latency fits {like}")]
    #[evidence("In published tables they take {range}. No other pair was measured.")]
    FitsPublished { like: &'static str, range: &'static str },
    #[claim("The latency does not fit {advertised}")]
    #[evidence("It fits {like}: {range} in published tables. No other pair was measured.")]
    UnlikePublished { advertised: Class, like: &'static str, range: &'static str },
    #[claim("CPUs {cpus} act in twos, like hardware threads of one core or complexes of two cores")]
    #[evidence("They form {blocks}. {gap}")]
    HiddenThreads { cpus: CpuList, blocks: Blocks, gap: Gap },
    #[claim("Only some of CPUs {cpus} act as {class}")]
    #[evidence("They form {blocks}. {gap}")]
    SplitClass { cpus: CpuList, class: Class, blocks: Blocks, gap: Gap },
    #[claim("CPUs {cpus} share something that the topology does not show")]
    #[evidence("They form {blocks}. {gap}")]
    HiddenGroups { cpus: CpuList, blocks: Blocks, gap: Gap },
    #[claim("Two classes of pairs that must differ are equally near")]
    #[evidence("{nearer}; {farther}.")]
    EquallyNear { nearer: PairsOfClass, farther: PairsOfClass },
    #[claim("The latencies between CPUs fit the advertised topology")]
    #[evidence("{classes}.")]
    TopologyFits { classes: List<PairsOfClass> },
    #[claim("No groups of CPUs are far apart")]
    #[evidence("{classes}.")]
    NoGroups { classes: List<PairsOfClass> },

    // edge, level: where a level of a ladder ends, and the level of a point.
    #[claim("The level ends: {} at {from}, {} at {to}", before.amount, behind.amount)]
    #[evidence("{} to {}{}.", before.figure, behind.figure, optional("; advertised: ", advertised, ""))]
    LevelEnds { from: Bytes, to: Bytes, before: Cited, behind: Cited, advertised: Option<Bytes> },
    #[claim("Part of {size} misses {level}, which ends here ({edge})")]
    #[evidence(measure => "{measure}")]
    MissesInPart { size: Bytes, level: String, edge: Name, measure: Option<Measure> },
    #[claim("{size} fits in {level}, which ends at {end} ({edge})")]
    #[evidence(measure => "{measure}")]
    FitsLevel { size: Bytes, level: String, end: Bytes, edge: Name, measure: Option<Measure> },
    #[claim("{size} comes from memory: the last cache ends at {end} ({edge})")]
    #[evidence(measure => "{measure}")]
    #[evidence(walks => "{walks}")]
    #[fix("{}", if matches!(walks, Some(Walks::Possible(_))) { "repeat with huge pages: --pages thp" } else { "" })]
    FromMemory { size: Bytes, end: Bytes, edge: Name, measure: Option<Measure>, walks: Option<Walks> },

    // loaded: a point of latency under load; load: the curve.
    #[claim("As fast as without load: nothing waits")]
    #[evidence("{idle}; injected: {load}.")]
    NoWaiting { idle: Cited, load: Cited },
    #[claim("Below the idle latency, which was disturbed or had another clock")]
    #[evidence("{idle}.")]
    BelowIdle { idle: Cited },
    #[claim("{waiting} of it is waiting: {times} the idle latency")]
    #[evidence("{idle}; injected: {load}. By Little's law {lines} lines of 64 B are in flight.")]
    Waiting { waiting: Amount, times: Times, idle: Cited, load: Cited, lines: Number },
    #[claim("Latency under load, mix {mix}: {idle} idle, {full} at {load}")]
    #[evidence("Memory saturates. Knee: {knee}.")]
    LoadSaturates { mix: String, idle: Amount, full: Amount, load: Amount, knee: KneePlace },
    #[claim("Latency under load, mix {mix}: {idle} idle, {full} at {load}, short of saturation")]
    #[evidence("{reason}. Knee: {knee}.")]
    LoadTooLow { mix: String, idle: Amount, full: Amount, load: Amount, knee: KneePlace, reason: String },
    #[claim("Latency under load, mix {mix}: {idle} idle, {full} at {load}")]
    #[evidence("Saturation is unknown: {reason}.")]
    SaturationUnknown {
        mix: String,
        idle: Amount,
        full: Amount,
        load: Amount,
        knee: KneePlace,
        reason: String,
    },

    #[claim("Latency under load, {curves}: {idle} idle, saturation begins at {}", amounts(onsets))]
    #[evidence("It begins at {onsets}.")]
    #[evidence(short => "No saturation: {short}.")]
    FamilySaturates { curves: Counted, idle: Amount, onsets: List<MixRate>, short: Option<String> },
    #[claim("Latency under load, {curves}: {idle} idle, at most {times}: no saturation")]
    #[evidence("The most bandwidth: {highest}.")]
    #[fix("inject from more CPUs: a wider affinity mask, or --places threads")]
    FamilyShort { curves: Counted, idle: Amount, times: Times, highest: List<MixRate> },

    #[claim("{injectors} at delay {delay}: {share} of the highest bandwidth of the curve")]
    Injected { injectors: Counted, delay: Count, share: Share, highest: Name },

    // falls-back: a point that moves less under more load.
    #[claim("{below} less than at delay {delay}, although the load is higher")]
    #[evidence(
        "{best}. Latency is {latency}, so the load is there, and the clock ({clock} GHz) is the same."
    )]
    #[evidence("Mess traces such points to row-buffer misses.")]
    FallsBack { below: Share, best: Cited, delay: Count, latency: Amount, clock: Number },
    #[claim("{below} less than at delay {delay}, although the delay is shorter; perhaps not by memory")]
    #[evidence("{best}. {doubt}.")]
    PerhapsFallsBack { below: Share, best: Cited, delay: Count, doubt: Doubt },

    // curve: a property of a curve of latency under load.
    #[claim("The highest of {points}, at delay {delay}")]
    #[evidence(lower => "Under more load bandwidth falls back: {lower}.")]
    CurveHighest { points: Counted, delay: Count, lower: Option<Counted> },
    #[claim("Latency is twice the idle one at {share} of the highest bandwidth: saturation begins")]
    #[evidence("{idle}; highest: {highest}. The definition is that of Mess (arXiv 2405.10170).")]
    CurveOnset { share: Share, idle: Cited, highest: Cited },
    #[claim("At the highest bandwidth a load takes {times} the idle latency")]
    #[evidence("{idle}; {highest}.")]
    CurveSaturated { times: Times, idle: Cited, highest: Cited },
    #[claim("A load of up to {span} adds {adds} to the idle latency")]
    #[evidence("{idle}; least squares over it and {points}.")]
    CurveSlope { span: Amount, adds: Amount, idle: Cited, points: Counted },
    #[claim("A load of up to {span} adds nothing to the idle latency that the rounds could show")]
    #[evidence("{idle}; least squares over it and {points}.")]
    CurveFlat { span: Amount, idle: Cited, points: Counted },

    // numa: memory of a node from the CPUs of a node; numa-remote: the worst of all.
    #[claim("The only NUMA node: all memory is local")]
    OnlyNode,
    #[claim("Local memory is farther than that of another node")]
    #[evidence("{remote}. A hypervisor may show nodes that are not those of the host.")]
    LocalFarther { remote: Cited },
    #[claim("{threads}, each with {lines} lines of 64 B in flight")]
    #[evidence("By Little's law at the idle latency, {latency}.")]
    #[evidence("All pages lie on this node: others are ruled out.")]
    LocalLines { threads: Counted, lines: Count, latency: Cited },
    #[claim("No farther than local memory: {times}")]
    #[evidence("Local: {local}. The pages lie on node {node}: misplacement is ruled out.")]
    #[evidence("Nodes of a guest may be one node of its host.")]
    AsNearAsLocal { times: Times, local: Cited, node: Count },
    #[claim("{times} the local latency; the firmware advertises {advertised}")]
    #[evidence("Local: {local}.")]
    Farther { times: Times, local: Cited, advertised: Times },
    #[claim("{ratio} of the local bandwidth: the link between the nodes is not the limit")]
    #[evidence("Local: {local}.")]
    AsFastAsLocal { ratio: Times, local: Cited },
    #[claim("{ratio} of the local bandwidth, as {latency} the latency predicts")]
    #[evidence("Local: {local}. The lines in flight are the limit; the link between the nodes is ruled out.")]
    SlowerByLatency { ratio: Times, local: Cited, latency: Times },
    #[claim("{ratio} of the local bandwidth, more than {latency} the latency predicts")]
    #[evidence("For local memory ({local}) memory is the limit, not the lines in flight.")]
    LimitedByLocal { ratio: Times, local: Cited, latency: Times },
    #[claim("The link between the nodes is the limit: {ratio} of the local bandwidth")]
    #[evidence("Local: {local}.")]
    #[evidence("{latency} the latency explains less, and that memory gives its own CPUs {home}.")]
    LimitedByLink { ratio: Times, local: Cited, latency: Times, home: Cited },
    #[claim("The link between the nodes or that memory is the limit: {ratio} of the local bandwidth")]
    #[evidence("Local: {local}. {latency} the latency explains less.")]
    LimitedByLinkOrMemory { ratio: Times, local: Cited, latency: Times },
    #[claim(
        "Memory of another node: up to {} the local latency, down to {} of the bandwidth",
        latency.ratio, bandwidth.ratio
    )]
    #[evidence("{latency}; {bandwidth}.")]
    RemoteMemory { latency: RemoteCell, bandwidth: RemoteCell },

    // hmat: what the firmware states of memory without CPUs, against what was measured.
    #[claim("HMAT says {stated} for the memory of node {node}, which does better: {}", measured.amount)]
    #[evidence("{measured}: {times} of it. The firmware's table is an estimate; the measurement stands.")]
    BetterThanStated { stated: Amount, node: Count, measured: Cited, times: Times },

    // scaling: points of a curve over threads, and its knee.
    #[claim("Dynamic schedule: {ratio}, as with equal shares threads wait for slower ones")]
    #[evidence("{fixed} has equal shares on the same threads and CPUs: only the schedule differs.")]
    DynamicGains { ratio: Times, fixed: Cited },
    #[claim("The limit of one thread is the lines that its core keeps in flight: {lines} of 64 B")]
    #[evidence("By Little's law at a latency of {latency}.")]
    OneThread { lines: Count, latency: Sourced },
    #[claim("Cores are the limit, not memory: each thread does {each} of one alone")]
    #[evidence("{times} of {one}.")]
    CoresLimit { each: Share, times: Times, one: Cited },
    #[claim("More threads still gain: each does {each} of one alone")]
    #[evidence("{times} of {one}. {limit}.")]
    MoreGain { each: Share, times: Times, one: Cited, limit: Limit },
    #[claim("No gain over {threads}: {ratio}")]
    #[evidence("{best}. {limit}.")]
    NoMoreGain { threads: Counted, ratio: Times, best: Cited, limit: Limit },
    #[claim("{at} makes {share} of the best bandwidth")]
    #[evidence("The best: {best}.")]
    FewestThreads { at: Name, share: Share, best: Cited },

    // surroundings: what a test of UnixBench rests on apart from the machine.
    #[claim("String and mathematical functions are those of {library}")]
    #[claim(strcmp => ", strcmp at {strcmp}")]
    CLibrary { library: String, strcmp: Option<String> },
    #[claim("Forks or executes a {linkage} program of {size} with {libraries}")]
    #[evidence("A larger one costs more.")]
    ProgramImage { linkage: String, size: Bytes, libraries: Counted },
    #[claim("sort and grep compare byte by byte, which is cheaper than by language")]
    #[evidence("Locale: {locale}. Shell: {shell}.")]
    BytewiseOrder { locale: String, shell: String },
}

/// What the CPUs of a pair share: `cores that share a last-level cache`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Display)]
#[serde(transparent)]
#[display("{}", called(_0))]
pub struct Class(pub String);

/// The pairs of a class: `28 pairs of cores that share a last-level cache (48.2 ns)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{pairs} of {class} ({median})")]
pub struct PairsOfClass {
    pub pairs: Counted,
    pub class: Class,
    pub median: Amount,
}

/// Blocks of CPUs that are near to one another; none where not every pair was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Blocks(pub Vec<CpuList>);

const MOST_BLOCKS: usize = 4;

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("several groups");
        }
        let named: Vec<String> = self.0.iter().take(MOST_BLOCKS).map(CpuList::to_string).collect();
        let more = if self.0.len() > MOST_BLOCKS { "; …" } else { "" };
        write!(f, "{}: {}{more}", Counted(self.0.len() as f64, "group"), named.join("; "))
    }
}

/// Two groups of one class, by their medians, each with a typical pair.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("Far pairs take {far} ({far_pair}), near pairs {near} ({near_pair}): {times}.")]
pub struct Gap {
    pub near: Amount,
    pub far: Amount,
    pub times: Times,
    pub near_pair: Name,
    pub far_pair: Name,
}

/// A point of a ladder by the core's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(untagged)]
pub enum Measure {
    #[display("{cycles} cycles a load.")]
    Load { cycles: Number },
    #[display("{bytes} B a cycle at {gigahertz} GHz on each thread.")]
    Sweep { bytes: Number, gigahertz: Number },
}

/// Whether page walks are part of a latency: by the share in huge pages.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum Walks {
    #[display("{_0} is in huge pages: page walks are ruled out.")]
    RuledOut(Share),
    #[display("{_0} is in huge pages, which may be small ones of the host: page walks are not ruled out.")]
    OfHost(Share),
    #[display("{_0} is in huge pages: page walks are not ruled out.")]
    Possible(Share),
}

#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum KneePlace {
    #[display("{bandwidth} and {latency}")]
    At { bandwidth: Cited, latency: Amount },
    #[display("beyond this load")]
    Beyond,
    #[display("unknown, as there are too few points")]
    TooFewPoints,
}

/// Why less bandwidth under more load may not be memory's doing.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    #[display("Its rounds were disturbed: {check}")]
    Disturbed { check: String },
    #[display("Latency fell too, from {from} to {to}: the injectors sent less")]
    LatencyFell { from: Amount, to: Amount },
    #[display("The clock fell from {from} to {to} GHz")]
    ClockFell { from: Number, to: Number },
    #[display("The clock was not measured")]
    ClockUnknown,
}

/// `90.1 to 150 GB/s`.
fn amounts(rates: &List<MixRate>) -> String {
    let of = |rate: &MixRate| rate.walk.amount.value;
    let by_value = |a: &&MixRate, b: &&MixRate| of(a).total_cmp(&of(b));
    let ends = rates.0.iter().min_by(by_value).zip(rates.0.iter().max_by(by_value));
    ends.map_or_else(String::new, |(low, high)| span(&low.walk.amount, &high.walk.amount))
}

/// Memory of another node against the local memory of the same CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{cell} against {local}")]
pub struct RemoteCell {
    pub ratio: Times,
    pub cell: Name,
    pub local: Name,
}

/// Why more threads bring less than they might.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    #[display("Memory is near its limit; the clock is ruled out ({clock} GHz with both)")]
    Memory { clock: Number },
    #[display("Memory is near its limit, and the clock fell from {from} to {to} GHz")]
    MemoryAndClock { from: Number, to: Number },
    #[display("Memory is near its limit, or the clock fell: it was not measured")]
    MemoryOrClock,
}
