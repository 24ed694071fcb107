//! Cases of `truebench faults`: what page faults cost, where they come from, and what stops them.

use suites::faults::{Manager, Mechanism, Memory};
use suites::mechanisms::DEARER;

use super::case::*;

/// Of copies after a fork, without error codes of faults.
const UNSEEN: &str = "; whether the faults copied a page was not recorded (root, x86)";

#[derive(Wording)]
pub enum Faults {
    // page-faults: the answer for a program that was watched.
    #[claim("{faults}{}; their cost is unknown", optional(": ", cause, ""))]
    #[evidence("The price of a fault was not measured.")]
    CostUnknown { faults: Counted, cause: Option<Cause> },
    #[claim("{} of CPU time: next to nothing to gain", cost.claim())]
    #[evidence("{cost}")]
    #[evidence(is_by_price => "At most {most}: a fault after a pause costs up to {DEARER} times as much.")]
    #[evidence(!is_by_price => "At most {most}: all that the kernel did.")]
    CostLittle { cost: Cost, most: Share, is_by_price: bool },
    #[claim("{} of CPU time{}", cost.claim(), optional(": ", cause, ""))]
    #[evidence("{cost}")]
    #[fix(command => "{command}")]
    Cost { cost: Cost, cause: Option<Cause>, command: Option<String> },
    #[claim("{} of CPU time", cost.claim())]
    #[claim(cause => ": {cause}")]
    #[claim("; {setting} {}", saved.map_or_else(|| "helps".to_owned(), |saved| format!("saves {saved}")))]
    #[evidence("{cost}")]
    #[fix(command => "{command}")]
    CostSaved {
        cost: Cost,
        cause: Option<Cause>,
        setting: String,
        saved: Option<Share>,
        command: Option<String>,
    },
    #[claim("{} of CPU time{}; no setting helps", cost.claim(), optional(": ", cause, ""))]
    #[evidence("{cost}")]
    CostStays { cost: Cost, cause: Option<Cause> },

