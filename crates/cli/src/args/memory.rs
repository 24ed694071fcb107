//! `truebench memory`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use figure::CpuList;
use lab::placement::{Bind, PlacementError, Places};
use machine::dimms::Dimms;
use memory::kernels::{KERNELS, Stores};
use memory::mix::{MIXES, Mix};
use memory::mode::{Mixes, Schedule};
use memory::pages::Pages;
use memory::simd::Simd;

use super::common::{Measuring, Output};
use super::modes::{All, ModeArgs, Named, OfDefault, SharedArgs};
use crate::values::{self, Suggested, choice};

/// `truebench memory`.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "MODE",
    subcommand_help_heading = "Modes (default: bandwidth; with --thorough all)"
)]
pub struct Memory {
    /// The mode.
    #[command(subcommand)]
    pub mode: Option<Mode>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub options: OfDefault<Options>,
}

/// Modes of `truebench memory`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// One that measures.
    #[command(flatten)]
    One(Box<Named<Options>>),
    /// Every mode, or those of --only, in one record
    All(Box<All<Options>>),
    /// What a STREAM binary holds (non-temporal stores, calls of memcpy); measures nothing
    Inspect(Inspect),
}

/// `truebench memory inspect`.
#[derive(Debug, ClapArgs)]
pub struct Inspect {
    /// The program
    #[arg(value_name = "BINARY")]
    pub binary: PathBuf,
    /// Memory modules, where the machine does not show them: channels x MT/s, such as 12x2666
    #[arg(long, value_name = "NxMT")]
    pub dimms: Option<Dimms>,
    /// Format of the description
    #[arg(long, value_enum, default_value_t)]
    pub format: InspectFormat,
}

/// Formats of `truebench memory inspect`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum InspectFormat {
    /// Sentences
    #[default]
    Text,
    /// Counts by name
    Json,
}

/// What a mode of memory can be asked for.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "What is measured")]
pub struct Options {
    /// Mixes of reads and writes, in Intel MLC's words, or all [default: all; under load 1:0 and 2:1]
    #[arg(long, value_name = "MIX,…", value_delimiter = ',', value_parser = mixes())]
    pub mix: Vec<MixChoice>,
    /// First and last size: 16K..4G
    #[arg(long, value_name = "FROM..TO", value_parser = values::sizes)]
    pub sizes: Option<(u64, u64)>,
    /// NUMA nodes between which is measured, or whose memory is, such as 0-1,3 [default: all; mix: near memory, and nodes without CPUs]
    #[arg(long, value_name = "NODES", value_parser = nodes)]
    pub nodes: Option<CpuList>,
    /// How arrays are shared out among threads [default: static; both where cores are shared unequally]
    #[arg(long, value_name = "HOW", value_parser = schedules())]
    pub schedule: Option<Schedule>,
    /// Only these kernels
    #[arg(long, value_name = "KERNEL,…", value_delimiter = ',', value_parser = kernels())]
    pub kernel: Vec<String>,
    /// Stores that do or do not bypass the cache
    #[arg(long, value_enum, default_value_t)]
    pub stores: StoresChoice,
    /// Instruction set [default: the widest that this processor has]
    #[arg(long, value_name = "SET", value_parser = simd())]
    pub simd: Option<Simd>,
    /// Size of each array: elements (10M) or bytes (512MiB) [default: 4 x the sum of the last-level caches]
    #[arg(long, value_name = "SIZE", value_parser = values::array_size)]
    pub array_size: Option<u64>,
    /// Extra elements between arrays, as STREAM's OFFSET
    #[arg(long, value_name = "ELEMENTS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1 << 27))]
    pub offset: u64,
    /// Pages to ask for
    #[arg(long, value_name = "PAGES", default_value = "default", value_parser = pages())]
    pub pages: Pages,
    /// Memory modules, where the machine does not show them: channels x MT/s, such as 12x2666
    #[arg(long, value_name = "NxMT")]
    pub dimms: Option<Dimms>,
    /// Threads [default: one on each core that may be used]
    #[arg(long, value_name = "N", help_heading = "Placement")]
    pub threads: Option<usize>,
    /// OpenMP places: threads, cores, ll_caches, numa_domains, sockets, or CPUs such as 0-3,8 or {0,1},{2,3}
    #[arg(long, value_name = "PLACES", default_value = "cores", value_parser = places(), hide_possible_values = true, help_heading = "Placement")]
    pub places: Places,
    /// OpenMP binding
    #[arg(long, value_name = "BIND", default_value = "close", value_parser = binds(), help_heading = "Placement")]
    pub bind: Bind,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// What the modes that stream through arrays read.
const ARRAYS: &[&str] = &["array_size", "kernel", "stores", "offset", "simd", "threads", "bind"];

impl SharedArgs for Options {
    const MODES: &'static [ModeArgs] = &[
        ModeArgs {
            name: "bandwidth",
            about: "Bandwidth by kernel: copy, scale, add, triad, read, write, update",
            options: ARRAYS,
        },
        ModeArgs {
            name: "mix",
            about: "Bandwidth by mix of reads and writes, of near memory and of nodes without CPUs (CXL, HBM)",
            options: &["mix", "nodes", "array_size", "simd", "threads", "bind"],
        },
        ModeArgs {
            name: "scaling",
            about: "Bandwidth by threads, from 1 to all CPUs, under three bindings",
            options: &["schedule", "array_size", "kernel", "stores", "offset", "simd", "threads"],
        },
        ModeArgs {
            name: "ladder",
            about: "Read bandwidth by array size, and where the caches end",
            options: &["sizes", "simd", "threads", "bind"],
        },
        ModeArgs {
            name: "latency",
            about: "Idle latency by array size, order and pages",
            options: &["sizes", "bind"],
        },
        ModeArgs {
            name: "loaded",
            about: "Latency under load: one CPU chases pointers, the others inject traffic",
            options: &["mix", "array_size", "simd", "threads", "bind"],
        },
        ModeArgs {
            name: "alignment",
            about: "Bandwidth by alignment of vectors and distance of arrays",
            options: &["array_size", "kernel", "stores", "simd", "threads", "bind"],
        },
        ModeArgs {
            name: "c2c",
            about: "Latency of a cache line that another core holds, clean or modified",
            options: &[],
        },
        ModeArgs {
            name: "numa",
            about: "Bandwidth and latency from node to node",
            options: &["nodes", "array_size", "simd", "threads", "bind"],
        },
        ModeArgs {
            name: "counters",
            about: "Traffic that the memory controllers count, against what the kernels should move",
            options: ARRAYS,
        },
        ModeArgs {
            name: "cross-check",
            about: "Figures of mlc, likwid-bench or stream (from PATH) next to truebench's own",
            options: ARRAYS,
        },
    ];
    const EVERY_MODE: &'static [&'static str] = &[
        "pages", "places", "dimms", "quick", "thorough", "rounds", "max_time", "target", "class", "dry_run",
        "strict", "format", "output", "quiet", "no_color",
    ];
}

