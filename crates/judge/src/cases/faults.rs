//! Cases of `truebench faults`: what page faults cost, where they come from, and what stops them.

use std::fmt;

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;
use suites::faults::{Manager, Mechanism, Memory};

use crate::values::{Bytes, Cited, Count, Counted, List, Name, Number, Range, Seconds, Share, Times};

/// Cases of `truebench faults`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Faults {
    // page-faults: the answer for a program that was watched.
    #[display(
        "{faults}{}; their cost is unknown\nThe price of a fault was not measured.",
        maybe(": ", cause, "")
    )]
    CostUnknown { faults: Counted, cause: Option<Cause> },
    #[display("Page faults cost {} of CPU time: next to nothing to gain\n{cost}", cost.share)]
    CostLittle { cost: Cost },
    #[display(
        "Page faults cost {} of CPU time{}\n{cost}{}",
        cost.share, maybe(": ", cause, ""), maybe("\n$ ", command, "")
    )]
    Cost { cost: Cost, cause: Option<Cause>, command: Option<String> },
    #[display(
        "Page faults cost {} of CPU time{}; {setting} {}\n{cost}{}",
        cost.share, maybe(": ", cause, ""),
        saved.map_or_else(|| "helps".to_owned(), |saved| format!("saves {saved}")), maybe("\n$ ", command, "")
    )]
    CostSaved {
        cost: Cost,
        cause: Option<Cause>,
        setting: String,
        saved: Option<Share>,
        command: Option<String>,
    },
    #[display("Page faults cost {} of CPU time{}; no setting helps\n{cost}", cost.share, maybe(": ", cause, ""))]
    CostStays { cost: Cost, cause: Option<Cause> },

    // mechanism: what shows it, and whether the calls for memory agree.
    #[display(
        "{share} of the faults: {cause}\n{again} hit a page that was there before{}{}{}.",
        maybe("; ", proof, &format!(" of those {}", cause.proof())),
        maybe("; ", old, " of the others added no memory"),
        maybe(". Mappings are mostly of ", size, "")
    )]
    Refaults {
        share: Share,
        cause: Cause,
        again: Share,
        proof: Option<Share>,
        old: Option<Share>,
        size: Option<Bytes>,
    },
    #[display(
        "{share} of the faults: {cause}\nThe program forked {forks}{}{}.",
        maybe(". ", copies, " of the faults wrote to a page that was there"),
        maybe(". ", old, " of the first touches added no memory")
    )]
    CopyOnWrite { share: Share, cause: Cause, forks: Counted, copies: Option<Share>, old: Option<Share> },
    #[display(
        "{share} of the faults: {cause}\nMostly {}{}: pages that were not there before.",
        memory.description(), maybe(", in runs of ", run, "")
    )]
    Growth { share: Share, cause: Cause, memory: Memory, run: Option<Bytes> },
    #[display("{share} of the faults: {cause}\n{ended} ended, and others took their places.")]
    Stacks { share: Share, cause: Cause, ended: Counted },
    #[display("{share} of the faults: {cause}")]
    Files { share: Share, cause: Cause },
    #[display("{share} of the faults: {cause}\nThe kernel counted as many of them ({counter}).")]
    Counter { share: Share, cause: Cause, counter: &'static str },
    #[display("Confirmed by system calls: {call} {rate} times a second{}", maybe("\n", owned, "."))]
    CallsConfirm { call: &'static str, rate: Number, owned: Option<Owned> },
    #[display("Not confirmed by system calls: no {} in {time}", calls.join(" and no "))]
    CallsContradict { calls: Vec<&'static str>, time: Seconds },

    // blocks: which blocks the faults are in.
    #[display(
        "{share} of the faults are in blocks of up to {size} that {site} allocates{}",
        maybe(
            "\nThey are ",
            young,
            " old then (median), and are freed later.\n$ keep these blocks and use them again: a kept block is not faulted in again"
        )
    )]
    InBlocks { share: Share, size: Bytes, site: String, young: Option<Seconds> },

    // setting: what stops the faults, before a trial and after it.
    #[display(
        "A change may stop these faults; it is not proved to help\nEffect: {about}. Price: {price}.\n$ {action}"
    )]
    NotProved { about: String, price: String, action: String },
    #[display(
        "{setting} helps: {cpu} the CPU time{}{}\n{}{} price: {price}.{}{}{}",
        maybe(", ", wall, " the wall time"), maybe(", ", memory, " the memory"),
        maybe("Kernel time: ", system, ". "), if *is_bounded { "Bounded" } else { "Unbounded" },
        if alike.0.is_empty() { String::new() } else { format!(" As good: {alike}.") },
        maybe(" The direction is sure, the size is not: load explains at most ", load, "."),
        maybe("\n$ ", command, "")
    )]
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
    #[display("{setting} can be set for good, in the program\n$ {code}")]
    SettingInCode { setting: String, code: String },
    #[display(
        "No setting helps: the best, {best}, takes {cpu} the CPU time{}",
        match undecided.as_slice() {
            [] => "\n$ leave the program as it is".to_owned(),
            all => format!("\nUndecided: {}.\n$ truebench faults --prove --rounds 30 -- COMMAND", all.join(", ")),
        }
    )]
    NoSettingHelps { best: String, cpu: Range, undecided: Vec<String> },
    #[display("Not worth setting: {}\n{}.{}", names(settings), results(settings),
        if settings.iter().any(|tried| tried.faults.is_some()) { " Fewer faults are no gain by themselves." } else { "" }
    )]
    SettingsWithoutGain { settings: Vec<Tried> },
    #[display(
        "Load hides whether CPU time is saved by {}\n{}. Load can change the CPU time by as much, but not the faults.\n\
         $ stop what else runs here (top, sorted by CPU) and measure again",
        names(settings),
        results(settings)
    )]
    GainHiddenByLoad { settings: Vec<Tried> },
    #[display(
        "Takes {cpu} the CPU time ({effect}){}{}{}",
        maybe(", ", memory, " the memory"),
        maybe(", ", faults, " of the faults"),
        maybe("\nIt took effect: ", changed, ".")
    )]
    SettingEffect {
        effect: &'static str,
        cpu: Range,
        memory: Option<Times>,
        faults: Option<Share>,
        changed: Option<String>,
    },
    #[display("Computed start by start from {sources}")]
    StartByStart { sources: List<Name> },

    // prices: what a price is made of, and what a rate of faults amounts to.
    #[display("{rest} ({share}) of it are {work}\nThe fault alone: {part}.")]
    PartOfPrice { rest: Seconds, share: Share, work: &'static str, part: Cited },
    #[display(
        "The minimum cost of a fault: kernel entry, VMA lookup, page-table update\nNo page is allocated or zeroed."
    )]
    MinimumCost,
    #[display("{call} of it are the call itself\nIn a call for {region} a page takes less: {page}.")]
    CallItself { call: Seconds, region: Bytes, page: Cited },
    #[display(
        "{ratio} the price of pages one by one: one fault instead of many\n\
         One by one: {single}. What is left is zeroing; it pays only if most of the huge page is used."
    )]
    HugePage { ratio: Times, single: Cited },
    #[display(
        "A block of {size} that is mapped, touched and unmapped costs {whole}\n\
         Calls: {calls}. {pages} first touches: {touch} ({write}). Giving the pages back: {back} ({unmap})."
    )]
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
    #[display(
        "At most {page} per touched page: its entry is copied and protected\nThe first writes after the fork cost more."
    )]
    ForkByPage { page: Seconds },
    #[display("One fault maps {pages} pages: {ratio} the price of a page alone\nAlone: {alone}.")]
    FaultAround { pages: Number, ratio: Times, alone: Cited },
    #[display("{ratio} a minor fault, {minor}\nCPU time: {cpu} ({share}). The rest waits for the disk.")]
    MajorFault { ratio: Times, minor: Cited, cpu: Seconds, share: Share },
    #[display(
        "TLB shootdown adds {added}: {each} for each other running thread\n\
         The kernel interrupts every CPU that runs this process and waits for it. Alone: {alone}."
    )]
    Shootdown { added: Seconds, each: Seconds, alone: Cited },
    #[display(
        "{ratio} one thread alone: threads of one process wait for one another's faults\nAlone: {alone}."
    )]
    FaultsWait { ratio: Times, alone: Cited },
    #[display(
        "A minor fault costs {price} of CPU time here\n\
         10000 a second are {share} of one CPU; 20 % of a CPU would need {rate} a second."
    )]
    MinorFaultPrice { price: Seconds, share: Share, rate: Count },
    #[display(
        "A page from this disk takes {price}, as long as {minor} minor faults\n\
         Random pages: at most {rate} a second for a thread.{}",
        maybe(" A mapped file read page by page: ", scan, " the time from the page cache.")
    )]
    DiskPagePrice { price: Seconds, minor: Number, rate: Count, scan: Option<Times> },

    // walk: a step, and where dynamic and frozen thresholds part.
    #[display("{step}: heap {heap}, mappings {mappings}, resident {resident}, {faults}")]
    Step { step: String, heap: Change, mappings: Change, resident: Change, faults: Counted },
    #[display(
        "malloc raises its thresholds: free d keeps {kept} of heap\n\
         With MALLOC_TRIM_THRESHOLD_=131072 it trims {trimmed}. malloc c again then maps anew: {frozen} instead of \
         {dynamic}. Before, free c had unmapped its block."
    )]
    ThresholdsRaised { kept: Bytes, trimmed: Bytes, dynamic: Counted, frozen: Counted },
    #[display("MALLOC_TRIM_THRESHOLD_=131072 makes a difference from {step} on\nThe steps do not show why.")]
    ThresholdsDiffer { step: String },
    #[display(
        "MALLOC_TRIM_THRESHOLD_=131072 changes nothing, although glibc's malloc serves\n\
         Any variable that sets a threshold freezes all of them.{}",
        maybe(" Set in both arms: ", set, ".")
    )]
    ThresholdsFrozen { set: Option<String> },
    #[display(
        "MALLOC_TRIM_THRESHOLD_=131072 changes nothing: {}{}",
        library.as_ref().map_or_else(|| "which malloc serves is unknown".to_owned(), |name| format!("{name} ignores it")),
        maybe("\nSet in both arms: ", set, ".")
    )]
    ThresholdsIgnored { library: Option<String>, set: Option<String> },
}