    // mechanism: which is first, what shows it, and whether the calls for memory agree.
    #[claim("Which mechanism causes most of the faults is not decided")]
    #[evidence("Their shares overlap: {}.", joined(candidates))]
    #[fix("watch more of the program: a longer run, or the same work again and again")]
    Undecided { candidates: Vec<Candidate> },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "{again} hit a page that was there before{}{}{}.",
        optional("; ", proof, &format!(" of those {}", cause.proof())),
        optional("; ", old, " of the others added no memory"),
        optional(". Mappings are mostly of ", size, "")
    )]
    Refaults {
        share: Share,
        cause: Cause,
        again: Share,
        proof: Option<Share>,
        old: Option<Share>,
        size: Option<Bytes>,
    },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "The program forked {forks}{}{}{}.",
        copies.map_or_else(|| UNSEEN.to_owned(), |copies| format!(". {copies} of the faults wrote to a page that was there")),
        optional(". ", old, " of the first touches added no memory"),
        optional(". Children copied ", children, " of the pages, their parents the others")
    )]
    CopyOnWrite {
        share: Share,
        cause: Cause,
        forks: Counted,
        copies: Option<Share>,
        old: Option<Share>,
        children: Option<Share>,
    },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "Mostly {}{}: pages that were not there before.",
        memory.description(), optional(", in runs of ", run, "")
    )]
    Growth { share: Share, cause: Cause, memory: Memory, run: Option<Bytes> },
    #[claim("{share} of the faults: {cause}")]
    #[evidence("{ended} ended, and others took their places.")]
    Stacks { share: Share, cause: Cause, ended: Counted },
    #[claim("{share} of the faults: {cause}")]
    Files { share: Share, cause: Cause },
    #[claim("{share} of the faults: {cause}")]
    #[evidence("The kernel counted as many of them ({counter}).")]
    Counter { share: Share, cause: Cause, counter: &'static str },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "The kernel counted as many of them (thp_fault_alloc){}{}.",
        optional("; it made ", collapsed, " more of small pages"),
        optional("; it split huge ones ", split, "")
    )]
    HugePages { share: Share, cause: Cause, collapsed: Option<Count>, split: Option<Counted> },
    #[claim("{share} of the faults: {cause}")]
    #[evidence("{fact}.")]
    Recognised { share: Share, cause: Cause, fact: &'static str },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "Pages swapped in: {swapped_in}{}; of files, read again: {read_again}. Major faults: {majors}{}.",
        optional(" (zswap: ", decompressed, ")"),
        optional(". Its control group met its memory limit ", limit_met, "")
    )]
    Reclaimed {
        share: Share,
        cause: Cause,
        swapped_in: Count,
        decompressed: Option<Count>,
        read_again: Count,
        majors: Count,
        limit_met: Option<Counted>,
    },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "First touches in each process; shared memory grew by {new} of them: the other pages were there."
    )]
    SharedPages { share: Share, cause: Cause, new: Share },
    #[claim("{share} of the faults: {cause}")]
    #[evidence("It was started {starts}; each start took {each} faults, from its loader to its end.")]
    Starts { share: Share, cause: Cause, starts: Counted, each: Count },
    #[claim("{share} of the faults: {cause}")]
    #[evidence(
        "Writes to pages that were there, in a program that never forked{}.",
        optional("; the kernel split ", underused, " huge pages of mostly zeros")
    )]
    ZeroPages { share: Share, cause: Cause, underused: Option<Count> },
    #[claim("Confirmed by system calls: {call} {rate} times a second")]
    #[evidence(owned => "{owned}.")]
    CallsConfirm { call: &'static str, rate: Number, owned: Option<Owned> },
    #[claim("Not confirmed by system calls: no {} in {time}", calls.join(" and no "))]
    CallsContradict { calls: Vec<&'static str>, time: Seconds },

    // blocks: which blocks the faults are in.
    #[claim("{share} of the faults are in blocks of up to {size} that {site} allocates")]
    #[evidence(young => "They are {young} old then (median), and are freed later.")]
    #[fix(young => "keep these blocks and use them again: a kept block is not faulted in again")]
    InBlocks { share: Share, size: Bytes, site: String, young: Option<Seconds> },

    // setting: what stops the faults, before a trial and after it.
    #[claim("A change may stop these faults; it is not proved to help")]
    #[evidence("Effect: {about}. Price: {price}.")]
    #[fix("{action}")]
    NotProved { about: String, price: String, action: String },
    #[claim("No setting helps: change the code at {site}")]
    #[evidence("Most of these faults come from there. Change: {about}. Price: {price}.")]
    #[fix("{code}")]
    OnlyCode { site: String, about: String, price: String, code: String },
    #[claim("{setting} helps: {cpu} the CPU time")]
    #[claim(wall => ", {wall} the wall time")]
    #[claim(memory => ", {memory} the memory")]
    #[evidence(system => "Kernel time: {system}.")]
    #[evidence("{} price: {price}.", if *is_bounded { "Bounded" } else { "Unbounded" })]
    #[evidence(alike => "As good: {alike}.")]
    #[evidence(load => "The direction is sure, the size is not: load explains at most {load}.")]
    #[fix(command => "{command}")]
    SettingHelps {
        setting: String,
        cpu: Range,
        wall: Option<Times>,
        memory: Option<Times>,
        system: Option<Range>,
        is_bounded: bool,
        price: String,
        alike: List<String>,
        load: Option<Times>,
        command: Option<String>,
    },
    #[claim("{setting} can be set for good, in the program")]
    #[fix("{code}")]
    SettingInCode { setting: String, code: String },
    #[claim("No setting helps: the best, {best}, takes {cpu} the CPU time")]
    #[evidence(undecided => "Undecided: {undecided}.")]
    #[fix(!undecided => "leave the program as it is")]
    #[fix(undecided => "truebench faults --prove --rounds 30 -- COMMAND")]
    NoSettingHelps { best: String, cpu: Range, undecided: Vec<String> },
    #[claim("Not worth setting: {}", names(settings))]
    #[evidence(
        "{}.{}",
        results(settings),
        if settings.iter().any(|tried| tried.faults.is_some()) { " Fewer faults are no gain by themselves." } else { "" }
    )]
    SettingsWithoutGain { settings: Vec<Tried> },
    #[claim("Load hides whether CPU time is saved by {}", names(settings))]
    #[evidence("{}. Load can change the CPU time by as much, but not the faults.", results(settings))]
    #[fix("stop what else runs here (top, sorted by CPU) and measure again")]
    GainHiddenByLoad { settings: Vec<Tried> },
    #[claim("Takes {cpu} the CPU time ({effect})")]
    #[claim(memory => ", {memory} the memory")]
    #[claim(faults => ", {faults} of the faults")]
    #[evidence(changed => "It took effect: {changed}.")]
    SettingEffect {
        effect: &'static str,
        cpu: Range,
        memory: Option<Times>,
        faults: Option<Share>,
        changed: Option<String>,
    },
    #[claim("Computed start by start from {sources}")]
    StartByStart { sources: List<Name> },

    // prices: what a price is made of, and what a rate of faults amounts to.
    #[claim("{rest} ({share}) of it are {work}")]
    #[evidence("The fault alone: {part}.")]
    PartOfPrice { rest: Seconds, share: Share, work: &'static str, part: Cited },
    #[claim("The minimum cost of a fault: kernel entry, VMA lookup, page-table update")]
    #[evidence("No page is allocated or zeroed.")]
    MinimumCost,
    #[claim("{call} of it are the call itself")]
    #[evidence("In a call for {region} a page takes less: {page}.")]
    CallItself { call: Seconds, region: Bytes, page: Cited },
    #[claim("{ratio} the price of pages one by one: one fault instead of many")]
    #[evidence("One by one: {single}.")]
    #[evidence("What is left is zeroing; it pays only if most of the huge page is used.")]
    HugePage { ratio: Times, single: Cited },
    #[claim("A block of {size} that is mapped, touched and unmapped costs {whole}")]
    #[evidence("Calls: {calls}. {pages} first touches: {touch} ({write}).")]
    #[evidence("Giving the pages back: {back} ({unmap}).")]
    MappedBlock {
        size: Bytes,
        whole: Seconds,
        calls: Share,
        pages: Count,
        touch: Seconds,
        write: Name,
        back: Seconds,
        unmap: Name,
    },
    #[claim("At most {page} per touched page: its entry is copied and protected")]
    #[evidence("The first writes after the fork cost more.")]
    ForkByPage { page: Seconds },
    #[claim("One fault maps {pages} pages: {ratio} the price of a page alone")]
    #[evidence("Alone: {alone}.")]
    FaultAround { pages: Number, ratio: Times, alone: Cited },
    #[claim("{ratio} a minor fault, {minor}")]
    #[evidence("CPU time: {cpu} ({share}). The rest waits for the disk.")]
    MajorFault { ratio: Times, minor: Cited, cpu: Seconds, share: Share },
    #[claim("TLB shootdown adds {added}: {each} for each other running thread")]
    #[evidence("The kernel interrupts every CPU that runs this process and waits for it. Alone: {alone}.")]
    Shootdown { added: Seconds, each: Seconds, alone: Cited },
    #[claim("{ratio} one thread alone: threads of one process wait for one another's faults")]
    #[evidence("Alone: {alone}.")]
    FaultsWait { ratio: Times, alone: Cited },
    #[claim("A minor fault costs {price} of CPU time here")]
    #[evidence("10000 a second are {share} of one CPU; 20 % of a CPU would need {rate} a second.")]
    MinorFaultPrice { price: Seconds, share: Share, rate: Count },
    #[claim("A page from this disk takes {price}, as long as {minor} minor faults")]
    #[evidence("Random pages: at most {rate} a second for a thread.")]
    #[evidence(scan => "A mapped file read page by page: {scan} the time from the page cache.")]
    DiskPagePrice { price: Seconds, minor: Number, rate: Count, scan: Option<Times> },

    // walk: a step, and where dynamic and frozen thresholds part.
    #[claim("{step}: heap {heap}, mappings {mappings}, resident {resident}, {faults}")]
    Step { step: String, heap: Change, mappings: Change, resident: Change, faults: Counted },
    #[claim("malloc raises its thresholds: free d keeps {heap} of heap")]
    #[evidence(
        "With MALLOC_TRIM_THRESHOLD_=131072 it trims {trimmed}. malloc c again then maps anew: {frozen} \
         instead of {dynamic}."
    )]
    #[evidence("Before, free c had unmapped its block.")]
    ThresholdsRaised { heap: Bytes, trimmed: Bytes, dynamic: Counted, frozen: Counted },
    #[claim("MALLOC_TRIM_THRESHOLD_=131072 makes a difference from {step} on")]
    #[evidence("The steps do not show why.")]
    ThresholdsDiffer { step: String },
    #[claim("MALLOC_TRIM_THRESHOLD_=131072 changes nothing, although glibc's malloc serves")]
    #[evidence("Any variable that sets a threshold freezes all of them.")]
    #[evidence(set => "Set in both arms: {set}.")]
    ThresholdsFrozen { set: Option<String> },
    #[claim("MALLOC_TRIM_THRESHOLD_=131072 changes nothing: ")]
    #[claim(library => "{library} ignores it")]
    #[claim(!library => "which malloc serves is unknown")]
    #[evidence(set => "Set in both arms: {set}.")]
    ThresholdsIgnored { library: Option<String>, set: Option<String> },
}