/// What a command line of `truebench memory` asks for.
#[derive(Debug)]
pub enum Chosen<'a> {
    /// Modes by name, and their options.
    Modes(Vec<&'a str>, &'a Options),
    /// A program to inspect.
    Inspect(&'a Inspect),
}

impl Memory {
    /// What runs.
    pub fn chosen(&self) -> Chosen<'_> {
        match &self.mode {
            None => {
                let options = &self.options.0;
                Chosen::Modes(Options::unnamed(options.measuring.thorough), options)
            }
            Some(Mode::One(one)) => Chosen::Modes(vec![one.name], &one.options),
            Some(Mode::All(suite)) => Chosen::Modes(suite.names(), &suite.options),
            Some(Mode::Inspect(inspect)) => Chosen::Inspect(inspect),
        }
    }
}

/// `--stores`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum StoresChoice {
    /// Ordinary stores, which read the line first
    Regular,
    /// Non-temporal stores, which do not
    Nt,
    /// Both, and what a compiler and libc make of it
    #[default]
    Both,
}

impl StoresChoice {
    /// The only stores, or `None` for both.
    pub fn only(self) -> Option<Stores> {
        match self {
            StoresChoice::Regular => Some(Stores::Regular),
            StoresChoice::Nt => Some(Stores::Nt),
            StoresChoice::Both => None,
        }
    }
}

/// A value of `--mix`.
#[derive(Clone, Copy, Debug)]
pub enum MixChoice {
    /// All that the mode can measure.
    All,
    /// One.
    One(Mix),
}

impl MixChoice {
    /// What the values of an option ask for together; none ask for nothing.
    pub fn joined(values: &[MixChoice]) -> Mixes {
        let one = |choice: &MixChoice| match choice {
            MixChoice::All => None,
            MixChoice::One(mix) => Some(*mix),
        };
        match values {
            [] => Mixes::Usual,
            values => values.iter().map(one).collect::<Option<_>>().map_or(Mixes::All, Mixes::These),
        }
    }
}

fn mixes() -> impl TypedValueParser<Value = MixChoice> {
    let ratios = MIXES.iter().map(|mix| (mix.to_string(), MixChoice::One(*mix)));
    choice(ratios.chain([("all".to_owned(), MixChoice::All)]))
}

fn schedules() -> impl TypedValueParser<Value = Schedule> {
    choice([Schedule::Static, Schedule::Dynamic].map(|schedule| (schedule.word(), schedule)))
}

fn kernels() -> PossibleValuesParser {
    PossibleValuesParser::new(KERNELS.iter().map(|kernel| kernel.name))
}

fn simd() -> impl TypedValueParser<Value = Simd> {
    let all = [Simd::Portable, Simd::Sse2, Simd::Avx2, Simd::Avx512, Simd::Neon];
    choice(all.map(|set| (set.word(), set)))
}

fn pages() -> impl TypedValueParser<Value = Pages> {
    let all = [Pages::Default, Pages::Small, Pages::Thp, Pages::Huge2m, Pages::Huge1g];
    choice(all.map(|pages| (pages.word(), pages)))
}

fn binds() -> Suggested<Bind> {
    Suggested::new(["close", "spread", "primary"], |text| {
        text.parse().map_err(|error: PlacementError| error.to_string())
    })
}

/// OpenMP's words, or a list of CPUs.
pub fn places() -> Suggested<Places> {
    let words = [Places::Threads, Places::Cores, Places::LlCaches, Places::NumaDomains, Places::Sockets];
    Suggested::new(words.map(|places| places.word()), |text| {
        text.parse().map_err(|error: PlacementError| error.to_string())
    })
}

fn nodes(text: &str) -> Result<CpuList, String> {
    text.parse::<CpuList>().map_err(|error| format!("{error}: write nodes, such as 0-1,3"))
}