/// The cost of a program's faults: their number times the price of one.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "Estimate: {faults} at {price} each, the price in a loop here, in {cpu} of CPU time.{}",
    maybe(
        " Upper bound: ",
        bound,
        ", all kernel time: faults after a pause cost more, and giving memory back adds."
    )
)]
pub struct Cost {
    /// Of the program's CPU time.
    pub share: Share,
    pub faults: Counted,
    pub price: Seconds,
    pub cpu: Seconds,
    /// The kernel's share of the CPU time, if that is more.
    pub bound: Option<Share>,
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
            Mechanism::ArenaTrim => write!(f, "{manager} trims thread arenas"),
            Mechanism::Purge => write!(f, "{manager} returns free pages"),
            Mechanism::CopyOnWrite => f.write_str("pages copied after fork"),
            Mechanism::Growth => f.write_str("first touch of new memory"),
            Mechanism::Stacks => f.write_str("stacks of short-lived threads"),
            Mechanism::File => f.write_str("pages of files"),
            Mechanism::NumaHinting => f.write_str("NUMA balancing takes pages away"),
            Mechanism::HugePages => f.write_str("huge pages, zeroed whole"),
            Mechanism::Unexplained => f.write_str("no known mechanism"),
        }
    }
}

/// The share of calls that the manager of the mechanism makes.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{share} of such calls are made by {}", manager.description())]
pub struct Owned {
    pub share: Share,
    pub manager: Manager,
}

/// A setting that was tried without a proved gain.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{setting}: {effect}, {cpu} the CPU time{}", maybe(" with ", faults, " of the faults"))]
pub struct Tried {
    pub setting: String,
    pub effect: &'static str,
    pub cpu: Times,
    /// Where they are clearly others.
    pub faults: Option<Share>,
}

/// Bytes more or less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[serde(transparent)]
#[display("{}{}", if *_0 > 0.0 { "+" } else { "" }, Bytes(*_0))]
pub struct Change(pub f64);

/// A value that may be missing, with the words around it.
fn maybe<T: fmt::Display>(before: &str, value: &Option<T>, after: &str) -> String {
    value.as_ref().map_or_else(String::new, |value| format!("{before}{value}{after}"))
}

fn names(settings: &[Tried]) -> String {
    settings.iter().map(|tried| tried.setting.as_str()).collect::<Vec<_>>().join(", ")
}

fn results(settings: &[Tried]) -> String {
    settings.iter().map(Tried::to_string).collect::<Vec<_>>().join("; ")
}