/// The cost of a program's faults: their number times the price of one, and that of the faults of huge pages.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "Estimate: {faults} at {price} each{}, as in a loop here, in {cpu} of CPU time.{}",
    optional(", ", huge, ""),
    optional(" At most ", bound, ", all kernel time: cold faults cost more, and giving back adds.")
)]
pub struct Cost {
    /// `None` if the record does not name it.
    pub program: Option<String>,
    /// Of the program's CPU time.
    pub share: Share,
    /// Those of small pages.
    pub faults: Counted,
    pub price: Seconds,
    pub huge: Option<HugeFaults>,
    pub cpu: Seconds,
    /// The kernel's share of the CPU time, if that is more.
    pub bound: Option<Share>,
}

/// Faults that each bring a huge page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{faults} of huge pages at {price}")]
pub struct HugeFaults {
    pub faults: Count,
    pub price: Seconds,
}

impl Cost {
    fn claim(&self) -> String {
        format!("Page faults{} cost {}", optional(" of ", &self.program, ""), self.share)
    }
}

/// Why pages are faulted in, and who manages the memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cause {
    pub mechanism: Mechanism,
    pub manager: Option<Manager>,
}

impl Cause {
    /// What shows for pages that were faulted in again that they had been given back.
    fn proof(self) -> &'static str {
        match self.mechanism {
            Mechanism::MapChurn => "in a new mapping",
            Mechanism::HeapTrim => "after the heap was cut and grew again",
            _ => "without a new mapping, a cut or a fork: madvise gave them back",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let manager = self.manager.map_or("the program or its allocator", Manager::description);
        match self.mechanism {
            Mechanism::MapChurn => write!(f, "{manager} unmaps blocks"),
            Mechanism::HeapTrim => write!(f, "{manager} trims the heap"),
            Mechanism::MallocTrim => f.write_str("malloc_trim gives all free pages back"),
            Mechanism::ArenaTrim => write!(f, "{manager} trims thread arenas"),
            Mechanism::Purge => write!(f, "{manager} returns free pages"),
            Mechanism::CopyOnWrite => f.write_str("pages copied after fork"),
            Mechanism::Growth => f.write_str("first touch of new memory"),
            Mechanism::Stacks => f.write_str("stacks of short-lived threads"),
            Mechanism::File => f.write_str("pages of files"),
            Mechanism::Dax => f.write_str("pages of files without page cache (DAX)"),
            Mechanism::FileCopy => f.write_str("pages of files copied at the first write"),
            Mechanism::SharedMap => f.write_str("each process maps shared memory that is there"),
            Mechanism::Reclaim => f.write_str("memory is short: pages come back"),
            Mechanism::Unmerge => f.write_str("KSM merged pages that are written again"),
            Mechanism::ZeroPage => f.write_str("pages read before they are written"),
            Mechanism::Userfault => f.write_str("a userfaultfd handler provides pages"),
            Mechanism::StartUp => f.write_str("short programs start again and again"),
            Mechanism::NumaHinting => f.write_str("NUMA balancing takes pages away"),
            Mechanism::HugePages => f.write_str("huge pages, zeroed whole"),
            Mechanism::Unexplained => f.write_str("no known mechanism"),
        }
    }
}

/// A mechanism that may be the one of most faults.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{cause} ({low} to {high})")]
pub struct Candidate {
    pub cause: Cause,
    /// The ends of the interval of its share.
    pub low: Share,
    pub high: Share,
}

/// The share of what calls gave back that the manager of the mechanism did.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{share} of their bytes are given back by {}", manager.description())]
pub struct Owned {
    pub share: Share,
    pub manager: Manager,
}

/// A setting that was tried without a proved gain.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{setting}: {effect}, {cpu} the CPU time{}", optional(" with ", faults, " of the faults"))]
pub struct Tried {
    pub setting: String,
    pub effect: &'static str,
    pub cpu: Times,
    /// Where they are clearly others.
    pub faults: Option<Share>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[serde(transparent)]
#[display("{}{}", if *_0 > 0.0 { "+" } else { "" }, Bytes(*_0))]
pub struct Change(pub f64);

fn joined(candidates: &[Candidate]) -> String {
    candidates.iter().map(Candidate::to_string).collect::<Vec<_>>().join(", ")
}

fn names(settings: &[Tried]) -> String {
    settings.iter().map(|tried| tried.setting.as_str()).collect::<Vec<_>>().join(", ")
}

fn results(settings: &[Tried]) -> String {
    settings.iter().map(Tried::to_string).collect::<Vec<_>>().join("; ")
}
